"""Extract stored articles again, by the crawl's own path.

Pages are parsed, judged and written as in a crawl. An article and all its pages are written in one transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from db.articles import rework, signatures
from db.articles.page_transaction import Store
from db.articles.plan import made_with
from db.articles.rework import KeptPage, ReadUnit, Unit, Wanted
from db.engine.errors import DatabaseProblem
from db.frontier.seeds import seed_rows
from db.records.article import Renewal
from db.records.keys import iso
from db.records.outcome import NO_EDGES, Outcome, Stored, StoredPage
from db.records.reasons import ArticleResult
from db.records.signature import Reader
from db.records.url import State
from db.sites.memory import Memory
from pipelines.articles.changes import differs
from pipelines.articles.multipage import make_joiner
from pipelines.dedup.judge import DuplicateJudge
from pipelines.describe import describe
from pipelines.document.selectors import Selectors
from pipelines.item import Page
from pipelines.search.terms import index_terms
from pipelines.stages import ExtractStage
from pipelines.worker import KeepRaw, PageFault, WorkerPool

from .. import clock
from ..response import outcome as outcomes
from ..response.context import Context
from ..response.redirects import with_redirect
from ..response.revisit import settle
from ..response.seed_scope import SeedScope
from ..response.seen_urls import KnownUrls
from ..run.session import DatabaseLine, signature_index
from .rework import UNREAD, ChosenArticles, summary
from .saved_pages import InputError
from .warc import stored_bytes, unpacked

if TYPE_CHECKING:
    from db.engine.database import Database
    from db.records.url import Lease
    from pipelines.focus.topic import Topic

    from ..options.config import Config

logger = logging.getLogger(__name__)

_MOST_KNOWN = 10_000
ADDED, CHANGED, PUT_RIGHT, SAME, NO_ARTICLE, ASKED, GONE = (
    "stored now, being of a kind that is wanted",
    "with another text",
    "put right without a new version",
    "as they were",
    "no article any more, left as they were",
    "to be asked for by the next crawl",
    "gone and not stored, left as they were",
)
RESULTS = (ADDED, CHANGED, PUT_RIGHT, SAME, NO_ARTICLE, ASKED, GONE, UNREAD)


class StoredServices:
    """The `ReadServices` of pages that are stored already."""

    def __init__(self, database: Database, config: Config, seeds: SeedScope) -> None:
        self._database = database
        self._seeds = seeds
        self._learns = config.site_memory
        self.topic: Topic | None = config.topic

    async def site_model(self, lease: Lease) -> bytes | None:
        return await asyncio.to_thread(self._load, lease.host_id) if self._learns else None

    def _load(self, host_id: int) -> bytes:
        return self._database.read(lambda connection: Memory.load(connection, [host_id]))[0]

    def url_rules(self, _lease: Lease) -> str:
        """Return no rules: the links of the page are known."""
        return ""

    def selectors(self, lease: Lease) -> Selectors:
        return self._seeds.selectors_of(lease)

    def known_traps(self, _lease: Lease) -> None:
        """Return none, for the same reason."""

    def needs_browser(self, _page: Page) -> bool:
        """Never render: the document that a browser made of a page is stored with it."""
        return False

    async def render(self, _page: Page) -> None:
        """Never called: no page needs a browser."""

    async def better(self, plain: Page, _rendered: Page) -> Page:
        return plain


class ArticleReader:
    def __init__(self, config: Config, database: Database, pool: WorkerPool) -> None:
        self._config = config
        self._seeds = SeedScope(database.read(partial(seed_rows, ids=None)), config.limits.depth)
        services = StoredServices(database, config, self._seeds)
        self._stage = ExtractStage(lambda: services, pool, keep_raw=KeepRaw.NONE)
        self._context = Context(
            priority=config.priority,
            tries=config.tries,
            redirects=config.redirects,
            depth=None,
            known=KnownUrls(_MOST_KNOWN),
            extractor=config.extractor,
            extractor_version=config.extractor_version,
            disallow_reason=lambda _host, _url: None,
            focus=config.focus,
            harmful=config.harmful,
        )

    async def __call__(self, unit: Unit) -> ReadUnit:
        missing = [one for one in unit.pages if one.raw is None]
        if missing or not unit.pages:
            return ReadUnit(unit.id, unit.is_gone, [one.lease.id for one in unit.pages])
        try:
            pages = [await self._read(one) for one in unit.pages]
            if any(page.parsed is None for page in pages):
                return ReadUnit(unit.id)
            judge = self._judged if unit.is_stored else self._judged_first
            return ReadUnit(unit.id, outcomes=[judge(page, one) for page, one in zip(pages, unit.pages, strict=True)])
        except DatabaseProblem:
            raise
        except InputError as problem:
            logger.error("%s could not be read: %s", unit.pages[0].lease.url, problem)
            return ReadUnit(unit.id)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the other articles
            logger.error("%s could not be read: %s", unit.pages[0].lease.url, PageFault.of(error))
            return ReadUnit(unit.id)

    async def _read(self, one: KeptPage) -> Page:
        assert one.raw is not None
        body, dom = await asyncio.to_thread(self._unpack, one.raw)
        lease = replace(one.lease, state_before=State.DONE)
        headers = {"content-type": one.raw.content_type}
        scope = self._seeds.scope_of(lease)
        page = with_redirect(Page(lease, scope, 200, headers=headers, body=body, dom=dom, fetched_at=one.fetched_at))
        return replace(await self._stage.read(page), body=b"", dom=b"")

    def _unpack(self, raw: StoredPage) -> tuple[bytes, bytes]:
        most = self._config.fetch.bounds.size
        body = stored_bytes(raw, self._config.store_warc, most)
        return body, unpacked(raw.dom, most) if raw.dom else b""

    def _judged(self, page: Page, one: KeptPage) -> Outcome:
        """Judge a page as a later visit, of which only the article counts."""
        lease = page.lease
        settled = settle(page, outcomes.judge(page, self._context), self._config.schedule)
        article = settled.article
        return Outcome(
            lease,
            State.DONE,
            settled.reason,
            settled.detail,
            http_status=lease.http_status,
            fetched_at=lease.fetched_at or 0.0,
            etag=lease.etag,
            last_modified=lease.last_modified,
            next_visit=one.next_visit,
            unread=lease.unread,
            tried=False,
            same_as=lease.same_as,
            article=None if article is None else replace(article, seen=iso(clock.now())),
            place=settled.place,
            page_kind=settled.page_kind,
            links=NO_EDGES,
            reverted=article is None,
        )

    def _judged_first(self, page: Page, one: KeptPage) -> Outcome:
        """Judge a page that was not stored as a first visit."""
        judged = self._judged(page, one)
        if judged.article is None:
            return judged
        first = replace(page, lease=replace(page.lease, visits=0))
        settled = settle(first, outcomes.judge(first, self._context), self._config.schedule)
        return replace(judged, next_visit=settled.next_visit, age=settled.age)


class Reextraction:
    """Extracts stored articles again; see `Rework`.

    `others` counts pages that were not stored and are of a kind that is wanted now.
    """

    reader = ArticleReader

    def __init__(self, config: Config, line: DatabaseLine) -> None:
        self.name = line.database.name
        self.total = self.others = 0
        self.counts: Counter[str] = Counter()
        self._config = config
        self._line = line
        self._made_with = made_with(config.extractor, config.extractor_version)
        self._index = signature_index(config, line.database)
        judge = DuplicateJudge(config.duplicate_method, config.duplicates)
        joiner = make_joiner(config.duplicate_method.sign, partial(describe, config.parse_options.describe))
        store = Store(rework.NO_RUN, judge, self._index, joiner, index_terms, differs, Renewal.OF_TEXTS)
        self._write = partial(rework.write, store, self._made_with)

    async def choose(self, wanted: Wanted) -> Sequence[ChosenArticles]:
        database = self._line.database
        ids = await asyncio.to_thread(rework.find, database, replace(wanted, made_with=self._made_with))
        others = await asyncio.to_thread(rework.find_others, database, wanted)
        self.total, self.others = len(ids) + len(others), len(others)
        if self.total:
            reader = Reader(self._index, self._config.duplicate_method.sign, logger.info)
            await self._line.submit(signatures.load, reader)
        return ChosenArticles(ids, rework.read), ChosenArticles(others, rework.read_others)

    async def take(self, results: Sequence[ReadUnit]) -> None:
        """Write the articles, or mark their pages to be requested."""
        self.counts.update(await asyncio.gather(*map(self._take, results)))

    async def _take(self, read: ReadUnit) -> str:
        if read.missing is not None:
            if not read.is_gone:
                await self._line.submit(rework.ask, read.missing)
            return GONE if read.is_gone else ASKED
        if not read.outcomes:
            return UNREAD
        try:
            stored = await self._line.submit(self._write, read)
        except DatabaseProblem:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the other articles
            logger.error("%s could not be written: %r", read.outcomes[0].lease.url, error)
            return UNREAD
        return _what(read.outcomes, stored)

    def report(self) -> Iterator[str]:
        yield f"{self.total - self.others} articles of {self.name} were made by another version or extractor\n"
        if self.others:
            yield f"{self.others} pages that were not stored are of a kind that is wanted (STORE_KINDS)\n"
        yield from summary(self, *RESULTS)


def _what(read: Sequence[Outcome], stored: Sequence[Stored]) -> str:
    results = [one.article for one in stored] + [joined.what for one in stored for joined in one.joined]
    if all(outcome.article is None for outcome in read):
        return NO_ARTICLE
    if any(what is not None and what.is_added for what in results):
        return ADDED
    if any(one.changed for one in stored):
        return CHANGED
    return PUT_RIGHT if any(what is ArticleResult.UPDATED for what in results) else SAME
