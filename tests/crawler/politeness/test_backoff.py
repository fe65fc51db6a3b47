"""Hosts that do not answer: how long they are in backoff, and when they are dead."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness.backoff import HostErrors
from crawler.politeness.delay import BackoffPolicy

BACKOFF = BackoffPolicy(failures=3, rest=5.0, rests=2, alone=60.0)
A, B = 1, 2


def test_short_pauses_then_backoffs_that_grow_then_the_end() -> None:
    errors, now, seen = HostErrors(BACKOFF, 0.0), 0.0, []
    for _ in range(5):
        host = errors.failed(A, now)
        seen.append((host.backoffs, host.until - now, errors.is_dead(host)))
        now = host.until
    assert seen == [(0, 0.0, False), (0, 2.0, False), (1, 5.0, False), (2, 20.0, False), (3, 80.0, True)]


def test_good_answer_ends_it_all() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    for now in (0.0, 10.0, 20.0):
        errors.failed(A, now)
    assert errors.is_in_backoff(A)
    assert errors.recovered(A, 30.0)
    assert not errors.recovered(A, 31.0)
    assert errors.failed(A, 40.0).backoffs == 0
    assert errors.waited_for() == set()


def test_hosts_without_rules_are_in_backoff_at_once() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    host = errors.without_rules(A, 0.0)
    assert (host.backoffs, host.until, host.reason) == (1, 5.0, "robots unreachable")


def test_host_that_hangs_is_left_alone_for_twice_as_long() -> None:
    host = HostErrors(BACKOFF, 0.0).without_rules(A, 30.0, took=30.0)
    assert host.until == 90.0


def test_retry_after_counts_and_in_a_backoff_when_it_is_longer() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    assert [errors.failed(A, 0.0, asked=1.0).until for _ in range(2)] == [1.0, 1.0]
    errors.recovered(A, 0.0)
    assert errors.failed(A, 0.0, asked=100.0).until == 100.0
    assert errors.without_rules(B, 0.0, asked=1.0).until == 5.0
    assert errors.without_rules(B, 5.0, asked=300.0).until == 305.0
    assert errors.waited_for() == {A, B}


def test_requests_under_way_when_the_backoff_began_make_it_no_longer() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    for now in (0.0, 1.0, 2.0):
        host = errors.failed(A, now)
    for now in (2.1, 2.2, 40.0):
        assert errors.failed(A, now, took=39.0) is host
    assert (host.backoffs, host.until) == (1, 7.0)
    assert errors.failed(A, 41.0, took=1.0).backoffs == 2


def test_backoff_of_another_process_goes_on() -> None:
    errors = HostErrors(BACKOFF, 100.0)
    errors.take_over(A, 2, 150.0)
    errors.take_over(B, 0, 0.0)
    assert errors.waited_for() == {A}
    assert errors.is_dead(errors.failed(A, 151.0))


def test_hosts_in_backoff_are_waited_for_as_long_as_something_answered_lately() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    errors.without_rules(A, 10.0)
    assert errors.dead_hosts() == []  # asked again at 15
    errors.failed(A, 15.0)
    assert errors.dead_hosts() == []  # at 35
    errors.recovered(B, 16.0)
    errors.without_rules(A, 35.0)  # at 115: more than 60 s after 16
    assert errors.dead_hosts() == [(A, "robots unreachable")]
    errors.recovered(B, 60.0)
    assert errors.dead_hosts() == []


def test_host_that_asks_for_more_time_than_there_is_is_busy() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    errors.failed(A, 0.0, asked=3600.0)
    assert errors.dead_hosts() == [(A, "host busy")]
    errors.forget(A)
    assert errors.dead_hosts() == []


def test_single_failure_is_nothing() -> None:
    errors = HostErrors(BACKOFF, 0.0)
    errors.failed(A, 500.0)
    assert (errors.waited_for(), errors.dead_hosts()) == (set(), [])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["well", "failed", "rules"]),
            st.sampled_from([A, B]),
            st.floats(0, 100),
            st.floats(0, 60),
            st.sampled_from([None, 0.0, 7.0, 3600.0]),
        ),
        max_size=40,
    )
)
def test_no_host_is_ever_asked_earlier_than_promised_and_all_is_bounded(events: list) -> None:
    errors, now = HostErrors(BACKOFF, 0.0), 0.0
    for what, host_id, later, took, asked in events:
        now += later
        before = errors.until([host_id])
        if what == "well":
            errors.recovered(host_id, now)
            assert errors.until([host_id]) == 0.0
            continue
        fail = errors.failed if what == "failed" else errors.without_rules
        host = fail(host_id, now, took=took, asked=asked)
        assert host.until >= max(before, now + asked if asked else 0.0)
        assert host.until <= max(before, now + 3600.0)
