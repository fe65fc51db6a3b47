"""Scores of the whole queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rank import expected, hits, pagerank, siterank
from crawler.rank.finds import Finds
from crawler.rank.opic import Opic
from crawler.rank.priority import FOCUS_SIGNALS, GRAPH_SIGNALS, PRESETS, SIGNALS, Priority
from crawler.rank.ranking import Ranking, Rescored
from pipelines.focus.terms import read_text
from pipelines.focus.topic import make_topic
from pipelines.records import BlockKind

TODAY = 20_000.0
EVERYTHING = dict.fromkeys(SIGNALS, 1.0)


def ids(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def finds(depths: list[int]) -> Finds:
    size = len(depths)
    return Finds(
        np.array(depths, np.int32),
        np.full(size, BlockKind.LIST, np.uint8),
        np.zeros(size),
        np.ones(size, np.uint8),
        TODAY,
    )


def add(ranking: Ranking, pages: list[int], *, host: int = 1, site: int = 1, depth: int = 1) -> None:
    size = len(pages)
    ranking.add_urls(
        ids(*pages), np.full(size, host), np.full(size, site), finds([depth] * size), np.ones(size, np.bool_)
    )


def fetch(ranking: Ranking, page: int, targets: list[int], block: int = BlockKind.LIST) -> None:
    ranking.add_links(
        ids(page), np.array([len(targets)], np.int32), ids(*targets), np.full(len(targets), block, np.uint8)
    )


def small(priority: Priority) -> Ranking:
    """1 and 2 are fetched, 3 to 6 wait; two hosts."""
    ranking = Ranking(priority)
    add(ranking, [1, 3, 4], host=1, site=1)
    add(ranking, [2, 5, 6], host=2, site=2, depth=2)
    fetch(ranking, 1, [2, 3, 4])
    fetch(ranking, 2, [5, 3])
    return ranking


def test_queued_urls_are_scored_once_and_then_only_when_they_move() -> None:
    ranking = small(Priority("pagerank", {}))
    first = ranking.rescore(TODAY)
    assert sorted(first.ids.tolist()) == [3, 4, 5, 6]
    assert ranking.rescore(TODAY).ids.tolist() == []
    fetch(ranking, 5, [6])
    moved = ranking.rescore(TODAY)
    assert 5 not in moved.ids
    assert 6 in moved.ids


def test_scores_are_the_weighted_values() -> None:
    priority = Priority("breadth", EVERYTHING)
    found = small(priority).rescore(TODAY)
    assert set(found.values) == set(SIGNALS)
    assert found.scores == pytest.approx(priority.score(found.values))
    assert all(((column >= 0) & (column <= 1)).all() for column in found.values.values())


def test_graph_signals_are_those_of_their_methods() -> None:
    ranking = small(Priority("breadth", EVERYTHING))
    ranking.set_yields(ids(1, 2), ids(8, 0), ids(8, 0))
    found = ranking.rescore(TODAY)
    graph = ranking.graph
    pages = graph.numbers(found.ids)
    rank = pagerank.score(graph)
    sites = siterank.site_scores(graph)
    online = Opic(graph)
    online.observe(graph.rows)
    per_page = sites[graph.site_numbers] / np.bincount(graph.site_numbers)[graph.site_numbers]
    wanted = {
        "pagerank": expected.scaled(expected.score(graph, rank), len(graph)),
        "siterank": expected.scaled(per_page, len(graph)),
        "hits": expected.scaled(hits.score(graph).authorities, len(graph)),
        "opic": expected.scaled(online.cash, len(graph)),
        "host": np.array([10 / 12, 0.5])[graph.host_numbers - 1],
    }
    for name, values in wanted.items():
        assert found.values[name] == pytest.approx(values[pages], abs=1e-3), name
    assert all(found.values[name] == pytest.approx(1 / 3) for name in FOCUS_SIGNALS)


def test_pages_that_were_fetched_or_given_up_wait_no_longer() -> None:
    ranking = small(Priority("breadth", {}))
    ranking.remove(ids(4, 99))
    assert sorted(ranking.rescore(TODAY).ids.tolist()) == [3, 5, 6]
    add(ranking, [4])  # to be fetched again
    assert ranking.rescore(TODAY).ids.tolist() == [4]


def test_pages_that_are_only_linked_to_are_not_queued() -> None:
    ranking = Ranking(Priority("breadth", {}))
    add(ranking, [1])
    fetch(ranking, 1, [7])
    assert ranking.rescore(TODAY).ids.tolist() == []
    add(ranking, [7])
    assert ranking.rescore(TODAY).ids.tolist() == [7]


def test_nothing_known_is_nothing_scored() -> None:
    for preset in ("breadth", "pagerank", "news", "focused"):
        assert len(Ranking(Priority(preset, {})).rescore(TODAY).ids) == 0


def test_farm_does_not_lift_its_pages_over_honest_ones() -> None:
    """Ten thousand pages of one site praise each other; forty honest sites link to each other's pages now and then."""
    ranking = Ranking(Priority("news", {}))
    honest = list(range(1, 401))
    for site in range(40):
        add(ranking, honest[site * 10 : site * 10 + 10], host=site + 1, site=site + 1)
    farm = list(range(100_000, 110_000))
    add(ranking, farm, host=99, site=99)
    random = np.random.default_rng(1)
    for page in honest[::2]:
        fetch(ranking, page, random.choice([n for n in honest if n != page], 6, replace=False).tolist())
    fetch(ranking, farm[0], farm[1:4000])
    for page in farm[1:200]:
        fetch(ranking, page, [farm[9_000], farm[9_001], *random.choice(farm, 50).tolist()])
    found = ranking.rescore(TODAY)
    scores = dict(zip(found.ids.tolist(), found.scores.tolist(), strict=True))
    best_of_farm = max(scores[page] for page in farm if page in scores)
    assert best_of_farm == scores[farm[9_000]] or best_of_farm == scores[farm[9_001]]
    assert best_of_farm < np.median([scores[page] for page in honest[1::2]])


WEB = st.lists(st.tuples(st.integers(1, 20), st.lists(st.integers(1, 30), max_size=12)), max_size=12)


@given(WEB, st.integers(0, 11))
def test_scores_do_not_depend_on_when_the_rounds_were(web: list[tuple[int, list[int]]], at: int) -> None:
    # HITS has no warm start, and experience comes from round to round
    priority = Priority("breadth", {name: 1.0 for name in GRAPH_SIGNALS if name not in {"hits", "experience"}})
    once, often = Ranking(priority), Ranking(priority)
    known: dict[int, float] = {}
    for ranking in (once, often):
        add(ranking, list(range(1, 31)))
        for n, (page, targets) in enumerate(web):
            fetch(ranking, page, targets)
            if ranking is often and n == at:
                found = ranking.rescore(TODAY)
                known.update(zip(found.ids.tolist(), found.scores.tolist(), strict=True))
    found, last = once.rescore(TODAY), often.rescore(TODAY)
    known.update(zip(last.ids.tolist(), last.scores.tolist(), strict=True))
    for page, score in zip(found.ids.tolist(), found.scores.tolist(), strict=True):
        assert known[page] == pytest.approx(score, abs=5e-3)


def test_with_a_topic_what_no_page_names_is_as_good_as_most() -> None:
    """Seeds, entries of feeds, targets of redirects: nothing is known of them."""
    ranking = Ranking(Priority("focused", {}), make_topic("stone bridges"))
    add(ranking, [1, 2, 3, 4])
    seed = finds([0])
    seed.blocks[:] = BlockKind.SEED
    ranking.add_urls(ids(9), ids(1), ids(1), seed, np.ones(1, np.bool_))
    fetch(ranking, 1, [2, 3])
    words = read_text("rivers", [("stone bridges", "http://a.test/2"), ("weather", "http://a.test/3")])
    ranking.add_terms(ids(1), [words], [ids(2, 3)], np.zeros(1), np.zeros(1, np.bool_))
    found = ranking.rescore(TODAY)
    scores = dict(zip(found.ids.tolist(), found.scores.tolist(), strict=True))
    topic, place = sum(PRESETS["focused"][name] for name in FOCUS_SIGNALS), PRESETS["focused"]["block"]
    assert max(scores, key=scores.__getitem__) == 9
    assert scores[9] == pytest.approx(topic + place)
    assert scores[4] == pytest.approx(topic / 3 + place)


def test_url_that_is_found_again_is_scored_again() -> None:
    ranking = small(Priority("pagerank", {}))
    ranking.rescore(TODAY)
    add(ranking, [3])
    assert ranking.rescore(TODAY).ids.tolist() == [3]


def test_of_very_many_the_best_get_their_scores_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.rank.ranking._SOON", 2)
    monkeypatch.setattr("crawler.rank.ranking._MOST", 4)
    ranking = Ranking(Priority("breadth", {}))
    for page, host in ((1, 1), (2, 2), (3, 1), (4, 2), (5, 1), (6, 2)):
        add(ranking, [page], host=host, depth=page)
    first, second = ranking.rescore(TODAY), ranking.rescore(TODAY)
    assert (first.ids.tolist(), first.left) == ([1, 2, 3, 4], 2)
    assert (second.ids.tolist(), second.left) == ([5, 6], 0)


def values_of(found: Rescored, name: str) -> dict[int, float]:
    return dict(zip(found.ids.tolist(), found.values[name].tolist(), strict=True))


def test_personal_jumps_to_seeds_and_with_a_topic_to_its_pages() -> None:
    for topic in (None, make_topic("stone bridges")):
        ranking = Ranking(Priority("breadth", {"personal": 1.0}), topic)
        add(ranking, [1, 2, 3, 4, 5])
        seed = finds([0])
        seed.blocks[:] = BlockKind.SEED
        ranking.add_urls(ids(1), ids(1), ids(1), seed, np.ones(1, np.bool_))
        fetch(ranking, 1, [2, 3])
        fetch(ranking, 2, [4])
        words = read_text("stone bridges", [])
        ranking.add_terms(ids(2), [words], [ids()], np.full(1, 0.8), np.zeros(1, np.bool_))
        jumps = np.array([0.0, 0.8, 0, 0, 0]) if topic else np.array([1.0, 0, 0, 0, 0])
        scores = expected.scaled(pagerank.score(ranking.graph, teleport=jumps), 5)
        found = values_of(ranking.rescore(TODAY), "personal")
        assert found == pytest.approx({3: scores[2], 4: scores[3], 5: scores[4]}, abs=1e-3)
        assert found[5] == 0.0
        assert (found[4] > found[3]) == (topic is not None)


def test_hubs_raise_lists_that_are_to_be_read_again() -> None:
    """1 links to what 2 links to as well, and 3 links to one of them; 4 to 6 are not read yet."""
    ranking = Ranking(Priority("breadth", {"hubs": 1.0}))
    add(ranking, [1, 2, 3, 4, 5, 6])
    for page, targets in ((1, [4, 5]), (2, [4, 5, 6]), (3, [6])):
        fetch(ranking, page, targets)
    add(ranking, [2, 3])
    hubs = hits.score(ranking.graph).hubs
    found = values_of(ranking.rescore(TODAY), "hubs")
    wanted = expected.scaled(np.array([hubs[1], hubs[2], *[hubs[:3].mean()] * 3]), 6)
    assert [found[page] for page in (2, 3, 4, 5, 6)] == pytest.approx(wanted.tolist())
    assert found[2] > found[4] > found[3]


def test_hits_of_a_topic_counts_links_of_its_pages() -> None:
    """Of two pages that link alike, only the links of that on the topic count."""
    ranking = Ranking(Priority("breadth", {"hits": 1.0}), make_topic("stone bridges"))
    add(ranking, [1, 2, 3, 4])
    fetch(ranking, 1, [3])
    fetch(ranking, 2, [4])
    words = [read_text("stone bridges", []), read_text("weather", [])]
    ranking.add_terms(ids(1, 2), words, [ids(), ids()], np.array([0.9, 0.0]), np.zeros(2, np.bool_))
    found = values_of(ranking.rescore(TODAY), "hits")
    assert found[3] > 0.0 == found[4]


NETWORKS = {"nx:katz_centrality": 1.0, "nx:sites:degree_centrality": 1.0, "nx:pages:in_degree_centrality": 1.0}


def test_signals_of_networks_are_those_of_hosts_sites_and_pages() -> None:
    """Each of two hosts links to the other; 3 has two links, 4 and 5 one, 6 none."""
    found = small(Priority("breadth", NETWORKS)).rescore(TODAY)
    assert values_of(found, "nx:katz_centrality") == pytest.approx({3: 1.0, 4: 1.0, 5: 1.0, 6: 1.0})
    assert values_of(found, "nx:sites:degree_centrality") == {3: 1.0, 4: 1.0, 5: 1.0, 6: 1.0}
    assert values_of(found, "nx:pages:in_degree_centrality") == {3: 1.0, 4: 0.5, 5: 0.5, 6: 0.0}


def test_signal_that_fails_is_nought_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """The eigenvector of a graph without cycles does not exist; the other signals count on."""
    ranking = Ranking(Priority("breadth", {"nx:eigenvector_centrality": 1.0}))
    add(ranking, [1, 3], host=1, site=1)
    add(ranking, [2, 4], host=2, site=2)
    fetch(ranking, 1, [2])
    for _ in range(2):
        add(ranking, [3, 4])
        found = ranking.rescore(TODAY)
        assert found.values["nx:eigenvector_centrality"].tolist() == [0.0] * len(found.ids)
        assert found.scores.min() > 0.0
    assert len(caplog.records) == 1
    assert "signal nx:eigenvector_centrality failed (PowerIterationFailedConvergence" in caplog.text


def test_signal_that_is_too_slow_is_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    tried = []

    @contextmanager
    def bounded() -> Iterator[None]:
        tried.append(1)
        raise TimeoutError("too slow")
        yield

    ranking = Ranking(Priority("breadth", {"nx:pagerank": 1.0}), bounded=bounded)
    add(ranking, [1, 2])
    for _ in range(2):
        assert ranking.rescore(TODAY).values["nx:pagerank"].tolist() in ([0.0, 0.0], [])
        add(ranking, [1, 2])
    assert len(tried) == 1
    assert "too slow" in caplog.text
