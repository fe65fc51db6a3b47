"""What no answer, an error or half an answer means for the frontier; every answer has an outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.errors import BODY_CUT
from crawler.response.outcome import internal_error, judge
from db.records.reasons import FailReason
from db.records.url import Kind, State
from pipelines.records import Extraction, PageKind
from tests.crawler.answers import NOW, by_url, links, listed, page, rules, written
from tests.table import each_row


class TestNoAnswer:
    def test_tried_again_after_growing_pauses_then_given_up(self) -> None:
        pauses = []
        for tries in (0, 1):
            outcome = judge(page(0, error="timed out", tries=tries), rules())
            assert (outcome.state, outcome.reason, outcome.failed) == (State.PENDING, FailReason.TIMED_OUT, True)
            assert outcome.http_status is None
            assert not outcome.counted
            assert outcome.next_visit is not None
            pauses.append(outcome.next_visit - NOW)
        assert pauses == [2.0, 8.0]
        outcome = judge(page(0, error="timed out", tries=2), rules())
        assert (outcome.state, outcome.reason, outcome.failed) == (State.FAILED, FailReason.TIMED_OUT, True)
        assert outcome.next_visit is None
        assert not outcome.counted
        assert outcome.robots == ()

    def test_while_its_host_rests_a_failure_is_not_held_against_the_url(self) -> None:
        outcome = judge(page(0, error="timed out", tries=9), rules(in_backoff=True))
        assert (outcome.state, outcome.tried, outcome.failed) == (State.PENDING, False, True)
        assert judge(page(500, tries=9), rules(in_backoff=True)).state == State.FAILED

    def test_one_try_is_no_second_try(self) -> None:
        assert judge(page(0, error="connection lost"), rules(tries=1)).state == State.FAILED

    def test_error_counts_even_beside_a_status(self) -> None:
        outcome = judge(page(200, error="connection lost", tries=2), rules())
        assert (outcome.state, outcome.reason) == (State.FAILED, FailReason.LOST)

    def test_refused_address_is_never_tried_again(self) -> None:
        outcome = judge(page(0, error=FailReason.ADDRESS_REFUSED), rules())
        assert (outcome.state, outcome.reason, outcome.failed) == (State.SKIPPED, FailReason.ADDRESS_REFUSED, False)
        robots = judge(page(0, error=FailReason.ADDRESS_REFUSED, kind=Kind.ROBOTS), rules(robots_hosts=(1, 2)))
        assert robots.robots == ((1, "refused", ""), (2, "refused", ""))


class TestFinalErrors:
    @each_row(("error", "failed"), [("compression bomb", False), ("certificate not valid", True)])
    def test_permanent_answers_are_not_asked_for_again(self, error: str, *, failed: bool) -> None:
        outcome = judge(page(0, error=error), rules())
        assert (outcome.state, outcome.reason, outcome.failed) == (State.FAILED, error, failed)


class TestErrorStatus:
    @each_row("status", [400, 401, 403, 404, 410, 451, 304, 204, 206])
    def test_given_up_at_once(self, status: int) -> None:
        outcome = judge(page(status), rules())
        assert (outcome.state, outcome.reason, outcome.detail, outcome.http_status) == (
            State.FAILED,
            "http error",
            str(status),
            status,
        )
        assert outcome.counted == (status != 304)
        assert not outcome.failed
        assert outcome.next_visit is None
        assert outcome.new_urls == ()

    @each_row("status", [500, 502, 503, 504, 522])
    def test_trouble_of_the_server_is_tried_again(self, status: int) -> None:
        first = judge(page(status), rules())
        assert (first.state, first.next_visit, first.failed) == (State.PENDING, NOW + 2.0, True)
        assert not first.counted
        assert first.http_status == status
        last = judge(page(status, tries=2), rules())
        assert (last.state, last.reason, last.failed, last.counted) == (State.FAILED, "http error", True, True)

    def test_501_is_final(self) -> None:
        outcome = judge(page(501), rules())
        assert (outcome.state, outcome.failed) == (State.FAILED, True)

    @each_row("status", [429, 503])
    @each_row(
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

    def test_hostile_retry_after_does_not_raise(self) -> None:
        headers = {"retry-after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}
        assert judge(page(503, headers=headers), rules()).next_visit == NOW + 2.0

    @each_row("kind", [Kind.FEED, Kind.SITEMAP])
    def test_missing_source_is_no_failure(self, kind: str) -> None:
        outcome = judge(page(404, kind=kind), rules())
        assert (outcome.state, outcome.reason, outcome.detail) == (State.SKIPPED, f"no {kind}", "http 404")
        assert not outcome.counted
        assert not outcome.failed

    def test_too_many_requests_stays_a_failure_of_the_host_on_the_last_try(self) -> None:
        assert judge(page(429, tries=1), rules()).failed
        assert judge(page(429, tries=2), rules()).failed


class TestTruncated:
    def test_body_that_was_cut_is_read_for_links_and_is_no_article(self) -> None:
        found = listed(links("http://h.cn/1"), kind=PageKind.ARTICLE, reason=None, extraction=Extraction("新闻"))
        outcome = judge(page(parsed=found, truncated=True, bounds=(BODY_CUT,)), rules())
        assert (outcome.state, outcome.reason, outcome.article) == (State.DONE, "truncated", None)
        assert "http://h.cn/1" in by_url(outcome)

    @each_row(("tries", "state"), [(0, State.PENDING), (1, State.PENDING), (2, State.DONE)])
    def test_lost_connection_is_tried_again_before_it_is_made_do_with(self, tries: int, state: State) -> None:
        outcome = judge(page(parsed=written(), truncated=True, tries=tries), rules(tries=3))
        assert (outcome.state, outcome.reason, outcome.article) == (state, "truncated", None)

    @each_row("bounds", [(), (BODY_CUT,)])
    def test_rules_of_robots_that_were_cut_count_but_not_those_of_a_lost_connection(self, bounds: tuple) -> None:
        cut = page(url="http://h.cn/robots.txt", kind=Kind.ROBOTS, body=b"User-agent: *", truncated=True, bounds=bounds)
        outcome = judge(replace(cut, lease=replace(cut.lease, tries=2)), rules(robots_hosts=(11,)))
        assert bool(outcome.robots) == bool(bounds)

    def test_half_a_rule_of_robots_that_were_cut_does_not_count(self) -> None:
        body = b"User-agent: *\nDisallow: /private/\nDisallow: /"
        cut = page(url="http://h.cn/robots.txt", kind=Kind.ROBOTS, body=body, truncated=True, bounds=(BODY_CUT,))
        outcome = judge(cut, rules(robots_hosts=(11,)))
        assert outcome.robots == ((11, "rules", "User-agent: *\nDisallow: /private/\n"),)
        whole = judge(replace(cut, truncated=False, bounds=()), rules(robots_hosts=(11,), robots_bytes=len(body) - 1))
        assert whole.robots == outcome.robots


@given(
    status=st.sampled_from([0, 100, 200, 204, 301, 304, 308, 404, 429, 500, 503, 999]),
    kind=st.sampled_from(Kind),
    tries=st.integers(0, 4),
    hops=st.integers(0, 6),
    error=st.sampled_from([None, None, FailReason.TIMED_OUT, FailReason.ADDRESS_REFUSED]),
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


def test_page_that_could_not_be_stored_says_nothing_of_what_its_server_said() -> None:
    """That may be what the database refused."""
    outcome = internal_error(page(status=200, headers={"etag": "a\0b", "last-modified": "\0"}), ValueError())
    assert (outcome.state, outcome.reason, outcome.detail, outcome.counted) == (
        State.FAILED,
        "internal error",
        "ValueError",
        True,
    )
    assert (outcome.etag, outcome.last_modified, outcome.http_status) == (None, None, 200)


@each_row("reason", [FailReason.OUT_OF_HANDLES, FailReason.NO_PROXY])
def test_request_that_was_not_made_for_want_of_handles_or_proxies_is_no_try(reason: FailReason) -> None:
    outcome = judge(page(status=0, error=reason, tries=99), rules(tries=1))
    assert (outcome.state, outcome.tried, outcome.failed, outcome.counted) == (State.PENDING, False, False, False)
    assert outcome.next_visit is not None


def test_page_whose_scripts_no_proxy_brought_is_asked_for_again() -> None:
    outcome = judge(page(unreadable=FailReason.NO_PROXY, tries=99), rules(tries=1))
    assert (outcome.state, outcome.tried, outcome.failed, outcome.counted) == (State.PENDING, False, False, False)


def test_validators_belong_to_what_was_read_whole() -> None:
    headers = {"etag": '"1"', "last-modified": "Tue, 14 Nov 2023 00:00:00 GMT"}
    whole = judge(page(headers=headers, parsed=written()), rules())
    assert (whole.etag, whole.last_modified) == ('"1"', "Tue, 14 Nov 2023 00:00:00 GMT")
    for answer in (
        page(headers=headers, parsed=written(), truncated=True),
        page(headers=headers, parsed=replace(written(), bounds=("links",))),
        page(headers=headers, unreadable=FailReason.TOO_SLOW),
        page(404, headers=headers),
    ):
        outcome = judge(answer, rules())
        assert (outcome.etag, outcome.last_modified) == (None, None)


def test_fault_of_ours_is_not_held_against_the_host() -> None:
    for tries in (0, 99):
        assert not judge(page(0, error=FailReason.INTERNAL, tries=tries), rules()).failed
    assert judge(page(0, error=FailReason.TIMED_OUT), rules()).failed
