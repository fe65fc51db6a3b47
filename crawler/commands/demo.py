"""`scrapy demo`: serve the bundled newsroom until it is stopped."""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..run.command import NewsCommand
from .crawl import DEMO_PORT

if TYPE_CHECKING:
    import argparse


MAX_PORT = 65535
_PAUSE_SECONDS = 3600


class Command(NewsCommand):
    usage = "[--port N]"
    summary = "Serve the bundled newsroom: five invented news sites on this computer, to crawl or to look at"
    requires_project = False
    examples = (("scrapy demo --port 0", "Serve it at a free port, and say at which"),)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--port",
            type=int,
            default=DEMO_PORT,
            metavar="N",
            help=f"port on 127.0.0.1, 0 for a free one ({DEMO_PORT})",
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from ..demo.server import Newsroom

        if not 0 <= opts.port <= MAX_PORT:
            raise UsageError(f"{opts.port} is no port; allowed are 0 to {MAX_PORT}", print_help=False)
        newsroom = Newsroom(port=opts.port)
        try:
            newsroom.start()
        except OSError as error:
            raise OSError(f"{error.strerror}; name another one with --port") from None
        # a handler that raises ends the pause below in one way, whichever signal came
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            sys.stdout.write("\n".join(["The newsroom is open. Ctrl-C closes it.", *newsroom.seeds(), ""]))
            sys.stdout.flush()
            while True:
                time.sleep(_PAUSE_SECONDS)
        except KeyboardInterrupt:
            sys.stdout.write("The newsroom is closed.\n")
        finally:
            newsroom.stop()
