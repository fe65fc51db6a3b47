"""What every kind of answer means for a URL that was fetched before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crawler.response.outcome import judge
from crawler.response.revisit import conditions, next_visit, settle
from crawler.response.revisit_schedule import DAY, Schedule, fading
from db.records.keys import fingerprint
from db.records.outcome import Outcome
from db.records.reasons import FailReason, PageReason
from db.records.url import Kind, Lease, State
from db.records.visit import Revisit, RevisitKind
from pipelines.item import Page
from pipelines.records import BlockKind, PageKind
from tests.crawler.answers import NOW, edges, lease, links, listed, page, rules, written
from tests.table import each_row

SCHEDULE = Schedule()
THEN = NOW - 7_200
BEFORE: dict[str, Any] = {
    "state_before": State.DONE,
    "visits": 1,
    "http_status": 200,
    "fetched_at": THEN,
    "etag": 'W/"1"',
    "watched": 3_600.0,
}
GONE = {"state_before": State.FAILED, "http_status": 410, "reason": "http error", "reason_detail": "410"}
LIST = {**BEFORE, "reason": "list page", "watched": 0.0}
NEWS = links("http://h.cn/1", "http://h.cn/2")


def settled(answer: Page) -> Outcome:
    return settle(answer, judge(answer, rules()), SCHEDULE)


def planned(outcome: Outcome, news: int = 0) -> float | None:
    return next_visit(outcome, news, SCHEDULE)


def again(status: int = 200, **values: Any) -> Outcome:
    """The outcome of a visit to an article that was stored, if nothing else is said."""
    return settled(page(status, **{**BEFORE, **values}))


def is_as_before(outcome: Outcome, **values: Any) -> bool:
    before = {"state": State.DONE, "reason": None, "http_status": 200, "etag": 'W/"1"', "reverted": True, **values}
    return all(getattr(outcome, name) == value for name, value in before.items())


class TestFirst:
    def test_lists_are_visited_again_and_so_are_articles(self) -> None:
        outcome = settled(page(parsed=listed(NEWS)))
        assert (outcome.state, outcome.next_visit, outcome.visit) == (State.DONE, NOW + 3_600, None)
        outcome = settled(page(parsed=written()))
        assert outcome.next_visit is not None
        assert NOW < outcome.next_visit <= NOW + DAY
        assert 0 < outcome.age < 2 * DAY  # published on this day

    def test_list_that_is_stored_is_visited_again_as_a_list(self) -> None:
        stored = replace(written(found=NEWS), kind=PageKind.LIST, reason=PageReason.LIST)
        outcome = settled(page(parsed=stored))
        assert (outcome.reason, outcome.next_visit, outcome.age) == ("list page", NOW + 3_600, 0.0)
        assert outcome.article is not None
        later = settled(page(parsed=stored, **LIST))
        assert later.visit == Revisit(RevisitKind.LIST, 7_200.0, fading(7_200.0))

    def test_nothing_else_is(self) -> None:
        for answer in (
            page(404),
            page(302, headers={"location": "/b"}),
            page(parsed=listed(NEWS, kind=PageKind.OTHER, reason=PageReason.NO_TEXT)),
        ):
            assert settled(answer).next_visit is None
        assert settled(page(404, kind=Kind.FEED)).next_visit is None

    @each_row("status", [200, 302, 404, 503])
    def test_but_seeds_are_whatever_they_say(self, status: int) -> None:
        headers = {"location": "/today/1.html"}
        outcome = settled(page(status, headers=headers, found_in=BlockKind.SEED, depth=0, tries=9, parsed=written()))
        assert outcome.next_visit == NOW + 3_600

    def test_so_is_a_part_of_an_article(self) -> None:
        assert settled(page(parsed=written(next_page="http://h.cn/a_2"))).next_visit is not None

    @each_row("reason", [one for one in FailReason if one.is_ours])
    def test_answers_that_could_not_be_read_are_asked_for_again_without_validators(self, reason: FailReason) -> None:
        if reason in {FailReason.OUT_OF_HANDLES, FailReason.NO_PROXY}:  # nothing was asked for
            return
        headers = {"etag": '"1"', "last-modified": "Tue, 14 Nov 2023 00:00:00 GMT"}
        outcome = settled(page(headers=headers, unreadable=reason))
        assert (outcome.state, outcome.reason, outcome.failed) == (State.FAILED, reason, False)
        assert (outcome.etag, outcome.last_modified, outcome.unread) == (None, None, 1)
        assert outcome.next_visit == NOW + SCHEDULE.least
        row = {**BEFORE, "state_before": State.FAILED, "reason": reason}  # as older versions left it, with an ETag
        assert conditions(lease(**row, unread=1)) == {}
        for unread, again in ((1, NOW + SCHEDULE.least), (2, None)):
            outcome = settled(page(unreadable=reason, **row, unread=unread))
            assert (outcome.state, outcome.unread, outcome.next_visit) == (State.FAILED, unread + 1, again)
        gone = settled(page(404, **row, unread=1))
        assert (gone.reason, gone.detail, gone.unread) == (FailReason.HTTP, "404", 0)
        assert settled(page(parsed=written(), **row, unread=2)).unread == 0

    def test_another_try_is_no_visit(self) -> None:
        answer = page(503)
        assert settled(answer) == judge(answer, rules())
        assert settled(page(200, kind=Kind.ROBOTS, **BEFORE)).next_visit is None


class TestAsking:
    def test_only_for_changes(self) -> None:
        held = lease(**BEFORE, last_modified="Tue, 07 Nov 2023 22:14:20 GMT")
        assert conditions(held) == {
            "If-None-Match": 'W/"1"',
            "If-Modified-Since": "Tue, 07 Nov 2023 22:14:20 GMT",
        }

    def test_apache_is_asked_by_the_tag_that_it_knows_again(self) -> None:
        held = lease(**{**BEFORE, "etag": '"5f-1a2b-gzip"'})
        assert conditions(held) == {"If-None-Match": '"5f-1a2b-gzip", "5f-1a2b"'}

    @each_row("values", [{"visits": 0}, {"http_status": None}, GONE, {"etag": None}])
    def test_not_when_there_is_nothing_to_keep(self, values: dict[str, Any]) -> None:
        assert conditions(lease(**{**BEFORE, **values})) == {}

    @each_row("stated", ["Fri, 01 Jan 2038 00:00:00 GMT", "yesterday", "Tue, 99 Nov 2023 22:14:20 GMT", ""])
    def test_not_with_a_date_that_lies_ahead_or_is_none(self, stated: str) -> None:
        assert conditions(lease(**{**BEFORE, "etag": None}, last_modified=stated)) == {}


class TestFailures:
    @each_row("reason", [None, "list page", "doubtful encoding"])
    @each_row(
        "answer",
        [
            {"status": 0, "error": "timed out"},
            {"status": 500},
            {"status": 503},
            {"status": 403},
            {"status": 429},
            {"status": 451},
            {"status": 0, "error": FailReason.ADDRESS_REFUSED},
            {"status": 200, "unreadable": "took too long to read"},
            {"status": 302, "headers": {"location": "http://h.cn/a"}},
            {"status": 301, "headers": {"location": "http://elsewhere.cn/a"}},
        ],
    )
    def test_change_nothing_and_are_made_up_for(self, answer: dict[str, Any], reason: str | None) -> None:
        outcome = again(**{"tries": 9, **answer, "reason": reason})
        assert is_as_before(outcome, reason=reason, fetched_at=THEN)
        assert outcome.visit is None
        assert outcome.next_visit is not None
        assert outcome.next_visit >= NOW + 300

    def test_are_tried_again_at_once(self) -> None:
        outcome = again(503)
        assert is_as_before(outcome, state=State.PENDING)
        assert (outcome.next_visit, outcome.failed) == (NOW + 2, True)

    @each_row("kind", [PageKind.OTHER, PageKind.LIST])
    def test_so_does_something_else_in_the_place_of_an_article(self, kind: PageKind) -> None:
        outcome = again(parsed=listed(NEWS, kind=kind, reason=PageReason.SOFT_404))
        assert is_as_before(outcome)
        assert outcome.article is None
        assert {new.url for new in outcome.new_urls} == set(NEWS.urls)

    def test_list_that_is_an_error_page_keeps_its_turn(self) -> None:
        outcome = settled(page(parsed=listed(NEWS, kind=PageKind.OTHER, reason=PageReason.SOFT_404), **LIST))
        assert is_as_before(outcome, reason="list page", fetched_at=NOW)
        assert outcome.visit is not None
        assert {new.url for new in outcome.new_urls} == set(NEWS.urls)
        assert {target for target, _ in edges(outcome)} == {new.id for new in outcome.new_urls}


class TestUnchanged:
    def test_article(self) -> None:
        outcome = again(304)
        assert is_as_before(outcome, fetched_at=NOW, alive=True)
        assert outcome.visit == Revisit(RevisitKind.ARTICLE, 7_200)
        assert (planned(outcome) or 0) > NOW + 3_600

    def test_list(self) -> None:
        outcome = again(304, reason="list page", watched=0.0)
        assert (planned(outcome) or 0) > NOW + 2 * 3_600
        assert outcome.alive is None


class TestNews:
    def test_more_a_list_brings_the_sooner_it_is_visited(self) -> None:
        outcome = settled(page(parsed=listed(NEWS), **LIST))
        assert (outcome.reverted, len(outcome.new_urls)) == (False, 2)
        pauses = [(planned(outcome, named) or 0) - NOW for named in (0, 2, 50)]
        assert pauses == sorted(pauses, reverse=True)

    def test_links_that_never_become_articles_count_less(self) -> None:
        values = {**LIST, "visits": 9, "watched": 30_000.0, "named": 500.0}
        fruitless, fruitful = (
            (planned(settled(page(parsed=listed(NEWS), **values, brought=brought)), 50) or 0) - NOW
            for brought in (0.0, 400.0)
        )
        assert fruitless > 10 * fruitful

    def test_article_that_changes_is_looked_at_sooner(self) -> None:
        outcome = again(parsed=written())
        assert (outcome.reverted, outcome.alive) == (False, True)
        assert outcome.visit == Revisit(RevisitKind.ARTICLE, 7_200)
        assert (planned(outcome, 1) or 0) < (planned(outcome) or 0)

    def test_old_article_is_looked_at_once(self) -> None:
        outcome = again(304, watched=90 * DAY)
        assert planned(outcome) is None
        assert planned(outcome, 1) is not None


class TestGone:
    def test_410_is_believed_at_once(self) -> None:
        outcome = again(410)
        assert (outcome.state, outcome.reason, outcome.alive) == (State.FAILED, FailReason.HTTP, False)
        assert outcome.visit == Revisit(RevisitKind.GONE, 7_200)
        assert planned(outcome) == NOW + DAY

    def test_404_when_it_is_said_twice(self) -> None:
        doubt = again(404)
        assert is_as_before(doubt, http_status=404, alive=None, next_visit=NOW + 300)
        sure = again(404, http_status=404)
        assert (sure.state, sure.alive) == (State.FAILED, False)

    def test_page_that_is_there_after_all(self) -> None:
        assert again(304, http_status=404).alive
        assert again(parsed=written(), **GONE).alive

    def test_gone_page_is_looked_for_again_for_a_time(self) -> None:
        gone = {**GONE, "etag": None}
        later = again(410, **gone, changed_at=NOW - 2 * DAY)
        assert is_as_before(later, state=State.FAILED, reason="http error", detail="410", http_status=410, etag=None)
        assert later.next_visit == NOW + 2 * DAY
        assert again(410, **gone, changed_at=NOW - 30 * DAY).next_visit is None

    @each_row("status", [404, 410])
    def test_list_stays(self, status: int) -> None:
        outcome = settled(page(status, **LIST))
        assert is_as_before(outcome, reason="list page")
        assert outcome.visit is not None


class TestMoved:
    @each_row("status", [301, 308])
    def test_for_good(self, status: int) -> None:
        outcome = again(status, headers={"location": "/b"})
        assert (outcome.state, outcome.reason, outcome.http_status) == (State.SKIPPED, "redirect", status)
        assert [new.url for new in outcome.new_urls] == ["http://h.cn/b"]
        assert outcome.same_as == outcome.new_urls[0].id
        assert outcome.alive is None
        assert outcome.next_visit == NOW + DAY

    def test_article_missing_at_the_new_address_is_gone(self) -> None:
        moved = {"state_before": State.SKIPPED, "http_status": 301, "reason": "redirect", "same_as": 7}
        outcome = again(301, headers={"location": "/b"}, **moved)
        assert (outcome.state, outcome.reason, outcome.alive, outcome.next_visit) == (
            State.SKIPPED,
            "redirect",
            False,
            None,
        )
        assert again(302, headers={"location": "/b"}, **moved).alive is None
        assert again(parsed=written(), **moved).alive

    @each_row("status", [302, 303, 307])
    def test_for_the_moment(self, status: int) -> None:
        outcome = again(status, headers={"location": "/b"})
        assert is_as_before(outcome)
        assert outcome.new_urls == ()

    def test_to_the_home_page_is_not_moved(self) -> None:
        doubted = again(301, headers={"location": "/"})
        assert is_as_before(doubted, http_status=301)
        assert doubted.alive is None
        gone = again(301, headers={"location": "/"}, http_status=301)
        assert (gone.state, gone.reason, gone.alive, gone.new_urls) == (State.FAILED, FailReason.HTTP, False, ())
        later = again(301, headers={"location": "/"}, **{**GONE, "http_status": 301, "etag": None})
        assert (later.state, later.reverted, later.alive) == (State.FAILED, True, None)
        assert is_as_before(again(302, headers={"location": "/"}))

    def test_seed_that_leads_to_the_issue_of_today(self) -> None:
        held = {
            **BEFORE,
            "state_before": State.SKIPPED,
            "http_status": 302,
            "reason": "redirect",
            "found_in": BlockKind.SEED,
            "same_as": 7,
        }
        outcome = settled(page(302, headers={"location": "/today/2.html"}, **held))
        assert [new.url for new in outcome.new_urls] == ["http://h.cn/today/2.html"]
        assert (outcome.state, outcome.reason) == (State.SKIPPED, "redirect")
        assert outcome.next_visit is not None


def test_lease_is_counted_once() -> None:
    first, second, failed = lease(), lease(**BEFORE), lease(visits=1)
    assert [held.counts for held in (first, second, failed)] == [True, False, True]
    assert isinstance(second, Lease)


def test_sitemap_says_what_has_changed_since_it_was_read() -> None:
    urls = [f"http://h.cn/{n}" for n in range(5)]
    times = (NOW - 60, THEN - 2 * DAY, 0.0, NOW + 60, NOW - 30)
    named = replace(links(*urls), changed=times)
    outcome = settled(page(kind=Kind.SITEMAP, parsed=listed(named), **{**LIST, "reason": "feed or sitemap"}))
    assert outcome.stated == [(fingerprint(urls[4]), NOW - 30), (fingerprint(urls[0]), NOW - 60)]
    assert settled(page(kind=Kind.SITEMAP, parsed=listed(named))).stated == ()  # nothing was visited before it


def test_doubtful_reading_does_not_take_the_place_of_a_good_one() -> None:
    good = written()
    doubtful = replace(good, doubt=PageReason.DOUBTFUL_ENCODING)
    assert is_as_before(again(parsed=doubtful))
    assert again(parsed=doubtful, reason="doubtful encoding").article is not None
    assert again(parsed=good, reason="doubtful encoding").article is not None
