"""What holds for every extractor: layouts of news pages, hostile input, and the shape of the result."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.reasons import PageReason
from pipelines.document.document import Document, parse
from pipelines.extract import EXTRACTORS, extractor
from pipelines.extract.weighted import Params as WeightedParams
from pipelines.extract.weighted import Preset, extract
from pipelines.records import Extraction
from tests.table import each_row

EVERY = each_row("name", sorted(EXTRACTORS))

LINES = [
    "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段，预计十二月向社会车辆开放，届时将免费通行一年。",
    "大桥全长两千四百米，设双向六车道，两侧各有人行道，可以抵御百年一遇的洪水，由三家单位联合设计。",
    "负责施工的工程师说，最难的是深水区的三座主墩，水流急，工期短，每天只有两个小时的平潮期可以作业。",
    "通车以后，两岸居民过江只要五分钟，不再绕行三十公里，沿江的两个镇也将开通新的公交线路，方便出行。",
]
MENU = "".join(f"<li><a href='/{at}/'>频道{at}</a></li>\n" for at in range(12))
NEWS = "".join(f"<li><a href='/n/{at}.html'>别处的另一条新闻标题第{at}号</a></li>\n" for at in range(12))
LAYOUTS = {
    "paragraphs": "<div id=c>\n" + "".join(f"<p>{line}</p>\n" for line in LINES) + "</div>",
    "breaks": "<div id=c>\n" + "<br><br>\n".join(LINES) + "\n</div>",
    "cells": "<table><tr><td>\n" + "<br>\n".join(f"　　{line}" for line in LINES) + "\n</td></tr></table>",
    "divs": "<div id=c>\n" + "".join(f"<div>{line}</div>\n" for line in LINES) + "</div>",
}


def page(body: str) -> Document:
    head = "<html><head><title>河口大桥年底通车 - 河口在线</title></head><body>\n"
    menu, news = f"<ul class=nav>\n{MENU}</ul>\n", f"\n<div class=side><h3>热点新闻</h3><ul>\n{NEWS}</ul></div>\n"
    return parse(f"{head}{menu}<h1>河口大桥年底通车</h1>\n{body}{news}</body></html>".encode(), "http://e.com/n/1.html")


@EVERY
@each_row("layout", sorted(LAYOUTS))
def test_text_of_a_plain_page(name: str, layout: str) -> None:
    found = extractor(name)(page(LAYOUTS[layout]))
    lines = found.text.split("\n")
    assert [line for line in lines if line in LINES] == LINES
    assert "另一条新闻" not in found.text
    assert not any(line.startswith("频道") for line in lines)


@EVERY
def test_markup_on_one_line(name: str) -> None:
    body = LAYOUTS["paragraphs"].replace("\n", "")
    assert "\n".join(LINES) in extractor(name)(page(body)).text


@EVERY
def test_shape_of_a_result(name: str) -> None:
    document = page(LAYOUTS["paragraphs"])
    found = extractor(name)(document)
    assert list(found.blocks) == sorted(set(found.blocks))
    assert found.text == "\n".join(document.blocks.texts[index] for index in found.blocks)
    assert len(found.scores) == len(document.blocks)
    assert 0 < found.confidence <= 1
    assert found.html.count("<p>") >= len(LINES)
    assert found == extractor(name)(document)


@EVERY
@each_row("body", [b"", b" ", b"<html>", b"<script>x</script>", b"<frameset><frame src=a></frameset>"])
def test_page_without_text(name: str, body: bytes) -> None:
    assert extractor(name)(parse(body, "")) == Extraction(reason=PageReason.NO_TEXT)


@EVERY
def test_text_that_is_too_short(name: str) -> None:
    found = extractor(name, {"min_chars": 10_000})(page(LAYOUTS["paragraphs"]))
    assert (found.text, found.reason) == ("", "text too short")


@EVERY
def test_page_of_links(name: str) -> None:
    assert len(extractor(name)(parse(f"<body><ul>{MENU}{NEWS}</ul></body>".encode(), "")).text) < 100


HEADED = f"<title>{LINES[0] * 20}</title>" + "".join(
    f"<h3>{at}节</h3><p>{LINES[1]}</p><p>短{at}</p>" for at in range(4000)
)
MARKUP = st.lists(
    st.sampled_from(
        [
            "<p>", "</p>", "<div class=nav>", "<div>", "</div>", "<a href='/x'>", "</a>", "<br>", "<table><tr><td>",
            "</table>", "<h1>", "</h1>", "<ul><li>", "</ul>", "<script>", "</script>", "<title>", "</title>", "<!--",
            "-->", "<form>", "<div hidden>", "<b>", "&nbsp;", "&#0;", "\u202e", "\n", "\n\n\n", "<", ">", "&lt;", "_",
            "<svg>", "<textarea>", "</body>", "<body>", "text, here.", LINES[0], LINES[1], "河口大桥年底通车",
        ]
    ),
    max_size=50,
)  # fmt: skip


@given(MARKUP)
def test_any_markup(parts: list[str]) -> None:
    document = parse("".join(parts).encode("utf-8", "replace"), "")
    for name in EXTRACTORS:
        found = extractor(name, {"min_chars": 1})(document)
        assert bool(found.blocks) != bool(found.reason)
        assert all(0 <= index < len(document.blocks) for index in found.blocks)
    extract(document, WeightedParams(Preset.WUQI2011))


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes) -> None:
    document = parse(body, "")
    for name in EXTRACTORS:
        found = extractor(name)(document)
        assert bool(found.text) != bool(found.reason), name


@EVERY
@each_row(
    "body",
    [
        "<" * 400_000,
        "<!--" * 100_000,
        "<script>" * 50_000,
        "<p>" * 100_000 + LINES[0],
        f"<p>{LINES[0]}</p>" * 20_000,
        "&nbsp;" * 100_000 + LINES[0],
        "<div>" * 400 + LINES[0] * 20_000,
        "\n" * 500_000 + LINES[0],
        HEADED,
    ],
)
@pytest.mark.slow
def test_huge_pages_take_linear_time(name: str, body: str) -> None:
    document = parsed(body)
    start = time.process_time()
    extractor(name)(document)
    assert time.process_time() - start < 3


@cache
def parsed(body: str) -> Document:
    """Read a huge page once for all methods."""
    return parse(body.encode(), "")


@EVERY
def test_each_names_its_source(name: str) -> None:
    module = EXTRACTORS[name][0].__module__
    source = (Path(__file__).parents[3] / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    assert "Source:" in source
    assert "Differs:" in source
