"""Which links may be followed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.keys import fingerprint
from pipelines.dates.period import Bound, Period
from pipelines.links.scope import STAYS, Scope, folder_of, host_identity, identify, resolve, resolve_page
from pipelines.records import BlockKind, Extraction, Links, Metadata, PageKind, ParseResult
from pipelines.url_rules.forms import Rule, pack
from pipelines.urls import file_type, host_key, site_key
from tests.table import each_row

HOSTS = [
    "news.example.com",
    "www.news.example.com",
    "example.com",
    "a.github.io",
    "b.github.io",
    "h.cn:8080",
    "h.cn",
    "[::1]",
]


def links(*urls: str, nofollow: bytes | None = None) -> Links:
    return Links(urls, ("",) * len(urls), bytes(len(urls)), nofollow if nofollow is not None else bytes(len(urls)))


@each_row(
    ("stay", "host", "inside"),
    [
        ("host", "news.example.com", True),
        ("host", "www.news.example.com", True),
        ("host", "example.com", False),
        ("host", "sport.example.com", False),
        ("host", "news.example.com.evil.net", False),
        ("host", "evilnews.example.com", False),
        ("host", "news.example.com:8080", False),
        ("site", "example.com", True),
        ("site", "a.b.c.example.com", True),
        ("site", "example.com:8443", True),
        ("site", "notexample.com", False),
        ("site", "example.com.cn", False),
        ("any", "whatever.org", True),
        ("any", "127.0.0.1:1", True),
    ],
)
def test_scope_of_a_seed(stay: str, host: str, *, inside: bool) -> None:
    assert Scope(stay, ("news.example.com",)).covers(host) is inside


def test_www_seed_covers_the_bare_host() -> None:
    assert Scope("host", ("www.example.com",)).covers("example.com")
    assert not Scope("host", ("www.example.com",)).covers("news.example.com")


def test_adopted_hosts_count() -> None:
    scope = Scope("host", ("example.com", "news.example.org"))
    assert scope.covers("news.example.org")
    assert not scope.covers("example.org")
    assert Scope("site", ("example.com", "news.example.org")).covers("sport.example.org")


def test_neighbours_under_a_shared_suffix_are_other_sites() -> None:
    scope = Scope("site", ("a.github.io",))
    assert scope.covers("a.github.io")
    assert not scope.covers("b.github.io")
    assert Scope("site", ("news.example.com.cn",)).covers("example.com.cn")
    assert not Scope("site", ("news.example.com.cn",)).covers("other.com.cn")


def test_addresses_have_no_site_but_themselves() -> None:
    scope = Scope("site", ("127.0.0.1:8710",))
    assert scope.covers("127.0.0.1:8711")
    assert not scope.covers("127.0.0.2:8710")
    assert not Scope("host", ("127.0.0.1:8710",)).covers("127.0.0.1:8711")


def test_no_hosts_cover_nothing() -> None:
    assert not Scope("host", ()).covers("h.cn")
    assert not Scope("site", ()).covers("h.cn")


def test_reasons_in_their_order() -> None:
    found = links(
        "http://h.cn/1",
        "https://www.h.cn/2.html",
        "http://o.cn/3.pdf",
        "http://h.cn/4.JPG",
        "http://h.cn/5",
        "http://h.cn/6.pdf",
        "http://h.cn/sitemap.xml.gz",
        nofollow=b"\0\0\1\0\1\1\0",
    )
    targets = resolve(found, Scope("host", ("h.cn",)))
    assert targets.reasons == (None, None, "outside", "file", "nofollow", "file", None)
    assert targets.hosts == ("h.cn", "www.h.cn", "o.cn")
    assert targets.host_of == (0, 1, 2, 0, 0, 0, 0)
    assert targets.sites == ("h.cn", "h.cn", "o.cn")
    assert targets.ids[0] == fingerprint("http://h.cn/1")
    assert targets.host_ids[1] == fingerprint("www.h.cn")
    assert targets.site_ids[1] == fingerprint("h.cn")


def test_links_of_the_own_host_have_forms_when_it_has_rules() -> None:
    urls = ("http://h.cn/1?src=a", "http://h.cn/1", "http://o.cn/1?src=a", "http://h.cn/2?src=a")
    everywhere = Scope("any", ())
    rules = pack([Rule("parameter", "/<number>?src")])
    same, also, foreign, other = resolve(links(*urls), everywhere, "h.cn", rules).forms
    assert same == also != other
    assert foreign is None
    assert None not in {same, other}
    assert resolve(links(*urls), everywhere, "h.cn").forms == ()
    assert resolve(links(urls[2]), everywhere, "h.cn", rules).forms == ()


def test_no_links() -> None:
    assert resolve(Links(), Scope("any", ())) == Links()


def test_columns_that_do_not_fit_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="zip"):
        resolve(links("http://h.cn/1", nofollow=b""), Scope("any", ()))


def test_links_that_are_not_absolute_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="not an absolute URL"):
        resolve(links("/relative"), Scope("any", ()))


@given(
    st.lists(
        st.tuples(st.sampled_from(HOSTS), st.sampled_from(["/", "/a", "/b.pdf", "/c?d=e.jpg"]), st.booleans()),
        max_size=20,
    ),
    st.sampled_from(STAYS),
    st.lists(st.sampled_from(HOSTS), max_size=2),
)
def test_columns_tell_the_same_as_each_link_alone(
    found: list[tuple[str, str, bool]], stay: str, own: list[str]
) -> None:
    urls = [f"http://{host}{path}" for host, path, _ in found]
    nofollow = bytes(no for *_, no in found)
    scope = Scope(stay, tuple(own))
    targets = resolve(links(*urls, nofollow=nofollow), scope)
    assert len(set(targets.hosts)) == len(targets.hosts) == len(targets.host_ids) == len(targets.site_ids)
    assert len(targets.ids) == len(targets.host_of) == len(targets.reasons) == len(urls)
    for i, url in enumerate(urls):
        host = host_key(url)
        at = targets.host_of[i]
        assert targets.ids[i] == fingerprint(url)
        assert (targets.host_ids[at], targets.site_ids[at], targets.sites[at]) == host_identity(host)
        assert targets.hosts[at] == host
        assert targets.sites[at] == site_key(host)
        expected = (
            "outside" if not scope.covers(host) else "file" if file_type(url) else "nofollow" if nofollow[i] else None
        )
        assert targets.reasons[i] == expected


@given(st.sampled_from(HOSTS), st.sampled_from(HOSTS))
def test_wider_scopes_hold_what_narrower_ones_hold(seed: str, host: str) -> None:
    inside = [Scope(stay, (seed,)).covers(host) for stay in STAYS]
    assert inside == sorted(inside)


@each_row(
    ("rules", "path", "broken"),
    [
        ({"below": "/news/"}, "/news/a", ""),
        ({"below": "/news/"}, "/news?page=2", ""),
        ({"below": "/news/"}, "/newsletter", "stay=path /news/"),
        ({"include": ("/a/", "*/2024/*.html")}, "/a/x", ""),
        ({"include": ("/a/", "*/2024/*.html")}, "/b/2024/x.html?y", ""),
        ({"include": ("/a/", "*/2024/*.html")}, "/b/", "include=/a/,*/2024/*.html"),
        ({"exclude": ("/video", "*.php$")}, "/x.php", "exclude=*.php$"),
        ({"exclude": ("/video", "*.php$")}, "/x.php?y", ""),
        ({"exclude": ("/video", "*.php$")}, "/videos/1", "exclude=/video"),
        ({"include": ("/a",), "exclude": ("/a/b",)}, "/a/b/c", "exclude=/a/b"),
        ({"include": ("/a+(b",)}, "/a+(b/c", ""),
    ],
)
def test_rules_for_paths(rules: dict, path: str, broken: str) -> None:
    scope = Scope("host", ("h.cn",), **rules)
    assert scope.refuses(f"http://h.cn{path}") == broken
    assert scope.permits(f"http://h.cn{path}") is not bool(broken)
    assert not scope.permits(f"http://other.cn{path}")
    named = identify(f"http://h.cn{path}", scope=scope)
    assert (named.reason, named.detail) == (("excluded", broken) if broken else (None, ""))
    assert identify(f"http://h.cn{path}", "sitemap", scope).reason is None, "sitemaps are of the whole host"


def test_folders_of_seeds() -> None:
    assert [folder_of(f"http://h.cn{path}") for path in ("/", "/a", "/a/b.htm", "/a/?x=/y")] == [
        "/",
        "/a/",
        "/a/",
        "/a/",
    ]


def test_refused_links_say_which_rule_refused_them() -> None:
    found = links(
        "http://h.cn/a/1",
        "http://h.cn/b",
        "http://o.cn/b",
        "http://h.cn/b.pdf",
        "http://h.cn/c",
        nofollow=b"\0\0\0\0\1",
    )
    resolved = resolve(found, Scope("host", ("h.cn",), include=("/a/",)), "h.cn", blocked={})
    assert resolved.reasons == (None, "excluded", "outside", "file", "excluded")
    assert resolved.details == ("", "include=/a/", "", "", "include=/a/")
    assert resolve(found, Scope("host", ("h.cn",))).details == ()


NOW = 1_715_000_000.0  # 2024-05-06
MAY = Period(Bound.read("2024-05-01"), Bound.read("2024-05-03"))


def read(
    found: Links,
    period: Period,
    kind: PageKind = PageKind.LIST,
    *,
    newest: float | None = None,
    precision: str = "second",
) -> ParseResult:
    scope = Scope("host", ("h.cn",), period=period)
    text = Extraction("新闻" if kind is PageKind.ARTICLE else "")
    dated = Metadata(published_at="2024-04-30T23:00:00-04:00", published_precision=precision)
    page = ParseResult(kind, links=found, extraction=text, metadata=dated)
    return resolve_page(page, "http://h.cn/", scope, now=NOW, newest=newest)


def test_links_dated_outside_of_the_period_are_refused() -> None:
    urls = ("2024/04/01/1", "2024/05/02/1", "2024/05/05/1", "1", "archive/2023/12/", "archive/2024/05/", "archive/2019")
    found = read(links(*(f"http://h.cn/{url}" for url in urls)), MAY).links
    assert found.reasons == ("too old", None, "too new", None, "too old", None, "too old")
    assert found.details == ("2024-04-01", "", "2024-05-05", "", "2023-12-01", "", "2019-01-01")
    assert read(links("http://h.cn/2019/01/01/"), Period()).links.reasons == (None,)


def test_entries_of_feeds_are_refused_by_their_dates() -> None:
    day = 86_400.0
    entries = replace(
        links("http://h.cn/1", "http://h.cn/2", "http://h.cn/3", "http://h.cn/4"),
        dates=(NOW - 9 * day, NOW - 4 * day, NOW, NOW),
        changed=(NOW, NOW, NOW, 0.0),
    )
    found = read(entries, MAY).links
    assert found.reasons == ("too old", None, None, "too new"), "the third was only changed"


def test_further_pages_of_a_list_with_nothing_new_are_refused() -> None:
    pages = ["http://h.cn/list?page=2"]
    blocks = {"blocks": bytes([BlockKind.LIST] * 3 + [BlockKind.PAGINATION])}
    old = [f"http://h.cn/2023/01/0{n}/" for n in (1, 2, 3)]
    since = Period(since=Bound.read("7d"))
    assert read(replace(links(*old, *pages), **blocks), since).links.reasons == ("too old",) * 4
    mixed = [*old[:2], "http://h.cn/2024/05/04/"]
    assert read(replace(links(*mixed, *pages), **blocks), since).links.reasons[-1] is None
    undated = replace(links("http://h.cn/1", "http://h.cn/2", "http://h.cn/3", *pages), **blocks)
    assert read(undated, since).links.reasons == (None,) * 4
    assert read(undated, since, newest=NOW - 30 * 86_400).links.reasons == (None, None, None, "too old")
    assert read(undated, since, newest=NOW).links.reasons == (None,) * 4
    assert read(undated, since, PageKind.ARTICLE, newest=NOW - 30 * 86_400).links.reasons == (None,) * 4


def test_articles_outside_of_the_period_are_told() -> None:
    assert read(links(), MAY, PageKind.ARTICLE).outdated == "too old", "by the calendar of their own zone"
    assert read(links(), Period(until=Bound.read("2024-04-30")), PageKind.ARTICLE).outdated is None
    assert read(links(), Period(until=Bound.read("2024-04-29")), PageKind.ARTICLE).outdated == "too new"
    assert read(links(), Period(), PageKind.ARTICLE).outdated is None


def test_guessed_year_may_be_earlier_but_not_later() -> None:
    assert read(links(), MAY, PageKind.ARTICLE, precision="guess").outdated == "too old"
    earlier = Period(until=Bound.read("2024-04-29"))
    assert read(links(), earlier, PageKind.ARTICLE, precision="guess").outdated is None
