"""All ways to score pages by their links, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from . import blockrank, hits, opic, pagerank, siterank
from .blockrank import BlockScores
from .graph import LinkGraph
from .numbering import Numbers
from .surfer import Values


@dataclass(frozen=True, slots=True, eq=False)
class Viewpoint:
    """A point of view, or a part of the graph; by default the whole graph.

    Attributes:
        jumps: how likely the surfer of PageRank jumps to each page.
        pages, links: weight of each page and of each link, for HITS.
        groups: group of each page, in place of its site.
    """

    jumps: Values | None = None
    pages: Values | None = None
    links: Values | None = None
    groups: Numbers | None = None


EVERYTHING = Viewpoint()


def _pagerank(graph: LinkGraph, view: Viewpoint) -> Values:
    return pagerank.score(graph, teleport=view.jumps)


def _authorities(graph: LinkGraph, view: Viewpoint) -> Values:
    return hits.score(graph, weights=view.links, pages=view.pages).authorities


def _hubs(graph: LinkGraph, view: Viewpoint) -> Values:
    return hits.score(graph, weights=view.links, pages=view.pages).hubs


def _site(graph: LinkGraph, view: Viewpoint) -> Values:
    groups = graph.site_numbers if view.groups is None else view.groups
    jumps = None if view.jumps is None else np.bincount(groups, weights=view.jumps).astype(np.float64, copy=False)
    return siterank.score(graph, groups=groups, teleport=jumps)


def _block(graph: LinkGraph, view: Viewpoint) -> Values:
    return blockrank.score(graph, teleport=view.jumps)


def _block_authorities(graph: LinkGraph, _view: Viewpoint) -> Values:
    return blockrank.block_hits(graph)[1]


def _opic(graph: LinkGraph, _view: Viewpoint) -> Values:
    online = opic.Opic(graph)
    online.observe(graph.rows)
    return online.score()


METHODS: Mapping[str, Callable[[LinkGraph, Viewpoint], Values]] = {
    "pagerank": _pagerank,
    "hits": _authorities,
    "hubs": _hubs,
    "site": _site,
    "block": _block,
    "block-hits": _block_authorities,
    "opic": _opic,
}
"""Name -> scores of all pages, in sum 1, with the parameters that each method comes with."""

OF_BLOCKS: Mapping[str, Callable[[LinkGraph], BlockScores]] = {
    "blocks": blockrank.block_scores,
    "block-hubs": lambda graph: blockrank.block_hits(graph)[0],
}
"""The same for scores of blocks; pages have the sum of theirs."""

JUMPING = ("pagerank", "block", "site")
"""Methods that heed `Viewpoint.jumps`."""
