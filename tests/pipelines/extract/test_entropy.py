"""Entropy of terms, anchors and structure (S14)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import Document, parse
from pipelines.extract import extractor
from pipelines.extract.entropy import (
    Params,
    add_pages,
    anchor_index,
    candidates,
    entropies,
    extract,
    extract_alone,
    information,
    information_blocks,
    structure,
    term_counts,
    term_key,
    term_weights,
)
from pipelines.parse_page import parse_page
from pipelines.records import NO_TERMS, BlockKind, SiteTerms
from pipelines.site_memory.knowledge import NOTHING, learn, pack
from tests.table import each_row

NOTICE = "本网站所载内容均由会员单位提供，读者如有疑问，可在工作日拨打服务台电话咨询，我们将尽快答复。" * 3
TOPICS = ["地铁隧道施工进展", "海港渔船返航记录", "山村小学图书捐赠", "棉田灌溉设备检修"]


def source(n: int) -> bytes:
    topic = TOPICS[n]
    text = "".join(
        f"<p>{topic}第{part}期：{topic[::-1]}，{topic[2:]}的工作人员{part}日说明了情况。</p>" for part in range(4)
    )
    links = f"<ul><li><a href='/x'>{topic}后续</a></li><li><a href='/y'>首页导航</a></li></ul>"
    body = f"<div class='text'>{text}</div>{links}<div class='foot'><p>{NOTICE}</p><p>{NOTICE}</p></div>"
    return f"<html><title>{topic}</title><body><h1>{topic}</h1>{body}</body></html>".encode()


def page(n: int) -> Document:
    return parse(source(n), f"http://h.cn/{n}")


def keyed(counts: Counter[str]) -> dict[int, int]:
    return {term_key(term): count for term, count in counts.items()}


def site_of(pages: Sequence[Counter[str]], fading: float = 1.0) -> SiteTerms:
    return add_pages(NO_TERMS, [keyed(each) for each in pages], 10_000, fading)


PAGES = [page(n) for n in range(4)]


def test_entropy_of_terms() -> None:
    found = entropies([Counter(everywhere=2, here=3, twice=1), Counter(everywhere=2, twice=1), Counter(everywhere=2)])
    assert found["everywhere"] == pytest.approx(1.0)
    assert found["here"] == 0.0
    assert found["twice"] == pytest.approx(math.log(2) / math.log(3))


def test_of_one_part_nothing_is_known() -> None:
    assert entropies([Counter(a=3, b=1)]) == {"a": 0.0, "b": 0.0}
    assert entropies([]) == {}


def test_structure() -> None:
    assert structure([3, 3, 3]) == pytest.approx(1.0)
    assert structure([100, 1]) < 0.1
    assert structure([5]) == structure([]) == structure([0, 7]) == 0.0


@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50)), max_size=6))
def test_entropies_lie_between_0_and_1(parts: list[dict[str, int]]) -> None:
    found = entropies([Counter(part) for part in parts])
    assert all(0.0 <= entropy <= 1.0 + 1e-9 for entropy in found.values())
    assert set(found) == {term for part in parts for term in part}


@given(st.lists(st.floats(0, 1e6), max_size=9))
def test_structure_lies_between_0_and_1(shares: list[float]) -> None:
    assert -1e-9 <= structure(shares) <= 1.0 + 1e-9


def test_candidates_do_not_overlap() -> None:
    _, amount = information(PAGES[0])
    found = candidates(PAGES[0], amount, Params())
    assert all(PAGES[0].ends[a] <= b for a, b in pairwise(found))


def test_page_alone() -> None:
    text = "".join(f"<p>市政府昨天宣布，新的地铁线路第{n}段将开工建设，地铁线路设十五座车站。</p>" for n in range(6))
    menu = "".join(f"<a href='/{word}'>{word}</a>" for word in ["新闻", "体育", "财经", "娱乐"])
    document = parse(f"<body><div>{menu}</div><div>{text}</div></body>".encode(), "http://h.cn/")
    found = extract(document, Params())
    assert found.text.count("\n") == 5
    assert 0 < found.confidence <= 1


@each_row("body", [b"", b"x", b"<body></body>", b"<a href='/'>link</a>" * 50, b"<p>" * 500])
def test_nearly_nothing(body: bytes) -> None:
    found = extractor("entropy")(parse(body, "http://h.cn/"))
    assert found.text == ""
    assert found.reason


# ---------------------------------------------------------------- the pages of a site


def test_weights_among_the_pages_of_a_site() -> None:
    """With this page there are four.

    "menu": a quarter on each, EN = -4 x 1/4 log4(1/4) = 1, weight 0.
    "ferry": half on each of two, EN = -2 x 1/2 log4(1/2) = 1/2, weight 1/2.
    "tide": 1 of 4 there, 3 of 4 here, EN = (1/4 ln 4 + 3/4 ln 4/3) / ln 4 = .5623 / 1.3863 = .4056, weight .5944.
    "quay": on this page alone, EN = 0, weight 1.
    """
    site = site_of([Counter(menu=1, ferry=2), Counter(menu=1, tide=1), Counter(menu=1)])
    weights = term_weights(Counter(menu=1, ferry=2, tide=3, quay=5), site)
    assert weights == pytest.approx({"menu": 0.0, "ferry": 0.5, "tide": 0.5944, "quay": 1.0}, abs=1e-4)


def test_older_pages_fade() -> None:
    """Two pages with one occurrence each weigh 1/2 and 1: total 3/2, sum of x ln x = -ln 2 / 2."""
    (spread,) = site_of([Counter(a=1), Counter(a=1)], fading=0.5).terms.values()
    assert spread == pytest.approx((1.5, -math.log(2) / 2))


def test_widest_spread_terms_stay() -> None:
    pages = [keyed(Counter({"menu": 1, f"word{n}": 9})) for n in range(5)]
    assert set(add_pages(NO_TERMS, pages, 1).terms) == {term_key("menu")}


COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1).map(Counter)


@given(st.lists(COUNTS, min_size=1, max_size=6), COUNTS)
def test_weights_of_a_site_are_those_of_its_pages_together(pages: list[Counter[str]], now: Counter[str]) -> None:
    entropy_of = entropies([*pages, now])
    expected = {term: 1 - entropy_of[term] for term in now}
    assert term_weights(now, site_of(pages)) == pytest.approx(expected, abs=1e-9)


def test_term_that_one_site_repeats_weighs_nothing_there_and_much_among_sites() -> None:
    """The paper's comparison of its two formulas: over the pages of a site, and over sites."""
    here, there = [Counter(menu=1), Counter(menu=1)], [Counter(other=1), Counter(other=1)]
    assert entropies(here)["menu"] == 1.0
    assert entropies([sum(here, Counter()), sum(there, Counter())])["menu"] == 0.0


def test_anchor_is_worth_what_its_target_says() -> None:
    """Of three terms two are on the target: AP = 2/3, and max(.9, 2/3) + max(.1, 2/3) + max(1, 2/3) = 2.5667."""
    weights, anchor = {"bridge": 0.9, "news": 0.1, "opens": 1.0}, ["bridge", "news", "opens"]
    assert anchor_index(anchor, weights, {"bridge", "opens"}) == pytest.approx(2.5667 / 3, abs=1e-4)
    assert anchor_index(anchor, weights) == pytest.approx(2 / 3)
    assert anchor_index([], weights) == 0.0


def test_text_and_topic_links_of_a_page() -> None:
    document = PAGES[3]
    weights = term_weights(term_counts(document), site_of([term_counts(each) for each in PAGES[:3]]))
    text, links = information_blocks(document, weights, Params())
    assert [document.names[node] for node in text] == ["text"]
    anchors = [anchor for node, _, _, anchor, _ in document.links if any(n <= node < document.ends[n] for n in links)]
    assert anchors == [f"{TOPICS[3]}后续"]


def test_link_to_a_page_on_its_terms_is_a_topic_link() -> None:
    document = PAGES[3]
    weights = term_weights(term_counts(document), site_of([term_counts(each) for each in PAGES[:3]]))
    _, linked = information_blocks(document, weights, Params(anchors=0.9), {"/y": {"首页", "页导", "导航"}})
    assert [document.tags[node] for node in linked] == ["ul"]


def test_site_that_is_not_known_is_read_page_by_page() -> None:
    document = page(0)
    document.site_terms = site_of([term_counts(each) for each in PAGES[1:3]])
    assert extract(document, Params()) == extract_alone(document, Params())
    document.site_terms = site_of([term_counts(each) for each in PAGES[1:]])
    assert extract(document, Params()) != extract_alone(document, Params())


def test_worker_learns_the_terms_of_a_site() -> None:
    now, model = datetime(2024, 5, 1, tzinfo=UTC), NOTHING
    for n in range(3):
        first = parse_page(source(n), f"http://h.cn/{n}", fetched_at=now, extractor="entropy", site_model=pack(model))
        assert first.stories == ()
        assert first.sample is not None
        model = learn(model, first.sample)
    known = parse_page(source(3), "http://h.cn/3", fetched_at=now, extractor="entropy", site_model=pack(model))
    assert NOTICE not in known.extraction.text
    assert known.stories == (("http://h.cn/x", f"{TOPICS[3]}后续"),)
    assert known.links.blocks[known.links.urls.index("http://h.cn/x")] == BlockKind.RELATED
