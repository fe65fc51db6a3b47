"""What a host's answers were like so far, by shape of address: counts and moments that forget what is long past.

Pure data with arithmetic; `crawler.learn.health.host` decides what follows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

KNOWN = 8
"""Pages from which a shape is known."""
_MEMORY = 240
"""Counts are halved at this size: of a page, half is forgotten 120 to 240 pages later."""
_BINS = 33
_WIDTH = 0.25
"""Bins of residuals, in standard deviations: from -4 to 4."""

ACCESS = ("blocks", "login", "unreachable", "gone")
"""What may keep a page from being had."""
FLAGS = ("untitled", "undated", "doubtful")
"""What an article may lack."""
METRICS = {"chars": 0.15, "confidence": 0.03, "seconds": 0.15}
"""Numbers that are followed, and the least deviation they are given."""


class Moments:
    """Mean and variance of a number, forgetting."""

    __slots__ = ("mean", "n", "variance")

    def __init__(self, n: float = 0.0, mean: float = 0.0, variance: float = 0.0) -> None:
        self.n, self.mean, self.variance = n, mean, variance

    def add(self, value: float) -> None:
        """One more value."""
        self.n = min(self.n + 1, _MEMORY)
        delta = value - self.mean
        self.mean += delta / self.n
        self.variance += (delta * (value - self.mean) - self.variance) / self.n


class Past:
    """Pages of one shape.

    Attributes:
        access: answers, and of these each of `ACCESS`.
        content: pages, and of these articles and empty ones.
        flags: articles, and of these each of `FLAGS`.
        moments: of each of `METRICS`.
    """

    __slots__ = ("access", "content", "flags", "moments")

    def __init__(self) -> None:
        self.access = [0.0] * (1 + len(ACCESS))
        self.content = [0.0] * 3
        self.flags = [0.0] * (1 + len(FLAGS))
        self.moments = {name: Moments() for name in METRICS}

    @property
    def articles(self) -> float:
        """Share of pages that were articles."""
        return (self.content[1] + 0.5) / (self.content[0] + 1)

    def scale(self, name: str) -> tuple[float, float] | None:
        """Mean and standard deviation of a number; None when too few are known."""
        moments = self.moments[name]
        if moments.n < KNOWN:
            return None
        return moments.mean, max(METRICS[name], math.sqrt(moments.variance))

    def forget_content(self) -> None:
        """From now on pages may look otherwise."""
        self.content = [0.0] * 3
        self.flags = [0.0] * (1 + len(FLAGS))
        self.moments["chars"], self.moments["confidence"] = Moments(), Moments()

    def packed(self) -> list[Any]:
        """For JSON."""
        moments = [[round(x, 3) for x in (m.n, m.mean, m.variance)] for m in self.moments.values()]
        return [_rounded(self.access), _rounded(self.content), _rounded(self.flags), moments]

    @classmethod
    def unpacked(cls, packed: Sequence[Any]) -> Past:
        """The inverse of `packed`.

        Raises:
            ValueError, TypeError, IndexError: it is not what `packed` makes.
        """
        past = cls()
        past.access, past.content, past.flags = ([float(x) for x in counts] for counts in packed[:3])
        past.moments = {name: Moments(*map(float, m)) for name, m in zip(METRICS, packed[3], strict=True)}
        if (len(past.access), len(past.content), len(past.flags)) != (1 + len(ACCESS), 3, 1 + len(FLAGS)):
            raise ValueError("counts of another version")
        return past


def count(counts: list[float], *places: int) -> None:
    """One more member, and which of the others it is; all are halved when they have become many."""
    counts[0] += 1
    for place in places:
        counts[place] += 1
    if counts[0] >= _MEMORY:
        counts[:] = [x / 2 for x in counts]


def expected(kinds: Sequence[str], past: dict[str, Past], counts: str, place: int) -> tuple[float, float]:
    """How often something should be met among pages of these shapes, and from how many pages that is known.

    The past is weighted as the window is mixed (direct standardisation): so a window with more of one kind of page
    than before is compared with a past of just that mixture.

    Returns:
        A rate in (0, 1), and the size of a simple sample that would tell it as exactly.
    """
    total = len(kinds)
    rate = variance = 0.0
    for kind, times in Counter(kinds).items():
        known = getattr(past[kind], counts)
        hits, n = known[place], known[0]
        p = (hits + 0.5) / (n + 1)
        weight = times / total
        rate += weight * p
        variance += weight * weight * p * (1 - p) / (n + 1)
    return rate, rate * (1 - rate) / variance


def bin_of(residual: float) -> int:
    """Number of the bin of a residual in standard deviations."""
    return min(_BINS - 1, max(0, round(residual / _WIDTH) + _BINS // 2))


def no_bins() -> list[float]:
    """Bins without anything in them."""
    return [0.0] * _BINS


def add_to_bins(bins: list[float], residual: float) -> None:
    """One more residual."""
    bins[bin_of(residual)] += 1
    if math.fsum(bins) >= 2 * _MEMORY:
        bins[:] = [x / 2 for x in bins]


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(x, 1) for x in numbers]
