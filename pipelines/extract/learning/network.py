"""Small feed-forward networks: from the features of a block to the chance that it is content.

S10 weighs a block's features linearly and binarised; here two hidden layers let them act together. Several networks,
started from different draws, vote: they err differently on pages unlike those they have seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
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
    """Numbers of the text that `_row` made."""
    return np.array(row.split(), np.float32)


@dataclass(frozen=True, slots=True)
class Params:
    """Sizes and steps of a training.

    Attributes:
        hidden: sizes of the hidden layers.
        networks: how many are trained.
        epochs: passes over the examples.
        batch: examples per step.
        rate: step size of Adam.
        decay: strength of the pull of the weights to 0, in units of one example.
    """

    hidden: tuple[int, ...] = (96, 32)
    networks: int = 4
    epochs: int = 30
    batch: int = 2048
    rate: float = 1e-3
    decay: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
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


def fit(examples: TrainingSet, seed: int, params: Params) -> Network:
    """Train networks on examples.

    Args:
        examples: the examples.
        seed: of the draws; the same seed gives the same networks.
        params: sizes and steps.

    Returns:
        The networks.

    Raises:
        ValueError: all examples are of one class.
        ImportError: scikit-learn is not installed; only training needs it.

    Cost: O(networks x epochs x examples x weights of a network).
    Source: scikit-learn's `MLPClassifier`: weighted cross-entropy, steps by Kingma and Ba, Adam, 2015.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra; a crawl does without it
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415

    if examples.content.all() or not examples.content.any():
        raise ValueError("all blocks to learn from are of one kind; content and other blocks are both needed")

    values = examples.values
    shift = values.mean(axis=1, keepdims=True, dtype=np.float64).astype(np.float32)
    scale = 1 / (values.std(axis=1, keepdims=True, dtype=np.float64).astype(np.float32) + np.float32(1e-3))
    inputs = np.ascontiguousarray(np.clip((values - shift) * scale, -_CLIP, _CLIP).T)
    costs = (examples.costs / examples.costs.mean()).astype(np.float32)
    trained = [
        MLPClassifier(
            params.hidden,
            alpha=params.decay,
            batch_size=min(params.batch, len(inputs)),
            learning_rate_init=params.rate,
            max_iter=params.epochs,
            n_iter_no_change=params.epochs,
            random_state=seed + number,
        )
        for number in range(params.networks)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the number of epochs is ours
        for network in trained:
            network.fit(inputs, examples.content, sample_weight=costs)
    layers = range(len(params.hidden) + 1)
    return Network(
        examples.features,
        shift,
        scale,
        tuple(np.stack([network.coefs_[layer].T for network in trained]) for layer in layers),
        tuple(np.stack([network.intercepts_[layer][:, None] for network in trained]) for layer in layers),
    )
