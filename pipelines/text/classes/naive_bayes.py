"""Naive Bayes: the class under which a text's words are likeliest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...models.arrays import pack, unpack
from .classifier import Classifier, Steps, Training, softmax
from .vectors import Numbers, Text, Vector

NAME: Final = "naive_bayes"


@dataclass(frozen=True, slots=True)
class Params:
    """Occurrences that every term is given in every class, and sharpness.

    The log-likelihood of a text counts as if it had so many terms: that of all its words is too sure.
    """

    smooth: float = 0.1
    sharpness: float = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class _BayesClasses:
    """Logarithms of P(term | class), less its mean over the classes, and of P(class)."""

    weights: Numbers
    prior: Numbers
    sharpness: float

    def scores(self, text: Text, vector: Vector) -> Numbers:
        if not len(vector.columns):
            return np.zeros(len(self.prior))
        counts = np.log1p(vector.counts)
        odds = counts @ self.weights[vector.columns]
        return softmax(self.prior + odds * min(1.0, self.sharpness / counts.sum()))

    def model(self) -> dict[str, object]:
        return {
            "weights": Steps.of(self.weights).model(),
            "prior": pack(self.prior.round(5)),
            "sharpness": self.sharpness,
        }


def fit(training: Training, params: Params) -> Classifier:
    """Count terms by class.

    Source: S23 (multinomial naive Bayes).
    Differs: log(1 + count) instead of counts, since words come in bursts; the likelihood is tempered.
    """
    counts = training.counts()
    counts.data = np.log1p(counts.data)
    of_class = np.asarray(counts.T @ training.wanted) + params.smooth
    weights = np.log(of_class / of_class.sum(axis=0))
    prior = np.log((training.wanted.sum(axis=0) + 1) / (len(training.wanted) + training.wanted.shape[1]))
    return _BayesClasses(weights - weights.mean(axis=1, keepdims=True), prior, params.sharpness)


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    return _BayesClasses(
        Steps.load(model["weights"], terms).values(), unpack(model["prior"]), float(model["sharpness"])
    )
