"""OPIC against the plain loop over pages, and what must never be lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rank import pagerank
from crawler.rank.graph import LinkGraph
from crawler.rank.opic import Opic, Params
from pipelines.records import BlockKind
from tests.crawler.rank.graphs import WEBS, add, graph_of, random_web
from tests.table import each_row

OFTEN = Params(first_rows=3, growth=0.0)


def page_by_page(graph: LinkGraph, params: Params) -> tuple[np.ndarray, np.ndarray, float]:
    """Cash, history and the root's cash, the way the paper tells it."""
    cash, history, root, visit = np.zeros(len(graph)), np.zeros(len(graph)), 1.0, 0
    for row, page in enumerate(graph.fetched.tolist()):
        if row == visit:
            cash += root / len(graph)
            root, visit = 0.0, row + max(params.first_rows, int(row * params.growth))
        held, cash[page] = cash[page], 0.0
        history[page] += held
        links = slice(int(graph.starts[row]), int(graph.starts[row + 1]))
        weights = np.array([params.values[BlockKind(kind)] for kind in graph.blocks[links]])
        if not len(weights):
            root += held
            continue
        total = weights.sum() + params.root_value
        np.add.at(cash, graph.targets[links], held * weights / total)
        root += held * params.root_value / total
    return cash, history, root


VALUES = {kind: 1.0 / (1 + kind) for kind in BlockKind}


@each_row("params", [Params(), OFTEN, Params(VALUES, root_value=0.3, first_rows=1)])
def test_as_page_by_page(params: Params) -> None:
    graph = random_web(600, 4000)
    cash, history, root = page_by_page(graph, params)
    opic = Opic(graph, params)
    opic.observe(graph.rows)
    assert opic.cash == pytest.approx(cash, abs=1e-15)
    assert opic.history == pytest.approx(history, abs=1e-15)
    assert opic.root == pytest.approx(root)


@given(WEBS, st.lists(st.integers(0, 10), max_size=4))
def test_cash_is_conserved_and_portions_do_not_matter(web: dict[int, list[int]], portions: list[int]) -> None:
    graph = graph_of(web)
    whole, parts = Opic(graph, OFTEN), Opic(graph, OFTEN)
    whole.observe(graph.rows)
    for rows in [*sorted(portions), graph.rows]:
        parts.observe(min(rows, graph.rows))
        assert parts.cash.sum() + parts.root == pytest.approx(1.0)
        assert parts.cash.min(initial=0.0) >= -1e-15
    assert parts.cash == pytest.approx(whole.cash)
    assert parts.history == pytest.approx(whole.history)
    assert parts.score().sum() == pytest.approx(float(len(graph) > 0))


@given(st.lists(WEBS, max_size=5))
def test_cash_is_conserved_while_the_graph_grows(webs: list[dict[int, list[int]]]) -> None:
    graph = LinkGraph()
    opic = Opic(graph, OFTEN)
    for web in webs:
        add(graph, web)
        opic.observe(graph.rows)
        assert opic.rows == graph.rows
        assert opic.cash.sum() + opic.root == pytest.approx(1.0)
        assert len(opic.score()) == len(opic.cash) == len(graph)


def test_richest_waiting_page_is_the_one_that_rich_pages_name() -> None:
    graph = graph_of({1: [2, 3, 4], 2: [5], 3: [5, 6], 4: [5]})
    opic = Opic(graph)
    opic.observe(graph.rows)
    waiting = np.flatnonzero(graph.row_of < 0)
    assert graph.ids[waiting[np.argmax(opic.cash[waiting])]] == 5
    assert opic.history[waiting].tolist() == [0.0, 0.0]


def test_two_pages_by_hand() -> None:
    """The root deals out 1/3 each; 1 gives 1/9 each to 2, 3 and the root; 2 halves its 4/9 between 3 and the root."""
    graph = graph_of({1: [2, 3], 2: [3]})
    opic = Opic(graph)
    opic.observe(2)
    assert opic.cash == pytest.approx([0, 0, 2 / 3])
    assert opic.history == pytest.approx([1 / 3, 4 / 9, 0])
    assert opic.root == pytest.approx(1 / 9 + 2 / 9)
    assert opic.score() == pytest.approx([3 / 13, 4 / 13, 6 / 13])


def test_near_to_pagerank() -> None:
    """Without a second visit it stays an estimate: the order of pages is much the same."""
    graph = random_web(3000, 30_000, fetched=0.9)
    opic = Opic(graph)
    opic.observe(graph.rows)

    def ranks(scores: np.ndarray) -> np.ndarray:
        return np.argsort(np.argsort(scores))

    assert np.corrcoef(ranks(opic.score()), ranks(pagerank.score(graph)))[0, 1] > 0.8


def test_nothing_and_one_page() -> None:
    assert Opic(LinkGraph()).score().tolist() == []
    opic = Opic(graph_of({1: []}))
    assert opic.score().tolist() == [1.0]
    opic.observe(1)
    assert opic.score().tolist() == [1.0]
    assert (opic.root, opic.cash.tolist()) == (1.0, [0.0])


def test_more_rows_than_there_are() -> None:
    with pytest.raises(ValueError, match="rows is 2; the graph has 1"):
        Opic(graph_of({1: [2]})).observe(2)


@each_row(
    ("values", "part"),
    [
        ({"values": {}}, "BODY"),
        ({"values": {**VALUES, BlockKind.LIST: 0.0}}, "LIST"),
        ({"root_value": 0.0}, "root_value"),
        ({"first_rows": 0}, "first_rows"),
        ({"growth": -1.0}, "growth"),
    ],
)
def test_wrong_params(values: dict[str, Any], part: str) -> None:
    with pytest.raises(ValueError, match=part):
        Params(**values)
