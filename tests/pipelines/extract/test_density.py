"""Density of text and symbols."""

from __future__ import annotations

import math
from statistics import pstdev

import pytest

from pipelines.document.document import parse
from pipelines.extract.density import Params, extract, scores

BODY = "<div><p>甲乙丙丁，戊己庚辛。</p><p>子丑寅卯，辰巳午未。</p></div><ul><li><a href='/a'>频道一</a></li></ul>"


def test_scores_by_hand() -> None:
    document = parse(f"<html><body>{BODY}</body></html>".encode(), "")
    # html, body, div, p, p, ul, li, a: (T - LT) / (TG - LTG) with the node's own tag
    deviation = math.log(pstdev([20 / 7, 20 / 6, 20 / 3, 10, 10, 0, 0, 0]))
    div = deviation * 20 / 3 * math.log10(2 + 2) * math.log(20 / (4 + 1))
    paragraph = deviation * 10 * math.log10(1 + 2) * math.log(10 / (2 + 1))
    found = dict(zip(document.tags, scores(document).tolist(), strict=True))
    assert found["div"] == pytest.approx(div)
    assert found["p"] == pytest.approx(paragraph)
    assert [found[tag] for tag in ("ul", "li", "a")] == [0, 0, 0]


def test_wrapper_of_paragraphs_wins() -> None:
    assert extract(parse(BODY.encode(), ""), Params(min_chars=10)).text == "甲乙丙丁，戊己庚辛。\n子丑寅卯，辰巳午未。"
