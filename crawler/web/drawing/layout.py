"""Place linked circles so that neither they nor their labels overlap."""

from __future__ import annotations

import networkx
import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 1200.0, 800.0
"""The canvas that a layout begins with."""
_PUSHES = 400


def place(
    links: networkx.DiGraph, boxes: NDArray[np.float64], width: float = WIDTH, height: float = HEIGHT
) -> NDArray[np.float64]:
    """Place the middle of each circle without overlaps; the same for the same input.

    Circles that link to one another lie together, by the forces of Fruchterman and Reingold. Boxes that overlap are
    then pushed away from each other, along the shorter way, until none do.

    Args:
        links: circles by their places 0, 1, ..., with the number of `links` on each edge; 0 ties one to its parent.
        boxes: of each circle its width, and its height above and below the middle.

    Cost: some seconds at most for a hundred circles.
    Source: T. Fruchterman, E. Reingold, Graph drawing by force-directed placement, 1991, as `networkx.spring_layout`.
    Differs: sizes and labels are taken into account afterwards, by moving boxes apart.
    """
    forces = networkx.Graph()
    forces.add_nodes_from(links)
    for a, b, count in links.edges(data="links"):
        pull = 3.0 if count == 0 else 0.3 * np.log1p(count)
        forces.add_edge(a, b, weight=forces.get_edge_data(a, b, {"weight": 0.0})["weight"] + pull)
    placed = networkx.spring_layout(forces, iterations=200, seed=1, method="force")
    at = np.array([placed[place] for place in links]).reshape(-1, 2)
    # half by the forces, half by their order alone: otherwise a few that lie far out press all others together
    even = (np.argsort(np.argsort(at, axis=0, kind="stable"), axis=0) + 0.5) / max(1, len(at)) * 2 - 1
    at = (at / max(float(np.abs(at).max(initial=0.0)), 1e-9) + even) / 2 * (width / 2, height / 2)
    shift = np.stack((np.zeros(len(at)), (boxes[:, 1] - boxes[:, 2]) / 2), axis=1)
    middle, half = at + shift, np.stack((boxes[:, 0], boxes[:, 1] + boxes[:, 2]), axis=1) / 2
    # of two in the same place the earlier one goes left or down
    order = np.sign(np.arange(len(at))[:, None] - np.arange(len(at)))[..., None]
    for _ in range(_PUSHES):
        apart = middle[:, None] - middle
        over = np.where(order == 0, 0.0, half[:, None] + half - np.abs(apart))
        shorter = over == over.min(axis=2, keepdims=True)
        over = np.where((over > 0).all(axis=2, keepdims=True) & shorter, over, 0.0)
        if not over.any():
            break
        push = (over * np.where(apart == 0, order, np.sign(apart))).sum(axis=1)
        middle = middle + 0.35 * push + 0.01 * np.sign(push)
    placed_at: NDArray[np.float64] = middle - shift
    return placed_at
