"""Rates of a crawl over time, computed from the samples of its runs.

Counts of a run only grow, and are interpolated linearly between samples. So the counts of several runs, sampled at
different times, can be added at the edges of common spans; the rate of a span is its increase.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from db.records.run import RunSample

Values = NDArray[np.float64]
Samples = Sequence[RunSample]
_MOST_REASONS = 5


@dataclass(frozen=True, slots=True)
class Curves:
    """Work of some runs in each span of time.

    Attributes:
        edges: Unix times, one more than there are spans.
        pages, articles, bytes: per second.
        repeats: share of articles that repeat another one; NaN without articles.
        queued: queued URLs at the end of each span; NaN if unknown.
        reasons: pages that became no article, by the most frequent reasons; all others under "".
    """

    edges: Values
    pages: Values
    articles: Values
    bytes: Values
    repeats: Values
    queued: Values
    reasons: dict[str, Values]


def make_curves(runs: Sequence[Samples], first: float, last: float, spans: int) -> Curves:
    """Add up runs in equal spans between two Unix times.

    The samples of each run are given oldest first; before its first sample a run had done nothing.

    Cost: O(samples + spans) a run.
    """
    edges = np.linspace(first, last, spans + 1)
    seconds = (last - first) / spans
    runs = [samples for samples in runs if samples]

    def grown(count: Callable[[RunSample], float]) -> Values:
        at_edges = [np.interp(edges, *_line(samples, count), left=0.0) for samples in runs]
        return np.diff(np.sum(at_edges, axis=0)) if at_edges else np.zeros(spans)

    duplicates = grown(lambda each: each.duplicates)
    # those of which nothing was stored are no articles
    judged = grown(lambda each: each.articles + each.reasons.get("duplicate", 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        repeats = np.where(judged > 1e-9, duplicates / judged, np.nan)
    return Curves(
        edges=edges,
        pages=grown(lambda each: each.pages) / seconds,
        articles=grown(lambda each: each.articles) / seconds,
        bytes=grown(lambda each: each.bytes) / seconds,
        repeats=repeats,
        queued=_queued(runs, edges[1:]),
        reasons=_reasons(runs, grown),
    )


def _line(samples: Samples, count: Callable[[RunSample], float]) -> tuple[list[float], list[float]]:
    return [each.at for each in samples], [float(count(each)) for each in samples]


def _queued(runs: Sequence[Samples], times: Values) -> Values:
    queued = np.full(len(times), np.nan)
    for samples in runs:
        counted = [each for each in samples if each.queued is not None]
        if counted:
            inside = (times >= counted[0].at) & (times <= samples[-1].at)
            line = np.interp(times, *_line(counted, lambda each: float(each.queued or 0)))
            queued = np.where(inside, line, queued)
    return queued


def _reasons(runs: Sequence[Samples], grown: Callable[[Callable[[RunSample], float]], Values]) -> dict[str, Values]:
    totals = merged(runs)
    shown = [reason for reason, _ in totals.most_common(_MOST_REASONS)]
    values = {reason: grown(partial(_of_reason, reason)) for reason in shown}
    if len(totals) > len(shown):
        values[""] = grown(lambda each: sum(n for reason, n in each.reasons.items() if reason not in shown))
    return values


def _of_reason(reason: str, sample: RunSample) -> float:
    return sample.reasons.get(reason, 0)


def merged(runs: Sequence[Samples]) -> Counter[str]:
    """Count why pages became no article, over several runs."""
    totals: Counter[str] = Counter()
    for samples in runs:
        if samples:
            totals.update(samples[-1].reasons)
    return totals
