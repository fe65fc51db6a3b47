"""Particle swarm optimisation: guesses fly towards the best found so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..document.view import Values

INERTIA: Final = (0.9, 0.4)
"""Share of its velocity that a particle keeps, at the first and at the last generation."""
PULL: Final = 2.0
"""Strength of the pull to the best place of the particle itself, and to that of the swarm."""


def maximise(
    fitness: Callable[[Values], Values],
    low: Values,
    high: Values,
    rng: np.random.Generator,
    *,
    particles: int = 100,
    generations: int = 1000,
) -> tuple[Values, float]:
    """Return the best place that a swarm finds within a box, and its fitness.

    `fitness` gives one number per row of an array of places, larger for better ones.

    Raises:
        ValueError: fewer than one particle or less than no generation.

    Source: Kennedy and Eberhart, Particle swarm optimization, 1995; inertia falling linearly as Shi and Eberhart, 1998.
    Differs: a particle that would leave the box stops at its wall and flies back half as fast; one that stayed there
        would draw the others to the wall.

    >>> place, best = maximise(lambda x: -(x[:, 0] - 2) ** 2, np.zeros(1), np.full(1, 3.0), np.random.default_rng(1))
    >>> round(float(place[0]), 3)
    2.0
    """
    if particles < 1 or generations < 0:
        raise ValueError(
            f"a swarm of {particles} particles and {generations} generations; at least 1 and 0 are allowed"
        )
    shape = (particles, len(low))
    places = rng.uniform(low, high, shape)
    limit = (high - low) / 2
    speeds = rng.uniform(-limit, limit, shape)
    best_places, best_fitness = places.copy(), fitness(places)
    for step in range(generations):
        best = best_places[int(np.argmax(best_fitness))]
        inertia = INERTIA[0] + (INERTIA[1] - INERTIA[0]) * step / max(generations - 1, 1)
        pulls = rng.uniform(0, PULL, (2, *shape))
        speeds = np.clip(
            inertia * speeds + pulls[0] * (best_places - places) + pulls[1] * (best - places), -limit, limit
        )
        free = places + speeds
        places = np.clip(free, low, high)
        speeds[places != free] *= -0.5
        fitness_now = fitness(places)
        better = fitness_now > best_fitness
        best_places[better], best_fitness[better] = places[better], fitness_now[better]
    leader = int(np.argmax(best_fitness))
    return best_places[leader], float(best_fitness[leader])
