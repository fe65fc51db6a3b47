"""Fetches of single URLs through the guarded downloader, without a crawl."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

from db.records.reasons import label

from .errors import why
from .guard import AddressRefused
from .guarded import GUARDED

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

T = TypeVar("T")
Ask = Callable[[str | Request], Awaitable["Response"]]
"""Fetches a URL, or what a request says: any answer, redirects included, or what the handler raises."""

# A crawl without a frontier: an item pipeline or an extension of the project is for its crawls.
_ALONE: dict[str, Any] = {**GUARDED, "ITEM_PIPELINES": {}, "EXTENSIONS": {}, "STATS_DUMP": False}


@dataclass(frozen=True, slots=True)
class Fetched:
    url: str
    body: bytes = b""
    content_type: str = ""
    problem: str = ""


class _Fetcher(Spider):
    """Requests each URL once and keeps the responses."""

    name = "fetch"
    custom_settings = {  # noqa: RUF012 - Scrapy's own form
        **_ALONE,
        "DOWNLOADER_MIDDLEWARES_BASE": {
            **GUARDED["DOWNLOADER_MIDDLEWARES_BASE"],
            "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": 600,
        },
        # Redirects ask for it; it sends nothing before them.
        "SPIDER_MIDDLEWARES_BASE": {"scrapy.spidermiddlewares.referer.RefererMiddleware": 700},
    }

    def __init__(self, urls: Sequence[str], fetched: dict[str, Fetched]) -> None:
        super().__init__()
        self.urls = urls
        self.fetched = fetched

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, self.keep, errback=self.fail, cb_kwargs={"asked_url": url}, dont_filter=True)

    def keep(self, response: Response, asked_url: str) -> None:
        if response.status != 200:
            self.fetched[asked_url] = Fetched(response.url, problem=f"http {response.status}")
            return
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        self.fetched[asked_url] = Fetched(response.url, response.body, kind)

    def fail(self, failure: Failure) -> None:
        asked_url = failure.request.cb_kwargs["asked_url"]  # type: ignore[attr-defined]
        refused = isinstance(failure.value, AddressRefused)
        problem = str(failure.value) if refused else f"could not be fetched ({label(*why(failure.value))})"
        self.fetched[asked_url] = Fetched(asked_url, problem=problem)


def fetch(urls: Sequence[str], settings: Settings) -> dict[str, Fetched]:
    """Fetch URLs, following redirects; blocks until all are done.

    Only addresses that `ALLOW_NETWORKS` permits are connected to, redirects included. Can be called once in a process.

    Returns:
        What came back, by address asked for.
    """
    fetched: dict[str, Fetched] = {}
    settings.set("LOG_LEVEL", "WARNING", "addon")
    process = AsyncCrawlerProcess(settings)
    process.crawl(_Fetcher, urls=list(dict.fromkeys(urls)), fetched=fetched)
    process.start()
    return {url: fetched.get(url, Fetched(url, problem="could not be fetched")) for url in urls}


class _Client(Spider):
    """Does work that asks for URLs as it goes."""

    name = "client"
    custom_settings = _ALONE

    def __init__(self, work: Callable[[Ask], Awaitable[None]]) -> None:
        super().__init__()
        self.work = work

    async def start(self) -> AsyncIterator[Any]:
        await self.work(self._ask)
        return
        yield

    async def _ask(self, what: str | Request) -> Response:
        assert self.crawler.engine is not None
        request = Request(what, dont_filter=True) if isinstance(what, str) else what
        return await self.crawler.engine.download_async(request)


def with_client(work: Callable[[Ask], Awaitable[T]], settings: Settings) -> T:
    """Do work that fetches URLs through the guarded downloader, and wait for it.

    The work itself sees to it that hosts are asked politely. Can be called once in a process.
    """
    results: list[T] = []
    problems: list[Exception] = []

    async def do(ask: Ask) -> None:
        try:
            results.append(await work(ask))
        except Exception as problem:  # noqa: BLE001 - raised below, outside of Scrapy
            problems.append(problem)

    settings.set("LOG_LEVEL", "WARNING", "addon")
    process = AsyncCrawlerProcess(settings)
    process.crawl(_Client, work=do)
    process.start()
    if problems:
        raise problems[0]
    if not results:  # ended by a signal
        raise KeyboardInterrupt
    return results[0]
