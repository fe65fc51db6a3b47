"""Charts as SVG: curves, stacked columns, bars in table cells.

The same values give the same bytes. Colours are CSS classes, so that the style sheet can serve light and dark themes
and the content security policy needs no inline styles. A chart is drawn `WIDTH` units wide and scales to its container.
Texts are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH, HEIGHT = 400, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 24, 26
_STEPS = (1, 2, 2.5, 5, 10)
_TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
_DAY = 86_400
_DAY_STEPS = (1, 2, 5, 7, 14, 30, 60, 90, 180, 365, 730, 1825, 3650)
_FULL = 0.74
"""Share of its slot that a column fills."""
SERIES = 7
"""Number of colours: the classes `series-1`, `series-2` ..."""
_CHARS = 7.0
"""Width of a character in a tick label."""
_LEAST = 1e-9
"""Smaller values are drawn as 0."""


@dataclass(frozen=True, slots=True)
class Series:
    """One value for each place of the chart; None where unknown."""

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """The link of a column, and the first and last day that it narrows to."""

    href: str
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart; `places` labels it from left to right with times, days or depths.

    `title` is for screen readers; `ticks`, for curves, are positions of labels as shares of the width, with the labels.
    `links` makes each column a link, with attributes that a script can read. The keyboard passes them over: give it the
    same links in the table of the numbers.
    """

    title: str
    places: Sequence[str]
    series: Sequence[Series]
    show: Callable[[float], str] = lambda value: f"{value:,.0f}"
    ticks: Sequence[tuple[float, str]] = ()
    key: str = ""
    """Identifies the chart in its page, so that a place keeps the keyboard's focus when the page is updated."""
    width: int = WIDTH
    height: int = HEIGHT
    links: Sequence[ColumnLink] = ()

    @property
    def is_empty(self) -> bool:
        return not any(value for each in self.series for value in each.values)


def ticks(value: float, most: int = 4) -> list[float]:
    """Return a few round ticks of an axis from 0 to at least `value`.

    >>> ticks(7), ticks(0.03), ticks(0)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 0.01, 0.02, 0.03], [0.0, 1.0])
    """
    if not _LEAST < value < math.inf:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(value / most))
    step = next(power * factor for factor in _STEPS if power * factor >= value / most * (1 - 1e-9))
    return [float(f"{step * n:.12g}") for n in range(math.ceil(value / step - 1e-9) + 1)]


def time_ticks(first: float, last: float, most: int = 5) -> list[float]:
    """Return a few round times, in seconds, between two times.

    >>> time_ticks(3.0, 600.0)
    [300.0, 600.0]
    """
    steps = (*_TIME_STEPS, *(_DAY * days for days in _DAY_STEPS))
    step = next((each for each in steps if (last - first) / each <= most - 1), max(last - first, 1.0))
    times = (float(n * step) for n in range(math.ceil(first / step), int(last // step) + 1))
    return [each for each in times if each >= first]


def curve(chart: Chart) -> Markup:
    """Draw lines; the area under a single line is filled."""
    count = max(1, len(chart.places) - 1)
    x = [_LEFT + n / count * (chart.width - _LEFT - _RIGHT) for n in range(len(chart.places))]
    axis = ticks(max((v for each in chart.series for v in each.values if v is not None), default=0.0))
    parts = list(_grid(axis, chart))
    parts += [_tick(_LEFT + share * (chart.width - _LEFT - _RIGHT), name, chart) for share, name in chart.ticks]
    for n, each in enumerate(chart.series):
        for line in _stretches(x, each.values, axis[-1], chart):
            (x0, y0), (x1, _) = line[0], line[-1]
            points = " ".join(f"{px:.1f},{py:.1f}" for px, py in line)
            if len(line) == 1:
                parts.append(f'<circle class="dot {_series(n)}" cx="{x0:.1f}" cy="{y0:.1f}" r="2.5"/>')
                continue
            if len(chart.series) == 1:
                corners = f"{x0:.1f},{chart.height - _BOTTOM} {points} {x1:.1f},{chart.height - _BOTTOM}"
                parts.append(f'<polygon class="area {_series(n)}" points="{corners}"/>')
            parts.append(f'<polyline class="line {_series(n)}" points="{points}"/>')
    half = (chart.width - _LEFT - _RIGHT) / count / 2
    for place, at in enumerate(x):
        marks = [
            f'<circle class="dot mark {_series(n)}" cx="{at:.1f}" cy="{_y(value, axis[-1], chart):.1f}" r="3.5"/>'
            for n, each in enumerate(chart.series)
            if (value := each.values[place]) is not None
        ]
        parts.append(_place(chart, place, max(_LEFT, at - half), min(chart.width - _RIGHT, at + half), marks))
    return _svg(chart, parts)


def columns(chart: Chart) -> Markup:
    """Draw a column for each place, with the series stacked."""
    totals = [sum(value or 0 for value in column) for column in zip(*(s.values for s in chart.series), strict=True)]
    axis = ticks(max(totals, default=0.0))
    room = (chart.width - _LEFT - _RIGHT) / max(1, len(chart.places))
    parts = list(_grid(axis, chart))
    # a name in the middle of its column, where there is room for it
    every = max(1, math.ceil((max(map(len, chart.places), default=0) + 1) * _CHARS / room))
    for place, name in enumerate(chart.places):
        left, below, stack = _LEFT + (place + (1 - _FULL) / 2) * room, 0.0, list[str]()
        for n, each in enumerate(chart.series):
            value = each.values[place]
            if not value:
                continue
            top, bottom = _y(below + value, axis[-1], chart), _y(below, axis[-1], chart)
            label = " ".join((name, *([each.name] if len(chart.series) > 1 else []), chart.show(value)))
            stack.append(
                f'<rect class="bar {_series(n)}" x="{left:.1f}" y="{top:.1f}" width="{max(1.0, room * _FULL):.1f}" '
                f'height="{max(bottom - top, 0.5):.1f}"><title>{escape(label)}</title></rect>'
            )
            below += value
        if chart.links:
            parts += [_opened(chart, place, room, name, totals[place]), *stack, "</a>"]
        else:
            parts.append(_place(chart, place, _LEFT + place * room, _LEFT + (place + 1) * room, stack))
        if not chart.ticks and place % every == 0:
            parts.append(_tick(left + room * _FULL / 2, name, chart))
    parts += [_tick(_LEFT + share * (chart.width - _LEFT - _RIGHT), name, chart) for share, name in chart.ticks]
    return _svg(chart, parts)


def _place(chart: Chart, place: int, left: float, right: float, inside: Sequence[str]) -> str:
    """Draw a place whose values are shown while the pointer or the keyboard is on it.

    The last one is reached with the tab key; the script of the page moves from there with the arrow keys.
    """
    values = [value for each in chart.series if (value := each.values[place]) is not None]
    told = escape(f"{chart.places[place]}: {chart.show(sum(values)) if values else '–'}")
    is_last = place == len(chart.places) - 1
    key = f' id="{escape(chart.key)}-{place}"' if chart.key else ""
    width, height = max(right - left, 1.0), chart.height - _BOTTOM - _TOP
    return (
        f'<g class="place"{key} tabindex="{0 if is_last else -1}" role="img" aria-label="{told}">'
        f'<rect class="slot" x="{left:.1f}" y="{_TOP}" width="{width:.1f}" height="{height}"/>{"".join(inside)}'
        f'<text class="told" text-anchor="end" x="{chart.width - _RIGHT}" y="{_TOP - 10}">{told}</text></g>'
    )


def bar(value: float | None, most: float, series: int = 1) -> Markup:
    share = 0.0 if not value or most <= 0 else min(1.0, value / most)
    return Markup(
        '<svg class="chart bar-cell" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar series-{series}" width="{100 * share:.2f}" height="8"/></svg>'
    )


def spread(count: int, most: int) -> range:
    """Return evenly spaced rows of a table, at most `most`, including the last.

    >>> list(spread(10, 3)), list(spread(2, 3))
    ([1, 5, 9], [0, 1])
    """
    step = max(1, -(-count // most))
    return range((count - 1) % step, count, step)


def _y(value: float, top: float, chart: Chart) -> float:
    floor = chart.height - _BOTTOM
    return floor - value / top * (floor - _TOP)


def _opened(chart: Chart, place: int, room: float, name: str, total: float) -> str:
    """Open a column's link, with a field as high as the chart to point at."""
    link = chart.links[place]
    label = f"{name}: {chart.show(total)}"
    return (
        f'<a class="column" tabindex="-1" href="{escape(link.href)}" data-first="{escape(link.first)}" '
        f'data-last="{escape(link.last)}" aria-label="{escape(label)}">'
        f'<rect class="reach" x="{_LEFT + place * room:.1f}" y="{_TOP}" '
        f'width="{room:.1f}" height="{chart.height - _BOTTOM - _TOP}"><title>{escape(label)}</title></rect>'
    )


def _grid(axis: Sequence[float], chart: Chart) -> Iterator[str]:
    for value in axis:
        y, kind = _y(value, axis[-1], chart), "grid" if value else "axis"
        yield f'<line class="{kind}" x1="{_LEFT}" x2="{chart.width - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text text-anchor="end" x="{_LEFT - 6}" y="{y + 4:.1f}">{escape(chart.show(value))}</text>'


def _tick(x: float, name: str, chart: Chart) -> str:
    half = len(name) * _CHARS / 2
    anchor = "start" if x < half else "end" if x > chart.width - half else "middle"
    return f'<text text-anchor="{anchor}" x="{min(x, chart.width):.1f}" y="{chart.height - 8}">{escape(name)}</text>'


def _stretches(
    x: Sequence[float], values: Sequence[float | None], top: float, chart: Chart
) -> list[list[tuple[float, float]]]:
    stretches: list[list[tuple[float, float]]] = []
    gap = True
    for at, value in zip(x, values, strict=True):
        if value is None:
            gap = True
            continue
        if gap:
            stretches.append([])
            gap = False
        stretches[-1].append((at, _y(value, top, chart)))
    return stretches


def _series(n: int) -> str:
    return f"series-{n % SERIES + 1}"


def _svg(chart: Chart, parts: Sequence[str]) -> Markup:
    description = "; ".join(_told(each, chart) for each in chart.series)
    return Markup(  # every text in it was escaped above
        f'<svg class="chart" viewBox="0 0 {chart.width} {chart.height}" role="group" '
        f'aria-label="{escape(chart.title)}">'
        f"<desc>{escape(description)}</desc>{''.join(parts)}</svg>"
    )


def _told(each: Series, chart: Chart) -> str:
    numbers = [value for value in each.values if value is not None]
    if not numbers:
        return each.name
    return f"{each.name}: {chart.show(min(numbers))} – {chart.show(max(numbers))}, … {chart.show(numbers[-1])}"
