"""Support vector machine: a surface of widest margin round each class."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...models.arrays import pack, unpack
from .classifier import Classifier, Rows, Steps, Training
from .vectors import Numbers, Text, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

NAME: Final = "svm"
_NEVER: Final = -3.0
"""Score of a class that no text, or every text but one fold's, has."""
_MOST_TEXTS: Final = 8000
"""Texts that the Gaussian kernel learns from: their products take 8 bytes a pair, 0.5 GB."""


class Kernel(StrEnum):
    GAUSSIAN = "gaussian"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class Params:
    """Kernel, bound C of the multipliers, most passes; of the Gaussian its sharpness.

    Attributes:
        cost: C, the greatest multiplier of a text.
        gamma: the kernel of two vectors is exp(-gamma times their squared distance).
        terms: the weightiest kept of each text by the Gaussian kernel.
    """

    kernel: Kernel = Kernel.GAUSSIAN
    cost: float = 4.0
    steps: int = 300
    gamma: float = 1.0
    terms: int = 400


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    weights: Steps
    bias: Numbers

    def scores(self, text: Text, vector: Vector) -> Numbers:
        return self.weights.product(vector) + self.bias

    def model(self) -> dict[str, object]:
        return {"weights": self.weights.model(), "bias": pack(self.bias.round(6))}


@dataclass(frozen=True, slots=True, eq=False)
class _SupportVectors:
    """Texts at the margins (rows) with their multipliers in each class."""

    rows: Rows
    squares: Numbers
    multipliers: Numbers
    bias: Numbers
    gamma: float

    def scores(self, text: Text, vector: Vector) -> Numbers:
        distances = self.squares - 2 * self.rows.product(vector) + float(vector.values @ vector.values)
        scores: Numbers = np.exp(-self.gamma * distances) @ self.multipliers + self.bias
        return scores

    def model(self) -> dict[str, object]:
        machine = {"multipliers": pack(self.multipliers.astype(np.float32)), "bias": pack(self.bias.round(6))}
        return {"gamma": self.gamma, **self.rows.model(), **machine}


def fit(training: Training, params: Params) -> Classifier:
    """Learn a machine for each class; one of no text, or of all, is far away.

    Raises:
        ValueError: cost, gamma or terms is not positive, or the texts are too many for the Gaussian kernel.

    Cost: a prediction with the Gaussian kernel O(support vectors x terms), with the linear one O(terms of the text).
    Source: S23 (Gaussian kernel, multipliers bounded by C; one class against the rest), trained by scikit-learn.
    Differs: the text of the paper has lost its values of C and gamma. Of each text the weightiest terms alone are kept,
    in a byte each. With the kernel linear it is LinearSVC, which squares the hinge.
    """
    if min(params.cost, params.gamma, params.terms) <= 0:
        given = f"cost {params.cost}, gamma {params.gamma}, terms {params.terms}"
        raise ValueError(f"{given}: each takes more than 0")
    return _planes(training, params) if params.kernel is Kernel.LINEAR else _gaussian(training, params)


def _planes(training: Training, params: Params) -> Classifier:
    weights, bias = learn_planes(training.matrix(), training.wanted, params.cost, params.steps)
    return Planes(Steps.of(weights), bias)


def learn_planes(
    matrix: sp.csr_matrix | Numbers, wanted: Numbers, cost: float, steps: int = 300
) -> tuple[Numbers, Numbers]:
    """Return the weights of columns (rows) for each class (columns), and the biases."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - of the extra `train`
    from sklearn.svm import LinearSVC  # noqa: PLC0415

    weights = np.zeros((matrix.shape[1], wanted.shape[1]))

    def learn(number: int) -> float:
        machine = LinearSVC(C=cost, max_iter=steps, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(matrix, wanted[:, number] > 0)
        weights[:, number] = machine.coef_[0]
        return float(machine.intercept_[0])

    bias = _each_class(wanted, learn)
    return weights, bias


def _gaussian(training: Training, params: Params) -> Classifier:
    from sklearn.svm import SVC  # noqa: PLC0415 - of the extra `train`

    if len(training.vectors) > _MOST_TEXTS:
        given = f"there are {len(training.vectors)} texts; the Gaussian kernel takes at most {_MOST_TEXTS}"
        raise ValueError(f"{given}: give fewer, or the parameter kernel linear")
    rows = Rows.of(training.matrix(), params.terms)
    squares = rows.squares()
    kernel = np.asarray((rows.matrix @ rows.matrix.T).todense())
    kernel *= -2
    kernel += squares[:, None]
    kernel += squares
    kernel *= -params.gamma
    np.exp(kernel, out=kernel)
    multipliers = np.zeros(training.wanted.shape)

    def learn(number: int) -> float:
        machine = SVC(C=params.cost, kernel="precomputed").fit(kernel, training.wanted[:, number] > 0)
        multipliers[machine.support_, number] = machine.dual_coef_[0]
        return float(machine.intercept_[0])

    bias = _each_class(training.wanted, learn)
    at_margin = np.flatnonzero(multipliers.any(axis=1))
    vectors = Rows(rows.matrix[at_margin])
    return _SupportVectors(vectors, squares[at_margin], multipliers[at_margin], bias, params.gamma)


def _each_class(wanted: Numbers, learn: Callable[[int], float]) -> Numbers:
    """Return the bias of each class, learned where some texts have it and some do not."""
    bias = np.zeros(wanted.shape[1])
    for number in range(len(bias)):
        has_class = wanted[:, number] > 0
        if has_class.all() or not has_class.any():
            bias[number] = -_NEVER if has_class.any() else _NEVER
        else:
            bias[number] = learn(number)
    return bias


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    bias = unpack(model["bias"])
    if "gamma" not in model:
        return Planes(Steps.load(model["weights"], terms), bias)
    rows, multipliers = Rows.load(model, terms), unpack(model["multipliers"]).astype(np.float64)
    if multipliers.shape != (rows.matrix.shape[0], classes):
        raise ValueError("support vectors and multipliers differ in number")
    return _SupportVectors(rows, rows.squares(), multipliers, bias, float(model["gamma"]))
