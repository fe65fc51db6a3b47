"""The link graph."""

from __future__ import annotations

import tracemalloc
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given

from crawler.rank.graph import LinkGraph
from pipelines.records import BlockKind
from tests.crawler.rank.graphs import WEBS, add, add_pages, digraph, graph_of, random_web
from tests.table import each_row


def links_of(graph: LinkGraph) -> dict[int, list[int]]:
    """Page -> targets, by identifier, in order."""
    ids = graph.ids.tolist()
    rows = zip(graph.fetched.tolist(), graph.starts[:-1].tolist(), graph.starts[1:].tolist(), strict=True)
    return {ids[page]: [ids[target] for target in graph.targets[a:b].tolist()] for page, a, b in rows}


@given(WEBS)
def test_in_bulk_as_page_by_page(web: dict[int, list[int]]) -> None:
    single = LinkGraph()
    for page, targets in web.items():
        add(single, {page: targets})
    expected = {page: [t for t in dict.fromkeys(targets) if t != page] for page, targets in web.items()}
    for graph in (graph_of(web), add(single, web)):
        assert links_of(graph) == expected
        assert set(graph.ids.tolist()) == {*web, *(t for targets in web.values() for t in targets)}
        assert graph.row_of[graph.fetched].tolist() == list(range(graph.rows))
        assert (graph.row_of >= 0).sum() == graph.rows
        assert (graph.numbers(graph.ids) == np.arange(len(graph))).all()
        assert graph.in_links().tolist() == [d for _, d in sorted(digraph(graph).in_degree)]


def test_first_of_repeated_links_and_pages_counts() -> None:
    graph = LinkGraph()
    blocks = np.array([BlockKind.FOOTER, BlockKind.BODY, BlockKind.LIST, BlockKind.RELATED], np.uint8)
    graph.add_links(np.array([1, 1]), np.array([3, 1], np.int32), np.array([5, 5, 1, 6]), blocks)
    assert links_of(graph) == {1: [5]}
    assert graph.blocks.tolist() == [BlockKind.FOOTER]
    add(graph, {1: [7], 7: []})
    assert links_of(graph) == {1: [5], 7: []}
    assert graph.numbers(np.array([7, 8])).tolist() == [2, -1]


def test_hosts_and_sites_are_told_once() -> None:
    graph = add(LinkGraph(), {1: [2, 3]})
    assert graph.host_numbers.tolist() == graph.site_numbers.tolist() == [0, 0, 0]
    add_pages(graph, [2, 4], host=70, site=7)
    add_pages(graph, [2, 3], host=71, site=7)
    add_pages(graph, [1], host=80, site=0)
    add_pages(graph, [5], host=80, site=8)
    assert graph.host_ids[graph.host_numbers].tolist() == [80, 70, 71, 70, 80]
    assert graph.site_ids[graph.site_numbers].tolist() == [8, 7, 7, 7, 8]
    add_pages(graph, [5], host=80, site=9)
    assert graph.site_ids[graph.site_numbers].tolist()[-1] == 8


def test_links_given_twice_in_one_call_keep_the_first() -> None:
    graph = LinkGraph()
    numbers = graph.add_pages(np.array([1, 1, 2]), np.array([10, 11, 10]), np.array([5, 5, 6]))
    assert numbers.tolist() == [0, 0, 1]
    assert graph.host_ids[graph.host_numbers].tolist() == [10, 10]
    assert graph.site_ids[graph.site_numbers].tolist() == [5, 5]


def test_page_with_half_a_million_links() -> None:
    targets = np.arange(500_000)
    graph = LinkGraph()
    counts = np.array([500_000, 0, 500_000], np.int32)
    graph.add_links(np.array([0, 1, 2]), counts, np.tile(targets, 2), np.zeros(1_000_000, np.uint8))
    assert np.diff(graph.starts).tolist() == [499_999, 0, 499_999]
    assert (graph.in_links()[:4] == [1, 2, 1, 2]).all()


def test_nothing_and_one_page() -> None:
    graph = LinkGraph()
    assert (len(graph), graph.rows, len(graph.targets), graph.matrix().shape) == (0, 0, 0, (0, 0))
    add(graph, {})
    assert len(graph.to_networkx()) == len(graph) == 0
    add(graph, {1: [1]})
    assert (len(graph), graph.rows, len(graph.targets)) == (1, 1, 0)


@each_row(
    ("values", "part"),
    [
        (([1], [2], [5], [0]), "say 2 links"),
        (([1], [1], [5], []), "0 blocks"),
        (([1, 2], [1], [5], [0]), "2 sources and 1 counts"),
        (([1, 2], [2, -1], [5], [0]), "0 or more"),
        (([1], [1], [5], [14]), "from 0 to 13"),
    ],
)
def test_columns_that_do_not_fit(values: tuple[list[int], ...], part: str) -> None:
    types: tuple[Any, ...] = (np.int64, np.int32, np.int64, np.uint8)
    with pytest.raises(ValueError, match=part):
        LinkGraph().add_links(*(np.array(v, t) for v, t in zip(values, types, strict=True)))


def test_pages_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="2 pages, 1 hosts"):
        LinkGraph().add_pages(np.array([1, 2]), np.array([1]), np.array([1, 1]))


@each_row("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [np.inf, 1.0]])
def test_weights_that_do_not_fit(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        graph_of({1: [2, 3]}).matrix(np.array(weights))


def test_matrix_shares_the_links() -> None:
    graph = random_web(300, 2000)
    matrix = graph.matrix(np.arange(len(graph.targets), dtype=np.float64))
    assert np.shares_memory(matrix.indices, graph.targets)
    dense = matrix.toarray()
    for row in range(graph.rows):
        for link in range(graph.starts[row], graph.starts[row + 1]):
            assert dense[graph.targets[link], row] == link
    assert (graph.matrix().toarray() > 0).sum() == len(graph.targets)
    with pytest.raises(ValueError, match=r"read.only"):
        graph.matrix(np.zeros(len(graph.targets))).eliminate_zeros()


def test_bytes_of_a_link() -> None:
    tracemalloc.start()
    graph = random_web(20_000, 400_000)
    pages, links = len(graph), len(graph.targets)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used < 20 * links + 0 * pages


def test_networkx() -> None:
    graph = add_pages(graph_of({1: [2, 3], 2: [1]}), [1, 2, 3, 4], 9)
    urls = ["http://a.cn/1", "http://b.cn:8080/二", "http://a.cn/3"]
    made = graph.to_networkx(dict(enumerate(urls)), np.array([0.1, 0.2, 0.3, 0.4]))
    assert networkx.utils.graphs_equal(networkx.DiGraph(made.edges), networkx.DiGraph(digraph(graph).edges))
    assert made.nodes[1] == {"url": urls[1], "host": "b.cn:8080", "score": 0.2, "fetched": True}
    assert made.nodes[3] == {"url": "", "host": "", "score": 0.4, "fetched": False}
    assert made.edges[0, 1] == {"block": "body"}
    part = graph.to_networkx(pages=np.array([1, 0], np.int32))
    assert sorted(part.nodes) == [0, 1]
    assert sorted(part.edges) == [(0, 1), (1, 0)]
