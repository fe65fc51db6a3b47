"""All ways to score pages by their links, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import blockrank, hits, opic, pagerank, siterank
from .graph import LinkGraph
from .surfer import Values


def _authorities(graph: LinkGraph) -> Values:
    return hits.score(graph).authorities


def _hubs(graph: LinkGraph) -> Values:
    return hits.score(graph).hubs


def _opic(graph: LinkGraph) -> Values:
    online = opic.Opic(graph)
    online.observe(graph.rows)
    return online.score()


METHODS: Mapping[str, Callable[[LinkGraph], Values]] = {
    "pagerank": pagerank.score,
    "hits": _authorities,
    "hubs": _hubs,
    "site": siterank.score,
    "block": blockrank.score,
    "opic": _opic,
}
"""Name -> scores of all pages, in sum 1, with the parameters that each method comes with."""
