"""Wait for what is left when nothing is queued or under way, or end the crawl."""

from __future__ import annotations

import asyncio

from db.frontier import claims as table
from db.records.lease import Waiting

from .. import clock
from ..politeness.delay import LONGEST_PAUSE
from ..politeness.outage import Outage
from ..run.session import Session
from .completion import PageCompletion
from .exchange import Exchange
from .held_hosts import HeldHosts
from .host_backoff import HostBackoff
from .pending import PendingUrls
from .undescribed import Undescribed
from .watch import Watch

_LOOK_AGAIN_SECONDS = 1.0
_SHORTEST_NAP_SECONDS = 0.2
_LONGEST_NAP_SECONDS = 5.0
_LONGEST_REST_SECONDS = 60.0


class Idle:
    def __init__(
        self,
        session: Session,
        pending: PendingUrls,
        *,
        held: HeldHosts,
        backoff: HostBackoff,
        outage: Outage,
        completion: PageCompletion,
        watch: Watch | None,
        undescribed: Undescribed,
        exchange: Exchange | None = None,
    ) -> None:
        self.exhausted = False
        self._session = session
        self._pending = pending
        self._held = held
        self._backoff = backoff
        self._outage = outage
        self._completion = completion
        self._watch = watch
        self._undescribed = undescribed
        self._exchange = exchange

    def is_due(self) -> bool:
        if self.exhausted or self._outage.suspected or self._session.is_paused:
            return False
        under_way = self._pending.queues.in_flight or self._pending.adding
        return not under_way and self._backoff.holds_up_all()

    async def look_around(self) -> None:
        left = await self._session.submit(table.waiting, self._session.config.limits)
        if left.within == 0:
            await self._nothing_left()
        elif self._watch is not None or not await self._backoff.give_up_dead():
            await self._wait_for(left)
            await self._held.wake_all()

    async def _nothing_left(self) -> None:
        more = await self._completion.finish()
        if self._watch is None or self._watch.spent:
            is_done = not more and await self._undescribed.are_done()
            self.exhausted = is_done and (self._exchange is None or await self._exchange.is_over())
        elif not more:
            alone = self._session.database.is_sqlite
            await self._watch.rest(_LONGEST_REST_SECONDS if alone else _LONGEST_NAP_SECONDS)

    async def _wait_for(self, left: Waiting) -> None:
        due, latest = left.next_due, clock.now() + LONGEST_PAUSE
        if due is not None and due > latest:  # nothing waits that long: the clock has been set back since
            await self._session.submit(table.bring_forward, latest)
        pause = due - clock.now() if due is not None else _LOOK_AGAIN_SECONDS
        if pause < 0:  # due, but of a host that another run holds
            pause = _LOOK_AGAIN_SECONDS
        await asyncio.sleep(min(max(pause, _SHORTEST_NAP_SECONDS), _LONGEST_NAP_SECONDS))
