"""Charts as SVG: curves, columns, bars, stacked columns.

Pure: the same values give the same bytes. They hold classes only, which the style sheet colours for light and dark, and
no style of their own, which the pages' policy would not let through. Each chart has a title and a description; the
template puts the same numbers below it as a table, for those who do not see it.

A chart is drawn for a width of `WIDTH` units and scales with its place; texts are HTML-escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markupsafe import Markup, escape

WIDTH, HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 26
_BAR, _BAR_GAP, _LABEL = 16, 10, 200
_STEPS = (1, 2, 2.5, 5, 10)
_TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
_DAY = 86_400
COLOURS = 6
"""Classes `c1`, `c2` ... of series."""

Number = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Series:
    """Values of one thing, one for each place of the chart; None where there is none."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart to be drawn.

    Attributes:
        title: for people who hear it.
        places: of curves Unix times, of columns and bars their names.
        series: one or more; of bars the first alone.
        unit: what is counted, for the description and the table.
        show: a value as text.
        links: of bars, where each leads; None for nowhere.
    """

    title: str
    places: Sequence[float] | Sequence[str]
    series: Sequence[Series]
    unit: str = ""
    show: Number = lambda value: f"{value:,.0f}"
    links: Sequence[str | None] = field(default=())

    @property
    def is_empty(self) -> bool:
        """Tell whether there is nothing to be drawn."""
        return not any(value for each in self.series for value in each.values)


def nice_ceiling(value: float, most: int = 4) -> tuple[float, float]:
    """Return an upper end of an axis and the step between its few ticks.

    >>> nice_ceiling(87), nice_ceiling(0.03), nice_ceiling(4, 4)
    ((100.0, 25.0), (0.03, 0.01), (4.0, 1.0))
    """
    if not value > 0:
        return 1.0, 1.0
    raw = value / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in _STEPS if power * factor >= raw * (1 - 1e-9))
    return round(step * math.ceil(value / step - 1e-9), 12), step


def ticks(value: float, most: int = 4) -> list[float]:
    """Return the ticks of an axis from 0 to at least a value.

    >>> ticks(7)
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    end, step = nice_ceiling(value, most)
    return [round(step * n, 12) for n in range(round(end / step) + 1)]


def time_ticks(first: float, last: float, most: int = 6) -> list[float]:
    """Return a few round times (Unix seconds, UTC) between two.

    >>> time_ticks(0.0, 600.0)
    [0.0, 120.0, 240.0, 360.0, 480.0, 600.0]
    """
    span = max(last - first, 1.0)
    days = (_DAY * n for n in (1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650))
    step = next((each for each in (*_TIME_STEPS, *days) if span / each <= most - 1), span)
    begin = math.ceil(first / step) * step
    return [float(begin + n * step) for n in range(int((last - begin) // step) + 1)]


def curve(chart: Chart, clock: Callable[[float, float], str]) -> Markup:
    """Draw values over time as lines, the area below a single one filled.

    Args:
        chart: its places are ascending Unix times.
        clock: a time as a tick says it, told the span of all.
    """
    times = [float(each) for each in chart.places]
    first, last = (times[0], times[-1]) if times else (0.0, 1.0)
    span = max(last - first, 1e-9)
    axis = ticks(max((v for each in chart.series for v in each.values if v is not None), default=0.0))
    x = [_LEFT + (at - first) / span * (WIDTH - _LEFT - _RIGHT) for at in times]
    parts = [*_grid(axis, chart.show)]
    for at in time_ticks(first, last):
        place = _LEFT + (at - first) / span * (WIDTH - _LEFT - _RIGHT)
        parts.append(_text(place, HEIGHT - 8, clock(at, last - first), "tick", _anchor(place)))
    for n, each in enumerate(chart.series):
        for line in _runs(x, each.values, axis[-1]):
            points = " ".join(f"{px:.1f},{py:.1f}" for px, py in line)
            if len(chart.series) == 1 and len(line) > 1:
                parts.append(
                    f'<polygon class="area {_colour(n)}" points="{line[0][0]:.1f},{_FLOOR} {points} '
                    f'{line[-1][0]:.1f},{_FLOOR}"/>'
                )
            parts.append(
                f'<polyline class="line {_colour(n)}" points="{points}"/>'
                if len(line) > 1
                else f'<circle class="dot {_colour(n)}" cx="{line[0][0]:.1f}" cy="{line[0][1]:.1f}" r="2.5"/>'
            )
    return _svg(chart, parts, HEIGHT)


def columns(chart: Chart) -> Markup:
    """Draw a column for each place, of several series one above the other."""
    totals = [sum(value or 0 for value in column) for column in zip(*(s.values for s in chart.series), strict=True)]
    axis = ticks(max(totals, default=0.0))
    room = (WIDTH - _LEFT - _RIGHT) / max(1, len(chart.places))
    wide = max(1.0, room * 0.72) if room > 4 else room
    parts = [*_grid(axis, chart.show)]
    every = max(1, math.ceil(max((len(str(each)) for each in chart.places), default=1) * 7.5 / room))
    for place, name in enumerate(chart.places):
        left = _LEFT + place * room + (room - wide) / 2
        below = 0.0
        for n, each in enumerate(chart.series):
            value = each.values[place] or 0
            if not value:
                continue
            top, bottom = _y(below + value, axis[-1]), _y(below, axis[-1])
            told = escape(f"{name}: {chart.show(value)} {each.name if len(chart.series) > 1 else chart.unit}".strip())
            parts.append(
                f'<rect class="column {_colour(n)}" x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" '
                f'height="{max(bottom - top, 0.5):.1f}"><title>{told}</title></rect>'
            )
            below += value
        if place % every == 0:
            middle = left + wide / 2
            parts.append(_text(middle, HEIGHT - 8, str(name), "tick", _anchor(middle)))
    return _svg(chart, parts, HEIGHT)


def bars(chart: Chart, wide: int = WIDTH) -> Markup:
    """Draw a bar for each place, one below the other, with its name and value."""
    values = [value or 0 for value in chart.series[0].values] if chart.series else []
    longest = max(values, default=0) or 1
    room = wide - _LABEL - 70
    parts = []
    for n, (name, value) in enumerate(zip(chart.places, values, strict=True)):
        top = n * (_BAR + _BAR_GAP) + 4
        label = _text(_LABEL - 8, top + 12, _cut(str(name)), "bar-label", "end")
        link = chart.links[n] if n < len(chart.links) else None
        parts.append(f'<g class="row"><title>{escape(f"{name}: {chart.show(value)} {chart.unit}".strip())}</title>')
        parts.append(f'<a href="{escape(link)}">{label}</a>' if link else label)
        parts.append(
            f'<rect class="column c1" x="{_LABEL}" y="{top}" width="{max(1.0, value / longest * room):.1f}" '
            f'height="{_BAR}" rx="2"/>'
        )
        parts.append(_text(_LABEL + value / longest * room + 6, top + 12, chart.show(value), "bar-value", "start"))
        parts.append("</g>")
    return _svg(chart, parts, len(values) * (_BAR + _BAR_GAP) + 6, wide)


_FLOOR = HEIGHT - _BOTTOM


def _y(value: float, top: float) -> float:
    return _FLOOR - value / top * (_FLOOR - _TOP)


def _grid(axis: Sequence[float], show: Number) -> Iterable[str]:
    """Yield the horizontal lines with their values."""
    for value in axis:
        y = _y(value, axis[-1])
        yield f'<line class="{"floor" if not value else "grid"}" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 6, y + 4, show(value), "tick", "end")


def _runs(x: Sequence[float], values: Sequence[float | None], top: float) -> list[list[tuple[float, float]]]:
    """Return the stretches of a curve without gaps, as points."""
    found: list[list[tuple[float, float]]] = []
    gap = True
    for at, value in zip(x, values, strict=True):
        if value is None:
            gap = True
            continue
        if gap:
            found.append([])
            gap = False
        found[-1].append((at, _y(value, top)))
    return found


def _anchor(x: float) -> str:
    """Keep a text inside of the picture."""
    return "start" if x < _LEFT + 14 else "end" if x > WIDTH - _RIGHT - 14 else "middle"


def _colour(n: int) -> str:
    return f"c{n % COLOURS + 1}"


def _cut(name: str) -> str:
    """Shorten a label to its room; a Chinese character takes two places."""
    room, kept = 29, ""
    for character in name:
        room -= 2 if ord(character) > 0x2E7F else 1
        if room < 0:
            return f"{kept[:-1]}…"
        kept += character
    return name


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text class="{kind} {anchor}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _svg(chart: Chart, parts: Sequence[str], height: int, width: int = WIDTH) -> Markup:
    return Markup(
        f'<svg class="chart" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(chart.title)}">'
        f"<title>{escape(chart.title)}</title><desc>{escape(describe(chart))}</desc>{''.join(parts)}</svg>"
    )


def describe(chart: Chart) -> str:
    """Tell a chart in a few words: of each series the greatest value and the last one."""
    told = []
    for each in chart.series:
        known = [value for value in each.values if value is not None]
        if known:
            most, last = (f"{chart.show(value)} {chart.unit}".strip() for value in (max(known), known[-1]))
            told.append(f"{each.name}: ≤ {most}, → {last}")
    return "; ".join(told)


def rates(times: Sequence[float], counts: Sequence[float], seconds: float) -> list[float | None]:
    """Return how fast a count that only grows has grown, per so many seconds, at each time but the first.

    >>> rates([0, 10, 20], [0, 5, 25], 1)
    [None, 0.5, 2.0]
    """
    found: list[float | None] = [None] * min(1, len(times))
    for (t0, t1), (n0, n1) in zip(pairwise(times), pairwise(counts), strict=True):
        found.append(max(0.0, (n1 - n0) * seconds / (t1 - t0)) if t1 > t0 else None)
    return found


def spread(times: Sequence[float], most: int) -> list[int]:
    """Return the places of at most so many times that stand about evenly, the last one among them.

    >>> spread([0, 1, 2, 3, 4, 100], 3)
    [0, 5]
    """
    if len(times) <= most:
        return list(range(len(times)))
    step = (times[-1] - times[0]) / most
    kept, due = [0], times[0] + step
    for n in range(1, len(times) - 1):
        if times[n] >= due:
            kept.append(n)
            due = times[n] + step
    return [*kept, len(times) - 1]
