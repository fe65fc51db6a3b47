"""Learning of weighted block features: counted supports, weights from a swarm."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Final

import numpy as np

from ..decode.characters import Counts
from ..document.view import Flags, Values
from ..extract.weighted import EDGES, Feature, WeightedModel, bins
from .examples import Example
from .pso import maximise
from .trained import Trained

HIGHEST_WEIGHT: Final = 3.0
"""Weights are looked for between 0 and this."""


def learn(
    examples: Iterable[Example],
    rng: np.random.Generator,
    *,
    particles: int = 100,
    generations: int = 1000,
    edges: Mapping[str, tuple[float, ...]] = EDGES,
    without: tuple[str, ...] = (),
) -> tuple[WeightedModel, float]:
    """Return the model under which blocks are told apart best, and its fitness.

    Its features are those of `edges`; blocks inside the tags `without` are taken out first.

    Blocks in the same bins of all features are counted once, so the fitness of all particles is one product of
    matrices. It is in [0, 1]: F over the blocks, each weighing its share of its page's characters.

    Raises:
        ValueError: no example holds content; a swarm without particles.

    Source: S10; 100 particles, 1,000 generations, weights in [0, 3], inertia falling linearly.
    Differs: supports are smoothed by one block of each class; the threshold is looked for in [0, 1], where scores are;
        blocks weigh by characters, so that long paragraphs count for more than page numbers.
    """
    pages = [
        # What is counted, not the page: thousands of pages would not fit into memory.
        (bins(example.document, edges, without), example.content, example.weights / max(int(example.weights.sum()), 1))
        for example in examples
        if example.article and (example.weights * example.content).any()
    ]
    if not pages:
        raise ValueError("no page to learn from holds content")
    columns, content, weights = (np.concatenate(parts, axis=-1) for parts in zip(*pages, strict=True))
    counted = weights > 0
    supports = [
        _supports(column[counted], content[counted], len(borders) + 1)
        for column, borders in zip(columns, edges.values(), strict=True)
    ]
    kinds, kind = np.unique(columns, axis=1, return_inverse=True)
    kind = kind.reshape(-1)
    both = np.stack(
        [np.bincount(kind, weights * content, kinds.shape[1]), np.bincount(kind, weights, kinds.shape[1])], axis=1
    )
    supports_of = np.stack([support[row] for support, row in zip(supports, kinds, strict=True)])

    def fitness(places: Values) -> Values:
        d, e = places[:, :-1], places[:, -1:]
        taken = (d @ supports_of > e * d.sum(axis=1, keepdims=True)).astype(np.float64)
        right, all_taken = (taken @ both).T
        return np.asarray(2 * right / (all_taken + both[:, 0].sum()), np.float64)

    high = np.array([HIGHEST_WEIGHT] * len(edges) + [1.0])
    place, best = maximise(fitness, np.zeros(len(high)), high, rng, particles=particles, generations=generations)
    features = tuple(
        Feature(name, borders, tuple(round(float(value), 4) for value in support), round(float(weight), 4))
        for (name, borders), support, weight in zip(edges.items(), supports, place[:-1], strict=True)
    )
    return WeightedModel(features, round(float(place[-1]), 4), without), best


def _supports(column: Counts, content: Flags, count: int) -> Values:
    """Return P(S|t) of each bin: the share of content among the blocks in it."""
    good = np.bincount(column, content, count) + 1
    return np.asarray(good / (np.bincount(column, minlength=count) + 2), np.float64)


def learn_model(pages: Iterable[Example], *, seed: int, particles: int, generations: int) -> Trained:
    model, fitness = learn(pages, np.random.default_rng(seed), particles=particles, generations=generations)
    return Trained(asdict(model), {"fitness": round(fitness, 4)})
