"""When the network of this machine is suspected, and when hosts are."""

from __future__ import annotations

from crawler.politeness.outage import Outage
from db.records.reasons import FailReason
from tests.table import each_row

REFUSED, NO_HOST, NO_DNS, NO_PROXY, TLS = (
    FailReason.CONNECTION_REFUSED,
    FailReason.NO_HOST,
    FailReason.NO_DNS,
    FailReason.NO_PROXY,
    FailReason.TLS,
)


def fail(outage: Outage, hosts: range, reason: FailReason, active: int, now: float = 100.0) -> list[bool]:
    """Failures of hosts one after the other: whether each makes the network suspected."""
    return [outage.failed(n, f"http://h{n}.cn/", reason, active=range(active), now=now) for n in hosts]


def test_all_hosts_that_are_asked_must_be_silent() -> None:
    outage = Outage()
    assert fail(outage, range(4), REFUSED, active=5) == [False] * 4
    assert fail(outage, range(4), REFUSED, active=5) == [False] * 4, "the same hosts again say nothing new"
    assert fail(outage, range(4, 5), REFUSED, active=5) == [True]
    assert outage.suspected
    assert not outage.lacks_names
    assert outage.cause() == "none of the last 5 hosts answers: all connections are refused, as by a firewall or proxy"


def test_twenty_hosts_are_enough_of_thousands() -> None:
    assert fail(Outage(), range(20), NO_HOST, active=2_000) == [False] * 19 + [True]


def test_answer_of_any_host_clears_all() -> None:
    outage = Outage()
    fail(outage, range(4), REFUSED, active=5)
    outage.answered(9, "http://h9.cn/")
    assert fail(outage, range(4, 5), REFUSED, active=5) == [False]
    fail(outage, range(5, 6), TLS, active=5)  # somebody has answered something
    assert fail(outage, range(6, 10), REFUSED, active=5) == [False] * 4


@each_row("reason", [REFUSED, NO_HOST, NO_DNS, NO_PROXY])
def test_one_host_alone_is_suspected_itself_unless_nobody_could_be_asked(reason: FailReason) -> None:
    assert fail(Outage(), range(1), reason, active=1) == [reason in {NO_DNS, NO_PROXY}]


def test_proxy_that_does_not_serve_is_the_cause() -> None:
    outage = Outage()
    outage.failed(1, "http://h1.cn/", NO_PROXY, "http://p.cn:1 does not answer", active={1, 2}, now=1.0)
    outage.failed(2, "http://h2.cn/", REFUSED, active={1, 2}, now=1.0)
    assert outage.cause() == "no proxy serves: http://p.cn:1 does not answer"


def test_witnesses_are_those_that_answered_last_and_some_that_did_not() -> None:
    outage = Outage()
    for n in range(5):
        outage.answered(n, f"http://good{n}.cn/")
    fail(outage, range(5, 9), REFUSED, active=4)
    good = [f"http://good{n}.cn/" for n in (4, 3, 2)]
    assert outage.urls_to_try() == [*good, *(f"http://h{n}.cn/" for n in (6, 7, 8))]


def test_after_an_outage_nothing_is_suspected_for_a_while() -> None:
    outage = Outage()
    fail(outage, range(3), REFUSED, active=3)
    assert sorted(outage.over(100.0)) == [0, 1, 2]
    assert not outage.suspected
    assert fail(outage, range(3), REFUSED, active=3, now=110.0) == [False] * 3
    assert fail(outage, range(3), REFUSED, active=3, now=200.0)[0], "they are still silent"


def test_proxies_of_some_seeds_leave_the_others_alone() -> None:
    for has_seed_proxies in (False, True):
        outage = Outage(has_seed_proxies=has_seed_proxies)
        outage.answered(9, "http://h9.cn/")
        assert outage.failed(1, "http://h1.cn/", NO_PROXY, active={1}, now=1.0)
        assert outage.is_down
        assert outage.suspected is not has_seed_proxies
        assert outage.urls_to_try() == ["http://h1.cn/"], "the other one needs no proxy"
        outage.answered(2, "http://h2.cn/")
        assert outage.is_down is not has_seed_proxies
