"""Sitemaps: XML, text and packed forms; bombs and pages give nothing."""

import gzip
import time
import tracemalloc
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.limits import DEFAULT
from pipelines.links.feeds import open_xml
from pipelines.links.sitemaps import Sitemap, looks_like_sitemap, parse_sitemap
from pipelines.records import BlockKind
from pipelines.urls import canonicalize
from tests.table import each_row

URL = "https://h.cn/sitemap.xml"

PAGES = """<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="/s.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"
 xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc> https://h.cn/1?a=1&amp;b=2 </loc><lastmod>1970-01-02</lastmod><priority>0.5</priority></url>
<url><image:image><image:loc>https://h.cn/1.jpg</image:loc></image:image><loc>/2</loc>
  <lastmod>1970-01-05T00:00:00Z</lastmod><xhtml:link rel="alternate" hreflang="en" href="https://h.cn/en"/>
  <news:news><news:publication><news:name>n</news:name></news:publication>
  <news:publication_date>1970-01-03T00:00:00Z</news:publication_date>
  <news:title>标题 &amp; 二</news:title></news:news></url>
<url><loc>https://h.cn/1?a=1&amp;b=2</loc></url>
<url><loc>mailto:a@h.cn</loc></url><url/>
</urlset>""".encode()

INDEX = b"""<sitemapindex><sitemap><loc>https://h.cn/s1.xml.gz</loc><lastmod>2024-01-01</lastmod></sitemap>
<!-- old --><sitemap><loc>s2.xml</loc></sitemap><sitemap><loc>https://h.cn/s1.xml.gz</loc></sitemap></sitemapindex>"""


@each_row(
    "body",
    [
        PAGES,
        b"\xef\xbb\xbf" + PAGES,
        PAGES.replace(b' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"', b""),
        PAGES.decode().encode("gb18030"),
        PAGES.decode().replace("UTF-8", "utf-16").encode("utf-16"),
        gzip.compress(PAGES, mtime=0),
        gzip.compress(gzip.compress(PAGES, mtime=0), mtime=0),
        gzip.compress(PAGES, mtime=0)[:-8],
        PAGES.replace(b"</urlset>", b""),
    ],
)
def test_pages(body: bytes) -> None:
    found = parse_sitemap(body, URL)
    assert found.sitemaps == ()
    assert found.links.urls == ("https://h.cn/1?a=1&b=2", "https://h.cn/2")
    assert found.links.anchors == ("", "标题 & 二")
    assert found.links.dates == (86400.0, 2 * 86400.0)
    assert found.links.changed == (86400.0, 4 * 86400.0)
    assert found.links.blocks == bytes([BlockKind.SITEMAP] * 2)


def test_index() -> None:
    for body in (INDEX, gzip.compress(INDEX, mtime=0)):
        assert looks_like_sitemap(body)
        assert parse_sitemap(body, URL) == Sitemap(sitemaps=("https://h.cn/s1.xml.gz", "https://h.cn/s2.xml"))


def test_addresses_as_they_are_written() -> None:
    entries = "<url><loc>/1</loc><loc>/2</loc><lastmod>2024-03-12</lastmod></url><url><loc>www.h.cn/3</loc></url>"
    entries += "<url><loc>//h.cn/4</loc></url><url><loc></loc><loc>h.cn/5</loc></url><url><loc>www.html</loc></url>"
    found = parse_sitemap(f"<urlset>{entries}</urlset>".encode(), URL).links
    paths = ("h.cn/1", "h.cn/2", "www.h.cn/3", "h.cn/4", "h.cn/h.cn/5", "h.cn/www.html")
    assert found.urls == tuple(f"https://{path}" for path in paths)
    assert found.dates[:2] == (datetime(2024, 3, 12, tzinfo=UTC).timestamp(),) * 2
    assert parse_sitemap(b"www.h.cn/1\nhttp://h.cn/2\n", URL).links.urls == ("https://www.h.cn/1", "http://h.cn/2")


def test_plain_text() -> None:
    body = b"\xef\xbb\xbfhttps://h.cn/1\r\n\r\nhttps://h.cn/2\nnonsense\nHTTP://H.cn/3 \nhttps://h.cn/1\n"
    assert looks_like_sitemap(body)
    assert parse_sitemap(body, URL).links.urls == ("https://h.cn/1", "https://h.cn/2", "http://h.cn/3")


def test_feed_as_sitemap() -> None:
    body = b"<rss><channel><item><title>t</title><link>/a</link></item></channel></rss>"
    assert not looks_like_sitemap(body)
    assert parse_sitemap(body, URL).links.urls == ("https://h.cn/a",)


@each_row(
    "body",
    [
        b"",
        b"<!DOCTYPE html><html><body><url><loc>https://h.cn/1</loc></url></body></html>",
        b"<p>https://h.cn/1\nhttps://h.cn/2</p>",
        b"404 not found",
        b"https://h.cn/1 is the page\n",
        b"\x1f\x8b",
        b"\x1f\x8b" + b"\0" * 100,
        gzip.compress(b"<html></html>", mtime=0),
        b"\x89PNG\r\n",
        b"<urlset",
        b"<urlset>",
    ],
)
def test_nothing(body: bytes) -> None:
    assert parse_sitemap(body, URL) == Sitemap()


@each_row(
    ("body", "sitemap"),
    [
        (PAGES, True),
        (gzip.compress(PAGES, mtime=0), True),
        (PAGES.decode().encode("utf-16"), True),
        (b"<!DOCTYPE html><html>", False),
        (b"<rss>", False),
        (b"http://h.cn/ and more", False),
        (b"\x1f\x8bxx", False),
        (b"", False),
    ],
)
def test_looks_like_sitemap(body: bytes, *, sitemap: bool) -> None:
    assert looks_like_sitemap(body) is sitemap


def test_bomb_is_refused_quickly() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(200)) + packer.flush()
    start = time.process_time()
    assert parse_sitemap(body, URL) == Sitemap(is_cut=True)
    assert time.process_time() - start < 1


def test_bounded() -> None:
    more = range(DEFAULT.file_entries + 100)
    body = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % i for i in more) + b"</urlset>"
    assert len(parse_sitemap(body, URL).links) == DEFAULT.file_entries
    lines = b"".join(b"http://h.cn/%d\n" % i for i in more)
    assert len(parse_sitemap(lines, URL).links) == DEFAULT.file_entries


def test_elements_that_are_no_entries_do_not_pile_up() -> None:
    good = b"<url><loc>/1</loc></url>"
    assert (
        len(
            parse_sitemap(
                b"<urlset>" + b"<x/>" * 10_000 + good + b"<x/>" * 30_000 + b"<url><loc>/2</loc></url>", URL
            ).links
        )
        == 1
    )
    start = time.process_time()
    assert len(parse_sitemap(b"<urlset>" + good + b"<url/>" * 1_000_000, URL).links) == 1
    assert len(parse_sitemap(b"<urlset>" + good + b"<x>a</x>" * 1_000_000, URL).links) == 1
    assert time.process_time() - start < 2


def test_bare_ampersands_part_parameters() -> None:
    entry = "<url><loc>http://h.cn/{}</loc></url>"
    body = f"<urlset>{''.join(map(entry.format, ('a?b=1&id=2&copy=3', 'AT&T.html', '新?c&d', '<![CDATA[?e&amp;f]]>')))}"
    urls = (
        "http://h.cn/a?b=1&id=2&copy=3",
        "http://h.cn/AT&T.html",
        "http://h.cn/%E6%96%B0?c&d",
        "http://h.cn/?e&amp;f",
    )
    for packed in (body.encode(), gzip.compress(body.encode()), body.encode("utf-16")):
        assert parse_sitemap(packed, URL).links.urls == urls
    index = "<sitemapindex><sitemap><loc>/map.php?a=1&n=2</loc></sitemap></sitemapindex>"
    assert parse_sitemap(index.encode(), URL).sitemaps == ("https://h.cn/map.php?a=1&n=2",)


@pytest.mark.slow
def test_bare_ampersands_of_a_large_sitemap_take_no_memory() -> None:
    entry = b"<url><loc>/show.php?cat=2&id=%d&page=1</loc><lastmod>1970-01-02</lastmod></url>"
    body = b"<urlset>" + b"".join(entry % i for i in range(100_000)) + b"</urlset>"
    file = open_xml(body)
    tracemalloc.start()
    try:
        pieces = sum(len(piece) for piece in iter(lambda: file.read(32_768), b""))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pieces == len(body) + 2 * 100_000 * len("amp;")
    assert peak < 1_000_000


def test_nothing_is_expanded_or_loaded() -> None:
    pages = "<urlset><url><loc>/a{}</loc></url><url><loc>/b</loc></url></urlset>"
    file = '<!DOCTYPE urlset [<!ENTITY e "lol"><!ENTITY f SYSTEM "file:///etc/passwd">]>' + pages.format("&f;")
    assert parse_sitemap(file.encode(), URL).links.urls == ("https://h.cn/a", "https://h.cn/b")
    lol = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE urlset [<!ENTITY l0 "lol">{lol}]>' + pages.format("&l9;")
    start = time.process_time()
    assert "lol" not in "".join(parse_sitemap(bomb.encode(), URL).links.urls)
    assert time.process_time() - start < 1


@each_row(
    "piece", (b"<", b"<a>", b"<url>", b"<url/>", b"<loc>", b"&", b"&a", b"<![CDATA[", b"<!--", b"x", b"<url><loc>")
)
@pytest.mark.slow
def test_hostile_bodies_take_little_time(piece: bytes) -> None:
    start = time.process_time()
    parse_sitemap(b"<urlset><url>" + piece * (1_000_000 // len(piece)), URL)
    assert time.process_time() - start < 3


@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from(["<urlset>", "<url>", "<loc>", "/a", "http://h.cn\n", "</", ">", "&"]))
    .map("".join)
    .map(str.encode)
)
def test_any_bytes_give_a_sitemap(body: bytes) -> None:
    found = parse_sitemap(body, URL)
    assert all(canonicalize(url) == url for url in (*found.links.urls, *found.sitemaps))
    looks_like_sitemap(body)
