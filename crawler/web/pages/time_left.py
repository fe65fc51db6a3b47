"""The time until a crawl has fetched what waits, estimated from its samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

from db.queries.board import CrawlCounts, Curve
from db.records.run import RunSample
from db.records.url import State

from ..frame.language import Language

_RECENT = 600.0
"""Seconds over which the speed is taken: short spells of fast and slow hosts are levelled out."""
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0
_SEVERAL = 10


def time_left(running: Sequence[Curve], counts: CrawlCounts) -> float | None:
    """Return the seconds until what waits is fetched, or a limit is reached.

    URLs yet to be found are not in it. None if nothing was fetched lately.
    """
    per_second = sum(_speed(each.samples) for each in running)
    if per_second <= 0:
        return None
    left = counts.states.get(State.PENDING, 0) + counts.states.get(State.LEASED, 0)
    for name, spent in zip(("MAX_PAGES", "MAX_PAGES_PER_RUN"), counts.budget, strict=True):
        limits = [limit for each in running if isinstance(limit := dict(each.settings).get(name), int)]
        if limits:
            left = min(left, max(0, max(limits) - spent))
    return left / per_second


def _speed(samples: Sequence[RunSample]) -> float:
    """Return the pages a second of the last minutes."""
    recent = [each for each in samples if each.at >= samples[-1].at - _RECENT]
    if len(recent) < 2:
        return 0.0
    seconds = recent[-1].at - recent[0].at
    return (recent[-1].pages - recent[0].pages) / seconds if seconds > 0 else 0.0


def rough_time(seconds: float, t: Language) -> str:
    """Return a duration as nobody takes it for exact.

    >>> rough_time(20, Language("en")), rough_time(5_000, Language("en")), rough_time(400_000, Language("en"))
    ('under a minute', 'about 1 h 20 min', 'about 5 days')
    >>> rough_time(5_000, Language("zh"))
    '约 1 小时 20 分钟'
    """
    if seconds < _MINUTE:
        return t("left.soon")
    if seconds < _HOUR:
        return t("left.minutes", n=math.ceil(seconds / _MINUTE))
    if seconds < _SEVERAL * _HOUR:
        # to ten minutes
        hours, minutes = divmod(round(seconds / _HOUR * 6), 6)
        return t("left.hours_minutes", hours=hours, minutes=minutes * 10) if minutes else t("left.hours", n=hours)
    if seconds < 2 * _DAY:
        return t("left.hours", n=round(seconds / _HOUR))
    return t("left.days", n=round(seconds / _DAY))
