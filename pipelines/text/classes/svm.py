"""Linear support vector machine: a plane between each class and all others."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...models.arrays import pack, unpack
from .classifier import Classifier, Steps, Training
from .vectors import Numbers, Text, Vector

NAME: Final = "svm"
_NEVER: Final = -3.0
"""Score of a class that no text, or every text but one fold's, has."""


@dataclass(frozen=True, slots=True)
class Params:
    """Cost of a text on the wrong side, and most passes over the texts."""

    cost: float = 1.0
    steps: int = 300


@dataclass(frozen=True, slots=True, eq=False)
class Planes:
    weights: Steps
    bias: Numbers

    def scores(self, text: Text, vector: Vector) -> Numbers:
        return self.weights.product(vector) + self.bias

    def model(self) -> dict[str, object]:
        return {"weights": self.weights.model(), "bias": pack(self.bias.round(6))}


def fit(training: Training, params: Params) -> Classifier:
    """Learn the planes; that of a class of no text, or of all, is far away.

    Source: S23 (linear SVM, one class against the rest), trained by scikit-learn's LinearSVC.
    """
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - of the extra `train`
    from sklearn.svm import LinearSVC  # noqa: PLC0415

    matrix = training.matrix()
    classes = training.wanted.shape[1]
    weights, bias = np.zeros((matrix.shape[1], classes)), np.zeros(classes)
    for number in range(classes):
        has_class = training.wanted[:, number] > 0
        if has_class.all() or not has_class.any():
            bias[number] = -_NEVER if has_class.any() else _NEVER
            continue
        machine = LinearSVC(C=params.cost, max_iter=params.steps, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(matrix, has_class)
        weights[:, number], bias[number] = machine.coef_[0], machine.intercept_[0]
    return Planes(Steps.of(weights), bias)


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    return Planes(Steps.load(model["weights"], terms), unpack(model["bias"]))
