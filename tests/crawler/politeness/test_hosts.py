"""Hosts of a run: whose rules hold how long, and what answers mean for their clocks."""

from __future__ import annotations

from typing import Any

from crawler.fetch.errors import BODY_CUT
from crawler.politeness.delay import BackoffPolicy, DelayPolicy
from crawler.politeness.hosts import Hosts
from crawler.rank.priority import Priority
from crawler.response.seed_scope import Seeds, seed_row
from db.frontier.leases import OwnedHost
from db.records.host import Rest
from db.records.keys import fingerprint
from db.records.reasons import FailReason, SkipReason
from db.records.url import Claim, Kind
from pipelines.links.scope import Scope
from pipelines.records import BlockKind
from pipelines.stages import Page

NOW = 1_700_000_000.0
A, B = fingerprint("a.cn"), fingerprint("b.cn")


def hosts(*, failures: int = 3, rests: int = 2) -> Hosts:
    backoff = BackoffPolicy(failures=failures, rest=5.0, rests=rests, alone=60.0)
    return Hosts(DelayPolicy(1.0, 30.0, 2.0), backoff, "newscrawler", keep_seconds=1000.0, now=NOW)


def page(url: str = "http://a.cn/1", status: int = 0, at: float = NOW, headers: Any = None, **values: Any) -> Page:
    claim = Claim(
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
    return Page(claim, Scope("host", ("a.cn",)), status=status, headers=headers or {}, fetched_at=at, **values)


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

    def test_they_are_kept_for_their_time_and_then_asked_for_again(self) -> None:
        known = hosts()
        assert known.take_over(owned(robots_text="User-agent: *\nDisallow: /x"), NOW)
        assert known.objection(A, "http://a.cn/x") == "robots"
        assert known.stale(NOW + 999) == []
        assert known.stale(NOW + 1000) == [A]
        assert known.objection(A, "http://a.cn/x") == "robots", "until there are new ones"
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

    def test_a_host_that_was_given_up_is_closed(self) -> None:
        known = hosts()
        assert known.take_over(owned(given_up="host unreachable", robots="unknown"), NOW)
        assert known.closed(A) == "host unreachable"

    def test_a_crawl_delay_beyond_the_cap_closes_it(self) -> None:
        known = hosts()
        known.set_rules(A, "rules", "User-agent: *\nCrawl-delay: 600", NOW)
        assert known.objection(A, "http://a.cn/") == "crawl-delay too long"


class TestAnswers:
    def test_a_host_without_rules_rests_and_is_given_up_in_the_end(self) -> None:
        known, at, seen = hosts(), NOW, []
        for _ in range(3):
            failed = page(ROBOTS, 500, at)
            verdict = known.answered(failed)
            seen.append((verdict.rest, known.robots_again(failed.claim), list(verdict.lost)))
            assert verdict.rests == [Rest(A, len(seen), at + verdict.rest)]
            at += verdict.rest
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
        assert known.answered(failed).rests == []
        assert known.robots_again(failed.claim) is None

    def test_rules_elsewhere_hold_up_the_host_that_asked(self) -> None:
        known = hosts()
        target = page("http://b.cn/shared.txt", 503)
        known.robots_moved(page(ROBOTS, 301).claim, target.claim.id)
        verdict = known.answered(target)
        assert [rest.host_id for rest in verdict.rests] == [A]
        assert known.robots_again(target.claim) == NOW + 5
        assert known.troubles.ailing() == {A, B}, "one waits for its rules, the other asks for time"
        assert known.robots_elsewhere(B) == []
        assert known.robots_elsewhere(A) == [target.claim.id]
        assert known.robots_again(target.claim) is None

    def test_a_page_that_fails_gives_a_short_pause_then_a_rest_then_none(self) -> None:
        known = hosts()
        known.take_over(owned(), NOW)
        verdicts = [known.answered(page(error="timed out", at=NOW + 100 * n, seconds=1.0)) for n in range(5)]
        assert [(v.pause, v.rest) for v in verdicts[:2]] == [(1.0, 0.0), (2.0, 2.0)]
        assert [v.rest for v in verdicts[2:]] == [5.0, 20.0, 80.0]
        assert all(v.pause == 1.0 for v in verdicts[2:]), "a rest is not kept over a restart"
        assert verdicts[4].lost == [(A, "host unreachable")]

    def test_a_good_answer_ends_the_rest(self) -> None:
        known = hosts(failures=1)
        known.take_over(owned(), NOW)
        assert known.answered(page(status=500)).rests == [Rest(A, 1, NOW + 5)]
        assert known.answered(page(status=404, at=NOW + 6)).rests == [Rest(A, 0, 0.0)]
        assert known.answered(page(status=200, at=NOW + 7)).rests == []

    def test_retry_after_sets_the_clock_of_the_host(self) -> None:
        known = hosts()
        for status in (429, 503):
            assert known.answered(page(status=status, headers={"retry-after": "100"})).pause == 100.0
        assert known.answered(page(status=503, headers={"retry-after": "9" * 99})).pause == 3600.0
        assert hosts().answered(page(status=429)).pause == 2.0
        assert hosts().answered(page(status=500, headers={"retry-after": "100"})).pause == 1.0

    def test_what_is_no_fault_of_the_host(self) -> None:
        known = hosts(failures=1)
        for error in (FailReason.OUT_OF_HANDLES, FailReason.ADDRESS_REFUSED, FailReason.BOMB):
            assert known.answered(page(error=error)).rests == ()
        assert known.troubles.ailing() == set()

    def test_a_robots_txt_of_which_only_the_beginning_came(self) -> None:
        assert hosts().answered(page(ROBOTS, 200, truncated=True)).rests != []
        assert hosts().answered(page(ROBOTS, 200, truncated=True, bounds=(BODY_CUT,))).rests == []

    def test_the_pause_follows_the_speed(self) -> None:
        known = hosts()
        pauses = [known.answered(page(status=200, seconds=4.0)).pause for _ in range(30)]
        assert pauses[0] == 1.0
        assert 7.9 < pauses[-1] <= 8.0


def test_whose_a_host_is_needs_no_look_at_all_seeds() -> None:
    rows = [seed_row(f"http://www.s{n}.com.cn/", stay="host", depth=None, pages=None, topic="") for n in range(2_000)]
    rows.append(seed_row("http://news.b.cn/", stay="site", depth=0, pages=None, topic=""))
    seeds = Seeds(rows, None)
    assert seeds.owns("s7.com.cn")
    assert seeds.owns("www.s7.com.cn")
    assert seeds.owns("blog.b.cn")
    assert not seeds.owns("m.s7.com.cn")
    assert not seeds.owns("c.cn")
    priority = Priority("news", {})
    assert [
        new.seed_id for new in seeds.sitemaps("www.s7.com.cn", "http://www.s7.com.cn/", (), priority=priority, now=NOW)
    ] == [rows[7].id]
    assert seeds.sitemaps("s7.com.cn", "http://s7.com.cn/", (), priority=priority, now=NOW) == []
    seeds.adopt(rows[7].id, "s7.net")
    assert seeds.owns("www.s7.net")
    assert (
        seeds.sitemaps("s7.net", "http://s7.net/", (), priority=priority, now=NOW)[0].url == "http://s7.net/sitemap.xml"
    )
    assert seeds.sitemaps("news.b.cn", "http://news.b.cn/", (), priority=priority, now=NOW) == [], "only itself"
