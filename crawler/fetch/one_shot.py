"""Fetches of single URLs through the guarded downloader, without a crawl."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urljoin

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

from db.records.reasons import label
from db.records.url import REDIRECTS

from .errors import why
from .guard import AddressRefused
from .guarded import GUARDED
from .http_parser import location

if TYPE_CHECKING:
    from scrapy.http import Response
    from scrapy.settings import Settings

T = TypeVar("T")
Ask = Callable[[str | Request], Awaitable["Response"]]
"""Fetches a URL, or what a request says: any answer, redirects included, or what the handler raises."""

_REDIRECTS = 20
"""In a row, as browsers follow them."""
# A crawl without a frontier: an item pipeline or an extension of the project is for its crawls.
_ALONE: dict[str, Any] = {**GUARDED, "ITEM_PIPELINES": {}, "EXTENSIONS": {}, "STATS_DUMP": False}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as fetched, and the document that a browser made of it, if one did."""

    url: str
    body: bytes = b""
    content_type: str = ""
    problem: str = ""
    dom: bytes = b""


async def fetch_page(ask: Ask, url: str, redirects: int) -> Fetched:
    """Fetch a URL, following up to so many redirects; problems are a text of the result."""
    at = url
    for _ in range(redirects + 1):
        try:
            response = await ask(at)
        except AddressRefused as refused:
            return Fetched(url, problem=str(refused))
        except Exception as error:  # noqa: BLE001 - of whatever kind: told of this page
            return Fetched(url, problem=f"could not be fetched ({label(*why(error))})")
        locations = response.headers.getlist("Location")
        if response.status in REDIRECTS and locations:
            at = urljoin(response.url, location(locations))
            if at.startswith(("http://", "https://")):
                continue
        if response.status != 200:
            return Fetched(response.url, problem=f"http {response.status}")
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        return Fetched(response.url, response.body, content_type)
    return Fetched(url, problem="could not be fetched (too many redirects)")


def fetch(urls: Sequence[str], settings: Settings, at_once: int) -> dict[str, Fetched]:
    """Fetch URLs, `at_once` at a time, following redirects; blocks until done.

    Only addresses that `ALLOW_NETWORKS` permits are connected to, redirects included. Can be called once in a process.
    """
    fetched: dict[str, Fetched] = {}

    async def work(ask: Ask) -> None:
        slots = asyncio.Semaphore(at_once)

        async def fetch_one(url: str) -> None:
            async with slots:
                fetched[url] = await fetch_page(ask, url, _REDIRECTS)

        await asyncio.gather(*(fetch_one(url) for url in dict.fromkeys(urls)))

    with contextlib.suppress(KeyboardInterrupt):  # what has come until then is of use
        with_client(work, settings)
    return {url: fetched.get(url, Fetched(url, problem="could not be fetched")) for url in urls}


class _Client(Spider):
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
