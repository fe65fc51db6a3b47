"""Curves of a crawl made of the samples of its runs.

Pure. Counts of a run only grow; between two samples they are taken to grow evenly. So counts of several runs, whose
samples stand at different times, can be added at the edges of common spans, and a rate is what was added in a span.
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
    """Work of some runs in each of some spans of time.

    Attributes:
        edges: Unix times, one more than there are spans.
        pages, articles, bytes: a second.
        repeats: share of the articles that repeat another one; NaN where there were none.
        queued: URLs that waited at the end of each span; NaN where nobody knows.
        reasons: pages that became no article, the most frequent reasons first; the others under "".
    """

    edges: Values
    pages: Values
    articles: Values
    bytes: Values
    repeats: Values
    queued: Values
    reasons: dict[str, Values]


def make_curves(runs: Sequence[Samples], first: float, last: float, spans: int) -> Curves:
    """Add up runs in so many spans between two times.

    Args:
        runs: samples of each run, the oldest first; before its first one a run had done nothing.
        first: Unix time of the beginning.
        last: and of the end, which is later.

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
    """Return what waited, as the run that said so last had it."""
    found = np.full(len(times), np.nan)
    for samples in runs:
        known = [each for each in samples if each.queued is not None]
        if known:
            inside = (times >= known[0].at) & (times <= samples[-1].at)
            line = np.interp(times, *_line(known, lambda each: float(each.queued or 0)))
            found = np.where(inside, line, found)
    return found


def _reasons(runs: Sequence[Samples], grown: Callable[[Callable[[RunSample], float]], Values]) -> dict[str, Values]:
    """Return the most frequent reasons over all, and what is left."""
    totals: Counter[str] = Counter()
    for samples in runs:
        totals.update(samples[-1].reasons)
    shown = [reason for reason, _ in totals.most_common(_MOST_REASONS)]
    found = {reason: grown(partial(_of_reason, reason)) for reason in shown}
    if len(totals) > len(shown):
        found[""] = grown(lambda each: sum(n for reason, n in each.reasons.items() if reason not in shown))
    return found


def _of_reason(reason: str, sample: RunSample) -> float:
    return sample.reasons.get(reason, 0)


def merged(runs: Sequence[Samples]) -> Counter[str]:
    """Return why pages of some runs became no article, in all."""
    totals: Counter[str] = Counter()
    for samples in runs:
        if samples:
            totals.update(samples[-1].reasons)
    return totals
