"""The random surfer, who follows links at random and sometimes jumps.

PageRank is this walk on the graph of pages; SiteRank, DocRank and BlockRank are the same walk on other graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .numbering import Numbers

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Options of the walk, and the exactness of its computation.

    Attributes:
        damping: chance to follow a link rather than jump, at least 0 and below 1.
        tolerance: the computation ends when a round moves less than this part of the whole mass (in each group by
            itself, with groups). The remaining error is then at most `damping / (1 - damping)` times as much.
        iterations: rounds before giving up; 200 are enough for every graph with a damping of 0.85.

    Raises:
        ValueError: a value outside of these bounds.
    """

    damping: float = 0.85
    tolerance: float = 1e-7
    iterations: int = 200

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping is {self.damping!r}; it is at least 0 and below 1")
        if not self.tolerance > 0:
            raise ValueError(f"tolerance is {self.tolerance!r}; it is above 0")
        if self.iterations < 1:
            raise ValueError(f"iterations is {self.iterations!r}; it is at least 1")


DEFAULTS = Params()


class ConvergenceError(ArithmeticError):
    """The scores had not settled within the permitted rounds."""

    def __init__(self, iterations: int) -> None:
        super().__init__(f"the scores have not settled after {iterations} rounds; permit more, or a larger tolerance")
        self.iterations = iterations

    def __reduce__(self) -> tuple[type[ConvergenceError], tuple[int]]:
        """Make pickle rebuild it from the number, not from the sentence."""
        return type(self), (self.iterations,)


def uniform(size: int) -> Values:
    return np.full(size, 1.0 / size) if size else np.zeros(0)


def shares(weights: Values, size: int, what: str) -> Values:
    """Scale weights to shares of 1.

    Raises:
        ValueError: not `size` finite weights of at least 0 with one above 0; `what` names them.
    """
    if len(weights) != size:
        raise ValueError(f"{what} has {len(weights)} values; {size} are needed")
    total = float(weights.sum())
    if not (np.isfinite(total) and (weights >= 0).all() and (total > 0 or not size)):
        raise ValueError(f"{what} holds a value that is not finite or below 0, or nothing above 0")
    return np.asarray(weights / total if size else weights, np.float64)


def best(scores: Values, most: int) -> Numbers:
    """Return the numbers of the highest scores, highest first, of equal ones lowest.

    >>> best(np.array([0.1, 0.3, 0.2, 0.3]), 3).tolist()
    [1, 3, 2]
    """
    return np.argsort(-scores, kind="stable")[:most].astype(np.int32)


def stationary(
    links: sparse.csc_array,
    senders: Numbers | slice,
    teleport: Values,
    params: Params = DEFAULTS,
    *,
    totals: Values | None = None,
    groups: Numbers | NDArray[np.int64] | None = None,
    start: Values | None = None,
) -> Values:
    """Compute the shares of the walk in the long run, in sum those of `teleport`.

    In each round every sender hands on its share along its links, in proportion to their weights. The rest - the share
    of the jumps, and of targets without links - is dealt out by `teleport`. With groups, each group deals out among its
    own members, and one that has settled stays as it is, so that its result is the same whatever other groups there
    are.

    Args:
        links: weights of links, targets x senders, at least 0.
        senders: target number of each column.
        teleport: share dealt out to each target, at least 0; the sum inside a group is the group's mass, all of them 1.
        totals: sum of the weights of each sender's links, those included that lead nowhere (and are not in `links`);
            the sums of the columns when left out.
        groups: number of each target's group, when there are several. No link may leave its group.
        start: first shares, at best close to the result; a shorter array leaves the rest to `teleport`.

    Raises:
        ValueError: a start of nothing, or not finite.
        ConvergenceError: not settled within the permitted rounds.
    Cost: O(links) a round; besides the matrix five arrays of the targets.
    """
    if not len(teleport):
        return np.zeros(0)
    handed = np.asarray(links.sum(axis=0) if totals is None else totals, np.float64)
    share = np.divide(params.damping, handed, out=np.zeros_like(handed), where=handed > 0)
    deal = _dealer(teleport, groups)
    at = _beginning(teleport, start)
    mass = _sums(teleport, groups)
    walking = mass > 0
    for _ in range(params.iterations):
        following: Values = links @ (at[senders] * share)
        following += deal(following)
        if groups is not None and not walking.all():
            settled = ~walking[groups]
            following[settled] = at[settled]
        at -= following
        moved = _sums(np.abs(at, out=at), groups)
        at = following
        walking &= moved >= params.tolerance * mass
        if not walking.any():
            return at
    raise ConvergenceError(params.iterations)


def _sums(values: Values, groups: Numbers | NDArray[np.int64] | None) -> Values:
    return values.sum(keepdims=True) if groups is None else np.bincount(groups, weights=values).astype(np.float64)


def _dealer(teleport: Values, groups: Numbers | NDArray[np.int64] | None) -> Callable[[Values], Values]:
    if groups is None:
        return lambda handed: (1.0 - handed.sum()) * teleport
    mass = _sums(teleport, groups)
    rate = np.divide(teleport, mass[groups], out=np.zeros_like(teleport), where=teleport > 0)

    def within(handed: Values) -> Values:
        of_groups = np.bincount(groups, weights=handed, minlength=len(mass))
        return np.asarray((mass - of_groups)[groups] * rate, np.float64)

    return within


def _beginning(teleport: Values, start: Values | None) -> Values:
    at = teleport.copy()
    if start is not None and len(start):
        at[: len(start)] = start[: len(at)]
        total = float(at.sum())
        if not 0 < total < np.inf:
            raise ValueError(f"start sums up to {total!r}; a finite number above 0 is needed")
        at /= total
    return at
