"""Two to five searches, or sites, side by side over time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from starlette.responses import Response

from pipelines.search.records import VALUED, SearchQuery
from pipelines.search.search import count_by_day
from pipelines.search.volume import PERIODS, Timeline, check, timelines

from ..drawing.charts import SERIES, Chart, Series, curve
from ..frame.visit import BadRequest, Visit
from . import search, volume
from .timeline import csv_answer

MOST: Final = 5
_LEAST: Final = 2
_MOST_QUERY: Final = 1_000
_WIDTH, _HEIGHT, _TICKS = 760, 230, 7


@dataclass(frozen=True, slots=True)
class _Line:
    """A search of the comparison: its name, the page of its hits, and its counts."""

    name: str
    href: str
    total: int
    is_exact: bool
    timeline: Timeline
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Comparison:
    lines: Sequence[_Line]
    is_shares: bool

    def values(self, place: int) -> list[float]:
        """Return the counts of a period, or their shares in percent."""
        counts = [line.counts[place] for line in self.lines]
        together = sum(counts)
        if self.is_shares:
            return [100 * count / together if together else 0.0 for count in counts]
        return list(map(float, counts))

    def rows(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the periods with their values, the newest first."""
        one = self.lines[0].timeline
        for place in reversed(range(len(one.starts))):
            yield volume.label(one, place), self.values(place)


def show(visit: Visit) -> Response:
    status, refused = 200, ""
    comparison: _Comparison | None = None
    try:
        comparison = _compared(visit)
    except BadRequest as wrong:
        status, refused = 400, str(wrong)
    asked = [text[:_MOST_QUERY] for text in visit.request.query_params.getlist("q") if text][:MOST]
    has_lines = comparison is not None and bool(comparison.lines[0].timeline.starts)
    return visit.page(
        "compare.html",
        status=status,
        section="compare",
        refused=refused,
        comparison=comparison if has_lines else None,
        is_empty=comparison is not None and not has_lines,
        svg=_drawn(visit, comparison) if comparison is not None and has_lines else "",
        colours=[n % SERIES + 1 for n in range(MOST)],
        fields=[*asked, *[""] * (MOST - len(asked))],
        kept=[
            (name, value)
            for name, value in visit.request.query_params.multi_items()
            if value and (name in {"by", "share", *search.FILTERS} or name.removeprefix("-") in VALUED)
        ],
        periods=[(each, visit.here(by=each)) for each in PERIODS],
        measures=[(each, visit.here(share=each or None)) for each in ("", "1")],
        csv=visit.here("/compare.csv"),
    )


def show_csv(visit: Visit) -> Response:
    comparison = _compared(visit)
    if comparison is None:
        raise BadRequest("give q two to five times, or q once and site two to five times")
    one = comparison.lines[0].timeline
    rows: list[list[object]] = [[one.by, *(line.name for line in comparison.lines)]]
    for place, day in enumerate(one.starts):
        values = comparison.values(place)
        rows.append([day, *(f"{value:.{2 * comparison.is_shares}f}" for value in values)])
    return csv_answer(visit, "compare.csv", rows)


def _compared(visit: Visit) -> _Comparison | None:
    """Search for each line; None if there are fewer than two.

    Raises:
        BadRequest: there are too many, a query is wrong, or there are too many periods.
    """
    asked = search.query_of(visit)
    queries = visit.texts("q", _MOST_QUERY)
    sites = search.values_of(asked, "site")
    is_shares = visit.text("share") == "1"
    by = visit.text("by")
    asked = replace(asked, expand=False)
    lines: list[tuple[str, SearchQuery, str]]
    if len(queries) >= _LEAST or not (len(sites) >= _LEAST):
        lines = [(text, replace(asked, text=text), visit.here("/", q=text, by=None, share=None)) for text in queries]
    else:
        others = tuple(each for each in asked.either if each[0] != "site")
        lines = [
            (name, replace(asked, site=name, either=others), visit.here("/", site=name, by=None, share=None))
            for name in sites
        ]
    if len(lines) > MOST:
        raise BadRequest(f"{len(lines)} searches are too many to compare; at most {MOST} are allowed")
    if len(lines) < _LEAST:
        return None
    try:
        results = [visit.read(partial(count_by_day, query=query, now=time.time())) for _, query, _ in lines]
        check("by", by, PERIODS)
        counted = timelines([result.volume for result in results], by)
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    return _Comparison(
        [
            _Line(name, href, result.total, result.is_exact, one, one.totals)
            for (name, _, href), result, one in zip(lines, results, counted, strict=True)
        ],
        is_shares,
    )


def _drawn(visit: Visit, comparison: _Comparison) -> str:
    one = comparison.lines[0].timeline
    count = len(one.starts)
    values = [comparison.values(place) for place in range(count)]
    step = max(1, -(-count // _TICKS))
    show_value = volume.percent if comparison.is_shares else volume.whole
    return curve(
        Chart(
            visit.language("compare.title"),
            [volume.label(one, place) for place in range(count)],
            [Series(line.name, [row[n] for row in values]) for n, line in enumerate(comparison.lines)],
            show_value,
            [(place / max(1, count - 1), volume.label(one, place)) for place in range(0, count, step)],
            width=_WIDTH,
            height=_HEIGHT,
        )
    )
