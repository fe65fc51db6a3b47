"""Relevance from dwell times against click-through rates, by simulation (S36)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, log2
from statistics import fmean
from typing import Any, Final

import numpy as np

from db.records.click import Click

from ..search.clicks import NEUTRAL, learn, likeliest
from .table import Replication, Row

SHOWN: Final = 10
_QUERIES, _RESULTS = 30, 20
_SESSIONS: Final = 600
"""Sessions to learn from, and as many whose clicks are to be predicted."""
_STEPS: Final = 20
_PRIOR: Final = 4.0
"""Views from which the attraction of a result is presumed, where clicks and dwell times are taken together."""
_LEAST: Final = 1e-4

Pair = tuple[int, int]
Estimates = Mapping[Pair, float]
"""Query and document -> estimate."""


@dataclass(frozen=True)
class _Result:
    """Document found for a query; `promise` is that of its title, 0 to 1."""

    relevance: float
    text: float
    promise: float


World = Sequence[Mapping[int, _Result]]
"""Results of each query by document; some documents are found for several."""


Judged = Mapping[int, Mapping[int, _Result]]
"""Results of each query that were opened at all: of others dwell times tell nothing."""


@dataclass(frozen=True, slots=True)
class _View:
    """Results shown; `opened` has seconds and whether the end is known, by place."""

    query: int
    ranked: Sequence[int]
    opened: Mapping[int, tuple[float, bool]]


def make_world(draw: np.random.Generator) -> World:
    """Make queries a third of whose results is relevant, by a text score half right."""
    return [
        {
            document: _result(draw)
            for document in draw.choice(_QUERIES * _RESULTS // 2, _RESULTS, replace=False).tolist()
        }
        for _ in range(_QUERIES)
    ]


def _result(draw: np.random.Generator) -> _Result:
    relevance = draw.beta(5, 2) if draw.random() < 1 / 3 else draw.beta(2, 6)
    promise = min(1.0, max(0.0, relevance + draw.normal(0, 0.25)))
    return _Result(relevance, relevance + draw.normal(0, 0.35), promise)


def honest(
    draw: np.random.Generator, results: Mapping[int, _Result], ranked: Sequence[int]
) -> Iterator[tuple[int, float, bool]]:
    """Open what stands high and promises much; stay longer where it is relevant.

    Some readers are lost from sight.

    Yields:
        place, seconds, and whether the end is known.
    """
    pace = exp(draw.normal(0, 0.5))
    for place, each in enumerate(ranked):
        if draw.random() < (1 / (place + 1)) ** 0.7 * (0.05 + 0.8 * results[each].promise):
            relevance = results[each].relevance
            seconds = draw.exponential(pace * 5 ** (1 - relevance) * 180**relevance)
            if draw.random() < 0.03:
                yield place, 1_800 * draw.random(), True
            elif draw.random() < 0.1:
                yield place, seconds * draw.random(), False
            else:
                yield place, seconds, True


def ndcg(results: Mapping[int, _Result], ranked: Sequence[int]) -> float:
    """Return NDCG@10 of an order by the true relevances."""
    gains = [2 ** (5 * results[each].relevance) - 1 for each in ranked]
    discounts = [1 / log2(place + 2) for place in range(SHOWN)]
    best = sum(gain * discount for gain, discount in zip(sorted(gains, reverse=True), discounts, strict=False))
    return sum(gain * discount for gain, discount in zip(gains, discounts, strict=False)) / best


def click_model(material: Any, seed: int) -> Replication:
    """Estimate relevance from readers; judge by NDCG and by the clicks of later ones.

    Results stand in the order of a text score with noise, so each is seen at several places. A click is predicted by
    the attention that its place gets times the attraction of the result (examination hypothesis). Attraction is the
    click-through rate there, a line of the relevance by dwell times, or the first with the second as its prior.

    Source: S36, He, Yuan and Yan, A click model based on browsing time (2011): it estimates relevance and future clicks
        more exactly than models of clicks alone, judged by NDCG and likelihood.
    Differs: we have the abstract alone; readers are simulated, and so are the true relevances. The examination
        hypothesis and its estimate are ours.
    """
    draw = np.random.default_rng(seed)
    world = make_world(draw)
    views, later = _views(draw, world), _views(draw, world)
    clicks = [
        Click(session, view.query, view.ranked[place], place + 1, 0, seconds, is_ended)
        for session, view in enumerate(views)
        for place, (seconds, is_ended) in view.opened.items()
    ]
    attention, by_clicks = examination(views)
    model = learn(clicks)
    pairs = [(query, document) for query, results in enumerate(world) for document in results]
    ours = {pair: model.relevances(pair[0]).get(pair[1], NEUTRAL) for pair in pairs}
    alone = {**dict.fromkeys(pairs, NEUTRAL), **_likeliest(clicks)}
    rate = _rate(views, pairs)
    same = {pair: fmean(rate.values()) for pair in pairs}
    both = _posterior(views, attention, _fitted(views, attention, ours))
    shown = {(query, document): one.text for query, results in enumerate(world) for document, one in results.items()}
    judged: Judged = {
        query: {
            document: results[document] for document in sorted({one.article_id for one in clicks if one.query == query})
        }
        for query, results in enumerate(world)
    }
    judged = {query: results for query, results in judged.items() if len(results) > 1}
    even = [1.0] * SHOWN
    rows = [
        Row("as shown, every result alike", _figures(judged, later, shown, even, same)),
        Row("click-through rate", _figures(judged, later, rate, even, rate)),
        Row("click-through rate by place", _figures(judged, later, by_clicks, attention, by_clicks)),
        Row("dwell time, likeliest rate", _figures(judged, later, alone, attention, _fitted(views, attention, alone))),
        Row("dwell time, with priors", _figures(judged, later, ours, attention, _fitted(views, attention, ours))),
        Row("dwell time and clicks", _figures(judged, later, both, attention, both)),
    ]
    notes = (
        "NDCG is of the results that somebody opened, in the order of the estimates alone",
        f"{_SESSIONS} simulated sessions to learn from, {_SESSIONS} whose clicks are predicted; the abstract that is "
        "known of the paper has no figures",
        "perplexity is 2 to the power of minus the mean log2 likelihood of a result being opened or not; 1 is best",
    )
    return Replication("S36: He, Yuan and Yan, A click model based on browsing time, 2011", rows, notes)


def _views(draw: np.random.Generator, world: World) -> list[_View]:
    views = []
    for _ in range(_SESSIONS):
        query = int(len(world) * draw.random() ** 2)
        results = world[query]
        noisy = {document: one.text + draw.normal(0, 0.2) for document, one in results.items()}
        ranked = sorted(noisy, key=lambda each: -noisy[each])[:SHOWN]
        opened = {place: (seconds, is_ended) for place, seconds, is_ended in honest(draw, results, ranked)}
        views.append(_View(query, ranked, opened))
    return views


def examination(views: Sequence[_View]) -> tuple[list[float], Estimates]:
    """Return the attention of each place and the attraction of each result.

    The attention of the first place is 1.

    A result is opened with the probability attention x attraction. Both are estimated in turn from the clicks, the
    attraction as if it had been seen twice and opened once.

    Source: Craswell et al., *An experimental comparison of click position-bias models*, 2008.
    Differs: estimated as clicks over expected clicks (COEC), not by expectation and maximization.
    """
    attention = [1.0] * SHOWN
    attraction: dict[Pair, float] = {}
    for _ in range(_STEPS):
        seen: defaultdict[Pair, float] = defaultdict(float)
        opened: defaultdict[Pair, float] = defaultdict(float)
        for view in views:
            for place, document in enumerate(view.ranked):
                seen[view.query, document] += attention[place]
                opened[view.query, document] += place in view.opened
        attraction = {pair: (opened[pair] + 1) / (seen[pair] + 2) for pair in seen}
        expected, clicked = [0.0] * SHOWN, [0.0] * SHOWN
        for view in views:
            for place, document in enumerate(view.ranked):
                expected[place] += attraction[view.query, document]
                clicked[place] += place in view.opened
        shares = [(one + 0.5) / (other + 1) for one, other in zip(clicked, expected, strict=True)]
        attention = [min(1.0, share / shares[0]) for share in shares]
    return attention, attraction


def perplexity(views: Sequence[_View], attention: Sequence[float], attraction: Estimates) -> float:
    """Return 2 to the power of the mean surprise, in bits, at what was opened or not."""
    usual = fmean(attraction.values())
    bits = []
    for view in views:
        for place, document in enumerate(view.ranked):
            likely = attention[place] * attraction.get((view.query, document), usual)
            likely = min(1 - _LEAST, max(_LEAST, likely))
            bits.append(-log2(likely if place in view.opened else 1 - likely))
    return float(2 ** fmean(bits))


def _figures(
    judged: Judged, later: Sequence[_View], relevance: Estimates, attention: Sequence[float], attraction: Estimates
) -> dict[str, float]:
    found = [
        ndcg(results, sorted(results, key=lambda each: -relevance[query, each])) for query, results in judged.items()
    ]
    surprise = perplexity(later, attention, attraction)
    return {"NDCG@10": fmean(found), "perplexity": surprise, "log likelihood": -log(surprise)}


def _rate(views: Sequence[_View], pairs: Sequence[Pair]) -> Estimates:
    opened, shown = dict.fromkeys(pairs, 0), dict.fromkeys(pairs, 0)
    for view in views:
        for place, document in enumerate(view.ranked):
            shown[view.query, document] += 1
            opened[view.query, document] += place in view.opened
    return {pair: (opened[pair] + 1) / (shown[pair] + 2) for pair in pairs}


def _likeliest(clicks: Sequence[Click]) -> Estimates:
    ended: defaultdict[Pair, int] = defaultdict(int)
    seconds: defaultdict[Pair, float] = defaultdict(float)
    for click in clicks:
        ended[click.query, click.article_id] += click.is_ended
        seconds[click.query, click.article_id] += click.seconds
    return {pair: likeliest(ended[pair], seconds[pair]) for pair in seconds if ended[pair]}


def _fitted(views: Sequence[_View], attention: Sequence[float], relevance: Estimates) -> Estimates:
    """Return the attraction as a line of the relevance, by least squares."""
    total = moment = square = clicked = both = 0.0
    for view in views:
        for place, document in enumerate(view.ranked):
            weight, value = attention[place], relevance[view.query, document]
            total += weight * weight
            moment += weight * weight * value
            square += weight * weight * value * value
            if place in view.opened:
                clicked += weight
                both += weight * value
    slope = (total * both - moment * clicked) / max(1e-12, total * square - moment * moment)
    level = (clicked - slope * moment) / max(1e-12, total)
    return {pair: min(1.0, max(_LEAST, level + slope * value)) for pair, value in relevance.items()}


def _posterior(views: Sequence[_View], attention: Sequence[float], presumed: Estimates) -> Estimates:
    """Return the attraction by clicks over attention, with `_PRIOR` presumed views."""
    opened, seen = dict.fromkeys(presumed, 0.0), dict.fromkeys(presumed, 0.0)
    for view in views:
        for place, document in enumerate(view.ranked):
            seen[view.query, document] += attention[place]
            opened[view.query, document] += place in view.opened
    return {pair: (opened[pair] + _PRIOR * value) / (seen[pair] + _PRIOR) for pair, value in presumed.items()}
