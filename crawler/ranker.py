"""Scoring the queue again while the crawl goes on: when, where, and how the new scores come into the table.

The link graph lives in a process of its own (`crawler.rank_process`), which reads the database as any reader does. What
it answers is written a few thousand rows at a time, between the transactions of pages, and what is queued in memory
is put in order at once.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from pebble import ProcessExpired, ProcessPool

from db import frontier as table
from db.errors import DatabaseProblem

from . import clock
from .rank.priority import FOCUS_SIGNALS, GRAPH_SIGNALS
from .rank.rounds import Rounds
from .session import Session
from .window import Window

if TYPE_CHECKING:
    from .rank_process import Answer

logger = logging.getLogger(__name__)

_REST = 5.0
"""A round is followed by a pause of so many times its length."""
_SHORTEST_PAUSE = 1.0
_MOST_SECONDS = 900.0
_MOST_FAILURES = 3


class Ranker:
    """Asks for new scores when a round is due, and has them written.

    A round that fails is only missed: the crawl goes on with the scores it has.

    Args:
        session: the open database.
        window: the URLs in memory.

    Attributes:
        pages: pages of the link graph at the last round.
        rounds: how many there were.
        moved: how many scores they have changed.
    """

    def __init__(self, session: Session, window: Window) -> None:
        self._session = session
        self._window = window
        config = session.config
        self._rounds = Rounds(config.rank_every_pages, config.rank_growth)
        self._pool: ProcessPool | None = None
        self._is_needed = config.priority.learns((*GRAPH_SIGNALS, *FOCUS_SIGNALS))
        self._busy = False
        self._rests_until = 0.0
        self._failures = 0
        self.pages = 1
        self.rounds = 0
        self.moved = 0

    def is_due(self, pages: int) -> bool:
        """Whether a round should be held now, after so many pages of this run."""
        return (
            self._is_needed
            and not self._busy
            and self._session.leads
            and time.monotonic() >= self._rests_until
            and self._rounds.due(pages)
        )

    async def hold(self, pages: int) -> None:
        """Hold a round: ask, write, and put the window in order.

        Raises:
            DatabaseProblem: the scores cannot be written.
        """
        self._busy = True
        self._rounds.begin(pages)
        began = time.monotonic()
        try:
            answer = await self._ask()
            if answer is not None:
                self.pages = answer.pages
                self.rounds += 1
                self.moved += answer.moved
                await self._write(answer)
        finally:
            self._busy = False
            now = time.monotonic()
            self._rests_until = now + max(_SHORTEST_PAUSE, _REST * (now - began))

    async def close(self) -> None:
        """End the process."""
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.get_running_loop().run_in_executor(None, _end, pool)

    async def _ask(self) -> Answer | None:
        """The answer of the process; None when there is none this time."""
        from .rank_process import Question, prepare, rank  # noqa: PLC0415 - scipy is of no use in this process

        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            self._pool = ProcessPool(max_workers=1, initializer=prepare, context=context)
        config = self._session.config
        question = Question(config.database_url, config.priority, config.topic, clock.now())
        try:
            answer: Answer = await asyncio.wrap_future(
                self._pool.schedule(rank, args=[question], timeout=_MOST_SECONDS)
            )
        except (DatabaseProblem, ProcessExpired, TimeoutError, MemoryError, ArithmeticError, RuntimeError) as problem:
            self._failures += 1
            logger.warning("the queue could not be scored again (%s: %s)", type(problem).__name__, problem)
            if self._failures >= _MOST_FAILURES:
                self._is_needed = False
                logger.error("after %d failures in a row the order stays as it is for this run", self._failures)
            with suppress(RuntimeError):
                await self.close()
            return None
        self._failures = 0
        return answer

    async def _write(self, answer: Answer) -> None:
        """Put the window in order, then the table, a chunk a transaction."""
        window, chunks = self._window, answer.chunks
        held = np.fromiter(window.claim_ids(), np.int64)
        scores: dict[int, float] = {}
        for chunk in chunks if len(held) else ():
            mine = np.flatnonzero(np.isin(chunk.ids, held))
            scores.update(zip(chunk.ids[mine].tolist(), chunk.scores[mine].tolist(), strict=True))
        if scores:
            window.rescore(scores, time.monotonic())
        for chunk, best in zip(chunks, answer.best, strict=True):
            await self._session.submit(table.set_scores, chunk)
            for host_id, score in best.items():
                window.refresh(host_id, score)


def _end(pool: ProcessPool) -> None:
    """End a pool's process; blocks until it is gone."""
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
