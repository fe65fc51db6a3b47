"""Periods of a search, as readers write them."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta

from ..dates.calendars import westernize
from ..dates.parse import read
from ..dates.period import Bound, Period
from ..dates.timezones import Habits

_MONTH = re.compile(r"(\d{4})\s?(?:[年/.-]\s?(?:(\d{1,2})\s?月?)?)?")


def read_period(since: str | Bound, until: str | Bound, now: float) -> Period:
    """Read a period; an empty end is none. `ValueError` says what is taken."""
    period = Period(read_bound("since", since, now), read_bound("until", until, now))
    if period.is_empty(now):
        raise ValueError(f"the time ends on {period.until}, before it begins, {period.since}")
    return period


def read_bound(name: str, given: str | Bound, now: float) -> Bound | None:
    """Read one end of a period, None for an empty one; `ValueError` if it is no time."""
    if isinstance(given, Bound):
        return given
    text = given.strip()
    if not text:
        return None
    with suppress(ValueError):
        return Bound.read(text)
    match = _MONTH.fullmatch(westernize(text, Habits()))
    with suppress(ValueError):
        if match:
            year, month = int(match[1]), int(match[2] or (1 if name == "since" else 12))
            first = date(year, month, 1)
            following = date(year + month // 12, month % 12 + 1, 1)
            return Bound(first if name == "since" else following - timedelta(days=1))
    moment = read(text, datetime.fromtimestamp(now, UTC) + timedelta(days=36_500), Habits())
    if moment is None:
        raise ValueError(f"{given.strip()[:40]!r} is no date; write 2024-05-01, 2024年5月, 2024 or 7d")
    return Bound(moment.day)
