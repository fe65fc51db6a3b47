"""Shape of all classifiers: `fit` gives a frozen one, which gives memberships."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from .vectors import Numbers, Space, Text, Vector

if TYPE_CHECKING:
    import scipy.sparse as sp

_STEPS: Final = 127


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Texts with their classes.

    Attributes:
        space: of their vectors.
        texts: as they were given.
        vectors: of the texts.
        wanted: 1 where a text (row) has a class (column), else 0.
        is_single: every text has one class.
    """

    space: Space
    texts: Sequence[Text]
    vectors: Sequence[Vector]
    wanted: Numbers
    is_single: bool

    def matrix(self) -> sp.csr_matrix:
        """Return the unit vectors, a row per text."""
        return self._rows([vector.values for vector in self.vectors])

    def counts(self) -> sp.csr_matrix:
        """Return how often the terms occur, a row per text."""
        return self._rows([vector.counts for vector in self.vectors])

    def part(self, rows: Sequence[int]) -> Training:
        """Return these texts alone."""
        return Training(
            self.space,
            [self.texts[row] for row in rows],
            [self.vectors[row] for row in rows],
            self.wanted[rows],
            self.is_single,
        )

    def _rows(self, values: Sequence[Numbers]) -> sp.csr_matrix:
        ends = np.cumsum([0, *(len(row) for row in values)])
        columns = np.concatenate([np.zeros(0, np.intp), *(vector.columns for vector in self.vectors)])
        shape = (len(self.vectors), len(self.space.ids))
        import scipy.sparse as sp  # noqa: PLC0415 - learning alone needs it, and a worker does not learn

        return sp.csr_matrix((np.concatenate([np.zeros(0), *values]), columns, ends), shape)


class Classifier(Protocol):
    """A model that was learned."""

    def scores(self, text: Text, vector: Vector) -> Numbers:
        """Return a score of each class, higher for those the text has."""

    def model(self) -> dict[str, object]:
        """Return it as JSON can keep it."""


def pack(values: Numbers) -> dict[str, object]:
    """Write a table of numbers in one byte each, scaled by column.

    >>> unpack(pack(np.array([[1.0, -2.0], [0.0, 2.0]])), 2).tolist()
    [[1.0, -2.0], [0.0, 2.0]]
    """
    scale = np.maximum(np.abs(values).max(axis=0, initial=0.0), 1e-12) / _STEPS
    steps = np.rint(values / scale).astype(np.int8)
    return {"scale": [float(f"{one:.7g}") for one in scale], "steps": base64.b64encode(steps.tobytes()).decode()}


def unpack(packed: Mapping[str, Any], rows: int) -> Numbers:
    """Read what `pack` wrote.

    Raises:
        ValueError: it has another number of rows.
    """
    scale = np.array(packed["scale"], np.float64)
    steps = np.frombuffer(base64.b64decode(packed["steps"], validate=True), np.int8)
    return (steps.reshape(rows, len(scale)) * scale).round(12)


def share(values: Numbers) -> Numbers:
    """Divide numbers by their sum; zeros stay."""
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
