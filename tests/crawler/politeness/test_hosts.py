"""Hosts of a run: whose rules hold how long, and what answers mean for their clocks."""

from __future__ import annotations

from typing import Any

from crawler.fetch.errors import BODY_CUT
from crawler.politeness.delay import BackoffPolicy, DelayPolicy
from crawler.politeness.hosts import Hosts
from db.frontier.leases import OwnedHost
from db.records.host import BackoffState
from db.records.keys import fingerprint
from db.records.reasons import FailReason, SkipReason
from db.records.url import Kind, Lease
from pipelines.item import Page
from pipelines.links.scope import Scope
from pipelines.records import BlockKind

NOW = 1_700_000_000.0
A, B = fingerprint("a.cn"), fingerprint("b.cn")


def hosts(*, failures: int = 3, rests: int = 2) -> Hosts:
    backoff = BackoffPolicy(failures=failures, rest=5.0, rests=rests, alone=60.0)
    return Hosts(DelayPolicy(1.0, 30.0, 2.0), backoff, "newscrawler", keep_seconds=1000.0, now=NOW)


def page(url: str = "http://a.cn/1", status: int = 0, at: float = NOW, headers: Any = None, **values: Any) -> Page:
    lease = Lease(
        id=fingerprint(url),
        url=url,
        host_id=fingerprint(url.split("/")[2]),
        seed_id=None,
        kind=Kind.ROBOTS if url.endswith(".txt") else Kind.PAGE,
        depth=1,
        score=0.0,
        found_in=BlockKind.LIST,
        found_on=None,
        found_at=NOW,
        tries=0,
        hops=0,
        etag=None,
        last_modified=None,
    )
    return Page(lease, Scope("host", ("a.cn",)), status=status, headers=headers or {}, fetched_at=at, **values)


def owned(**values: Any) -> OwnedHost:
    known: dict[str, Any] = {"robots": "rules", "robots_text": "", "robots_at": NOW, "ready_at": 0.0}
    return OwnedHost(A, "a.cn", "http", **{**known, **values})


ROBOTS = "http://a.cn/robots.txt"


class TestRules:
    def test_rules_of_all_hosts_have_a_bound_and_who_comes_late_is_left_out(self) -> None:
        known = hosts()
        long = "User-agent: *\n" + f"Disallow: /{'a' * 5_000}\n" * 50
        others = f"User-agent: x\n{long}User-agent: *\nDisallow: /a".replace("*", "y", 1)
        kept = [known.set_rules(n, "rules", long, NOW).reason for n in range(20)]
        assert kept == [None] * 19 + [SkipReason.ROBOTS_TOO_MANY]
        assert known.set_rules(30, "rules", others, NOW).reason is None, "rules for others take no room"
        assert known.set_rules(3, "rules", long, NOW).reason is None
        known.forget(3)
        assert known.set_rules(19, "rules", long, NOW).reason is None

    def test_rules_are_kept_for_their_time_and_then_asked_for_again(self) -> None:
        known = hosts()
        assert known.take_over(owned(robots_text="User-agent: *\nDisallow: /x"), NOW)
        assert known.disallow_reason(A, "http://a.cn/x") == "robots"
        assert known.stale(NOW + 999) == []
        assert known.stale(NOW + 1000) == [A]
        assert known.disallow_reason(A, "http://a.cn/x") == "robots", "until there are new ones"
        assert known.stale(NOW + 1999) == []
        assert known.stale(NOW + 2000) == [A], "when there were none"
        known.set_rules(A, "none", "", NOW + 2500)
        assert known.stale(NOW + 3499) == []
        assert known.stale(NOW + 3500) == [A]
        known.forget(A)
        assert known.stale(NOW + 99_999) == []

    def test_old_ones_in_the_table_do_not_count(self) -> None:
        assert not hosts().take_over(owned(), NOW + 1000)
        assert not hosts().take_over(owned(robots_at=None), NOW)

    def test_dead_host_is_closed(self) -> None:
        known = hosts()
        assert known.take_over(owned(dead_reason="host unreachable", robots="unknown"), NOW)
        assert known.closed(A) == "host unreachable"

    def test_crawl_delay_beyond_the_cap_closes_it(self) -> None:
        known = hosts()
        known.set_rules(A, "rules", "User-agent: *\nCrawl-delay: 600", NOW)
        assert known.disallow_reason(A, "http://a.cn/") == "crawl-delay too long"


class TestAnswers:
    def test_host_without_rules_is_in_backoff_and_dead_in_the_end(self) -> None:
        known, at, seen = hosts(), NOW, []
        for _ in range(3):
            failed = page(ROBOTS, 500, at)
            update = known.answered(failed)
            seen.append((update.backoff, known.robots_again(failed.lease), list(update.dead)))
            assert update.backoffs == [BackoffState(A, len(seen), at + update.backoff)]
            at += update.backoff
        assert seen == [
            (5.0, NOW + 5, []),
            (20.0, NOW + 25, []),
            (80.0, None, [(A, "robots unreachable")]),
        ]
        assert known.closed(A) == "robots unreachable"

    def test_with_old_rules_a_robots_txt_that_fails_is_a_failure_like_others(self) -> None:
        known = hosts()
        known.take_over(owned(), NOW)
        failed = page(ROBOTS, 500)
        assert known.answered(failed).backoffs == []
        assert known.robots_again(failed.lease) is None

    def test_rules_elsewhere_hold_up_the_host_that_asked(self) -> None:
        known = hosts()
        target = page("http://b.cn/shared.txt", 503)
        known.robots_moved(page(ROBOTS, 301).lease, target.lease.id)
        update = known.answered(target)
        assert [one.host_id for one in update.backoffs] == [A]
        assert known.robots_again(target.lease) == NOW + 5
        assert known.errors.waited_for() == {A, B}, "one waits for its rules, the other asks for time"
        assert known.robots_elsewhere(B) == []
        assert known.robots_elsewhere(A) == [target.lease.id]
        assert known.robots_again(target.lease) is None

    def test_page_that_fails_gives_a_short_pause_then_a_backoff(self) -> None:
        known = hosts()
        known.take_over(owned(), NOW)
        updates = [known.answered(page(error="timed out", at=NOW + 100 * n, seconds=1.0)) for n in range(5)]
        assert [(one.pause, one.backoff) for one in updates[:2]] == [(1.0, 0.0), (2.0, 2.0)]
        assert [one.backoff for one in updates[2:]] == [5.0, 20.0, 80.0]
        assert all(one.pause == 1.0 for one in updates[2:]), "a backoff is not kept over a restart"
        assert updates[4].dead == [(A, "host unreachable")]

    def test_good_answer_ends_the_backoff(self) -> None:
        known = hosts(failures=1)
        known.take_over(owned(), NOW)
        assert known.answered(page(status=500)).backoffs == [BackoffState(A, 1, NOW + 5)]
        assert known.answered(page(status=404, at=NOW + 6)).backoffs == [BackoffState(A, 0, 0.0)]
        assert known.answered(page(status=200, at=NOW + 7)).backoffs == []

    def test_retry_after_sets_the_clock_of_the_host(self) -> None:
        known = hosts()
        for status in (429, 503):
            assert known.answered(page(status=status, headers={"retry-after": "100"})).pause == 100.0
        assert known.answered(page(status=503, headers={"retry-after": "9" * 99})).pause == 3600.0
        assert hosts().answered(page(status=429)).pause == 2.0
        assert hosts().answered(page(status=500, headers={"retry-after": "100"})).pause == 1.0

    def test_failures_that_are_no_fault_of_the_host(self) -> None:
        known = hosts(failures=1)
        for error in (FailReason.OUT_OF_HANDLES, FailReason.NO_PROXY, FailReason.ADDRESS_REFUSED, FailReason.BOMB):
            assert known.answered(page(error=error)).backoffs == ()
        assert known.answered(page(error=FailReason.NO_PROXY, wait=9.0)).backoff == 9.0
        assert known.errors.waited_for() == set()

    def test_robots_txt_of_which_only_the_beginning_came(self) -> None:
        assert hosts().answered(page(ROBOTS, 200, truncated=True)).backoffs != []
        assert hosts().answered(page(ROBOTS, 200, truncated=True, bounds=(BODY_CUT,))).backoffs == []

    def test_pause_follows_the_speed(self) -> None:
        known = hosts()
        pauses = [known.answered(page(status=200, seconds=4.0)).pause for _ in range(30)]
        assert pauses[0] == 1.0
        assert 7.9 < pauses[-1] <= 8.0
