"""Entropy of terms, anchors and structure (S14)."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import Document, parse
from pipelines.extract import extractor
from pipelines.extract.entropy import (
    Params,
    candidates,
    entropies,
    extract,
    information,
    structure,
)
from tests.table import each_row

NOTICE = "本网站所载内容均由会员单位提供，读者如有疑问，可在工作日拨打服务台电话咨询，我们将尽快答复。" * 3
TOPICS = ["地铁隧道施工进展", "海港渔船返航记录", "山村小学图书捐赠", "棉田灌溉设备检修"]


def page(n: int) -> Document:
    topic = TOPICS[n]
    text = "".join(
        f"<p>{topic}第{part}期：{topic[::-1]}，{topic[2:]}的工作人员{part}日说明了情况。</p>" for part in range(4)
    )
    links = f"<ul><li><a href='/x'>{topic}后续</a></li><li><a href='/y'>首页导航</a></li></ul>"
    body = f"<div class='text'>{text}</div>{links}<div class='foot'><p>{NOTICE}</p><p>{NOTICE}</p></div>"
    return parse(f"<html><title>{topic}</title><body>{body}</body></html>".encode(), f"http://h.cn/{n}")


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
