"""`scrapy crawl news -a seeds=...`: crawl with checked settings and exit codes."""

from __future__ import annotations

import inspect
import logging
import sys
from contextlib import closing
from typing import TYPE_CHECKING, ClassVar

from scrapy import Spider
from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.spiderloader import get_spider_loader

from db.engine.errors import DatabaseProblem

from ..options import scrapy_settings
from ..options.config import Config, topics_of
from ..options.given import check_values, open_to, value_of
from ..options.names import check_names, without_effect
from ..options.scrapy_settings import check_components
from ..options.values import ConfigError
from ..run.command import NewsCommand, heading
from ..run.exit_codes import EXIT_STOPPED
from ..run.process import files_needed, raise_limit, settle

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings

    from ..demo.server import Newsroom
    from ..options.seeds import ArchiveSeeds
    from ..spiders.news import NewsSpider


logger = logging.getLogger(__name__)

DEMO_PORT = 8710
_ARGUMENTS = {
    "seeds": (
        "URL|FILE|warc:FILE|demo",
        "where to start: one or several addresses; a file of them, one a line; the pages of a WARC file, and nothing "
        "else; or the bundled newsroom",
    ),
    "mode": ("once|watch", "end when nothing is left, or go on for ever and visit again what brings news"),
}
"""Arguments of the spider by name: values, and the help."""


class Command(NewsCommand, ScrapyCrawl):
    """Run a spider; a news spider by `FrontierScheduler`, any other by Scrapy alone."""

    usage = "news -a seeds=FILE [-a NAME=VALUE ...] [-s SETTING=VALUE ...] [-o FILE]"
    summary = "Crawl the news: 'scrapy crawl news -a seeds=seeds.txt'"
    description = (
        "Crawl from the seeds into the database (DATABASE_URL, by default news.db). The same command goes on with "
        "what is left. The README lists the settings for -s."
    )
    requires_crawler_process = True
    most_arguments = 1
    examples: ClassVar[tuple[tuple[str, str], ...]] = (
        ("scrapy crawl news -a seeds=demo", "Try it on the bundled newsroom, without the internet"),
        ("scrapy crawl news -a seeds=seeds.txt -s MAX_PAGES=1000", "Crawl a thousand pages; the same command goes on"),
        ("scrapy crawl news -a seeds=seeds.txt -a mode=watch", "Wait for news"),
        ("scrapy crawl news -a seeds=seeds.txt -o articles.csv", "Write the articles to a file, too"),
        ("scrapy crawl news -a seeds=seeds.txt -s TOPIC='port shipping'", "Look for a topic"),
    )

    _logs_json = False

    def check(self, args: list[str]) -> None:
        """Find the spider; check one of the news.

        Scrapy logs before it looks at the settings of a spider, so those of the log are set here.
        """
        self._news = _of_news(self.find(args))
        if self._news is not None:
            check_names(self.settings, self._news.custom_settings)
            check_values(self.settings)
            scrapy_settings.apply_log(self.settings)
            self._logs_json = value_of(self.settings, "LOG_JSON")
            if self._logs_json:
                from ..terminal.text import log_as_json

                self.settings.set("LOG_FORMAT", "%(message)s", "cmdline")
                log_as_json()

    def find(self, args: list[str]) -> type[Spider]:
        """Return the spider that is named; raises `ConfigError`."""
        spiders = get_spider_loader(self.settings)
        if not args:
            raise ConfigError("name the spider: scrapy crawl news -a seeds=seeds.txt")
        if args[0] not in spiders.list():
            raise ConfigError(f"there is no spider {args[0]!r}; there is {', '.join(spiders.list())}")
        return spiders.load(args[0])

    def notes(self) -> str:
        return heading("Arguments") + "".join(
            f"  -a {name}={values}\n      {does}\n" for name, (values, does) in _ARGUMENTS.items()
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        from db.shards.databases import Shards
        from pipelines.worker import worker_context

        from ..options.seeds import ArchiveSeeds, refuse_private, seeds_of
        from ..run.exporters import check_exports
        from ..run.session import MODES, ONCE

        assert self.crawler_process is not None
        if self._news is None:
            self.run_other(args, opts)
            return
        demo = Demo(self.settings)
        try:
            unknown = sorted(set(opts.spargs) - _arguments(self._news))
            if unknown:
                raise ConfigError(
                    f"there is no argument -a {unknown[0]}=...; the spider takes "
                    + " and ".join(f"-a {name}={values}" for name, (values, _) in _ARGUMENTS.items())
                )
            if opts.spargs.get("mode", ONCE) not in MODES:
                raise ConfigError(f"mode is {opts.spargs['mode']!r}; it takes {' or '.join(MODES)}")
            opts.spargs["seeds"] = seeds_of(opts.spargs.get("seeds"), demo.open)
            crawler = self._create_crawler(self._news)
            config = Config.from_settings(crawler.settings, topics_of(opts.spargs["seeds"]))
            Shards.read(config.database_url)
            refuse_private(opts.spargs["seeds"], config.fetch.guard)
            if isinstance(opts.spargs["seeds"], ArchiveSeeds):
                _check_archive(opts.spargs["seeds"], opts.spargs.get("mode", ONCE), config)
            check_components(crawler.settings)
            check_exports(crawler, opts.spargs, config)
            _check_handles(raise_limit(), config.in_flight)
            for sentence in without_effect(self.settings):
                logger.warning("crawler/settings.py: %s", sentence)
        except (ConfigError, DatabaseProblem, OSError):
            demo.close()
            raise
        if demo.newsroom is not None:
            self.tell(f"The newsroom is served at {' '.join(demo.newsroom.seeds())}")
        worker_context(config.parse_options)  # forked from this process while it has one thread, which saves memory
        settle()
        self.crawler_process.crawl(crawler, **opts.spargs)
        self.crawler_process.start()
        demo.close()
        # without an entry the frontier was not closed: a second Ctrl-C, or Scrapy itself could not start
        self.exitcode = crawler.stats.get_value("crawl/exit_code", EXIT_STOPPED)

    def tell(self, text: str) -> None:
        if self._logs_json:
            logger.warning("%s", text)
        else:
            sys.stderr.write(f"{text}\n")

    def fail(self, text: str, code: int) -> None:
        self.tell(f"scrapy {self.name}: {text}")
        self.exitcode = code

    def run_other(self, args: list[str], opts: argparse.Namespace) -> None:
        ScrapyCrawl.run(self, args, opts)


def _of_news(spider: type[Spider]) -> type[NewsSpider] | None:
    from ..spiders.news import NewsSpider

    return spider if issubclass(spider, NewsSpider) else None


def _arguments(spider: type[NewsSpider]) -> set[str]:
    namespaces = map(vars, spider.__mro__[: spider.__mro__.index(Spider)])
    constructors = [inspect.signature(names["__init__"]) for names in namespaces if "__init__" in names]
    parameters = [one for made in constructors for one in made.parameters.values()]
    return {one.name for one in parameters if one.kind in {one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY}} - {"self"}


def _check_archive(seeds: ArchiveSeeds, mode: str, config: Config) -> None:
    from db.shards.databases import Shards

    from ..corpus.replay import archives_of
    from ..run.session import ONCE

    archives_of(seeds)

    if mode != ONCE:
        raise ConfigError("an archive is read once; leave -a mode out")
    if len(Shards.read(config.database_url).urls) > 1:
        raise ConfigError("an archive is read into one database; name one in DATABASE_URL")


def _check_handles(allowed: int, requests: int) -> None:
    """Refuse to start where requests would fail for want of file handles."""
    needed = files_needed(requests)
    if 0 <= allowed < needed:
        raise ConfigError(
            f"only {allowed} files may be open at a time, {needed} are needed for CONCURRENT_REQUESTS={requests}; "
            "raise the limit (ulimit -n) or lower the setting"
        )


class Demo:
    """The bundled newsroom, started when seeds name it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.newsroom: Newsroom | None = None

    def open(self) -> list[str]:
        """Start it, open its port on loopback to the crawl, and return its home pages.

        An earlier demo crawl in the same database is gone on with at the port it had, because the port is part of the
        URLs.
        """
        from ..demo.server import Newsroom

        database_port = _port_in_database(value_of(self._settings, "DATABASE_URL"))
        try:
            newsroom = Newsroom(port=database_port or DEMO_PORT)
            newsroom.start()
        except OSError as error:
            if database_port:
                raise OSError(
                    f"{error.strerror}; the demo crawl in this database needs that port, or name another DATABASE_URL"
                ) from None
            newsroom = Newsroom(port=0)
            newsroom.start()
        open_to(self._settings, f"127.0.0.1:{newsroom.port}")
        self.newsroom = newsroom
        return newsroom.seeds()

    def close(self) -> None:
        if self.newsroom is not None:
            self.newsroom.stop()


def _port_in_database(database_url: str) -> int | None:
    from db.engine.database import open_for_reading
    from db.queries.status import seed_urls
    from pipelines.urls import host_key

    try:
        database = open_for_reading(database_url)
    except DatabaseProblem:
        return None
    with closing(database):
        hosts = (host_key(url).rpartition(":") for url in database.read(seed_urls))
        return next((int(port) for host, _, port in hosts if host.endswith(".localhost")), None)
