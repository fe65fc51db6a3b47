"""robots.txt by RFC 9309: whose rules count, which of them, and what it costs to find out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protego import Protego

from crawler.politeness.delay import decode_robots
from crawler.politeness.robots import MOST_SITEMAPS, MOST_WILDCARD_CHARS, parse

AGENT = "newscrawler"


def allows(text: str, path: str) -> bool:
    return parse(text, AGENT).allows(f"http://h.cn{path}")


@pytest.mark.parametrize(
    "line",
    [
        "NewsCrawler",
        "newscrawler/0.1",
        "NEWSCRAWLER/2 (+http://x.cn)",
        "newscrawler*",
        "*newscrawler*",
        "newscrawler #",
    ],
)
def test_our_name_in_any_dress(line: str) -> None:
    assert not allows(f"User-agent: *\nAllow: /\n\nUser-agent: {line}\nDisallow: /", "/a")


@pytest.mark.parametrize("line", ["news", "n", "newscrawler-images", "mynewscrawler", "crawler", "新闻", ""])
def test_names_of_others(line: str) -> None:
    assert allows(f"User-agent: {line}\nDisallow: /", "/a")
    assert not allows(f"User-agent: {line}\nAllow: /\n\nUser-agent: *\nDisallow: /", "/a")


def test_groups_of_one_name_are_one_and_lines_of_other_kinds_end_none() -> None:
    text = (
        "Disallow: /for-nobody\nUser-agent: x\nNoindex: /\nUser-agent: NewsCrawler\nDisallow: /a\n\nSitemap: /s.xml\n"
        "Disallow: /b\nUser-agent: *\nDisallow: /\nUser-agent: newscrawler\nCrawl-delay: 2\nDisallow: /c\n"
        "Crawl-delay: 1"
    )
    robots = parse(text, AGENT)
    assert [path for path in "abcd" if robots.allows(f"http://h.cn/{path}")] == ["d"]
    assert (robots.delay, robots.sitemaps) == (2.0, ("/s.xml",))
    assert allows("User-agent: *\nDisallow: /\nUser-agent: newscrawler\nDisallow:", "/a")


@pytest.mark.parametrize(
    ("rule", "forbidden", "free"),
    [
        ("/a", ["/a", "/ab", "/a/b", "/a?x"], ["/", "/b/a", "/A"]),
        ("/a$", ["/a"], ["/ab", "/a?x"]),
        ("/*.php$", ["/x.php", "/a/b.php"], ["/x.php?a", "/x.phpx"]),
        ("/*/b*c", ["/a/b/c", "/a/b/bc?d"], ["/b/c", "/a/c"]),
        ("/a*", ["/a", "/ab"], ["/b"]),
        ("*", ["/", "/a"], []),
        ("/*?print=", ["/a?print=1"], ["/a", "/a?x&print=1"]),
        ("/%e6%96%b0/", ["/%E6%96%B0/1"], ["/%E6%97%B0/1"]),
        ("/新/", ["/%E6%96%B0/1"], ["/x"]),
        ("/%61%2F", ["/a%2F1"], ["/a/1"]),
        ("/x%2A$", ["/x*"], ["/xy", "/x"]),
        ("/p$q", ["/p$q", "/p%24q"], ["/p"]),
        ("private", ["/private/1"], ["/x/private"]),
        ("https://h.cn/private", ["/private/1"], ["/x"]),
        ("/ab", [], ["/robots.txt", "/a"]),
        ("/", ["/a"], ["/robots.txt"]),
        ("", [], ["/a"]),
        ("/a//**//b$$", [], ["/a"]),
    ],
)
def test_what_a_rule_matches(rule: str, forbidden: list[str], free: list[str]) -> None:
    text = f"User-agent: *\nDisallow: {rule}"
    assert [path for path in forbidden if allows(text, path)] == []
    assert [path for path in free if not allows(text, path)] == []


def test_the_longest_rule_counts_and_allow_of_equal_ones() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/*/d\nAllow: /a/b/*/*e$\nDisallow: /p\nAllow: /p"
    told = {path: allows(text, path) for path in ("/a/x", "/a/b/x", "/a/b/c/d", "/a/b/c/de", "/a/b/c/dee/", "/p")}
    assert list(told.values()) == [False, True, False, True, False, True]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_fields_as_they_are_written(end: str) -> None:
    lines = ["  USER-AGENT : *", "Dissallow:/a # not this", "disallow /b", "User agent x", "Disallow: /c", "Allow"]
    assert [path for path in ("/a", "/b", "/c") if not allows(end.join(lines), path)] == ["/a", "/b"]


@pytest.mark.parametrize(
    ("said", "delay"),
    [("5", 5), (".5", 0.5), ("7 seconds", 7), ("3s", 3), ("9" * 9_999, float("9" * 100))]
    + [(nonsense, 0) for nonsense in ("1e309", "nan", "inf", "-1", "0x9", "５", "5,5", "1/2", "")],
)
def test_delays(said: str, delay: float) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {said}", AGENT).delay == delay


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("1/7", 7), ("2/1m", 30), ("1/1h 0900-1700", 3600), ("0/5", 0), ("1/x", 0), ("1/1hour", 0), ("-1/5", 0)],
)
def test_rates(said: str, seconds: float) -> None:
    assert parse(f"User-agent: *\nRequest-rate: {said}", AGENT).rate == seconds


def test_other_encodings() -> None:
    text = "User-agent: *\nDisallow: /新/"
    for body in (text.encode("utf-8-sig"), text.encode("utf-16"), b"\xfe\xff" + text.encode("utf-16-be")):
        assert not allows(decode_robots(body), "/%E6%96%B0/1")
    gbk = decode_robots(text.encode("gbk"))
    assert [allows(gbk, path) for path in ("/%D0%C2/1", "/%BE%C9/1")] == [False, True]


def test_what_it_costs_grows_with_the_length_alone() -> None:
    agents = "".join(f"User-agent: b{n}\n" for n in range(4_000)) + "User-agent: *\n" * 4_000
    robots = parse(agents + "".join(f"Disallow: /{n}/\n" for n in range(4_000)), AGENT)  # 16 million rules, it says
    assert not robots.allows("http://h.cn/3999/1")
    assert robots.allows("http://h.cn/4000/1")
    assert len(parse("Sitemap: /a\n" * 5_000, AGENT).sitemaps) == MOST_SITEMAPS


def test_wildcards_beyond_the_bound_forbid_more_never_less() -> None:
    count = MOST_WILDCARD_CHARS // 10
    text = (
        "User-agent: *\n" + "".join(f"Disallow: /a*{n:07d}\n" for n in range(count)) + "Disallow: /b/*x\nAllow: /b/*z\n"
    )
    assert allows(text, "/a")
    assert not allows(text, "/a/0000007")
    assert not allows(text, "/b/y")
    assert not allows(text, "/b/xz")


RULES = st.lists(
    st.tuples(st.sampled_from(["Allow", "Disallow"]), st.text("ab/*", max_size=6).map("/".__add__)), max_size=6
)


@settings(deadline=None, max_examples=200)
@given(RULES, st.text("ab/", max_size=6).map("/".__add__))
def test_as_another_reader_has_it(rules: list[tuple[str, str]], path: str) -> None:
    text = "User-agent: *\n" + "\n".join(f"{name}: {value}" for name, value in rules)
    # that one reads `//a` at the beginning of a path as the name of a host
    if not path.startswith("//"):
        assert allows(text, path) == Protego.parse(text).can_fetch(f"http://h.cn{path}", AGENT)


@settings(deadline=None, max_examples=150)
@given(st.text(), st.text(max_size=20))
def test_no_text_makes_it_raise(text: str, path: str) -> None:
    for whole in (text, f"User-agent: *\nDisallow: {text}\nCrawl-delay: {text}\nRequest-rate: {text}"):
        robots = parse(whole, AGENT)
        robots.allows(f"http://h.cn/{path}")
        assert robots.delay >= 0 <= robots.rate
