"""Signals of networks: names, graphs and values, against numbers solved by hand and against our own methods."""

from __future__ import annotations

import math
import sys
from types import ModuleType
from typing import Any

import networkx
import numpy as np
import pytest

from crawler.rank import hits, networks, pagerank, siterank
from crawler.rank.graph import LinkGraph
from crawler.rank.networks import NetworkSignal, computed, network, of_level, shared_scale, try_out
from crawler.rank.surfer import Params
from pipelines.records import BlockKind
from tests.crawler.rank.graphs import add, add_pages, random_web
from tests.table import each_row

KATZ = (("alpha", 0.01), ("weight", "weight"))
EXACT = Params(tolerance=1e-13)


def names(level: str, ids: np.ndarray) -> list[str]:
    return [f"http://{level}.example/{key}" for key in ids.tolist()]


def three_hosts() -> LinkGraph:
    """Hosts 7 and 8 of the site 1 and host 9 of the site 2: two links lead from 7 to 8, one from 8 to 9."""
    graph = LinkGraph()
    add_pages(graph, [70, 71], host=7, site=1)
    add_pages(graph, [80, 81], host=8, site=1)
    add_pages(graph, [90], host=9, site=2)
    return add(graph, {70: [71, 80, 999], 71: [81], 80: [90]})


@each_row(
    ("name", "read"),
    [
        ("nx:katz_centrality", NetworkSignal("hosts", "katz_centrality")),
        ("nx:sites:pagerank", NetworkSignal("sites", "pagerank")),
        ("nx:pages:core_number", NetworkSignal("pages", "core_number")),
        ("nx:pages:mine:central", NetworkSignal("pages", "mine:central")),
        ("nx:mine:central", NetworkSignal("hosts", "mine:central")),
        ("nx:katz_centrality( alpha=0.01, weight=weight )", NetworkSignal("hosts", "katz_centrality", KATZ)),
        ("nx:pages:mine:central()", NetworkSignal("pages", "mine:central")),
        ("pagerank", None),
    ],
)
def test_names_say_which_graph_and_function(name: str, read: NetworkSignal | None) -> None:
    assert network(name) == read


def test_graph_of_hosts_counts_links_between_them() -> None:
    made, groups = of_level(three_hosts(), "hosts", names, {"queued": np.array([0, 1, 0, 1, 1, 0])})
    assert groups.tolist() == [1, 1, 2, 2, 3, 0]
    assert dict(made.nodes(data=True)) == {
        1: {"host": "http://hosts.example/7", "pages": 2, "fetched": 2, "queued": 1},
        2: {"host": "http://hosts.example/8", "pages": 2, "fetched": 1, "queued": 1},
        3: {"host": "http://hosts.example/9", "pages": 1, "fetched": 0, "queued": 1},
    }
    assert sorted(made.edges(data="weight")) == [(1, 2, 2), (2, 3, 1)]
    sites, _ = of_level(three_hosts(), "sites")
    assert sorted(sites.edges(data="weight")) == [(1, 2, 1)]
    assert sites.nodes[1] == {"site": "", "pages": 4, "fetched": 3}


def test_graph_of_pages_has_what_is_known_of_them() -> None:
    graph = three_hosts()
    made, nodes = of_level(graph, "pages", names, {"depth": np.arange(6), "queued": np.ones(6, np.bool_)})
    assert nodes.tolist() == [0, 1, 2, 3, 4, 5]
    assert made.nodes[4] == {
        "url": "http://pages.example/90",
        "host": "pages.example",
        "score": 0.0,
        "fetched": False,
        "depth": 4,
        "queued": True,
    }
    assert made.edges[0, 1] == {"block": "body"}


def test_large_graphs_keep_what_most_links_lead_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "MOST_NODES", 2)
    made, _ = of_level(three_hosts(), "hosts")
    assert sorted(made.nodes) == [2, 3]
    pages, _ = of_level(random_web(50, 400), "pages")
    assert sorted(pages.nodes) == np.sort(np.argsort(-random_web(50, 400).in_links(), kind="stable")[:2]).tolist()


def test_katz_centrality_by_hand() -> None:
    """From a over b to c, alpha .1, beta 1: a = 1, b = 1 + .1 a = 1.1, c = 1 + .1 b = 1.11, scaled to length 1."""
    graph = three_hosts()
    made, groups = of_level(graph, "hosts")
    values = computed(NetworkSignal("hosts", "katz_centrality"), made, 4)
    length = math.sqrt(1 + 1.1**2 + 1.11**2)
    assert values == pytest.approx([0, 1 / length, 1.1 / length, 1.11 / length], abs=1e-6)
    assert shared_scale(values)[groups] == pytest.approx([1 / 1.11, 1 / 1.11, 1.1 / 1.11, 1.1 / 1.11, 1, 0], abs=1e-6)


def test_parameters_reach_the_function() -> None:
    """As above with alpha .5 and weights 2 and 1: 1, 1 + .5 * 2 = 2 and 1 + .5 * 2 = 2; length 3."""
    made, _ = of_level(three_hosts(), "hosts")
    weighed = NetworkSignal("hosts", "katz_centrality", (("alpha", 0.5), ("weight", "weight")))
    assert computed(weighed, made, 4) == pytest.approx([0, 1 / 3, 2 / 3, 2 / 3], abs=1e-6)


def test_degree_centrality_by_hand() -> None:
    """Links of a host in both directions, divided by the two other hosts: 1/2, 2/2, 1/2."""
    made, _ = of_level(three_hosts(), "hosts")
    assert computed(NetworkSignal("hosts", "degree_centrality"), made, 4).tolist() == [0, 0.5, 1.0, 0.5]


def test_function_for_undirected_graphs_gets_one() -> None:
    """Triangles are only counted there; a link from 9 back to 7 closes one."""
    made, _ = of_level(add(three_hosts(), {90: [70]}), "hosts")
    assert computed(NetworkSignal("hosts", "triangles"), made, 4).tolist() == [0, 1, 1, 1]


def test_pagerank_of_networkx_is_ours() -> None:
    graph = random_web(600, 4000)
    pages, _ = of_level(graph, "pages")
    found = networkx.pagerank(pages, tol=1e-14, max_iter=1000)
    assert [found[page] for page in range(600)] == pytest.approx(pagerank.score(graph, EXACT), abs=1e-10)
    jumps = np.zeros(600)
    jumps[[5, 17]] = 3.0, 1.0
    found = networkx.pagerank(pages, personalization={5: 3.0, 17: 1.0}, tol=1e-14, max_iter=1000)
    ours = pagerank.score(graph, EXACT, teleport=jumps)
    assert [found[page] for page in range(600)] == pytest.approx(ours, abs=1e-10)
    hubs, authorities = networkx.hits(pages, max_iter=1000, tol=1e-12)
    both = hits.score(graph)
    assert [hubs[page] for page in range(600)] == pytest.approx(both.hubs, abs=1e-6)
    assert [authorities[page] for page in range(600)] == pytest.approx(both.authorities, abs=1e-6)
    sites, _ = of_level(graph, "sites")
    found = networkx.pagerank(sites, tol=1e-14, max_iter=1000)
    ours = siterank.site_scores(graph, EXACT)
    assert [found.get(site, 0.0) for site in range(len(ours))] == pytest.approx(ours, abs=1e-10)


def test_nothing_known_is_nothing_scored() -> None:
    for level in networks.LEVELS:
        made, nodes = of_level(LinkGraph(), level)
        assert (len(made), nodes.tolist()) == (0, [])
        assert computed(NetworkSignal(level, "pagerank"), made, 0).tolist() == []
    assert shared_scale(np.zeros(3)).tolist() == [0, 0, 0]


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of a user."""
    module = ModuleType("theirgraphs")
    monkeypatch.setitem(sys.modules, "theirgraphs", module)
    network.cache_clear()
    return module


def annotated(kind: Any) -> Any:
    def reach(graph, cutoff=2):
        return {node: len(networkx.single_source_shortest_path(graph, node, cutoff)) for node in graph}

    reach.__annotations__ = {"graph": kind}
    return reach


@each_row("kind", [networkx.DiGraph, "networkx.DiGraph", "nx.DiGraph", "DiGraph[int]", networkx.Graph])
def test_annotation_tells_functions_of_graphs(mine: ModuleType, kind: Any) -> None:
    network.cache_clear()
    mine.reach = annotated(kind)  # type: ignore[attr-defined]
    assert network("theirgraphs:reach") == NetworkSignal("pages", "theirgraphs:reach")
    try_out("theirgraphs:reach")
    made, _ = of_level(three_hosts(), "hosts")
    assert computed(NetworkSignal("hosts", "theirgraphs:reach"), made, 4).tolist() == [0, 3, 2, 1]


def test_other_functions_get_columns(mine: ModuleType) -> None:
    mine.short = annotated("Finds")  # type: ignore[attr-defined]
    assert network("theirgraphs:short") is None


@each_row(
    ("name", "part"),
    [
        ("nx:katz", "networkx has no function 'katz'; names like it: katz_centrality, katz_centrality_numpy"),
        ("nx:", "networkx has no function ''"),
        ("nx:DiGraph", "networkx has no function 'DiGraph'"),
        ("nx:_dispatchable", "networkx has no function '_dispatchable'"),
        ("nx:dijkstra_path", "networkx.dijkstra_path takes more than a graph: source, target"),
        ("nx:katz_centrality(0.01)", "'0.01' is no parameter; write name=value, as in \\(alpha=0.01\\)"),
        ("nx:katz_centrality(beta=x)", "failed when tried out on a graph of four nodes"),
        ("nx:theirgraphs:lists(depth=2)", "cannot be called with"),
        ("nx:hits", "TypeError: it returned tuple; a dict of a number for each node is needed"),
        ("nx:diameter", "TypeError: it returned int; a dict"),
        ("nx:all_pairs_shortest_path", "TypeError: it returned "),
        ("nx:theirgraphs:wrong", "ValueError: it returned values of nodes that the graph does not have"),
        ("nx:theirgraphs:lists", "TypeError: it returned list for a node; a number is needed"),
        ("nx:theirgraphs:nothing", "the module 'theirgraphs' has no 'nothing'"),
    ],
)
def test_wrong_signals_are_named(mine: ModuleType, name: str, part: str) -> None:
    mine.wrong = lambda graph: {"a": 1.0}  # type: ignore[attr-defined]
    mine.lists = lambda graph: {node: [1] for node in graph}  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=f"(?s){part}") as told:
        try_out(name)
    assert name.removeprefix("nx:").partition("(")[0] in str(told.value)


def test_values_that_are_no_finite_numbers_are_nought(mine: ModuleType) -> None:
    mine.odd = lambda graph: dict(zip(graph, (math.nan, math.inf, 2.0), strict=True))  # type: ignore[attr-defined]
    made, _ = of_level(three_hosts(), "hosts")
    assert computed(NetworkSignal("hosts", "theirgraphs:odd"), made, 4).tolist() == [0, 0, 0, 2.0]


def test_blocks_of_links_are_named() -> None:
    graph = LinkGraph()
    add(graph, {1: [2]}, BlockKind.FOOTER)
    made, _ = of_level(graph, "pages")
    assert made.edges[0, 1]["block"] == "footer"
