"""Hosts at one address share a clock."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.host_queues import HostQueue, HostQueues
from crawler.politeness.ip_clock import SharedClocks
from db.records.url import Kind, Lease

ADDRESSES = {1: "10.0.0.1", 2: "10.0.0.1", 3: "10.0.0.1", 4: "10.0.0.2", 5: ""}


def lease(number: int, host_id: int) -> Lease:
    return Lease(
        id=number,
        url=f"http://h{host_id}.cn/{number}",
        host_id=host_id,
        seed_id=None,
        kind=Kind.PAGE,
        depth=1,
        score=1.0 / number,
        found_in=1,
        found_on=None,
        found_at=float(number),
        tries=0,
        hops=0,
        etag=None,
        last_modified=None,
    )


def test_one_request_to_an_address_at_a_time_and_a_pause_after_it() -> None:
    clocks = SharedClocks(5.0)
    assert clocks.free_at(1) == 0.0
    for host_id in (1, 2):
        clocks.join(host_id, "10.0.0.1")
    clocks.took(1)
    assert clocks.free_at(2) == math.inf
    assert set(clocks.finished(1, 10.0)) == {1, 2}
    assert clocks.free_at(1) == clocks.free_at(2) == 15.0
    clocks.leave(1)
    assert (clocks.free_at(1), clocks.free_at(2)) == (0.0, 15.0)
    clocks.leave(2)
    clocks.join(2, "10.0.0.1")
    assert clocks.free_at(2) == 0.0


def test_request_that_began_before_the_address_was_known() -> None:
    clocks = SharedClocks(5.0)
    clocks.took(1)
    clocks.join(1, "10.0.0.1")
    clocks.join(1, "10.0.0.9")  # names move among their own machines
    clocks.join(2, "10.0.0.1")
    clocks.finished(1, 0.0)
    assert clocks.free_at(2) == 5.0
    clocks.took(2)
    clocks.finished(2, 6.0)
    assert clocks.free_at(1) == 11.0


@given(st.lists(st.floats(0.01, 3.0), min_size=20, max_size=20), st.booleans())
def test_nobody_is_asked_twice_at_once_and_nobody_is_forgotten(durations: list[float], early: object) -> None:
    """A crawl of 20 URLs on five hosts, three of them at one address, by the clock of the requests."""
    queues = HostQueues(depth=8, connections=2, most_hosts=9, patience=60.0, shared=SharedClocks(2.0))
    assert queues.shared is not None
    for host_id, address in ADDRESSES.items():
        queues.add_host(HostQueue(host_id, f"h{host_id}.cn", robots_known=True))
        if early:
            queues.shared.join(host_id, address)
    queues.push([lease(n, n % 5 + 1) for n in range(1, 21)], 0.0)
    now, under_way, log = 0.0, [], []
    while len(log) < 20 or under_way:
        while (one := queues.pop(now)) is not None:
            under_way.append((now + durations[one.id - 1], one.host_id))
            log.append((now, now + durations[one.id - 1], one.host_id))
        moments = [end for end, _ in under_way]
        ready = queues.next_ready()
        assert moments or ready is not None, "stuck"
        now = max(now, min([*moments, *([ready] if ready is not None else [])]))
        for end, host_id in [entry for entry in under_way if entry[0] <= now]:
            under_way.remove((end, host_id))
            queues.shared.join(host_id, ADDRESSES[host_id])
            queues.finished(host_id, now, now)
    known: dict[int, float] = {}
    for _, end, host_id in log:  # before the first answer nothing tells that hosts are at one address
        known[host_id] = min(end, known.get(host_id, end))
    shared = sorted(
        entry for entry in log if ADDRESSES[entry[2]] == "10.0.0.1" and (early or entry[0] >= known[entry[2]])
    )
    for (_, end, _), (begin, _, _) in pairwise(shared):
        assert begin >= end + 2.0 - 1e-9
