"""Canonical URLs: what is one page, what stays two."""

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.keys import fingerprint
from pipelines.urls import canonicalize, file_type, host_key, same_host, site_key
from tests.table import each_row

TRACKERS = """itm_source itm_campaign utm cmpid s_cid Echobox otm_medium hmb_source ga_term action_ref_map gs_l mc_tc
    os_ehash wt_zmc wtrid emc dclid tracking_source ml_subscriber_hash vero_conv wickedid __s sc_uid xtor at_bbc_team
    gad_source rdt_cid intcmp cm_ven elqaid trk_contact dm_i ef_id bsft_uid fb_comment_id usqp wprov referrer"""
WORDED = "CMP=share_btn_tw ocid=socialflow_twitter ncid=txtlnk icid=top-stories smid=tw-share from=timeline"
UNSEEN = ("\u3000", "\u200b", "\xa0", "\u2060", "\ufeff", "\u200e", " \u3000\t")
"""Characters that no reader sees at the end of a URL."""

SAME = [
    ("HTTP://News.Example.COM:80/a/./b/../c.html#top", "http://news.example.com/a/c.html"),
    ("https://example.com:443", "https://example.com/"),
    ("https://example.com/?", "https://example.com/"),
    ("https://example.com:8443/x?", "https://example.com:8443/x"),
    ("http://user:secret@example.com/x", "http://example.com/x"),
    ("http://user@evil@example.com/x", "http://example.com/x"),
    ("http://example.com./x", "http://example.com/x"),
    ("  http://example.com/x\n", "http://example.com/x"),
    ("\u3000http://example.com/x\xa0", "http://example.com/x"),
    ("http://exa\nmple.com/x\ty", "http://example.com/xy"),
    ("http://例え.jp/新闻/一", "http://xn--r8jz45g.jp/%E6%96%B0%E9%97%BB/%E4%B8%80"),
    ("http://例え。jp/", "http://xn--r8jz45g.jp/"),
    ("http://example.com/%7euser/%61%2fb%e4", "http://example.com/~user/a%2Fb%E4"),
    ("http://example.com/a b?q=c d", "http://example.com/a%20b?q=c%20d"),
    ("http://example.com/a|b?x={y}^`", "http://example.com/a%7Cb?x=%7By%7D%5E%60"),
    ("http://example.com/%2e%2e/a/%2E/b", "http://example.com/a/b"),
    ("http://127.1/", "http://127.0.0.1/"),
    ("http://0x7f000001/", "http://127.0.0.1/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"),
    ("http://example.com/x?utm_source=a&id=7&UTM_Medium=b&spm=1.2", "http://example.com/x?id=7"),
    ("http://example.com/x?%75tm_source=a", "http://example.com/x"),
    ("http://example.com/x?utm_source=%&%36=%37", "http://example.com/x?6=7"),
    ("http://example.com/x?fbclid=1&gclid=2&yclid=3&msclkid=4&mc_cid=5&igshid=6&_hsenc=7", "http://example.com/x"),
    ("http://example.com/x?wfr=spider&for=pc", "http://example.com/x?for=pc"),
    ("http://example.com/x?from=singlemessage&isappinstalled=0&scm=1", "http://example.com/x"),
    ("http://example.com/x?from=timeline", "http://example.com/x"),
    ("http://example.com/x?id=1&id=1&id=2", "http://example.com/x?id=1&id=2"),
    ("http://example.com/x?&&a=1&", "http://example.com/x?a=1"),
    ("http://example.com/x;jsessionid=0A1B2C?a=1", "http://example.com/x?a=1"),
    ("http://example.com/a/..;JSESSIONID=1/b", "http://example.com/b"),
    ("http://example.com/x?PHPSESSID=abc&b=", "http://example.com/x?b="),
    ("http://example.com/x?ASPSESSIONIDQQCDTRSA=ABC&b", "http://example.com/x?b"),
    ("http://example.com/x?sid=0123456789abcdef0123456789abcdef", "http://example.com/x"),
    ("http://example.com/x?CFID=12&CFTOKEN=34&a=1", "http://example.com/x?a=1"),
    ("http://example.com/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "http://example.com/orders.aspx"),
    ("http://example.com/a/(X(1)F(bC-d_1)s(lit3py5))/b.aspx?id=1", "http://example.com/a/b.aspx?id=1"),
    ("http://example.com/(lit3py55t21z5v55vlm25s55)/a.aspx", "http://example.com/a.aspx"),
    ("http://example.com/%28S%28lit3py55t21z5v55vlm25s55%29%29/", "http://example.com/"),
    ("http://example.com/(S(lit3py55t21z5v55vlm25s55))", "http://example.com/"),
    ("http://example.com/a.aspx?AspxAutoDetectCookieSupport=1", "http://example.com/a.aspx"),
    *((f"http://example.com/x?id=7&{name}=a1", "http://example.com/x?id=7") for name in TRACKERS.split()),
    *((f"http://example.com/x?{pair}&id=7", "http://example.com/x?id=7") for pair in WORDED.split()),
    *((f"{scheme}://example.com/x{end}", "http://example.com/x") for scheme in ("http", "HTTP") for end in UNSEEN),
]

DIFFERENT = [
    ("http://example.com/x?a=1&b=2", "http://example.com/x?b=2&a=1"),
    ("http://example.com/x", "https://example.com/x"),
    ("http://example.com/x", "http://www.example.com/x"),
    ("http://example.com/x", "http://example.com/x/"),
    ("http://example.com/x", "http://example.com/X"),
    ("http://example.com/x?a", "http://example.com/x?a="),
    ("http://example.com/x?a", "http://example.com/x"),
    ("http://example.com/a%2Fb", "http://example.com/a/b"),
    ("http://example.com/a//b", "http://example.com/a/b"),
    ("http://example.com/x?q=a+b", "http://example.com/x?q=a%2Bb"),
    ("http://example.com/x?from=2024-01-01", "http://example.com/x"),
    ("http://example.com/x?from=20", "http://example.com/x"),
    ("http://example.com/x?from=paris&to=rome", "http://example.com/x?from=bonn&to=rome"),
    ("http://example.com/x?sid=42", "http://example.com/x"),
    ("http://example.com/x?sid=1234567890123456", "http://example.com/x"),
    ("http://example.com/x?s=football", "http://example.com/x"),
    ("http://example.com/x?cfid=3", "http://example.com/x"),
    ("http://example.com/x;a=1", "http://example.com/x"),
    ("http://example.com/?q=%u4e2d", "http://example.com/?q=%u4e2e"),
    ("http://example.com:8080/", "http://example.com/"),
    ("http://example.com/(news)/x", "http://example.com/x"),
    ("http://example.com/f(S(x))/a", "http://example.com/a"),
    ("http://example.com/(internationalnewsarchiv)/a", "http://example.com/a"),
    ("http://example.com/x?cmp=12&icid=3", "http://example.com/x?cmp=13&icid=3"),
    ("http://example.com/x?q=%B8%DB", "http://example.com/x?q=%E6%B8%AF"),
    ("http://example.com/a%2f..%2fb", "http://example.com/b"),
]

NOWHERE = [
    "",
    "   ",
    "#top",
    "news/1.html",
    "/news/1.html",
    "//example.com/x",
    "javascript:void(0)",
    "mailto:a@example.com",
    "data:text/html,x",
    "ftp://example.com/",
    "blob:http://example.com/1",
    "http://",
    "http://?q",
    "http://exa mple.com/",
    "http://example.com:99999/",
    "http://example.com:0/",
    "http://a..b/",
    "http://.example.com/",
    "http://example.com../",
    "http://[::1/",
    "http://256.256.256.256/",
    "http://" + "a" * 64 + ".com/",
    "http://example.com/" + "a" * 2000,
    "http://example.com/" + "中" * 300,
    "http://\ud800.com/",
    "http://xn--a/",
]


@each_row(("url", "expected"), SAME)
def test_same_page_same_url(url: str, expected: str) -> None:
    assert canonicalize(url) == expected
    assert canonicalize(expected) == expected


@each_row(("one", "other"), DIFFERENT)
def test_different_pages_stay_different(one: str, other: str) -> None:
    first, second = canonicalize(one), canonicalize(other)
    assert first
    assert second
    assert first != second


@each_row("url", NOWHERE)
def test_no_page(url: str) -> None:
    assert canonicalize(url) is None


@each_row(
    ("url", "expected"),
    [
        ("b.html", "http://h.cn/a/b.html"),
        ("../b.html", "http://h.cn/b.html"),
        ("../../../b.html", "http://h.cn/b.html"),
        ("/b.html", "http://h.cn/b.html"),
        ("//cdn.cn/b.html", "http://cdn.cn/b.html"),
        ("\\\\cdn.cn\\b.html", "http://cdn.cn/b.html"),
        ("/\t/cdn.cn/b.html", "http://cdn.cn/b.html"),
        ("\\b.html", "http://h.cn/b.html"),
        ("?page=2", "http://h.cn/a/x.html?page=2"),
        ("", "http://h.cn/a/x.html?p=1"),
        ("#top", "http://h.cn/a/x.html?p=1"),
        ("./", "http://h.cn/a/"),
        ("http:c.html", "http://h.cn/a/c.html"),
        ("http:/c.html", "http://h.cn/c.html"),
        ("HTTPS://o.cn/c", "https://o.cn/c"),
        ("c:d", None),
        ("./c:d", "http://h.cn/a/c:d"),
        ("javascript:;", None),
        ("新闻?题=目", "http://h.cn/a/%E6%96%B0%E9%97%BB?%E9%A2%98=%E7%9B%AE"),
    ],
)
def test_relative(url: str, expected: str | None) -> None:
    assert canonicalize(url, "http://h.cn/a/x.html?p=1#f") == expected


@each_row("base", ["", "news", "javascript:1", "http://", "file:///etc/passwd"])
def test_useless_base(base: str) -> None:
    assert canonicalize("a.html", base) is None
    assert canonicalize("http://h.cn/a.html", base) == "http://h.cn/a.html"


PARTS = """a b / .. . ? & = ; % %2 %2e %36 %31 %7C | 中 \\ ' [ + @ # \U0001f600 %u4e2d : s=
jsessionid= sid= from= utm_x= to= 0123456789abcdef"""
PIECES = st.sampled_from([" ", *PARTS.split()])
HOSTS = st.sampled_from(
    ["h.cn", "H.cn.", "u:p@h.cn", "1.2.3", "[::1]", "例え.jp", "h.cn:80", "h.cn:81", "0x7f.", "a.1."]
)


@given(HOSTS, st.lists(PIECES, max_size=14))
def test_idempotent(host: str, pieces: list[str]) -> None:
    once = canonicalize(f"http://{host}/{''.join(pieces)}")
    if once is not None:
        assert canonicalize(once) == once
        assert once.isascii()
        assert "#" not in once
        assert " " not in once


@given(st.text(max_size=60), st.none() | st.just("https://h.cn/a/"))
def test_any_text_gives_a_url_or_none(url: str, base: str | None) -> None:
    found = canonicalize(url, base)
    assert found is None or (found.startswith(("http://", "https://")) and canonicalize(found) == found)


@given(st.lists(st.sampled_from(["a", "b1", "/", "../", "./", "?x=1"]), min_size=1, max_size=6).map("".join))
def test_relative_agrees_with_rfc_3986(reference: str) -> None:
    base = "http://h.cn/p/q/r.html"
    if "//" not in reference and reference.count("?") < 2:
        assert canonicalize(reference, base) == canonicalize(urljoin(base, reference))


def test_fingerprint_is_fixed() -> None:
    assert fingerprint("http://example.com/") == fingerprint("http://example.com/")
    assert -(2**63) <= fingerprint("http://example.com/x") < 2**63
    assert fingerprint("http://example.com/") != fingerprint("https://example.com/")
    assert fingerprint("http://example.com/") == -350646258024731386


@each_row(
    ("url", "key"),
    [
        ("http://example.com/a:b@c", "example.com"),
        ("http://Example.com:8080/", "example.com:8080"),
        ("http://u:p@example.com?x@y", "example.com"),
        ("http://[::1]:8080/x", "[::1]:8080"),
        ("http://example.com", "example.com"),
    ],
)
def test_host_key(url: str, key: str) -> None:
    assert host_key(url) == key


def test_host_key_needs_an_absolute_url() -> None:
    with pytest.raises(ValueError, match="not an absolute URL: '/x'"):
        host_key("/x")


@each_row(
    ("host", "site"),
    [
        ("news.example.com", "example.com"),
        ("news.sina.com.cn", "sina.com.cn"),
        ("example.gov.cn:8080", "example.gov.cn"),
        ("a.b.co.uk", "b.co.uk"),
        ("me.github.io", "me.github.io"),
        ("com.cn", "com.cn"),
        ("localhost:8000", "localhost"),
        ("x.localhost", "x.localhost"),
        ("127.0.0.1:80", "127.0.0.1"),
        ("[::1]:80", "[::1]"),
        ("a.b.nosuchsuffix", "a.b.nosuchsuffix"),
        ("xn--fiqs8s", "xn--fiqs8s"),
        ("www.xn--fiq228c.xn--fiqs8s", "xn--fiq228c.xn--fiqs8s"),
    ],
)
def test_site_key(host: str, site: str) -> None:
    assert site_key(host) == site


@each_row(
    ("a", "b", "same"),
    [
        ("example.com", "www.example.com", True),
        ("www.example.com:81", "example.com:81", True),
        ("example.com", "example.com:81", False),
        ("news.example.com", "example.com", False),
        ("www.com", "com", False),
        ("http://www.example.com/a", "https://example.com/b", True),
        ("www.example.com", "WWW.EXAMPLE.com", True),
    ],
)
def test_same_host(a: str, b: str, *, same: bool) -> None:
    assert same_host(a, b) is same
    assert same_host(b, a) is same


@each_row(
    ("url", "kind"),
    [
        ("http://h.cn/a.JPG", "jpg"),
        ("http://h.cn/a.pdf?x=1#y", "pdf"),
        ("http://h.cn/a.tar.gz", "gz"),
        ("a.css", "css"),
        ("/f/a.woff2", "woff2"),
        ("http://h.cn/sitemap.xml", ""),
        ("http://h.cn/sitemap.xml.gz", ""),
        ("http://h.cn/feed.rss", ""),
        ("http://h.cn/a.html", ""),
        ("http://h.cn/a.shtml?file=a.jpg", ""),
        ("http://h.zip", ""),
        ("http://h.zip/", ""),
        ("http://h.cn/a.jpg/", ""),
        ("http://h.cn/wiki/File:Panda.jpg", ""),
        ("http://h.cn/wiki/File%3APanda.jpg", ""),
        ("http://h.cn/about-node.js-and-more", ""),
        ("http://h.cn/?a=/b.jpg", ""),
    ],
)
def test_file_type(url: str, kind: str) -> None:
    assert file_type(url) == kind
