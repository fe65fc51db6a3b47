"""The score that orders the frontier: a weighted sum of signals, each in [0, 1].

Breadth-first is the base order (survey of focused crawling, S01); every further signal re-orders it. Depth is a signal,
not a wall: a strict level order would lose most of what the others gain.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from pipelines.focus.topic import USUAL
from pipelines.params import is_import_path

from . import expected, finds, networks
from .finds import Finds, Values
from .networks import NetworkSignal, network

_MOST_WEIGHT = 1e4

GRAPH_SIGNALS = ("pagerank", "experience", "personal", "blockrank", "siterank", "hits", "hubs", "opic", "host")
"""Signals of the link graph: computed for the whole queue from time to time, see `crawler.rank.ranking`."""

FOCUS_SIGNALS = ("profile", "anchor", "sibling", "context", "learned")
"""Signals of the topic, see `pipelines.focus`; 0 for every page of a crawl without one."""

SIGNALS = (*finds.SIGNALS, *GRAPH_SIGNALS, *FOCUS_SIGNALS)

_UNTOLD = {"experience": expected.NOTHING_LEARNT} | dict.fromkeys(FOCUS_SIGNALS, USUAL)
"""Values of signals before anything is known; 0 for others."""

SEED_VALUES = dict.fromkeys((*GRAPH_SIGNALS, *FOCUS_SIGNALS), 1.0) | {"experience": expected.NOTHING_LEARNT}
"""First values of seeds, of which nothing is known yet."""

PRESETS: dict[str, dict[str, float]] = {
    "breadth": {"depth": 1.0},
    "pagerank": {"pagerank": 1.0, "siterank": 0.3, "address": 0.1, "depth": 0.05, "experience": 1.0},
    "news": {"freshness": 1.0, "siterank": 0.5, "pagerank": 0.5, "host": 0.5, "block": 0.5, "depth": 0.5},
    "focused": {
        **{"profile": 0.19, "anchor": 0.65, "context": 0.05, "sibling": 0.61, "learned": 0.25},
        **{"block": 0.3, "freshness": 0.1},
    },
}
"""Name -> weights, chosen by `CRAWL_PRESET`; `CRAWL_PRIORITY` overrides single weights.

`breadth`, `pagerank` and `news` were set by hand. How those of `focused` were found has not been recorded. What each
preset reaches with `CrawlOrder` (tests/benchmarks/order.py) on the link graphs flink, wikispeedia and polblogs, and
`focused` on ten topics of wikispeedia, stands in docs/crawl-order.md.
"""


class Priority:
    """Scores URLs by the weights of a preset, changed signal by signal with `weights`.

    A signal from outside the project is given as `module:name`, one of networkx as `nx:NAME`. The attribute `weights`
    has those that count, `networks` those of them that are computed from a networkx graph.

    Raises:
        ValueError: unknown preset or signal, a weight that is no finite number, or no weight but 0.
    """

    def __init__(self, preset: str, weights: Mapping[str, float]) -> None:
        if preset not in PRESETS:
            raise ValueError(f"CRAWL_PRESET {preset!r} is unknown; use one of: {', '.join(sorted(PRESETS))}")
        for name in sorted(set(weights) - set(SIGNALS)):
            if not is_import_path(name):
                names = ", ".join(sorted(SIGNALS))
                raise ValueError(
                    f"CRAWL_PRIORITY names the unknown signal {name!r}; the signals are: {names}, nx:NAME of networkx, "
                    "or module:name"
                )
            (finds if network(name) is None else networks).try_out(name)
        self.weights: dict[str, float] = {}
        for name, weight in {**PRESETS[preset], **weights}.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not abs(weight) <= _MOST_WEIGHT:
                raise ValueError(f"CRAWL_PRIORITY[{name!r}] is {weight!r}; a weight is a finite number up to 10000")
            if weight:
                self.weights[name] = float(weight)
        if not self.weights:
            raise ValueError("CRAWL_PRIORITY leaves every signal the weight 0; at least one must count")
        self.networks: dict[str, NetworkSignal] = {}
        for name in self.weights:
            if (of_network := network(name)) is not None:
                self.networks[name] = of_network
        keys = [json.dumps(name).replace("%", "%%") for name in self.weights]
        self._text = ", ".join(f"{key}: %.5g" for key in keys).join("{}")

    @property
    def is_rescored(self) -> bool:
        """Tell whether scores change while a crawl goes on."""
        return bool(self.networks) or self.learns((*GRAPH_SIGNALS, *FOCUS_SIGNALS))

    @property
    def of_seeds(self) -> Mapping[str, float]:
        return SEED_VALUES | dict.fromkeys(self.networks, 1.0)

    def learns(self, names: Sequence[str]) -> bool:
        return any(name in self.weights for name in names)

    def of_finds(self, urls: Finds) -> dict[str, Values]:
        names = (name for name in self.weights if is_import_path(name) and name not in self.networks)
        return {name: finds.signal(name)(urls) for name in (*finds.SIGNALS, *names) if name in self.weights}

    def first(self, urls: Finds, legacy: Mapping[str, Values | float]) -> dict[str, Values]:
        """Compute all signals that count, for URLs that have just been found.

        `legacy` has first values of the other signals (see `inherited`, `alike`); missing ones are `USUAL` for signals
        of the topic, else 0.
        """
        values = self.of_finds(urls)
        for name in self.weights:
            if name not in values:
                values[name] = np.zeros(len(urls)) + legacy.get(name, _UNTOLD.get(name, 0.0))
        return values

    def score(self, values: Mapping[str, Values]) -> Values:
        """Sum the values by weight; they must be there for all signals that count."""
        total: Values | float = 0.0
        for name, weight in self.weights.items():
            total = total + weight * values[name]
        return np.asarray(total, np.float64)

    def texts(self, values: Mapping[str, Values]) -> list[str]:
        text = self._text
        return [text % row for row in zip(*(values[name].tolist() for name in self.weights), strict=True)]

    def inherited(self, parts: Mapping[str, float], links: int, known_links: int) -> dict[str, float]:
        """Estimate graph signals of the pages that a page names, until the next rescore."""
        names = (*GRAPH_SIGNALS, *self.networks)
        legacy = {name: parts[name] for name in names if name in self.weights and name in parts}
        if "pagerank" in legacy:
            legacy["pagerank"] = expected.inherited(legacy["pagerank"], max(links, 1), known_links)
        return legacy

    def alike(self, page: float, anchors: Sequence[float], parts: Mapping[str, float]) -> dict[str, Values | float]:
        """Estimate topic signals of the pages that a page with the signals `parts` names."""
        first: dict[str, Values | float] = {name: parts.get(name, USUAL) for name in FOCUS_SIGNALS}
        first["profile"] = USUAL + (1.0 - USUAL) * page
        first["anchor"] = USUAL + (1.0 - USUAL) * np.array(anchors)
        return first
