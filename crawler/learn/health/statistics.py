"""Confidence bounds of rates, and evidence that a rate has risen. Pure."""

from __future__ import annotations

import math


def wilson(hits: float, n: float, z: float) -> tuple[float, float]:
    """Return the lower and upper confidence bounds of a rate; (0, 1) of no trials.

    `hits` may be fractions; `z` is in standard deviations, 1.96 for 95 % on both sides.

    Raises:
        ValueError: more hits than trials, or fewer than 0.

    Source: E. B. Wilson, Probable Inference, the Law of Succession, and Statistical Inference, 1927.
    Differs: nothing.

    >>> [round(bound, 3) for bound in wilson(8, 10, 1.96)]
    [0.49, 0.943]
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n}: hits must be 0 to all")
    if n == 0:
        return 0.0, 1.0
    middle, size = hits + z * z / 2, n + z * z
    spread = z * math.sqrt(hits * (n - hits) / n + z * z / 4)
    return max(0.0, (middle - spread) / size), min(1.0, (middle + spread) / size)


def cusum(total: float, before: float, now: float, *, hit: bool) -> float:
    """Return the evidence in nats that a rate went from `before` to `now`.

    Log-likelihood ratios are summed up, anew from 0 whenever the sum would fall below: so the time of the change
    need not be known. Without a change, a sum that begins at 0 reaches h with a probability of exp(-h) at most.

    Source: E. S. Page, Continuous Inspection Schemes, 1954.
    Differs: nothing.

    >>> round(cusum(1.0, 0.1, 0.5, hit=True), 2)
    2.61
    """
    return max(0.0, total + (math.log(now / before) if hit else math.log((1 - now) / (1 - before))))
