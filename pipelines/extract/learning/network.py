"""A small feed-forward network: from the features of a block to the chance that it is content.

S10 weighs a block's features linearly and binarised; here two hidden layers let them act together. Several networks,
started from different draws, vote: they err differently on pages unlike those they have seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_CLIP: Final = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Several trained networks of the same shape.

    Attributes:
        features: names of the inputs, in order.
        shift, scale: what is taken from each input, and by what it is then divided.
        weights: per layer a stack of matrices (networks, outputs, inputs).
        biases: per layer a stack of columns (networks, outputs, 1).
    """

    features: tuple[str, ...]
    shift: Matrix
    scale: Matrix
    weights: tuple[Matrix, ...]
    biases: tuple[Matrix, ...]

    def predict(self, values: Matrix) -> Matrix:
        """Return the mean of the networks' votes in [0, 1], one per column of `values` (features x blocks).

        Cost: O(networks x weights x blocks).
        """
        layer = np.clip((values - self.shift) * self.scale, -_CLIP, _CLIP)
        first = self.weights[0]
        # All networks see the same input: one product for the first layer of all of them.
        joined = first.reshape(-1, first.shape[2]) @ layer
        layer = joined.reshape(len(first), first.shape[1], -1) + self.biases[0]
        for weights, biases in zip(self.weights[1:], self.biases[1:], strict=True):
            np.maximum(layer, 0, out=layer)
            layer = weights @ layer + biases
        votes: Matrix = 1 / (1 + np.exp(-layer[:, 0, :]))
        mean: Matrix = votes.mean(axis=0)
        return mean

    def model(self) -> dict[str, object]:
        """Return the networks as strings and lists, a row of numbers being one string."""
        return {
            "features": list(self.features),
            "shift": _row(self.shift[:, 0]),
            "scale": _row(self.scale[:, 0]),
            "weights": [[[_row(row) for row in matrix] for matrix in layer] for layer in self.weights],
            "biases": [[_row(column[:, 0]) for column in layer] for layer in self.biases],
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Network:
        """Return the networks that `model` describes."""

        def numbers(rows: Any) -> Any:
            return _numbers(rows) if isinstance(rows, str) else [numbers(row) for row in rows]

        return cls(
            tuple(model["features"]),
            _numbers(model["shift"])[:, None],
            _numbers(model["scale"])[:, None],
            tuple(np.asarray(numbers(layer), np.float32) for layer in model["weights"]),
            tuple(np.asarray(numbers(layer), np.float32)[:, :, None] for layer in model["biases"]),
        )


def _row(values: Matrix) -> str:
    """Numbers as text, to four digits."""
    return " ".join(f"{value:.4g}" for value in values.tolist())


def _numbers(row: str) -> Matrix:
    """What `_row` wrote."""
    return np.array(row.split(), np.float32)


@dataclass(frozen=True, slots=True)
class Params:
    """How networks are trained.

    Attributes:
        hidden: sizes of the hidden layers.
        networks: how many are trained.
        epochs: passes over the examples.
        batch: examples per step.
        rate: highest step size of Adam; it rises for 100 steps and then falls as a cosine.
        decay: share of a weight that each step takes away, in units of `rate`.
        dropout: share of the inputs left out of a step, so that no single feature is relied on.
    """

    hidden: tuple[int, ...] = (96, 32)
    networks: int = 4
    epochs: int = 30
    batch: int = 2048
    rate: float = 2e-3
    decay: float = 1e-3
    dropout: float = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Examples to learn from.

    Attributes:
        features: names of the inputs.
        values: a row per feature, a column per example.
        content: what each example is.
        costs: what an error on each example costs.
    """

    features: tuple[str, ...]
    values: Matrix
    content: NDArray[np.bool_]
    costs: Matrix


def fit(lessons: Lessons, seed: int, params: Params) -> Network:
    """Train networks on examples.

    Args:
        lessons: the examples.
        seed: of the draws; the same seed gives the same networks.
        params: sizes and steps.

    Returns:
        The networks.

    Cost: O(networks x epochs x examples x weights of a network).
    Source: weighted cross-entropy; steps by Kingma and Ba, Adam, 2015.
    """
    values = lessons.values
    shift = values.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    scale = 1 / (values.std(axis=1, keepdims=True, dtype=np.float64).astype(np.float32) + np.float32(1e-3))
    inputs = np.ascontiguousarray(np.clip((values - shift) * scale, -_CLIP, _CLIP).T)
    costs = (lessons.costs / lessons.costs.mean()).astype(np.float32)
    wanted = lessons.content.astype(np.float32)
    found = [_fit_one(inputs, wanted, costs, seed + number, params) for number in range(params.networks)]
    layers = range(len(params.hidden) + 1)
    return Network(
        lessons.features,
        shift,
        scale,
        tuple(np.stack([matrices[layer].T for matrices, _ in found]) for layer in layers),
        tuple(np.stack([columns[layer][:, None] for _, columns in found]) for layer in layers),
    )


def _fit_one(
    inputs: Matrix, wanted: Matrix, costs: Matrix, seed: int, params: Params
) -> tuple[list[Matrix], list[Matrix]]:
    """Weights (inputs x outputs) and biases of the layers of one network."""
    draws = np.random.default_rng(seed)
    sizes = [inputs.shape[1], *params.hidden, 1]
    depth = len(sizes) - 1
    weights = [
        (draws.standard_normal((before, behind)) * np.sqrt(2 / before)).astype(np.float32)
        for before, behind in pairwise(sizes)
    ]
    values = [*weights, *(np.zeros(size, np.float32) for size in sizes[1:])]
    first, second = [np.zeros_like(value) for value in values], [np.zeros_like(value) for value in values]
    batch = min(params.batch, len(inputs))
    steps = params.epochs * (len(inputs) // batch)
    step = 0
    for _ in range(params.epochs):
        order = draws.permutation(len(inputs))
        for start in range(0, len(inputs) - batch + 1, batch):
            step += 1
            chosen = order[start : start + batch]
            kept = np.where(
                draws.random(inputs.shape[1]) >= params.dropout, np.float32(1 / (1 - params.dropout)), np.float32(0)
            )
            slopes = _slopes(values, inputs[chosen] * kept, wanted[chosen], costs[chosen], depth)
            rate = params.rate * min(1.0, step / 100) * (0.5 + 0.5 * np.cos(np.pi * step / steps))
            for number, slope in enumerate(slopes):
                first[number] = 0.9 * first[number] + 0.1 * slope
                second[number] = 0.999 * second[number] + 0.001 * slope * slope
                move = (first[number] / (1 - 0.9**step)) / (np.sqrt(second[number] / (1 - 0.999**step)) + 1e-8)
                pull = params.decay * values[number] if number < depth else 0
                values[number] -= np.float32(rate) * (move + pull)
    return values[:depth], values[depth:]


def _slopes(values: list[Matrix], inputs: Matrix, wanted: Matrix, costs: Matrix, depth: int) -> list[Matrix]:
    """Slopes of the mean weighted cross-entropy in every weight and bias."""
    layers = [inputs]
    for number in range(depth):
        layer = layers[-1] @ values[number] + values[depth + number]
        layers.append(np.maximum(layer, 0) if number < depth - 1 else layer)
    chance = 1 / (1 + np.exp(-layers[-1][:, 0]))
    error = ((chance - wanted) * costs / len(wanted))[:, None].astype(np.float32)
    slopes: list[Matrix] = [error] * (2 * depth)
    for number in reversed(range(depth)):
        slopes[number] = layers[number].T @ error
        slopes[depth + number] = error.sum(axis=0)
        if number:
            error = (error @ values[number].T) * (layers[number] > 0).astype(np.float32)
    return slopes
