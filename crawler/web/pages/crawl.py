"""The crawl as its operator sees it, running or finished."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from starlette.responses import Response

from db.queries.board import CrawlCounts, CrawlNow, Curve, crawl_counts, curves
from db.records.url import State
from db.sites.health import shown_alarms

from ..drawing.charts import Chart, Series, columns, curve, time_ticks
from ..drawing.curves import Curves, make_curves, merged
from ..frame.language import Language
from ..frame.visit import NotHere, Visit
from .board import Picture, board_page, reason_name
from .time_left import rough_time, time_left

if TYPE_CHECKING:
    from db.engine.database import ReadConnection

_RUNS = 12
_ENDED_ALARMS = 5
_REASONS = 12
_MOST_SPANS, _LEAST_SPANS, _MOST_COLUMNS = 60, 6, 30
_SMALL, _KILO = 10, 1000
_HOUR, _DAY, _YEAR = 3600.0, 86_400.0, 366 * 86_400.0
_SILENT = 60.0
"""Seconds without a sample after which a run counts as idle; samples come every few seconds."""
_MUTE = 10.0
"""Seconds without a sample after which the page says how old a run's own counts are."""
_SPANS: Final = {"hour": _HOUR, "day": _DAY, "week": 7 * _DAY}


@dataclass(frozen=True, slots=True)
class _Totals:
    pages: int
    articles: int
    duplicates: int
    failed: int
    bytes: int
    pages_per_second: float

    @property
    def repeats(self) -> float | None:
        return self.duplicates / self.articles if self.articles else None


def show(visit: Visit) -> Response:
    template = "crawl_live.html" if visit.text("part") else "crawl.html"
    asked, span = visit.whole("run", 0, 0, 1 << 31), visit.text("span")
    crawl = find(visit)
    if crawl is None:
        return board_page(visit, template, section="crawl", is_counted=False, is_live=True)
    now, runs, counted = crawl.at, crawl.runs, crawl.counts
    chosen = chosen_runs(runs, asked)
    shown = [each.run.id for each in chosen]
    running = [each for each in chosen if each.run.is_running]
    is_live = bool(running)
    left = time_left(running, counted) if running else None
    return board_page(
        visit,
        template,
        section="crawl",
        is_counted=True,
        runs=[each.run for each in runs],
        crashed=[each.run for each in _crashed(runs, chosen)],
        mute=[(each.run.id, now - each.samples[-1].at) for each in running if _is_mute(each, now)],
        waiting=counted.states.get(State.PENDING, 0),
        leased=counted.states.get(State.LEASED, 0),
        left="–" if left is None else rough_time(left, visit.language),
        chosen=[each.run for each in chosen],
        shown=shown,
        is_live=is_live,
        totals=totals(chosen),
        charts=_charts(chosen, span, now, visit.language),
        spans=_offered(chosen),
        span=span if span in _SPANS else "",
        reasons=merged([each.samples for each in chosen]).most_common(_REASONS),
        alarms=crawl.alarms,
        counted=counted,
        depths=_depths(counted, visit.language),
        now=now,
    )


def find(visit: Visit) -> CrawlNow | None:
    """Return the crawl as of one moment of the last ten seconds.

    None while it is counted for longer.

    Raises:
        DatabaseProblem: the database cannot be read at the moment.
    """
    read = visit.site.read
    kept = visit.site.kept.live("crawl", lambda: read(_read))
    if kept is None:
        visit.read(lambda connection: curves(connection, time.time(), 1))  # says why, if it cannot be read
        return None
    return kept.value


def _read(connection: ReadConnection) -> CrawlNow:
    now = time.time()
    alarms = shown_alarms(connection, [_ENDED_ALARMS])[0]
    return CrawlNow(now, curves(connection, now, _RUNS), alarms, crawl_counts(connection, now))


def _is_mute(each: Curve, now: float) -> bool:
    return bool(each.samples) and now - each.samples[-1].at > _MUTE


def _crashed(runs: Sequence[Curve], chosen: Sequence[Curve]) -> list[Curve]:
    """Return the runs that ended badly, of those shown and of later ones."""
    first = min((each.run.id for each in chosen), default=0)
    return [each for each in runs if each.run.id >= first and (each.run.is_dead or each.run.has_failed)]


def chosen_runs(runs: Sequence[Curve], asked: int) -> list[Curve]:
    """Return the runs to show: all active ones, or one and those that overlap with it.

    `asked` is the number of a run; 0 for the latest.

    Raises:
        NotHere: there is no such run among them.
    """
    if not runs:
        return []
    running = [each for each in runs if each.run.is_running]
    if running and not asked:
        return running
    one = next((each for each in runs if each.run.id == asked), None) if asked else runs[0]
    if one is None:
        raise NotHere("problem.run")
    begun, ended = _time_of(one)
    return [each for each in runs if each is one or (_time_of(each)[0] < ended and begun < _time_of(each)[1])]


def _time_of(each: Curve) -> tuple[float, float]:
    begun = _unix(each.run.started)
    return begun, each.samples[-1].at if each.samples else begun


def _unix(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp()


def totals(chosen: Sequence[Curve]) -> _Totals:
    last = [each.samples[-1] for each in chosen if each.samples]
    return _Totals(
        pages=sum(each.pages for each in last),
        articles=sum(each.articles for each in last),
        duplicates=sum(each.duplicates for each in last),
        failed=sum(each.failed for each in last),
        bytes=sum(each.bytes for each in last),
        pages_per_second=sum(each.run.pages_per_second for each in chosen if each.run.is_running),
    )


def _offered(chosen: Sequence[Curve]) -> list[str]:
    times = [_time_of(each) for each in chosen]
    long = max((ended for _, ended in times), default=0.0) - min((begun for begun, _ in times), default=0.0)
    return [name for name, seconds in _SPANS.items() if seconds < long]


def _charts(chosen: Sequence[Curve], span: str, now: float, t: Language) -> list[Picture]:
    samples = [each.samples for each in chosen if each.samples]
    if not samples:
        return []
    first = min(_unix(each.run.started) for each in chosen)
    last = max(each.samples[-1].at for each in chosen if each.samples)
    if now - last > _SILENT and any(each.run.is_running for each in chosen):
        last = now
    if span in _SPANS:
        first = max(first, last - _SPANS[span])
    last = max(last, first + 1.0)
    most = sum(sum(first <= each.at <= last for each in run) for run in samples)
    spans = max(_LEAST_SPANS, min(_MOST_SPANS, most))
    rates = make_curves(samples, first, last, spans)
    clock = _clock(last - first)

    names, marks = _names(rates, clock), _ticks(rates, clock)

    def line(key: str, values: Iterable[float], show: Callable[[float], str]) -> Picture:
        points = [None if math.isnan(value) else value for value in values]
        return Picture.of(Chart(t(key), names, [Series(t(key), points)], show, marks, key), curve)

    few = make_curves(samples, first, last, min(spans, _MOST_COLUMNS))
    dropped = [Series(reason_name(name, t), values.tolist()) for name, values in few.reasons.items()]
    return [
        line("crawl.speed", rates.pages.tolist(), _few_digits),
        line("crawl.articles_hour", (rates.articles * _HOUR).tolist(), _few_digits),
        line("crawl.repeats", rates.repeats.tolist(), lambda value: f"{value:.0%}"),
        line("crawl.queue", rates.queued.tolist(), _few_digits),
        Picture.of(
            Chart(t("crawl.drops"), _names(few, clock), dropped, _few_digits, _ticks(few, clock), "crawl.drops"),
            columns,
        ),
        line("crawl.bytes_second", rates.bytes.tolist(), _bytes),
    ]


def _few_digits(value: float) -> str:
    """Format a number; small ones get decimals.

    >>> _few_digits(0.25), _few_digits(1234.5), _few_digits(3.0)
    ('0.25', '1,234', '3')
    """
    return f"{value:,.0f}" if value >= _SMALL else f"{value:.3g}"


def _bytes(value: float) -> str:
    """Return bytes in a unit of thousands, as an axis has them.

    >>> _bytes(150_000.0), _bytes(2_500_000.0), _bytes(0.0)
    ('150 KB', '2.5 MB', '0 B')
    """
    for unit in ("B", "KB", "MB"):
        if value < _KILO:
            return f"{value:.3g} {unit}"
        value /= _KILO
    return f"{value:.3g} GB"


def _names(made: Curves, clock: Callable[[float], str]) -> list[str]:
    return [clock(at) for at in made.edges[1:].tolist()]


def _ticks(made: Curves, clock: Callable[[float], str]) -> list[tuple[float, str]]:
    first, last = float(made.edges[0]), float(made.edges[-1])
    offset = (datetime.fromtimestamp(first).astimezone().utcoffset() or datetime.resolution * 0).total_seconds()
    at = [each - offset for each in time_ticks(first + offset, last + offset)]
    return [((each - first) / (last - first), clock(each)) for each in at]


def _clock(seconds: float) -> Callable[[float], str]:
    forms = ((10 * 60, "%H:%M:%S"), (2 * _DAY, "%H:%M"), (_YEAR, "%m-%d"))
    form = next((form for most, form in forms if seconds < most), "%Y-%m")
    return lambda at: datetime.fromtimestamp(at).astimezone().strftime(form)


def _depths(counted: CrawlCounts, t: Language) -> Picture | None:
    depths = counted.depths
    if not depths:
        return None
    places = range(max(depths) + 1)
    chart = Chart(
        t("crawl.depths"),
        list(map(str, places)),
        [Series(t("crawl.waiting"), [depths.get(n, 0) for n in places])],
        key="crawl.depths",
    )
    return Picture.of(chart, columns)
