"""Scrapy item pipelines: parse a page in a worker process, store it at once.

Duplicates are decided inside that transaction (see `db.articles.write`), with the judgement of `pipelines.dedup`:
between looking and writing no other page can slip in.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, Self

from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured

from db.engine.errors import DatabaseProblem
from db.records.outcome import Joined, Stored
from db.records.reasons import FailReason
from db.records.url import Kind, Lease

from .decode.content_type import is_readable
from .focus.topic import Topic
from .item import Page
from .links.scope import Scope
from .traps.signals import KnownTraps
from .worker import Job, PageUnreadable, WorkerPool

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


logger = logging.getLogger(__name__)


class PageServices(Protocol):
    """Services of the crawl for the spider and the stages."""

    @property
    def topic(self) -> Topic | None:
        """Topic of the crawl, if it has one."""

    def scope_of(self, lease: Lease) -> Scope:
        """Return the scope of the links of a page."""

    def answered(self, page: Page) -> Page:
        """Start the clock of a page's host; return the page with what it says."""

    async def knowledge(self, lease: Lease) -> bytes | None:
        """Return the packed model of a page's site; None when nothing is to be learned."""

    def url_rules(self, lease: Lease) -> str:
        """Return the packed URL rules of a page's host; empty for none."""

    def known_traps(self, lease: Lease) -> KnownTraps | None:
        """Return the known traps of a page's host; None when they are not looked for."""

    async def store(self, page: Page) -> Stored:
        """Write what came of a page and take over its links."""

    def export_failed(self, problem: str) -> None:
        """Stop the crawl, because its articles cannot be exported."""


class CrawlAccess:
    """Scrapy extension through which spider and stages reach the crawl.

    They ask `CrawlAccess.of(crawler).services`.

    Attributes:
        services: set by the scheduler when the crawl is open, so before there is any page.
    """

    services: PageServices

    @classmethod
    def from_crawler(cls, _crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls()

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return that of a crawl.

        Raises:
            NotConfigured: `EXTENSIONS` does not name it.
        """
        access = crawler.get_extension(cls)
        if access is None:
            raise NotConfigured("EXTENSIONS must hold pipelines.stages.CrawlAccess")
        return access


class ExtractStage:
    """Reads pages in worker processes."""

    def __init__(self, access: CrawlAccess, pool: WorkerPool, *, keep_raw: bool) -> None:
        self._access = access
        self._pool = pool
        self._keep_raw = keep_raw

    def open_spider(self) -> None:
        """Start the workers while the first pages are being fetched."""
        self._pool.warm_up()

    async def process_item(self, item: Page) -> Page:
        """Return the page with `parsed`, or with the reason why it is `unreadable`."""
        lease = item.lease
        if item.error or item.status != 200 or lease.kind == Kind.ROBOTS:
            return item
        content_type = item.headers.get("content-type", "")
        if not is_readable(content_type, item.body):
            named = content_type.partition(";")[0].strip()[:60]
            return replace(item, unreadable=FailReason.NOT_A_PAGE, detail=named)
        services = self._access.services
        job = Job(
            kind=lease.kind,
            body=item.body,
            url=lease.url,
            content_type=content_type,
            robots_header=item.headers.get("x-robots-tag", ""),
            fetched_at=item.fetched_at,
            scope=item.scope,
            keep_raw=self._keep_raw and not item.truncated,
            site_model=await services.knowledge(lease),
            topic=services.topic,
            rules=services.url_rules(lease),
            traps=services.known_traps(lease),
        )
        try:
            return replace(item, parsed=await self._pool.run(job))
        except PageUnreadable as problem:
            logger.warning("%s: %s", lease.url, problem)
            return replace(item, unreadable=problem.reason, detail=problem.detail)

    async def close_spider(self) -> None:
        """End the workers."""
        await asyncio.get_running_loop().run_in_executor(None, self._pool.close)


def export(crawler: Crawler, joined: Iterable[Joined]) -> None:
    """Hand articles of several pages to Scrapy's exporters.

    They have the form of all others; no single page is their item.
    """
    for one in joined:
        if one.what.is_exported:
            new = one.article
            item = {
                "url": one.url,
                "title": new.title,
                "authors": new.authors,
                "source": new.source,
                "published_at": new.published_at or "",
                "language": new.language,
                "text": new.text,
            }
            crawler.signals.send_catch_log(signals.item_scraped, item=item, response=None, spider=crawler.spider)


class StoreStage:
    """Hands pages to the crawl, which owns the database, and articles to exporters."""

    def __init__(self, crawler: Crawler, access: CrawlAccess) -> None:
        self._crawler = crawler
        self._access = access

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls(crawler, CrawlAccess.of(crawler))

    async def process_item(self, item: Page) -> dict[str, str]:
        """Store a page; return its article as a plain item (for `-o articles.jsonl`).

        The transaction is committed then. Articles of several pages go to the exporters by themselves, each when its
        last page has come.

        Raises:
            DropItem: the page was stored as no article or as part of one, or the database gave up (the crawl has
                said so and keeps the URL for the next run).
        """
        try:
            stored = await self._access.services.store(item)
        except DatabaseProblem as problem:
            raise DropItem(str(problem)) from problem
        export(self._crawler, stored.joined)
        if item.parsed is None or stored.article is None or not stored.article.is_exported:
            raise DropItem(stored.article or "no article")
        meta = item.parsed.metadata
        return {
            "url": item.lease.url,
            "title": meta.title,
            "authors": "、".join(meta.authors),
            "source": meta.source,
            "published_at": meta.published_at,
            "language": meta.language,
            "text": item.parsed.extraction.text,
        }
