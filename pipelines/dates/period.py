"""Periods: the time from which articles are wanted.

A bound is a day, in the zone of the time compared with it, or an interval before now. An inexact time (a date
without a zone, the month of an archive) is outside when no reading of it is inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from db.records.reasons import SkipReason

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DAY_SECONDS = 86_400.0
_ZONES_SECONDS = 14 * 3_600.0
_AGO = re.compile(r"([0-9]{1,6})([smhdw])")


def parse_seconds(text: str) -> float:
    """Convert a time such as 7d to seconds.

    >>> parse_seconds("12h")
    43200.0
    """
    interval = _AGO.fullmatch(text.strip().lower())
    if interval is None:
        raise ValueError("it takes a number with s, m, h, d or w, e.g. 7d")
    return float(int(interval[1]) * UNITS[interval[2]])


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a period: a day, or `seconds` before now."""

    day: date | None = None
    seconds: float = 0.0

    @classmethod
    def read(cls, text: str) -> Bound:
        """Read a day such as 2024-05-01, or a time before now such as 7d."""
        try:
            return cls(date.fromisoformat(text.strip())) if "-" in text else cls(seconds=parse_seconds(text))
        except ValueError:
            raise ValueError("it takes a day such as 2024-05-01, or a time before now such as 12h, 7d or 4w") from None

    def __str__(self) -> str:
        return self.day.isoformat() if self.day else f"{self.seconds:.0f}s"

    def begins(self, now: float) -> float:
        return now - self.seconds if self.day is None else midnight(self.day)

    def ends(self, now: float) -> float:
        return now - self.seconds if self.day is None else midnight(self.day) + _DAY_SECONDS


@dataclass(frozen=True, slots=True)
class Period:
    """The time from which articles are wanted, both ends included; None is no bound."""

    since: Bound | None = None
    until: Bound | None = None

    def __bool__(self) -> bool:
        return self.since is not None or self.until is not None

    def is_empty(self, now: float) -> bool:
        if self.since is None or self.until is None:
            return False
        return self.until.ends(now) <= self.since.begins(now)

    def refuses(self, published: str, now: float) -> SkipReason | None:
        """Return why an article is not wanted; None if it is, or if its time is unknown.

        `published` is ISO 8601, with a zone or a day alone; empty when unknown.

        >>> Period(since=Bound(date(2024, 5, 1))).refuses("2024-04-30T23:00:00+08:00", 0.0)
        <SkipReason.TOO_OLD: 'too old'>
        """
        if not published:
            return None
        moment = datetime.fromisoformat(published)
        day = moment.date()
        if moment.tzinfo is None:  # a day, anywhere on earth
            first = midnight(day) - _ZONES_SECONDS
            last = first + _DAY_SECONDS + 2 * _ZONES_SECONDS
        else:
            first = last = moment.timestamp()
        if self.since is not None and (day < self.since.day if self.since.day else last < self.since.begins(now)):
            return SkipReason.TOO_OLD
        if self.until is not None and (day > self.until.day if self.until.day else first > self.until.ends(now)):
            return SkipReason.TOO_NEW
        return None

    def span(self, now: float) -> tuple[float, float]:
        """Return the first and last Unix time that may be inside in some zone."""
        since = 0.0 if self.since is None else self.since.begins(now) - _ZONES_SECONDS
        until = float("inf") if self.until is None else self.until.ends(now) + _ZONES_SECONDS
        return since, until


def midnight(day: date) -> float:
    return datetime.combine(day, time(), UTC).timestamp()
