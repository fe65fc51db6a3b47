"""Whether two samples come from one source: exact for rates, by ranks or by the largest gap for numbers.

Small and without numpy: samples are a window of some dozens against a past that is kept as counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

LEAST = 1e-300
"""No probability is smaller than this, so that its logarithm exists."""


def fisher(past_hits: int, past: int, now_hits: int, now: int) -> float:
    """How likely at least `now_hits` of `now` are when past and now are equally often hit.

    Fisher's exact test, one-sided: given the hits of both together, those of the window are hypergeometric.

    Args:
        past_hits: of the past.
        past: its size, 0 or more.
        now_hits: of the window.
        now: its size, 0 or more.

    Returns:
        A probability in (0, 1]; 1 when one of the two is empty.

    Raises:
        ValueError: more hits than members.

    Cost: O(now).
    Source: R. A. Fisher, The Logic of Inductive Inference, 1935.
    Differs: nothing.

    >>> round(fisher(0, 10, 10, 10), 8)
    5.41e-06
    """
    if not (0 <= past_hits <= past and 0 <= now_hits <= now):
        raise ValueError(f"{past_hits} of {past} and {now_hits} of {now}: hits must be 0 to all")
    hits = past_hits + now_hits
    most = min(now, hits)
    whole = _log_choose(past + now, now)
    total = math.fsum(
        math.exp(_log_choose(hits, k) + _log_choose(past + now - hits, now - k) - whole)
        for k in range(max(now_hits, now - (past + now - hits)), most + 1)
    )
    return min(1.0, max(LEAST, total))


def binomial(n: int, most: int, share: float) -> float:
    """How likely at most so many of n are hits when each is one with a probability.

    Args:
        n: trials.
        most: hits.
        share: probability of a hit.

    Returns:
        A probability in (0, 1].

    Cost: O(most).
    Source: J. Bernoulli, Ars conjectandi, 1713.
    Differs: nothing.

    >>> binomial(2, 0, 0.5)
    0.25
    """
    if most >= n:
        return 1.0
    share = min(max(share, 1e-12), 1 - 1e-12)
    terms = (_log_choose(n, k) + k * math.log(share) + (n - k) * math.log1p(-share) for k in range(most + 1))
    return min(1.0, max(LEAST, math.fsum(math.exp(term) for term in terms)))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def mann_whitney(past: Sequence[float], now: Sequence[float]) -> tuple[float, float]:
    """Whether the window's values are larger or smaller than those of the past.

    Args:
        past: counts of each bin, in the order of their values.
        now: the same of the window.

    Returns:
        How likely a value of the window is larger than one of the past (0.5: neither), and the two-sided probability
        of that or more by chance (normal approximation, with ties); (0.5, 1) when one is empty.

    Cost: O(bins).
    Source: H. B. Mann, D. R. Whitney, On a Test of Whether One of Two Random Variables is Stochastically Larger than
        the Other, 1947.
    Differs: counts of bins instead of values; no continuity correction.

    >>> mann_whitney([10, 0], [0, 10])[0]
    1.0
    """
    n, m = math.fsum(past), math.fsum(now)
    if n <= 0 or m <= 0:
        return 0.5, 1.0
    below = wins = ties = 0.0
    for before, after in zip(past, now, strict=True):
        wins += after * (below + before / 2)
        below += before
        ties += (before + after) ** 3 - (before + after)
    size = n + m
    variance = n * m / 12 * (size + 1 - ties / (size * (size - 1)))
    share = wins / (n * m)
    if variance <= 0:
        return share, 1.0
    z = abs(wins - n * m / 2) / math.sqrt(variance)
    return share, max(LEAST, math.erfc(z / math.sqrt(2)))


def kolmogorov_smirnov(past: Sequence[float], now: Sequence[float]) -> tuple[float, float]:
    """How far apart the distributions are at most, and how likely that is by chance.

    Args:
        past: counts of each bin, in the order of their values.
        now: the same of the window.

    Returns:
        The largest gap between the two shares of values up to a bin, in [0, 1], and the probability of that or more
        (too large with few bins, never too small); (0, 1) when one is empty.

    Cost: O(bins).
    Source: N. V. Smirnov, On the Estimation of the Discrepancy between Empirical Curves of Distribution for Two
        Independent Samples, 1939; the finite-size correction is that of M. A. Stephens, 1970.
    Differs: counts of bins instead of values.

    >>> kolmogorov_smirnov([10, 0], [0, 10])[0]
    1.0
    """
    n, m = math.fsum(past), math.fsum(now)
    if n <= 0 or m <= 0:
        return 0.0, 1.0
    gap = before = after = 0.0
    for one, other in zip(past, now, strict=True):
        before += one / n
        after += other / m
        gap = max(gap, abs(before - after))
    gap = min(gap, 1.0)
    root = math.sqrt(n * m / (n + m))
    reach = (root + 0.12 + 0.11 / root) * gap
    if reach < 0.3:  # where the series converges slowly, and nothing is decided
        return gap, 1.0
    chance = 2 * math.fsum((-1) ** (k - 1) * math.exp(-2 * (k * reach) ** 2) for k in range(1, 30))
    return gap, min(1.0, max(LEAST, chance))
