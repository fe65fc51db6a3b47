"""Stories over time, by day, week, month or year, split by site or language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from .records import Volume

PERIODS = ("day", "week", "month", "year")
STACKS = ("site", "language")
MOST_PLACES = 1_000
_MOST_BANDS = 6
_MOST_CHOSEN = 62
"""Places of a period that is chosen by the span: two months of days, a year of weeks, five years of months."""
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Band:
    """Stories of a site or language in each period; `value` is None for others."""

    value: str | None
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Stories over time.

    `starts` are the first days of all periods from the first to the last that has a story.
    """

    by: str
    starts: Sequence[date]
    bands: Sequence[Band]

    @property
    def totals(self) -> list[int]:
        zeros = [0] * len(self.starts)
        return [sum(counts) for counts in zip(zeros, *(band.counts for band in self.bands), strict=True)]

    def last_day(self, place: int) -> date:
        return _following(self.starts[place], self.by) - timedelta(days=1)


def timeline(volume: Sequence[Volume], by: str = "", stack: str = "") -> Timeline:
    """Count stories by period, those of the six largest sites or languages apart.

    Args:
        by: one of `PERIODS`; empty for one that suits the span.
        stack: one of `STACKS`; empty for a single band.

    Raises:
        ValueError: a word that is none of these, or more than `MOST_PLACES` periods.

    >>> one = timeline([Volume(0, "a", "en", 2), Volume(40, "b", "en", 1)], "month", "site")
    >>> [str(start) for start in one.starts], one.bands
    (['1970-01-01', '1970-02-01'], [Band(value='a', counts=[2, 0]), Band(value='b', counts=[0, 1])])
    """
    check("by", by, PERIODS)
    check("stack", stack, STACKS)
    return timelines([volume], by, stack)[0]


def timelines(volumes: Sequence[Sequence[Volume]], by: str = "", stack: str = "") -> list[Timeline]:
    """Count several searches over the same periods.

    Raises:
        ValueError: more than `MOST_PLACES` periods.
    """
    days = [row.day for volume in volumes for row in volume]
    if not days:
        return [Timeline(by or PERIODS[0], (), ()) for _ in volumes]
    first, last = min(days), max(days)
    by = by or next((each for each in PERIODS if (last - first) / _DAYS[each] <= _MOST_CHOSEN), PERIODS[-1])
    if (last - first) / _DAYS[by] > MOST_PLACES:
        longer = PERIODS[min(PERIODS.index(by) + 1, len(PERIODS) - 1)]
        raise ValueError(f"these are more than {MOST_PLACES:,} times a {by}; set by={longer}, or since and until")
    starts = list(_starts(_day(first), _day(last), by))
    places = {start: place for place, start in enumerate(starts)}
    return [Timeline(by, starts, _bands(volume, by, stack, places)) for volume in volumes]


def check(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise `ValueError` if a word is not allowed; an empty one is."""
    if value and value not in allowed:
        raise ValueError(f"{name} is {value[:40]!r}; {', '.join(allowed[:-1])} and {allowed[-1]} are allowed")


def _bands(volume: Sequence[Volume], by: str, stack: str, places: dict[date, int]) -> list[Band]:
    sums: Counter[str] = Counter()
    for row in volume:
        sums[_value(row, stack)] += row.stories
    values = sorted(sums, key=lambda value: (-sums[value], value))
    own = {value: n for n, value in enumerate(values[:_MOST_BANDS])}
    rows = [[0] * len(places) for _ in range(len(own) + (len(values) > len(own)))]
    for row in volume:
        rows[own.get(_value(row, stack), len(own))][places[_start(_day(row.day), by)]] += row.stories
    names: list[str | None] = [*own, *[None] * (len(rows) - len(own))]
    return [Band(name, counts) for name, counts in zip(names, rows, strict=True)]


def _value(row: Volume, stack: str) -> str:
    return row.site if stack == "site" else row.language if stack == "language" else ""


def _day(number: int) -> date:
    return _EPOCH + timedelta(days=number)


def _start(day: date, by: str) -> date:
    """Return the first day of a period; weeks begin on Monday.

    >>> [str(_start(date(2024, 5, 15), by)) for by in PERIODS]
    ['2024-05-15', '2024-05-13', '2024-05-01', '2024-01-01']
    """
    if by == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if by == "month" else day.replace(month=1, day=1) if by == "year" else day


def _following(start: date, by: str) -> date:
    if by == "year":
        return start.replace(year=start.year + 1)
    if by == "month":
        return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
    return start + timedelta(days=_DAYS[by])


def _starts(first: date, last: date, by: str) -> Iterator[date]:
    start = _start(first, by)
    while start <= last:
        yield start
        start = _following(start, by)
