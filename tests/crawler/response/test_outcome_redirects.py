"""What redirects, cookies, canonical links and robots.txt mean for the frontier."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crawler.response.cookie_states import CookieStates
from crawler.response.outcome import depth_memory, judge
from crawler.response.redirects import with_redirect
from db.records.keys import fingerprint
from db.records.outcome import Outcome
from db.records.url import Kind, State
from pipelines.links.scope import Scope
from pipelines.records import BlockKind
from tests.crawler.answers import NOW, SEED_ID, URL, by_url, edges, links, listed, page, replace_lease, rules, written
from tests.table import each_row


class TestRedirect:
    @each_row("status", [301, 302, 303, 307, 308])
    def test_target_takes_its_place(self, status: int) -> None:
        outcome = judge(page(status, headers={"location": "/b?utm_source=x#top"}, depth=3, hops=1), rules())
        assert (outcome.state, outcome.reason, outcome.http_status) == (State.SKIPPED, "redirect", status)
        assert not outcome.counted
        new = by_url(outcome)["http://h.cn/b"]
        assert (new.depth, new.hops, new.kind, new.reason) == (3, 2, Kind.PAGE, None)
        assert (new.found_in, new.seed_id, new.again) == (BlockKind.REDIRECT, SEED_ID, False)
        assert outcome.same_as == new.id == fingerprint("http://h.cn/b")
        assert edges(outcome) == [(new.id, BlockKind.REDIRECT)]
        assert outcome.seed_host is None

    def test_to_https_and_www_stays_inside(self) -> None:
        outcome = judge(page(301, headers={"location": "https://www.h.cn/a"}), rules())
        assert outcome.new_urls[0].reason is None
        assert outcome.seed_host is None

    def test_outside_is_recorded_and_not_followed(self) -> None:
        outcome = judge(page(302, headers={"location": "http://other.cn/x"}), rules())
        assert outcome.new_urls[0].reason == "outside"
        assert outcome.same_as == fingerprint("http://other.cn/x")
        assert outcome.seed_host is None

    @each_row(
        ("location", "reason"),
        [
            ("#again", "redirects to itself"),
            ("http://h.cn:80/a", "redirects to itself"),
            ("mailto:a@h.cn", "redirects nowhere"),
            ("javascript:alert(1)", "redirects nowhere"),
            ("http://", "redirects nowhere"),
            ("/" + "a" * 3000, "URL too long"),
        ],
    )
    def test_leading_nowhere(self, location: str, reason: str) -> None:
        outcome = judge(page(301, headers={"location": location}), rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.FAILED, reason, False)
        assert outcome.new_urls == ()
        assert outcome.same_as is None

    @each_row("session", ["/(S(lit3py55t21z5v55vlm25s55))/a", "/a;jsessionid=1F"])
    def test_session_stays_where_there_is_no_page_without(self, session: str) -> None:
        outcome = judge(page(302, headers={"location": session}), rules())
        assert [new.url for new in outcome.new_urls] == [f"http://h.cn{session}"]
        assert outcome.reason == "redirect"

    def test_missing_page_is_asked_for_as_its_slashes_were_written(self) -> None:
        url = "http://h.cn/fetc%2Fcron.d%2Fpwn.html"
        outcome = judge(page(404, url=url), rules())
        assert ([new.url for new in outcome.new_urls], outcome.reason) == ([url.replace("2F", "2f")], "redirect")
        for other in (page(404, url=url.replace("2F", "2f")), page(404, url=URL), page(410, url=url)):
            assert judge(other, rules()).state == State.FAILED

    def test_too_many(self) -> None:
        headers = {"location": "/b"}
        assert judge(page(301, headers=headers, hops=3), rules()).state == State.SKIPPED
        outcome = judge(page(301, headers=headers, hops=4), rules())
        assert (outcome.state, outcome.reason, outcome.new_urls) == (State.FAILED, "too many redirects", ())
        assert judge(page(301, headers=headers), rules(redirects=0)).reason == "too many redirects"

    def test_without_location_it_is_an_error(self) -> None:
        for headers in ({}, {"location": ""}):
            assert judge(page(301, headers=headers), rules()).reason == "http error"

    def test_seed_adopts_another_host_of_its_site(self) -> None:
        seed = page(301, "http://h.cn/", headers={"location": "https://news.h.cn/"}, found_in=BlockKind.SEED, depth=0)
        outcome = judge(seed, rules())
        new = outcome.new_urls[0]
        assert outcome.seed_host == (SEED_ID, "news.h.cn")
        assert (new.reason, new.found_in, new.depth) == (None, BlockKind.SEED, 0)
        # the next hop of the same seed too, other pages and other sites not
        assert judge(replace_lease(seed, found_in=BlockKind.REDIRECT), rules()).seed_host is None
        away = judge(with_redirect(replace(seed, headers={"location": "http://h2.cn/"})), rules())
        assert (away.seed_host, away.new_urls[0].reason) == (None, "outside")
        orphan = judge(replace_lease(seed, seed_id=None), rules())
        assert (orphan.seed_host, orphan.new_urls[0].reason) == (None, "outside")

    def test_seed_that_may_go_there_anyway_adopts_nothing(self) -> None:
        wide = page(
            301, headers={"location": "http://news.h.cn/"}, found_in=BlockKind.SEED, scope=Scope("site", ("h.cn",))
        )
        assert judge(wide, rules()).seed_host is None

    def test_redirect_is_followed_whatever_the_tries(self) -> None:
        assert judge(page(301, headers={"location": "/b"}, tries=2), rules()).state == State.SKIPPED


def test_redirect_drops_credentials() -> None:
    outcome = judge(page(302, headers={"location": "http://user:pass@h.cn/b"}), rules())
    assert [new.url for new in outcome.new_urls] == ["http://h.cn/b"]
    assert "pass" not in repr(outcome)


class TestCookies:
    def test_redirect_to_itself_with_a_new_cookie_is_tried_again_at_once(self) -> None:
        outcome = judge(page(302, headers={"location": URL}, new_cookie=True), rules())
        assert (outcome.state, outcome.next_visit, outcome.failed) == (State.PENDING, NOW, False)

    @each_row("new_cookie", [False, True])
    def test_wall_of_two_redirects_is_passed_with_its_cookie(self, *, new_cookie: bool) -> None:
        wall = page(302, "http://h.cn/check", headers={"location": URL}, new_cookie=new_cookie)
        back = judge(replace_lease(wall, found_on=fingerprint(URL)), rules()).new_urls[0]
        assert (back.anew, back.again, back.hops) == (new_cookie, False, 1)

    def test_chain_goes_on_while_its_cookies_are_others_than_before(self) -> None:
        kept = {"http://h.cn/check": "", URL: ""}
        context = rules(cookies=CookieStates(kept.__getitem__))
        first, wall = (
            page(302, headers={"location": "/check"}),
            page(302, "http://h.cn/check", headers={"location": URL}),
        )
        for round_trip in range(3):
            at = str(round_trip)
            for one in (replace(first, cookies=at), replace(wall, cookies=at)):
                context.cookies.note(one)
            kept |= {"http://h.cn/check": at, URL: at}
            assert not judge(replace(wall, cookies=at), context).new_urls[0].anew  # as it was asked before
            kept[URL] = f"{at}, and one of another host"
            assert judge(replace(wall, cookies=at), context).new_urls[0].anew

    def test_redirect_to_itself_is_followed_while_its_cookies_change(self) -> None:
        kept = {URL: "c=0"}
        context = rules(cookies=CookieStates(kept.__getitem__), redirects=6, tries=2)
        here = page(302, headers={"location": URL}, new_cookie=True, tries=3)
        context.cookies.note(here)
        assert judge(here, context).state == State.PENDING
        assert judge(replace_lease(here, tries=5), context).reason == "redirects to itself"
        context.cookies.note(replace(here, cookies="c=0"))
        assert judge(here, context).reason == "redirects to itself"

    def test_page_that_only_sends_on_is_a_redirect(self) -> None:
        there = page(200, parsed=listed(links("http://h.cn/b", "http://h.cn/c"), sends_to="http://h.cn/b"), hops=1)
        outcome = judge(there, rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.SKIPPED, "redirect", False)
        assert [(new.url, new.hops) for new in outcome.new_urls] == [("http://h.cn/b", 2)]
        assert judge(replace_lease(there, hops=4), rules(redirects=4)).reason == "too many redirects"

    def test_page_that_shows_itself_again_is_one_unless_it_sets_a_cookie(self) -> None:
        again = listed(links("http://h.cn/b"), sends_to=URL)
        assert judge(page(200, parsed=again), rules()).state == State.DONE
        wall = judge(page(200, parsed=again, new_cookie=True), rules())
        assert (wall.state, wall.next_visit, wall.failed) == (State.PENDING, NOW, False)

    @each_row(("new_cookie", "tries"), [(False, 0), (True, 2)])
    def test_but_not_without_one_nor_for_ever(self, *, new_cookie: bool, tries: int) -> None:
        outcome = judge(page(302, headers={"location": URL}, new_cookie=new_cookie, tries=tries), rules(tries=3))
        assert (outcome.state, outcome.reason) == (State.FAILED, "redirects to itself")


class TestCanonical:
    def test_none_or_the_page_itself(self) -> None:
        for canonical in ("", URL):
            outcome = judge(page(parsed=written(canonical=canonical)), rules())
            assert outcome.same_as is None
            assert outcome.new_urls == ()
            assert outcome.article is not None
            assert outcome.article.canonical_id is None

    @each_row("canonical", ["http://h.cn/b", "https://www.h.cn/a"])
    def test_on_the_own_host(self, canonical: str) -> None:
        outcome = judge(page(parsed=written(canonical=canonical)), rules())
        new = by_url(outcome)[canonical]
        assert (new.reason, new.depth, new.found_in) == (None, 1, BlockKind.CANONICAL)
        assert outcome.same_as == new.id
        assert outcome.article is not None
        assert outcome.article.canonical_id == new.id
        assert (new.id, BlockKind.CANONICAL) in edges(outcome)

    @each_row("canonical", ["http://other.cn/b", "http://news.h.cn/a", "http://h.cn:8080/a"])
    def test_on_another_host_only_an_edge(self, canonical: str) -> None:
        outcome = judge(page(parsed=written(canonical=canonical), scope=Scope("any", ("h.cn",))), rules())
        new = by_url(outcome)[canonical]
        assert new.reason == "outside"
        assert outcome.same_as is None
        assert outcome.article is not None
        assert outcome.article.canonical_id is None
        assert (new.id, BlockKind.CANONICAL) in edges(outcome)

    def test_link_that_is_the_canonical_too_stays_followable(self) -> None:
        wide = Scope("any", ("h.cn",))
        found = links("http://o.cn/b", blocks=bytes([BlockKind.BODY]))
        parsed = written(found=found, scope=wide, canonical="http://o.cn/b")
        outcome = judge(page(parsed=parsed, scope=wide), rules())
        assert outcome.new_urls[0].reason is None  # the first row of a URL counts
        assert dict(edges(outcome)) == {fingerprint("http://o.cn/b"): BlockKind.BODY}
        assert min(depth for _, depth in depth_memory(outcome)) == 2


class TestRobots:
    def robots(self, status: int, body: bytes = b"", again: float | None = None, **values: Any) -> Outcome:
        values = {"kind": Kind.ROBOTS, "seed_id": None, "body": body, **values}
        asked = rules(robots_hosts=(11, 12), robots_again=again)
        return judge(page(status, "http://h.cn/robots.txt", **values), asked)

    def test_rules(self) -> None:
        outcome = self.robots(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /")
        text = "User-agent: *\nDisallow: /"
        assert (outcome.state, outcome.counted) == (State.DONE, False)
        assert outcome.robots == ((11, "rules", text), (12, "rules", text))

    @each_row("status", [400, 401, 403, 404, 410])
    def test_none(self, status: int) -> None:
        outcome = self.robots(status)
        assert (outcome.state, outcome.failed, outcome.counted) == (State.DONE, False, False)
        assert outcome.robots == ((11, "none", ""), (12, "none", ""))

    @each_row(("status", "error"), [(429, ""), (500, ""), (503, ""), (0, "timed out")])
    @each_row("tries", [0, 2, 50])
    def test_unreachable_is_asked_again_as_long_as_a_host_waits_for_it(
        self, status: int, error: str, tries: int
    ) -> None:
        outcome = self.robots(status, error=error, tries=tries, again=NOW + 20)
        assert (outcome.state, outcome.next_visit, outcome.robots) == (State.PENDING, NOW + 20, ())
        assert (outcome.failed, outcome.counted) == (True, False)

    @each_row(("status", "error"), [(429, ""), (500, ""), (0, "timed out")])
    def test_older_rules_hold_when_new_ones_cannot_be_had(self, status: int, error: str) -> None:
        outcome = self.robots(status, error=error)
        assert (outcome.state, outcome.next_visit, outcome.robots) == (State.FAILED, None, ())

    def test_redirect_is_followed_out_of_scope_and_fetched_again(self) -> None:
        outcome = self.robots(301, headers={"location": "http://cdn.net/robots.txt"})
        new = outcome.new_urls[0]
        assert (new.kind, new.reason, new.again, new.hops) == (Kind.ROBOTS, None, True, 1)
        assert outcome.same_as == new.id
        assert edges(outcome) == []
        assert outcome.robots == ()
        assert new.score > 1e6

    @each_row(("location", "hops"), [("/robots.txt", 0), ("/x", 5), ("ftp://h.cn/robots.txt", 0)])
    def test_redirects_without_end_mean_no_rules(self, location: str, hops: int) -> None:
        outcome = self.robots(302, headers={"location": location}, hops=hops)
        assert outcome.robots == ((11, "none", ""), (12, "none", ""))

    def test_five_redirects_are_followed_whatever_pages_may_do(self) -> None:
        outcome = self.robots(302, headers={"location": "http://b.cn/x"}, hops=4)
        assert (outcome.robots, outcome.new_urls[0].hops) == ((), 5)


class TestBareHosts:
    """Hosts that were named without a scheme."""

    BARE = Scope("host", ("h.cn",), bare=True)

    @each_row("kind", [Kind.ROBOTS, Kind.PAGE])
    @each_row("error", ["connection refused", "timed out", "TLS failed", "certificate not valid"])
    def test_http_is_tried_where_https_cannot_be_had(self, kind: str, error: str) -> None:
        asked = page(0, "https://h.cn/robots.txt", scope=self.BARE, error=error, kind=kind)
        outcome = judge(asked, rules())
        assert (outcome.state, outcome.reason, outcome.detail, outcome.failed) == ("skipped", "no https", error, False)
        assert [new.url for new in outcome.new_urls] == ["http://h.cn/robots.txt"]
        assert outcome.same_as == outcome.new_urls[0].id
        again = replace_lease(asked, visits=1, http_status=None, reason="no https")
        assert judge(again, rules()).reason == "no https", "when the rules are asked for anew"

    @each_row(
        ("url", "values"),
        [
            ("https://h.cn/", {"error": "no such host"}),
            ("https://h.cn/", {"error": "connection refused", "visits": 1}),
            ("http://h.cn/", {"error": "connection refused"}),
            ("https://h.cn/", {"error": "connection refused", "scope": Scope("host", ("h.cn",))}),
        ],
    )
    def test_http_is_not_tried_otherwise(self, url: str, values: dict) -> None:
        outcome = judge(page(0, url, **{"scope": self.BARE, **values}), rules())
        assert outcome.new_urls == ()
        assert outcome.reason != "no https"
