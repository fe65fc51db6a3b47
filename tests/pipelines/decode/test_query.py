"""Queries in the character set of their page, as browsers send them."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import unquote_to_bytes

from pipelines.decode.charset import read, write
from pipelines.decode.query import escape_query
from pipelines.document.document import parse
from pipelines.links.feeds import parse_feed
from pipelines.links.sitemaps import parse_sitemap
from pipelines.parse_page import parse_page
from pipelines.urls import canonicalize
from tests.table import each_row

URL = "http://h.cn/list/"
TEXT = {
    "gbk": "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。",
    "big5": "山城咖啡季將於本週末在舊車站廣場登場，三十多家烘豆店擺攤。",
    "shift_jis": "川沿いの古い駅が図書館になりました。昨日、市長が発表した。",
    "euc_jp": "川沿いの古い駅が図書館になりました。昨日、市長が発表した。",
    "euc_kr": "시청은 어제 새로운 지하철 노선을 밝혔다. 공사는 내년에 끝난다.",
    "windows-1251": "Городской совет вчера объявил о строительстве новой линии метро.",
    "koi8-r": "Городской совет вчера объявил о строительстве новой линии метро.",
    "iso-8859-1": "Die Stadt eröffnete gestern die neue Straße über den großen Fluß.",
}
"""Enough of a language to tell the set by."""


@each_row("codec", TEXT)
def test_links_of_a_page_are_sent_back_in_its_set(codec: str) -> None:
    text = TEXT[codec]
    word = text[:3]
    links = f'<a href="/{word}?tag={word}&amp;p=1#{word}">{word}</a> <a href="?q=☃{word}">b</a>'
    head = f'<meta charset="{codec}"><link rel="canonical" href="/c?tag={word}">'
    body = f"<html><head>{head}</head><body><p>{text * 8}</p>{links}</body></html>"
    page = parse_page(body.encode(codec, "xmlcharrefreplace"), URL, fetched_at=datetime(2024, 1, 1, tzinfo=UTC))
    sent, odd = (unquote_to_bytes(url.partition("?")[2]) for url in page.links.urls)
    assert sent == b"tag=" + word.encode(codec) + b"&p=1"
    assert odd == b"q=" + f"☃{word}".encode(codec, "xmlcharrefreplace")
    assert unquote_to_bytes(page.links.urls[0].partition("?")[0]).decode() == f"http://h.cn/{word}"
    assert page.metadata.canonical == canonicalize("/c?" + page.links.urls[0].partition("?")[2].partition("&")[0], URL)


@each_row(
    ("declared", "codec", "query"),
    [
        ("gb2312", "gbk", "%B8%DB%BF%DA"),
        ("GBK", "ascii", "%B8%DB%BF%DA"),
        ("big5", "ascii", "%B4%E4%A4f"),
        ("utf-8", "ascii", "%E6%B8%AF%E5%8F%A3"),
        ("", "ascii", "%E6%B8%AF%E5%8F%A3"),
        ("gbk", "utf-8", "%E6%B8%AF%E5%8F%A3"),
        ("utf-16", "utf-16", "%E6%B8%AF%E5%8F%A3"),
    ],
)
def test_declaration_counts_where_no_byte_tells_the_set(declared: str, codec: str, query: str) -> None:
    said = f'<meta charset="{declared}">' if declared else ""
    text = TEXT["gbk"] if codec != "ascii" else "plain"
    body = f"{said}<base href='/a/?b=港'><p>{text}</p><a href='?q=港口'>x</a>".encode(codec, "xmlcharrefreplace")
    document = parse(body, URL)
    assert document.resolve("?q=港口") == f"http://h.cn/a/?q={query}"
    assert document.resolve("") == f"http://h.cn/a/?b={query[: query.index('%', 4) if query[1] == 'B' else 9]}"


@each_row(
    ("text", "codec", "query"),
    [
        ("€", "gbk", "%80"),
        ("㐂", "gbk", "%26%2313314%3B"),
        ("丂", "gbk", "%81@"),
        ("功", "big5hkscs", "%A5%5C"),
        ("①", "euc_jp", "%AD%A1"),
        ("丂", "euc_jp", "%26%2319970%3B"),
        ("☃&é", "cp1251", "%26%239731%3B&%26%23233%3B"),
        ("港\u3000", "gbk", "%B8%DB"),
        ("港口", "utf-8", "%E6%B8%AF%E5%8F%A3"),
    ],
)
def test_reference_stands_for_what_a_set_does_not_hold(text: str, codec: str, query: str) -> None:
    assert canonicalize(escape_query(f"/x?{text}", codec), URL) == f"http://h.cn/x?{query}"


@each_row("codec", ["gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"])
def test_characters_are_written_as_they_were_read(codec: str) -> None:
    pairs = [bytes((first, second)) for first in range(0xA4, 0xF4, 3) for second in range(0xA1, 0xFC)]
    texts = {pair: text for pair in pairs if len(text := read(pair, codec)) == 1 and text != "\ufffd"}
    assert len(texts) > 400
    changed = [pair for pair, text in texts.items() if read(write(text, codec), codec) != text]
    assert changed == []


def test_feeds_and_sitemaps_are_in_a_set_too() -> None:
    for codec, query in (("gbk", "%B8%DB"), ("utf-8", "%E6%B8%AF")):
        start, text = f'<?xml version="1.0" encoding="{codec}"?>', TEXT["gbk"]
        feed = f"{start}<rss><item><title>{text}</title><link>http://h.cn/a?q=港</link></item></rss>".encode(codec)
        assert parse_feed(feed, URL).urls == (f"http://h.cn/a?q={query}",)
        sitemap = f"{start}<urlset><!--{text}--><url><loc>/a?q=港</loc></url></urlset>".encode(codec)
        assert parse_sitemap(sitemap, URL).links.urls == (f"http://h.cn/a?q={query}",)
