"""Know which URLs wait in the table and when they are due; add and release some."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence, Set
from typing import Any

from db.frontier import claims as table
from db.records.url import Found, Kind, Lease, NewUrl
from pipelines.links.scope import identify
from pipelines.records import BlockKind

from .. import clock
from ..response.new_urls import new_url
from ..run.session import Session
from .host_queues import HostQueues

_NO_SCORES: Mapping[int, float] = {}


class PendingUrls:
    """The URLs that wait in the database, as far as this process knows.

    `changed` is set whenever there may be something to do for the refiller; `adding` counts background tasks that add
    URLs, which a crawl waits for before it ends.
    """

    def __init__(
        self,
        session: Session,
        queues: HostQueues,
        start: Callable[[Coroutine[Any, Any, None]], None],
        poll: Callable[[], None],
    ) -> None:
        self.queues = queues
        self.count = session.began.queued
        self.changed = asyncio.Event()
        self.may_have_hosts = True
        self.adding = 0
        self._session = session
        self._start = start
        self.poll = poll
        self._due: list[tuple[float, int]] = []
        self._soonest: dict[int, float] = {}

    def found(self, hosts: Set[int], best: Mapping[int, float] = _NO_SCORES) -> None:
        for host_id in hosts:
            if host_id in self.queues.hosts:
                self.queues.refresh(host_id, best.get(host_id, -math.inf))
            else:
                self.may_have_hosts = True
        self.changed.set()

    def adjust(self, urls: int, hosts: Set[int] = frozenset()) -> None:
        """Adjust the pending count and refill these hosts."""
        self.count += urls
        self.found(hosts)
        self.poll()

    async def add(self, new_urls: Sequence[NewUrl]) -> None:
        self.arrived(await self._session.add(clock.now(), new_urls), best_scores(new_urls))

    def add_soon(self, new_urls: Sequence[NewUrl]) -> None:
        self.start_adding(self.add(new_urls))

    def start_adding(self, work: Coroutine[Any, Any, None]) -> None:
        self.adding += 1
        self._start(self._counted(work))

    async def _counted(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self.adding -= 1

    def arrived(self, stored: Found, best: Mapping[int, float] = _NO_SCORES) -> None:
        self.count += stored.queued
        self.found(stored.hosts, best)

    def refill(self) -> None:
        """Have all hosts asked again: URLs may be free that could not be leased before."""
        self.may_have_hosts = True
        self.queues.refresh_all()
        self.changed.set()

    async def ask_robots(self, hosts: Sequence[tuple[str, str]]) -> None:
        now, priority = clock.now(), self._session.config.priority
        urls = [
            new_url(
                identify(f"{scheme}://{name}/robots.txt", Kind.ROBOTS),
                priority=priority,
                depth=0,
                found_in=BlockKind.OTHER,
                now=now,
                seed_id=None,
                again=True,
            )
            for scheme, name in hosts
        ]
        if urls:
            await self.add(urls)

    async def release(self, leases: Sequence[Lease]) -> None:
        if leases:
            self.count += len(leases)
            await self._session.submit(table.release, (self._session.resumed.run_id, leases))

    def reconsider(self, host_id: int) -> None:
        surplus = self.queues.take_all(host_id)
        if surplus:
            self._start(self._reconsider(host_id, surplus))
        self.queues.refresh(host_id)
        self.changed.set()

    async def _reconsider(self, host_id: int, surplus: Sequence[Lease]) -> None:
        await self.release(surplus)
        self.queues.refresh(host_id)
        self.changed.set()

    # ------------------------------------------------------------ what is due later

    def later(self, due: float, host_id: int) -> None:
        if due < self._soonest.get(host_id, math.inf):
            self._soonest[host_id] = due
            heapq.heappush(self._due, (due, host_id))
        self.changed.set()

    def next_due(self) -> float | None:
        return self._due[0][0] if self._due else None

    def hosts_due(self) -> set[int]:
        return {host_id for _, host_id in self._due}

    def refresh_due(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            due, host_id = heapq.heappop(self._due)
            if self._soonest.get(host_id) == due:  # else it was refreshed earlier
                del self._soonest[host_id]
            self.queues.refresh(host_id)


def best_scores(new_urls: Sequence[NewUrl]) -> dict[int, float]:
    best: dict[int, float] = {}
    for new in new_urls:
        if not new.reason:
            best[new.host_id] = max(new.score, best.get(new.host_id, new.score))
    return best
