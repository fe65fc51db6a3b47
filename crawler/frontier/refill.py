"""Keep the queues filled, with one request to the database at a time."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Coroutine
from typing import Any

from db.frontier import claims as table
from db.records.lease import LeaseRequest
from db.records.reasons import Reason, SkipReason
from db.records.run import Asked
from db.records.url import Lease

from .. import clock
from ..learn.learning import Learning
from ..politeness.hosts import Hosts
from ..response.seed_scope import SeedScope
from ..run.background import Background
from ..run.session import Session
from .held_hosts import HeldHosts
from .host_backoff import HostBackoff
from .idle import Idle
from .pending import PendingUrls

_REFILL_SECONDS = 0.25
_LONGEST_WAIT_SECONDS = 3_600.0


class Refiller:
    def __init__(
        self,
        session: Session,
        pending: PendingUrls,
        *,
        hosts: Hosts,
        seeds: SeedScope,
        learning: Learning,
        held: HeldHosts,
        backoff: HostBackoff,
        idle: Idle,
        background: Background,
    ) -> None:
        self._session = session
        self._pending = pending
        self._queues = pending.queues
        self._hosts = hosts
        self._seeds = seeds
        self._learning = learning
        self._held = held
        self._backoff = backoff
        self._idle = idle
        self._background = background
        self._refilled_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        try:
            while True:
                self._pending.changed.clear()
                work = self._next()
                if work is None:
                    await self._pending.changed.wait()
                else:
                    await work
                    self._pending.poll()
        finally:
            self._wake_after(None)

    async def keep_alive(self) -> None:
        """Renew the lease of this run again and again, and do what the other runs need.

        Raises:
            DatabaseProblem: the database gave up, or the lease has expired.
        """
        while True:
            await asyncio.sleep(self._session.sign_seconds)
            queued = None if self._held.is_shared else max(0, self._pending.count) + len(self._queues)
            was_paused = self._session.is_paused
            self._held.heard(await self._session.renew(self._held.with_work(), queued))
            if self._session.asked is Asked.STOP:
                self._background.stop("by an operator")
            elif was_paused and not self._session.is_paused:
                self._pending.poll()
            await self._backoff.ask_stale_robots()
            self._pending.adjust(0)

    def _next(self) -> Coroutine[Any, Any, None] | None:
        pending, queues, held, now = self._pending, self._queues, self._held, clock.now()
        pending.refresh_due(now)
        work: Coroutine[Any, Any, None] | None = None
        due = pending.next_due()
        pause = None if due is None else min(_LONGEST_WAIT_SECONDS, due - now)
        rest = self._refilled_at + _REFILL_SECONDS - time.monotonic()
        if held.may_have_orphans:
            work = held.return_orphans()
        elif held.surplus:
            work = held.hand_over()
        elif now >= self._backoff.reopen_at:
            work = self._backoff.reopen()
        elif pending.may_have_hosts and (room := held.room()):
            work = held.take(room)
        elif pending.may_have_hosts and not queues.room_for_hosts and queues.idle_hosts():
            work = held.drop_idle()
        elif rest > 0 and (self._is_busy() or not queues.is_starving()):
            pause = rest  # more wishes may come until then: they share a transaction
        elif wants := queues.wants():
            work = self._refill(wants)
        elif self._idle.is_due():
            self._refilled_at = time.monotonic()
            work = self._idle.look_around()
        if work is None:
            self._wake_after(pause)
        return work

    def _is_busy(self) -> bool:
        """Tell whether so much is under way that a host without URLs costs no time."""
        return 2 * len(self._queues.in_flight) > self._session.config.in_flight

    def _wake_after(self, pause: float | None) -> None:
        """Look again after so many seconds (None: never), instead of when last planned."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if pause is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, pause), self._pending.changed.set)

    def _refuse(self, lease: Lease) -> tuple[Reason, str] | None:
        """Called from the database thread."""
        rule = self._seeds.refuses(lease)
        if rule:
            return SkipReason.EXCLUDED, rule
        trap = self._learning.trap_reason(lease)
        return (SkipReason.TRAP, trap) if trap else None

    async def _refill(self, wants: dict[int, int]) -> None:
        queues, hosts = self._queues, self._hosts
        self._refilled_at = time.monotonic()
        request = LeaseRequest(
            run_id=self._session.resumed.run_id,
            wants=wants,
            robots_only=frozenset(key for key in wants if not queues.hosts[key].robots_known),
            disallow_reason=hosts.disallow_reason,
            closed=hosts.closed,
            limits=self._session.config.limits,
            now=clock.now(),
            refuse=self._refuse,
        )
        ask = self._session.gather if self._is_busy() else self._session.submit
        leases = await ask(table.lease, request)
        self._seeds.learn(leases.seeds)
        best: dict[int, float] = {}
        for one in leases.beyond:
            best[one.url.host_id] = max(one.url.score, best.get(one.url.host_id, -math.inf))
        for host_id, due in leases.dry.items():
            queues.mark_dry(host_id, best.get(host_id, -math.inf))
            if due is not None:
                self._pending.later(due, host_id)
        self._session.stats.update({f"dropped/{reason}": n for reason, n in leases.skipped.items()})
        surplus = queues.push(leases.urls, time.monotonic())
        self._pending.count -= len(leases.urls) + leases.skipped.total()
        room = queues.make_room(leases.beyond)
        await self._pending.release([*surplus, *room])
        if room:
            self._refilled_at = 0.0  # what it was made for is to be leased before it is needed
