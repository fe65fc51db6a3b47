"""Pruned leaves, their densities, and worthless words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipelines.document.document import Document, parse
from pipelines.extract.fusion import Params, extract, leaves, log_odds
from pipelines.training.examples import example
from pipelines.training.naive_bayes import labelled_leaves, learn
from tests.table import each_row

TEXT = "河口大桥年底通车，届时两岸居民过江只要五分钟。负责施工的工程师说，最难的是深水区的三座主墩，工期很短。"
OPEN = Params(bottom=1)


def page(body: str) -> Document:
    return parse(body.encode(), "http://e.com/")


@each_row("hiding", ["<form>{}</form>", "<div hidden>{}</div>", "<div style='display: none'>{}</div>"])
def test_forms_and_what_is_hidden_are_pruned(hiding: str) -> None:
    document = page(f"<p>{TEXT * 3}</p>{hiding.format('<p>请输入您的用户名和密码。</p>')}")
    assert leaves(document, OPEN).tolist() == [True, False]


def test_but_not_what_holds_the_page() -> None:
    assert leaves(page(f"<form><p>{TEXT}</p><p>{TEXT}</p></form>"), OPEN).all()


def test_densities() -> None:
    document = page(f"<p>{TEXT}</p><p>短</p><p>{TEXT}<a href=/>{TEXT}</a></p>")
    chars = np.array(document.blocks.chars)
    assert leaves(document, Params(text_density=1 / chars.sum(), link_density=0.2, bottom=1)).tolist() == [
        True,
        True,
        False,
    ]
    assert leaves(document, Params(text_density=2 / chars.sum(), link_density=0.2, bottom=1)).tolist() == [
        True,
        False,
        False,
    ]
    assert leaves(document, Params(link_density=0.5, text_density=0.1, bottom=1)).tolist() == [True, False, True]


def test_place_on_the_page() -> None:
    document = page(f"<p>{TEXT}</p>" * 4)
    # Middles at 1/8, 3/8, 5/8 and 7/8.
    assert leaves(document, Params(top=0.2, bottom=0.8)).tolist() == [False, True, True, False]


def test_worthless_leaves_are_dropped() -> None:
    body = f"<p>{TEXT}</p><p>版权所有，未经授权不得转载，违者必究。京ICP备12345678号</p><p>{TEXT}</p>"
    assert extract(page(body), Params()).text == f"{TEXT}\n{TEXT}"


def test_labelled_leaves() -> None:
    body = f"<h1>大桥年底通车</h1><p>{TEXT}</p><p>版权所有，不得转载。</p><p><a href=/>首页</a></p>"
    made = example(body.encode(), {"id": "a", "text": TEXT, "title": "大桥年底通车"})
    assert made is not None
    assert list(labelled_leaves([made], OPEN)) == [(TEXT, True), ("版权所有，不得转载。", False)]


def test_odds_by_hand() -> None:
    texts = [("good day", True)] * 4 + [("bad day", False)] * 4
    found = learn(texts)
    # Three words; of the words of worthy texts 4 + 1 of 8 + 3 are "good", of the others 0 + 1 of 8 + 3.
    assert found.prior == 0
    assert found.words == pytest.approx({"good": math.log(5), "bad": -math.log(5), "day": 0})
    assert log_odds("good good unknown", found) == pytest.approx(math.log(5))


def test_words_are_chosen_by_information_gain() -> None:
    texts = [("good day", True)] * 4 + [("bad day", False)] * 4
    assert set(learn(texts, 2).words) == {"good", "bad"}
    assert learn(texts, 2) == learn(list(reversed(texts)), 2)


def test_nothing_is_learnt_from_one_class() -> None:
    with pytest.raises(ValueError, match="9 worthy and 0 worthless"):
        learn([("good", True)] * 9)
    with pytest.raises(ValueError, match="count is 0"):
        learn([], 0)
