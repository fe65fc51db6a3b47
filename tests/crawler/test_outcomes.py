"""What every kind of answer means for the frontier and the database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.fetch.reasons import BODY_CUT, REFUSED
from crawler.known import KnownUrls
from crawler.outcomes import (
    OUT_OF_HANDLES,
    depth_memory,
    internal_error,
    judge,
)
from crawler.outlinks import url_id
from crawler.rank.priority import Priority
from crawler.rulebook import Rulebook, Threshold
from db.found import NewUrl
from db.frontier import Claim
from db.keys import fingerprint
from db.outcome import Outcome, StoredPage
from db.parts import Place
from db.tables import Kind, State
from pipelines.parts import MAX_PARTS
from pipelines.records import BlockKind, Extraction, Image, Links, Metadata, PageKind, ParsedPage, Signature
from pipelines.scope import Scope, resolve
from pipelines.stages import Page
from pipelines.worker import Likeness, Worked

NOW = 1_700_000_000.0
URL = "http://h.cn/a"
SEED_ID = 7
SCOPE = Scope("host", ("h.cn",))
PRIORITY = Priority("breadth", {"freshness": 1.0})
FAR = 1 << 30


def claim(url: str = URL, **values: Any) -> Claim:
    defaults: dict[str, Any] = {
        "kind": Kind.PAGE,
        "depth": 1,
        "score": 0.5,
        "found_in": BlockKind.LIST,
        "found_on": None,
        "found_at": NOW - 10,
        "tries": 0,
        "hops": 0,
        "etag": None,
        "last_modified": None,
        "seed_id": SEED_ID,
    }
    return Claim(id=fingerprint(url), url=url, host_id=fingerprint(url.split("/")[2]), **{**defaults, **values})


def rules(**values: Any) -> Rulebook:
    defaults: dict[str, Any] = {
        "priority": PRIORITY,
        "tries": 3,
        "redirects": 4,
        "depth": None,
        "known": KnownUrls(100),
        "extractor": "density",
        "objection": lambda _host, _url: "",
    }
    return Rulebook(**{**defaults, **values})


_OWN = ("error", "body", "worked", "unreadable", "truncated", "bounds", "new_cookie")


def page(status: int = 200, url: str = URL, *, scope: Scope = SCOPE, headers: Any = None, **values: Any) -> Page:
    """An answer; names that a page does not have are those of its claim."""
    own = {name: values.pop(name) for name in _OWN if name in values}
    return Page(claim(url, **values), scope, status=status, headers=headers or {}, fetched_at=NOW, **own)


def remember(depths: dict[int, int]) -> KnownUrls:
    """A memory of these URLs."""
    memory = KnownUrls(1_000)
    for key, depth in depths.items():
        memory.note(key, depth)
    return memory


def edges(outcome: Outcome) -> list[tuple[int, int]]:
    """The links of an outcome, target and block kind."""
    return list(zip(outcome.links.targets, outcome.links.blocks, strict=True))


def links(*urls: str, **values: Any) -> Links:
    defaults: dict[str, Any] = {
        "urls": urls,
        "anchors": tuple(f"about {url}" for url in urls),
        "blocks": bytes([BlockKind.LIST] * len(urls)),
        "nofollow": bytes(len(urls)),
    }
    return Links(**{**defaults, **values})


def listed(found: Links, *, scope: Scope = SCOPE, sitemaps: tuple[str, ...] = (), **values: Any) -> Worked:
    """What a worker makes of a page that is a list of links."""
    defaults: dict[str, Any] = {"kind": PageKind.LIST, "reason": "list page", "links": found}
    return Worked(ParsedPage(**{**defaults, **values}), resolve(found, scope), sitemaps)


def written(**values: Any) -> Worked:
    """What a worker makes of an article."""
    meta = Metadata(
        title="题目",
        authors=("张三", "李四"),
        source="新华社",
        published_at="2023-11-14",
        published_precision="day",
        published_from="meta",
        language="zh-Hans",
        summary="提要",
        keywords=("一", "二"),
        section="要闻",
        images=(Image("http://h.cn/1.jpg", "图", lead=True),),
        **values,
    )
    text = Extraction("第一段。", "<p>第一段。</p>", 0.75)
    return Worked(ParsedPage(PageKind.ARTICLE, "", meta, text, Signature(5, b"abcd", 9), encoding="gb18030"))


def by_url(outcome: Outcome) -> dict[str, NewUrl]:
    assert len({new.url for new in outcome.new_urls}) == len(outcome.new_urls)
    return {new.url: new for new in outcome.new_urls}


class TestNoAnswer:
    def test_tried_again_after_growing_pauses_then_given_up(self) -> None:
        pauses = []
        for tries in (0, 1):
            outcome = judge(page(0, error="timeout", tries=tries), rules())
            assert (outcome.state, outcome.reason, outcome.failed) == (State.PENDING, "timeout", True)
            assert outcome.http_status is None
            assert not outcome.counted
            assert outcome.next_visit is not None
            pauses.append(outcome.next_visit - NOW)
        assert pauses == [2.0, 8.0]
        outcome = judge(page(0, error="timeout", tries=2), rules())
        assert (outcome.state, outcome.reason, outcome.failed) == (State.FAILED, "timeout", True)
        assert outcome.next_visit is None
        assert not outcome.counted
        assert outcome.robots == ()

    def test_while_its_host_rests_a_failure_is_not_held_against_the_url(self) -> None:
        outcome = judge(page(0, error="timed out", tries=9), rules(resting=True))
        assert (outcome.state, outcome.tried, outcome.failed) == (State.PENDING, False, True)
        assert judge(page(500, tries=9), rules(resting=True)).state == State.FAILED

    def test_one_try_is_no_second_try(self) -> None:
        assert judge(page(0, error="reset"), rules(tries=1)).state == State.FAILED

    def test_an_error_counts_even_beside_a_status(self) -> None:
        outcome = judge(page(200, error="body too long", tries=2), rules())
        assert (outcome.state, outcome.reason) == (State.FAILED, "body too long")

    def test_a_refused_address_is_never_tried_again(self) -> None:
        outcome = judge(page(0, error=REFUSED), rules())
        assert (outcome.state, outcome.reason, outcome.failed) == (State.SKIPPED, "address not allowed", False)
        robots = judge(page(0, error=REFUSED, kind=Kind.ROBOTS), rules(robots_hosts=(1, 2)))
        assert robots.robots == ((1, "refused", ""), (2, "refused", ""))


class TestFinalErrors:
    @pytest.mark.parametrize(
        ("error", "failed"), [("compression bomb", False), ("certificate not valid: expired", True)]
    )
    def test_what_asking_again_cannot_change_is_not_asked_again(self, error: str, *, failed: bool) -> None:
        outcome = judge(page(0, error=error), rules())
        assert (outcome.state, outcome.reason, outcome.failed) == (State.FAILED, error, failed)


class TestErrorStatus:
    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 304, 204, 206])
    def test_given_up_at_once(self, status: int) -> None:
        outcome = judge(page(status), rules())
        assert (outcome.state, outcome.reason, outcome.http_status) == (State.FAILED, f"http {status}", status)
        assert outcome.counted == (status != 304)
        assert not outcome.failed
        assert outcome.next_visit is None
        assert outcome.new_urls == ()

    @pytest.mark.parametrize("status", [500, 502, 503, 504, 522])
    def test_trouble_of_the_server_is_tried_again(self, status: int) -> None:
        first = judge(page(status), rules())
        assert (first.state, first.next_visit, first.failed) == (State.PENDING, NOW + 2.0, True)
        assert not first.counted
        assert first.http_status == status
        last = judge(page(status, tries=2), rules())
        assert (last.state, last.reason, last.failed, last.counted) == (State.FAILED, f"http {status}", True, True)

    def test_501_is_final(self) -> None:
        outcome = judge(page(501), rules())
        assert (outcome.state, outcome.failed) == (State.FAILED, True)

    @pytest.mark.parametrize("status", [429, 503])
    @pytest.mark.parametrize(
        ("header", "pause"),
        [
            ("120", 120.0),
            ("99999", 3600.0),
            ("0", 0.0),
            ("soon", 8.0),
            ("", 8.0),
            ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        ],
    )
    def test_retry_after_is_kept(self, status: int, header: str, pause: float) -> None:
        outcome = judge(page(status, headers={"retry-after": header}, tries=1), rules())
        assert outcome.state == State.PENDING
        assert outcome.next_visit == pytest.approx(NOW + pause)

    def test_a_hostile_retry_after_does_not_raise(self) -> None:
        headers = {"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}
        assert judge(page(503, headers=headers), rules()).next_visit == NOW + 2.0

    @pytest.mark.parametrize("kind", [Kind.FEED, Kind.SITEMAP])
    def test_a_missing_source_is_no_failure(self, kind: str) -> None:
        outcome = judge(page(404, kind=kind), rules())
        assert (outcome.state, outcome.reason) == (State.SKIPPED, f"no {kind} (http 404)")
        assert not outcome.counted
        assert not outcome.failed

    def test_too_many_requests_stays_a_failure_of_the_host_on_the_last_try(self) -> None:
        assert judge(page(429, tries=1), rules()).failed
        assert judge(page(429, tries=2), rules()).failed


class TestRedirect:
    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_the_target_takes_its_place(self, status: int) -> None:
        outcome = judge(page(status, headers={"location": "/b?utm_source=x#top"}, depth=3, hops=1), rules())
        assert (outcome.state, outcome.reason, outcome.http_status) == (State.SKIPPED, "redirect", status)
        assert not outcome.counted
        new = by_url(outcome)["http://h.cn/b"]
        assert (new.depth, new.hops, new.kind, new.reason) == (3, 2, Kind.PAGE, "")
        assert (new.found_in, new.seed_id, new.again) == (BlockKind.REDIRECT, SEED_ID, False)
        assert outcome.same_as == new.id == fingerprint("http://h.cn/b")
        assert edges(outcome) == [(new.id, BlockKind.REDIRECT)]
        assert outcome.seed_host is None

    def test_to_https_and_www_stays_inside(self) -> None:
        outcome = judge(page(301, headers={"location": "https://www.h.cn/a"}), rules())
        assert outcome.new_urls[0].reason == ""
        assert outcome.seed_host is None

    def test_outside_is_recorded_and_not_followed(self) -> None:
        outcome = judge(page(302, headers={"location": "http://other.cn/x"}), rules())
        assert outcome.new_urls[0].reason == "outside"
        assert outcome.same_as == fingerprint("http://other.cn/x")
        assert outcome.seed_host is None

    @pytest.mark.parametrize(
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

    def test_too_many(self) -> None:
        headers = {"location": "/b"}
        assert judge(page(301, headers=headers, hops=3), rules()).state == State.SKIPPED
        outcome = judge(page(301, headers=headers, hops=4), rules())
        assert (outcome.state, outcome.reason, outcome.new_urls) == (State.FAILED, "too many redirects", ())
        assert judge(page(301, headers=headers), rules(redirects=0)).reason == "too many redirects"

    def test_without_location_it_is_an_error(self) -> None:
        for headers in ({}, {"location": ""}):
            assert judge(page(301, headers=headers), rules()).reason == "http 301"

    def test_a_seed_adopts_another_host_of_its_site(self) -> None:
        seed = page(301, "http://h.cn/", headers={"location": "https://news.h.cn/"}, found_in=BlockKind.SEED, depth=0)
        outcome = judge(seed, rules())
        new = outcome.new_urls[0]
        assert outcome.seed_host == (SEED_ID, "news.h.cn")
        assert (new.reason, new.found_in, new.depth) == ("", BlockKind.SEED, 0)
        # the next hop of the same seed too, other pages and other sites not
        assert judge(replace_claim(seed, found_in=BlockKind.REDIRECT), rules()).seed_host is None
        away = judge(replace(seed, headers={"location": "http://h2.cn/"}), rules())
        assert (away.seed_host, away.new_urls[0].reason) == (None, "outside")
        orphan = judge(replace_claim(seed, seed_id=None), rules())
        assert (orphan.seed_host, orphan.new_urls[0].reason) == (None, "outside")

    def test_a_seed_that_may_go_there_anyway_adopts_nothing(self) -> None:
        wide = page(
            301, headers={"location": "http://news.h.cn/"}, found_in=BlockKind.SEED, scope=Scope("site", ("h.cn",))
        )
        assert judge(wide, rules()).seed_host is None

    def test_a_redirect_is_followed_whatever_the_tries(self) -> None:
        assert judge(page(301, headers={"location": "/b"}, tries=2), rules()).state == State.SKIPPED


class TestCookies:
    def test_a_redirect_to_itself_with_a_new_cookie_is_tried_again_at_once(self) -> None:
        outcome = judge(page(302, headers={"location": URL}, new_cookie=True), rules())
        assert (outcome.state, outcome.next_visit, outcome.failed) == (State.PENDING, NOW, False)

    @pytest.mark.parametrize("new_cookie", [False, True])
    def test_a_wall_of_two_redirects_is_passed_with_its_cookie(self, *, new_cookie: bool) -> None:
        wall = page(302, "http://h.cn/check", headers={"location": URL}, new_cookie=new_cookie)
        back = judge(replace_claim(wall, found_on=fingerprint(URL)), rules()).new_urls[0]
        elsewhere = judge(replace_claim(wall, found_on=5), rules()).new_urls[0]
        assert (back.again, back.hops, elsewhere.again) == (new_cookie, 1, False)

    def test_a_page_that_only_sends_on_is_a_redirect(self) -> None:
        there = page(200, worked=listed(links("http://h.cn/b", "http://h.cn/c"), sends_to="http://h.cn/b"), hops=1)
        outcome = judge(there, rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.SKIPPED, "redirect", False)
        assert [(new.url, new.hops) for new in outcome.new_urls] == [("http://h.cn/b", 2)]
        assert judge(replace_claim(there, hops=4), rules(redirects=4)).reason == "too many redirects"

    def test_a_page_that_shows_itself_again_is_one_unless_it_sets_a_cookie(self) -> None:
        again = listed(links("http://h.cn/b"), sends_to=URL)
        assert judge(page(200, worked=again), rules()).state == State.DONE
        wall = judge(page(200, worked=again, new_cookie=True), rules())
        assert (wall.state, wall.next_visit, wall.failed) == (State.PENDING, NOW, False)

    @pytest.mark.parametrize(("new_cookie", "tries"), [(False, 0), (True, 2)])
    def test_but_not_without_one_nor_for_ever(self, *, new_cookie: bool, tries: int) -> None:
        outcome = judge(page(302, headers={"location": URL}, new_cookie=new_cookie, tries=tries), rules(tries=3))
        assert (outcome.state, outcome.reason) == (State.FAILED, "redirects to itself")


def test_a_redirect_drops_credentials() -> None:
    outcome = judge(page(302, headers={"location": "http://user:pass@h.cn/b"}), rules())
    assert [new.url for new in outcome.new_urls] == ["http://h.cn/b"]
    assert "pass" not in repr(outcome)


def replace_claim(of: Page, **values: Any) -> Page:
    return replace(of, claim=replace(of.claim, **values))


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

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
    def test_none(self, status: int) -> None:
        outcome = self.robots(status)
        assert (outcome.state, outcome.failed, outcome.counted) == (State.DONE, False, False)
        assert outcome.robots == ((11, "none", ""), (12, "none", ""))

    @pytest.mark.parametrize(("status", "error"), [(429, ""), (500, ""), (503, ""), (0, "timed out")])
    @pytest.mark.parametrize("tries", [0, 2, 50])
    def test_unreachable_is_asked_again_as_long_as_a_host_waits_for_it(
        self, status: int, error: str, tries: int
    ) -> None:
        outcome = self.robots(status, error=error, tries=tries, again=NOW + 20)
        assert (outcome.state, outcome.next_visit, outcome.robots) == (State.PENDING, NOW + 20, ())
        assert (outcome.failed, outcome.counted) == (True, False)

    @pytest.mark.parametrize(("status", "error"), [(429, ""), (500, ""), (0, "timed out")])
    def test_older_rules_hold_when_new_ones_cannot_be_had(self, status: int, error: str) -> None:
        outcome = self.robots(status, error=error)
        assert (outcome.state, outcome.next_visit, outcome.robots) == (State.FAILED, None, ())

    def test_a_redirect_is_followed_out_of_scope_and_fetched_again(self) -> None:
        outcome = self.robots(301, headers={"location": "http://cdn.net/robots.txt"})
        new = outcome.new_urls[0]
        assert (new.kind, new.reason, new.again, new.hops) == (Kind.ROBOTS, "", True, 1)
        assert outcome.same_as == new.id
        assert edges(outcome) == []
        assert outcome.robots == ()
        assert new.score > 1e6

    @pytest.mark.parametrize(("location", "hops"), [("/robots.txt", 0), ("/x", 5), ("ftp://h.cn/robots.txt", 0)])
    def test_redirects_without_end_mean_no_rules(self, location: str, hops: int) -> None:
        outcome = self.robots(302, headers={"location": location}, hops=hops)
        assert outcome.robots == ((11, "none", ""), (12, "none", ""))

    def test_five_redirects_are_followed_whatever_pages_may_do(self) -> None:
        outcome = self.robots(302, headers={"location": "http://b.cn/x"}, hops=4)
        assert (outcome.robots, outcome.new_urls[0].hops) == ((), 5)


class TestLinks:
    def test_new_rows_and_all_edges(self) -> None:
        found = links(
            "http://h.cn/1",
            "http://h.cn/2",
            "http://other.cn/3",
            "http://h.cn/4.pdf",
            "http://h.cn/5",
            blocks=bytes([BlockKind.LIST, BlockKind.NAVIGATION, BlockKind.OTHER, BlockKind.BODY, BlockKind.FOOTER]),
            nofollow=b"\0\0\0\0\1",
        )
        outcome = judge(page(worked=listed(found)), rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.DONE, "list page", True)
        rows = by_url(outcome)
        assert {url: row.reason for url, row in rows.items()} == {
            "http://h.cn/1": "",
            "http://h.cn/2": "",
            "http://other.cn/3": "outside",
            "http://h.cn/4.pdf": "file",
            "http://h.cn/5": "nofollow",
        }
        first = rows["http://h.cn/2"]
        assert (first.depth, first.found_in, first.seed_id, first.kind) == (2, BlockKind.NAVIGATION, SEED_ID, Kind.PAGE)
        assert (first.host, first.site, first.anchor) == ("h.cn", "h.cn", "about http://h.cn/2")
        assert first.id == fingerprint(first.url)
        assert first.host_id == fingerprint("h.cn")
        assert edges(outcome) == [(fingerprint(u), b) for u, b in zip(found.urls, found.blocks, strict=True)]

    def test_known_ones_are_edges_only_unless_nearer(self) -> None:
        found = links(
            "http://h.cn/same", "http://h.cn/deep", "http://h.cn/waits", "http://o.cn/out", "http://h.cn/near"
        )
        known = {
            fingerprint("http://h.cn/same"): 2,
            fingerprint("http://h.cn/deep"): 3,
            fingerprint("http://h.cn/waits"): FAR,
            fingerprint("http://o.cn/out"): FAR,
            fingerprint("http://h.cn/near"): 0,
        }
        outcome = judge(page(worked=listed(found)), rules(known=remember(known)))
        assert set(by_url(outcome)) == {"http://h.cn/deep", "http://h.cn/waits"}
        assert len(edges(outcome)) == 5

    def test_too_deep(self) -> None:
        found = links("http://h.cn/1", "http://o.cn/2")
        outcome = judge(page(worked=listed(found), depth=2), rules(depth=2))
        assert {row.reason for row in outcome.new_urls} == {"too deep", "outside"}
        assert by_url(outcome)["http://h.cn/1"].depth == 3
        assert by_url(judge(page(worked=listed(found), depth=1), rules(depth=2)))["http://h.cn/1"].reason == ""
        assert judge(page(worked=listed(found), depth=0), rules(depth=0)).new_urls[0].reason == "too deep"

    def test_dates_make_links_fresher(self) -> None:
        found = links("http://h.cn/1", "http://h.cn/2", dates=(NOW, 0.0))
        rows = by_url(judge(page(worked=listed(found), kind=Kind.FEED), rules()))
        assert rows["http://h.cn/1"].dated == NOW
        assert rows["http://h.cn/2"].dated is None
        assert rows["http://h.cn/1"].score > rows["http://h.cn/2"].score

    @pytest.mark.parametrize("kind", [Kind.FEED, Kind.SITEMAP])
    def test_sources_give_links_but_no_edges(self, kind: str) -> None:
        outcome = judge(page(worked=listed(links("http://h.cn/1")), kind=kind), rules())
        assert len(outcome.new_urls) == 1
        assert outcome.new_urls[0].kind == Kind.PAGE
        assert edges(outcome) == []
        assert not outcome.counted
        assert outcome.article is None

    def test_memory_keeps_depths_and_lets_other_links_win(self) -> None:
        outcome = judge(page(worked=listed(links("http://h.cn/1", "http://o.cn/2"))), rules())
        assert dict(depth_memory(outcome)) == {fingerprint("http://h.cn/1"): 2, fingerprint("http://o.cn/2"): FAR}

    @settings(deadline=None, max_examples=80)
    @given(
        st.lists(
            st.tuples(st.integers(0, 30), st.sampled_from(["h.cn", "www.h.cn", "o.cn"]), st.booleans()),
            unique_by=lambda link: link[:2],
        ),
        st.dictionaries(st.integers(0, 30), st.sampled_from([0, 2, 3, FAR])),
        st.sampled_from([None, 1, 2]),
    )
    def test_what_is_remembered_brings_nothing_new(self, found: Any, known: Any, depth: int | None) -> None:
        urls = [f"http://{host}/{number}" for number, host, _ in found]
        memory = remember({fingerprint(f"http://h.cn/{number}"): at for number, at in known.items()})
        read = page(worked=listed(links(*urls, nofollow=bytes(nofollow for *_, nofollow in found))))
        outcome = judge(read, rules(known=memory, depth=depth))
        assert len(edges(outcome)) == len(urls)
        for key, at in depth_memory(outcome):
            memory.note(key, at)
        # read once more, nothing is new but links that may win later and none of them can
        assert [row for row in judge(read, rules(known=memory, depth=depth)).new_urls if not row.reason] == []


class TestSources:
    FEEDS = ("http://h.cn/rss.xml", "http://o.cn/rss.xml")

    @pytest.mark.parametrize("depth", [0, 1])
    def test_feeds_of_home_and_channel_pages(self, depth: int) -> None:
        outcome = judge(page(worked=listed(links(), feeds=self.FEEDS), depth=depth), rules())
        rows = by_url(outcome)
        assert [(rows[url].kind, rows[url].reason) for url in self.FEEDS] == [(Kind.FEED, ""), (Kind.FEED, "outside")]
        assert rows[self.FEEDS[0]].depth == depth
        assert rows[self.FEEDS[0]].found_in == BlockKind.FEED

    def test_not_those_of_deeper_pages_nor_of_sources_nor_known_ones(self) -> None:
        assert judge(page(worked=listed(links(), feeds=self.FEEDS), depth=2), rules()).new_urls == ()
        assert judge(page(worked=listed(links(), feeds=self.FEEDS), kind=Kind.FEED), rules()).new_urls == ()
        known = {url_id(url, Kind.FEED): 0 for url in self.FEEDS}
        assert (
            judge(page(worked=listed(links(), feeds=self.FEEDS), depth=0), rules(known=remember(known))).new_urls == ()
        )

    def test_a_sitemap_index_names_sitemaps(self) -> None:
        named = ("http://h.cn/s1.xml", "http://o.cn/s2.xml")
        outcome = judge(page(worked=listed(links(), sitemaps=named), kind=Kind.SITEMAP, depth=0), rules())
        rows = by_url(outcome)
        assert [(rows[u].kind, rows[u].hops, rows[u].reason) for u in named] == [
            (Kind.SITEMAP, 1, ""),
            (Kind.SITEMAP, 1, "outside"),
        ]
        assert not outcome.counted

    def test_indexes_of_indexes_end(self) -> None:
        nested = page(worked=listed(links(), sitemaps=("http://h.cn/s.xml",)), kind=Kind.SITEMAP, hops=4)
        assert judge(nested, rules()).new_urls == ()
        assert len(judge(replace_claim(nested, hops=3), rules()).new_urls) == 1

    def test_an_index_in_an_index_names_a_few(self) -> None:
        named = tuple(f"http://h.cn/s{n}.xml" for n in range(20))
        first = page(worked=listed(links(), sitemaps=named), kind=Kind.SITEMAP, found_in=BlockKind.SITEMAP, hops=0)
        assert len(judge(first, rules()).new_urls) == 20
        assert len(judge(replace_claim(first, hops=1), rules()).new_urls) == 3
        assert judge(replace_claim(first, hops=2), rules()).new_urls == ()
        redirected = replace_claim(first, hops=1, found_in=BlockKind.REDIRECT)
        assert len(judge(redirected, rules()).new_urls) == 20

    def test_a_seed_that_turns_out_to_be_a_sitemap_index_is_followed(self) -> None:
        worked = listed(links(), sitemaps=("http://h.cn/s.xml",), reason="feed or sitemap")
        outcome = judge(page(worked=worked, depth=0, found_in=BlockKind.SEED), rules())
        assert [(row.url, row.kind) for row in outcome.new_urls] == [("http://h.cn/s.xml", Kind.SITEMAP)]


class TestPages:
    def test_an_article_in_doubt_is_stored_with_the_reason(self) -> None:
        worked = written()
        doubtful = replace(worked, parsed=replace(worked.parsed, doubt="doubtful encoding"))
        outcome = judge(page(worked=doubtful), rules())
        assert (outcome.state, outcome.reason) == (State.DONE, "doubtful encoding")
        assert outcome.article is not None

    def test_article(self) -> None:
        headers = {"etag": '"1"', "last-modified": "Tue, 14 Nov 2023 00:00:00 GMT", "content-type": "text/html"}
        outcome = judge(page(worked=written(), headers=headers), rules())
        assert (outcome.state, outcome.reason, outcome.counted, outcome.same_as) == (State.DONE, "", True, None)
        assert (outcome.etag, outcome.last_modified) == ('"1"', "Tue, 14 Nov 2023 00:00:00 GMT")
        article = outcome.article
        assert article is not None
        assert article.id == fingerprint(URL)
        assert article.site_id == fingerprint("h.cn")
        assert (article.title, article.authors, article.source) == ("题目", "张三、李四", "新华社")
        assert (article.text, article.html, article.quality) == ("第一段。", "<p>第一段。</p>", 0.75)
        assert (article.text_hash, article.features, article.length, article.extractor) == (5, b"abcd", 9, "density")
        assert (article.keywords, article.classes, article.summary) == ("一、二", "要闻", "提要")
        assert list(article.images) == [("http://h.cn/1.jpg", "图")]
        assert article.canonical_id is None
        assert article.seen == "2023-11-14T22:13:20+00:00"

    @pytest.mark.parametrize(
        ("published", "language", "stored"),
        [
            ("2023-11-14", "zh-Hans", "2023-11-14T00:00:00+08:00"),
            ("2023-11-14", "en", "2023-11-14T00:00:00+00:00"),
            ("2023-11-14", "", "2023-11-14T00:00:00+00:00"),
            ("2023-11-14T08:30:00+09:00", "zh-Hans", "2023-11-14T08:30:00+09:00"),
            ("", "zh-Hans", None),
        ],
    )
    def test_every_stored_time_has_a_zone(self, published: str, language: str, stored: str | None) -> None:
        worked = written()
        meta = replace(worked.parsed.metadata, published_at=published, language=language)
        outcome = judge(page(worked=replace(worked, parsed=replace(worked.parsed, metadata=meta))), rules())
        assert outcome.article is not None
        assert outcome.article.published_at == stored

    def test_noindex_is_read_for_links_and_not_stored(self) -> None:
        worked = written()
        found = links("http://h.cn/1")
        parsed = replace(worked.parsed, noindex=True, links=found)
        outcome = judge(page(worked=Worked(parsed, resolve(found, SCOPE))), rules())
        assert (outcome.state, outcome.reason, outcome.article) == (State.DONE, "noindex", None)
        assert outcome.counted
        assert len(outcome.new_urls) == 1

    def test_an_article_in_place_of_a_feed_is_not_stored(self) -> None:
        outcome = judge(page(worked=written(), kind=Kind.FEED), rules())
        assert outcome.article is None
        assert not outcome.counted

    @pytest.mark.parametrize("kind", [PageKind.LIST, PageKind.OTHER])
    def test_other_pages_say_why(self, kind: PageKind) -> None:
        outcome = judge(page(worked=Worked(ParsedPage(kind, "soft 404"))), rules())
        assert (outcome.state, outcome.reason, outcome.article) == (State.DONE, "soft 404", None)

    def test_raw_bytes_go_along(self) -> None:
        outcome = judge(page(worked=replace(written(), raw=b"zst"), headers={"content-type": "text/html"}), rules())
        assert outcome.raw == StoredPage("text/html", "gb18030", b"zst")

    def test_unreadable(self) -> None:
        outcome = judge(page(unreadable="took too long to read"), rules())
        assert (outcome.state, outcome.reason, outcome.counted) == (State.FAILED, "took too long to read", True)
        assert not outcome.failed
        assert judge(page(), rules()).reason == "not read"

    def test_validators_are_kept_as_they_are_or_not_at_all(self) -> None:
        weak = judge(page(worked=written(), headers={"etag": 'W/"a, b"', "last-modified": "some day"}), rules())
        assert (weak.etag, weak.last_modified) == ('W/"a, b"', "some day")
        outcome = judge(page(worked=written(), headers={"etag": "x" * 999, "last-modified": "y" * 999}), rules())
        assert outcome.etag is None
        assert outcome.last_modified is None


class TestTruncated:
    def test_a_body_that_was_cut_is_read_for_links_and_is_no_article(self) -> None:
        found = listed(links("http://h.cn/1"), kind=PageKind.ARTICLE, reason="")
        outcome = judge(page(worked=found, truncated=True, bounds=(BODY_CUT,)), rules())
        assert (outcome.state, outcome.reason, outcome.article) == (State.DONE, "truncated", None)
        assert "http://h.cn/1" in by_url(outcome)

    @pytest.mark.parametrize(("tries", "state"), [(0, State.PENDING), (1, State.PENDING), (2, State.DONE)])
    def test_a_lost_connection_is_tried_again_before_it_is_made_do_with(self, tries: int, state: State) -> None:
        outcome = judge(page(worked=written(), truncated=True, tries=tries), rules(tries=3))
        assert (outcome.state, outcome.reason, outcome.article) == (state, "truncated", None)

    @pytest.mark.parametrize("bounds", [(), (BODY_CUT,)])
    def test_rules_of_robots_that_were_cut_count_but_not_those_of_a_lost_connection(self, bounds: tuple) -> None:
        cut = page(url="http://h.cn/robots.txt", kind=Kind.ROBOTS, body=b"User-agent: *", truncated=True, bounds=bounds)
        outcome = judge(replace(cut, claim=replace(cut.claim, tries=2)), rules(robots_hosts=(11,)))
        assert bool(outcome.robots) == bool(bounds)

    def test_half_a_rule_of_robots_that_were_cut_does_not_count(self) -> None:
        body = b"User-agent: *\nDisallow: /private/\nDisallow: /"
        cut = page(url="http://h.cn/robots.txt", kind=Kind.ROBOTS, body=body, truncated=True, bounds=(BODY_CUT,))
        outcome = judge(cut, rules(robots_hosts=(11,)))
        assert outcome.robots == ((11, "rules", "User-agent: *\nDisallow: /private/\n"),)
        whole = judge(replace(cut, truncated=False, bounds=()), rules(robots_hosts=(11,), robots_bytes=len(body) - 1))
        assert whole.robots == outcome.robots


class TestParts:
    NEXT, PREVIOUS = "http://h.cn/a_3", "http://h.cn/a_1"

    def test_the_pages_beside_are_named_and_fetched_before_others(self) -> None:
        worked = written(next_page=self.NEXT, previous_page=self.PREVIOUS, page_number=2)
        outcome = judge(page(worked=worked, depth=3), rules(depth=3))
        assert outcome.place == Place(2, fingerprint(self.NEXT), fingerprint(self.PREVIOUS))
        for new in by_url(outcome).values():
            assert (new.found_in, new.depth, new.reason, new.soon, new.hops) == (BlockKind.PART, 3, "", True, 1)
            assert new.score > 1000

    def test_an_article_of_one_page(self) -> None:
        assert judge(page(worked=written()), rules()).place is None
        assert judge(page(worked=written(page_number=1)), rules()).place is None

    def test_a_number_alone(self) -> None:
        assert judge(page(worked=written(page_number=2)), rules()).place == Place(2)
        assert judge(page(worked=written(page_number=10**9)), rules()).place == Place(30_000)

    @pytest.mark.parametrize("url", ["http://other.cn/a_3", "http://www.h.cn/a_3", URL])
    def test_a_part_is_another_page_of_the_same_host(self, url: str) -> None:
        outcome = judge(page(worked=written(next_page=url)), rules())
        assert (outcome.place, outcome.new_urls) == (None, ())

    def test_what_must_not_be_fetched_is_not_waited_for(self) -> None:
        worked = written(next_page=self.NEXT)
        assert judge(page(worked=worked), rules(objection=lambda _host, _url: "robots")).place is None
        found = links(self.NEXT, nofollow=bytes([1]))
        worked = replace(worked, parsed=replace(worked.parsed, links=found), targets=resolve(found, SCOPE))
        outcome = judge(page(worked=worked), rules())
        assert outcome.place is None
        assert by_url(outcome)[self.NEXT].reason == "nofollow"

    def test_a_link_to_a_part_is_one_url(self) -> None:
        found = links(self.NEXT, "http://h.cn/b")
        worked = written(next_page=self.NEXT)
        worked = replace(worked, parsed=replace(worked.parsed, links=found), targets=resolve(found, SCOPE))
        new = by_url(judge(page(worked=worked), rules(known=remember({fingerprint(self.NEXT): 0}))))
        assert (new[self.NEXT].found_in, new["http://h.cn/b"].found_in) == (BlockKind.PART, BlockKind.LIST)

    def test_parts_of_parts_have_an_end(self) -> None:
        worked = written(next_page=self.NEXT)
        outcome = judge(page(worked=worked, found_in=BlockKind.PART, hops=MAX_PARTS - 1), rules())
        assert by_url(outcome)[self.NEXT].hops == MAX_PARTS
        assert judge(page(worked=worked, found_in=BlockKind.PART, hops=MAX_PARTS), rules()).place is None
        assert judge(page(worked=worked, found_in=BlockKind.REDIRECT, hops=MAX_PARTS), rules()).place is not None
        last = written(next_page=self.NEXT, page_number=MAX_PARTS)
        assert judge(page(worked=last), rules()).place == Place(MAX_PARTS)

    def test_what_a_part_redirects_to_is_the_part(self) -> None:
        moved = page(301, headers={"location": self.NEXT}, found_in=BlockKind.PART, hops=20)
        new = by_url(judge(moved, rules()))[self.NEXT]
        assert (new.found_in, new.hops, new.soon) == (BlockKind.PART, 21, True)


class TestCanonical:
    def test_none_or_the_page_itself(self) -> None:
        for canonical in ("", URL):
            outcome = judge(page(worked=written(canonical=canonical)), rules())
            assert outcome.same_as is None
            assert outcome.new_urls == ()
            assert outcome.article is not None
            assert outcome.article.canonical_id is None

    @pytest.mark.parametrize("canonical", ["http://h.cn/b", "https://www.h.cn/a"])
    def test_on_the_own_host(self, canonical: str) -> None:
        outcome = judge(page(worked=written(canonical=canonical)), rules())
        new = by_url(outcome)[canonical]
        assert (new.reason, new.depth, new.found_in) == ("", 1, BlockKind.CANONICAL)
        assert outcome.same_as == new.id
        assert outcome.article is not None
        assert outcome.article.canonical_id == new.id
        assert (new.id, BlockKind.CANONICAL) in edges(outcome)

    @pytest.mark.parametrize("canonical", ["http://other.cn/b", "http://news.h.cn/a", "http://h.cn:8080/a"])
    def test_on_another_host_only_an_edge(self, canonical: str) -> None:
        outcome = judge(page(worked=written(canonical=canonical), scope=Scope("any", ("h.cn",))), rules())
        new = by_url(outcome)[canonical]
        assert new.reason == "outside"
        assert outcome.same_as is None
        assert outcome.article is not None
        assert outcome.article.canonical_id is None
        assert (new.id, BlockKind.CANONICAL) in edges(outcome)

    def test_a_link_that_is_the_canonical_too_stays_followable(self) -> None:
        wide = Scope("any", ("h.cn",))
        found = links("http://o.cn/b", blocks=bytes([BlockKind.BODY]))
        worked = Worked(replace(written(canonical="http://o.cn/b").parsed, links=found), resolve(found, wide))
        outcome = judge(page(worked=worked, scope=wide), rules())
        assert outcome.new_urls[0].reason == ""  # the first row of a URL counts
        assert dict(edges(outcome)) == {fingerprint("http://o.cn/b"): BlockKind.BODY}
        assert min(depth for _, depth in depth_memory(outcome)) == 2


@settings(deadline=None, max_examples=200)
@given(
    status=st.sampled_from([0, 100, 200, 204, 301, 304, 308, 404, 429, 500, 503, 999]),
    kind=st.sampled_from(Kind),
    tries=st.integers(0, 4),
    hops=st.integers(0, 6),
    error=st.sampled_from(["", "", "timeout", REFUSED]),
    location=st.sampled_from(["", "/b", "http://o.cn/", "::", "http://[::1", "//", "\x00"]),
    body=st.binary(max_size=40),
)
def test_every_answer_has_an_outcome(**drawn: Any) -> None:
    answer = page(
        drawn["status"],
        kind=drawn["kind"],
        tries=drawn["tries"],
        hops=drawn["hops"],
        error=drawn["error"],
        headers={"location": drawn["location"]},
        body=drawn["body"],
    )
    waiting = {"robots_hosts": (1,), "robots_again": NOW} if drawn["kind"] == Kind.ROBOTS else {}
    outcome = judge(answer, rules(**waiting))
    assert outcome.state in set(State) - {State.LEASED}
    assert (outcome.state == State.PENDING) == (outcome.next_visit is not None)
    assert outcome.state == State.DONE or outcome.reason
    assert not (outcome.counted and outcome.state in {State.PENDING, State.SKIPPED})
    # robots.txt: an answer, another try, or another address; never silence while a host waits for it
    if drawn["kind"] == Kind.ROBOTS:
        assert outcome.robots or outcome.state == State.PENDING or outcome.same_as is not None
    else:
        assert outcome.robots == ()


def test_a_page_that_could_not_be_stored_says_nothing_of_what_its_server_said() -> None:
    """That may be what the database refused."""
    outcome = internal_error(page(status=200, headers={"etag": "a\0b", "last-modified": "\0"}), ValueError())
    assert (outcome.state, outcome.reason, outcome.counted) == (State.FAILED, "internal error (ValueError)", True)
    assert (outcome.etag, outcome.last_modified, outcome.http_status) == (None, None, 200)


def test_a_request_that_was_not_made_for_want_of_handles_is_no_try() -> None:
    outcome = judge(page(status=0, error=OUT_OF_HANDLES, tries=99), rules(tries=1))
    assert (outcome.state, outcome.tried, outcome.failed, outcome.counted) == (State.PENDING, False, False, False)
    assert outcome.next_visit is not None


class TestTopic:
    WORKED = replace(written(), likeness=Likeness(0.2, (), b"words"))

    def test_relevance_and_words_are_stored(self) -> None:
        outcome = judge(page(worked=self.WORKED), rules())
        assert outcome.article is not None
        assert outcome.article.relevance == 0.2
        assert outcome.terms == (0.2, b"words")
        assert outcome.reason == ""

    def test_an_article_that_is_not_near_enough_is_dropped_with_the_reason(self) -> None:
        outcome = judge(page(worked=self.WORKED), rules(focus=Threshold(0.3)))
        assert outcome.article is None
        assert (outcome.state, outcome.reason) == (State.DONE, "off topic")
        assert outcome.terms == (0.2, b"words")  # it is learnt from all the same

    def test_or_stored_with_the_reason(self) -> None:
        outcome = judge(page(worked=self.WORKED), rules(focus=Threshold(0.3, drops=False)))
        assert outcome.article is not None
        assert outcome.reason == "off topic"

    def test_links_of_a_page_off_the_topic_are_kept(self) -> None:
        found = links("http://h.cn/a", "http://h.cn/b")
        worked = replace(listed(found), likeness=Likeness(0.0, (0.0, 1.0), b""))
        focused = rules(focus=Threshold(0.9), priority=Priority("focused", {}))
        first, second = judge(page(worked=worked), focused).new_urls
        assert (first.reason, second.reason) == ("", "")
        assert second.score > first.score  # its text speaks of the topic

    def test_without_a_topic_there_is_no_relevance(self) -> None:
        outcome = judge(page(worked=written()), rules(focus=Threshold(0.9)))
        assert outcome.article is not None
        assert outcome.article.relevance is None
        assert outcome.terms is None
