"""HITS: good hubs link to good authorities, which good hubs link to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .graph import LinkGraph
from .surfer import ConvergenceError, Values, uniform

_VECTORS = 12
"""Vectors that the search for the eigenvector keeps."""
_FAVOUR = 1e-9
"""Part of the eigenvalue by which equal scores are favoured, to decide between several main vectors."""


MOST_IN_LINKS = 50
"""Pages that come into the sub-graph for linking to one page of the root set; as in the paper."""


@dataclass(frozen=True, slots=True)
class Params:
    """Exactness of the scores.

    `tolerance` is the remaining change of the vector as a part of its length, above 0; `iterations` are restarts, of up
    to twelve rounds each, before giving up, at least 1.

    Raises:
        ValueError: a value outside of these bounds.
    """

    tolerance: float = 1e-7
    iterations: int = 100

    def __post_init__(self) -> None:
        if not self.tolerance > 0 or self.iterations < 1:
            raise ValueError(f"tolerance is {self.tolerance!r} and iterations {self.iterations!r}; above 0, at least 1")


DEFAULTS = Params()


@dataclass(frozen=True, slots=True, eq=False)
class HitsScores:
    """Two scores for each page, each in sum 1; all equal when there is no link."""

    hubs: Values
    authorities: Values


def score(
    graph: LinkGraph, params: Params = DEFAULTS, *, weights: Values | None = None, pages: Values | None = None
) -> HitsScores:
    """Hub and authority of every page; pages that no link touches have 0.

    A list page is a good hub when it links to pages that many good hubs link to; those are the authorities. The scores
    are the main eigenvectors of LL' and L'L, of the link matrix L. Where several parts of the graph are equally good,
    the vector is taken that repeated passing on from equal scores would end in, so the result is always defined.

    Args:
        weights: weight of each link, at least 0; 1 each when left out.
        pages: weight of each page, at least 0: its relevance to a topic, or 1 and 0 for a part of the graph. A link
            counts as much as the product of the weights of both its pages.

    Raises:
        ValueError: weights of another length, below 0 or not finite.
        ConvergenceError: not settled within `params.iterations`.
    Cost: O(links) a round, some 50 rounds; 8 bytes a link and 100 a fetched page.
    Source: S03; J. Kleinberg, Authoritative sources in a hyperlinked environment, JACM 46 (1999), section 3.
    Differs: the eigenvector is found by the Lanczos method (ARPACK), in far fewer rounds than by passing on; weights
    (K. Bharat, M. Henzinger, Improved algorithms for topic distillation, 1998); scores sum to 1.
    """
    links = graph.matrix(weights)
    if pages is not None:
        if len(pages) != len(graph) or not (np.isfinite(pages).all() and (pages >= 0).all()):
            raise ValueError(f"pages holds {len(pages)} weights; {len(graph)} finite ones of at least 0 are needed")
        both = np.repeat(pages[graph.fetched], np.diff(graph.starts)) * pages[graph.targets]
        links = graph.matrix(both if weights is None else both * weights)
    if not links.data.any():
        return HitsScores(uniform(len(graph)), uniform(len(graph)))
    of_rows = of_links(links, params)
    hubs = np.zeros(len(graph))
    hubs[graph.fetched] = of_rows.hubs
    return HitsScores(hubs, of_rows.authorities)


def of_links(links: sparse.csc_array, params: Params = DEFAULTS) -> HitsScores:
    """Compute hubs (columns) and authorities (rows) of a matrix that has links.

    Raises, Source, Differs: as `score`.
    """
    hubs = _main_vector(links, params)
    authorities = links @ hubs
    return HitsScores(hubs / hubs.sum(), authorities / authorities.sum())


def focused(graph: LinkGraph, root: NDArray[np.bool_], most: int = MOST_IN_LINKS) -> Values:
    """Weigh pages 1 that belong to the sub-graph of a root set, others 0.

    To it belong the root set, what it links to, and what links to it. The root set are the pages that a query, or a
    topic, is about. Of the pages that link to one page of it, only the `most` fetched first are taken.

    Cost: O(links), 13 bytes each.
    Source: S03; Kleinberg 1999, section 2, the procedure Subgraph.
    Differs: links between pages of one site stay (`across` leaves them out, as the paper does), because a crawl of few
    sites has hardly any others.
    """
    rows = graph.link_rows()
    to_root = np.flatnonzero(root[graph.targets])
    order = to_root[np.argsort(graph.targets[to_root], kind="stable")]  # by page, then by time
    targets = graph.targets[order]
    place = np.arange(len(order)) - np.searchsorted(targets, targets)
    pages = root.astype(np.float64)
    pages[graph.fetched[rows[order[place < most]]]] = 1.0
    pages[graph.targets[root[graph.fetched][rows]]] = 1.0
    return pages


def across(graph: LinkGraph) -> Values:
    """Weigh links between sites 1, those inside one (intrinsic) 0."""
    sites = graph.site_numbers
    between = sites[graph.fetched][graph.link_rows()] != sites[graph.targets]
    return np.asarray(between, np.float64)


def _main_vector(links: sparse.csc_array, params: Params) -> Values:
    """Find the hubs: main eigenvector of the matrix of links that two rows share."""
    from scipy.sparse.linalg import (  # noqa: PLC0415 - 4 MB of every crawl, though few rank by hubs
        ArpackNoConvergence,
        LinearOperator,
        eigsh,
    )

    back, size = links.T, links.shape[1]
    first = back @ (links @ np.ones(size))
    equal: Values = np.where(first > 0, 1.0, 0.0)
    if size == 1:
        return equal
    favour = _FAVOUR * first.mean() / size

    def passed_on(hubs: Values) -> Values:
        following: Values = back @ (links @ hubs) + equal * (favour * (equal * hubs).sum())
        return following

    product = LinearOperator((size, size), passed_on, dtype=np.float64)
    limits = {"ncv": min(_VECTORS, size), "tol": params.tolerance, "maxiter": params.iterations}
    try:
        _, vectors = eigsh(product, 1, which="LA", v0=equal, **limits)
    except ArpackNoConvergence:
        raise ConvergenceError(params.iterations) from None
    hubs: Values = np.abs(vectors[:, 0])
    return hubs
