"""Item pipelines of the crawl: read a page, store it, hand its article on.

Duplicates are decided inside the storing transaction, with the judgement of `pipelines.dedup`: between looking and
writing no other page can slip in. Item pipelines of others come after these and get what is stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Self

from pydispatch.dispatcher import getAllReceivers, liveReceivers
from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured

from db.engine.errors import DatabaseProblem
from db.records.article import ArticleItem
from db.records.outcome import Stored
from db.records.reasons import FailReason
from db.records.url import Kind, Lease

from .decode.content_type import is_readable
from .document.selectors import Selectors
from .focus.topic import Topic
from .item import Page
from .links.scope import Scope
from .url_rules.trap_signals import KnownTraps
from .worker import FaultLog, Job, KeepRaw, PageUnreadable, WorkerPool

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class NoArticle(DropItem):
    """A page without an article to hand on; the message says why."""


class ReadServices(Protocol):
    @property
    def topic(self) -> Topic | None:
        """Topic of the crawl, if it has one."""

    async def site_model(self, lease: Lease) -> bytes | None:
        """Packed model of a page's site; None when nothing is to be learned."""

    def url_rules(self, lease: Lease) -> str:
        """Packed URL rules of a page's host; empty for none."""

    def selectors(self, lease: Lease) -> Selectors:
        """Selectors that the seed of a page gives for its host."""

    def known_traps(self, lease: Lease) -> KnownTraps | None:
        """Traps of a page's host; None when they are not looked for."""

    def needs_browser(self, page: Page) -> bool:
        """Tell whether a parsed page is to be rendered."""

    async def render(self, page: Page) -> Page | None:
        """Return a page with the document that a browser made of it; None if it could not.

        Raises:
            PageUnreadable: the crawl ends first; the page is asked for again.
        """

    async def better(self, plain: Page, rendered: Page) -> Page:
        """Return the one that says more."""


class PageServices(ReadServices, Protocol):
    def scope_of(self, lease: Lease) -> Scope:
        """Return the scope of the links of a page."""

    def answered(self, page: Page) -> Page:
        """Start the clock of a page's host; return the page with what it says."""

    async def store(self, page: Page) -> Stored:
        """Write the results for a page and take over its links."""

    async def items(self, ids: Sequence[int]) -> list[ArticleItem]:
        """Return stored articles."""

    def export_failed(self, problem: str) -> None:
        """Stop the crawl, because its articles cannot be exported."""


class CrawlAccess:
    """Scrapy extension through which spider and stages reach the crawl.

    The scheduler sets `services` when the crawl is open, so before there is any page; the stage that reads pages sets
    `pool` when it is built, so before that.
    """

    services: PageServices
    pool: WorkerPool

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        return cls()

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the extension; raises `NotConfigured` if `EXTENSIONS` does not name it."""
        access = crawler.get_extension(cls)
        if access is None:
            raise NotConfigured("EXTENSIONS must hold pipelines.stages.CrawlAccess")
        return access


class ExtractStage:
    """Reads pages in worker processes.

    `services` is called for each page: while Scrapy builds the stage no crawl is open.
    """

    def __init__(
        self,
        services: Callable[[], ReadServices],
        pool: WorkerPool,
        *,
        keep_raw: KeepRaw,
        describes_later: bool = False,
    ) -> None:
        self._services = services
        self._pool = pool
        self._keep_raw = keep_raw
        self._describes_later = describes_later
        self._faults = FaultLog("could not be read")

    def open_spider(self) -> None:
        """Start the workers while the first pages are being fetched."""
        self._pool.warm_up()

    async def process_item(self, item: Any) -> Any:
        return await self.read(item) if isinstance(item, Page) else item

    async def read(self, page: Page) -> Page:
        lease = page.lease
        if page.error or page.status != 200 or lease.kind == Kind.ROBOTS:
            return page
        content_type = page.headers.get("content-type", "")
        if not is_readable(content_type, page.body):
            named = content_type.partition(";")[0].strip()[:60]
            return replace(page, unreadable=FailReason.NOT_A_PAGE, detail=named)
        try:
            page = await self._parse(page)
            if self._services().needs_browser(page):
                return await self._rendered(page)
            return page
        except PageUnreadable as problem:
            logger.warning("%s: %s", lease.url, problem)
            return replace(page, parsed=None, unreadable=problem.reason, detail=problem.detail)
        except Exception as error:  # noqa: BLE001 - of whatever kind: it costs this page only
            detail = self._faults.note(lease.url, error).name
            return replace(page, parsed=None, unreadable=FailReason.INTERNAL, detail=detail)

    async def _rendered(self, plain: Page) -> Page:
        services = self._services()
        shown = await services.render(plain)
        if shown is None:
            return plain
        return await services.better(plain, await self._parse(shown))

    async def _parse(self, page: Page) -> Page:
        lease, services = page.lease, self._services()
        job = Job(
            kind=lease.kind,
            body=page.body,
            url=lease.url,
            content_type=page.headers.get("content-type", ""),
            robots_header=page.headers.get("x-robots-tag", ""),
            fetched_at=page.fetched_at,
            scope=page.scope,
            keep_raw=KeepRaw.NONE if page.truncated else self._keep_raw,
            site_model=await services.site_model(lease),
            topic=services.topic,
            rules=services.url_rules(lease),
            traps=services.known_traps(lease),
            dom=page.dom,
            selectors=services.selectors(lease),
            describes_later=self._describes_later,
        )
        return replace(page, parsed=await self._pool.run(job))

    async def close_spider(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self._pool.close)


class StoreStage:
    def __init__(self, crawler: Crawler, access: CrawlAccess) -> None:
        self._crawler = crawler
        self._access = access

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, CrawlAccess.of(crawler))

    async def process_item(self, item: Any) -> Any:
        """Store a page and return its article; return other items as they are.

        The transaction is committed then. Articles of several pages come by themselves, after their last page.

        Raises:
            DropItem: the page was stored as no article or as part of one, or the database gave up.
        """
        return await self._stored(item) if isinstance(item, Page) else item

    async def _stored(self, page: Page) -> ArticleItem | Page:
        services = self._access.services
        try:
            stored = await services.store(page)
            await export(self._crawler, stored.beside)
            if stored.article is None or not stored.article.is_exported:
                raise NoArticle(stored.article or "no article")
            if not self._is_awaited():
                return page
            articles = await services.items([page.lease.id])
        except DatabaseProblem as problem:
            raise NoArticle(str(problem)) from problem
        if not articles:
            raise NoArticle("another process has moved it")
        return articles[0]

    def _is_awaited(self) -> bool:
        stages = (ExtractStage, StoreStage, LastStage)
        if any(not isinstance(one, stages) for one in self._crawler.engine.scraper.itemproc.middlewares):
            return True
        receivers = liveReceivers(getAllReceivers(self._crawler.signals.sender, signals.item_scraped))
        return any(True for _ in receivers)


class LastStage:
    """Refuses what item pipelines of others forgot to return."""

    def process_item(self, item: Any) -> Any:
        if item is None:
            raise TypeError("an item pipeline returned None; it has to return the item, or raise DropItem")
        return item


async def export(crawler: Crawler, ids: Sequence[int]) -> None:
    """Hand on articles that belong to no page of their own; see `Stored.beside`."""
    if ids:
        for item in await CrawlAccess.of(crawler).services.items(ids):
            await crawler.engine.scraper.start_itemproc_async(item, response=None)
