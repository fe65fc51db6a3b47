"""The part of the frontier in memory: a few leased URLs per host, and the choice among the hosts that are ready now.

The best URL of the whole crawl is useless while its host must not be asked. So every host keeps its own short queue,
ordered by score, and `pop` takes the best head among the hosts whose clock allows a request. Two heaps find it: hosts
that are ready, by the score of their head, and hosts that are not, by the time they will be.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from db.frontier import Claim

_Queued = tuple[float, float, int, Claim]


@dataclass(slots=True)
class HostQueue:
    """Leased URLs of one host and its clock (seconds of the same clock that `Window.pop` is given)."""

    id: int
    name: str
    scheme: str = "http"
    ready_at: float = 0.0
    busy: int = 0
    """Requests under way."""
    dry: bool = False
    """The database has nothing more of it at the moment."""
    robots_known: bool = False
    overtaken: bool = False
    """Something better than what is queued has been found."""
    queue: list[_Queued] = field(default_factory=list)


class Window:
    """Queues of leased URLs, one per host.

    Args:
        depth: how many URLs of a host are held; fewer keep the order truer, more keep fast hosts busy.
        connections: how many requests a host may have under way.
        most_hosts: how many hosts are held.
    """

    def __init__(self, *, depth: int, connections: int, most_hosts: int) -> None:
        self.depth = depth
        self.connections = connections
        self.most_hosts = most_hosts
        self.hosts: dict[int, HostQueue] = {}
        self._size = 0
        self._ready: list[tuple[float, float, int, int]] = []
        self._waiting: list[tuple[float, int]] = []
        self._hungry: set[int] = set()

    def __len__(self) -> int:
        """URLs held."""
        return self._size

    @property
    def room_for_hosts(self) -> int:
        """How many more hosts may be added."""
        return max(0, self.most_hosts - len(self.hosts))

    def add_host(self, host: HostQueue) -> None:
        """Hold a further host."""
        self.hosts[host.id] = host
        self._hungry.add(host.id)

    def remove_host(self, host_id: int) -> None:
        """Let an idle, empty host go."""
        host = self.hosts.pop(host_id)
        self._hungry.discard(host_id)
        self._size -= len(host.queue)

    def refresh(self, host_id: int) -> None:
        """The database may have more of this host again."""
        host = self.hosts.get(host_id)
        if host is not None:
            host.dry = False
            if len(host.queue) <= self.depth // 2:
                self._hungry.add(host_id)

    def overtake(self, host_id: int, score: float) -> None:
        """A URL with this score waits in the database: ask for it if it beats what is queued."""
        host = self.hosts.get(host_id)
        if host is not None and host.queue and score > -max(host.queue)[0]:
            host.overtaken = True
            self._hungry.add(host_id)

    def mark_dry(self, host_id: int) -> None:
        """The database has nothing (more) of this host now."""
        if host_id in self.hosts:
            self.hosts[host_id].dry = True
            self.hosts[host_id].overtaken = False
            self._hungry.discard(host_id)

    def is_starving(self) -> bool:
        """Whether some host has nothing queued although the database may have more of it."""
        return any(not (host := self.hosts[host_id]).queue and not host.dry for host_id in self._hungry)

    def claim_ids(self) -> Iterator[int]:
        """Identifiers of all URLs held."""
        return (entry[2] for host in self.hosts.values() for entry in host.queue)

    def wants(self) -> dict[int, int]:
        """How many URLs should be claimed for each host."""
        wishes = {}
        for host_id in self._hungry:
            host = self.hosts[host_id]
            room = self.depth if host.overtaken else self.depth - len(host.queue)
            if host.dry or room <= 0:
                continue
            wishes[host_id] = room if host.robots_known else 1
        return wishes

    def push(self, claims: Iterable[Claim], now: float) -> list[Claim]:
        """Queue leased URLs; returns those that no longer fit and should be given back."""
        touched = set()
        surplus: list[Claim] = []
        for claim in claims:
            host = self.hosts.get(claim.host_id)
            if host is None:
                surplus.append(claim)
                continue
            heapq.heappush(host.queue, (-claim.score, claim.found_at, claim.id, claim))
            self._size += 1
            touched.add(claim.host_id)
        for host_id in touched:
            host = self.hosts[host_id]
            host.overtaken = False
            if len(host.queue) > 2 * self.depth:
                host.queue.sort()
                surplus.extend(entry[3] for entry in host.queue[self.depth :])
                self._size -= len(host.queue) - self.depth
                del host.queue[self.depth :]
            if len(host.queue) > self.depth // 2:
                self._hungry.discard(host_id)
            self._offer(host, now)
        return surplus

    def take_all(self, host_id: int) -> list[Claim]:
        """Take what is queued for a host out of the window, to be given back."""
        host = self.hosts.get(host_id)
        if host is None:
            return []
        claims = [entry[3] for entry in host.queue]
        self._size -= len(claims)
        host.queue.clear()
        return claims

    def pop(self, now: float) -> Claim | None:
        """Take the best URL among the hosts that are ready; its host counts as busy until `finished`.

        Cost: O(log hosts).
        """
        while self._waiting and self._waiting[0][0] <= now:
            host = self.hosts.get(heapq.heappop(self._waiting)[1])
            if host is not None:
                self._offer(host, now)
        while self._ready:
            _, _, claim_id, host_id = heapq.heappop(self._ready)
            host = self.hosts.get(host_id)
            if host is None or not host.queue or host.busy >= self.connections or host.ready_at > now:
                continue
            if host.queue[0][2] != claim_id:  # a better one has come since
                self._offer(host, now)
                continue
            claim = heapq.heappop(host.queue)[3]
            self._size -= 1
            host.busy += 1
            if len(host.queue) <= self.depth // 2 and not host.dry:
                self._hungry.add(host_id)
            self._offer(host, now)
            return claim
        return None

    def finished(self, host_id: int, ready_at: float, now: float) -> None:
        """A request of this host has ended; the next may be sent at `ready_at`."""
        host = self.hosts.get(host_id)
        if host is not None:
            host.busy -= 1
            host.ready_at = max(host.ready_at, ready_at)
            self._offer(host, now)

    def next_ready(self) -> float | None:
        """When the next host that has URLs becomes ready; None when none will by itself."""
        while self._waiting:
            ready_at, host_id = self._waiting[0]
            host = self.hosts.get(host_id)
            if host is not None and host.queue and host.busy < self.connections:
                return ready_at
            heapq.heappop(self._waiting)
        return None

    def best_score(self) -> float | None:
        """Score of the best URL held, ready or not."""
        return max((-host.queue[0][0] for host in self.hosts.values() if host.queue), default=None)

    def idle_hosts(self) -> list[int]:
        """Hosts with nothing queued, nothing under way and nothing more in the database."""
        return [host.id for host in self.hosts.values() if host.dry and not host.queue and not host.busy]

    def _offer(self, host: HostQueue, now: float) -> None:
        """Enter a host into the heap it belongs to now."""
        if not host.queue or host.busy >= self.connections:
            return
        if host.ready_at <= now:
            score, found_at, claim_id, _ = host.queue[0]
            heapq.heappush(self._ready, (score, found_at, claim_id, host.id))
        else:
            heapq.heappush(self._waiting, (host.ready_at, host.id))
