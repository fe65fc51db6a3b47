"""robots.txt by RFC 9309: whose rules count, which of them, and what it costs to find out."""

from __future__ import annotations

import random
import re
import time

from hypothesis import given
from hypothesis import strategies as st

from crawler.politeness.delay import decode_robots
from crawler.politeness.robots import MOST_RULES, MOST_SITEMAPS, MOST_WILDCARD_CHARS, parse
from tests.benchmarks.robots import compare, make_file
from tests.table import each_row

AGENT = "newscrawler"


def allows(text: str, path: str) -> bool:
    return parse(text, AGENT).allows(f"http://h.cn{path}")


@each_row(
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
def test_parse_knows_our_name_in_any_spelling(line: str) -> None:
    assert not allows(f"User-agent: *\nAllow: /\n\nUser-agent: {line}\nDisallow: /", "/a")


@each_row("line", ["news", "n", "newscrawler-images", "mynewscrawler", "crawler", "新闻", ""])
def test_parse_passes_over_groups_of_others(line: str) -> None:
    assert allows(f"User-agent: {line}\nDisallow: /", "/a")
    assert not allows(f"User-agent: {line}\nAllow: /\n\nUser-agent: *\nDisallow: /", "/a")


def test_parse_joins_groups_of_one_name_and_unknown_lines_end_none() -> None:
    text = (
        "Disallow: /for-nobody\nUser-agent: x\nNoindex: /\nUser-agent: NewsCrawler\nDisallow: /a\n\nSitemap: /s.xml\n"
        "Disallow: /b\nUser-agent: *\nDisallow: /\nUser-agent: newscrawler\nCrawl-delay: 2\nDisallow: /c\n"
        "Crawl-delay: 1"
    )
    robots = parse(text, AGENT)
    assert [path for path in "abcd" if robots.allows(f"http://h.cn/{path}")] == ["d"]
    assert (robots.delay, robots.sitemaps) == (2.0, ("/s.xml",))
    assert allows("User-agent: *\nDisallow: /\nUser-agent: newscrawler\nDisallow:", "/a")


@each_row(
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
def test_allows_matches_rules(rule: str, forbidden: list[str], free: list[str]) -> None:
    text = f"User-agent: *\nDisallow: {rule}"
    assert [path for path in forbidden if allows(text, path)] == []
    assert [path for path in free if not allows(text, path)] == []


@each_row(
    ("rule", "allowed"),
    [
        ("Disallow: http://other.host/", True),
        ("Disallow: https://other.host", True),
        ("Disallow: http://sub.h.cn/x", True),
        ("Disallow: http://h.cn:8080/", True),
        ("Disallow: http://h.cn.evil/", True),
        ("Disallow: http://h.cn/", False),
        ("Disallow: HTTPS://WWW.H.CN/x", False),
        ("Disallow: http://h.cn:80/x", False),
        ("Disallow: http://h.cn", False),
        ("Disallow: /\nAllow: http://h.cn/x", True),
        ("Disallow: /\nAllow: http://other.host/x", False),
    ],
)
def test_rules_with_an_origin_are_for_their_host_alone(rule: str, *, allowed: bool) -> None:
    assert allows(f"User-agent: *\n{rule}", "/x") is allowed


def test_only_rules_end_a_list_of_agents() -> None:
    for line in ("Crawl-delay: 5", "Request-rate: 1/5", "Crawl-delay:", "Sitemap: /s.xml", "Clean-param: a", ""):
        for ours, other in ((AGENT, "b"), ("b", AGENT)):
            text = f"User-agent: {ours}\n{line}\nUser-agent: {other}\nDisallow: /x\nUser-agent: c\nDisallow: /y"
            assert [allows(text, path) for path in ("/x", "/y")] == [False, True]
    assert parse(f"User-agent: {AGENT}\nCrawl-delay: 5\nUser-agent: b\nDisallow: /x", AGENT).delay == 5


def test_differences_to_protego_are_explained() -> None:
    rng = random.Random(7)
    differences = [difference for _ in range(60) for difference in compare(make_file(rng))]
    assert differences
    assert [what for reason, what in differences if not reason] == []


def test_allows_by_the_longest_rule_and_allow_of_equal_ones() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/*/d\nAllow: /a/b/*/*e$\nDisallow: /p\nAllow: /p"
    told = {path: allows(text, path) for path in ("/a/x", "/a/b/x", "/a/b/c/d", "/a/b/c/de", "/a/b/c/dee/", "/p")}
    assert list(told.values()) == [False, True, False, True, False, True]


@each_row("end", ["\n", "\r\n", "\r"])
def test_parse_reads_fields_as_they_are_written(end: str) -> None:
    lines = ["  USER-AGENT : *", "Dissallow:/a # not this", "disallow /b", "User agent x", "Disallow: /c", "Allow"]
    assert [path for path in ("/a", "/b", "/c") if not allows(end.join(lines), path)] == ["/a", "/b"]


@each_row(
    ("said", "delay"),
    [("5", 5), (".5", 0.5), ("7 seconds", 7), ("3s", 3), ("9" * 9_999, float("9" * 100))]
    + [(nonsense, 0) for nonsense in ("1e309", "nan", "inf", "-1", "0x9", "５", "5,5", "1/2", "")],
)
def test_delay_is_the_number_of_seconds(said: str, delay: float) -> None:
    assert parse(f"User-agent: *\nCrawl-delay: {said}", AGENT).delay == delay


@each_row(
    ("said", "seconds"),
    [("1/7", 7), ("2/1m", 30), ("1/1h 0900-1700", 3600), ("0/5", 0), ("1/x", 0), ("1/1hour", 0), ("-1/5", 0)],
)
def test_rate_is_seconds_per_request(said: str, seconds: float) -> None:
    assert parse(f"User-agent: *\nRequest-rate: {said}", AGENT).rate == seconds


def test_decode_robots_reads_other_encodings() -> None:
    text = "User-agent: *\nDisallow: /新/"
    for body in (text.encode("utf-8-sig"), text.encode("utf-16"), b"\xfe\xff" + text.encode("utf-16-be")):
        assert not allows(decode_robots(body), "/%E6%96%B0/1")
    gbk = decode_robots(text.encode("gbk"))
    assert [allows(gbk, path) for path in ("/%D0%C2/1", "/%BE%C9/1")] == [False, True]


def test_parse_costs_grow_with_the_length_alone() -> None:
    agents = "".join(f"User-agent: b{n}\n" for n in range(4_000)) + "User-agent: *\n" * 4_000
    robots = parse(agents + "".join(f"Disallow: /{n}/\n" for n in range(4_000)), AGENT)  # 16 million rules, it says
    assert not robots.allows("http://h.cn/3999/1")
    assert robots.allows("http://h.cn/4000/1")
    assert len(parse("Sitemap: /a\n" * 5_000, AGENT).sitemaps) == MOST_SITEMAPS


def test_parse_forbids_everything_beyond_the_most_rules() -> None:
    rules = "".join(f"Disallow: /{n}/\n" for n in range(MOST_RULES - 1))
    assert allows(f"User-agent: *\n{rules}", "/a")
    assert not allows(f"User-agent: *\n{rules}Allow: /a\nDisallow: /a/b\n", "/a/b")
    assert not allows(f"User-agent: *\n{rules}Allow: /a\nDisallow: /a/b\n", "/a")


@each_row("rule", ["/" + "*a" * 3_000, "/" + "*" * 3_000 + "$", "/a" + "*b" * 2_000 + "$", "/a*ab", "*a*a*a*a*b$"])
def test_allows_takes_bounded_time_for_hostile_patterns(rule: str) -> None:
    robots = parse("User-agent: *\n" + f"Disallow: {rule}\n" * 500 + "Disallow: /x\n", AGENT)
    start = time.process_time()
    assert not robots.allows("http://h.cn/x" + "a" * 2_000)
    assert time.process_time() - start < 3  # where backtracking is to be had, it would take minutes


def test_wildcards_beyond_the_bound_forbid_more_never_less() -> None:
    count = MOST_WILDCARD_CHARS // 10
    text = (
        "User-agent: *\n" + "".join(f"Disallow: /a*{n:07d}\n" for n in range(count)) + "Disallow: /b/*x\nAllow: /b/*z\n"
    )
    assert allows(text, "/a")
    assert not allows(text, "/a/0000007")
    assert not allows(text, "/b/y")
    assert not allows(text, "/b/xz")


RFC_FILE = """
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


@each_row(
    ("agent", "allowed"),
    [
        ("newscrawler", ["/publications/a", "/"]),
        ("foobot", ["/example/page.html", "/example/allowed.gif"]),
        ("barbot", ["/a.gif", "/example/a", "/example/allowed.gif", "/publications/a", "/"]),
        ("bazbot", ["/a.gif", "/example/a", "/example/allowed.gif", "/publications/a", "/"]),
        ("quxbot", ["/a.gif", "/example/a", "/example/page.html", "/example/allowed.gif", "/publications/a", "/"]),
    ],
)
def test_rfc_9309_simple_example(agent: str, allowed: list[str]) -> None:
    paths = ["/a.gif", "/example/a", "/example/page.html", "/example/allowed.gif", "/publications/a", "/"]
    robots = parse(RFC_FILE, agent)
    assert [path for path in paths if robots.allows(f"http://h.cn{path}")] == allowed


def test_rfc_9309_longest_match() -> None:
    text = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif"
    told = [parse(text, "foobot").allows(f"http://h.cn/example/page/{end}") for end in ("", "disallowed.gif")]
    assert told == [True, False]


@each_row(
    ("rule", "path"),
    [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/\u30c4", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
        ("/this/*/exactly$", "/this/and/that/exactly"),
    ],
)
def test_rfc_9309_paths_to_match(rule: str, path: str) -> None:
    assert not allows(f"User-agent: *\nDisallow: {rule}", path)
    assert allows(f"User-agent: *\nDisallow: {rule}", path[:-1])


def test_rfc_9309_groups_of_one_agent_are_joined() -> None:
    text = (
        "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\n"
        "user-agent: *\ndisallow: /all\n\nuser-agent: ExampleBot\ndisallow: /baz\n"
    )
    robots = parse(text, "examplebot")
    paths = ("foo", "bar", "baz", "all")
    assert [path for path in paths if robots.allows(f"http://h.cn/{path}")] == ["all"]


RULES = st.lists(
    st.tuples(st.sampled_from(["Allow", "Disallow"]), st.text("ab/*", max_size=6).map("/".__add__)), max_size=6
)


def longest_match(rules: list[tuple[str, str]], path: str) -> bool:
    """RFC 9309 in the obvious way: each rule a regular expression."""
    found = [
        (len(rule), name == "Allow")
        for name, rule in rules
        if re.match(".*".join(map(re.escape, re.split(r"[*]+", rule))), path)
    ]
    return max(found, default=(0, True))[1]


@given(RULES, st.text("ab/", max_size=6).map("/".__add__))
def test_allows_as_the_obvious_reader_does(rules: list[tuple[str, str]], path: str) -> None:
    text = "User-agent: *\n" + "\n".join(f"{name}: {value}" for name, value in rules)
    assert allows(text, path) == longest_match(rules, path)


@given(st.text(), st.text(max_size=20))
def test_parse_never_raises(text: str, path: str) -> None:
    for whole in (text, f"User-agent: *\nDisallow: {text}\nCrawl-delay: {text}\nRequest-rate: {text}"):
        robots = parse(whole, AGENT)
        robots.allows(f"http://h.cn/{path}")
        assert robots.delay >= 0 <= robots.rate
