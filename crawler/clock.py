"""Wall-clock time that never runs backwards.

A machine whose clock is set back does not hold its retries up.
"""

from __future__ import annotations

import time

_START = time.time() - time.monotonic()


def now() -> float:
    """Return Unix seconds that follow the machine's clock forwards only."""
    return max(time.time(), _START + time.monotonic())


def uptime() -> float:
    """Return seconds since the machine was started, asleep or not where that is told."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


class GrowthRate:
    """Growth of a count over the last seconds."""

    def __init__(self, seconds: float = 10.0) -> None:
        self._seconds = seconds
        self._seen: list[tuple[float, int]] = []

    def update(self, at: float, count: int) -> float:
        self._seen.append((at, count))
        while len(self._seen) > 2 and self._seen[0][0] < at - self._seconds:
            self._seen.pop(0)
        (t0, n0), (t1, n1) = self._seen[0], self._seen[-1]
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0
