"""Short ways to make link graphs for the tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import networkx
import numpy as np
from hypothesis import strategies as st

from crawler.rank.graph import LinkGraph
from pipelines.records import BlockKind


def add(graph: LinkGraph, links: Mapping[int, Sequence[int]], block: int = BlockKind.BODY) -> LinkGraph:
    """Add pages with links, by identifier."""
    targets = [target for page in links.values() for target in page]
    graph.add_links(
        np.array(list(links), np.int64),
        np.array([len(page) for page in links.values()], np.int32),
        np.array(targets, np.int64),
        np.full(len(targets), block, np.uint8),
    )
    return graph


def add_pages(graph: LinkGraph, ids: Iterable[int], host: int, site: int | None = None) -> LinkGraph:
    """Make pages of a host known."""
    pages = np.array(list(ids), np.int64)
    graph.add_pages(pages, np.full(len(pages), host), np.full(len(pages), host if site is None else site))
    return graph


def graph_of(links: Mapping[int, Sequence[int]]) -> LinkGraph:
    return add(LinkGraph(), links)


def digraph(graph: LinkGraph) -> networkx.DiGraph:
    """The same graph made without the code under test: nodes are page numbers in order."""
    made = networkx.DiGraph()
    made.add_nodes_from(range(len(graph)))
    for row, page in enumerate(graph.fetched.tolist()):
        targets = graph.targets[graph.starts[row] : graph.starts[row + 1]]
        made.add_edges_from((page, target) for target in targets.tolist())
    return made


def random_web(pages: int, links: int, seed: int = 1, fetched: float = 0.7) -> LinkGraph:
    """A web in which few pages are linked to often and some have not been fetched; identifiers 1 to `pages`."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(links, np.full(max(1, int(pages * fetched)), 1 / max(1, int(pages * fetched))))
    targets = 1 + (pages * rng.random(links) ** 3).astype(np.int64)
    graph = LinkGraph()
    ids = np.arange(1, pages + 1)
    graph.add_pages(ids, 1 + ids % 40, 1 + ids % 40 % 15)
    blocks = rng.integers(0, len(BlockKind), links).astype(np.uint8)
    graph.add_links(rng.permutation(ids)[: len(counts)], counts.astype(np.int32), targets, blocks)
    return graph


WEBS = st.dictionaries(st.integers(1, 12), st.lists(st.integers(1, 15), max_size=8), max_size=10)
"""Links of small webs: page -> targets, with repeated ones and links to itself."""
