"""The stories of a search over time, as a chart and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pipelines.search.records import SearchQuery, SearchResult
from pipelines.search.volume import PERIODS, STACKS, Band, Timeline, timeline

from ..drawing.charts import SERIES, Chart, ColumnLink, Series, columns
from ..frame.visit import BadRequest, Visit

_WIDTH, _HEIGHT = 760, 150
_SHOWN = {"day": 10, "week": 10, "month": 7, "year": 4}
"""Characters of an ISO date that name a period."""


@dataclass(frozen=True, slots=True)
class VolumePicture:
    """The chart of a timeline, with what stands around it.

    Attributes:
        periods, stacks: choices, each with its URL and whether it is made.
        csv: URL of the numbers.
    """

    timeline: Timeline
    links: Sequence[ColumnLink]
    svg: Markup
    legend: Sequence[tuple[str, int]]
    periods: Sequence[tuple[str, str, bool]]
    stacks: Sequence[tuple[str, str, bool]]
    csv: str

    def rows(self) -> Iterator[tuple[str, str, Sequence[int], int]]:
        """Yield the periods that have stories, the newest first.

        Each has its name, its URL, the stories of each band, and all.
        """
        totals = self.timeline.totals
        for place in reversed(range(len(totals))):
            if totals[place]:
                counts = [band.counts[place] for band in self.timeline.bands]
                yield label(self.timeline, place), self.links[place].href, counts, totals[place]


def picture(visit: Visit, query: SearchQuery, result: SearchResult) -> VolumePicture | None:
    """Draw the volume of what was found; None if nothing was.

    Raises:
        BadRequest: `by` or `stack` is wrong, or there are too many columns.
    """
    one = read(visit, result)
    if not one.starts:
        return None
    t = visit.language
    stack = visit.text("stack")
    names = [band_name(visit, stack, band) for band in one.bands]
    links = [
        ColumnLink(visit.here("/", page=None, since=first, until=last), first, last)
        for first, last in ((start.isoformat(), one.last_day(n).isoformat()) for n, start in enumerate(one.starts))
    ]
    chart = Chart(
        t("volume.title"),
        [label(one, n) for n in range(len(one.starts))],
        [Series(name, list(map(float, band.counts))) for name, band in zip(names, one.bands, strict=True)],
        whole,
        width=_WIDTH,
        height=_HEIGHT,
        links=links,
    )
    return VolumePicture(
        one,
        links,
        columns(chart),
        [(name, n % SERIES + 1) for n, name in enumerate(names)] if stack else [],
        [(each, visit.here(page=None, by=each), each == one.by) for each in PERIODS],
        [(each, visit.here(page=None, stack=each), each == stack) for each in ("", *STACKS)],
        visit.here("/timeline.csv", page=None, limit=None, by=one.by),
    )


def read(visit: Visit, result: SearchResult) -> Timeline:
    """Return the timeline of a result as the parameters `by` and `stack` ask for it.

    Raises:
        BadRequest: one of them is wrong, or there are too many periods.
    """
    try:
        return timeline(result.volume, visit.text("by"), visit.text("stack"))
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None


def whole(value: float) -> str:
    """Return a count; ticks between counts have no name.

    >>> whole(1200.0), whole(0.5)
    ('1,200', '')
    """
    return f"{value:,.0f}" if value == int(value) else ""


def percent(value: float) -> str:
    return f"{value:.0f} %"


def label(one: Timeline, place: int) -> str:
    return one.starts[place].isoformat()[: _SHOWN[one.by]]


def band_name(visit: Visit, stack: str, band: Band) -> str:
    t = visit.language
    if not stack:
        return t("volume.stories")
    if band.value is None:
        return t("volume.others")
    return (t.named("language", band.value) if stack == "language" else band.value) or "–"
