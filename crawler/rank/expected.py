"""Expected rank of queued pages: PageRank corrected for links not seen yet.

In a neighbourhood that has been crawled almost completely nearly all links to a page have been seen; in one that was
just discovered hardly any. So what a page hands on along a link counts for more the less of that page's neighbourhood
has been fetched, as in estimating a population from a sample. How much more differs from web to web; a crawl learns it
from the pages that it has fetched since (`Experience`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .numbering import Numbers

if TYPE_CHECKING:
    from .graph import LinkGraph

Values = NDArray[np.float64]

NOTHING_LEARNT = 0.5
"""Value of the signal `experience` where it adds nothing."""
_DETAIL = 100.0
_MOST = math.log1p(1e9)


@dataclass(frozen=True, slots=True)
class Params:
    """Strength of the correction.

    Of some forty corrections tried on three link graphs and on generated webs, the one with these values was the only
    one that was better everywhere (docs/crawl-order.md). `power` is the exponent of the share explored; 0 leaves the
    rank as seen, 1 divides it by the share. `floor` is added to the share, so that no link counts for more than
    `floor ** -power` times its rank.

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
    """Estimate the rank of every page, for comparing queued pages; the sum is not 1.

    The sum over the links to a page of `damping * rank(source) / links(source) / (explored(source) + floor) ** power`,
    where `explored` is the share of a page's links that lead to pages which do not wait to be fetched. 0 for a page
    that no known link leads to.

    Args:
        rank: PageRank of every page, in sum 1.
        waiting: pages that may still be fetched; all that have not been when left out.

    Cost: O(links), about 10 nanoseconds each.
    Source: ours; cf. J. Cho, H. Garcia-Molina, L. Page, Efficient crawling through URL ordering, 1998, where PageRank
    of the known part orders the queue.
    """
    if not graph.rows or not len(graph.targets):
        return np.zeros(len(graph))
    share = explored(graph, waiting) if params.power else 1.0
    return _received(graph, _handed(rank[graph.fetched], np.maximum(np.diff(graph.starts), 1), share, params))


def explored(graph: LinkGraph, waiting: NDArray[np.bool_] | None = None) -> Values:
    """Return the share of each row's links whose targets do not wait."""
    settled = graph.row_of >= 0 if waiting is None else ~waiting
    fetched = np.concatenate(([0], np.cumsum(settled[graph.targets])))
    inside = fetched[graph.starts[1:]] - fetched[graph.starts[:-1]]
    return np.asarray(inside / np.maximum(np.diff(graph.starts), 1), np.float64)


def _received(graph: LinkGraph, of_rows: Values) -> Values:
    weights = np.repeat(of_rows, np.diff(graph.starts))
    return np.bincount(graph.targets, weights=weights, minlength=len(graph)).astype(np.float64, copy=False)


def _handed(rank: Values | float, links: Values | float, explored: Values | float, params: Params) -> Values:
    return np.asarray(params.damping * rank / links / (explored + params.floor) ** params.power)


def scaled(shares: Values | float, pages: int) -> Values:
    """Map shares of a whole to [0, 1], equal ratios of large shares to equal steps.

    `log(1 + 100 * pages * share) / log(1 + 10 ** 9)`: .22 for an average page, .33 for one with ten times as much, and
    .11 more for each further ten times. A page that keeps its place in a growing graph keeps its value.
    """
    return np.asarray(np.minimum(1.0, np.log1p(_DETAIL * max(pages, 1) * np.asarray(shares)) / _MOST), np.float64)


def inherited(value: float, links: int, known_links: int, params: Params = DEFAULTS) -> float:
    """Estimate the first value, as `scaled`, of a page just found on another one.

    `known_links` of the `links` (at least 1) on that page led to pages known before: they stand for the share explored.
    """
    handed = float(_handed(math.expm1(value * _MOST), links, known_links / links, params))
    return min(1.0, math.log1p(handed) / _MOST)


@dataclass(frozen=True, slots=True)
class Lessons:
    """Trust of a crawl in its own experience. Chosen by hand.

    Attributes:
        doubt: strength of the prior, in pages with one deviation of a feature as large as the whole scale.
        caution: the same for each page of a lesson: the part of it that is never believed wholly.
        growth: the fetched pages grow by this factor from one lesson to the next.
        keep: share of the evidence of earlier lessons that is kept at each.
        host_doubt: pages of value 0 that the mean of each host is taken with.
        most: pages noted for a lesson: those with the highest expectation.
    """

    doubt: float = 0.1
    caution: float = 0.003
    growth: float = 1.3
    keep: float = 0.5
    host_doubt: float = 20.0
    most: int = 50_000


PRIOR = np.array((0.0, 1.0, 0.1, 0.05))
"""Coefficients before any experience, as the preset `pagerank` weighs the signals.

The features, in this order: the rank as far as links were seen (`Params.power` 0), `pagerank`, `address`, `depth`.
"""


class Experience:
    """Regression of the rank pages came to have on what was known before.

    The features of the best pages that wait are noted. When the crawl has grown by a third, those fetched since are
    compared with the rank that they are expected to have now, pages whose sources have been explored counting most. The
    prior keeps few pages from changing much. Besides, each host has a part of its own: the mean of what the regression
    leaves unexplained there.

    Cost: O(pages that wait) a lesson, of which there are few (the number grows with the logarithm of the pages).
    Source: ours; ridge regression towards a prior (A. Hoerl, R. Kennard, Ridge regression, 1970).
    """

    def __init__(self, params: Lessons | None = None) -> None:
        self.params = params or Lessons()
        self.coefficients: Values = PRIOR.copy()
        self.lessons = 0
        self._squares = np.zeros((len(PRIOR), len(PRIOR)))
        self._products = np.zeros(len(PRIOR))
        self._weight = 0.0
        self._of_hosts: Values = np.zeros((2, 0))
        self._noted: tuple[int, Numbers, Values] | None = None

    def value(self, features: Values, hosts: Numbers) -> Values:
        """Return what experience adds to the prior (0.5: nothing), for rows of features."""
        values: Values = NOTHING_LEARNT + features @ (self.coefficients - PRIOR)
        if self._of_hosts.shape[1]:
            values += self._host_parts()[np.minimum(hosts, self._of_hosts.shape[1])]
        return np.asarray(np.clip(values, 0.0, 1.0), np.float64)

    def learn(self, graph: LinkGraph, ranks: Values, features: Values, queued: Numbers) -> None:
        """Learn from the pages noted before, once the crawl has grown enough.

        `ranks` are those that all pages are expected to have now, scaled; `features` are of the pages that wait.
        """
        if self._noted is not None:
            rows, pages, before = self._noted
            if graph.rows < self.params.growth * rows:
                return
            waiting = np.zeros(len(graph), np.bool_)
            waiting[queued] = True
            since = ~waiting[pages]
            if since.any():
                pages, before = pages[since], before[since].astype(np.float64)
                share = _received(graph, explored(graph, waiting)) / np.maximum(graph.in_links(), 1)
                self._fit(before, ranks[pages], share[pages] ** 2, graph.host_numbers[pages])
        best = np.argsort(-features[:, 1], kind="stable")[: self.params.most]
        self._noted = graph.rows, queued[best], features[best].astype(np.float32)

    def _fit(self, features: Values, ranks: Values, weights: Values, hosts: Numbers) -> None:
        total = max(float(weights.sum()), 1e-9)
        above = features - weights @ features / total
        wanted = ranks - weights @ ranks / total
        self._squares = self.params.keep * self._squares + (above * weights[:, None]).T @ above
        self._products = self.params.keep * self._products + (above * weights[:, None]).T @ wanted
        self._weight = self.params.keep * self._weight + total
        doubt = (self.params.doubt + self.params.caution * self._weight) * np.eye(len(PRIOR))
        self.coefficients = np.linalg.solve(self._squares + doubt, self._products + doubt @ PRIOR)
        self.lessons += 1
        left = wanted - above @ self.coefficients
        size = max(int(hosts.max()) + 1, self._of_hosts.shape[1])
        grown: Values = np.zeros((2, size))
        grown[:, : self._of_hosts.shape[1]] = self.params.keep * self._of_hosts
        grown[0] += np.bincount(hosts, weights * left, size)
        grown[1] += np.bincount(hosts, weights, size)
        self._of_hosts = grown

    def _host_parts(self) -> Values:
        """Return the part of each host, and a last 0 for hosts that came later."""
        sums, weights = self._of_hosts
        return np.append(sums / (weights + self.params.host_doubt), 0.0)
