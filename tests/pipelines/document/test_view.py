"""Measures of a page, sums over sub-trees and the blocks in them."""

from __future__ import annotations

import doctest
import gc
import importlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.document import tokens
from pipelines.document.document import Document, parse
from pipelines.document.view import measure
from pipelines.extract import bte, fusion, lineblocks
from pipelines.training import examples, pso
from tests.table import each_row

BODY = "<body><div><p>一二三<a href=/>四</a></p><p><a href=/>五六</a></p></div><td>七<br>八</td></body>"


def page(body: str = BODY) -> Document:
    return parse(body.encode(), "http://e.com/")


def test_view_is_made_once_and_keeps_no_page_alive() -> None:
    document = page()
    view = measure(document)
    assert measure(document) is view
    assert not any(value is document for value in gc.get_referents(vars(view)))


def test_links_and_prose() -> None:
    document = page()
    view = measure(document)
    assert document.blocks.texts == ["一二三四", "五六", "七", "八"]
    assert view.plain.tolist() == [3, 0, 1, 1]
    assert view.linked.tolist() == [False, True, False, False]
    assert view.prose.tolist() == [3, 0, 1, 1]
    assert view.mass.tolist() == [7.5, 0, 2.5, 2.5]


def test_sums_and_blocks_of_a_node() -> None:
    document = page()
    node = document.tags.index("div")
    assert measure(document).sums([1, 2, 4, 8])[[0, node]].tolist() == [15, 3]
    assert measure(document).inside(node).tolist() == [True, True, False, False]


def test_lines_of_one_node_are_siblings_and_so_are_paragraphs() -> None:
    document = page("<body><div><p>一</p><p>二</p></div><div>三<br>四</div></body>")
    first, second = (node for node, tag in enumerate(document.tags) if tag == "div")
    assert measure(document).holders.tolist() == [first, first, second, second]


@given(
    st.recursive(
        st.just("<p>x</p>"), lambda inner: st.lists(inner, max_size=4).map(lambda c: f"<div>{''.join(c)}</div>")
    )
)
def test_children_are_those_whose_parent_is_the_node(body: str) -> None:
    document = page(body)
    for node in range(len(document.tags)):
        assert list(measure(document).children(node)) == [
            at for at, parent in enumerate(document.parents) if parent == node
        ]


def test_page_without_blocks() -> None:
    view = measure(page("<html>"))
    assert [len(each) for each in (view.plain, view.linked, view.prose, view.holders)] == [0, 0, 0, 0]
    assert not np.any(view.sums([]))


@each_row("module", [bte, lineblocks, pso, tokens, examples, fusion])
def test_examples_in_docstrings(module: object) -> None:
    found = doctest.testmod(importlib.import_module(module.__name__))
    assert found.attempted
    assert not found.failed


@each_row(
    ("body", "headline"),
    [
        ("<title>河口大桥昨日完成浇筑_日报</title><a href=/>河口大桥昨日完成浇筑</a><p>河口大桥昨日完成浇筑<p>正文", 1),
        ("<p>no title", -1),
    ],
)
def test_headline_is_the_line_that_the_title_repeats(body: str, headline: int) -> None:
    assert measure(page(body)).headline == headline
