"""The rank that queued pages are expected to have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rank import expected, pagerank
from crawler.rank.graph import LinkGraph
from tests.table import each_row


def graph_of(links: dict[int, list[int]]) -> LinkGraph:
    """A graph of pages 1, 2, ...; those with an entry were fetched."""
    graph = LinkGraph()
    targets = [target for row in links.values() for target in row]
    counts = np.array([len(row) for row in links.values()], np.int32)
    graph.add_links(
        np.array(list(links), np.int64), counts, np.array(targets, np.int64), np.zeros(len(targets), np.uint8)
    )
    return graph


def slow(graph: LinkGraph, rank: Any, params: expected.Params) -> list[float]:
    """Link by link."""
    values = [0.0] * len(graph)
    for row, page in enumerate(graph.fetched.tolist()):
        targets = graph.targets[graph.starts[row] : graph.starts[row + 1]].tolist()
        for target in targets:
            explored = sum(graph.row_of[other] >= 0 for other in targets) / len(targets)
            values[target] += params.damping * rank[page] / len(targets) / (explored + params.floor) ** params.power
    return values


LINKS = st.dictionaries(st.integers(1, 9), st.lists(st.integers(1, 14), max_size=8), min_size=1, max_size=9)


@given(LINKS, st.floats(0, 3), st.floats(0.01, 1))
def test_against_a_slow_sum(links: dict[int, list[int]], power: float, floor: float) -> None:
    graph, params = graph_of(links), expected.Params(power=power, floor=floor)
    rank = pagerank.score(graph)
    assert expected.score(graph, rank, params).tolist() == pytest.approx(slow(graph, rank, params))


def test_link_from_new_ground_counts_for_more() -> None:
    # 1 and 2 are alike, but all that 1 links to beside 30 has been fetched
    links = {9: [1, 2], 1: [11, 12, 30], 2: [21, 22, 40], 11: [], 12: []}
    graph = graph_of(links)
    rank = pagerank.score(graph)
    values = expected.score(graph, rank)
    seen, new = graph.numbers(np.array([30, 40]))
    assert values[new] > 1.5 * values[seen]
    plain = expected.score(graph, rank, expected.Params(power=0))
    assert plain[new] == pytest.approx(plain[seen])


def test_empty_graph_has_no_ranks() -> None:
    assert expected.score(LinkGraph(), np.zeros(0)).tolist() == []
    graph = graph_of({1: []})
    assert expected.score(graph, np.ones(1)).tolist() == [0]


def test_first_guess_is_what_the_sum_will_add() -> None:
    graph = graph_of({9: [1, 2], 1: [9, 31, 32]})
    rank = pagerank.score(graph)
    added = expected.score(graph, rank)[graph.numbers(np.array([31]))[0]]
    own = float(expected.scaled(rank[graph.numbers(np.array([1]))[0]], len(graph)))
    assert expected.inherited(own, 3, 1) == pytest.approx(float(expected.scaled(added, len(graph))))


@given(st.floats(0, 1), st.integers(1, 10**8))
def test_scaling_keeps_order(share: float, pages: int) -> None:
    value = float(expected.scaled(share, pages))
    assert 0 <= float(expected.scaled(share / 2, pages)) <= value <= 1
    assert 0 <= expected.inherited(value, 1, 1) <= expected.inherited(value, 1, 0) <= 1


def test_links_to_pages_that_no_longer_wait_count_as_explored() -> None:
    graph = graph_of({9: [1, 2], 1: [3, 4], 2: [5, 6]})
    waiting = np.ones(len(graph), np.bool_)
    waiting[graph.numbers(np.array([9, 1, 2, 6]))] = False  # 6 was given up
    values = expected.score(graph, pagerank.score(graph), waiting=waiting)
    three, five = graph.numbers(np.array([3, 5]))
    assert values[three] > values[five] > 0


@each_row("values", [{"damping": 1.0}, {"power": -1.0}, {"floor": 0.0}, {"power": float("nan")}])
def test_wrong_parameters_are_named(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(values))} is"):
        expected.Params(**values)


def taught(pages: int) -> tuple[expected.Experience, Any, Any]:
    """Make a crawl learn that short addresses have rank, whatever links told; also returns features and hosts."""
    rng = np.random.default_rng(5)
    graph = graph_of({1: list(range(2, pages + 2))})
    graph.add_pages(np.arange(1, pages + 2), np.where(np.arange(pages + 1) % 2, 7, 8), np.ones(pages + 1, np.int64))
    queued = graph.numbers(np.arange(2, pages + 2))
    features = 0.4 * rng.random((pages, len(expected.PRIOR)))
    experience = expected.Experience()
    experience.learn(graph, np.zeros(len(graph)), features, queued)
    assert experience.value(features, graph.host_numbers[queued]).tolist() == [expected.NOTHING_LEARNT] * pages
    ids = np.arange(2, pages + 2)
    graph.add_links(ids, np.zeros(pages, np.int32), np.zeros(0, np.int64), np.zeros(0, np.uint8))
    ranks = np.zeros(len(graph))
    ranks[queued] = 0.2 + 0.4 * features[:, 2] + 0.1 * (graph.host_numbers[queued] == graph.host_numbers[queued[0]])
    experience.learn(graph, ranks, features[:0], queued[:0])
    return experience, features, graph.host_numbers[queued]


def test_experience_says_what_tells_of_rank_and_where() -> None:
    experience, features, hosts = taught(400)
    assert experience.lessons == 1
    assert experience.coefficients[2] > 0.3 > experience.coefficients[1]
    values = experience.value(features, hosts)
    above = values + features @ expected.PRIOR - expected.NOTHING_LEARNT  # the order of all signals together
    here = hosts == hosts[0]
    assert np.corrcoef(above[here], features[here, 2])[0, 1] > 0.7
    like = np.repeat(features[:1], 2, 0)
    own, other = experience.value(like, np.array([hosts[0], hosts[1]])).tolist()
    assert own > other + 0.05
    assert experience.value(like, np.array([hosts.max() + 1, 0]))[0] < own  # a host that came later has no part


def test_experience_of_few_pages_changes_little() -> None:
    few, _, _ = taught(3)
    many, _, _ = taught(400)
    assert np.abs(few.coefficients - expected.PRIOR).max() < 0.35 * np.abs(many.coefficients - expected.PRIOR).max()
