"""Readings above characters, as pages of schools, news for learners and Taiwan write them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.document.ruby import drop_readings
from pipelines.document.structured_data import read
from pipelines.links.feeds import clean_title
from pipelines.parse_page import parse_page
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TOKENS = [
    "<ruby>",
    "</ruby>",
    "<rb>",
    "<rt>",
    "</rt>",
    "<rp>",
    "</rp>",
    "<rtc>",
    "</rtc>",
    "<p>",
    "</p>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "字",
    " ",
    "\n",
    "<b>",
    "</b>",
]


@each_row(
    ("markup", "text"),
    [
        ("<ruby>港<rt>みなと</rt></ruby>をまたぐ", "港をまたぐ"),
        ("<ruby>橋<rp>(</rp><rt>はし</rt><rp>)</rp></ruby>が", "橋が"),
        ("<ruby><rb>橋</rb><rt>はし</rt></ruby>が", "橋が"),
        ("<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>へ", "東京へ"),
        ("<ruby><rb>東</rb><rb>京</rb><rt>とう</rt><rt>きょう</rt></ruby>へ", "東京へ"),
        ("<ruby>東<rp>(<rt>とう<rp>)</rp>京<rt>きょう</ruby>へ", "東京へ"),
        ("<ruby>東<rt>とう<rb>京<rt>きょう</ruby>へ", "東京へ"),
        ("<ruby><rb>旧<rb>金<rb>山<rt>jiù<rt>jīn<rt>shān<rtc>San Francisco</ruby>的", "旧金山的"),
        ("<ruby>北<rtc><rt>ㄅ</rt><rt>ㄟˇ</rt></rtc></ruby>門", "北門"),
        ("<ruby>學<rt>ㄒㄩㄝˊ</rt></ruby><ruby>校<rt>ㄒㄧㄠˋ</rt></ruby>", "學校"),
        ("<ruby><ruby>攻<rt>こう</rt>殻<rt>かく</rt></ruby><rt>Ghost</rt></ruby>の", "攻殻の"),
        ("<ruby>漢<rt><span>かん</span></rt><b>字</b><rt>じ</rt></ruby>", "漢字"),
        ("<ruby>\n  <rb>東</rb> <rb>京</rb>\n  <rp>(</rp><rt>とう</rt> <rt>きょう</rt><rp>)</rp>\n</ruby>へ", "東京へ"),
        ("<ruby>World Wide Web<rt>WWW</rt></ruby> is", "World Wide Web is"),
        ("<RUBY>港<RT>みなと</RT></RUBY>", "港"),
        ("港<rt>みなと</rt>", "港みなと"),
    ],
)
def test_readings_are_left_out(markup: str, text: str) -> None:
    assert parse(f"<p>{markup}</p>".encode(), "http://e.com/").blocks.texts == [text]


@each_row(
    "markup",
    [
        "<p><ruby>東<rt>とう<p>次の段落</p>",
        "<p><ruby>東<rt>とう</p><p>次の段落</p>",
        "<div><ruby>東<rt>とう</div>次の段落",
    ],
)
def test_ruby_without_end_takes_no_other_block(markup: str) -> None:
    assert parse(markup.encode(), "http://e.com/").blocks.texts == ["東", "次の段落"]


def test_scripts_and_comments_are_no_ruby() -> None:
    markup = '<script>a = "<ruby>港<rt>b"</script><!-- <ruby><rt> --><p>港 <style>.a{} <ruby></style>橋</p>'
    assert drop_readings(markup) == markup


def test_page_with_readings() -> None:
    """In headline, text, links, captions, data and what is stored as HTML; what metas say stays as it is."""
    rt = "<ruby>港<rp>（</rp><rt>みなと</rt><rp>）</rp></ruby>"
    line = "をまたぐ新しい橋が四年の工事を終えて火曜日の朝に開通し、数百人の市民が歩いて渡りました。"
    body = (
        '<html lang="ja"><head><title>港の橋が開通</title><meta name="description" content="港（みなと）の橋です。">'
        f'<meta name="author" content="山田太郎（やまだたろう）"></head><body><article><h1>{rt}の橋が開通</h1>'
        f'<p>{rt}{line}<a href="/kako">{rt}の過去の記事</a></p><figure><img src="/a.jpg" alt="橋">'
        f"<figcaption>{rt}の橋</figcaption></figure><pre>{rt}\n　橋</pre><p>{rt}{line}</p></article></body></html>"
    )
    page = parse_page(body.encode(), "http://e.com/news/2024/06/01/hashi.html", fetched_at=NOW)
    assert page.metadata.title == "港の橋が開通"
    assert page.extraction.text.startswith(f"港{line}港の過去の記事")
    assert "港の過去の記事" in page.links.anchors
    assert "みなと" not in page.extraction.html
    assert page.metadata.summary == "港（みなと）の橋です。"


def test_data_with_readings() -> None:
    data = {"@type": "NewsArticle", "articleBody": "<ruby>港<rt>みなと</rt></ruby>の橋"}
    page = f'<script type="application/ld+json">{json.dumps(data)}</script>'.encode()
    assert read(parse(page, "http://e.com/")).body.split() == ["港の橋"]
    assert clean_title("&lt;ruby&gt;港&lt;rt&gt;みなと&lt;/rt&gt;&lt;/ruby&gt;の橋") == "港の橋"


@given(st.lists(st.sampled_from(TOKENS), max_size=40).map("".join))
def test_readings_of_any_markup(markup: str) -> None:
    """What is left is a part of the page in its order, and has no ruby when no comment or script is in it."""
    found = drop_readings(markup)
    left = iter(markup)
    assert all(char in left for char in found)
    if "<!--" not in markup and "<script>" not in markup:
        assert "<ruby>" not in found
        assert drop_readings(found) == found


def test_cost_is_linear() -> None:
    """Deeply nested and never closed: a square of this would take hours."""
    many = 50_000
    for part in ("<ruby>", "<ruby><rt>", "<ruby><rb> \n", "<ruby><rtc>", "</ruby><ruby>a\n"):
        assert len(drop_readings(part * many)) < 3 * many
