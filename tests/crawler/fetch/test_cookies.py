"""Cookies: enough to be let in, never more than a little, never for another site."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.cookies import MOST_HEADER_BYTES, MOST_SITE_BYTES, MOST_SITES, SiteCookies
from tests.table import each_row

NOW = 1_700_000_000.0


def keep(
    cookies: SiteCookies, host: str, *lines: str, path: str = "/a/b", secure: bool = False, now: float = NOW
) -> bool:
    return cookies.keep(host, path, lines, secure=secure, now=now)


def header(cookies: SiteCookies, host: str, path: str = "/a/c", *, secure: bool = False, now: float = NOW) -> str:
    return cookies.header(host, path, secure=secure, now=now)


def test_wall_is_passed() -> None:
    cookies = SiteCookies()
    assert keep(cookies, "news.cn", "seen=1; Path=/", "b=2; HttpOnly")
    assert header(cookies, "news.cn", "/") == "seen=1"
    assert header(cookies, "news.cn") == "b=2; seen=1"
    assert not keep(cookies, "news.cn", "seen=1; Path=/")
    assert keep(cookies, "news.cn", "seen=2; Path=/")


SETS = "www.a.com.cn"


@each_row(
    ("domain", "goes_to"),
    [
        ("", [SETS]),
        ("www.a.com.cn", [SETS, "x.www.a.com.cn"]),
        (".a.com.cn", [SETS, "a.com.cn", "other.a.com.cn"]),
        ("A.COM.CN", [SETS, "a.com.cn", "other.a.com.cn"]),
        ("com.cn", []),
        ("cn", []),
        (".", [SETS]),
        ("b.com.cn", []),
        ("other.a.com.cn", []),
        ("ww.a.com.cn", []),
    ],
)
def test_domain_is_never_wider_than_the_site(domain: str, goes_to: list[str]) -> None:
    cookies = SiteCookies()
    keep(cookies, SETS, f"c=1; Path=/; Domain={domain}")
    hosts = [SETS, "a.com.cn", "other.a.com.cn", "x.www.a.com.cn", "b.com.cn", "com.cn", "xa.com.cn"]
    if domain == "www.a.com.cn":
        hosts.remove("a.com.cn")
    reached = [host for host in hosts if header(cookies, host)]
    assert [host for host in reached if host != "x.www.a.com.cn" or host in goes_to] == goes_to


@each_row("host", ["127.0.1.71", "[::1]", "localhost", "a.github.io"])
def test_addresses_local_names_and_shared_suffixes_are_alone(host: str) -> None:
    cookies = SiteCookies()
    wide = host.rpartition(".")[2] if host != "a.github.io" else "github.io"
    if wide != host:
        assert not keep(cookies, host, f"c=1; Path=/; Domain={wide}")
    assert keep(cookies, host, f"c=1; Path=/; Domain={host}")
    assert header(cookies, host) == "c=1"
    assert header(cookies, "127.0.1.72") == header(cookies, "b.github.io") == ""


def test_paths_schemes_and_ends() -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", "deep=1", "s=1; Secure; Path=/", path="/x/y/z")
    assert header(cookies, "a.cn", "/x/y/w") == "deep=1"
    assert header(cookies, "a.cn", "/x/yy") == ""
    keep(cookies, "a.cn", "s=1; Secure; Path=/", "m=1; Path=/; Max-Age=60", secure=True)
    assert header(cookies, "a.cn", "/") == "m=1"
    assert header(cookies, "a.cn", "/", secure=True) == "s=1; m=1"
    assert header(cookies, "a.cn", "/", now=NOW + 61) == ""
    assert keep(cookies, "a.cn", "m=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
    assert header(cookies, "a.cn", "/") == ""
    assert keep(cookies, "a.cn", "t=1; Path=/; Expires=not a date")
    assert header(cookies, "a.cn", "/", now=NOW + 1e9) == "t=1"


def test_sixty_large_ones_make_a_small_header() -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", *[f"c{n}={'v' * 3500}; Path=/" for n in range(60)], "last=1; Path=/")
    assert len(header(cookies, "a.cn")) <= MOST_HEADER_BYTES
    assert header(cookies, "a.cn").endswith("last=1")


@each_row("line", ["", "=", "=x", "novalue", "a\r\nX: b=1", "a=\0", "a=\x1b[31m", "a=" + "v" * 5_000])
def test_malformed_cookies_are_refused(line: str) -> None:
    cookies = SiteCookies()
    assert not keep(cookies, "a.cn", line)
    assert header(cookies, "a.cn") == ""


def test_tabs_are_white_space() -> None:
    cookies = SiteCookies()
    assert keep(cookies, "a.cn", "\ta\t=\t1\t;\tPath\t=\t/ \t", "b=x\ty; \tPath=/\t;\tHttpOnly")
    assert header(cookies, "a.cn", "/") == "a=1; b=x y"


def test_sites_are_bounded() -> None:
    cookies = SiteCookies()
    for n in range(MOST_SITES + 5):
        keep(cookies, f"site{n}.cn", "c=1; Path=/")
    assert header(cookies, "site0.cn") == ""
    assert header(cookies, "site5.cn") == "c=1"


@given(st.lists(st.tuples(st.text(max_size=30), st.integers(0, 3)), max_size=20))
def test_header_is_one_short_line_for_any_cookies(lines: list[tuple[str, int]]) -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", *[f"n{number}={text * 100}; Path=/" for text, number in lines])
    sent = header(cookies, "a.cn")
    assert len(sent) <= MOST_HEADER_BYTES <= MOST_SITE_BYTES
    assert not any(ord(char) < 32 for char in sent)


@each_row("line", ["s=2; Path=/", "s=2; Path=/deep/er", "s=2; Path=/; Domain=a.cn", "s=; Path=/; Max-Age=0"])
def test_answers_without_tls_leave_secure_cookies_alone(line: str) -> None:
    cookies = SiteCookies()
    keep(cookies, "www.a.cn", "s=1; Secure; Path=/; Max-Age=60", secure=True)
    assert not keep(cookies, "www.a.cn", line)
    assert header(cookies, "www.a.cn", "/deep/er", secure=True) == "s=1"
    assert keep(cookies, "www.a.cn", "other=2; Path=/")
    cookies.keep("www.a.cn", "/", ["s=3; Path=/"], secure=False, now=NOW + 61)
    assert "s=3" in header(cookies, "www.a.cn", now=NOW + 61), "one that has expired protects nothing"


def test_secure_cookies_are_the_last_to_be_forgotten() -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", "s=1; Secure; Path=/", secure=True)
    keep(cookies, "a.cn", *[f"c{n}={n}; Path=/" for n in range(80)])
    assert "s=1" in header(cookies, "a.cn", secure=True)


def test_longer_paths_come_first_in_the_header() -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", "c=root; Path=/", "c=deep; Path=/a/b", "c=mid; Path=/a", "d=root; Path=/")
    assert header(cookies, "a.cn", "/a/b/c") == "c=deep; c=mid; c=root; d=root"


def test_expired_cookies_are_the_first_to_be_forgotten() -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", "old=1; Path=/")
    keep(cookies, "a.cn", *[f"s{n}=1; Secure; Path=/; Max-Age=60" for n in range(49)], secure=True)
    keep(cookies, "a.cn", "new=1; Path=/", now=NOW + 61)
    assert header(cookies, "a.cn", "/", secure=True, now=NOW + 61) == "old=1; new=1"


@each_row("attribute", ["SameSite=Strict", "SameSite=Lax", "SameSite=None", "SameSite=nonsense", "HttpOnly"])
def test_attributes_that_concern_pages_change_nothing(attribute: str) -> None:
    cookies = SiteCookies()
    assert keep(cookies, "a.cn", f"c=1; Path=/; {attribute}")
    assert header(cookies, "a.cn") == "c=1"


@each_row(("line", "sent"), [("c=" + "v" * 4_092, True), ("c=" + "v" * 4_093, False)])
def test_cookie_fits_the_header_or_is_refused(line: str, *, sent: bool) -> None:
    cookies = SiteCookies()
    assert keep(cookies, "a.cn", line) == sent
    assert header(cookies, "a.cn") == (line if sent else "")


@each_row(
    ("attribute", "path", "sent"),
    [
        ("Path=/" + "x" * 1_023, "/a/b", False),
        ("Path=/" + "x" * 1_024, "/a/b", True),
        ("Domain=" + "x" * 1_024, "/a/b", False),
        ("Domain=" + "x" * 1_025, "/a/b", True),
    ],
)
def test_attribute_of_more_than_1024_bytes_is_ignored(attribute: str, path: str, *, sent: bool) -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", f"c=1; {attribute}")
    assert header(cookies, "a.cn", path) == ("c=1" if sent else "")


@each_row(
    "date",
    [
        "Tue, 14 Nov 2023 22:14:20 GMT",
        "Tuesday, 14-Nov-23 22:14:20 GMT",
        "14 Nov 2023 22:14:20",
        "Tue, 14 Nov 2023 22:14:20 +0800",
    ],
)
def test_dates_are_in_utc(date: str) -> None:
    cookies = SiteCookies()
    keep(cookies, "a.cn", f"c=1; Path=/; Expires={date}")
    assert header(cookies, "a.cn", now=NOW + 59) == "c=1"
    assert header(cookies, "a.cn", now=NOW + 60) == ""


@each_row(
    ("line", "kept"),
    [
        ("__Secure-a=1; Path=/; Secure", True),
        ("__Secure-a=1; Path=/", False),
        ("__secure-a=1; Path=/", False),
        ("__Host-a=1; Path=/; Secure", True),
        ("__Host-a=1; Secure", False),
        ("__Host-a=1; Path=/deep; Secure", False),
        ("__HOST-a=1; Path=/; Secure; Domain=a.cn", False),
        ("__Host-a=1; Path=/", False),
    ],
)
def test_prefixes_of_names_promise_what_they_say(line: str, *, kept: bool) -> None:
    cookies = SiteCookies()
    assert keep(cookies, "a.cn", line, secure=True) == kept
    assert not keep(SiteCookies(), "a.cn", line)
