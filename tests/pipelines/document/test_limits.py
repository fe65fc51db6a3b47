"""Pages of which there is too much: read up to a bound, in a second, and counted."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from db.records.reasons import PageReason
from pipelines.document.document import parse
from pipelines.document.limits import PageLimits, cut_tags, drop_huge_tags
from pipelines.document.structured_data import read as read_structured
from pipelines.links.sitemaps import parse_sitemap
from pipelines.parse_page import parse_page
from pipelines.records import PageKind, ParseResult
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SMALL = PageLimits(links=50, chars=20_000, nodes=2_000, depth=64)
PROSE = "市政府昨天宣布，新的地铁线路将于明年春天开工建设，全长二十三公里，沿途设十五座车站，预计三年后通车。"
ARTICLE = "<h1>地铁新线明年开工</h1>" + f"<p>{PROSE}</p>" * 6
MANY = 30_000


def read(body: str | bytes, bounds: PageLimits = SMALL) -> ParseResult:
    data = body if isinstance(body, bytes) else f"<html><body>{body}</body></html>".encode()
    start = time.process_time()
    page = parse_page(data, "http://h.cn/a/1.html", fetched_at=NOW, bounds=bounds)
    assert time.process_time() - start < 5
    return page


@each_row(
    ("body", "bitten"),
    [
        ("<div>" * MANY + "x" + "</div>" * MANY, "levels"),
        ("<table><tr><td>" * 10_000, "tags"),
        ("<b><i>" * MANY, "tags"),
        ("<p>" * MANY, "tags"),
        ("<!---->" * MANY, "tags"),
        ("<br>" * 3_000, "elements"),
        ("".join(f"<p>第{n}段，这是一个段落内容，用于测试。</p>" for n in range(MANY)), "text"),
        ("长" * 1_000_000, "text"),
        ("".join(f'<a href="/{n}">{n}</a>' for n in range(500)), "links"),
        ("<div " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x</div>", "attributes"),
        ("<div " + "".join(f'a{n}=">"' for n in range(100_000)) + ">x</div>", "attributes"),
        (("<div " + " ".join(f"a{n}" for n in range(900)) + ">x</div>") * 300, "attributes"),
        ('<script type="application/ld+json">' + "[" * 400_000 + "</script>", "structured data"),
    ],
)  # fmt: skip
def test_surplus_is_left_out_and_counted(body: str, bitten: str) -> None:
    page = read(body)
    assert bitten in page.bounds
    assert len(page.extraction.text) <= SMALL.chars
    assert len(page.links) <= SMALL.links


def test_nothing_of_an_honest_page_is_too_much() -> None:
    page = read(ARTICLE + '<a href="/2">more of it</a>' * 40)
    assert (page.kind, page.bounds) == (PageKind.ARTICLE, ())
    assert page.extraction.text.count(PROSE) == 6


def test_article_that_runs_on_where_reading_ended_is_not_stored() -> None:
    page = read("<h1>多</h1><article>" + f"<p>{PROSE}</p>" * 5_000 + "</article>")
    assert (page.kind, page.reason, page.extraction.text) == (PageKind.OTHER, PageReason.TOO_LARGE, "")


def test_article_before_too_much_else_is_whole() -> None:
    page = read(f"<article>{ARTICLE}</article>" + "<i></i>" * 5_000)
    assert page.kind is PageKind.ARTICLE
    assert page.extraction.text.count(PROSE) == 6
    assert page.bounds


def test_long_titles_and_descriptions() -> None:
    long = "题" * 1_000_000
    page = read(
        f"<head><title>{long}</title><meta name=description content={long}></head><h1>{long}</h1>{ARTICLE}",
        PageLimits(),
    )
    assert len(page.metadata.title) <= 500
    assert len(page.metadata.summary) <= 1_000


def test_markup_is_cut_before_a_tag() -> None:
    assert cut_tags(b"<a><b><c>", 3) == (b"<a><b><c>", False)
    assert cut_tags(b"<a><b><c>", 2) == (b"<a><b>", True)
    large = b"<p>x" * 300_000
    assert cut_tags(large, 250_000) == (large[:1_000_000], True)


@each_row("join", [b" ", b"\n", b"/", b""])
@each_row("value", [b"", b"=1", b'=""', b"='>'"])
def test_only_tags_of_hundreds_of_attributes_go(join: bytes, value: bytes) -> None:
    if not (join or value[-1:] in {b'"', b"'"}) or (join == b"/" and value == b"=1"):
        pytest.skip("one long name or value")
    huge = b"<div " + join.join(b"a%d%s" % (n, value) for n in range(3_000)) + b">"
    some = b'<div class="x" ' + b"data-x='1' " * 100 + b" " * 3_000 + b">"
    script = b"<script>for(i=0;i<n.length;i++){a=b;" + b"c=d;e(f);" * 3_000 + b"}</script>"
    assert drop_huge_tags(some + huge + b"x" + script) == (some + b"x" + script, True)


@each_row("value", ["NaN", "1e999", "-Infinity", "9" * 4_000])
def test_numbers_that_are_none(value: str) -> None:
    body = f'<script type="application/ld+json">{{"@type":"NewsArticle","headline":{value}}}</script><p>x</p>'
    assert read_structured(parse(body.encode(), "http://h.cn/")).headline == ""


LOL = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
DTD = f'<?xml version="1.0"?><!DOCTYPE u [<!ENTITY a0 "lol">{LOL}<!ENTITY f SYSTEM "file:///etc/passwd">'


@each_row("loc", ["&a9;", "http://h.cn/&f;", "&f;"])
@each_row("default", ["", '<!ATTLIST url x CDATA "&a8;">', '<!ENTITY % p SYSTEM "http://h.cn/dtd">%p;'])
def test_document_types_are_passed_over(loc: str, default: str) -> None:
    body = f"{DTD}{default}]><urlset><url><loc>{loc}</loc></url><url><loc>http://h.cn/good</loc></url></urlset>"
    start = time.process_time()
    urls = parse_sitemap(body.encode(), "http://h.cn/sitemap.xml").links.urls
    assert time.process_time() - start < 2
    assert urls[-1] == "http://h.cn/good"
    assert not any("lol" in url or "root" in url for url in urls)


def test_sitemaps_of_too_many_entries_say_so() -> None:
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(60)) + b"</urlset>"
    found = parse_sitemap(body, "http://h.cn/s.xml", PageLimits(file_entries=50))
    assert (len(found.links), found.is_cut) == (50, True)
    assert not parse_sitemap(body, "http://h.cn/s.xml", PageLimits(file_entries=60)).is_cut
