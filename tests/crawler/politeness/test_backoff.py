"""Hosts that do not answer: how long they are left alone, and when it is time to go without them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness.backoff import Troubles
from crawler.politeness.delay import BackoffPolicy

BACKOFF = BackoffPolicy(failures=3, rest=5.0, rests=2, alone=60.0)
A, B = 1, 2


def test_short_pauses_then_rests_that_grow_then_the_end() -> None:
    troubles, now, seen = Troubles(BACKOFF, 0.0), 0.0, []
    for _ in range(5):
        host = troubles.failed(A, now)
        seen.append((host.rests, host.until - now, troubles.is_over(host)))
        now = host.until
    assert seen == [(0, 0.0, False), (0, 2.0, False), (1, 5.0, False), (2, 20.0, False), (3, 80.0, True)]


def test_a_good_answer_ends_it_all() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    for now in (0.0, 10.0, 20.0):
        troubles.failed(A, now)
    assert troubles.is_resting(A)
    assert troubles.well(A, 30.0)
    assert not troubles.well(A, 31.0)
    assert troubles.failed(A, 40.0).rests == 0
    assert troubles.ailing() == set()


def test_without_rules_nothing_may_be_asked_so_it_rests_at_once() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    host = troubles.without_rules(A, 0.0)
    assert (host.rests, host.until, host.reason) == (1, 5.0, "robots unreachable")


def test_a_host_that_hangs_is_left_alone_for_twice_as_long() -> None:
    host = Troubles(BACKOFF, 0.0).without_rules(A, 30.0, took=30.0)
    assert host.until == 90.0


def test_what_the_host_asks_for_counts_and_in_a_rest_when_it_is_longer() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    assert [troubles.failed(A, 0.0, asked=1.0).until for _ in range(2)] == [1.0, 1.0]
    troubles.well(A, 0.0)
    assert troubles.failed(A, 0.0, asked=100.0).until == 100.0
    assert troubles.without_rules(B, 0.0, asked=1.0).until == 5.0
    assert troubles.without_rules(B, 5.0, asked=300.0).until == 305.0
    assert troubles.ailing() == {A, B}


def test_requests_that_were_under_way_when_the_rest_began_make_it_no_longer() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    for now in (0.0, 1.0, 2.0):
        host = troubles.failed(A, now)
    for now in (2.1, 2.2, 40.0):
        assert troubles.failed(A, now, took=39.0) is host
    assert (host.rests, host.until) == (1, 7.0)
    assert troubles.failed(A, 41.0, took=1.0).rests == 2


def test_what_another_process_knows_goes_on() -> None:
    troubles = Troubles(BACKOFF, 100.0)
    troubles.take_over(A, 2, 150.0)
    troubles.take_over(B, 0, 0.0)
    assert troubles.ailing() == {A}
    assert troubles.is_over(troubles.failed(A, 151.0))


def test_alone_hosts_in_trouble_are_waited_for_as_long_as_something_answered_lately() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    troubles.without_rules(A, 10.0)
    assert troubles.hopeless() == []  # asked again at 15
    troubles.failed(A, 15.0)
    assert troubles.hopeless() == []  # at 35
    troubles.well(B, 16.0)
    troubles.without_rules(A, 35.0)  # at 115: more than 60 s after 16
    assert troubles.hopeless() == [(A, "robots unreachable")]
    troubles.well(B, 60.0)
    assert troubles.hopeless() == []


def test_a_host_that_asks_for_more_time_than_there_is_is_busy() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    troubles.failed(A, 0.0, asked=3600.0)
    assert troubles.hopeless() == [(A, "host busy")]
    troubles.forget(A)
    assert troubles.hopeless() == []


def test_a_single_failure_is_nothing() -> None:
    troubles = Troubles(BACKOFF, 0.0)
    troubles.failed(A, 500.0)
    assert (troubles.ailing(), troubles.hopeless()) == (set(), [])


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
    troubles, now = Troubles(BACKOFF, 0.0), 0.0
    for what, host_id, later, took, asked in events:
        now += later
        before = troubles.until([host_id])
        if what == "well":
            troubles.well(host_id, now)
            assert troubles.until([host_id]) == 0.0
            continue
        fail = troubles.failed if what == "failed" else troubles.without_rules
        host = fail(host_id, now, took=took, asked=asked)
        assert host.until >= max(before, now + asked if asked else 0.0)
        assert host.until <= max(before, now + 3600.0)
