"""Whether a window of answers differs from the past by more than chance, and by more than is the host's habit. Pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from .answers import Came
from .findings import GAIN, SHIFT, AccessItem, Change, ContentItem
from .past import ACCESS, FLAGS, METRICS, Past, add_to_bins, bin_of, expected, no_bins
from .statistics import LEAST, fisher, kolmogorov_smirnov, mann_whitney

CHANCE = 1e-7
"""An alarm is less likely than this on a host that is as it was; the test is made four times a window."""
_CHANCE_OF_HALF = 1e-3
_MOST_SPREAD = 30.0
_MOST_SPREAD_OF_ACCESS = 4.0
"""Bounds of what habit excuses: a host that refuses us every night is worth an alarm every night."""
_FADE = 0.05
"""Looks overlap: four of them see each answer."""
_FARTHEST = 60.0
_LOOKS = 12

NUMBERS_OF_TEXT = ("chars", "confidence")


class Rate(NamedTuple):
    """How often something is met in a window.

    Attributes:
        name: what.
        counts, place: where the past counts it, see `Past`.
        items: the answers asked.
        hits: whether each shows it.
        inverse: the past counts the contrary.
    """

    name: str
    counts: str
    place: int
    items: Sequence[Any]
    hits: list[bool]
    inverse: bool = False


class Judge:
    """Compares windows with the past, and learns how much they differ anyway.

    Args:
        window: answers in a full window.
        past: what is known of each shape, shared with whoever learns it.

    Attributes:
        bins: numbers of the past in standard deviations from the means of their shapes, for each of `METRICS`.
        spread: how far windows lie from what is expected, 1 where that is chance alone.
        suspects: set when a window differs by so much that it would matter, chance or not.
    """

    def __init__(self, window: int, past: dict[str, Past]) -> None:
        self._window = window
        self._half = window // 2
        self._past = past
        self._waiting: dict[str, deque[float]] = {}
        self.bins = {name: no_bins() for name in METRICS}
        self.spread: dict[str, float] = {}
        self.suspects = False

    def learn_number(self, past: Past, name: str, value: float) -> None:
        """One more value of a shape."""
        scale = past.scale(name)
        if scale is not None:
            add_to_bins(self.bins[name], (value - scale[0]) / scale[1])
        past.moments[name].add(value)

    def raised(self) -> None:
        """An alarm begins: what windows were like lately was no habit."""
        self._waiting.clear()

    def ended(self, change: Change) -> None:
        """An alarm is over: if that comes again, it proves less."""
        far = min(_FARTHEST, -2 * math.log(change.chance))
        self.spread[change.what] = min(
            _MOST_SPREAD, self.spread.get(change.what, _spread_at_first(change.what)) + 0.2 * far
        )

    def deviations(self, name: str, items: Sequence[AccessItem | ContentItem]) -> list[tuple[float, float]]:
        """How far numbers lie above the means of their shapes; of shapes whose mean is known."""
        known = {kind: self._past[kind].scale(name) for kind in {item.kind for item in items}}
        place = 2 if name == "seconds" else 3 if name == "chars" else 4
        return [
            ((value := float(item[place]) - scale[0]), value / scale[1])
            for item in items
            if (scale := known[item.kind]) is not None and _is_well(item)
        ]

    @staticmethod
    def of_access(items: Sequence[AccessItem]) -> Iterator[Rate]:
        """What may be met too often among answers."""
        for place, name in enumerate(ACCESS):
            yield Rate(name, "access", 1 + place, items, [item.place == place for item in items])

    @staticmethod
    def of_content(items: Sequence[ContentItem]) -> Iterator[Rate]:
        """What may be met too often among pages."""
        yield Rate("articles", "content", 1, items, [item.came != Came.ARTICLE for item in items], inverse=True)
        yield Rate("empty", "content", 2, items, [item.came == Came.EMPTY for item in items])
        articles = [item for item in items if item.came == Came.ARTICLE]
        for place, name in enumerate(FLAGS):
            yield Rate(name, "flags", 1 + place, articles, [bool(item.flags >> place & 1) for item in articles])

    def _before(self, rate: Rate, part: slice) -> tuple[float, float]:
        before, size = expected([item.kind for item in rate.items[part]], self._past, rate.counts, rate.place)
        return (1 - before if rate.inverse else before), size

    def rates(self, rates: Iterable[Rate]) -> list[Change]:
        """Rates that have grown too much to be chance; also learns how much they differ anyway."""
        found = []
        for rate in rates:
            n = len(rate.items)
            if n < self._half:
                continue
            hits = sum(rate.hits)
            if hits <= 1:
                self._note(rate.name, 0.0)
                continue
            before, size = self._before(rate, slice(None))
            excess = hits - before * n
            self._note(rate.name, excess * excess / max(1.0, before * (1 - before) * n) if excess > 0 else 0.0)
            if excess < GAIN[rate.name] * n:
                continue
            self.suspects = True
            chance = self._tempered(rate.name, _fisher(before, size, hits, n))
            if chance <= CHANCE and all(self._half_shows(rate, part) for part in _halves(n)):
                found.append(Change(rate.name, before, hits / n, chance))
        return found

    def _half_shows(self, rate: Rate, part: slice) -> bool:
        hits = rate.hits[part]
        n, found = len(hits), sum(hits)
        before, size = self._before(rate, part)
        return found >= (before + 0.8 * GAIN[rate.name]) * n and _fisher(before, size, found, n) <= _CHANCE_OF_HALF

    def _note(self, name: str, far: float) -> None:
        """How far a window lies from what is expected, for the habit of the host.

        That waits for two windows: if an alarm comes meanwhile, it was no habit but the beginning of that.
        """
        waiting = self._waiting.setdefault(name, deque())
        waiting.append(min(far, _FARTHEST))
        if len(waiting) > _LOOKS:
            self.spread[name] = (1 - _FADE) * self.spread.get(name, _spread_at_first(name)) + _FADE * waiting.popleft()

    def _tempered(self, name: str, chance: float) -> float:
        """A probability as it is for a host whose windows differ more than by chance."""
        most = _MOST_SPREAD_OF_ACCESS if name in ACCESS else _MOST_SPREAD
        spread = min(most, max(1.0, self.spread.get(name, _spread_at_first(name))))
        return max(LEAST, math.exp(math.log(chance) / spread))

    def moved(self, name: str, items: Sequence[AccessItem | ContentItem]) -> Change | None:
        """A number that has moved too far to be chance."""
        values, bins = self.deviations(name, items), self.bins[name]
        n = len(values)
        if n < self._half or math.fsum(bins) < self._window:
            return None
        mean = mean_of(raw for raw, _ in values)
        far = n * mean_of(min(4.0, max(-4.0, z)) for _, z in values) ** 2
        self._note(name, far)
        if abs(mean) < SHIFT[name]:
            return None
        self.suspects = True
        chance = self._tempered(name, _test(name, bins, values))
        if chance > CHANCE:
            return None
        for part in _halves(n):
            if (
                mean_of(raw for raw, _ in values[part]) / mean < 0.7
                or _test(name, bins, values[part]) > _CHANCE_OF_HALF
            ):
                return None
        before = mean_of(self._past[item.kind].moments[name].mean for item in items)
        if name == "confidence":
            return Change(name, before, before + mean, chance)
        return Change(name, math.exp(before), math.exp(before + mean), chance)

    def doubts(self, rates: Iterable[Rate]) -> bool:
        """Whether a window might be the beginning of an alarm."""
        for rate in rates:
            n = len(rate.items)
            if n >= 3 and sum(rate.hits) >= (self._before(rate, slice(None))[0] + GAIN[rate.name] / 2) * n:
                return True
        return False


_TESTS: dict[str, Callable[[Sequence[float], Sequence[float]], tuple[float, float]]] = {
    "chars": kolmogorov_smirnov,
    "confidence": mann_whitney,
    "seconds": mann_whitney,
}


def _spread_at_first(name: str) -> float:
    """Lengths come in runs (bulletins, features) on more hosts than not."""
    return 3.0 if name in METRICS else 1.0


def _is_well(item: AccessItem | ContentItem) -> bool:
    return item[1] == -1 or item[1] == Came.ARTICLE


def _test(name: str, bins: Sequence[float], values: Sequence[tuple[float, float]]) -> float:
    now = no_bins()
    for _, residual in values:
        now[bin_of(residual)] += 1
    return _TESTS[name](bins, now)[1]


def _fisher(before: float, size: float, hits: int, n: int) -> float:
    past = max(1, round(size))
    return fisher(min(past, math.ceil(before * past - 0.5)), past, hits, n)


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n)


def mean_of(numbers: Iterable[float]) -> float:
    """Arithmetic mean; 0 of nothing."""
    values = list(numbers)
    return math.fsum(values) / len(values) if values else 0.0
