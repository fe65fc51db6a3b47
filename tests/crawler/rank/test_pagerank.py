"""PageRank against networkx, and where networkx has no say."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given

from crawler.rank import pagerank
from crawler.rank.graph import LinkGraph
from crawler.rank.surfer import ConvergenceError, Params
from tests.crawler.rank.graphs import WEBS, add, digraph, graph_of, random_web
from tests.table import each_row

EXACT = Params(tolerance=1e-12)


def oracle(graph: LinkGraph, **values: Any) -> np.ndarray:
    found = networkx.pagerank(digraph(graph), tol=1e-14, max_iter=1000, **values)
    return np.array([found[page] for page in range(len(graph))])


@given(WEBS)
def test_as_networkx(web: dict[int, list[int]]) -> None:
    graph = graph_of(web)
    scores = pagerank.score(graph)
    assert scores == pytest.approx(oracle(graph) if len(graph) else [], abs=1e-6)
    assert (scores > 0).all()
    assert scores.sum() == pytest.approx(float(len(graph) > 0))


@each_row("damping", [0.0, 0.5, 0.85, 0.99])
def test_larger_web(damping: float) -> None:
    graph = random_web(3000, 20_000)
    params = Params(damping, 1e-12, 5000)
    assert pagerank.score(graph, params) == pytest.approx(oracle(graph, alpha=damping), abs=1e-11)


def test_jumps_to_seeds() -> None:
    graph = random_web(500, 2500)
    teleport = np.zeros(500)
    teleport[[3, 77]] = 5.0, 2.5
    expected = oracle(graph, personalization={3: 2, 77: 1})
    assert pagerank.score(graph, EXACT, teleport=teleport) == pytest.approx(expected, abs=1e-11)
    assert pagerank.score(graph)[3] < expected[3]


def test_weights_of_links() -> None:
    graph = random_web(400, 3000)
    weights = np.random.default_rng(3).random(len(graph.targets))
    weighted = digraph(graph)
    sources = graph.fetched[graph.link_rows()]
    for source, target, weight in zip(sources.tolist(), graph.targets.tolist(), weights.tolist(), strict=True):
        weighted.edges[source, target]["weight"] = weight
    expected = networkx.pagerank(weighted, tol=1e-14, max_iter=1000)
    assert pagerank.score(graph, EXACT, weights=weights) == pytest.approx([expected[i] for i in range(400)], abs=1e-11)
    nothing = pagerank.score(graph, weights=np.zeros(len(graph.targets)))
    assert nothing == pytest.approx(np.full(400, 1 / 400))


def test_three_pages_by_hand() -> None:
    """1 and 2 link to 3, which links to 1: the equations solved on paper."""
    scores = pagerank.score(graph_of({1: [3], 2: [3], 3: [1]}), EXACT)
    rest = 0.15 / 3
    third = (rest + 0.85 * (rest + rest)) / (1 - 0.85**2)
    by_id = {1: rest + 0.85 * third, 2: rest, 3: third}
    assert scores == pytest.approx([by_id[1], by_id[2], by_id[3]])


def test_warm_start_needs_fewer_rounds() -> None:
    graph = random_web(2000, 12_000)
    earlier = pagerank.score(graph, EXACT)
    add(graph, {5000: [1, 2, 3], 5001: [5000]})
    few = Params(tolerance=1e-4, iterations=6)
    with pytest.raises(ConvergenceError) as failure:
        pagerank.score(graph, few)
    assert failure.value.iterations == 6
    scores = pagerank.score(graph, few, start=earlier)
    assert scores == pytest.approx(pagerank.score(graph, EXACT), abs=1e-4)
    assert earlier.sum() == pytest.approx(1.0)
    assert len(earlier) == 2000


def test_start_does_not_change_the_result() -> None:
    graph = random_web(300, 1500)
    for start in (np.zeros(0), np.full(300, 7.0), np.eye(1, 300, 5)[0], np.full(900, 1.0)):
        assert pagerank.score(graph, EXACT, start=start) == pytest.approx(pagerank.score(graph, EXACT), abs=1e-10)


def test_nothing_one_page_and_separate_parts() -> None:
    assert pagerank.score(LinkGraph()).tolist() == []
    assert pagerank.score(graph_of({1: []})).tolist() == [1.0]
    parts = pagerank.score(graph_of({1: [2], 2: [1], 3: [4], 4: [3]}))
    assert parts == pytest.approx([0.25] * 4)


@each_row("teleport", [[1.0], [0.0, 0.0], [1.0, -1.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_wrong_jumps(teleport: list[float]) -> None:
    with pytest.raises(ValueError, match="teleport"):
        pagerank.score(graph_of({1: [2]}), teleport=np.array(teleport))


@each_row("start", [[0.0, 0.0], [np.nan], [np.inf]])
def test_wrong_starts(start: list[float]) -> None:
    with pytest.raises(ValueError, match="start sums up to"):
        pagerank.score(graph_of({1: [2]}), start=np.array(start))


@each_row("values", [{"damping": 1.0}, {"damping": -0.1}, {"tolerance": 0}, {"iterations": 0}])
def test_wrong_params(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(values))):
        Params(**values)


def test_jumps_to_one_page_by_hand() -> None:
    """1 links to 2, 2 to 1 and 3; all jumps lead to 1, and so does what 3 (not read) hands on.

    Then x2 = .85 x1, x3 = .85 x2 / 2, and their sum with x1 is 1.
    """
    scores = pagerank.score(graph_of({1: [2], 2: [1, 3]}), EXACT, teleport=np.array([1.0, 0.0, 0.0]))
    assert scores == pytest.approx([0.452233, 0.384398, 0.163369], abs=1e-6)
