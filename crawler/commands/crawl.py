"""`scrapy crawl news -a seeds=...`: crawl with checked settings and exit codes."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl

from db.engine.database import open_for_reading
from db.engine.errors import DatabaseProblem
from db.queries.status import seed_urls
from pipelines.urls import host_key

from ..run.config import Config, ConfigError, check_names, open_to, value_of
from ..run.exit_codes import EXIT_STOPPED, EXIT_USAGE
from ..run.process import raise_limit, settle
from ..run.seeds import Seed
from ..run.session import MODES, ONCE

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings

    from ..demo.server import Newsroom


DEMO = "demo"
DEMO_PORT = 8710
_ARGUMENTS = ("seeds", "mode")
_OTHER_HANDLES = 100


class Command(ScrapyCrawl):
    """Run a spider; see `FrontierScheduler` for what happens then."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check, run, and report through the exit code."""
        assert self.settings is not None
        assert self.crawler_process is not None
        if args != ["news"]:
            super().run(args, opts)
            return
        newsroom = None
        try:
            check_names(self.settings)
            unknown = sorted(set(opts.spargs) - set(_ARGUMENTS))
            if unknown:
                raise ConfigError(
                    f"there is no argument -a {unknown[0]}=...; the spider takes -a seeds=FILE or -a seeds=demo, "
                    "and -a mode=once or -a mode=watch"
                )
            if opts.spargs.get("mode", ONCE) not in MODES:
                raise ConfigError(f"mode is {opts.spargs['mode']!r}; it takes {' or '.join(MODES)}")
            if opts.spargs.get("seeds") == DEMO:
                newsroom = open_newsroom(self.settings)
                opts.spargs["seeds"] = tuple(Seed(url=url, line=n) for n, url in enumerate(newsroom.seeds(), 1))
            crawler = self._create_crawler("news")
            config = Config.of(crawler, opts.spargs.get("seeds"))  # before Scrapy builds anything
            _check_handles(raise_limit(), config.in_flight)
        except (ConfigError, DatabaseProblem, OSError) as problem:
            if newsroom is not None:
                newsroom.stop()
            sys.stderr.write(f"scrapy crawl: {problem}\n")
            self.exitcode = EXIT_USAGE
            return
        if newsroom is not None:
            sys.stderr.write(f"The newsroom is served at {' '.join(newsroom.seeds())}\n")
        settle()
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        if newsroom is not None:
            newsroom.stop()
        # without an entry the frontier was not closed: a second Ctrl-C, or Scrapy itself could not start
        self.exitcode = crawler.stats.get_value("crawl/exit_code", EXIT_STOPPED)


def _check_handles(allowed: int, requests: int) -> None:
    """Refuse to start where requests would fail for want of file handles.

    Raises:
        ConfigError: saying how many are needed.
    """
    needed = 2 * requests + _OTHER_HANDLES
    if 0 <= allowed < needed:
        raise ConfigError(
            f"only {allowed} files may be open at a time, {needed} are needed for CONCURRENT_REQUESTS={requests}; "
            "raise the limit (ulimit -n) or lower the setting"
        )


def open_newsroom(settings: Settings) -> Newsroom:
    """Start the bundled newsroom and open its port on loopback to the crawl.

    An earlier demo crawl in the same database is gone on with at the port it had, because the port is part of the URLs.
    """
    from ..demo.server import Newsroom  # noqa: PLC0415 - its articles are read only when they are wanted

    known = _port_in_database(value_of(settings, "DATABASE_URL"))
    try:
        newsroom = Newsroom(port=known or DEMO_PORT)
        newsroom.start()
    except OSError as error:
        if known:
            raise OSError(
                f"{error}; the demo crawl in this database needs that port, or name another DATABASE_URL"
            ) from None
        newsroom = Newsroom(port=0)
        newsroom.start()
    open_to(settings, f"127.0.0.1:{newsroom.port}")
    return newsroom


def _port_in_database(database_url: str) -> int | None:
    """Return the newsroom's port in the database of an earlier demo crawl."""
    try:
        database = open_for_reading(database_url)
    except DatabaseProblem:
        return None
    with closing(database):
        hosts = (host_key(url).rpartition(":") for url in database.read(seed_urls))
        return next((int(port) for host, _, port in hosts if host.endswith(".localhost")), None)
