"""Extract stored articles again, by the crawl's own path.

Pages are parsed, judged and written as there. Each article is one unit of work with all its pages, written in one
transaction.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import zstandard

from db.articles import again, signatures
from db.articles.again import KeptPage, Reread, Rewriter, Unit, Wanted
from db.articles.page_transaction import Store
from db.articles.write import made_with
from db.engine.errors import DatabaseProblem
from db.frontier.seeds import seed_rows
from db.records.article import Renewal
from db.records.keys import iso
from db.records.outcome import NO_EDGES, Outcome, Stored
from db.records.reasons import ArticleResult
from db.records.signature import Reader
from db.records.url import State
from db.sites.memory import Memory
from pipelines.articles.changes import differs
from pipelines.articles.multipage import make_joiner
from pipelines.dedup.judge import DuplicateJudge
from pipelines.describe import describe
from pipelines.item import Page
from pipelines.search.terms import index_terms
from pipelines.stages import ExtractStage
from pipelines.worker import KeepRaw, WorkerPool

from .. import clock
from ..response import outcome as outcomes
from ..response.context import Context
from ..response.revisit import settle
from ..response.seed_scope import SeedScope
from ..response.seen_urls import KnownUrls
from .again import UNREAD, in_parts
from .session import DatabaseLine, signature_index

if TYPE_CHECKING:
    from db.records.url import Lease
    from pipelines.focus.topic import Topic

    from .config import Config

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
"""Fates of an article."""


class StoredServices:
    """The `ReadServices` of pages that are stored already.

    Args:
        line: the open database.
        config: the checked settings.
    """

    def __init__(self, line: DatabaseLine, config: Config) -> None:
        self._line = line
        self._learns = config.site_memory
        self.topic: Topic | None = config.topic

    async def knowledge(self, lease: Lease) -> bytes | None:
        """Return what the crawls have learned of the page's site."""
        return await self._line.submit(Memory.load, lease.host_id) if self._learns else None

    def url_rules(self, _lease: Lease) -> str:
        """Return no rules: the links of the page are known."""
        return ""

    def known_traps(self, _lease: Lease) -> None:
        """Look for no traps, for the same reason."""


class Reextraction:
    """Stored articles on their way through the crawl's stages once more.

    Args:
        config: the checked settings.
        line: the open database.
        pool: worker processes.

    Attributes:
        name: of the database.
        total: articles that were found to be read again, with the others.
        others: pages that were not stored, being of a kind that is wanted now.
        counts: what became of them.
    """

    def __init__(self, config: Config, line: DatabaseLine, pool: WorkerPool) -> None:
        self.name = line.database.name
        self.total = self.others = 0
        self.counts: Counter[str] = Counter()
        self._config = config
        self._line = line
        self._seeds = SeedScope(line.database.read(partial(seed_rows, ids=None)), config.limits.depth)
        services = StoredServices(line, config)
        self._stage = ExtractStage(lambda: services, pool, keep_raw=KeepRaw.NONE)
        self._made_with = made_with(config.extractor, config.extractor_version)
        self._index = signature_index(config, line.database)
        judge = DuplicateJudge(config.duplicate_method, config.duplicates)
        joiner = make_joiner(config.duplicate_method.sign, partial(describe, config.parse_options.describe))
        store = Store(again.NO_RUN, judge, self._index, joiner, index_terms, differs, Renewal.OF_TEXTS)
        self._rewriter = Rewriter(store)
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

    async def run(self, wanted: Wanted) -> None:
        """Extract all that is wanted, some articles at a time.

        Raises:
            ValueError: the condition is none.
            DatabaseProblem: the database gave up; the same command goes on.
        """
        database = self._line.database
        ids = await asyncio.to_thread(again.find, database, replace(wanted, made_with=self._made_with))
        others = await asyncio.to_thread(again.find_others, database, wanted)
        self.total, self.others = len(ids) + len(others), len(others)
        if not ids and not others:
            return
        await self._line.submit(signatures.load, Reader(self._index, self._config.duplicate_method.sign, logger.info))
        for chosen, read in ((ids, again.read), (others, again.read_others)):
            async for units in in_parts(database, chosen, read):
                await asyncio.gather(*(self._extract(unit) for unit in units))

    async def _extract(self, unit: Unit) -> None:
        """Extract one article, or let its pages be asked for."""
        missing = [one for one in unit.pages if one.raw is None]
        if missing or not unit.pages:
            if not unit.is_gone:
                await self._line.submit(again.ask, [one.lease.id for one in unit.pages])
            self.counts[GONE if unit.is_gone else ASKED] += 1
            return
        try:
            pages = [await self._read(one) for one in unit.pages]
            if any(page.parsed is None for page in pages):
                self.counts[UNREAD] += 1
                return
            judge = self._judged if unit.is_stored else self._judged_first
            read = [judge(page, one) for page, one in zip(pages, unit.pages, strict=True)]
            stored = await self._line.submit(self._rewriter.write, Reread(unit.id, self._made_with, read))
        except DatabaseProblem:
            raise
        except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the other articles
            logger.error("%s could not be read: %r", unit.pages[0].lease.url, error)
            self.counts[UNREAD] += 1
            return
        self.counts[_what(read, stored)] += 1

    async def _read(self, one: KeptPage) -> Page:
        """Read a stored page in a worker."""
        assert one.raw is not None
        body = await asyncio.to_thread(zstandard.decompress, one.raw.body, self._config.fetch.bounds.size)
        lease = replace(one.lease, state_before=State.DONE)
        headers = {"content-type": one.raw.content_type}
        page = Page(lease, self._seeds.scope_of(lease), 200, headers=headers, body=body, fetched_at=one.fetched_at)
        return replace(await self._stage.read(page), body=b"")

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
        """Judge a page that was not stored: what comes of it begins its visits."""
        judged = self._judged(page, one)
        if judged.article is None:
            return judged
        first = replace(page, lease=replace(page.lease, visits=0))
        settled = settle(first, outcomes.judge(first, self._context), self._config.schedule)
        return replace(judged, next_visit=settled.next_visit, age=settled.age)


def _what(read: Sequence[Outcome], stored: Sequence[Stored]) -> str:
    """Say what became of an article."""
    results = [one.article for one in stored] + [joined.what for one in stored for joined in one.joined]
    if all(outcome.article is None for outcome in read):
        return NO_ARTICLE
    if any(what is not None and what.is_added for what in results):
        return ADDED
    if any(one.changed for one in stored):
        return CHANGED
    return PUT_RIGHT if any(what is ArticleResult.UPDATED for what in results) else SAME
