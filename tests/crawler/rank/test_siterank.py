"""SiteRank and DocRank, and what a farm of links earns by them."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given

from crawler.rank import pagerank, siterank
from crawler.rank.graph import LinkGraph
from crawler.rank.surfer import Params
from tests.crawler.rank.graphs import WEBS, add, add_pages, digraph, graph_of, random_web
from tests.table import each_row

EXACT = Params(tolerance=1e-13)


def oracle(graph: LinkGraph, groups: np.ndarray) -> np.ndarray:
    """One site at a time, with networkx."""
    pages, sites = digraph(graph), networkx.DiGraph()
    sites.add_nodes_from(set(groups.tolist()))
    for source, target in pages.edges:
        a, b = groups[source], groups[target]
        if a != b:
            before = sites.get_edge_data(a, b, {"weight": 0})["weight"]
            sites.add_edge(a, b, weight=before + 1)
    of_sites = networkx.pagerank(sites, tol=1e-15, max_iter=1000)
    scores = np.zeros(len(graph))
    for group, worth in of_sites.items():
        inside = networkx.pagerank(pages.subgraph(np.flatnonzero(groups == group).tolist()), tol=1e-15, max_iter=1000)
        for page, share in inside.items():
            scores[page] = worth * share
    return scores


@given(WEBS)
def test_as_one_site_at_a_time(web: dict[int, list[int]]) -> None:
    graph = graph_of(web)
    groups = (graph.ids % 4).astype(np.int32)
    if len(graph):
        assert siterank.score(graph, EXACT, groups=groups) == pytest.approx(oracle(graph, groups), abs=1e-10)
    assert siterank.score(graph).sum() == pytest.approx(float(len(graph) > 0))


def test_by_site_host_or_address() -> None:
    graph = random_web(800, 6000)
    assert siterank.score(graph, EXACT) == pytest.approx(oracle(graph, graph.site_numbers), abs=1e-10)
    by_host = siterank.score(graph, EXACT, groups=graph.host_numbers)
    assert by_host == pytest.approx(oracle(graph, graph.host_numbers), abs=1e-10)
    of_hosts = siterank.site_scores(graph, EXACT, groups=graph.host_numbers)
    assert np.bincount(graph.host_numbers, by_host) == pytest.approx(of_hosts)
    assert of_hosts[0] == 0.0  # nobody is on an unknown host


def test_one_site_is_plain_pagerank() -> None:
    graph = random_web(300, 2000)
    together = np.zeros(300, np.int32)
    assert siterank.score(graph, EXACT, groups=together) == pytest.approx(pagerank.score(graph, EXACT), abs=1e-10)


def farm() -> tuple[LinkGraph, np.ndarray, np.ndarray]:
    """A hundred honest sites of 20 pages that link to one another, and one of 10,000 pages found by a single link."""
    rng = np.random.default_rng(5)
    graph = LinkGraph()
    for site in range(1, 101):
        pages = range(site * 100, site * 100 + 20)
        add_pages(graph, pages, site)
        for page in pages:
            others = (rng.integers(1, 101, 2) * 100 + rng.integers(0, 20, 2)).tolist()
            add(graph, {page: [site * 100, page + 1 if page + 1 in pages else site * 100, *others]})
    honest = np.arange(len(graph))
    first, count = 1_000_000, 10_000
    add(graph, {100_000: [first]})  # a page in a corner of the honest web
    add_pages(graph, [100_000], 1)
    add_pages(graph, range(first, first + count), 999)
    add(graph, {first + n: [first, *(first + rng.integers(0, count, 10)).tolist()] for n in range(count)})
    return graph, honest, graph.numbers(np.arange(first, first + count))


def test_farm_of_links_lifts_nobody() -> None:
    graph, honest, farmed = farm()
    plain, by_site = pagerank.score(graph), siterank.score(graph)
    homes = graph.numbers(np.arange(100, 10_001, 100))
    # with PageRank the farm gets nearly everything, and its front page lies above all honest ones
    assert plain[farmed].sum() > 0.8
    assert plain[farmed[0]] > plain[honest].max()
    # with SiteRank it gets what one more site gets, and not even its front page reaches an honest site's
    assert by_site[farmed].sum() < 1 / 101
    assert by_site[farmed[0]] < by_site[homes].min()
    assert by_site[farmed[1:]].max() < by_site[honest].min()


def test_jumps_to_trusted_sites_leave_a_farm_nothing_but_its_link() -> None:
    graph, _, farmed = farm()
    teleport = np.zeros(len(graph.site_ids))
    teleport[1:101] = 1.0
    trusting = siterank.score(graph, teleport=teleport)
    assert trusting[farmed].sum() < 0.15 * siterank.score(graph)[farmed].sum()


def test_start_is_only_a_start() -> None:
    graph = random_web(300, 2000)
    expected = siterank.score(graph, EXACT)
    assert siterank.score(graph, EXACT, start=np.arange(200.0)) == pytest.approx(expected, abs=1e-10)


@each_row("groups", [[0], [0, -1]])
def test_wrong_groups(groups: list[int]) -> None:
    with pytest.raises(ValueError, match="2 of at least 0"):
        siterank.score(graph_of({1: [2]}), groups=np.array(groups, np.int32))


def test_wrong_jumps() -> None:
    with pytest.raises(ValueError, match="teleport has 3 values; 1 are needed"):
        siterank.score(graph_of({1: [2]}), teleport=np.ones(3))


def test_three_sites_by_hand() -> None:
    """1 and 2 are the site A, 3 is B, 4 is C; 1 and 2 link to 3, 3 to 1 and 4, and 1 also to 2.

    SiteRank: A gives all to B, B halves to A and C, C (not read) thirds to all: a = c = .05 + .85 (b/2 + c/3), and
    a + b + c = 1, so a = .475 / 1.566667 = .303191. DocRank in A, where 2 has no link inside: x1 = .075 + .425 x2 and
    x1 + x2 = 1, so x2 = .925 / 1.425 = .649123.
    """
    graph = LinkGraph()
    for site, pages in enumerate(([1, 2], [3], [4]), 1):
        add_pages(graph, pages, site)
    add(graph, {1: [2, 3], 2: [3], 3: [1, 4]})
    assert siterank.site_scores(graph, EXACT) == pytest.approx([0, 0.303191, 0.393617, 0.303191], abs=1e-6)
    of_pages = [0.303191 * 0.350877, 0.303191 * 0.649123, 0.393617, 0.303191]
    assert siterank.score(graph, EXACT) == pytest.approx(of_pages, abs=1e-6)
