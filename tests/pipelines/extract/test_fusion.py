"""Pruned leaves, their densities, and worthless words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pipelines.document.document import Document, parse
from pipelines.extract.fusion import Params, extract, fusion_rate, leaves, log_odds, word_set
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


@each_row("tag", ["x-login", "svg:text"])
def test_elements_of_no_standard_are_pruned(tag: str) -> None:
    document = page(f"<p>{TEXT * 3}</p><{tag}><p>请输入您的用户名和密码。</p></{tag}>")
    assert leaves(document, OPEN).tolist() == [True, False]


def test_densities() -> None:
    """TEXT has 51 characters: r1 is 51, 1 and 51 of 103 outside links, r2 of the last leaf one link for 51."""
    document = page(f"<p>{TEXT}</p><p>短</p><p>{TEXT}<a href=/>{TEXT}</a></p>")

    def passing(**values: float) -> list[bool]:
        return leaves(document, Params(**{"bottom": 1, "text_density": 0, **values})).tolist()

    assert passing(text_density=1 / 103, link_density=0.01) == [True, True, False]
    assert passing(text_density=2 / 103, link_density=0.01) == [True, False, False]
    assert passing(link_density=1 / 51) == [True, True, True]


def test_many_short_links_count_and_one_long_does_not() -> None:
    """链接数量与纯文本数量的比值: links are counted, not their characters."""
    many = "".join(f"<a href=/{n}>{n}</a>" for n in range(9))
    document = page(f"<p>{TEXT}<a href=/>{TEXT[:40]}</a></p><p>{TEXT}{many}</p>")
    assert leaves(document, Params(link_density=0.05, bottom=1)).tolist() == [True, False]


def test_fusion_rate() -> None:
    """Eight elements; html, body, div and two p stay, b is fused, form and its p are pruned."""
    document = page(f"<html><body><div><p>{TEXT * 2}</p><p><b>{TEXT}</b></p></div><form><p>短</p></form></body></html>")
    assert len(document.tags) == 8
    assert fusion_rate(document) == pytest.approx(3 / 8)


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
    model = learn(texts)
    # Four texts of each class: P(good | worthy) is (4 + 1) / (4 + 2), P(good | worthless) (0 + 1) / (4 + 2).
    assert model.prior == 0
    assert model.words == pytest.approx({"good": math.log(5), "bad": -math.log(5), "day": 0})
    assert model.absent == pytest.approx({"good": -math.log(5), "bad": math.log(5), "day": 0})
    # good is there and bad is not, whatever else is
    assert log_odds("good good unknown", model) == pytest.approx(2 * math.log(5))
    assert log_odds("unknown", model) == pytest.approx(0)


def test_stop_words_are_left_out() -> None:
    assert word_set("the bridge of the 的") == {"bridg"} or word_set("the bridge of the 的") == {"bridge"}


def test_topic_of_a_thread_stays_and_low_replies_go() -> None:
    """在保留主题基础上, 对这些回复进行过滤; with `judge_first` a worthless topic takes the page with it."""
    low = "版权所有，未经授权不得转载，违者必究。京ICP备12345678号 版权所有，未经授权不得转载，违者必究。"
    thread = page(f"<p>{low}</p><p>{TEXT}</p><p>{low}</p>")
    assert extract(thread, OPEN).text == f"{low}\n{TEXT}"
    assert extract(thread, replace(OPEN, judge_first=True)).text == ""


def test_words_are_chosen_by_information_gain() -> None:
    texts = [("good day", True)] * 4 + [("bad day", False)] * 4
    assert set(learn(texts, 2).words) == {"good", "bad"}
    assert learn(texts, 2) == learn(list(reversed(texts)), 2)


def test_nothing_is_learnt_from_one_class() -> None:
    with pytest.raises(ValueError, match="9 worthy and 0 worthless"):
        learn([("good", True)] * 9)
    with pytest.raises(ValueError, match="count is 0"):
        learn([], 0)
