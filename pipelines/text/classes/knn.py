"""Nearest neighbours: a text has the classes of the texts that are most like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np

from .classifier import Classifier, Rows, Training
from .vectors import Numbers, Text, Vector

NAME: Final = "knn"


class VoteWeight(StrEnum):
    """Weight of a neighbour's vote: the same for each, or its cosine."""

    EQUAL = "equal"
    COSINE = "cosine"


@dataclass(frozen=True, slots=True)
class Params:
    """Neighbours that vote, best an odd number; terms kept of a text; their votes."""

    k: int = 15
    terms: int = 80
    votes: VoteWeight = VoteWeight.EQUAL


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbours:
    rows: Rows
    wanted: Numbers
    k: int
    votes: VoteWeight

    def scores(self, text: Text, vector: Vector) -> Numbers:
        near = self.rows.product(vector)
        nearest = np.argsort(-near, kind="stable")[: self.k]
        if not near[nearest].any():
            return np.zeros(self.wanted.shape[1])
        weights = near[nearest] if self.votes is VoteWeight.COSINE else np.ones(len(nearest))
        shares: Numbers = weights @ self.wanted[nearest] / weights.sum()
        return shares

    def model(self) -> dict[str, object]:
        classes = [np.flatnonzero(row).tolist() for row in self.wanted]
        return {"k": self.k, "votes": str(self.votes), **self.rows.model(), "classes": classes}


def fit(training: Training, params: Params) -> Classifier:
    """Keep the texts; a text's score in a class is k_i / k of its k neighbours.

    Raises:
        ValueError: k or terms is less than 1.

    Source: S23 (k odd, cosine, share of the neighbours).
    Differs: of each text the weightiest terms alone are kept, in a byte each, so that the model stays small. The paper
    takes the best of several k; here it is a parameter. With `votes` cosine the neighbours vote with their cosines.
    """
    if params.k < 1 or params.terms < 1:
        raise ValueError(f"k and terms are {params.k} and {params.terms}; each takes 1 or more")
    return _Neighbours(Rows.of(training.matrix(), params.terms), training.wanted, params.k, params.votes)


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    rows = Rows.load(model, terms)
    wanted = np.zeros((len(model["classes"]), classes))
    for row, columns_of in enumerate(model["classes"]):
        wanted[row, columns_of] = 1
    if len(wanted) != rows.matrix.shape[0]:
        raise ValueError("texts and classes differ in number")
    return _Neighbours(rows, wanted, int(model["k"]), VoteWeight(model.get("votes", VoteWeight.COSINE)))
