"""The reprints of a story as a tree over time.

Time runs to the right; each article has a row, and a line leads down to its copies. Widths are in pixels and the
picture is not scaled, so that labels stay readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .labels import cut, letters

_ROW, _TOP, _BOTTOM, _EDGE = 50, 30, 12, 16
_DOT = 6
_LETTER = 7.5
"""Width of a Latin letter."""
_HOUR, _DAY = 3_600, 86_400
_YEAR = 365 * _DAY
_STEPS = (
    60,
    300,
    900,
    1_800,
    _HOUR,
    3 * _HOUR,
    6 * _HOUR,
    12 * _HOUR,
    *(_DAY * n for n in (1, 2, 7, 30, 90)),
    *(_YEAR * n for n in (1, 2, 5, 10, 50, 500)),
)
_LEAST_SPAN = 60
_SPACE_OF_TICK = 74


@dataclass(frozen=True, slots=True)
class Dot:
    """An article in the picture.

    Attributes:
        lag: delay behind the first article, in words; `at` is the same in seconds.
        above: row of the article it repeats; None for the first.
        kind: of the evidence, or empty.
        is_dated: false if the time is when the crawl saw it, because the page states none.
    """

    name: str
    lag: str
    at: float
    above: int | None
    kind: str
    is_dated: bool


def draw(dots: Sequence[Dot], width: int, language: str) -> Markup:
    least = min(dot.at for dot in dots)
    last = max(dot.at for dot in dots)
    span = max(_LEAST_SPAN, last - least)
    height = _TOP + _ROW * len(dots) + _BOTTOM

    def x(at: float) -> float:
        return round(_EDGE + (width - 2 * _EDGE) * (at - least) / span, 1)

    def y(row: int) -> float:
        return _TOP + _ROW * row + _ROW / 2

    parts = [
        Markup(
            '<path class="grid" d="M{0} {1}V{2}"/><text class="tick" x="{0}" y="{3}" text-anchor="{4}">{5}</text>'
        ).format(x(tick), _TOP - 8, height - _BOTTOM, _TOP - 14, _anchor(x(tick), width), lag(tick, language))
        for tick in _ticks(least, span, max(2, width // _SPACE_OF_TICK))
        if last > least
    ]
    for row, dot in enumerate(dots):
        if dot.above is not None:
            parts.append(
                Markup('<path class="tie {}" d="M{} {}V{}H{}"/>').format(
                    _class(dot.kind), x(dots[dot.above].at), y(dot.above), y(row), x(dot.at)
                )
            )
    for row, dot in enumerate(dots):
        parts.append(_label(dot, x(dot.at), y(row), width))
    return Markup(
        '<svg class="story-picture" width="{0}" height="{1}" viewBox="0 0 {0} {1}" aria-hidden="true">{2}</svg>'
    ).format(width, height, Markup("").join(parts))


def _label(dot: Dot, x: float, y: float, width: int) -> Markup:
    needed = _LETTER * max(map(letters, (dot.name, dot.lag))) + 2 * _DOT
    right = x + needed <= width or x < width / 2
    name = cut(dot.name, ((width - x if right else x) - 2 * _DOT) / _LETTER)
    return Markup(
        '<circle class="dot {}" cx="{}" cy="{}" r="{}"/>'
        '<g text-anchor="{}"><text class="name" x="{}" y="{}">{}</text><text class="lag" x="{}" y="{}">{}</text></g>'
    ).format(
        "first" if dot.above is None else "" if dot.is_dated else "undated",
        x,
        y,
        _DOT,
        "start" if right else "end",
        x + (12 if right else -12),
        y - 7,
        name,
        x + (12 if right else -12),
        y + 17,
        dot.lag,
    )


def _ticks(least: float, span: float, most: int) -> list[float]:
    step = next((step for step in _STEPS if span / step <= most), _STEPS[-1])
    first = -(-least // step) * step
    return [first + step * n for n in range(int((least + span - first) // step) + 1)][: most + 1]


def _anchor(x: float, width: int) -> str:
    return "start" if x < _SPACE_OF_TICK / 2 else "end" if x > width - _SPACE_OF_TICK / 2 else "middle"


def _class(kind: str) -> str:
    return kind if kind in {"same", "edited", "part-of", "contains"} else "same"


def lag(seconds: float, language: str) -> str:
    """Format a delay in its two largest units.

    >>> lag(0, "en"), lag(4_500, "en"), lag(200_000, "zh"), lag(-90, "en")
    ('0', '+1 h 15 min', '+2天7小时', '−1 min')
    """
    sign, left = ("−" if seconds < 0 else "+"), abs(round(seconds))
    units = (
        (("年", _YEAR), ("天", _DAY), ("小时", _HOUR), ("分钟", 60))
        if language == "zh"
        else ((" y", _YEAR), (" d", _DAY), (" h", _HOUR), (" min", 60))
    )
    parts: list[str] = []
    for name, size in units:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{name}" if count else "")
        if len(parts) == 2:
            break
    span = ("" if language == "zh" else " ").join(filter(None, parts))
    return sign + span if span else "0"
