"""Small feed-forward networks: from a block's features to its chance of content.

S10 weighs a block's features linearly and binarised; here two hidden layers let them act together. Several networks,
started from different draws, vote: they err differently on pages unlike those they have seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

_CLIP: Final = 5.0


def standardise(values: Matrix, shift: Matrix, scale: Matrix) -> Matrix:
    """Bring inputs to the same size, outliers to five times that."""
    clipped: Matrix = np.clip((values - shift) * scale, -_CLIP, _CLIP)
    return clipped


@dataclass(frozen=True, slots=True, eq=False)
class BlockNetwork:
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
        """Return the mean of the networks' votes, in [0, 1].

        There is one per column of `values` (features x blocks).

        Cost: O(networks x weights x blocks).
        """
        inputs = standardise(values, self.shift, self.scale)
        first = self.weights[0]
        # All networks see the same input: one product for the first layer of all of them.
        joined = first.reshape(-1, first.shape[2]) @ inputs
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
    def of(cls, model: Mapping[str, Any]) -> BlockNetwork:
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
    """Write numbers to four digits."""
    return " ".join(f"{value:.4g}" for value in values.tolist())


def _numbers(row: str) -> Matrix:
    """Read the numbers that `_row` wrote."""
    return np.array(row.split(), np.float32)
