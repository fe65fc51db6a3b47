"""Hold a few leased URLs per host, and choose among the hosts that are ready now.

Each host has a queue ordered by score; `pop` takes the best head among the hosts whose clock allows a request. Two
heaps find it: ready hosts by the score of their head, others by the time they will be. A host that has been passed over
for long goes first once.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from db.records.lease import Beyond
from db.records.url import Lease

from ..politeness.ip_clock import SharedClocks

_Queued = tuple[float, float, int, Lease]
_SPARE = 1024


@dataclass(slots=True)
class HostQueue:
    """Leased URLs of one host, and its clock (that of `HostQueues.pop`)."""

    id: int
    name: str
    scheme: str = "http"
    ready_at: float = 0.0
    busy: int = 0
    dry: bool = False
    """The database has nothing more of it at the moment."""
    robots_known: bool = False
    best_waiting: float = math.inf
    """Nothing that waits in the database scores higher."""
    passed_over: float | None = None
    """Time since which it could have been asked, but others had better URLs."""
    queue: list[_Queued] = field(default_factory=list)
    borrowers: deque[Callable[[], bool]] = field(default_factory=deque)
    """Called in turn when a request beside the queue may begin."""


class HostQueues:
    """Queues of leased URLs, one per host, and the leased URLs in flight.

    Args:
        depth: URLs held of a host; fewer keep the order truer, more keep fast hosts busy.
        patience: seconds for which a host that is ready may be passed over.
        shared: clocks of IP addresses, when hosts at one address share one.
    """

    def __init__(
        self, *, depth: int, connections: int, most_hosts: int, patience: float, shared: SharedClocks | None = None
    ) -> None:
        self.depth = depth
        self.connections = connections
        self.most_hosts = most_hosts
        self.patience = patience
        self.shared = shared
        self.longest_wait = 0.0
        self.hosts: dict[int, HostQueue] = {}
        self.in_flight: set[int] = set()
        self._size = 0
        self._ready: list[tuple[float, float, int, int]] = []
        self._waiting: list[tuple[float, int]] = []
        self._passed_over: deque[tuple[float, int]] = deque()
        self._hungry: set[int] = set()

    def __len__(self) -> int:
        return self._size

    @property
    def room_for_hosts(self) -> int:
        return max(0, self.most_hosts - len(self.hosts))

    def add_host(self, host: HostQueue) -> None:
        self.hosts[host.id] = host
        self._hungry.add(host.id)

    def remove_host(self, host_id: int) -> None:
        host = self.hosts.pop(host_id)
        if self.shared is not None:
            self.shared.leave(host_id)
        self._hungry.discard(host_id)
        self._size -= len(host.queue)

    def refresh(self, host_id: int, score: float = math.inf) -> None:
        host = self.hosts.get(host_id)
        if host is not None:
            host.dry = False
            host.best_waiting = max(host.best_waiting, score)
            self._look(host)

    def refresh_all(self) -> None:
        for host_id in self.hosts:
            self.refresh(host_id)

    def _tidy(self, now: float) -> None:
        """Rebuild the heaps when most entries are stale. Cost: O(hosts), but seldom."""
        if len(self._ready) + len(self._waiting) > _SPARE + 4 * len(self.hosts):
            self._ready.clear()
            self._waiting.clear()
            for host in self.hosts.values():
                self._offer(host, now)
        if len(self._passed_over) > _SPARE + 4 * len(self.hosts):
            since = {host.id: host.passed_over for host in self.hosts.values()}
            self._passed_over = deque(entry for entry in self._passed_over if since.get(entry[1]) == entry[0])

    def rescore(self, scores: Mapping[int, float], now: float) -> None:
        """Give URLs that are held new scores; others are ignored. Cost: O(URLs held)."""
        for host in self.hosts.values():
            host.queue = [
                (-scores[entry[2]], entry[1], entry[2], replace(entry[3], score=scores[entry[2]]))
                if scores.get(entry[2], -entry[0]) != -entry[0]
                else entry
                for entry in host.queue
            ]
            heapq.heapify(host.queue)
        self._ready.clear()
        self._waiting.clear()
        for host in self.hosts.values():
            self._look(host)
            self._offer(host, now)

    def mark_dry(self, host_id: int, best_waiting: float = -math.inf) -> None:
        """Ask for nothing of a host until it is refreshed; limits left `best_waiting`."""
        if host_id in self.hosts:
            self.hosts[host_id].dry = True
            self.hosts[host_id].best_waiting = best_waiting
            self._hungry.discard(host_id)

    def is_starving(self) -> bool:
        return any(not (host := self.hosts[host_id]).queue and not host.dry for host_id in self._hungry)

    def leased_ids(self) -> Iterator[int]:
        yield from self.in_flight
        for host in self.hosts.values():
            for entry in host.queue:
                yield entry[2]

    def wants(self) -> dict[int, int]:
        wishes = {}
        for host_id in self._hungry:
            host = self.hosts[host_id]
            wishes[host_id] = self.depth - self._settled(host) if host.robots_known else 1
        return wishes

    def push(self, leases: Iterable[Lease], now: float) -> list[Lease]:
        touched: dict[int, float] = {}
        surplus: list[Lease] = []
        for lease in leases:
            host = self.hosts.get(lease.host_id)
            if host is None:
                surplus.append(lease)
                continue
            heapq.heappush(host.queue, (-lease.score, lease.found_at, lease.id, lease))
            self._size += 1
            touched[lease.host_id] = min(lease.score, touched.get(lease.host_id, lease.score))
        for host_id, lowest in touched.items():
            host = self.hosts[host_id]
            if not host.dry:
                host.best_waiting = lowest  # leases are the best there were
            if len(host.queue) > 2 * self.depth:
                host.queue.sort()
                surplus.extend(entry[3] for entry in host.queue[self.depth :])
                host.dry, host.best_waiting = False, max(host.best_waiting, -host.queue[self.depth][0])
                self._size -= len(host.queue) - self.depth
                del host.queue[self.depth :]
            self._look(host)
            self._offer(host, now)
        self._tidy(now)
        return surplus

    def take_all(self, host_id: int) -> list[Lease]:
        host = self.hosts.get(host_id)
        if host is None:
            return []
        leases = [entry[3] for entry in host.queue]
        self._size -= len(leases)
        host.queue.clear()
        return leases

    def make_room(self, beyond: Sequence[Beyond]) -> list[Lease]:
        """Take out the worst URLs held for better ones that a spent limit leaves waiting.

        The hosts of both are then to be asked for again. Cost: O(URLs held) for each of `beyond`.
        """
        held = sorted((entry[:3], entry[3]) for host in self.hosts.values() for entry in host.queue)
        released: list[Lease] = []
        for waiting in sorted(beyond, key=lambda one: -one.url.score):
            place = next((n for n in range(len(held) - 1, -1, -1) if waiting.gains_by(held[n][1])), None)
            if place is not None:
                released.append(held.pop(place)[1])
                self.refresh(waiting.url.host_id, waiting.url.score)
        gone = {lease.id for lease in released}
        for lease in released:
            host = self.hosts[lease.host_id]
            host.queue = [entry for entry in host.queue if entry[2] not in gone]
            heapq.heapify(host.queue)
            self.refresh(lease.host_id, lease.score)
        self._size -= len(released)
        return released

    def pop(self, now: float) -> Lease | None:
        """Take the best URL of all ready hosts; its host is then busy. Cost: O(log hosts)."""
        while self._waiting and self._waiting[0][0] <= now:
            host = self.hosts.get(heapq.heappop(self._waiting)[1])
            if host is not None:
                self._offer(host, now)
        forgotten = self._forgotten(now)
        if forgotten is not None:
            return self._take(forgotten, now)
        while self._ready:
            _, _, lease_id, host_id = heapq.heappop(self._ready)
            host = self.hosts.get(host_id)
            if host is None or not self._is_ready(host, now):
                continue
            if host.queue[0][2] != lease_id:  # a better one has come since
                self._offer(host, now)
                continue
            return self._take(host, now)
        return None

    def _is_ready(self, host: HostQueue, now: float) -> bool:
        ready = bool(host.queue) and host.busy < self.connections and host.ready_at <= now
        return ready and (self.shared is None or self.shared.free_at(host.id) <= now)

    def _forgotten(self, now: float) -> HostQueue | None:
        while self._passed_over:
            since, host_id = self._passed_over[0]
            host = self.hosts.get(host_id)
            if host is not None and host.passed_over == since and self._is_ready(host, now):
                return host if now - since > self.patience else None
            self._passed_over.popleft()
            if host is not None and host.passed_over == since:
                host.passed_over = None
        return None

    def _take(self, host: HostQueue, now: float) -> Lease:
        lease = heapq.heappop(host.queue)[3]
        self._size -= 1
        self.in_flight.add(lease.id)
        host.busy += 1
        if self.shared is not None:
            self.shared.took(host.id)
        if host.passed_over is not None:
            self.longest_wait = max(self.longest_wait, now - host.passed_over)
            host.passed_over = None
        self._look(host)
        self._offer(host, now)
        return lease

    def stored(self, lease_id: int) -> None:
        self.in_flight.discard(lease_id)

    def borrow(self, host_id: int, begin: Callable[[], bool]) -> bool:
        """Take a place of a host for a request beside its queue; False if it is not held.

        `begin` is called when there is room, whatever the clock says; it returns False if the request is no longer
        wanted.
        """
        host = self.hosts.get(host_id)
        if host is None:
            return False
        host.borrowers.append(begin)
        self._lend(host)
        return True

    def _lend(self, host: HostQueue) -> None:
        while host.borrowers and host.busy < self.connections:
            if self.shared is not None and self.shared.free_at(host.id) == math.inf:
                return  # lent when its address is free
            if host.borrowers.popleft()():
                host.busy += 1
                if self.shared is not None:
                    self.shared.took(host.id)

    def finished(self, host_id: int, ready_at: float, now: float) -> None:
        host = self.hosts.get(host_id)
        if host is not None:
            host.busy -= 1
            host.ready_at = max(host.ready_at, ready_at)
            others = self.shared.finished(host_id, now) if self.shared is not None else ()
            for each in (host, *(self.hosts[other] for other in others if other in self.hosts)):
                self._lend(each)
                self._offer(each, now)

    def next_ready(self) -> float | None:
        while self._waiting:
            ready_at, host_id = self._waiting[0]
            host = self.hosts.get(host_id)
            if host is not None and host.queue and host.busy < self.connections:
                return ready_at
            heapq.heappop(self._waiting)
        return None

    def best_score(self) -> float | None:
        return max((-host.queue[0][0] for host in self.hosts.values() if host.queue), default=None)

    def holds_only(self, host_ids: Set[int]) -> bool:
        """Tell whether all URLs held are of given hosts. Cost: O(hosts)."""
        return not self._size or all(key in host_ids for key, host in self.hosts.items() if host.queue)

    def idle_hosts(self) -> list[int]:
        return [host.id for host in self.hosts.values() if host.dry and not host.queue and not host.busy]

    def _settled(self, host: HostQueue) -> int:
        return sum(-entry[0] >= host.best_waiting for entry in host.queue)

    def _look(self, host: HostQueue) -> None:
        if not host.dry and self._settled(host) <= self.depth // 2:
            self._hungry.add(host.id)
        else:
            self._hungry.discard(host.id)

    def _offer(self, host: HostQueue, now: float) -> None:
        if not host.queue or host.busy >= self.connections:
            return
        ready_at = host.ready_at
        if self.shared is not None:
            ready_at = max(ready_at, self.shared.free_at(host.id))
            if ready_at == math.inf:  # offered again when its address is free
                host.passed_over = None
                return
        if ready_at <= now:
            score, found_at, lease_id, _ = host.queue[0]
            heapq.heappush(self._ready, (score, found_at, lease_id, host.id))
            if host.passed_over is None:
                host.passed_over = now
                self._passed_over.append((now, host.id))
        else:
            host.passed_over = None
            heapq.heappush(self._waiting, (ready_at, host.id))
