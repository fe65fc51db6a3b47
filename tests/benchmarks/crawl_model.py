"""Simulated crawls: hosts, crawling processes, workers, databases, shards and machines.

Two models of the same thing. `simulate` plays every request as events (Markov chains would not do: a host's clock is no
chance): each core is shared by what runs on its machine, every process does one thing at a time, a host is asked again
so long after its answer, pages are known once a page that names them is stored. `estimate` lets time run in steps and
pages flow; it is for crawls that are too large for the first, and is held against it where both can be had.

Nothing here fetches anything: `tests.benchmarks.scale` measures what the models need and holds them against crawls.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUND_GROWTH = 0.04
_ROUND_PAGES = 5_000
_ROUND_REST = 5.0
_ROUND_SCORES = 200_000
_SCORE_CHUNK = 1_000
"""The rounds of ranking are those of `crawler.rank.rounds` and `crawler.frontier.rescore`."""
_PARTS = 100


@dataclass(frozen=True, slots=True)
class Costs:
    """CPU seconds of one core, of the machine on which they were measured.

    Attributes:
        start: of a crawling process, once.
        worker_start: of its workers together, once.
        database_start: of the database server, once for each database.
        fetch: of the crawling process for a request; all that robots.txt costs.
        store: of the crawling process for a page, from the answer to the row.
        parse: of a worker for a page.
        database: of the database server for a page.
        transaction: of the crawling process for a transaction, which may store several pages ...
        commit: ... and of the database server.
        serve: of the web server for a request, where that runs on the same machine.
        rank: of a round of ranking for each page that was fetched.
        score: of the crawling process for each score that a round changes.
        inbox: of a database server for a link of another shard, at either end.
        growth: share by which `store` and `database` grow with each e-fold of the pages of a shard ...
        growth_from: ... beyond so many.
        efficiency: share of the cores that can be used.
    """

    start: float = 2.5
    worker_start: float = 2.0
    database_start: float = 0.0
    fetch: float = 0.0012
    store: float = 0.0018
    parse: float = 0.0050
    database: float = 0.0
    transaction: float = 0.0
    commit: float = 0.0
    serve: float = 0.0
    rank: float = 5e-6
    score: float = 14e-6
    inbox: float = 20e-6
    growth: float = 0.0
    growth_from: int = 2_000
    efficiency: float = 1.0

    def larger(self, pages: float) -> float:
        """Return the cost of storing a page once a shard has so many, in that of the first."""
        return 1 + self.growth * max(0.0, math.log(max(pages, 1) / self.growth_from))


@dataclass(frozen=True, slots=True)
class Layout:
    """Machines and processes that do the work.

    Attributes:
        shards: databases.
        processes: crawling processes in all, dealt over the shards and over the machines.
        workers: of each of them.
        machines: for the processes and their workers.
        cores: of each of them; what other programs leave of it.
        database_cores: of a machine of its own for each database; 0 when they are on the first machine.
        requests: pages under way for each process (`CONCURRENT_REQUESTS`).
        most_hosts: hosts held by each process (`MAX_HOSTS`).
        commit_seconds: from one transaction of a process to its next; pages that come meanwhile share that.
        inbox_seconds: after which links reach another shard.
        notice_seconds: after which the work of a process that was killed is taken over.
    """

    shards: int = 1
    processes: int = 1
    workers: int = 2
    machines: int = 1
    cores: float = 2.0
    database_cores: float = 0.0
    requests: int = 64
    most_hosts: int = 2_000
    commit_seconds: float = 0.1
    inbox_seconds: float = 1.0
    notice_seconds: float = 2.0


@dataclass(frozen=True)
class Web:
    """The hosts to be crawled.

    Attributes:
        sizes: pages of each host.
        delay: seconds from an answer of a host to the next request.
        latency: seconds until a request is answered.
        links: of a page, to pages anywhere.
        host_of: host of each page; by chance when it is not given.
    """

    sizes: NDArray[Any]
    delay: float = 1.0
    latency: float = 0.0
    links: int = 60
    host_of: NDArray[np.int64] | None = None

    @property
    def pages(self) -> int:
        """All pages."""
        return int(self.sizes.sum())

    def hosts_of_pages(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The host of each page."""
        if self.host_of is not None:
            return self.host_of
        return rng.permutation(np.repeat(np.arange(len(self.sizes)), self.sizes))


def heavy_tailed(pages: int, hosts: int, skew: float) -> NDArray[np.int64]:
    """Sizes of hosts of which the n-th has 1 / n ** skew as many pages as the first.

    >>> heavy_tailed(110, 4, 1.0).tolist()
    [53, 26, 18, 13]
    """
    weights = np.arange(1, hosts + 1) ** -float(skew)
    bounds = np.rint(np.cumsum(weights) / weights.sum() * pages).astype(np.int64)
    return np.diff(bounds, prepend=0)


def grouped(
    pages: int, hosts: int, skew: float, *, single: int = 1_000
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The same for many hosts: pages of each, and for how many hosts of about that size it stands.

    The largest are single ones; the others are put together with those whose place is at most one in a hundred further.
    """
    edges = [0, *range(1, min(single, hosts))]
    while edges[-1] < hosts:
        edges.append(min(hosts, max(edges[-1] + 1, int(edges[-1] * 1.01))))
    places = np.arange(1, hosts + 1) ** -float(skew)
    sums = np.concatenate([[0.0], np.cumsum(places)])[edges]
    counts = np.diff(np.array(edges))
    return np.diff(sums) / sums[-1] * pages / counts, counts


@dataclass
class Prediction:
    """Course of a crawl.

    Attributes:
        pages: that were stored.
        seconds: from the command to its end.
        busy: CPU seconds by kind of work.
        reached: seconds after which a hundredth, two hundredths ... of the pages were stored.
        in_flight: pages under way on average.
        queued: URLs that wait, on average; of `simulate` only.
        refetched: pages fetched again after kills.
        bound: what held the crawl up, as share of its time; of `estimate` only.
    """

    pages: int = 0
    seconds: float = 0.0
    busy: Counter[str] = field(default_factory=Counter)
    reached: list[float] = field(default_factory=list)
    in_flight: float = 0.0
    queued: float = 0.0
    refetched: int = 0
    bound: Counter[str] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Pages a second."""
        return self.pages / self.seconds


class Machine:
    """Cores that are shared evenly by all that runs.

    As all of it runs at one speed, work is counted in the time of a clock that runs at that speed: what ends next is
    the head of a heap, whoever else starts or ends.
    """

    def __init__(self, cores: float) -> None:
        self.cores = cores
        self.running = 0
        self._clock = 0.0
        self._at = 0.0
        self._heap: list[tuple[float, int, Any]] = []
        self._count = 0

    def _advance(self, now: float) -> None:
        if self.running:
            self._clock += (now - self._at) * min(1.0, self.cores / self.running)
        self._at = now

    def start(self, now: float, work: float, job: Any) -> None:
        """Begin a piece of work."""
        self._advance(now)
        self.running += 1
        self._count += 1
        heapq.heappush(self._heap, (self._clock + work, self._count, job))

    def ends_at(self) -> float:
        """When the next piece of work ends, if nothing else begins."""
        if not self._heap:
            return math.inf
        return self._at + (self._heap[0][0] - self._clock) / min(1.0, self.cores / max(1, self.running))

    def end(self, now: float) -> Any:
        """Take out the piece of work that ends now."""
        self._advance(now)
        return heapq.heappop(self._heap)[2]


class Server:
    """Whoever does so many pieces of work at a time, in the order in which they came."""

    def __init__(self, machine: Machine, kind: str, slots: int = 1) -> None:
        self.machine, self.kind, self.slots = machine, kind, slots
        self.running = 0
        self.life = 0
        self.queue: deque[tuple[float, Callable[..., None], Any]] = deque()
        self.busy = 0.0

    def submit(self, now: float, work: float, then: Callable[..., None], about: Any) -> None:
        """Do a piece of work as soon as there is a place; then say so."""
        if self.running < self.slots:
            self._start(now, work, then, about)
        else:
            self.queue.append((work, then, about))

    def _start(self, now: float, work: float, then: Callable[..., None], about: Any) -> None:
        self.running += 1
        self.busy += work
        self.machine.start(now, work, (self, self.life, then, about))

    def ended(self, now: float) -> None:
        """Begin with the next piece of work."""
        self.machine.running -= 1
        self.running -= 1
        if self.queue:
            self._start(now, *self.queue.popleft())

    def kill(self, now: float) -> None:
        """Forget everything; what runs is found to be of an earlier life when its time comes."""
        self.machine.start(now, 0.0, (self, -1, None, None))  # lets the clock of the machine advance
        self.machine.running -= 1 + self.running
        self.running = 0
        self.life += 1
        self.queue.clear()


@dataclass
class _Process:
    """A crawling process, its thread that writes, its workers and its process that ranks."""

    number: int
    shard: int
    own: Server
    writer: Server
    pool: Server
    ranker: Server
    ready: list[tuple[int, int]] = field(default_factory=list)
    in_flight: set[int] = field(default_factory=set)
    hosts: set[int] = field(default_factory=set)
    alive: bool = False
    written: list[tuple[int, list[int]]] = field(default_factory=list)
    commits: bool = False
    next_commit: float = 0.0


@dataclass
class _Shard:
    """A database: what its crawl has come to."""

    database: Server
    processes: list[_Process] = field(default_factory=list)
    free: deque[int] = field(default_factory=deque)
    pages: int = 0
    pending: int = 0
    inbox: list[int] = field(default_factory=list)
    ranked: int = 0
    ranking: bool = False
    rests_until: float = 0.0


class _Average:
    """A number that goes up and down, and its average over time."""

    def __init__(self) -> None:
        self._now = self._sum = self._at = 0.0

    def add(self, more: int, now: float) -> None:
        """Change it."""
        self._sum += self._now * (now - self._at)
        self._at = now
        self._now += more

    def until(self, now: float) -> float:
        """The average from the beginning until now."""
        return (self._sum + self._now * (now - self._at)) / now


def simulate(
    costs: Costs, web: Web, layout: Layout = Layout(), *, kills: Sequence[tuple[float, int]] = (), seed: int = 1
) -> Prediction:
    """Play a crawl, request by request.

    Args:
        costs: what everything costs.
        web: what is crawled.
        layout: by whom.
        kills: processes that are killed and started again: (seconds, number).
        seed: of what is left to chance: where links lead.

    Cost: about 30 microseconds a page.
    """
    return _Simulation(costs, web, layout, seed).run(kills)


class _Simulation:
    """One crawl that is played."""

    def __init__(self, costs: Costs, web: Web, layout: Layout, seed: int) -> None:
        self.costs, self.web, self.layout = costs, web, layout
        self.now = 0.0
        self.timers: list[tuple[float, int, Callable[..., None], Any]] = []
        self.count = 0
        self.result = Prediction()
        hosts = len(web.sizes)
        rng = np.random.default_rng(seed)
        self.host_of = web.hosts_of_pages(rng).tolist()
        self.total = len(self.host_of)
        self.found_at = [0] * self.total
        self.found = 0
        self.pending: list[deque[int]] = [deque() for _ in range(hosts)]
        self.ready_at = [0.0] * hosts
        self.busy = bytearray(hosts)
        self.has_rules = bytearray(hosts)
        self.owner: list[_Process | None] = [None] * hosts
        self.shard_of = rng.integers(0, layout.shards, hosts).tolist()
        self.links = self._links(rng)
        self._build()

    def _build(self) -> None:
        """Make machines, databases and processes."""
        layout = self.layout
        self.machines = [Machine(layout.cores * self.costs.efficiency) for _ in range(layout.machines)]
        self.web_server = Server(self.machines[0], "serve")
        self.shards = []
        for _ in range(layout.shards):
            machine = self.machines[0]
            if layout.database_cores:
                machine = Machine(layout.database_cores)
                self.machines.append(machine)
            self.shards.append(_Shard(Server(machine, "database")))
        self.processes = []
        for number in range(layout.processes):
            machine = self.machines[number % layout.machines]
            own, writer, ranker = Server(machine, "own"), Server(machine, "own"), Server(machine, "rank")
            pool = Server(machine, "workers", layout.workers)
            process = _Process(number, number % layout.shards, own, writer, pool, ranker)
            self.processes.append(process)
            self.shards[process.shard].processes.append(process)

    def _links(self, rng: np.random.Generator) -> Iterator[int]:
        """Where links lead, one after the other."""
        while True:
            yield from rng.integers(0, self.total, 1 << 16).tolist()

    def at_time(self, when: float, then: Callable[..., None], about: Any) -> None:
        """Do something then."""
        self.count += 1
        heapq.heappush(self.timers, (when, self.count, then, about))

    def after(self, seconds: float, then: Callable[..., None], about: Any) -> None:
        """Do something later."""
        self.at_time(self.now + seconds, then, about)

    def run(self, kills: Sequence[tuple[float, int]]) -> Prediction:
        """Let it go on until all pages are stored."""
        self.in_flight, self.queued = _Average(), _Average()
        for shard in self.shards:
            shard.database.submit(0.0, self.costs.database_start, _nothing, None)
        for process in self.processes:
            self._start(process)
        for seconds, number in kills:
            self.after(seconds, self._kill, self.processes[number])
        self._found(0)
        result, total = self.result, self.total
        while result.pages < total:
            machine = min(self.machines, key=Machine.ends_at) if len(self.machines) > 1 else self.machines[0]
            ends_at = machine.ends_at()
            if self.timers and self.timers[0][0] <= ends_at:
                self.now, _, then, about = heapq.heappop(self.timers)
                then(about)
                continue
            assert ends_at < math.inf, "nothing goes on, and pages are left"
            self.now = max(self.now, ends_at)
            server, life, then, about = machine.end(self.now)
            if life == server.life:
                server.ended(self.now)
                then(about)
        result.seconds = self.now
        result.in_flight, result.queued = self.in_flight.until(self.now), self.queued.until(self.now)
        for process in self.processes:
            for server in (process.own, process.writer, process.pool, process.ranker):
                result.busy[server.kind] += server.busy
        result.busy["database"] = sum(shard.database.busy for shard in self.shards)
        result.busy["serve"] = self.web_server.busy
        return result

    # ------------------------------------------------------------ processes

    def _start(self, process: _Process) -> None:
        """Begin a process; its workers come up meanwhile."""
        process.own.submit(self.now, self.costs.start, self._started, process)
        process.pool.submit(self.now, self.costs.worker_start, _nothing, None)

    def _started(self, process: _Process) -> None:
        process.alive = True
        shard = self.shards[process.shard]
        if len(shard.processes) > 1:
            self._share(shard)
        self._take_hosts(process)

    def _share(self, shard: _Shard) -> None:
        """Let go of hosts beyond an equal part; one with a request under way stays."""
        living = [process for process in shard.processes if process.alive]
        share = math.ceil(sum(len(process.hosts) for process in living) / len(living))
        for process in living:
            idle = [host for host in process.hosts if not self.busy[host]]
            for host in idle[: max(0, len(process.hosts) - share)]:
                self._let_go(process, host)
        for process in living:
            self._take_hosts(process)

    def _kill(self, process: _Process) -> None:
        """End a process; what it had in hand is fetched again by whoever takes over."""
        if not process.alive:
            return
        for server in (process.own, process.writer, process.pool, process.ranker):
            server.kill(self.now)
        shard = self.shards[process.shard]
        shard.ranking = False
        process.alive = False
        self.in_flight.add(-len(process.in_flight), self.now)
        lost, process.in_flight = process.in_flight, set()
        hosts, process.hosts = process.hosts, set()
        process.ready.clear()
        process.written.clear()
        process.commits = False
        self.after(self.layout.notice_seconds, self._taken_over, (shard, sorted(hosts), sorted(lost)))
        self._start(process)

    def _taken_over(self, about: tuple[_Shard, list[int], list[int]]) -> None:
        shard, hosts, lost = about
        for page in lost:
            if page >= 0:
                self.pending[self.host_of[page]].appendleft(page)
                self._queue(shard, 1)
                self.result.refetched += 1
        for host in hosts:
            self.busy[host] = 0
            self.owner[host] = None
            if self.pending[host]:
                shard.free.append(host)
        for process in shard.processes:
            self._take_hosts(process)

    # ------------------------------------------------------------ hosts

    def _let_go(self, process: _Process, host: int) -> None:
        process.hosts.discard(host)
        self.owner[host] = None
        if self.pending[host]:
            self.shards[process.shard].free.append(host)

    def _take_hosts(self, process: _Process) -> None:
        """Hold as many free hosts as there is room for."""
        free = self.shards[process.shard].free
        living = sum(other.alive for other in self.shards[process.shard].processes)
        share = self.layout.most_hosts
        if living > 1:
            held = sum(len(other.hosts) for other in self.shards[process.shard].processes)
            share = min(share, math.ceil((held + len(free)) / living))
        while process.alive and free and len(process.hosts) < share:
            host = free.popleft()
            self.owner[host] = process
            process.hosts.add(host)
            self._offer(host)
        self._ask(process)

    def _found(self, page: int) -> None:
        """A page is known from now on."""
        if self.found_at[page]:
            return
        self.found += 1
        self.found_at[page] = self.found
        host = self.host_of[page]
        shard = self.shards[self.shard_of[host]]
        self._queue(shard, 1)
        self.pending[host].append(page)
        owner = self.owner[host]
        if owner is not None:
            if len(self.pending[host]) == 1:
                self._offer(host)
                self._ask(owner)
        elif len(self.pending[host]) == 1:
            shard.free.append(host)
            living = [process for process in shard.processes if process.alive]
            if living:
                self._take_hosts(min(living, key=lambda process: len(process.hosts)))

    def _offer(self, host: int) -> None:
        """Enter a host among those that may be asked, now or when its time has come."""
        process = self.owner[host]
        if process is None or self.busy[host] or not self.pending[host]:
            return
        if self.ready_at[host] <= self.now:
            heapq.heappush(process.ready, (self.found_at[self.pending[host][0]], host))
        else:
            self.at_time(self.ready_at[host], self._wake, host)

    def _wake(self, host: int) -> None:
        self._offer(host)
        process = self.owner[host]
        if process is not None:
            self._ask(process)

    def _ask(self, process: _Process) -> None:
        """Send as many requests as may be under way."""
        while process.ready and len(process.in_flight) < self.layout.requests and process.alive:
            _, host = heapq.heappop(process.ready)
            if self.owner[host] is not process or self.busy[host] or self.ready_at[host] > self.now:
                continue
            if not self.pending[host]:
                continue
            self.busy[host] = 1
            page = ~host
            if self.has_rules[host]:
                page = self.pending[host].popleft()
                self._queue(self.shards[process.shard], -1)
            process.in_flight.add(page)
            self.in_flight.add(1, self.now)
            process.own.submit(self.now, self.costs.fetch, self._sent, (process, process.own.life, page))

    # ------------------------------------------------------------ the way of a page

    def _sent(self, about: tuple[_Process, int, int]) -> None:
        if self.costs.serve:
            self.web_server.submit(self.now, self.costs.serve, self._served, about)
        else:
            self.after(self.web.latency, self._answered, about)

    def _served(self, about: tuple[_Process, int, int]) -> None:
        if self.web.latency:
            self.after(self.web.latency, self._answered, about)
        else:
            self._answered(about)

    def _answered(self, about: tuple[_Process, int, int]) -> None:
        process, life, page = about
        if life != process.own.life:
            return
        host = ~page if page < 0 else self.host_of[page]
        self.busy[host] = 0
        self.ready_at[host] = self.now + self.web.delay
        if page < 0:
            self.has_rules[host] = 1
            process.in_flight.discard(page)
            self.in_flight.add(-1, self.now)
        else:
            process.pool.submit(self.now, self.costs.parse, self._parsed, about)
        if not self.pending[host] and len(process.hosts) >= self.layout.most_hosts:
            self._let_go(process, host)
            self._take_hosts(process)
        self._offer(host)
        self._ask(process)

    def _parsed(self, about: tuple[_Process, int, int]) -> None:
        process = about[0]
        work = self.costs.store * self.costs.larger(self.shards[process.shard].pages)
        process.own.submit(self.now, work, self._written, about)

    def _written(self, about: tuple[_Process, int, int]) -> None:
        """A page waits for the next transaction."""
        process, _, page = about
        found = [next(self.links) for _ in range(self.web.links - 1)]
        found.append((page + 1) % self.total)
        process.written.append((page, found))
        if not process.commits:
            process.commits = True
            if process.next_commit <= self.now:
                self._commit((process, process.own.life))
            else:
                self.at_time(process.next_commit, self._commit, (process, process.own.life))

    def _commit(self, about: tuple[_Process, int]) -> None:
        """Begin a transaction with all pages that wait."""
        process, life = about
        if life == process.own.life:
            pages, process.written = process.written, []
            process.writer.submit(self.now, self.costs.transaction, self._sent_to_database, (process, life, pages))

    def _sent_to_database(self, about: tuple[_Process, int, list[tuple[int, list[int]]]]) -> None:
        process, _, pages = about
        shard, costs = self.shards[process.shard], self.costs
        away = 0
        if self.layout.shards > 1:
            away = sum(self.shard_of[self.host_of[target]] != process.shard for _, found in pages for target in found)
        work = costs.commit + costs.database * costs.larger(shard.pages) * len(pages) + costs.inbox * away
        if work:
            shard.database.submit(self.now, work, self._committed, about)
        else:
            self._committed(about)

    def _committed(self, about: tuple[_Process, int, list[tuple[int, list[int]]]]) -> None:
        process, life, pages = about
        if life != process.own.life:
            return
        for page, found in pages:
            self._stored(process, page, found)
        process.next_commit = self.now + self.layout.commit_seconds
        process.commits = bool(process.written)
        if process.commits:
            self.at_time(process.next_commit, self._commit, (process, life))
        self._ask(process)

    def _stored(self, process: _Process, page: int, found: list[int]) -> None:
        process.in_flight.discard(page)
        self.in_flight.add(-1, self.now)
        shard, result = self.shards[process.shard], self.result
        shard.pages += 1
        result.pages += 1
        while len(result.reached) < _PARTS * result.pages // self.total:
            result.reached.append(self.now)
        for target in found:
            if self.found_at[target]:
                continue
            other = self.shards[self.shard_of[self.host_of[target]]]
            if other is shard:
                self._found(target)
            else:
                if not other.inbox:
                    self.after(self.layout.inbox_seconds, self._emptied, other)
                other.inbox.append(target)
        self._rank(process, shard)

    def _emptied(self, shard: _Shard) -> None:
        """The links in the inbox of a shard reach its frontier."""
        links, shard.inbox = shard.inbox, []
        shard.database.submit(self.now, self.costs.inbox * len(links), self._delivered, links)

    def _delivered(self, links: list[int]) -> None:
        for target in links:
            self._found(target)

    # ------------------------------------------------------------ ranking

    def _rank(self, process: _Process, shard: _Shard) -> None:
        """Begin a round of ranking when it is due."""
        pause = min(_ROUND_PAGES, max(16, _ROUND_GROWTH * shard.ranked))
        if shard.ranking or shard.pages - shard.ranked < pause or self.now < shard.rests_until:
            return
        leader = next((process for process in shard.processes if process.alive), process)
        shard.ranking, shard.ranked = True, shard.pages
        leader.ranker.submit(self.now, self.costs.rank * shard.pages, self._ranked, (leader, shard, self.now))

    def _ranked(self, about: tuple[_Process, _Shard, float]) -> None:
        shard = about[1]
        self._scored((*about, min(_ROUND_SCORES, shard.pending)))

    def _scored(self, about: tuple[_Process, _Shard, float, int]) -> None:
        """Write the next scores, between the transactions of pages."""
        leader, shard, began, left = about
        if left <= 0:
            shard.ranking = False
            shard.rests_until = self.now + max(1.0, _ROUND_REST * (self.now - began))
            return
        part = min(_SCORE_CHUNK, left)
        leader.own.submit(self.now, self.costs.score * part, self._scored, (leader, shard, began, left - part))

    def _queue(self, shard: _Shard, more: int) -> None:
        """So many more URLs of a shard wait."""
        shard.pending += more
        self.queued.add(more, self.now)


def _nothing(_about: Any) -> None:
    """Of what follows from a piece of work when nothing does."""


# ---------------------------------------------------------------- in steps


_STEP = 0.002
_MOST_STEPS = 100_000


def estimate(costs: Costs, web: Web, layout: Layout = Layout(), *, each: NDArray[np.int64] | None = None) -> Prediction:
    """Foretell a crawl in steps of time, with all pages known from the beginning.

    In each step pages flow from the hosts that are held: from none faster than its delay allows, from all together no
    faster than what is fullest can bear, and below that from each by what it has left, because the best of all waiting
    URLs goes first. Hosts are held until they have nothing left.

    Args:
        costs: what everything costs.
        web: what is crawled; hosts that are alike may be one.
        layout: by whom.
        each: for how many hosts each of them stands; one when it is not given.

    Cost: O(steps * hosts), some thousand steps.
    """
    left = web.sizes.astype(float)
    counts = np.ones(len(left)) if each is None else each.astype(float)
    total = float((left * counts).sum())
    result = Prediction(pages=round(total))
    fastest = 1.0 / max(web.delay + web.latency, 1e-9)
    now = costs.start / min(1.0, layout.machines * layout.cores / layout.processes)
    done = 0.0
    room = layout.processes * layout.most_hosts
    flow = math.inf
    while done < total * (1 - 1e-9):
        held = np.flatnonzero(left > 0)
        held = held[np.cumsum(counts[held]) - counts[held] < room]
        rest, many = left[held], counts[held]
        alone = _alone(layout, flow)
        limits = _limits(costs, web, layout, done, alone)
        name, most = min(limits.items(), key=lambda limit: limit[1])
        rates = _dealt(rest, many, fastest, most)
        flow = float((rates * many).sum())
        step = min(_STEP * total / flow, max(float((rest / rates).min()), _STEP * now))
        taken = np.minimum(rates * step, rest)
        left[held] = rest - taken
        left[left < 1e-6] = 0.0
        pages = float((taken * many).sum())
        result.bound[name if flow > 0.99 * most else "politeness"] += step
        for kind, work in _work(costs, web, layout, done, alone).items():
            result.busy[kind] += work * pages
        done += pages
        while len(result.reached) < _PARTS * done // total:
            result.reached.append(now + step)
        now += step
    result.seconds = now
    result.bound = Counter({name: seconds / now for name, seconds in result.bound.items()})
    return result


def _alone(layout: Layout, flow: float) -> float:
    """The share of a page in its transaction, where so many pages come in a second."""
    together = flow / layout.processes * layout.commit_seconds
    return 1 / min(max(1.0, together), layout.requests)


def _work(costs: Costs, web: Web, layout: Layout, done: float, alone: float) -> dict[str, float]:
    """CPU seconds of a page by kind of work, once so many are stored."""
    larger = costs.larger(done / layout.shards)
    away = web.links * (1 - 1 / layout.shards)
    return {
        "own": costs.fetch + costs.store * larger + costs.transaction * alone,
        "workers": costs.parse,
        "database": costs.database * larger + costs.commit * alone + 2 * costs.inbox * away,
        "serve": costs.serve,
    }


def _limits(costs: Costs, web: Web, layout: Layout, done: float, alone: float) -> dict[str, float]:
    """Pages a second that each part can bear, once so many are stored."""
    work = _work(costs, web, layout, done, alone)
    pages = done / layout.shards
    pause = max(1.0, min(_ROUND_PAGES, _ROUND_GROWTH * pages))
    seconds = web.latency + sum(work.values()) + layout.commit_seconds / 2
    limits = {
        "crawling processes": layout.processes / work["own"],
        "requests under way": layout.processes * layout.requests / seconds,
    }
    on_machines = work["own"] + work["workers"] + work["serve"]
    if layout.database_cores:
        limits["databases"] = layout.shards / max(work["database"], 1e-12)
    else:
        on_machines += work["database"]
        if work["database"]:
            limits["databases"] = layout.shards / work["database"]
    limits["cores"] = layout.machines * layout.cores * costs.efficiency / on_machines
    limits["workers"] = layout.processes * layout.workers / work["workers"]
    # a round of ranking takes a core of one process, then rests five times as long, or until enough pages have come
    rate = min(limits.values())
    length = costs.rank * pages + costs.score * min(_ROUND_SCORES, pages)
    share = length / max(length * (1 + _ROUND_REST), pause * layout.shards / rate)
    limits["cores"] *= 1 - share * layout.shards / (layout.machines * layout.cores)
    return limits


def _dealt(rest: NDArray[np.float64], many: NDArray[np.float64], fastest: float, most: float) -> NDArray[np.float64]:
    """Rates of hosts: in proportion to what is left of them, none above `fastest`, all together at most `most`."""
    if fastest * many.sum() <= most:
        return np.full(len(rest), fastest)
    low, high = 0.0, fastest / rest.min()
    for _ in range(60):
        middle = (low + high) / 2
        if (np.minimum(fastest, middle * rest) * many).sum() > most:
            high = middle
        else:
            low = middle
    return np.minimum(fastest, low * rest)
