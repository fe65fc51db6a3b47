"""Score the queue again while the crawl goes on.

The link graph lives in a process of its own (`crawler.rank.worker`). Its response is written a thousand rows at
a time, between the transactions of pages.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pebble import ProcessPool

from db.articles.relevance import set_relevance
from db.frontier import scores as table
from pipelines.focus.topic import Topic, liking
from pipelines.worker import process_context

from .. import clock
from ..learn.readers import ReadersProfile
from ..rank.rounds import Rounds
from ..rank.worker import RankRequest, RankResponse, prepare, rank
from ..run.session import Session
from .host_queues import HostQueues

if TYPE_CHECKING:
    from ..rank.numbering import Ids


logger = logging.getLogger(__name__)

# Chosen by hand.
_GROWTH = 0.04
"""Share by which the fetched pages have grown when the queue is scored again."""
_REST = 5.0
"""A rescore is followed by a pause of so many times its length."""
_SHORTEST_PAUSE = 1.0
_MOMENT = 0.05
_MOST_SECONDS = 900.0
_MOST_FAILURES = 3
_SOON_CHUNKS = 20
"""The hosts are asked for better URLs when these are written, and at the end."""


class Rescorer:
    """Asks for new scores when they are due, and has them written.

    A rescore that fails is only missed: the crawl goes on with the scores it has.
    """

    def __init__(self, session: Session, queues: HostQueues) -> None:
        self._session = session
        self._queues = queues
        config = session.config
        self._rounds = Rounds(config.rank_every_pages, _GROWTH)
        self._pool: ProcessPool | None = None
        self.topic: Topic | None = config.topic
        self._readers = ReadersProfile(config.database_url) if config.follows_readers else None
        self._goes_on = self.topic is not None or config.priority.is_rescored
        self._is_needed = self._goes_on or session.began.reordered
        self._before = 0
        self._busy = False
        self._rests_until = 0.0
        self._failures = 0
        self.rounds = 0
        self.moved = 0

    def is_due(self, pages: int) -> bool:
        return (
            self._is_needed
            and not self._busy
            and self._session.leads
            and time.monotonic() >= self._rests_until
            and self._rounds.due(self._before + pages)
        )

    async def rescore(self, pages: int) -> None:
        if self._busy:  # begun for another page between this one and now
            return
        self._busy = True
        self._rounds.begin(self._before + pages)
        began = time.monotonic()
        try:
            await self._follow_readers()
            response = await self._request()
            if response is not None:
                self.rounds += 1
                self.moved += len(response.ids)
                if self.topic is not None:
                    self.topic = replace(self.topic, feedback=response.feedback)
                await self._write(response)
                self._before = max(0, response.fetched - pages)  # by earlier runs, and others at work
                self._rounds.begin(0 if response.left else self._before + pages)  # with some left, one is due at once
                self._is_needed = self._goes_on or response.left > 0
        finally:
            self._busy = False
            now = time.monotonic()
            self._rests_until = now + max(_SHORTEST_PAUSE, _REST * (now - began))

    async def finish(self, pages: int) -> None:
        while self._busy:
            await asyncio.sleep(_MOMENT)
        if self.topic is not None and self._session.leads and self._is_needed:
            await self.rescore(pages)

    async def close(self) -> None:
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.get_running_loop().run_in_executor(None, _end, pool)

    async def _follow_readers(self) -> None:
        if self._readers is None or self.topic is None:
            return
        profile = await asyncio.get_running_loop().run_in_executor(None, self._readers.news)
        if profile is not None:
            self.topic = liking(self.topic, profile)
            logger.info("the profile of readers has %d words now", len(profile))

    async def _request(self) -> RankResponse | None:
        if self._pool is None:
            self._pool = ProcessPool(max_workers=1, initializer=prepare, context=process_context())
        config = self._session.config
        request = RankRequest(
            config.database_url, config.priority, self.topic, config.focus.least, clock.now(), config.rank_memory
        )
        try:
            response: RankResponse = await asyncio.wrap_future(
                self._pool.schedule(rank, args=[request], timeout=_MOST_SECONDS)
            )
        except Exception as problem:  # noqa: BLE001 - of whatever kind: the order only stays as it is
            self._failures += 1
            logger.warning("the queue could not be scored again (%s: %s)", type(problem).__name__, problem)
            if self._failures >= _MOST_FAILURES:
                self._is_needed = False
                logger.error("after %d failures in a row the order stays as it is for this run", self._failures)
            with suppress(RuntimeError):
                await self.close()
            return None
        self._failures = 0
        return response

    async def _write(self, response: RankResponse) -> None:
        queues = self._queues
        held = np.fromiter(queues.leased_ids(), np.int64)
        loop = asyncio.get_running_loop()
        mine, soon, later = await loop.run_in_executor(None, _look_through, response, held)
        queues.rescore(mine, time.monotonic())
        for place, chunk in enumerate(response.chunks, 1):
            await self._session.submit(table.set_scores, chunk)
            if place == _SOON_CHUNKS or place == len(response.chunks):
                for host_id, score in (soon if place <= _SOON_CHUNKS else later).items():
                    queues.refresh(host_id, score)
        for judged in response.judged:
            await self._session.submit(set_relevance, judged)


def _look_through(response: RankResponse, held: Ids) -> tuple[dict[int, float], dict[int, float], dict[int, float]]:
    held_mask = np.isin(response.ids, held)
    mine = dict(zip(response.ids[held_mask].tolist(), response.scores[held_mask].tolist(), strict=True))
    first = sum(len(chunk.ids) for chunk in response.chunks[:_SOON_CHUNKS])
    return mine, _best(response, ~held_mask, slice(first)), _best(response, ~held_mask, slice(first, None))


def _best(response: RankResponse, wanted: NDArray[np.bool_], part: slice) -> dict[int, float]:
    hosts, of_host = np.unique(response.hosts[part][wanted[part]], return_inverse=True)
    best = np.full(len(hosts), -np.inf)
    np.maximum.at(best, of_host, response.scores[part][wanted[part]])
    return dict(zip(hosts.tolist(), best.tolist(), strict=True))


def _end(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()
