"""Expected rank of queued pages: PageRank corrected for links not seen yet.

PageRank of the part of a graph that a crawl knows orders its queue worse than it could. In a neighbourhood that has
been crawled almost completely nearly all links to a page have been seen; in one that was just discovered hardly any. So
what a page hands on along a link counts for more the less of that page's neighbourhood has been fetched, as in
estimating a population from a sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .graph import LinkGraph

Values = NDArray[np.float64]

_DETAIL = 100.0
_MOST = math.log1p(1e9)


@dataclass(frozen=True, slots=True)
class Params:
    """Strength of the correction.

    Attributes:
        damping: as in PageRank.
        power: exponent of the share explored; 0 leaves what was seen as it is, 1 divides by the share.
        floor: added to the share, so that no link counts for more than `floor ** -power` times what it hands on.

    Raises:
        ValueError: a value outside of [0, 1), [0, 4] and (0, 1].
    """

    damping: float = 0.85
    power: float = 1.25
    floor: float = 0.1

    def __post_init__(self) -> None:
        for name, least, most in (("damping", 0.0, 0.999), ("power", 0.0, 4.0), ("floor", 1e-6, 1.0)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"{name} is {value!r}; it lies between {least} and {most}")


DEFAULTS = Params()


def score(
    graph: LinkGraph, rank: Values, params: Params = DEFAULTS, *, waiting: NDArray[np.bool_] | None = None
) -> Values:
    """Estimate the rank of every page.

    The sum over the links to a page of `damping * rank(source) / links(source) / (explored(source) + floor) ** power`,
    where `explored` is the share of a page's links that lead to pages which do not wait to be fetched.

    Args:
        graph: the links.
        rank: PageRank of every page, in sum 1.
        params: how strongly to correct.
        waiting: which pages may still be fetched; all that have not been when left out.

    Returns:
        A value for each page, 0 for one that no known link leads to. They are of use for comparing queued pages; their
        sum is not 1.

    Cost: O(links), about 10 nanoseconds each.
    Source: ours; cf. J. Cho, H. Garcia-Molina, L. Page, Efficient crawling through URL ordering, 1998, where PageRank
    of the known part orders the queue.
    """
    if not graph.rows or not len(graph.targets):
        return np.zeros(len(graph))
    counts = np.diff(graph.starts)
    settled = graph.row_of >= 0 if waiting is None else ~waiting
    fetched = np.concatenate(([0], np.cumsum(settled[graph.targets])))
    explored = (fetched[graph.starts[1:]] - fetched[graph.starts[:-1]]) / np.maximum(counts, 1)
    handed = _handed(rank[graph.fetched], np.maximum(counts, 1), explored, params)
    weights = np.repeat(handed, counts)
    return np.bincount(graph.targets, weights=weights, minlength=len(graph)).astype(np.float64, copy=False)


def _handed(rank: Values | float, links: Values | float, explored: Values | float, params: Params) -> Values:
    """Return the rank that a page hands on along each link."""
    return np.asarray(params.damping * rank / links / (explored + params.floor) ** params.power)


def scaled(shares: Values | float, pages: int) -> Values:
    """Map shares of a whole to [0, 1], equal ratios of large shares to equal steps.

    `log(1 + 100 * pages * share) / log(1 + 10 ** 9)`: .22 for an average page, .33 for one with ten times as much, and
    .11 more for each further ten times. A page that keeps its place in a growing graph keeps its value.
    """
    return np.asarray(np.minimum(1.0, np.log1p(_DETAIL * max(pages, 1) * np.asarray(shares)) / _MOST), np.float64)


def inherited(value: float, links: int, known: int, params: Params = DEFAULTS) -> float:
    """Estimate the first value, as `scaled`, of a page just found on another one.

    Args:
        value: that of the other one, scaled.
        links: links on that page, at least 1.
        known: how many of them led to pages known before: as close to the fetched ones as can be told at once.
        params: how strongly to correct.
    """
    handed = float(_handed(math.expm1(value * _MOST), links, known / links, params))
    return min(1.0, math.log1p(handed) / _MOST)
