"""Rules against traps: every trap ends soon, honest sites lose nothing, and what was blocked may be opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.learn.traps.host import PROBATION_PAGES, Bounds, FetchedPage, HostTraps, Pattern, suspicion_of
from pipelines.url_rules.forms import folder_key
from pipelines.url_rules.trap_patterns import EXACT, FOLDER, HOST, disallow_reason
from pipelines.url_rules.trap_signals import sketch
from tests.crawler.trap_sites import HONEST, TRAPS, crawl, words
from tests.table import each_row

NOW = 1e9
SITE = "http://a.example"


@each_row("name", TRAPS)
def test_trap_ends_and_costs_no_article(name: str) -> None:
    site, most = TRAPS[name]
    found = crawl(site, most=1000)
    assert found.left == 0
    assert found.pages - 9 <= most
    assert len(found.articles) == 8
    assert all(reason for _, reason in found.skipped)


@each_row("name", HONEST)
@each_row("order", ["fifo", "random"])
@pytest.mark.slow
def test_honest_site_loses_nothing(name: str, order: str) -> None:
    site, articles = HONEST[name]
    assert len(crawl(site, most=20_000, order=order).articles) == articles


@each_row(
    ("path", "kind"),
    [
        ("/calendar?y=2025&m=6", "calendar"),
        ("/rili/2025/6", "calendar"),
        ("/archive?date=2025-01-01", "calendar"),
        ("/list?sid=12ab34cd", "session id"),
        ("/rand?t=1700000000", "cache buster"),
        ("/shop?color=1", "facets"),
        ("/x?a=1&b=2&c=3", "facets"),
        ("/a/docs/b/docs/c/", "endless path"),
        ("/news/12.html", ""),
        ("/show?id=12", ""),
    ],
)
def test_kinds_are_named_by_addresses(path: str, kind: str) -> None:
    assert suspicion_of(SITE + path) == kind


def unproductive(number: int, *, grows: bool = True, **more: object) -> FetchedPage:
    url = f"{SITE}/cal?month={number}"
    return replace(FetchedPage(url, sketch=sketch("没有活动 请看其他月份"), found=[folder_key(url)] * grows), **more)  # type: ignore[arg-type]


def blocked(host: HostTraps) -> dict:
    return {key: kind for key, kind in host.blocked.items() if kind}


def test_patterns_that_do_not_grow_are_never_blocked() -> None:
    host = HostTraps(Bounds())
    for n in range(500):
        assert host.observe(unproductive(n, grows=False), NOW) == []
    assert host.blocked == {}


def test_walls_are_no_evidence() -> None:
    host = HostTraps(Bounds())
    for n in range(500):
        host.observe(unproductive(n, grows=False, is_wall=True), NOW)
    assert blocked(host) == {}


def test_pattern_is_blocked_with_a_reason_and_opened_when_something_comes_of_it() -> None:
    host = HostTraps(Bounds(pages=10))
    events = [one for n in range(10) for one in host.observe(unproductive(n), NOW)]
    assert [(one.pattern, one.kind, one.blocked_at) for one in events] == [("/cal?month", "calendar", NOW)]
    assert "10 pages in a row brought no article" in events[0].why
    url = f"{SITE}/cal?month=99"
    assert disallow_reason(url, host.blocked) == "calendar"
    assert not host.opened
    host.credit(f"{SITE}/cal?month=3")
    assert host.opened
    assert disallow_reason(url, host.blocked) == ""


def test_rare_articles_give_more_time() -> None:
    host = HostTraps(Bounds(pages=10))
    for n in range(200):
        seen = unproductive(n, sketch=sketch(words(n, 60)), brought=n % 9 == 8)
        assert host.observe(seen, NOW) == []
    for n in range(200, 280):
        host.observe(unproductive(n), NOW)
    assert (EXACT, "/cal?month") not in blocked(host)
    for n in range(280, 300):
        host.observe(unproductive(n), NOW)
    assert (EXACT, "/cal?month") in blocked(host)


def test_days_of_a_calendar_with_a_text_each_are_no_articles() -> None:
    host = HostTraps(Bounds(pages=10))
    for n in range(40):
        host.observe(unproductive(n, brought=True, sketch=sketch(f"{n}日 没有活动 请看其他日期")), NOW)
    assert (EXACT, "/cal?month") in blocked(host)


def on_probation(now: float = NOW) -> HostTraps:
    """A host of which a pattern was blocked and is tried again."""
    host = HostTraps(Bounds(pages=10))
    for n in range(10):
        host.observe(unproductive(n), NOW)
    stored = [replace(one, missing=0, alike=0, _sketches=[]) for one in host.worth_keeping()]
    again = HostTraps(Bounds(pages=10), known=stored)
    assert blocked(again) == blocked(host)
    assert not again.reopen(NOW), "too early"
    assert again.reopen(now + 1)
    assert blocked(again) == {}
    return again


def test_probation_is_short() -> None:
    host = on_probation()
    events = [host.observe(unproductive(100 + n), NOW + 9) for n in range(PROBATION_PAGES)]
    assert [len(each) for each in events] == [0] * (PROBATION_PAGES - 1) + [1]
    assert not host.opened


@each_row("own", [False, True])
def test_probation_ends_when_something_comes_of_a_page(own: bool) -> None:  # noqa: FBT001
    host = on_probation()
    if own:
        host.observe(FetchedPage(f"{SITE}/cal?month=3", brought=True, sketch=sketch(words(3, 60))), NOW + 9)
    else:
        host.credit(f"{SITE}/cal?month=3")
    assert host.opened
    assert not host.reopen(NOW + 99)
    for n in range(PROBATION_PAGES):
        assert not host.observe(unproductive(100 + n), NOW + 9)


def test_article_of_a_wide_pattern_that_is_blocked_opens_its_own_alone() -> None:
    host = HostTraps(Bounds(), known=[Pattern(FOLDER, "/news/*.html", pages=99, kind="nothing new", blocked_at=NOW)])
    host.observe(FetchedPage(f"{SITE}/news/1.html", brought=True, sketch=sketch(words(3, 60))), NOW)
    assert disallow_reason(f"{SITE}/news/2.html", host.blocked) == ""
    assert disallow_reason(f"{SITE}/news/x-2.html", host.blocked) == "nothing new"
    assert not host.opened


def test_farm_is_a_host_that_no_seed_means_whose_pages_name_nobody() -> None:
    bounds = Bounds(host_pages=20)
    farm, other, own = HostTraps(bounds, foreign=True), HostTraps(bounds, foreign=True), HostTraps(bounds)
    for n in range(20):
        page = FetchedPage(f"{SITE}/x{n}/{n}.html", brought=True)
        events = farm.observe(page, NOW)
        other.observe(replace(page, named=n % 5 == 0), NOW)
        own.observe(page, NOW)
    assert [(one.level, one.kind) for one in events] == [(HOST, "link farm")]
    assert disallow_reason(f"{SITE}/anything", farm.blocked) == "link farm"
    assert (blocked(other), blocked(own)) == ({}, {})


def test_host_is_asked_once_a_folder_what_no_page_looks_like() -> None:
    host = HostTraps(Bounds())
    asked = []
    for n in range(6):
        host.observe(FetchedPage(f"{SITE}/old/{n}.html", missing=True), NOW)
        asked.append(host.wants_probe())
    assert asked == [False, False, True, False, False, False]
    assert host.missing == ()
    host.note_missing(5, f"{SITE}/old/none.html", NOW)
    assert host.missing == (5,)
    elsewhere = [FetchedPage(f"{SITE}/new/{n}.html", missing=True) for n in range(6)]
    other = HostTraps(Bounds())
    other.note_missing(0, f"{SITE}/old/none.html", NOW)
    for page in elsewhere:
        host.observe(page, NOW)
        assert not host.wants_probe(), "it is known"
    assert [bool(other.observe(page, NOW)) or other.wants_probe() for page in elsewhere] == asked, "another folder"
    honest = HostTraps(Bounds(probe=False))
    for n in range(6):
        honest.observe(FetchedPage(f"{SITE}/old/{n}.html", missing=True), NOW)
    assert not honest.wants_probe()
    assert honest.missing is None


def test_patience_has_an_end_however_rare_articles_were() -> None:
    one = Pattern(EXACT, "/cal?month", pages=9000, brought=2, reached=8000)
    assert one.patience(Bounds(pages=10)) == 200
    assert replace(one, brought=1, reached=1).patience(Bounds(pages=10)) == 20, "gaps are usual"


def test_patterns_are_bounded() -> None:
    host = HostTraps(Bounds())
    for n in range(3000):
        name = "".join(chr(97 + int(digit)) for digit in str(n))
        host.observe(FetchedPage(f"{SITE}/{name}/{name}/x", brought=True), NOW)
    assert len(host.worth_keeping()) <= 300
    assert len(host._patterns) <= 300


def test_folder_is_blocked_when_facets_make_many_patterns() -> None:
    found = crawl(TRAPS["facets"][0], most=1000)
    assert found.traps is not None
    assert (FOLDER, "/goods?") in blocked(found.traps)
