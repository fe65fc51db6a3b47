"""URLs for the frontier, and the scores they start with."""

from __future__ import annotations

import json

import pytest

from crawler.rank.finds import DAY
from crawler.rank.priority import Priority
from crawler.response.context import Context
from crawler.response.new_urls import links, new_url, sources
from crawler.response.seen_urls import KnownUrls
from db.records.keys import fingerprint
from db.records.url import Kind, Lease, NewUrl
from pipelines.item import Page
from pipelines.links.scope import Scope, identify, resolve_page
from pipelines.records import BlockKind, Links, PageKind, ParseResult
from tests.table import each_row

NOW = 1_714_550_000.0  # 1 May 2024
PRIORITY = Priority("breadth", {"freshness": 1.0})
SCOPE = Scope("host", ("h.cn",))


def page(found: Links, parts: str = "", feeds: tuple[str, ...] = ()) -> Page:
    url = "http://h.cn/list/"
    lease = Lease(
        id=fingerprint(url),
        url=url,
        host_id=fingerprint("h.cn"),
        seed_id=3,
        kind=Kind.PAGE,
        depth=1,
        score=0.5,
        found_in=BlockKind.LIST,
        found_on=None,
        found_at=NOW,
        tries=0,
        hops=0,
        etag=None,
        last_modified=None,
        score_parts=parts,
    )
    parsed = ParseResult(kind=PageKind.LIST, links=found, feeds=feeds)
    return Page(lease, SCOPE, status=200, fetched_at=NOW, parsed=resolve_page(parsed, url, SCOPE))


def named(*urls: str, dates: tuple[float, ...] = ()) -> Links:
    return Links(urls, ("",) * len(urls), bytes([BlockKind.LIST]) * len(urls), bytes(len(urls)), dates)


def rules(priority: Priority = PRIORITY, known: KnownUrls | None = None) -> Context:
    return Context(
        priority=priority,
        tries=3,
        redirects=4,
        depth=None,
        known=known or KnownUrls(100),
        extractor="combined",
        disallow_reason=lambda _host, _url: None,
    )


def found_links(page: Page, context: Context) -> list[NewUrl]:
    assert page.parsed is not None
    return links(page, page.parsed, context)


class TestNewUrl:
    def test_identity(self) -> None:
        new = new_url(
            identify("http://www.news.com.cn:8080/a", Kind.PAGE),
            priority=PRIORITY,
            depth=2,
            found_in=1,
            now=NOW,
            seed_id=3,
        )
        assert (new.host, new.site) == ("www.news.com.cn:8080", "news.com.cn")
        assert new.id == fingerprint("http://www.news.com.cn:8080/a")
        assert (new.host_id, new.site_id) == (fingerprint("www.news.com.cn:8080"), fingerprint("news.com.cn"))
        assert (new.depth, new.seed_id, new.score) == (2, 3, pytest.approx(1 / 3))

    def test_robots_go_first(self) -> None:
        robots = new_url(
            identify("http://h.cn/robots.txt", Kind.ROBOTS),
            priority=PRIORITY,
            depth=9,
            found_in=6,
            now=NOW,
            seed_id=None,
        )
        seed = new_url(
            identify("http://h.cn/", Kind.PAGE), priority=PRIORITY, depth=0, found_in=11, now=NOW, seed_id=3, dated=NOW
        )
        assert robots.score > seed.score

    def test_seed_counts_as_the_most_important_page(self) -> None:
        seed = new_url(
            identify("http://h.cn/", Kind.PAGE),
            priority=Priority("pagerank", {}),
            depth=0,
            found_in=11,
            now=NOW,
            seed_id=3,
        )
        assert json.loads(seed.score_parts or "")["pagerank"] == 1

    def test_feeds_are_news(self) -> None:
        feed = new_url(
            identify("http://h.cn/rss", Kind.FEED),
            priority=PRIORITY,
            depth=1,
            found_in=BlockKind.FEED,
            now=NOW,
            seed_id=3,
        )
        assert json.loads(feed.score_parts or "")["freshness"] == 1


def test_dates_in_addresses_count_when_no_other_is_stated() -> None:
    found = named(
        "http://h.cn/2024/04/28/1.html",
        "http://h.cn/t20240428_2.html",
        "http://h.cn/20240428/3.html",
        "http://h.cn/1999999.html",
        dates=(0.0, 0.0, NOW, 0.0),
    )
    stated, told, fed, none = found_links(page(found), rules())
    assert stated.dated == told.dated == (NOW // DAY - 3) * DAY
    assert fed.dated == NOW
    assert none.dated is None
    assert fed.score > told.score > none.score


def test_links_of_an_important_page_start_higher() -> None:
    priority = Priority("pagerank", {})
    found = named(*(f"http://h.cn/{n}" for n in range(10)))
    high = found_links(page(found, '{"pagerank": 0.6}'), rules(priority))
    low = found_links(page(found, '{"pagerank": 0.3}'), rules(priority))
    assert [new.score for new in high] > [new.score for new in low]
    unknown = found_links(page(found), rules(priority))
    assert json.loads(unknown[0].score_parts or "")["pagerank"] == 0


def test_links_that_are_known_are_no_new_rows_but_count_as_explored() -> None:
    priority = Priority("pagerank", {})
    urls = [f"http://h.cn/{n}" for n in range(10)]
    known = KnownUrls(100)
    for url in urls[:9]:
        known.note(fingerprint(url), 1)
    (last,) = found_links(page(named(*urls), '{"pagerank": 0.6}'), rules(priority, known))
    (first, *_) = found_links(page(named(*urls), '{"pagerank": 0.6}'), rules(priority))
    assert last.url == urls[9]
    assert last.score < first.score


@each_row("preset", ["pagerank", "news", "focused"])
def test_lists_go_before_the_pages_they_lead_to(preset: str) -> None:
    priority = Priority(preset, {})
    one = page(named("http://h.cn/1"), '{"siterank": 0.7, "anchor": 0.7}', ("http://h.cn/rss",))
    (feed,), (link,) = sources(one, one.parsed, rules(priority)), links(one, one.parsed, rules(priority))
    assert feed.score > link.score
