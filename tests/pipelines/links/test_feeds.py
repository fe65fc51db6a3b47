"""Feeds: entries of every dialect, repaired where broken, never expanded."""

import time
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from pipelines.links.feeds import MAX_ENTRIES, looks_like_feed, parse_feed, parse_time
from pipelines.records import BlockKind, Links
from pipelines.urls import canonicalize
from tests.table import each_row

URL = "https://h.cn/feeds/news.xml"
MARCH_12 = datetime(2024, 3, 12, 0, 30, tzinfo=UTC).timestamp()

RSS = """<?xml version="1.0" encoding="{encoding}"?>
<!-- made by hand --><!DOCTYPE rss [<!ENTITY e "x">]>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>新闻</title><link>https://h.cn/</link>
<atom:link rel="self" href="https://h.cn/feeds/news.xml"/>
<item><title><![CDATA[ 第一条 <b>要闻</b>&nbsp;A &amp; B ]]></title>
  <link> https://h.cn/a/1.html?utm_source=rss#x </link>
  <pubDate>Tue, 12 Mar 2024 08:30:00 +0800</pubDate></item>
<item><title>二</title><link>/a/2.html</link><dc:date>2024-03-12T08:30:00+08:00</dc:date></item>
<item><title>again</title><link>https://h.cn/a/1.html</link></item>
<item><title>三</title><guid>https://h.cn/a/3.html</guid><pubDate>2024-03-12 08:30:00 +0800</pubDate></item>
<item><title>四</title><guid isPermaLink="false">https://h.cn/not-a-page</guid></item>
<item><title>五</title><link>javascript:alert(1)</link></item>
</channel></rss>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://h.cn/blog/">
<title>t</title><link href="https://h.cn/"/>
<entry><title type="html">A &lt;i&gt;b&lt;/i&gt;</title><link rel="enclosure" href="a.mp3"/>
  <link rel="edit" href="edit"/>
  <link rel="alternate" href="one"/><id>tag:h.cn,2024:1</id><updated>2024-03-13T00:00:00Z</updated>
  <published>2024-03-12T00:30:00Z</published></entry>
<entry><title>C</title><link href="/two"/><updated>2024-03-12T00:30:00Z</updated></entry>
<entry><title>D</title><id>https://h.cn/three</id></entry>
</feed>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="https://h.cn/"><title>t</title></channel>
<item rdf:about="https://h.cn/1"><title>A</title><link>https://h.cn/1</link><dc:date>2024-03-12T00:30Z</dc:date></item>
<item rdf:about="https://h.cn/2"><title>B</title></item></rdf:RDF>"""


@each_row(
    "body",
    [
        RSS.format(encoding="utf-8").encode(),
        b"\xef\xbb\xbf\r\n " + RSS.format(encoding="utf-8").encode(),
        RSS.format(encoding="gb2312").encode("gb18030"),
        RSS.format(encoding="utf-8").encode("gb18030"),
        RSS.format(encoding="gb2312").encode(),
        RSS.format(encoding="big5").replace("第一条", "第一條").encode("big5", "replace").replace(b"\n", b"\r\n"),
        RSS.format(encoding="utf-16").encode("utf-16"),
        RSS.format(encoding="no-such-thing").encode(),
    ],
)
def test_rss_in_any_encoding(body: bytes) -> None:
    assert looks_like_feed(body)
    links = parse_feed(body, URL)
    assert links.urls == ("https://h.cn/a/1.html", "https://h.cn/a/2.html", "https://h.cn/a/3.html")
    assert links.anchors[1:] == ("二", "三")
    assert links.anchors[0].endswith("A & B")
    assert "<" not in links.anchors[0]
    assert links.dates == (MARCH_12,) * 3
    assert links.blocks == bytes([BlockKind.FEED] * 3)
    assert links.nofollow == bytes(3)


def test_atom() -> None:
    assert looks_like_feed(ATOM.encode())
    links = parse_feed(ATOM.encode(), URL)
    assert links.urls == ("https://h.cn/blog/one", "https://h.cn/two", "https://h.cn/three")
    assert links.anchors == ("A b", "C", "D")
    assert links.dates == (MARCH_12, MARCH_12, 0.0)
    assert links.changed == (MARCH_12 + 84_600, MARCH_12, 0.0)


def test_rdf() -> None:
    assert looks_like_feed(RDF.encode())
    links = parse_feed(RDF.encode(), URL)
    assert links.urls == ("https://h.cn/1", "https://h.cn/2")
    assert links.dates == (MARCH_12, 0.0)


def test_broken_xml_is_repaired() -> None:
    body = RSS.format(encoding="utf-8").replace("二", "二 & 三 < 四 &nbsp; \x01").encode()
    assert parse_feed(body, URL).urls[:2] == ("https://h.cn/a/1.html", "https://h.cn/a/2.html")
    cut = body[: body.index(b"<dc:date>") + 12]
    assert parse_feed(cut, URL).urls == ("https://h.cn/a/1.html", "https://h.cn/a/2.html")
    undeclared = (
        b"<rss><channel><item><title>a</title><link>/b</link><dc:date>1970-01-02</dc:date></item></channel></rss>"
    )
    assert parse_feed(undeclared, URL).dates == (86400.0,)
    assert parse_feed(b"<rss><item><link/>http://h.cn/c<title>t</title></item></rss>", URL).urls == ("http://h.cn/c",)


@each_row(
    "body",
    [
        b"",
        b"   ",
        b"text",
        b"<",
        b"<rss",
        b"<rss/>",
        b"<!doctype html><html><body><a href='/a'>a</a></body></html>",
        b'{"version": "https://jsonfeed.org/version/1"}',
        b"\xff\xfe",
        b"\0" * 100,
        b"\x1f\x8b\x08\x00",
        b"<!--" * 1000,
        b"<!DOCTYPE rss [" + b"<!ENTITY a 'b'>" * 1000,
    ],
)
def test_no_feed(body: bytes) -> None:
    assert parse_feed(body, URL) == Links()


@each_row(
    ("body", "feed"),
    [
        (b"<rss/>", True),
        (b"<?xml version='1.0'?>\n<?xml-stylesheet href='a'?><!-- <html> --><feed xmlns='x'>", True),
        (b"<RSS version='0.91'>", True),
        (b"<html><body>&lt;rss>", False),
        (b"<!DOCTYPE html><html>", False),
        (b"<rdf:RDF xmlns:foaf='http://xmlns.com/foaf/0.1/'>", False),
        (b"<urlset>", False),
        (b"rss", False),
        (b"", False),
    ],
)
def test_looks_like_feed(body: bytes, *, feed: bool) -> None:
    assert looks_like_feed(body) is feed


AS_WRITTEN = (
    ("/show.php?cat=2&id=41", "/show.php?cat=2&id=41"),
    ("/show.php?cat=2&amp;id=41", "/show.php?cat=2&id=41"),
    ("/show.php?cat=2&#38;id=41&#x26;p=1", "/show.php?cat=2&id=41&p=1"),
    ("/AT&T.html", "/AT&T.html"),
    ("/a?x=1&copy=2&reg=3&lt=4&amp=5&para", "/a?x=1&copy=2&reg=3&lt=4&amp=5&para"),
    ("/a?x=1&", "/a?x=1"),
    ("/a?x=&&y=1&#top", "/a?x=&y=1"),
    ("/caf&eacute;?a=1&b=2", "/caf%C3%A9?a=1&b=2"),
    ("/a?x=1&unknown;y&#39;s", "/a?x=1&unknown;y's"),
    ("<![CDATA[/a?x=1&id=2&amp;y=3&copy=4]]>", "/a?x=1&id=2&amp;y=3&copy=4"),
)
"""Addresses in XML, and what they mean."""


@each_row(("written", "meant"), AS_WRITTEN)
def test_bare_ampersands_part_parameters(written: str, meant: str) -> None:
    meant = "https://h.cn" + meant.replace("'", "%27" if "'" in meant.partition("?")[2] else "'")
    rss = f"<rss><channel><item><title>R&D & &eacute;</title><link>{written}</link></item></channel></rss>"
    for body in (rss.encode(), rss.replace("R&", "新闻&").encode("utf-16")):
        assert parse_feed(body, URL).urls == (meant,)
    assert parse_feed(rss.encode(), URL).anchors == ("R&D & é",)
    if "<" not in written:
        atom = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{written}"/></entry></feed>'
        assert parse_feed(atom.encode(), URL).urls == (meant,)


def test_comments_and_instructions_keep_their_ampersands() -> None:
    body = "<rss><!-- a & b > <item/> &id; --><?x a&b?><channel><item><link>/a?b&c</link></item></channel></rss>"
    assert parse_feed(body.encode(), URL).urls == ("https://h.cn/a?b&c",)


def test_nothing_is_expanded_or_loaded() -> None:
    item = "<rss><channel><item><title>a{}b</title><link>/x</link></item></channel></rss>"
    file = '<!DOCTYPE rss [<!ENTITY e "lol"><!ENTITY f SYSTEM "file:///etc/passwd">]>' + item.format("&e;&f;")
    links = parse_feed(file.encode(), URL)
    assert links.urls == ("https://h.cn/x",)
    assert "root:" not in links.anchors[0]
    lol = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    bomb = f'<!DOCTYPE rss [<!ENTITY l0 "lol">{lol}]>' + item.format("&l9;")
    start = time.process_time()
    assert "lol" not in "".join(parse_feed(bomb.encode(), URL).anchors)
    assert time.process_time() - start < 1


def test_bounded() -> None:
    item = "<item><link>/{}</link><title>{}</title></item>"
    many = "<rss>" + "".join(item.format(i, "x" * 300) for i in range(MAX_ENTRIES + 10)) + "</rss>"
    links = parse_feed(many.encode(), URL)
    assert len(links) == MAX_ENTRIES
    assert {len(anchor) for anchor in links.anchors} == {200}


@each_row("piece", [b"<", b"<a>", b"<item>", b"&", b"&a", b"]]>", b"<![CDATA[", b"<a b=", b"<!--", b"\xff", b"<a/><b>"])
def test_hostile_bodies_take_little_time(piece: bytes) -> None:
    start = time.process_time()
    parse_feed(b"<rss><item><title>" + piece * (500_000 // len(piece)), URL)
    assert time.process_time() - start < 2


@each_row(
    ("text", "seconds"),
    [
        ("2024-03-12T08:30:00+08:00", MARCH_12),
        ("2024-03-12T00:30:00Z", MARCH_12),
        ("2024-03-12T00:30:00.000Z", MARCH_12),
        ("2024-03-12T00:30", MARCH_12),
        (" 2024-03-12 00:30:00 ", MARCH_12),
        ("2024-03-12 08:30:00 +0800", MARCH_12),
        ("2024-03-11 21:00 -03:30", MARCH_12),
        ("2024/3/12 0:30", MARCH_12),
        ("2024年3月12日 00:30", MARCH_12),
        ("Tue, 12 Mar 2024 00:30:00 GMT", MARCH_12),
        ("12 Mar 2024 08:30:00 +0800", MARCH_12),
        ("Tue,12 Mar 2024 00:30:00 GMT", MARCH_12),
        ("2024-03-12", MARCH_12 - 1800),
        ("Tue, 12 Mar 2024 08:30:00 +08:00", MARCH_12),
        ("Tue, 12 Mar 2024 08:30:00 GMT+0800", MARCH_12),
        ("Tue Mar 12 2024 08:30:00 GMT+0800 (China Standard Time)", MARCH_12),
        ("Tue, 12 Mar 2024 08:30:00.5 +800", MARCH_12),
        ("Tuesday, 12-Mar-24 00:30:00 GMT", MARCH_12),
        ("12 Mar 98 00:30:00 GMT", datetime(1998, 3, 12, 0, 30, tzinfo=UTC).timestamp()),
        ("Tue Mar 12 00:30:00 2024", MARCH_12),
        ("Mon Mar 11 18:30:00 CST 2024", MARCH_12),
        ("Mon, 11 Mar 2024 18:30:00 CST", MARCH_12),
        ("March 12, 2024 12:30 AM", MARCH_12),
        ("2024-Mar-12 00:30:00", MARCH_12),
        ("2024年3月12日 上午 8:30 +0800", MARCH_12),
        ("2024-03-12 下午 08:30:00", MARCH_12 + 20 * 3600),
        ("2024/3/12 凌晨 12:30", MARCH_12),
        ("2024년 3월 12일 오전 12:30", MARCH_12),
        ("星期二, 12 三月 2024 08:30:00 +0800", MARCH_12),
        ("周二, 12 十二月 2023 00:30", MARCH_12 - 91 * 86400),
        ("三月 12, 2024 00:30", MARCH_12),
        ("화, 12 3월 2024 00:30:00 GMT", MARCH_12),
        ("mar., 12 mars 2024 01:30:00 +0100", MARCH_12),
        ("Di, 12 Mär 2024 01:30:00 +0100", MARCH_12),
        ("1710203400", MARCH_12),
        ("Tue, 12 Mar 2024", MARCH_12 - 1800),
        ("12 March 2024", MARCH_12 - 1800),
        ("Tue, 12 Mar 2024 08:30:00 +8", MARCH_12),
        ("2024-03-12T08:30+8:00", MARCH_12),
        ("2024-03-11T24:00:00Z", MARCH_12 - 1800),
        ("Sun, 31 Dec 2023 24:00 GMT", datetime(2024, 1, 1, tzinfo=UTC).timestamp()),
        ("2024-072", MARCH_12 - 1800),
        ("2024-072T08:30:00+08:00", MARCH_12),
        ("2023-366", 0.0),
        ("2024-03-12T00:29:60Z", MARCH_12 - 1),
        ("2024-03", datetime(2024, 3, 1, tzinfo=UTC).timestamp()),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC).timestamp()),
        ("", 0.0),
        ("yesterday", 0.0),
        ("0001-01-01T00:00:00Z", 0.0),
        ("1970-01-01T00:00:00+09:00", 0.0),
        ("9999-12-31", 0.0),
        ("2024-13-45", 0.0),
        ("Tue, 99 Mar 2024 99:99:99 GMT", 0.0),
        ("1" * 5000, 0.0),
    ],
)
def test_parse_time(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@each_row(
    ("language", "title", "hours"),
    [("zh-cn", "t", -8), ("en-us", "t", 6), ("", "港口扩建工程", -8), ("", "Harbour", 6), ("ja", "港", 6)],
)
def test_zone_is_that_of_the_language(language: str, title: str, hours: int) -> None:
    said = f"<language>{language}</language>" if language else ""
    item = f"<item><title>{title}</title><link>/1</link><pubDate>Tue, 12 Mar 2024 00:30:00 CST</pubDate></item>"
    found = parse_feed(f"<rss><channel>{said}{item}</channel></rss>".encode(), "http://h.example/feed")
    assert found.dates == (MARCH_12 + hours * 3600,)


def test_characters_and_addresses_as_browsers_take_them() -> None:
    item = "<item><title>It&#146;s &amp;#147;a&amp;#148; \xc2\x96 b</title><link>www.h.cn/1</link></item>"
    found = parse_feed(f"<rss><channel>{item}</channel></rss>".encode("latin-1"), URL)
    assert found.anchors == ("It\u2019s \u201ca\u201d \u2013 b",)
    assert found.urls == ("https://www.h.cn/1",)


@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from(["<item>", "<rss>", "<link>", "/a", "</", ">", "&"])).map("".join).map(str.encode)
)
def test_any_bytes_give_links(body: bytes) -> None:
    links = parse_feed(body, URL)
    assert len(links.urls) == len(links.anchors) == len(links.blocks) == len(links.nofollow) == len(links.dates)
    assert all(canonicalize(url) == url for url in links.urls)


@given(st.text(max_size=40) | st.from_regex(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[ T]?[0-9:+ -]{0,12}", fullmatch=True))
def test_any_text_gives_a_time(text: str) -> None:
    assert 0.0 <= parse_time(text) < 4.2e9


TITLES = {
    "gb18030": "河口大桥昨日完成最后一段桥面浇筑", "big5": "山城咖啡季將於本週末在舊車站廣場登場",
    "euc_jp": "川沿いの古い駅が図書館になりました", "cp949": "시청은 어제 새로운 지하철 노선을 밝혔다",
    "cp1251": "Городской совет вчера объявил", "koi8-r": "Городской совет вчера объявил",
    "utf-16-le": "河口大桥昨日完成", "utf-16-be": "河口大桥昨日完成",
}  # fmt: skip


@each_row("name", TITLES)
@each_row("declaration", ["", '<?xml version="1.0" encoding="utf-8"?>', '<?xml encoding="gb2312"?>'])
def test_titles_in_sets_that_are_not_declared(name: str, declaration: str) -> None:
    item = f"<item><link>/a</link><title>{TITLES[name]}</title></item>"
    body = f"{declaration}<rss><channel>{item}</channel></rss>".encode(name)
    assert looks_like_feed(body)
    assert parse_feed(body, URL).anchors == (TITLES[name],)
