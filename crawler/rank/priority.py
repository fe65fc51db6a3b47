"""The score that orders the frontier: a weighted sum of named signals, each in [0, 1].

Breadth-first is the base order (survey of focused crawling, S01: pages within a few links of a seed are likely
topical); every further signal re-orders it. Depth is a signal, not a wall: a strict level order would lose most of
what the others gain. A signal is one function of what is known about a URL before it is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from pipelines.records import BlockKind

_DAY = 86_400.0
_MOST_WEIGHT = 1e6
BLOCK_VALUE = {
    BlockKind.SEED: 1.0,
    BlockKind.BODY: 1.0,
    BlockKind.LIST: 1.0,
    BlockKind.FEED: 1.0,
    BlockKind.PART: 1.0,
    BlockKind.SITEMAP: 0.8,
    BlockKind.PAGINATION: 0.8,
    BlockKind.CANONICAL: 0.8,
    BlockKind.REDIRECT: 0.8,
    BlockKind.RELATED: 0.6,
    BlockKind.NAVIGATION: 0.5,
    BlockKind.OTHER: 0.3,
    BlockKind.FOOTER: 0.1,
}
"""How much the place of a link promises, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is known of a URL when a page names it: links from the seed, the block it stands in, its stated date."""

    depth: int
    found_in: int
    dated: float | None
    day: int
    """Today, in days since 1970: the freshness of a date is judged by the day."""


def depth(sighting: Sighting) -> float:
    """1 for a seed, 1/2 for what it links to, 1/3 ..."""
    return 1.0 / (1.0 + sighting.depth)


def block(sighting: Sighting) -> float:
    """How much the place of the link promises: text and lists most, footers least (after block-level link analysis)."""
    return BLOCK_VALUE.get(BlockKind(sighting.found_in), 0.3)


def freshness(sighting: Sighting) -> float:
    """1 for what a feed or sitemap dates today, halved every three days; 0 without a date."""
    if not sighting.dated:
        return 0.0
    age_days = max(0.0, sighting.day - sighting.dated / _DAY)
    return float(0.5 ** (age_days / 3.0))


SIGNALS: dict[str, Callable[[Sighting], float]] = {"depth": depth, "block": block, "freshness": freshness}
"""Name -> signal. `CRAWL_PRIORITY` gives each a weight."""

PRESETS: dict[str, dict[str, float]] = {"breadth": {"depth": 1.0}}
"""Name -> weights, chosen by `CRAWL_PRESET`; `CRAWL_PRIORITY` overrides single weights."""


class Priority:
    """Scores URLs by given weights.

    Args:
        preset: a name in `PRESETS`.
        weights: signal -> weight, on top of the preset.

    Raises:
        ValueError: unknown preset or signal, or a weight that is no finite number.
    """

    def __init__(self, preset: str, weights: Mapping[str, float]) -> None:
        if preset not in PRESETS:
            raise ValueError(f"CRAWL_PRESET {preset!r} is unknown; use one of: {', '.join(sorted(PRESETS))}")
        unknown = sorted(set(weights) - set(SIGNALS))
        if unknown:
            raise ValueError(
                f"CRAWL_PRIORITY names the unknown signal {unknown[0]!r}; the signals are: {', '.join(sorted(SIGNALS))}"
            )
        self.weights: dict[str, float] = {}
        for name, weight in {**PRESETS[preset], **weights}.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not abs(weight) <= _MOST_WEIGHT:
                raise ValueError(f"CRAWL_PRIORITY[{name!r}] is {weight!r}; a weight is a finite number up to a million")
            if weight:
                self.weights[name] = float(weight)
        self._score = lru_cache(maxsize=4096)(self._compute)

    def score(self, sighting: Sighting) -> tuple[float, str]:
        """The score, and the value of each weighted signal as JSON."""
        return self._score(sighting)

    def _compute(self, sighting: Sighting) -> tuple[float, str]:
        parts = {name: round(SIGNALS[name](sighting), 6) for name in self.weights}
        return sum(self.weights[name] * value for name, value in parts.items()), json.dumps(parts)
