"""`scrapy serve`: show a crawl's database in the browser."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..options.given import value_of
from ..options.in_force import in_force
from ..run.command import NewsCommand
from .demo import MAX_PORT

if TYPE_CHECKING:
    import argparse

PORT = 8080
LOOPBACK = "127.0.0.1"


class Command(NewsCommand):
    usage = "[--port N] [--host ADDRESS] [--learn] [--no-desk] [--database URL]"
    summary = "Show what was crawled in the browser: search, articles, stories, the crawl itself; a JSON API"
    description = (
        "The pages read the database and never write to it; what readers save is in a file beside it. They are served "
        "on this machine only, unless --host names another address: then everybody who reaches it can read all that "
        "was crawled, and change what is saved."
    )
    examples = (
        ("scrapy serve", "Show news.db at http://127.0.0.1:8080/; also while a crawl runs"),
        ("scrapy serve --database other.db --port 8081", "Show another database beside it"),
        ("scrapy serve --learn", "Rank what readers stay with higher"),
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"port, 0 for a free one ({PORT})")
        parser.add_argument("--host", default=LOOPBACK, metavar="ADDRESS", help=f"address to listen on ({LOOPBACK})")
        parser.add_argument(
            "--name",
            action="append",
            default=[],
            metavar="NAME",
            help="another name by which browsers may ask for this server; may be given again",
        )
        parser.add_argument(
            "--learn",
            action="store_true",
            help="record which results are opened and for how long they are read, to rank by it: in clicks.db beside "
            "the database, without anything that tells who read",
        )
        parser.add_argument(
            "--no-desk",
            action="store_true",
            help="keep no saved searches and marks, send no alerts; else in news.desk.db beside the database (DESK)",
        )
        parser.add_argument("--database", metavar="URL", help="database URL or path of a SQLite file (DATABASE_URL)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.engine.database import open_for_reading
        from db.search.clicks import ClickFile, beside
        from pipelines.search.expansion import load_synonyms
        from pipelines.search.search import SearchOptions

        from ..options.alerts import alert_options, desk_path
        from ..web.app import make_app
        from ..web.frame.desk import DeskOptions
        from ..web.frame.security import LOOPBACK as LOOPBACK_NAMES
        from ..web.frame.visit import WebOptions
        from ..web.server import listen, serve

        if not 0 <= opts.port <= MAX_PORT:
            raise UsageError(f"{opts.port} is no port; allowed are 0 to {MAX_PORT}", print_help=False)
        database_url = opts.database or value_of(self.settings, "DATABASE_URL")
        database = open_for_reading(database_url)
        database.close()
        is_local = opts.host in LOOPBACK_NAMES
        if opts.learn:
            ClickFile(beside(database_url)).create()
        options = WebOptions(
            (*opts.name, opts.host),
            any_address=not is_local,
            is_learning=opts.learn,
            search=SearchOptions(
                value_of(self.settings, "SEARCH_WEIGHTS"),
                synonyms=load_synonyms(value_of(self.settings, "SEARCH_SYNONYMS")),
            ),
            in_force=in_force(self.settings),
            desk=DeskOptions(
                None if opts.no_desk else desk_path(value_of(self.settings, "DESK"), database_url),
                alert_options(self.settings),
                allows_loopback=is_local,
            ),
        )
        app = make_app(database_url, options)
        listening = listen(opts.host, opts.port)
        shown = f"[{opts.host}]" if ":" in opts.host else opts.host
        address = f"http://{shown}:{listening.getsockname()[1]}/"

        def ready() -> None:
            if not is_local:
                sys.stdout.write(f"Everybody who reaches {opts.host} can read the database.\n")
            sys.stdout.write(f"{database.name} is shown at {address}  Ctrl-C ends it.\n")
            sys.stdout.flush()

        serve(app, listening, ready)
        sys.stdout.write("The server has ended.\n")
