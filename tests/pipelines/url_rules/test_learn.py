"""URL rules of a host: what is learned from which pages, what is not, and that normal forms are stable."""

from __future__ import annotations

import subprocess
import sys
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.records.keys import fingerprint, is_sampled
from pipelines.url_rules.forms import MOST_PAIRS, MOST_SEGMENTS, Rule, Rules, normal_form, pack, take_apart, unpack
from pipelines.url_rules.learn import Learned, Params, bounds, learn
from pipelines.urls import canonicalize
from tests.table import each_row

HOST = "http://a.cn"
SRC = Rule("parameter", "/news/<number>.html?src")


def pages(*shapes: str, articles: int = 30) -> list[tuple[str, int]]:
    """Addresses of some articles, each shape once for each; `{}` is the article's number."""
    return [(HOST + shape.replace("{}", str(100 + i)), i) for i in range(articles) for shape in shapes]


def used(learned: list[Learned]) -> set[str]:
    return {str(one.rule) for one in learned if one.used}


# ---------------------------------------------------------------- forms


@each_row(
    ("path", "pattern"),
    [
        ("/news/123.html", "/news/<number>.html"),
        ("/", "/"),
        ("/a/2024-05-12/x-y", "/a/<date>/<text>"),
        ("/a/2024/05/12/title-of-it.shtml", "/a/<number>/<number>/<number>/<text>.shtml"),
        ("/p/0a1b2c3d4e5f", "/p/<id>"),
        ("/p/1b4e28ba-2fa1-11d2-883f-0016d3cca427/", "/p/<id>/"),
        ("/news/123-some-words", "/news/<number>-<text>"),
        ("/news/some-words_123.html", "/news/<text>_<number>.html"),
        ("/deadbeef", "/deadbeef"),
        ("/news/%E6%96%B0", "/news/<text>"),
    ],
)
def test_paths_have_patterns(path: str, pattern: str) -> None:
    parts = take_apart(HOST + path)
    assert parts is not None
    assert parts.path()[0] == pattern
    assert parts.write((), ()) == HOST + path


@each_row(
    ("url", "form"),
    [
        ("/news/1.html?src=a", "/news/1.html"),
        ("/news/1.html?b=2&src=a&c=3&src=d", "/news/1.html?b=2&c=3"),
        ("/news/1.html?src", "/news/1.html"),
        ("/news/1.html?other=a", None),
        ("/news/1.html", None),
        ("/sport/1.html?src=a", None),
        ("/5-many-words?src=a", "/5-{}?src=a"),
        ("/5-other", "/5-{}"),
        ("/5-7", None),
        ("/any/5/words.htm", "/any/5/{}.htm"),
        ("/any/5/6.htm", None),
    ],
)
def test_rules_strike_out(url: str, form: str | None) -> None:
    rules = Rules([SRC, Rule("slug", "/<number>-*"), Rule("slug", "/<word>/<number>/*.htm")])
    assert normal_form(HOST + url, rules) == (None if form is None else HOST + form)


_pieces = st.text("ab1-_.{}*?%/=&", max_size=12)
_urls = st.builds("http://a.cn/{}?{}".format, _pieces, _pieces).map(canonicalize).filter(bool)


@given(_urls, st.lists(_urls, max_size=20))
def test_form_is_reduced_once_for_all(url: str, others: list[str]) -> None:
    """With rules for everything in the URLs: forms are stable, and no form is a URL of something else."""
    rules = set()
    for one in [url, *others]:
        parts = take_apart(one)
        assert parts is not None
        assert parts.write((), ()) == one
        rules |= {Rule("slug", parts.slug(i)[i % 2]) for i, s in enumerate(parts.segments) if s.mark}
        rules |= {Rule("parameter", f"{parts.path()[1]}?{p.partition('=')[0]}") for p in parts.pairs}
    table = unpack(pack(rules))
    form = normal_form(url, table)
    assert table.rules == rules
    assert table.key(url) == Rules(sorted(rules)).key(url)
    if form is not None and "{}" in form:
        assert canonicalize(form) != form
    elif form is not None:
        assert normal_form(form, table) is None


def test_URLs_of_very_many_parts_are_left_alone() -> None:
    rules = Rules([SRC])
    many = "&".join(f"p{i}=1" for i in range(MOST_PAIRS))
    assert normal_form(f"{HOST}/news/1.html?src=a&{many}", rules) is None
    assert take_apart(f"{HOST}/{'a/' * MOST_SEGMENTS}") is None


def test_forms_are_the_same_in_all_processes() -> None:
    rules = Rules([SRC, Rule("slug", "/<number>-*")])
    url = f"{HOST}/news/1.html?src=a"
    code = f"from pipelines.url_rules.forms import unpack\nprint(unpack({pack(rules.rules)!r}).key({url!r}))"
    root = Path(__file__).parents[3]
    told = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert int(told.stdout) == rules.key(url)
    assert rules.key(url) == rules.key(f"{HOST}/news/1.html")
    assert Rules([SRC]).key(url) != rules.key(url), "forms of other rules never meet"


@each_row("text", ["{", "[1]", '[["parameter"]]', "3"])
def test_malformed_rules_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no text of rules"):
        unpack(text)


# ---------------------------------------------------------------- learning


def test_parameter_that_changes_nothing() -> None:
    found = learn(pages("/news/{}.html", "/news/{}.html?src=home", "/news/{}.html?src=list", articles=13))
    assert found == [
        Learned(SRC, 26, 0, 0.9057, used=True, example=(f"{HOST}/news/100.html", f"{HOST}/news/100.html?src=home")),
    ]
    assert str(SRC) == "?src= ignored in /news/<number>.html"


def test_too_few_pages_make_a_proposal() -> None:
    (found,) = learn(pages("/news/{}.html", "/news/{}.html?src=home", articles=20))
    assert (found.support, found.used) == (20, False)


@each_row(
    ("shapes", "rule"),
    [
        (("/news/{}-old-title", "/news/{}-new-title"), "/news/<number>-*"),
        (("/{}/old-title.html", "/{}/new.html"), "/<number>/*.html"),
        (("/p/old-title-{}.html", "/p/new-{}.html"), "/p/*-<number>.html"),
        (("/news/{}.html", "/sport/{}.html"), "/*/<number>.html"),
    ],
)
def test_slugs(shapes: tuple[str, ...], rule: str) -> None:
    assert used(learn(pages(*shapes))) == {rule}


def test_name_of_sessions_speaks_for_a_rule() -> None:
    few = {"articles": 8}
    assert used(learn(pages("/news/{}.html?sid=0a1b", "/news/{}.html?sid=2c3d", "/news/{}.html?sid=4e5f", **few)))
    assert not used(learn(pages("/news/{}.html?src=0a1b", "/news/{}.html?src=2c3d", "/news/{}.html?src=4e5f", **few)))
    assert not used(learn([(f"{HOST}/show?sid={i}", i // 2) for i in range(40)]))  # a section's number


def test_parameters_that_name_the_page_make_no_rule() -> None:
    for shape in ("/a.php?id={}", "/news/{}.html", "/news/words-of-{}x", "/{}/page-one"):
        assert learn(pages(shape, articles=500)) == []
    assert used(learn(pages("/a.php?id={}", "/a.php?id={}&z=1"))) == {"?z= ignored in /a.php"}
    assert learn([]) == []


def test_words_that_agree_are_one_rule_and_others_are_left_out() -> None:
    agreeing = [
        (f"{HOST}/{channel}/{i}.html?v={v}", 100 * place + i)
        for place, channel in enumerate(("news", "sport"))
        for i in range(30)
        for v in range(2)
    ]
    assert used(learn(agreeing)) == {"?v= ignored in /<word>/<number>.html"}
    gallery = [(f"{HOST}/photos/{i}.html?v={v}", 10_000 + 10 * i + v) for i in range(10) for v in range(3)]
    assert used(learn([*agreeing, *gallery])) == {
        "?v= ignored in /news/<number>.html",
        "?v= ignored in /sport/<number>.html",
    }


def test_one_page_for_every_address_makes_no_rule() -> None:
    """A login wall, an error page: the same text wherever one looks."""
    assert used(learn([(f"{HOST}/a.php?id={i}", 1) for i in range(5000)])) == set()
    assert used(learn([(f"{HOST}/news/{i % 70}/title-{i}", 1) for i in range(5000)])) == set()


def test_rules_that_fail_together_are_not_used_together() -> None:
    shapes = ("/a.php?id={}&aid={}", "/a.php?id={}&aid=x{}", "/a.php?id=y{}&aid={}")
    alone = [used(learn(pages(*two))) for two in (shapes[:2], shapes[::2])]
    assert alone == [{"?aid= ignored in /a.php"}, {"?id= ignored in /a.php"}]
    assert used(learn(pages(*shapes))) == {"?aid= ignored in /a.php"}


def test_rules_that_hold_only_together() -> None:
    found = learn(pages("/{}.html", "/{}.html?src=1", "/{}.html?src=2&app=3"))
    assert used(found) == {"?src= ignored in /<number>.html", "?app= ignored in /<number>.html"}


def test_rule_in_use_goes_when_its_share_falls() -> None:
    good = pages("/news/{}.html", "/news/{}.html?src=1", articles=20)
    assert used(learn(good, [SRC])) == {str(SRC)}, "not sure enough to begin with, but to go on"
    bad = [(f"{HOST}/news/{i}.html?src={j}", 1000 + 10 * i + j) for i in range(3) for j in range(2)]
    assert used(learn([*good, *bad], [SRC])) == set()
    assert used(learn(pages("/{}"), [SRC])) == {str(SRC)}, "nothing is heard of it"


def test_rule_in_use_is_learned_with_the_same_evidence() -> None:
    pages = [(f"http://h.cn/{word}/{n}.html", n) for n in range(40) for word in ("article", "print")]
    first = learn(pages)
    assert first[0].used
    assert learn(pages, [one.rule for one in first if one.used]) == first


@each_row(("sampled", "rules"), [(True, set()), (False, {str(SRC)})])
def test_urls_fetched_in_any_case_count_by_themselves(sampled: bool, rules: set[str]) -> None:  # noqa: FBT001
    """A share among all pages flatters a rule: of what it skips, little is fetched."""
    good = pages("/news/{}.html", "/news/{}.html?src=1", articles=90)
    good = [page for page in good if not is_sampled(fingerprint(page[0]))]
    numbers = (n for n in count(1000) if is_sampled(fingerprint(f"{HOST}/news/{n}.html?src=1")) == sampled)
    bad = [(f"{HOST}/news/{n}.html{q}", 10 * n + len(q)) for n in islice(numbers, 3) for q in ("", "?src=1")]
    bad = [page for page in bad if "?" in page[0] or not is_sampled(fingerprint(page[0]))]
    assert used(learn([*good, *bad], [SRC])) == rules


@each_row("threshold", [0, -1, 1.01])
def test_thresholds_are_shares(threshold: float) -> None:
    with pytest.raises(ValueError, match="threshold"):
        learn([], params=Params(threshold=threshold))


def test_nothing_is_ever_certain() -> None:
    assert used(learn(pages("/{}", "/{}?src=1", articles=3000), params=Params(threshold=1))) == set()


@given(st.integers(0, 400), st.integers(0, 400))
def test_bounds_enclose_the_share(support: int, against: int) -> None:
    low, high = bounds(support, against, 1.645)
    assert 0 <= low <= support / max(1, support + against) or not support + against
    assert low <= high <= 1
    assert bounds(support + 1, against, 1.645)[0] >= low
    assert bounds(support, against + 1, 1.645)[0] <= low


_paths = st.builds("/{}/{}{}".format, st.sampled_from(["n", "s", "1"]), st.integers(1, 4), st.sampled_from(["", "-a"]))
_queries = st.sampled_from(["", "?p=1", "?p=2", "?q=1&p=1", "?p=1&q=2"])


@given(st.data(), st.lists(st.tuples(st.builds("{}{}{}".format, st.just(HOST), _paths, _queries), st.integers(0, 5))))
def test_order_of_pages_makes_no_difference(data: st.DataObject, some: list[tuple[str, int]]) -> None:
    some = list(dict(some).items())
    found = learn(some, params=Params(threshold=0.5))
    assert learn(data.draw(st.permutations(some)), params=Params(threshold=0.5)) == found
    for one in found:
        assert one.support + one.against < len(some)
        assert one.used or one.confidence >= 0.5
        first, second = one.example
        assert dict(some)[first] == dict(some)[second]


def test_hostile_URLs_cost_little() -> None:
    """Sixteen parameters on every parts, all changing: the bounds hold, nothing is learned."""
    query = "&".join(f"p{j}={{}}{'x' * 100}" for j in range(MOST_PAIRS))
    some = [(f"{HOST}/{i}?{query.replace('{}', str(i % 97))}", i // 2) for i in range(500)]
    assert learn(some) == []
    assert learn([(f"{HOST}/{i}?" + "&".join(f"n{i}x{j}=1" for j in range(150)), i) for i in range(500)]) == []
