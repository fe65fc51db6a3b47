"""SiteRank and DocRank: a site's rank among sites times a page's rank inside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .graph import LinkGraph
from .numbering import Numbers
from .surfer import DEFAULTS, Params, Values, shares, stationary

Places = Numbers | NDArray[np.int64]

__all__ = ["DEFAULTS", "Params", "doc_scores", "of_links", "score", "site_scores"]


def score(
    graph: LinkGraph,
    params: Params = DEFAULTS,
    *,
    groups: Numbers | None = None,
    teleport: Values | None = None,
    start: Values | None = None,
) -> Values:
    """Compute SiteRank of a page's site times DocRank of the page inside it; in sum 1.

    A site's worth comes from other sites alone: ten thousand pages that praise one another gain nothing, while with
    PageRank each of them brings its own share of the jumps.

    Args:
        groups: number of each page's group, from 0: sites (registrable domains) when left out; hosts
            (`graph.host_numbers`) or IP addresses do as well.
        teleport: how likely a jump leads to each group, as for `site_scores`.

    Raises:
        ValueError: groups or jumps that do not fit.
        ConvergenceError: not settled within `params.iterations` rounds.
    Cost: as PageRank; all sites are computed at once, as one matrix of many blocks.
    Source: S04; J. Wu, K. Aberer, Using SiteRank for decentralized computation of web document ranking, 2004,
    sections 3 and 4.
    Differs: pages of unknown hosts stand in one group together; as addresses, hosts that have not answered stand alone.
    """
    groups = _checked(graph, groups)
    of_groups = site_scores(graph, params, groups=groups, teleport=teleport)
    sizes = np.bincount(groups, minlength=len(of_groups))
    inside = np.repeat(groups[graph.fetched], np.diff(graph.starts)) == groups[graph.targets]
    links = graph.matrix(inside.astype(np.float64))
    return stationary(
        links, graph.fetched, (of_groups / np.maximum(sizes, 1))[groups], params, groups=groups, start=start
    )


def doc_scores(groups: Places, sources: Places, targets: Places, params: Params = DEFAULTS) -> Values:
    """Compute DocRank of the pages of some groups, each group by itself and in sum 1.

    The scores of a group are the same whatever other groups there are, if its pages are in the same order. `sources`
    are the pages, by number, of links inside groups.
    """
    sizes = np.bincount(groups)
    links = sparse.csc_array((np.ones(len(sources)), (targets, sources)), shape=(len(groups), len(groups)))
    return stationary(links, slice(None), (1.0 / np.maximum(sizes, 1))[groups], params, groups=groups)


def site_scores(
    graph: LinkGraph, params: Params = DEFAULTS, *, groups: Numbers | None = None, teleport: Values | None = None
) -> Values:
    """Compute SiteRank: PageRank on the graph of sites; in sum 1.

    A link weighs as much as pages of one link to the other. A jump leads to each group as likely as `teleport` says (in
    any scale), or equally to all that have pages. Numbers that no page has score 0.

    Raises:
        ValueError, ConvergenceError: as `score`.
    Cost: O(links) once, then O(pairs of sites that link to each other) a round.
    Source, Differs: as `score`. Links inside a site do not count.
    """
    groups = _checked(graph, groups)
    sizes = np.bincount(groups)
    sources, targets = np.repeat(groups[graph.fetched], np.diff(graph.starts)), groups[graph.targets]
    return of_links(sources, targets, np.ones(len(targets)), sizes, params, teleport=teleport)


def of_links(
    sources: Places,
    targets: Places,
    weights: Values,
    sizes: Places,
    params: Params = DEFAULTS,
    *,
    teleport: Values | None = None,
) -> Values:
    """Compute SiteRank from links between sites; a pair may come several times."""
    between = sources != targets
    pairs = (weights[between], (targets[between], sources[between]))
    links = sparse.coo_array(pairs, shape=(len(sizes), len(sizes))).tocsc()
    if teleport is None:
        teleport = (sizes > 0).astype(np.float64)
    return stationary(links, slice(None), shares(teleport, len(sizes), "teleport"), params)


def _checked(graph: LinkGraph, groups: Numbers | None) -> Numbers:
    if groups is None:
        return graph.site_numbers
    if len(groups) != len(graph) or (np.asarray(groups) < 0).any():
        raise ValueError(f"groups has {len(groups)} numbers; {len(graph)} of at least 0 are needed")
    return groups
