"""Hubs and authorities against networkx and against plain passing on."""

from __future__ import annotations

from random import Random

import networkx
import numpy as np
import pytest
from hypothesis import given

from crawler.rank import hits
from crawler.rank.graph import LinkGraph
from crawler.rank.surfer import ConvergenceError
from tests.crawler.rank.graphs import WEBS, add, add_pages, digraph, graph_of, random_web
from tests.table import each_row


def passed_on(links: np.ndarray, rounds: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """The method as the paper has it; `links` is targets x sources."""
    hubs = np.ones(links.shape[1])
    for _ in range(rounds):
        authorities = links @ hubs
        hubs = links.T @ authorities
        hubs /= hubs.sum()
    return hubs, authorities / authorities.sum()


@each_row("size", [12, 200, 3000])
def test_score_is_that_of_networkx(size: int) -> None:
    graph = random_web(size, 6 * size)
    found = hits.score(graph)
    hubs, authorities = networkx.hits(digraph(graph), max_iter=1000, tol=1e-12)
    assert found.hubs == pytest.approx([hubs[page] for page in range(size)], abs=1e-6)
    assert found.authorities == pytest.approx([authorities[page] for page in range(size)], abs=1e-6)


@given(WEBS)
def test_score_is_what_passing_on_ends_in_also_where_it_is_not_unique(web: dict[int, list[int]]) -> None:
    graph = graph_of(web)
    found = hits.score(graph)
    if len(graph.targets):
        hubs, authorities = passed_on(graph.matrix().toarray())
        assert found.hubs[graph.fetched] == pytest.approx(hubs, abs=1e-3)  # 3,000 rounds tell close values badly apart
        assert found.authorities == pytest.approx(authorities, abs=1e-3)
    for scores in (found.hubs, found.authorities):
        assert (scores >= 0).all()
        assert scores.sum() == pytest.approx(float(len(graph) > 0))


@each_row("seed", range(20))
def test_score_of_equal_parts_is_the_nearest_main_vector_to_equal_scores(seed: int) -> None:
    """Many copies of a few small webs, so that the main eigenvalue occurs many times: eigh as the oracle."""
    random = Random(seed)
    kinds = [
        {page: [20 + random.randint(0, 5) for _ in range(3)] for page in range(random.randint(1, 12))} for _ in range(3)
    ]
    web: dict[int, list[int]] = {}
    for base in range(0, 5_000, 100):
        part = random.choice(kinds)
        web |= {base + page: [base + target for target in targets] for page, targets in part.items()}
    graph = graph_of(web)
    links = graph.matrix().toarray()
    values, vectors = np.linalg.eigh(links.T @ links)
    main = vectors[:, values > values[-1] * (1 - 1e-9)]
    wanted = main @ (main.T @ np.ones(len(values)))
    assert hits.score(graph).hubs[graph.fetched] == pytest.approx(wanted / wanted.sum(), abs=1e-6)


def test_score_shares_alike_among_equal_lists() -> None:
    """Fifty lists of three pages each, nothing in common: no list is better than another."""
    found = hits.score(graph_of({n: [1000 + 3 * n + k for k in range(3)] for n in range(50)}))
    assert found.hubs[:1] == pytest.approx([1 / 50])
    assert sorted(set(found.hubs.round(9))) == [0.0, 0.02]
    assert found.authorities.max() == pytest.approx(1 / 150)


def test_score_with_weights_of_pages_chooses_a_part() -> None:
    web = {1: [10, 11], 2: [10, 11], 3: [20, 21, 22], 4: [20, 21, 22]}
    graph = graph_of(web)
    number = dict(zip(graph.ids.tolist(), range(len(graph)), strict=True))
    everything = hits.score(graph)
    assert everything.hubs[number[3]] == pytest.approx(0.5)
    relevance = np.ones(len(graph))
    relevance[[number[page] for page in (3, 4, 20, 21, 22)]] = 0.0
    part = hits.score(graph, pages=relevance)
    assert part.hubs[number[1]] == pytest.approx(0.5)
    assert part.authorities[number[10]] == pytest.approx(0.5)
    assert part.hubs[number[3]] == part.authorities[number[20]] == 0.0
    relevance[number[11]] = 0.5
    assert hits.score(graph, pages=relevance).authorities[number[11]] < 0.5
    links = np.where(graph.targets == number[11], 0.0, 1.0)
    assert hits.score(graph, weights=links, pages=relevance).authorities[number[11]] == 0.0


def test_score_without_links_is_equal() -> None:
    assert hits.score(LinkGraph()).hubs.tolist() == []
    assert hits.score(graph_of({1: [], 2: []})).authorities.tolist() == [0.5, 0.5]
    assert hits.score(graph_of({1: [2]}), pages=np.array([0.0, 1.0])).hubs.tolist() == [0.5, 0.5]


@each_row("pages", [[1.0], [1.0, -1.0], [np.nan, 1.0]])
def test_score_refuses_wrong_weights(pages: list[float]) -> None:
    with pytest.raises(ValueError, match="2 finite ones"):
        hits.score(graph_of({1: [2]}), pages=np.array(pages))


def test_score_may_give_up() -> None:
    """A long chain of lists that share a page each: the vectors lie close together."""
    graph = graph_of({n: [1000 + n, 1001 + n] for n in range(500)})
    with pytest.raises(ConvergenceError, match="after 1 rounds"):
        hits.score(graph, hits.Params(iterations=1))
    found = hits.score(graph, hits.Params(iterations=1000))
    assert found.hubs[249] == pytest.approx(found.hubs.max(), rel=1e-3)


@each_row("values", [(0.0, 1), (1e-3, 0)])
def test_params_refuse_wrong_values(values: tuple[float, int]) -> None:
    with pytest.raises(ValueError, match="above 0, at least 1"):
        hits.Params(*values)


def test_two_hubs_by_hand() -> None:
    """1 links to 10 and 11, 2 to 10: LL' is (2 1; 1 1), its main vector (g, 1) of the golden ratio g = 1.618034."""
    found = hits.score(graph_of({1: [10, 11], 2: [10]}))
    assert found.hubs == pytest.approx([0.618034, 0.381966, 0, 0], abs=1e-6)
    assert found.authorities == pytest.approx([0, 0, 0.618034, 0.381966], abs=1e-6)


def test_focused_takes_the_root_set_and_its_neighbours() -> None:
    """The root is 1: it links to 2; 3, 4 and 5 link to it, in this order; 6 and 7 are two steps away."""
    graph = graph_of({3: [1, 6], 1: [2], 4: [1], 5: [1], 2: [7]})
    root = graph.ids == 1

    def chosen(most: int) -> set[int]:
        return set(graph.ids[hits.focused(graph, root, most) > 0].tolist())

    assert chosen(50) == {1, 2, 3, 4, 5}
    assert chosen(2) == {1, 2, 3, 4}
    assert hits.score(graph, pages=hits.focused(graph, root)).authorities[graph.numbers(np.array([6, 7]))].tolist() == [
        0.0,
        0.0,
    ]


def test_across_leaves_out_links_inside_a_site() -> None:
    graph = add_pages(add_pages(LinkGraph(), [1, 2], 1), [3], 2)
    add(graph, {1: [2, 3], 3: [1]})
    assert hits.across(graph).tolist() == [0.0, 1.0, 1.0]
