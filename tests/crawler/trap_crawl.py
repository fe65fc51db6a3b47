"""Trap registries on real databases, and the pages that they are told of."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Set
from pathlib import Path
from typing import Any

from scrapy.settings import Settings

from crawler import settings as project_settings
from crawler.learn.traps.crawl import Callbacks, TrapRegistry
from crawler.learn.traps.host import Bounds
from crawler.options.config import Config
from crawler.options.seeds import Seed
from crawler.run.session import Session
from db.frontier.claims import lease
from db.frontier.insert import add_urls
from db.frontier.leases import take_hosts
from db.records.keys import fingerprint
from db.records.outcome import Outcome, Stored
from db.records.url import Lease, NewUrl
from pipelines.item import Page
from pipelines.links.scope import Scope
from pipelines.records import BlockKind, Extraction, Links, PageKind, ParseResult, Signs
from pipelines.url_rules.forms import folder_key
from tests.crawler.crawling import rows
from tests.db.frontier_rows import NOW, new_url, wish

SITE = "http://a.example"
LATELY = time.time()
HOST = fingerprint("a.example")


def month(number: int) -> str:
    return f"{SITE}/cal?month={number}"


def lease_of(url: str, found_on: str | None = None, found_in: int = BlockKind.LIST) -> Lease:
    source = None if found_on is None else fingerprint(found_on)
    return Lease(fingerprint(url), url, HOST, None, "page", 1, 0.5, found_in, source, NOW, 1, 0, None, None)


def list_page(url: str, *links: str, signs: Signs | None = None) -> tuple[Page, Outcome, Stored]:
    """A page that holds nothing but some new links."""
    ids = tuple(map(fingerprint, links))
    found = Links(links, ids=ids, folders=tuple(map(folder_key, links)))
    parsed = ParseResult(PageKind.LIST, "list page", links=found, signs=signs or Signs(7, 8))
    page = Page(lease_of(url), Scope("host", ("a.example",)), status=200, fetched_at=LATELY, parsed=parsed)
    new = tuple(new_url(link) for link in links)
    return page, Outcome(page.lease, "done", new_urls=new, fetched_at=LATELY), Stored(new_urls=len(links))


def article(url: str, found_on: str) -> tuple[Page, Outcome, Stored]:
    parsed = ParseResult(PageKind.ARTICLE, extraction=Extraction("新闻"))
    page = Page(lease_of(url, found_on), Scope("host", ("a.example",)), status=200, fetched_at=LATELY, parsed=parsed)
    return page, Outcome(page.lease, "done", fetched_at=LATELY), Stored(article="new")


class Crawl:
    """A session with its trap registry, and what this has asked of the frontier."""

    def __init__(self, session: Session, *, days: float = 7) -> None:
        self.session = session
        self.days = days
        self.tasks: list[asyncio.Task[None]] = []
        self.cleared: list[int] = []
        self.changed: list[tuple[int, Set[int]]] = []
        self.added: list[NewUrl] = []
        self.totals: Counter[str] = Counter()
        self.registry = self.new_registry()

    def new_registry(self) -> TrapRegistry:
        return TrapRegistry(
            self.session,
            Bounds(pages=10),
            self.days,
            Callbacks(
                stats=self.totals,
                is_own=lambda name: name == "a.example",
                start=lambda work: self.tasks.append(asyncio.ensure_future(work)),
                keep=lambda begin: self.tasks.append(asyncio.ensure_future(begin())),
                add=self.added.extend,
                clear=self.cleared.append,
                adjust=lambda *change: self.changed.append(change),
            ),
        )

    async def settled(self) -> None:
        while self.tasks:
            await self.tasks.pop()

    async def take(self) -> None:
        hosts = await self.session.submit(take_hosts, (self.session.resumed.run_id, 5))
        await self.registry.take(hosts)

    async def lease(self, most: int) -> list[str]:
        request = wish(self.session.resumed.run_id, {HOST: most}, trap=self.registry.disallow_reason)
        return [one.url for one in (await self.session.submit(lease, request)).urls]


async def begin(database_url: str, **settings: Any) -> Crawl:
    """A run of its own."""
    all_settings = Settings()
    all_settings.setmodule(project_settings, "project")
    all_settings.set("DATABASE_URL", database_url, "cmdline")
    return Crawl(await Session.begin(Config.from_settings(all_settings), [Seed(f"{SITE}/")]), **settings)


def in_session(folder: Path, do: Callable[[Crawl], Awaitable[None]], **settings: Any) -> None:
    """Do something in a run."""

    async def run() -> None:
        crawl = await begin(f"sqlite:///{folder}/news.db", **settings)
        try:
            await do(crawl)
            await crawl.settled()
        finally:
            await crawl.session.close()

    asyncio.run(run())


def states(folder: Path) -> dict[str, int]:
    why = "coalesce(reason || ': ' || reason_detail, reason, state)"
    return dict(rows(folder, f"SELECT {why}, count(*) FROM url WHERE url LIKE '%cal?%' GROUP BY 1"))


async def block_the_calendar(crawl: Crawl) -> None:
    """Ten pages that lead to nothing but more of their kind."""
    await crawl.session.submit(add_urls, (NOW, [new_url(month(n)) for n in range(100, 160)]))
    await crawl.take()
    for n in range(10):
        crawl.registry.note(*list_page(month(n), month(n + 1), month(n + 2)))
    await crawl.settled()
