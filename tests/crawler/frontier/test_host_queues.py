"""The queues of hosts against a slow obvious model, and its bookkeeping case by case."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from crawler.frontier.host_queues import HostQueue, HostQueues
from crawler.politeness.ip_clock import SharedClocks
from db.records.lease import Beyond
from db.records.url import Lease

SCORES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1e9])


def lease(number: int, host: int = 1, score: float = 0.5, found_at: float = 0.0) -> Lease:
    return Lease(
        id=number,
        url=f"http://h{host}.cn/{number}",
        host_id=host,
        seed_id=None,
        kind="page",
        depth=1,
        score=score,
        found_in=1,
        found_on=None,
        found_at=found_at,
        tries=0,
        hops=0,
        etag=None,
        last_modified=None,
    )


def queues_of(
    depth: int = 8,
    connections: int = 1,
    most_hosts: int = 10,
    hosts: tuple[int, ...] = (1,),
    patience: float = math.inf,
) -> HostQueues:
    made = HostQueues(depth=depth, connections=connections, most_hosts=most_hosts, patience=patience)
    for host in hosts:
        made.add_host(HostQueue(host, f"h{host}.cn", robots_known=True))
    return made


@dataclass
class ModelHost:
    """What a host is, in lists and flags."""

    ready_at: float
    robots_known: bool
    queue: list[Lease] = field(default_factory=list)
    busy: int = 0
    dry: bool = False
    best_waiting: float = math.inf
    """What waits in the database scores at most this."""


def order(one: Lease) -> tuple[float, float, int]:
    return -one.score, one.found_at, one.id


class HostQueuesMachine(RuleBasedStateMachine):
    """Random lives of the queues; after every step it must agree with the model."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.numbers = 0
        self.hosts: dict[int, ModelHost] = {}
        self.pushed = self.taken = 0
        self.in_flight: set[int] = set()
        self.queues = queues_of(hosts=())

    @initialize(depth=st.integers(1, 5), connections=st.integers(1, 3), most=st.integers(1, 4))
    def begin(self, depth: int, connections: int, most: int) -> None:
        self.depth, self.connections, self.most = depth, connections, most
        self.queues = HostQueues(depth=depth, connections=connections, most_hosts=most, patience=math.inf)
        self.add_host(1, 0.0, known=True)

    def pick(self, data: Any, where: Any = lambda _host: True) -> int | None:
        fit = [key for key, host in self.hosts.items() if where(host)]
        return data.draw(st.sampled_from(fit)) if fit else None

    @precondition(lambda self: self.queues.room_for_hosts)
    @rule(key=st.integers(1, 6), ready_in=st.sampled_from([0.0, 1.0, 5.0]), known=st.booleans())
    def add_host(self, key: int, ready_in: float, *, known: bool) -> None:
        if key not in self.hosts:
            self.queues.add_host(HostQueue(key, f"h{key}.cn", ready_at=self.now + ready_in, robots_known=known))
            self.hosts[key] = ModelHost(self.now + ready_in, known)

    @precondition(lambda self: self.hosts)
    @rule(data=st.data(), scores=st.lists(SCORES, min_size=1, max_size=6), found_at=st.sampled_from([0.0, 1.0]))
    def push(self, data: Any, scores: list[float], found_at: float) -> None:
        leases = []
        for score in scores:
            self.numbers += 1
            host = self.pick(data)
            assert host is not None
            leases.append(lease(self.numbers, host, score, found_at))
        given_back = self.queues.push(leases, self.now)
        expected: list[Lease] = []
        for key in {one.host_id for one in leases}:
            host_model = self.hosts[key]
            host_model.queue.extend(one for one in leases if one.host_id == key)
            mine = [one.score for one in leases if one.host_id == key]
            if not host_model.dry:
                host_model.best_waiting = min(mine)
            if len(host_model.queue) > 2 * self.depth:
                host_model.queue.sort(key=order)
                host_model.dry = False
                host_model.best_waiting = max(host_model.best_waiting, host_model.queue[self.depth].score)
                expected += host_model.queue[self.depth :]
                del host_model.queue[self.depth :]
        self.pushed += len(leases)
        self.taken += len(given_back)
        assert sorted(given_back, key=order) == sorted(expected, key=order)

    @rule(times=st.integers(1, 4))
    def pop_some(self, times: int) -> None:
        for _ in range(times):
            self.pop()

    def pop(self) -> None:
        ready = [
            host
            for host in self.hosts.values()
            if host.queue and host.busy < self.connections and host.ready_at <= self.now
        ]
        best = min((min(host.queue, key=order) for host in ready), key=order, default=None)
        got = self.queues.pop(self.now)
        assert got == best
        if got is None:
            self.check_next_ready()
            return
        self.taken += 1
        self.in_flight.add(got.id)
        host = self.hosts[got.host_id]
        host.queue.remove(got)
        host.busy += 1
        assert host.busy <= self.connections

    def check_next_ready(self) -> None:
        """Waking early costs a poll; waking late or never would stop the crawl."""
        due = [host.ready_at for host in self.hosts.values() if host.queue and host.busy < self.connections]
        told = self.queues.next_ready()
        if due:
            assert told is not None
            assert self.now < told <= min(due)
        else:
            assert told is None

    @rule(data=st.data(), pause=st.sampled_from([0.0, 1.0, 3.0]))
    def finish(self, data: Any, pause: float) -> None:
        key = self.pick(data, lambda host: host.busy)
        if key is not None:
            self.queues.finished(key, self.now + pause, self.now)
            host = self.hosts[key]
            host.busy -= 1
            host.ready_at = max(host.ready_at, self.now + pause)

    @rule(data=st.data())
    def store(self, data: Any) -> None:
        if self.in_flight:
            done = data.draw(st.sampled_from(sorted(self.in_flight)))
            self.queues.stored(done)
            self.in_flight.remove(done)

    @rule(seconds=st.sampled_from([0.5, 1.0, 4.0]))
    def advance(self, seconds: float) -> None:
        self.now += seconds

    @rule(data=st.data(), scores=st.lists(SCORES, min_size=1, max_size=3), limit=st.sampled_from(["crawl", "host"]))
    def make_room(self, data: Any, scores: list[float], limit: str) -> None:
        """Each of the best that wait beyond a limit gets the place of the worst that is held, if that is worse."""
        hosts = [self.pick(data) for _ in scores]
        beyond = []
        for host, score in zip(hosts, scores, strict=True):
            if host is not None:
                waiting = replace(lease(0, host), score=score)
                beyond.append(Beyond(waiting, host if limit == "host" else None))
        expected = []
        for one in sorted(beyond, key=lambda each: -each.url.score):
            fit = [
                held
                for key, host in self.hosts.items()
                for held in host.queue
                if limit == "crawl" or key == one.url.host_id
            ]
            worst = max(fit, key=order, default=None)
            if worst is not None and worst.score < one.url.score:
                expected.append(worst)
                self.hosts[worst.host_id].queue.remove(worst)
                for key, score in ((worst.host_id, worst.score), (one.url.host_id, one.url.score)):
                    self.hosts[key].dry = False
                    self.hosts[key].best_waiting = max(self.hosts[key].best_waiting, score)
        assert self.queues.make_room(beyond) == expected
        self.taken += len(expected)

    @rule(key=st.integers(1, 7), what=st.sampled_from(["refresh", "dry", "found", "robots"]), score=SCORES)
    def news(self, key: int, what: str, score: float) -> None:
        """What the database tells, perhaps of a host that is no longer held."""
        host = self.hosts.get(key)
        if what == "refresh":
            self.queues.refresh(key)
            if host:
                host.dry, host.best_waiting = False, math.inf
        elif what == "dry":
            best = score if score > 0.5 else -math.inf
            self.queues.mark_dry(key, best)
            if host:
                host.dry, host.best_waiting = True, best
        elif what == "found":
            self.queues.refresh(key, score)
            if host:
                host.dry, host.best_waiting = False, max(host.best_waiting, score)
        elif host:
            self.queues.hosts[key].robots_known = host.robots_known = True

    @rule(data=st.data(), scores=st.lists(SCORES, min_size=1, max_size=4))
    def rescore(self, data: Any, scores: list[float]) -> None:
        held = [one for host in self.hosts.values() for one in host.queue]
        chosen = data.draw(st.lists(st.sampled_from(held), max_size=4)) if held else []
        new = {one.id: score for one, score in zip(chosen, scores, strict=False)}
        self.queues.rescore({**new, -1: 1.0}, self.now)
        for host in self.hosts.values():
            host.queue = [replace(one, score=new.get(one.id, one.score)) for one in host.queue]

    @rule()
    def drop_idle(self) -> None:
        idle = [key for key, host in self.hosts.items() if host.dry and not host.queue and not host.busy]
        assert sorted(self.queues.idle_hosts()) == sorted(idle)
        for key in idle:
            self.queues.remove_host(key)
            del self.hosts[key]

    @invariant()
    def same_size(self) -> None:
        assert len(self.queues) == sum(len(host.queue) for host in self.hosts.values()) == self.pushed - self.taken
        assert self.queues.room_for_hosts == self.queues.most_hosts - len(self.hosts)

    @invariant()
    def same_leases(self) -> None:
        held = [one.id for host in self.hosts.values() for one in host.queue]
        assert self.queues.in_flight == self.in_flight
        assert sorted(self.queues.leased_ids()) == sorted([*held, *self.in_flight])

    @invariant()
    def same_best(self) -> None:
        scores = [one.score for host in self.hosts.values() for one in host.queue]
        assert self.queues.best_score() == max(scores, default=None)

    @invariant()
    def same_wants(self) -> None:
        expected = {}
        for key, host in self.hosts.items():
            settled = sum(one.score >= host.best_waiting for one in host.queue)
            if not host.dry and settled <= self.queues.depth // 2:
                expected[key] = self.queues.depth - settled if host.robots_known else 1
        assert self.queues.wants() == expected

    def teardown(self) -> None:
        """Whatever happened: every URL still held comes out, once."""
        for key, host in self.hosts.items():
            for _ in range(host.busy):
                self.queues.finished(key, self.now, self.now)
        held = sorted(one.id for host in self.hosts.values() for one in host.queue)
        self.now += 1_000.0
        out = []
        while (got := self.queues.pop(self.now)) is not None:
            out.append(got.id)
            self.queues.finished(got.host_id, self.now, self.now)
        assert sorted(out) == held
        assert len(self.queues) == 0


HostQueuesMachine.TestCase.settings = settings(max_examples=settings.default.max_examples * 2, stateful_step_count=40)
TestHostQueues = HostQueuesMachine.TestCase


def test_best_head_of_all_ready_hosts_first() -> None:
    held = queues_of(hosts=(1, 2))
    held.push([lease(1, 1, 0.5), lease(2, 1, 0.9), lease(3, 2, 0.7)], 0.0)
    assert [one.id for one in (held.pop(0.0), held.pop(0.0)) if one] == [2, 3]
    assert held.pop(0.0) is None  # both hosts are busy
    held.finished(1, 5.0, 1.0)
    assert held.pop(4.9) is None
    assert held.next_ready() == 5.0
    assert held.pop(5.0) == lease(1, 1, 0.5)


def test_better_ones_beyond_a_limit_get_the_places_of_the_worst() -> None:
    held = queues_of(hosts=(1, 2), depth=2)
    robots = replace(lease(9, 1, 0.0), kind="robots")  # counts against no limit
    held.push([lease(1, 1, 0.2), lease(2, 1, 0.6), lease(3, 2, 0.1), lease(4, 2, 0.3), robots], 0.0)
    for host in (1, 2):
        held.mark_dry(host)
    better = [Beyond(lease(5, 1, 0.5)), Beyond(lease(6, 1, 0.4)), Beyond(lease(7, 1, 0.25))]
    assert [one.id for one in held.make_room(better)] == [3, 1]  # .3 stays: it is better than .25
    assert len(held) == 3
    assert held.wants() == {1: 1, 2: 1}
    assert held.make_room([Beyond(lease(5, 1, 0.5), host_id=1)]) == []  # .3 is held of another host
    assert [one.id for one in held.make_room([Beyond(lease(5, 1, 0.5), host_id=2)])] == [4]
    assert held.make_room([Beyond(lease(5, 1, 0.9), seed_id=77)]) == []


def test_equal_scores_go_by_time_then_number() -> None:
    held = queues_of(connections=4)
    held.push([lease(3, found_at=1.0), lease(2, found_at=1.0), lease(4, found_at=0.5)], 0.0)
    assert [held.pop(0.0).id for _ in range(3)] == [4, 2, 3]  # type: ignore[union-attr]


def test_late_better_one_goes_first() -> None:
    held = queues_of(hosts=(1, 2))
    held.push([lease(1, 1, 0.1), lease(2, 2, 0.5)], 0.0)
    held.push([lease(3, 1, 0.9)], 0.0)
    assert held.pop(0.0).id == 3  # type: ignore[union-attr]
    assert held.pop(0.0).id == 2  # type: ignore[union-attr]


def test_pause_counts_from_the_longest() -> None:
    held = queues_of(connections=2)
    held.push([lease(n) for n in range(4)], 0.0)
    held.pop(0.0)
    held.pop(0.0)
    held.finished(1, 60.0, 1.0)  # Retry-After of one answer ...
    held.finished(1, 2.0, 1.5)  # ... is not undone by the other
    assert held.pop(59.0) is None
    assert held.pop(60.0) is not None


def test_free_connection_waits_for_the_pause_too() -> None:
    held = queues_of(connections=2)
    held.push([lease(n) for n in range(3)], 0.0)
    held.pop(0.0)
    held.finished(1, 5.0, 0.0)
    assert held.pop(4.0) is None
    assert held.pop(5.0) is not None
    assert held.pop(5.0) is not None


def test_place_of_a_head_is_not_inherited() -> None:
    held = queues_of(connections=2, hosts=(1, 2))
    held.push([lease(1, 1, 0.9)], 0.0)
    held.push([lease(2, 1, 0.1)], 0.0)
    held.push([lease(3, 2, 0.5)], 0.0)
    assert [held.pop(0.0).id for _ in range(3)] == [1, 3, 2]  # type: ignore[union-attr]


def test_one_url_is_asked_for_while_the_rules_are_unknown() -> None:
    held = queues_of(hosts=())
    held.add_host(HostQueue(1, "h1.cn"))
    assert held.wants() == {1: 1}
    held.hosts[1].robots_known = True
    assert held.wants() == {1: 8}


def test_half_empty_queues_ask_again() -> None:
    held = queues_of(depth=8, connections=8)
    held.push([lease(n) for n in range(6)], 0.0)
    assert held.wants() == {}
    held.pop(0.0)
    assert held.wants() == {}
    held.pop(0.0)
    assert held.wants() == {1: 4}
    held.mark_dry(1)
    held.pop(0.0)
    assert held.wants() == {}
    held.refresh(1, 0.5)
    assert held.wants() == {1: 5}
    held.refresh(1)  # with what score nobody knows
    assert held.wants() == {1: 8}


def test_better_urls_than_the_queued_are_asked_for() -> None:
    held = queues_of(depth=4)
    held.refresh(1, 1.0)
    assert held.wants() == {1: 4}
    held.push([lease(n, score=0.5) for n in range(4)], 0.0)
    held.refresh(1, 0.5)  # as good as what is queued: that came first
    assert held.wants() == {}
    held.refresh(1, 0.6)
    assert held.wants() == {1: 4}
    assert held.push([lease(n, score=0.6) for n in range(4, 8)], 0.0) == []
    assert held.wants() == {}
    for _ in range(2):
        held.pop(0.0)
        held.finished(1, 0.0, 0.0)
    assert held.wants() == {1: 2}  # of the better ones there may be more


def test_nothing_is_asked_for_while_the_best_are_held() -> None:
    held = queues_of(depth=4, connections=4)
    held.push([lease(n, score=n / 10) for n in range(4)], 0.0)
    assert held.wants() == {}
    held.mark_dry(1)
    held.pop(0.0)
    held.pop(0.0)
    assert held.wants() == {}
    held.refresh(1, -math.inf)  # what waits is due later
    assert held.wants() == {1: 2}


def test_surplus_gives_back_the_worst() -> None:
    held = queues_of(depth=2)
    assert held.push([lease(n, score=n / 10) for n in range(4)], 0.0) == []
    given_back = held.push([lease(4, score=0.4)], 0.0)
    assert [one.id for one in given_back] == [2, 1, 0]
    assert len(held) == 2
    assert held.pop(0.0).id == 4  # type: ignore[union-attr]


def test_removed_host_leaves_nothing_behind() -> None:
    held = queues_of(hosts=(1, 2))
    held.push([lease(1, 1), lease(2, 1)], 0.0)
    held.remove_host(1)
    assert len(held) == 0
    assert held.pop(0.0) is None
    assert held.next_ready() is None
    assert held.wants() == {2: 8}
    held.finished(1, 5.0, 0.0)  # an answer may come later
    held.refresh(1)
    held.refresh(1, 1.0)
    held.mark_dry(1)
    assert held.wants() == {2: 8}


def test_host_taken_up_again_keeps_its_new_clock() -> None:
    held = queues_of(hosts=())
    held.add_host(HostQueue(1, "h1.cn", ready_at=5.0))
    held.push([lease(1)], 0.0)
    held.remove_host(1)
    held.add_host(HostQueue(1, "h1.cn", ready_at=20.0))
    held.push([lease(2)], 0.0)
    assert held.pop(6.0) is None
    assert held.pop(20.0).id == 2  # type: ignore[union-attr]


def test_leases_of_a_host_that_is_not_held_any_more_are_given_back() -> None:
    stray = lease(1, host=9)
    assert queues_of().push([stray], 0.0) == [stray]


def test_take_all_empties_a_host() -> None:
    held = queues_of(hosts=(1, 2))
    held.push([lease(1, host=1), lease(2, host=1), lease(3, host=2)], 0.0)
    assert {c.id for c in held.take_all(1)} == {1, 2}
    assert len(held) == 1
    assert held.pop(0.0) is not None
    assert held.pop(0.0) is None


def test_no_room_for_more_hosts_than_allowed() -> None:
    held = queues_of(most_hosts=1, hosts=(1, 2))
    assert held.room_for_hosts == 0


def test_new_scores_reorder_hosts_and_their_queues() -> None:
    held = queues_of(hosts=(1, 2))
    held.push([lease(1, 1, 0.9), lease(2, 1, 0.8), lease(3, 2, 0.5)], 0.0)
    held.rescore({1: 0.1, 3: 0.85, 99: 1.0}, 0.0)
    first, second = held.pop(0.0), held.pop(0.0)
    assert first is not None
    assert second is not None
    assert (first.id, first.score) == (3, 0.85)
    assert second.id == 2


def test_host_passed_over_for_long_goes_first_once() -> None:
    held = queues_of(hosts=(1, 2), patience=60.0, connections=100)
    held.push([lease(n, 1, 0.9) for n in range(8)], 0.0)
    held.push([lease(n, 2, 0.1) for n in range(100, 103)], 0.0)
    got = []
    for now in (0.0, 30.0, 60.0, 61.0, 62.0, 100.0, 122.0):
        one = held.pop(now)
        assert one is not None
        got.append(one.host_id)
        held.finished(one.host_id, now, now)
    assert got == [1, 1, 1, 2, 1, 1, 2]
    assert held.longest_wait == 61.0


def test_host_that_rests_is_not_passed_over() -> None:
    held = queues_of(hosts=(1, 2), patience=10.0, connections=9)
    held.push([lease(n, 1, 0.5) for n in range(8)], 0.0)
    held.push([lease(100, 2, 0.9), lease(101, 2, 0.1)], 0.0)
    got = [held.pop(0.0), held.pop(1.0)]
    held.finished(2, 50.0, 2.0)  # its server asks for a pause: from now on nobody is preferred to it
    got += [held.pop(now) for now in (20.0, 50.0, 60.5)]
    assert [one.host_id for one in got if one] == [2, 1, 1, 1, 2]


def test_urls_that_are_never_the_best_leave_nothing_behind() -> None:
    held = HostQueues(depth=8, connections=1, most_hosts=40, patience=1.0)
    for key in range(1, 41):
        held.add_host(HostQueue(key, f"h{key}.cn", robots_known=True))
    number, now, most = 0, 0.0, 0
    for _ in range(4_000):  # each host is asked only when it has been passed over for long, but for the first
        now += 0.1
        number += 2
        low = 2 + number // 2 % 39
        held.push([lease(number, 1, 1.0), lease(number + 1, low, number / 1e6)], now)
        taken = held.pop(now)
        assert taken is not None
        held.finished(taken.host_id, now, now)
        most = max(most, len(held._ready) + len(held._waiting), len(held._passed_over))
    assert most < 1_300


def test_borrowed_place_keeps_the_queue_waiting_and_its_clock_makes_up_for_it() -> None:
    held = queues_of()
    held.push([lease(1), lease(2)], 0.0)
    begun: list[str] = []
    assert held.pop(0.0) == lease(1)
    assert held.borrow(1, lambda: begun.append("first") is None)
    assert held.borrow(1, lambda: begun.append("second") is None)
    assert begun == []
    held.finished(1, 1.0, 0.5)
    assert begun == ["first"]
    assert held.pop(2.0) is None
    held.finished(1, 2.0, 1.5)
    assert begun == ["first", "second"]
    held.finished(1, 5.0, 2.5)
    assert held.pop(4.9) is None
    assert held.pop(5.0) == lease(2)


def test_borrower_that_no_longer_waits_takes_no_place() -> None:
    held = queues_of()
    held.push([lease(1), lease(2)], 0.0)
    held.pop(0.0)
    assert held.borrow(1, lambda: False)
    held.finished(1, 0.0, 0.0)
    assert held.pop(0.0) == lease(2)
    assert not held.borrow(99, lambda: True)


def test_borrowed_place_waits_for_an_address_that_hosts_share() -> None:
    held = HostQueues(depth=8, connections=1, most_hosts=10, patience=math.inf, shared=SharedClocks(1.0))
    for host in (1, 2):
        held.add_host(HostQueue(host, f"h{host}.cn", robots_known=True))
        assert held.shared is not None
        held.shared.join(host, "192.0.2.1")
    held.push([lease(1, 1)], 0.0)
    begun: list[int] = []
    assert held.pop(0.0) == lease(1, 1)
    held.borrow(2, lambda: begun.append(2) is None)
    assert begun == []
    held.finished(1, 1.0, 0.5)
    assert begun == [2]
