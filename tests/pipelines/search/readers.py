"""Simulated readers of a search whose results are more and less relevant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log2
from random import Random
from statistics import fmean

from db.records.click import Click
from pipelines.search.clicks import NEUTRAL, ClickModel, learn

QUERIES, RESULTS, SHOWN = 30, 20, 10


@dataclass(frozen=True)
class Result:
    """A document found for a query: its true relevance, its score by text, and what its title promises, 0 to 1."""

    relevance: float
    text: float
    promise: float


World = Sequence[Mapping[int, Result]]
"""Results of each query by document; some documents are found for several."""


def world(draw: Random) -> World:
    """Make queries of which a third of the results is relevant, found by a text score that is right by half."""
    return [
        {document: _result(draw) for document in draw.sample(range(QUERIES * RESULTS // 2), RESULTS)}
        for _ in range(QUERIES)
    ]


def _result(draw: Random) -> Result:
    relevance = draw.betavariate(5, 2) if draw.random() < 1 / 3 else draw.betavariate(2, 6)
    promise = min(1.0, max(0.0, relevance + draw.gauss(0, 0.25)))
    return Result(relevance, relevance + draw.gauss(0, 0.35), promise)


def order(results: Mapping[int, Result], relevances: Mapping[int, float], weight: float) -> list[int]:
    """Return the documents in the order in which they are shown."""
    return sorted(results, key=lambda each: -(results[each].text + weight * relevances.get(each, NEUTRAL)))


def ndcg(world: World, model: ClickModel, weight: float) -> float:
    """Mean NDCG@10 of all queries, by true relevances."""
    return fmean(_ndcg(results, order(results, model.relevances(query), weight)) for query, results in enumerate(world))


def _ndcg(results: Mapping[int, Result], ranked: Sequence[int]) -> float:
    gains = [2 ** (5 * results[each].relevance) - 1 for each in ranked]
    discounts = [1 / log2(place + 2) for place in range(SHOWN)]
    best = sum(gain * discount for gain, discount in zip(sorted(gains, reverse=True), discounts, strict=False))
    return sum(gain * discount for gain, discount in zip(gains, discounts, strict=False)) / best


def honest(draw: Random, results: Mapping[int, Result], ranked: Sequence[int]) -> Iterator[tuple[int, float, bool]]:
    """Open what stands high and promises much; stay longer where it is relevant. Some are lost from sight.

    Yields:
        place, seconds, and whether the end is known.
    """
    pace = exp(draw.gauss(0, 0.5))
    for place, each in enumerate(ranked):
        if draw.random() < (1 / (place + 1)) ** 0.7 * (0.05 + 0.8 * results[each].promise):
            relevance = results[each].relevance
            seconds = draw.expovariate(1 / (pace * 5 ** (1 - relevance) * 180**relevance))
            if draw.random() < 0.03:
                yield place, 1_800 * draw.random(), True
            elif draw.random() < 0.1:
                yield place, seconds * draw.random(), False
            else:
                yield place, seconds, True


def at_random(draw: Random, results: Mapping[int, Result], ranked: Sequence[int]) -> Iterator[tuple[int, float, bool]]:
    """Open anything, for any time."""
    for place in range(len(ranked)):
        if draw.random() < 0.2:
            yield place, draw.expovariate(1 / draw.choice([5, 30, 180])), True


def the_first(draw: Random, results: Mapping[int, Result], ranked: Sequence[int]) -> Iterator[tuple[int, float, bool]]:
    """Open what stands first, whatever it is, and stay as long as anywhere."""
    for place in range(len(ranked)):
        if draw.random() < 1 / (place + 1):
            yield place, draw.expovariate(1 / 40), True


def hurried_machine(
    draw: Random, results: Mapping[int, Result], ranked: Sequence[int]
) -> Iterator[tuple[int, float, bool]]:
    """Fetch all results, a second or two each."""
    return ((place, draw.uniform(0.5, 3), True) for place in range(len(ranked)))


def patient_machine(
    draw: Random, results: Mapping[int, Result], ranked: Sequence[int]
) -> Iterator[tuple[int, float, bool]]:
    """Open all results and leave them open."""
    return ((place, 290.0, False) for place in range(len(ranked)))


READERS = {
    "honest": honest,
    "at random": at_random,
    "the first": the_first,
    "hurried machine": hurried_machine,
    "patient machine": patient_machine,
}
MACHINES = {"hurried machine": 20, "patient machine": 2}
"""Queries of a session; people have two."""


def simulate(
    draw: Random, mix: Mapping[str, float], *, weight: float = 1.0, rounds: int = 4, sessions: int = 150
) -> list[float]:
    """Let readers use the search, learn from them, show the new order, and so on.

    Args:
        draw: source of chance.
        mix: share of each kind of `READERS`.
        weight: of the signal in the score.
        rounds: times the model is learned.
        sessions: of each round.

    Returns:
        NDCG@10 at the beginning and after each round.
    """
    queries, clicks, model = world(draw), list[Click](), ClickModel({}, {})
    found = [ndcg(queries, model, weight)]
    for _ in range(rounds):
        for _ in range(sessions):
            kind = draw.choices(list(mix), list(mix.values()))[0]
            session = draw.getrandbits(62)
            for _ in range(MACHINES.get(kind, 2)):
                query = int(len(queries) * draw.random() ** 2)
                ranked = order(queries[query], model.relevances(query), weight)[:SHOWN]
                clicks += [
                    Click(session, query, ranked[place], place + 1, 0, seconds, is_ended)
                    for place, seconds, is_ended in READERS[kind](draw, queries[query], ranked)
                ]
        model = learn(clicks)
        found.append(ndcg(queries, model, weight))
    return found
