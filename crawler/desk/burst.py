"""Bursts: far more hits of a search in an hour than usual. Pure.

The hits of an hour are taken to be Poisson distributed. Their mean is that of the same hour of the day in the last four
weeks, or that of all hours, whichever is higher, so that neither the morning's news nor a quiet night makes a burst.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WEEKS_HOURS = 4 * 7 * 24
_LEAST_HOURS = 3 * 24
"""Of history: before, nobody knows what is usual."""
_LEAST_HITS = 5
_RARE = 1e-4
"""Probability of so many hits by chance: a search that is looked at every hour is wrong about once a year."""
_DAY = 24


@dataclass(frozen=True, slots=True)
class Burst:
    """Hits of the last hour, and how many are usual."""

    hits: int
    usual: float


def find_burst(hits_by_hour: Mapping[int, int], latest: int, hour: int, age_hours: int) -> Burst | None:
    """Return the burst of the last sixty minutes, if there is one.

    Args:
        hits_by_hour: hits of the hours before, by hours since 1970.
        latest: hits of the last sixty minutes.
        hour: the present hour; hits before `hour - WEEKS_HOURS` do not count.
        age_hours: for how many hours hits have been recorded.

    >>> find_burst({100 + n: 1 for n in range(100)}, 12, 200, 100)
    Burst(hits=12, usual=1.0)
    >>> find_burst({100 + n: 9 for n in range(100)}, 12, 200, 100) is None
    True
    """
    from scipy.special import pdtrc  # noqa: PLC0415 - few crawls have alerts

    hours = min(age_hours, WEEKS_HOURS)
    if hours < _LEAST_HOURS or latest < _LEAST_HITS:
        return None
    before = range(hour - hours, hour)
    overall = sum(hits_by_hour.get(n, 0) for n in before) / hours
    same = [n for n in before if (hour - n) % _DAY == 0]
    usual = max(overall, sum(hits_by_hour.get(n, 0) for n in same) / max(1, len(same)), 1 / hours)
    return Burst(latest, round(usual, 2)) if pdtrc(latest - 1, usual) < _RARE else None
