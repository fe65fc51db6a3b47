"""Shape of all classifiers: `fit` gives a frozen one, which gives memberships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ...models.arrays import pack, unpack
from .vectors import Numbers, Space, Text, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

_STEPS: Final = 127


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Texts with their classes; `wanted` is 1 where a text (row) has a class (column).

    `synonyms` gives the closeness of two words, in (0, 1].
    """

    space: Space
    texts: Sequence[Text]
    vectors: Sequence[Vector]
    wanted: Numbers
    synonyms: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def matrix(self) -> sp.csr_matrix:
        return self._rows([vector.values for vector in self.vectors])

    def counts(self) -> sp.csr_matrix:
        return self._rows([vector.counts for vector in self.vectors])

    def _rows(self, values: Sequence[Numbers]) -> sp.csr_matrix:
        ends = np.cumsum([0, *(len(row) for row in values)])
        columns = np.concatenate([np.zeros(0, np.intp), *(vector.columns for vector in self.vectors)])
        shape = (len(self.vectors), len(self.space.ids))
        import scipy.sparse as sp  # noqa: PLC0415 - learning alone needs it, and a worker does not learn

        return sp.csr_matrix((np.concatenate([np.zeros(0), *values]), columns, ends), shape)


class Classifier(Protocol):
    def scores(self, text: Text, vector: Vector) -> Numbers:
        """Return a score of each class, higher for those the text has."""

    def model(self) -> dict[str, object]:
        """Return it as JSON can keep it."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Table of numbers in one byte each, in steps of the scale of their columns."""

    steps: NDArray[np.int8]
    scale: Numbers

    @classmethod
    def of(cls, values: Numbers) -> Self:
        """Round a table.

        >>> Steps.of(np.array([[1.0, -2.0], [0.0, 2.0]])).values().round(3).tolist()
        [[1.0, -2.0], [0.0, 2.0]]
        """
        scale = np.maximum(np.abs(values).max(axis=0, initial=0.0), 1e-12) / _STEPS
        scale = np.array([float(f"{one:.7g}") for one in scale])
        return cls(np.rint(values / scale).astype(np.int8), scale)

    def values(self) -> Numbers:
        return (self.steps * self.scale).round(12)

    def product(self, vector: Vector) -> Numbers:
        """Return the product of a vector and the table.

        >>> table = Steps.of(np.array([[1.0, -2.0], [0.0, 2.0]]))
        >>> table.product(Vector(np.array([1]), np.ones(1), np.ones(1))).round(3).tolist()
        [0.0, 2.0]
        """
        product: Numbers = vector.values @ self.steps[vector.columns] * self.scale
        return product

    def model(self) -> dict[str, object]:
        return {"scale": pack(self.scale), "steps": pack(self.steps)}

    @classmethod
    def load(cls, model: Mapping[str, Any], rows: int) -> Self:
        steps, scale = unpack(model["steps"]), unpack(model["scale"])
        if steps.shape != (rows, len(scale)):
            raise ValueError(f"a table of shape {steps.shape} with {rows} rows and {len(scale)} columns")
        return cls(steps, scale)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Vectors of texts (rows); of each the weightiest terms alone, in a byte each."""

    matrix: sp.csr_matrix

    @classmethod
    def of(cls, matrix: sp.csr_matrix, terms: int) -> Self:
        """Keep the `terms` weightiest of each row of a matrix, which is changed."""
        for row in range(matrix.shape[0]):
            values = matrix.data[matrix.indptr[row] : matrix.indptr[row + 1]]
            if len(values) > terms:
                values[np.argsort(-values, kind="stable")[terms:]] = 0
        matrix.data = np.rint(matrix.data * 255) / 255
        matrix.eliminate_zeros()
        return cls(matrix)

    def product(self, vector: Vector) -> Numbers:
        query = np.zeros(self.matrix.shape[1])
        query[vector.columns] = vector.values
        product: Numbers = self.matrix @ query
        return product

    def squares(self) -> Numbers:
        return np.asarray(self.matrix.multiply(self.matrix).sum(axis=1)).ravel()

    def model(self) -> dict[str, object]:
        return {
            "ends": pack(self.matrix.indptr.astype(np.int32)),
            "columns": pack(self.matrix.indices.astype(np.int32)),
            "values": pack(np.rint(self.matrix.data * 255).astype(np.uint8)),
        }

    @classmethod
    def load(cls, model: Mapping[str, Any], terms: int) -> Self:
        ends, columns, values = (unpack(model[name]) for name in ("ends", "columns", "values"))
        import scipy.sparse as sp  # noqa: PLC0415 - most methods predict without it

        matrix = sp.csr_matrix((values / 255, columns, ends), (len(ends) - 1, terms))
        matrix.check_format(full_check=True)
        return cls(matrix)


def share(values: Numbers) -> Numbers:
    total = values.sum()
    return values / total if total > 0 else np.zeros(len(values))


def softmax(values: Numbers) -> Numbers:
    """Return shares that grow with the exponential of `values`.

    >>> softmax(np.array([0.0, 0.0])).tolist()
    [0.5, 0.5]
    """
    grown = np.exp(values - values.max())
    shares: Numbers = grown / grown.sum()
    return shares
