"""Parsing: encodings, broken markup, bounds, and the numbers of the one walk."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.decode.encoding import decode
from pipelines.decode.text import clean
from pipelines.document.document import parse
from pipelines.document.limits import DEFAULT
from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
CHINESE = "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。"
TRADITIONAL = "山城咖啡季將於本週末在舊車站廣場登場，三十多家烘豆店擺攤。"


@each_row(
    ("body", "header", "codec", "text"),
    [
        (CHINESE.encode("gbk"), "text/html; charset=utf-8", "gb18030", CHINESE),
        (CHINESE.encode("gb18030"), "", "gb18030", CHINESE),
        (b'<meta charset="gb2312">' + CHINESE.encode("gbk"), "", "gb18030", CHINESE),
        (b'<meta charset="gb-2312x">' + CHINESE.encode("gbk"), "", "gb18030", CHINESE),
        (b'<meta charset="gb2312">' + CHINESE.encode(), "", "utf-8", CHINESE),
        (b'<meta charset="big5">' + TRADITIONAL.encode("big5"), "", "big5hkscs", TRADITIONAL),
        (b"\xef\xbb\xbf" + CHINESE.encode(), "text/html; charset=gbk", "utf-8", CHINESE),
        (b"\xff\xfe" + CHINESE.encode("utf-16-le"), "", "utf-16", CHINESE),
        ("Füße über Straßen".encode("latin-1"), "text/html; charset=iso-8859-1", "cp1252", "Füße über Straßen"),
    ],
)
def test_encoding(body: bytes, header: str, codec: str, text: str) -> None:
    found, name = decode(body, header)
    assert text in found
    assert name == codec


def test_counts_of_a_small_tree() -> None:
    document = parse("<body><div><p>一二，三</p><p>四<a href=/x>五六</a></p></div></body>".encode(), "http://e.com/")
    node = document.tags.index("div")
    assert (document.T[node], document.LT[node], document.Sb[node]) == (7, 2, 1)
    assert (document.TG[node], document.LTG[node], document.P[node]) == (4, 1, 2)
    assert document.blocks.texts == ["一二，三", "四五六"]
    assert document.links == [(document.tags.index("a"), "/x", "", "五六", 1)]
    assert document.ends[node] == len(document.tags)


def test_text_behind_an_early_end_is_kept() -> None:
    document = parse(b"<html><body><p>first part</p></body></html><p>second part</p>", "http://e.com/")
    assert document.blocks.texts == ["first part", "second part"]


@each_row(
    ("written", "read"),
    [
        ('"?x=1&copy=2"', "?x=1&copy=2"),
        ('"?cat=2&id=41&reg=3&lt=4&notit=5"', "?cat=2&id=41&reg=3&lt=4&notit=5"),
        ('"?a=1&amp;b=2&ampc=3&sectx"', "?a=1&b=2&ampc=3&sectx"),
        ("?x=1&copy=2", "?x=1&copy=2"),
        ('"?x=1&copy;=2&para"', "?x=1©=2¶"),
    ],
)
def test_references_in_addresses_are_read_as_browsers_do(written: str, read: str) -> None:
    # HTML Standard, 13.2.5.73: without a semicolon and before `=`, a letter or a figure it is no reference
    document = parse(f"<a href={written}>x</a>".encode(), "http://e.com/")
    assert document.links[0][1] == read


def test_body_without_a_tag_begins_with_the_first_element_that_is_of_no_head() -> None:
    page = b"<title>t</title><meta name=a content=b><article><h1>Bridge</h1><p>first</p></article><footer>last</footer>"
    assert parse(page, "http://e.com/").blocks.texts == ["Bridge", "first", "last"]


def test_lines_between_breaks_are_blocks() -> None:
    assert parse(b"<div>one<br>two<br><br>three</div>", "http://e.com/").blocks.texts == ["one", "two", "three"]


def test_scripts_and_comments_are_no_text() -> None:
    body = b"<p>a<!-- x -->b<script>var c</script>d<style>e</style></p>"
    document = parse(body, "http://e.com/")
    assert document.blocks.texts == ["abd"]
    assert document.scripts == ["var c"]


@each_row("body", [b"", b"   ", b"<!-- -->", b"\x00\x00", b"<html>", b"<frameset><frame src=a></frameset>"])
def test_nearly_nothing(body: bytes) -> None:
    page = parse_page(body, "http://e.com/a.html", fetched_at=NOW)
    assert page.extraction.text == ""
    assert page.reason


def test_bare_text_is_text() -> None:
    assert parse(CHINESE.encode(), "http://e.com/").blocks.texts == [CHINESE]


@each_row("tag", ["div", "b", "x", "a href=/", "table><tr><td", "p><i"])
@pytest.mark.slow
def test_deep_nesting_is_bounded(tag: str) -> None:
    body = (f"<{tag}>" * 300_000 + "</div>" * 1000 + f"<p>{CHINESE}</p>").encode()
    start = time.process_time()
    page = parse_page(body, "http://e.com/a.html", fetched_at=NOW)
    assert time.process_time() - start < 5
    assert page.encoding == "utf-8"


def test_text_after_deep_nesting_is_found() -> None:
    body = ("<div>" * 5000 + "</div>" * 5000 + f"<p>{CHINESE}</p>").encode()
    assert CHINESE in parse(body, "http://e.com/").blocks.texts


@given(st.binary(max_size=400))
def test_any_bytes(body: bytes) -> None:
    page = parse_page(body, "http://e.com/a.html", fetched_at=NOW)
    assert bool(page.extraction.text) == (page.reason is None)


MARKUP = st.lists(
    st.sampled_from(
        [
            "<p>", "</p>", "<div class=nav>", "</div>", "<a href='/x'>", "</a>", "<br>", "<table><tr><td>",
            "</table>", "<h1>", "</h1>", "<ul><li>", "</ul>", "<script>", "</script>", "<title>",
            "</title>", CHINESE, "text, here.", "\u202e", "&#xd800;", "&#0;", "2024-03-12 08:30", "作者：王小明",
            "<base href='http://[/'>", "<meta name=author content=x>", "<link rel=canonical href='//'>",
            "<iframe src='/f'>", "<td>", "</html>", "相关新闻",
        ]
    ),
    max_size=60,
)  # fmt: skip


@given(MARKUP)
def test_any_markup(parts: list[str]) -> None:
    body = "".join(parts).encode("utf-8", "replace")
    page = parse_page(body, "http://e.com/a/1.html", fetched_at=NOW)
    assert page == parse_page(body, "http://e.com/a/1.html", fetched_at=NOW)
    for text in (page.metadata.title, *page.metadata.authors, page.extraction.text):
        assert not any("\u202a" <= sign <= "\u202e" or "\ud800" <= sign <= "\udfff" or sign == "\x00" for sign in text)
    assert len(page.metadata.title) <= 500
    assert "\n" not in page.metadata.title
    assert len(page.links.urls) == len(set(page.links.urls)) == len(page.links.anchors) == len(page.links.blocks)


@given(st.text())
def test_clean_is_idempotent_and_one_line(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert "\n" not in once


def test_clean_removes_what_cannot_be_seen() -> None:
    assert clean("\u200ba\x00\u202eb\u2066\ud800\ufeff c\n d\xad") == "ab c d"
    assert clean("abcdef", 3) == "abc"


def test_tag_of_a_million_attributes_is_left_out() -> None:
    huge = b"<div " + b" ".join(b"a%d=1" % number for number in range(1_000_000)) + b">"
    start = time.process_time()
    document = parse(b"<p>before</p>" + huge + b"<p>behind</p>", "http://e.com/")
    assert time.process_time() - start < 5
    assert document.blocks.texts == ["before", "behind"]


def test_long_tag_of_one_attribute_stays() -> None:
    document = parse(b"<p>a <img alt=x src='data:image/png;base64," + b"A" * 50_000 + b"'> b</p>", "http://e.com/")
    assert document.blocks.texts == ["a b"]
    assert len(document.images) == 1


def test_text_behind_an_element_is_bounded_too() -> None:
    document = parse(b"<p><b>x</b>" + b"word " * 300_000 + b"</p>", "http://e.com/")
    assert sum(map(len, document.blocks.texts)) <= DEFAULT.chars


PROSE = "The ferry crossed the strait on Monday in heavy rain, and nobody on board was hurt."


def test_rest_of_the_page_in_a_button_is_read() -> None:
    menu = '<button class="menu"><div>Menu<div></button>'
    page = f"<body><header>{menu}</header><main><h1>The ferry</h1><p>{PROSE}</p></main><footer>Imprint</footer></body>"
    assert "Menu" not in parse(b"<button><p>Menu</p></button><p>text</p>", "http://e.com/").blocks.texts
    assert {"The ferry", PROSE} <= set(parse(page.encode(), "http://e.com/").blocks.texts)


def test_text_in_noscript_is_read_where_it_is_the_page() -> None:
    inner = f"<p>{PROSE}</p><p>{PROSE[::-1]}</p><style>p {{color: red}}</style><a href='/more'>more</a>"
    document = parse(f"<body><div id=app></div><noscript>{inner}</noscript></body>".encode(), "http://e.com/")
    assert document.blocks.texts == [PROSE, PROSE[::-1], "more"]
    assert [link[1] for link in document.links] == ["/more"]


@each_row(
    ("shown", "hidden"),
    [
        (f"<p>{PROSE} {PROSE}</p><p>{PROSE[::-1]}</p>", f"<noscript><p>{PROSE}</p><p>{PROSE[::-1]}</p></noscript>"),
        (f"<p>{PROSE}</p>", "<noscript><p>Enable JavaScript.</p><p>Then come back.</p></noscript>"),
        (f"<p>{PROSE}</p>", f"<noscript><style>{'a{color:red}' * 99}</style><p>Script?</p><p>Yes!</p></noscript>"),
        (f"<p>{PROSE}</p>", f"<noscript><p>{PROSE * 9}</p></noscript>"),
        (f"<p>{PROSE}</p>", f"<template><p>{PROSE * 9}</p><p>{PROSE * 9}</p></template>"),
    ],
)
def test_copies_for_readers_without_scripts_are_not_read(shown: str, hidden: str) -> None:
    alone = parse(f"<body>{shown}</body>".encode(), "http://e.com/")
    assert parse(f"<body>{shown}{hidden}</body>".encode(), "http://e.com/").blocks.texts == alone.blocks.texts
