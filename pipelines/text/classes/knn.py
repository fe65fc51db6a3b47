"""Nearest neighbours: a text has the classes of the texts that are most like it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...models.arrays import pack, unpack
from .classifier import Classifier, Training
from .vectors import Numbers, Text, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

NAME: Final = "knn"


@dataclass(frozen=True, slots=True)
class Params:
    """Neighbours that vote, best an odd number, and terms kept of a text."""

    k: int = 15
    terms: int = 80


@dataclass(frozen=True, slots=True, eq=False)
class _Neighbours:
    matrix: sp.csr_matrix
    wanted: Numbers
    k: int

    def scores(self, text: Text, vector: Vector) -> Numbers:
        query = np.zeros(self.matrix.shape[1])
        query[vector.columns] = vector.values
        near = self.matrix @ query
        nearest = np.argsort(-near, kind="stable")[: self.k]
        total = near[nearest].sum()
        votes: Numbers = near[nearest] @ self.wanted[nearest]
        return votes / total if total > 0 else np.zeros(self.wanted.shape[1])

    def model(self) -> dict[str, object]:
        return {
            "k": self.k,
            "ends": pack(self.matrix.indptr.astype(np.int32)),
            "columns": pack(self.matrix.indices.astype(np.int32)),
            "values": pack(np.rint(self.matrix.data * 255).astype(np.uint8)),
            "classes": [np.flatnonzero(row).tolist() for row in self.wanted],
        }


def fit(training: Training, params: Params) -> Classifier:
    """Keep the texts.

    Source: S23 (k odd, cosine).
    Differs: of each text the weightiest terms alone are kept, in a byte each, so that the model stays small; the
    neighbours vote with their cosines.
    """
    matrix = training.matrix()
    for row in range(matrix.shape[0]):
        values = matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
        if len(values) > params.terms:
            values[np.argsort(-values, kind="stable")[params.terms :]] = 0
    matrix.data = np.rint(matrix.data * 255) / 255
    matrix.eliminate_zeros()
    return _Neighbours(matrix, training.wanted, params.k)


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    ends, columns, values = (unpack(model[name]) for name in ("ends", "columns", "values"))
    import scipy.sparse as sp  # noqa: PLC0415 - learning alone needs it, and a worker does not learn

    matrix = sp.csr_matrix((values / 255, columns, ends), (len(ends) - 1, terms))
    matrix.check_format(full_check=True)
    wanted = np.zeros((len(model["classes"]), classes))
    for row, columns_of in enumerate(model["classes"]):
        wanted[row, columns_of] = 1
    if len(wanted) != matrix.shape[0]:
        raise ValueError("texts and classes differ in number")
    return _Neighbours(matrix, wanted, int(model["k"]))
