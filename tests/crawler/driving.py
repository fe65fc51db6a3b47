"""Drive the scheduler of a crawl without an engine: real database, real parts, no network."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

from scrapy import Request, signals
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from sqlalchemy import Connection

from crawler.fetch.handler import Network
from crawler.frontier import idle, refill
from crawler.frontier.crawl import Crawl
from crawler.frontier.scheduler import FrontierScheduler
from crawler.options.config import CrawlConfig, fetch_options
from crawler.options.seeds import Seed
from crawler.response.redirects import with_redirect
from crawler.run.background import Background
from db.engine.database import open_for_crawl
from db.records.url import Lease, NewUrl
from pipelines.item import Page
from pipelines.stages import CrawlAccess
from tests.db.frontier_rows import new_url

T = TypeVar("T")

SEED = "http://seed.example/"
QUIET: dict[str, Any] = {
    "HOST_DELAY": 0,
    "CRAWL_PRESET": "breadth",
    "SITE_MEMORY": False,
    "TRAPS": False,
    "HEALTH_WINDOW": 0,
    "URL_RULES": 1,
}
"""Settings that leave nothing but the frontier."""


_MOST_QUESTIONS = 4
"""Whatever the refiller does asks the database so often, one question after the other."""


@cache
def empty_tables() -> Path:
    """A database with all tables, to be copied: going through all revisions takes half a second."""
    path = Path(tempfile.mkdtemp()) / "empty.db"
    open_for_crawl(f"sqlite:///{path}").close()
    return path


def new_database() -> Path:
    """A copy of it."""
    path = Path(tempfile.mkdtemp()) / "news.db"
    shutil.copyfile(empty_tables(), path)
    return path


def settings_of(path: Path, **values: Any) -> Settings:
    """The project's settings for a crawl into a database."""
    settings = Settings()
    settings.setmodule("crawler.settings")
    for name, value in {**QUIET, "DATABASE_URL": f"sqlite:///{path}", **values}.items():
        settings.set(name, value, "cmdline")
    return settings


def rows(path: Path, sql: str, *values: object) -> list[tuple]:
    """Ask the database."""
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def page_urls(host: str, numbers: Sequence[int], score: float = 0.5) -> list[NewUrl]:
    """URLs of a host."""
    return [new_url(f"http://{host}/{n}", score=score) for n in numbers]


class Engine:
    """What the scheduler sees of Scrapy's engine; counts how often it is polled."""

    def __init__(self) -> None:
        self.spider: Any = SimpleNamespace(seeds=[Seed(SEED, depth=0)], mode="once", parse=None, failed=None)
        self.scraper = SimpleNamespace(slot=SimpleNamespace(itemproc_size=0))
        self.polls = 0
        self.stopped: list[str] = []

    def crawl(self, _request: Request) -> None:
        self.polls += 1

    async def close_spider_async(self, *, reason: str) -> None:
        self.stopped.append(reason)


refill._REFILL_SECONDS = 0.0  # wishes that come together would only take time here
idle._LOOK_AGAIN_SECONDS = idle._SHORTEST_NAP_SECONDS = 0.01


class _Crawler(SimpleNamespace):
    """The attributes of Scrapy's crawler that the frontier uses; a key by its identity, as that is."""

    __hash__ = object.__hash__


class Driver:
    """An open crawl and its scheduler, one step after the other."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.path = path
        self.engine = Engine()
        self.stats: dict[str, Any] = {}
        crawler = _Crawler(
            settings=settings_of(path, **settings),
            engine=self.engine,
            spider=self.engine.spider,
            crawling=True,
            stats=SimpleNamespace(set_value=self.stats.__setitem__),
        )
        crawler.signals = SignalManager(crawler)
        network = Network.from_options(fetch_options(settings_of(path)))
        extensions: dict[type, Any] = {Network: network}
        extensions |= {cls: cls.from_crawler(crawler) for cls in (CrawlAccess, CrawlConfig)}
        crawler.get_extension = extensions.get
        self.crawler: Any = crawler
        self._runner = asyncio.Runner()
        self.scheduler: FrontierScheduler = self.run(self._open())

    async def _open(self) -> FrontierScheduler:
        scheduler = FrontierScheduler.from_crawler(self.crawler)
        await scheduler.open(self.engine.spider).asFuture(asyncio.get_running_loop())
        self.crawler.signals.send_catch_log(signals.engine_started)
        return scheduler

    @property
    def crawl(self) -> Crawl:
        assert self.scheduler.crawl is not None
        return self.scheduler.crawl

    @property
    def background(self) -> Background:
        return self.crawl.background

    def run(self, work: Awaitable[T]) -> T:
        """Do something in the loop of the crawl."""

        async def do() -> T:
            return await work

        return self._runner.run(do())

    def settle(self) -> None:
        """Let the crawl do all that it can do without further pages."""
        self.run(self._settle())

    async def _settle(self) -> None:
        pending, session, quiet = self.crawl.pending, self.crawl.session, 0
        for rounds in range(1000):
            await session.submit(_nothing, None)  # whatever was asked of the database before is done
            for _ in range(5):
                await asyncio.sleep(0)
            if rounds > 20:
                await asyncio.sleep(0.002)  # it waits for something to become due
            exhausted = self.crawl.idle.exhausted
            quiet = 0 if pending.changed.is_set() or (pending.queues.wants() and not exhausted) else quiet + 1
            if quiet > _MOST_QUESTIONS and (pending.queues.in_flight or len(pending.queues) or exhausted):
                return
        raise AssertionError("it does not come to rest")

    def next(self) -> Request | None:
        """Ask the scheduler for a request."""

        async def ask() -> Request | None:
            return self.scheduler.next_request()

        return self.run(ask())

    def answer(self, request: Request, status: int = 404, **values: Any) -> Page:
        """Have a request answered, and its page stored."""
        page = self.page(request, status, **values)
        self.run(self._complete(request, page))
        return page

    def page(self, request: Request, status: int = 404, **values: Any) -> Page:
        """An answer."""
        lease: Lease = request.meta["lease"]
        return with_redirect(Page(lease, self.crawl.scope_of(lease), status=status, fetched_at=time.time(), **values))

    def hear(self, request: Request) -> Page:
        """Have a request answered; its page is not stored yet."""
        page = self.page(request)

        async def answered() -> None:
            nonlocal page
            page = self.crawl.answered(page)

        self.run(answered())
        return page

    def signal(self, signal: object, **values: Any) -> None:
        """Send one of Scrapy's signals, and let what it causes begin."""

        async def send() -> None:
            self.crawler.signals.send_catch_log(signal, **values)

        self.run(send())

    async def _complete(self, request: Request, page: Page) -> None:
        request.meta["answered"] = True
        await self.crawl.store(self.crawl.answered(page))

    def close(self, reason: str = "finished") -> None:
        """End the crawl."""

        async def end() -> None:
            await self.scheduler.close(reason).asFuture(asyncio.get_running_loop())

        self.run(end())
        self._runner.close()


def _nothing(_connection: Connection, payloads: Sequence[None]) -> Sequence[None]:
    return payloads
