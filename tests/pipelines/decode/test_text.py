"""What is stored holds nothing that acts, hides or breaks a line; else it is what the page says."""

# ruff: noqa: E501 - markup as it comes

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.decode.text import clean, strip_invisible
from pipelines.links.feeds import parse_feed
from pipelines.parse_page import parse_page
from pipelines.records import ParseResult
from tests.table import each_row

NOW = datetime(2024, 6, 1, tzinfo=UTC)
HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff"
    "\U0001d173\U0010ffff\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)
SIGNS = "\U0001d173\U0010ffff\U000e0fff\x00\x07\x1b[31m\x9b\u200b\u202e\u2066\u2069\ufeff\ufffe\u2028\x85\xad\U000e0041"
PROSE = "市政府昨天宣布，新的地铁线路将于明年春天开工建设，全长二十三公里，沿途设十五座车站，预计三年后通车。"


@each_row(
    "text",
    ["نمی‌خواهم کتاب‌ها", "क्‍ष", "👨‍👩‍👧 and ❤️‍🔥", "l’été “naïve” – 3 € ½ ™", "𠮷野家 한국어", "葛󠄀城", "1️⃣ ©️ ✔️ ℹ️"],
)
def test_harmless_characters_stay(text: str) -> None:
    assert clean(text) == strip_invisible(text) == text


@each_row(
    ("text", "left"),
    [
        ("a\u200cb", "ab"),
        ("新\u200d闻", "新闻"),
        ("\u200d", ""),
        ("x\U000e0041y", "xy"),
        ("a\ufe0fb", "ab"),
        ("😀\ufe0f\ufe0e\U000e0148\U000e0155", "😀\ufe0f"),
        ("新\U000e0100\U000e0101闻", "新\U000e0100闻"),
        ("😀\u200d\u200d\u200dx", "😀x"),
        ("a\U000e0fff\U0001d173\U0001bca0\U0001ffffb", "ab"),
    ],
)
def test_joiners_that_join_nothing_go(text: str, left: str) -> None:
    assert clean(text) == left


@given(st.text(st.characters(), max_size=60))
def test_any_text(text: str) -> None:
    found = clean(text)
    assert not HARMFUL.search(found)
    assert clean(found) == found
    assert not re.search(r"[\r\n\t]", found)


def strings(page: ParseResult) -> list[str]:
    meta = page.metadata
    single = [meta.title, *meta.authors, meta.source, meta.summary, *meta.keywords, meta.section, *page.links.anchors]
    assert not any(re.search(r"[\r\n\t]", each) for each in single)
    return [*single, page.extraction.text, page.extraction.html, *page.links.urls, *page.feeds, meta.canonical]


def test_no_field_of_a_page_holds_what_acts() -> None:
    title = f"地铁{SIGNS}新线\n明年\t开工"
    data = f'{{"@type":"NewsArticle","headline":"{title}","author":[{{"name":"王{SIGNS}明"}}]}}'.replace("\n", "\\n")
    page = parse_page(
        f"""<html><head><title>{title}</title><meta name="author" content="王小明{SIGNS}">
<meta name="description" content="{SIGNS}摘要"><meta name="keywords" content="地铁{SIGNS},交通">
<script type="application/ld+json">{data}</script></head><body><h1>{title}</h1><p>来源：新华{SIGNS}社 记者 王小{SIGNS}明</p>
<article>{"".join(f"<p>{SIGNS}{PROSE}{n}{SIGNS}</p>" for n in range(6))}<pre>a{SIGNS}b\nc</pre>
<img src="/p.jpg" alt="图{SIGNS}片说明"></article><a href="/2{SIGNS}" title="下一{SIGNS}条\n新闻"></a></body></html>""".encode(
            "utf-8", "surrogatepass"
        ),
        "http://h.cn/a/1.html",
        fetched_at=NOW,
    )
    assert PROSE in page.extraction.text
    for text in strings(page):
        assert not HARMFUL.search(text), ascii(text)
        assert all(unicodedata.category(sign) != "Cs" for sign in text)


def test_titles_of_feeds() -> None:
    feed = f"<rss><item><link>http://h.cn/1</link><title>头条{SIGNS[1:]}\n新闻</title></item></rss>"
    (anchor,) = parse_feed(feed.encode("utf-8", "surrogatepass"), "http://h.cn/rss").anchors
    assert not HARMFUL.search(anchor)


@each_row("half", ["&#xD800;", "&#xdFfF", "&#55296;", "&#057343;", "&#xFFFE;", "&#0;", "&#x110000;", "&#27;"])
def test_feeds_with_references_to_no_sign(half: str) -> None:
    feed = f"<rss><item><link>http://h.cn/1</link><title>头{half}条&#65281;&#xFF01;&#57344;</title></item></rss>"
    links = parse_feed(feed.encode(), "http://h.cn/rss")
    assert links.urls == ("http://h.cn/1",)
    assert not HARMFUL.search(links.anchors[0])
    assert links.anchors[0].endswith("条！！\ue000")


@each_row(
    "markup",
    [
        '<a href="javascript:alert(1)">x</a>', '<a href=" java\nscript:alert(1)">x</a>', '<a href="data:text/html,x">x</a>',
        '<a href="vbscript:x">x</a>', '<img src="x" onerror="alert(1)">', '<svg onload="alert(1)"><p>x</p></svg>',
        '<p style="background:url(javascript:x)" onclick="x">x</p>', "<script>alert(1)</script>", "<iframe src=//x></iframe>",
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>', '<math><mtext><style><img src onerror=x>',
        '<p title="&quot;><script>alert(1)</script>">x</p>', "&lt;script&gt;alert(1)&lt;/script&gt;",
        '<img src="javascript:alert(1)" alt="&quot; onerror=&quot;alert(1)">', '<form action="javascript:x"><input></form>',
        '<base href="javascript:/x/"><a href="alert(1)">x</a>', "<object data=x></object><embed src=x><link rel=stylesheet href=x>",
    ],
)  # fmt: skip
def test_html_holds_nothing_that_runs(markup: str) -> None:
    body = f"<article><h1>标题</h1>{f'<p>{PROSE}</p>' * 3}<p>{PROSE}{markup}</p>{f'<p>{PROSE}</p>' * 3}</article>"
    html = parse_page(body.encode(), "http://h.cn/a/1.html", fetched_at=NOW).extraction.html
    assert PROSE in html
    tags = re.findall(r"<([^<>]*)>", html)
    allowed = (
        r"/?(?:p|h[2-6]|ul|ol|li|blockquote|pre|table|tr|th|td|br|figure|figcaption)|/?a|a href=\"https?://[^\"<>]*\""
    )
    for tag in tags:
        assert re.fullmatch(allowed + r"|img src=\"https?://[^\"<>]*\"(?: alt=\"[^\"<>]*\")?", tag), tag
