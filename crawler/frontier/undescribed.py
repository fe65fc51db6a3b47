"""Describe stored articles while workers are free (`DESCRIBE=later`)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial

from db.articles import descriptions
from db.records.article import NewArticle
from db.records.outcome import Stored
from pipelines.worker import PageUnreadable, WorkerPool

from ..corpus.redescription import DESCRIBED_KINDS, ArticleDescriber, Redescription
from ..run.session import Session

_KINDS = frozenset(kind.word for kind in DESCRIBED_KINDS)
_AT_ONCE = 32
"""Articles described before it is asked again whether a page waits."""
_LOOK_SECONDS = 0.1
"""Pause between two checks whether a worker is free."""
_WAIT_SECONDS = 1.0


class Undescribed:
    """Articles that are yet to be described, and the helper that does so.

    What this run stores is noted; what earlier runs left is looked for once. The next run finds what is not done when
    this one is stopped or killed.

    Attributes:
        count: articles that are known to be left.
    """

    def __init__(self, session: Session, pool: Callable[[], WorkerPool] | None) -> None:
        self.count = 0
        self._session = session
        self._pool = pool
        self._waiting: deque[int] = deque()
        self._has_looked = False
        self._is_done = asyncio.Event()
        if pool is None:
            self._is_done.set()

    def note(self, article: NewArticle | None, stored: Stored) -> None:
        """Note what came of a page, whose article is None when it has none of its own."""
        if self._pool is None:
            return
        new = [one.article for one in stored.joined if one.what.is_exported]
        if article is not None and stored.article is not None and stored.article.is_exported:
            new.append(article)
        self._add([one.id for one in new if one.kind in _KINDS and not one.described_with])

    async def are_done(self) -> bool:
        """Wait a second for all to be described; True as well while that cannot be done."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_WAIT_SECONDS):
                await self._is_done.wait()
        return self._is_done.is_set()

    async def keep(self) -> None:
        """Describe some articles whenever a worker is free.

        Raises:
            DatabaseProblem: the database gave up.
        """
        if self._pool is None:
            return
        session, pool = self._session, self._pool()
        describe = ArticleDescriber(session.config, session.database, pool, keeps_harm=True)
        work = Redescription(session.config, session.line)
        try:
            if not self._has_looked:
                self._has_looked = True
                self._add(await session.read(partial(descriptions.find_undescribed, _KINDS)))
            while True:
                if not self._waiting:
                    self._is_done.set()
                if not (self._waiting and pool.has_free_worker):
                    await asyncio.sleep(_LOOK_SECONDS)
                    continue
                self._is_done.clear()
                ids = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
                texts = await session.read(partial(descriptions.read_undescribed, ids=ids))
                await work.take(await asyncio.gather(*map(describe, texts)))
                self.count -= len(ids)
        except PageUnreadable:  # the workers are gone, for the crawl ends
            pass
        finally:
            self._is_done.set()

    def _add(self, ids: Collection[int]) -> None:
        if ids:
            self._waiting.extend(ids)
            self.count += len(ids)
            self._is_done.clear()
