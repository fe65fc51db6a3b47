"""Which blocks of a page belong to a known text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document.document import parse
from pipelines.training.examples import example, labels, weights
from tests.table import each_row

FIRST = "河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。"
SECOND = "大桥全长两千四百米，设双向六车道，两侧各有人行道。"


def content(markup: str, gold: str) -> list[str]:
    document = parse(markup.encode(), "http://e.com/")
    return [text for text, flag in zip(document.blocks.texts, labels(document, gold), strict=True) if flag]


def test_blocks_of_the_text_are_content() -> None:
    markup = f"<nav><a href=/>首页</a></nav><h1>大桥年底通车</h1><p>{FIRST}</p><p>广告：买房就选河口</p><p>{SECOND}</p>"
    assert content(markup, f"{FIRST}\n{SECOND}") == [FIRST, SECOND]


def test_lines_may_be_cut_otherwise() -> None:
    assert content(f"<div>{FIRST}<br>{SECOND}</div>", f"　　{FIRST}{SECOND}") == [FIRST, SECOND]


def test_of_repeated_blocks_those_beside_other_content_are_taken() -> None:
    markup = f"<div>{FIRST}</div>" + "<p>别的新闻别的新闻别的新闻</p>" * 5 + f"<p>{FIRST}</p><p>{SECOND}</p>"
    document = parse(markup.encode(), "http://e.com/")
    assert labels(document, f"{FIRST}\n{SECOND}").nonzero()[0].tolist() == [6, 7]


def test_text_that_stands_twice_is_taken_once() -> None:
    markup = f"<p>{FIRST}</p><p>{SECOND}</p>" * 2
    assert content(markup, f"{FIRST}\n{SECOND}") == [FIRST, SECOND]


def test_short_lines_count_near_content_only() -> None:
    far = "<p>二、位置</p>" + "<p>别的新闻别的新闻别的新闻</p>" * 6
    assert content(f"{far}<p>{FIRST}</p><p>二、位置</p>", f"{FIRST}\n二、位置") == [FIRST, "二、位置"]


def test_text_of_short_lines() -> None:
    assert content("<p>床前明月光</p><p>疑是地上霜</p><p>广告</p>", "床前明月光\n疑是地上霜") == [
        "床前明月光",
        "疑是地上霜",
    ]


def test_weights_are_characters_and_nothing_for_the_headline() -> None:
    document = parse(f"<h1>大桥年底通车</h1><p>{FIRST}</p><p>资料图</p>".encode(), "http://e.com/")
    assert weights(document, "大桥 年底通车", ["资料图"]).tolist() == [0, len(FIRST), 0]


def test_example_of_a_row() -> None:
    body = f"<h1>大桥年底通车</h1><p>{FIRST}</p>".encode()
    made = example(body, {"id": "a", "text": FIRST, "title": "大桥年底通车", "url": None})
    assert made is not None
    assert made.article
    assert made.content.tolist() == [False, True]
    assert made.weights.tolist() == [0, len(FIRST)]


def test_page_that_is_no_article_has_no_content() -> None:
    made = example(f"<p>{FIRST}</p>".encode(), {"id": "a", "text": FIRST, "page_type": "list"})
    assert made is not None
    assert not made.article
    assert not made.content.any()


@each_row("row", [{"id": "a", "text": "别的文字在这里出现了"}, {"id": "a", "text": FIRST, "coverage": 0.2}])
def test_page_without_its_text_is_no_example(row: dict[str, object]) -> None:
    assert example(f"<p>{FIRST}</p><p>{SECOND}</p>".encode(), row) is None


@each_row("row", [{}, {"id": 7, "text": ""}, {"id": ""}, {"id": "a"}, {"id": "a", "text": 1}])
def test_row_that_says_too_little_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="takes a string"):
        example(b"<p>x</p>", row)


@given(st.lists(st.text(max_size=40), max_size=12), st.text(max_size=120))
def test_one_flag_and_weight_per_block(lines: list[str], gold: str) -> None:
    document = parse("".join(f"<p>{line}</p>" for line in lines).encode("utf-8", "replace"), "")
    assert len(labels(document, gold)) == len(weights(document, gold)) == len(document.blocks)
    assert not labels(document, "").any()


def test_suspect_text_is_no_example() -> None:
    row = {"id": "a", "text": FIRST, "host": "www.news.example.com"}
    made = example(f"<p>{FIRST}</p>".encode(), row)
    assert made is not None
    assert made.site == "example.com"
    assert example(f"<p>{FIRST}</p>".encode(), row | {"suspect": True}) is None
