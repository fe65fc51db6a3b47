"""Hubs and authorities: good hubs link to good authorities, which good hubs link to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .graph import LinkGraph
from .surfer import ConvergenceError, Values, uniform

_VECTORS = 12
"""Vectors that the search for the eigenvector keeps."""


@dataclass(frozen=True, slots=True)
class Params:
    """How exactly the scores are computed.

    Attributes:
        tolerance: what is left of the vector's change, as a part of its length, above 0.
        iterations: times twelve rounds after which it gives up, at least 1.

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
class Scores:
    """Two scores for each page, each in sum 1; both equal for all pages when there is no link."""

    hubs: Values
    authorities: Values


def score(
    graph: LinkGraph, params: Params = DEFAULTS, *, weights: Values | None = None, pages: Values | None = None
) -> Scores:
    """Hub and authority of every page.

    A list page is a good hub when it links to pages that many good hubs link to; those are the authorities. The scores
    are the main eigenvectors of LL' and L'L, of the link matrix L. Where several parts of the graph are equally good,
    the vector is taken that repeated passing on from equal scores would end in, so the result is always defined.

    Args:
        graph: the links.
        params: exactness.
        weights: weight of each link, at least 0; 1 each when left out.
        pages: weight of each page, at least 0: its relevance to a topic, or 1 and 0 for a part of the graph. A link
            counts as much as the product of the weights of both its pages.

    Returns:
        The scores; pages that no link touches have 0.

    Raises:
        ValueError: weights of another length, below 0 or not finite.
        ConvergenceError: not settled within `params.iterations`.

    Cost: O(links) a round, some 50 rounds; 8 bytes a link and 100 a fetched page.
    Source: S03; J. Kleinberg, Authoritative sources in a hyperlinked environment, JACM 46 (1999), section 3.
    Differs: the eigenvector is found by the Lanczos method, which needs far fewer rounds than passing on alone; weights
    (K. Bharat, M. Henzinger, Improved algorithms for topic distillation, 1998); scores sum to 1.
    """
    links = graph.matrix(weights)
    if pages is not None:
        if len(pages) != len(graph) or not (np.isfinite(pages).all() and (pages >= 0).all()):
            raise ValueError(f"pages holds {len(pages)} weights; {len(graph)} finite ones of at least 0 are needed")
        both = np.repeat(pages[graph.fetched], np.diff(graph.starts)) * pages[graph.targets]
        links = graph.matrix(both if weights is None else both * weights)
    if not links.data.any():
        return Scores(uniform(len(graph)), uniform(len(graph)))
    of_rows = _main_vector(links, params)
    hubs = np.zeros(len(graph))
    hubs[graph.fetched] = of_rows / of_rows.sum()
    authorities = links @ of_rows
    return Scores(hubs, authorities / authorities.sum())


def _main_vector(links: sparse.csc_array, params: Params) -> Values:
    """The hubs: main eigenvector of the matrix of links that two rows have in common; nothing below 0.

    Lanczos: the best vector among those that some rounds of passing on span, taken as the beginning of the next rounds.
    """
    back = links.T
    basis = np.empty((min(_VECTORS, links.shape[1]), links.shape[1]))
    hubs: Values = np.ones(links.shape[1])
    for _ in range(params.iterations):
        basis[0] = hubs / np.linalg.norm(hubs)
        diagonal, beside = [], []
        for n in range(len(basis)):
            following = back @ (links @ basis[n])
            diagonal.append(float(following @ basis[n]))
            following -= basis[: n + 1].T @ (basis[: n + 1] @ following)
            following -= basis[: n + 1].T @ (basis[: n + 1] @ following)  # once more: rounding has left a little
            beside.append(float(np.linalg.norm(following)))
            if n + 1 == len(basis) or beside[n] <= params.tolerance * diagonal[0]:
                break
            basis[n + 1] = following / beside[n]
        values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside[:-1], 1) + np.diag(beside[:-1], -1))
        hubs = np.abs(vectors[:, -1] @ basis[: len(diagonal)])
        if beside[-1] * abs(vectors[-1, -1]) <= params.tolerance * values[-1]:
            return hubs
    raise ConvergenceError(params.iterations)
