"""Rules against traps: every trap ends soon, honest sites lose nothing, and what was shut may be opened."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.learn.traps.crawl import HostTraps
from crawler.learn.traps.host import TRIAL_PAGES, Bounds, Pattern, Seen, open_for_trial, suspicion_of
from pipelines.traps.patterns import EXACT, FOLDER, HOST, folder_key, objection, patterns
from pipelines.traps.signals import sketch
from tests.crawler.trap_sites import HONEST, TRAPS, crawl, words

NOW = 1e9
SITE = "http://a.example"


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_ends_and_costs_no_article(name: str) -> None:
    site, most = TRAPS[name]
    found = crawl(site, most=1000)
    assert found.left == 0
    assert found.pages - 9 <= most
    assert len(found.articles) == 8
    assert all(reason for _, reason in found.skipped)


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("order", ["fifo", "random"])
def test_an_honest_site_loses_nothing(name: str, order: str) -> None:
    site, articles = HONEST[name]
    assert len(crawl(site, most=20_000, order=order).articles) == articles


@pytest.mark.parametrize(
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
    assert suspicion_of(SITE + path, patterns(SITE + path)) == kind


def barren(number: int, *, grows: bool = True, **more: object) -> Seen:
    url = f"{SITE}/cal?month={number}"
    return replace(Seen(url, sketch=sketch("没有活动 请看其他月份"), found=[folder_key(url)] * grows), **more)  # type: ignore[arg-type]


def shut(host: HostTraps) -> dict:
    return {key: kind for key, kind in host.shut.items() if kind}


def test_what_does_not_grow_is_never_shut() -> None:
    host = HostTraps(Bounds())
    for n in range(500):
        assert host.observe(barren(n, grows=False), NOW) == []
    assert host.shut == {}


def test_walls_are_no_evidence() -> None:
    host = HostTraps(Bounds())
    for n in range(500):
        host.observe(barren(n, grows=False, is_wall=True), NOW)
    assert shut(host) == {}


def test_a_pattern_is_shut_with_a_reason_and_opened_when_something_comes_of_it() -> None:
    host = HostTraps(Bounds(pages=10))
    events = [one for n in range(10) for one in host.observe(barren(n), NOW)]
    assert [(one.text, one.kind, one.shut_at) for one in events] == [("/cal?month", "calendar", NOW)]
    assert "10 pages in a row brought no article" in events[0].why
    url = f"{SITE}/cal?month=99"
    assert objection(url, host.shut) == "calendar"
    opened = host.credit(f"{SITE}/cal?month=3")
    assert [one.text for one in opened] == ["/cal?month"]
    assert objection(url, host.shut) == ""


def test_rare_articles_give_more_time() -> None:
    host = HostTraps(Bounds(pages=10))
    for n in range(200):
        seen = barren(n, sketch=sketch(words(n, 60)), brought=n % 9 == 8)
        assert host.observe(seen, NOW) == []
    for n in range(200, 280):
        host.observe(barren(n), NOW)
    assert (EXACT, "/cal?month") not in shut(host)
    for n in range(280, 300):
        host.observe(barren(n), NOW)
    assert (EXACT, "/cal?month") in shut(host)


def test_days_of_a_calendar_with_a_text_each_are_no_articles() -> None:
    host = HostTraps(Bounds(pages=10))
    for n in range(40):
        host.observe(barren(n, brought=True, sketch=sketch(f"{n}日 没有活动 请看其他日期")), NOW)
    assert (EXACT, "/cal?month") in shut(host)


def test_a_trial_is_short() -> None:
    host = HostTraps(Bounds(pages=10))
    for n in range(10):
        host.observe(barren(n), NOW)
    again = HostTraps(Bounds(pages=10), known=[_stored(one) for one in host.worth_keeping()])
    assert shut(again) == shut(host)
    assert again.shut_before(NOW) == []
    (key,) = again.shut_before(NOW + 1)
    assert again.try_again(key)
    assert shut(again) == {}
    events = [again.observe(barren(100 + n), NOW + 9) for n in range(TRIAL_PAGES)]
    assert [len(each) for each in events] == [0] * (TRIAL_PAGES - 1) + [1]


def _stored(one: Pattern) -> Pattern:
    return Pattern(
        one.text, one.level, one.pages, one.brought, one.reached, one.barren, one.grown, one.kind, one.shut_at
    )


def test_a_trial_that_brings_something_opens_for_good() -> None:
    one = Pattern("/cal?month", EXACT, pages=10, barren=10, kind="calendar", shut_at=NOW)
    open_for_trial(one, Bounds(pages=10))
    host = HostTraps(Bounds(pages=10), known=[one])
    assert [each.text for each in host.credit(f"{SITE}/cal?month=3")] == ["/cal?month"]
    assert not one.trial


def test_a_farm_is_a_host_that_no_seed_means_whose_pages_name_nobody() -> None:
    bounds = Bounds(host_pages=20)
    farm, other, own = HostTraps(bounds, foreign=True), HostTraps(bounds, foreign=True), HostTraps(bounds)
    for n in range(20):
        page = Seen(f"{SITE}/x{n}/{n}.html", brought=True)
        events = farm.observe(page, NOW)
        other.observe(replace(page, named=n % 5 == 0), NOW)
        own.observe(page, NOW)
    assert [(one.level, one.kind) for one in events] == [(HOST, "link farm")]
    assert objection(f"{SITE}/anything", farm.shut) == "link farm"
    assert (shut(other), shut(own)) == ({}, {})


def test_a_host_is_asked_once_a_folder_what_no_page_looks_like() -> None:
    host = HostTraps(Bounds())
    asked = []
    for n in range(6):
        host.observe(Seen(f"{SITE}/old/{n}.html", missing=True), NOW)
        asked.append(host.wants_probe())
    assert asked == [False, False, True, False, False, False]
    assert host.missing == ()
    host.answered(5, f"{SITE}/old/none.html", NOW)
    assert host.missing == (5,)
    elsewhere = [Seen(f"{SITE}/new/{n}.html", missing=True) for n in range(6)]
    other = HostTraps(Bounds())
    other.answered(0, f"{SITE}/old/none.html", NOW)
    for page in elsewhere:
        host.observe(page, NOW)
        assert not host.wants_probe(), "it is known"
    assert [bool(other.observe(page, NOW)) or other.wants_probe() for page in elsewhere] == asked, "another folder"
    honest = HostTraps(Bounds(probe=False))
    for n in range(6):
        honest.observe(Seen(f"{SITE}/old/{n}.html", missing=True), NOW)
    assert not honest.wants_probe()
    assert honest.missing is None


def test_patience_has_an_end_however_rare_articles_were() -> None:
    one = Pattern("/cal?month", EXACT, pages=9000, brought=2, reached=8000)
    assert one.patience(Bounds(pages=10)) == 200
    assert replace(one, brought=1, reached=1).patience(Bounds(pages=10)) == 20, "gaps are usual"


def test_a_folder_below_one_that_is_shut_has_no_benefit_of_the_doubt() -> None:
    def pages_until_shut(host: HostTraps, folders: str) -> int:
        for n in range(500):
            url = f"{SITE}/shop/{folders}{words(n, 2)}/"
            if any(
                one.level == FOLDER
                for one in host.observe(barren(0, sketch=sketch(words(url, 60)), url=url, found=[1, 2]), NOW)
            ):
                return n + 1
        return 0

    host = HostTraps(Bounds(pages=10))
    assert pages_until_shut(host, "red/") == 40
    assert pages_until_shut(host, "red/blue/") == 20


def test_patterns_are_bounded() -> None:
    host = HostTraps(Bounds())
    for n in range(3000):
        name = "".join(chr(97 + int(digit)) for digit in str(n))
        host.observe(Seen(f"{SITE}/{name}/{name}/x", brought=True), NOW)
    assert len(host.worth_keeping()) <= 300
    assert len(host._patterns) <= 300


def test_a_folder_is_shut_when_facets_make_many_patterns() -> None:
    found = crawl(TRAPS["facets"][0], most=1000)
    assert found.traps is not None
    assert (FOLDER, "/goods?") in shut(found.traps)
