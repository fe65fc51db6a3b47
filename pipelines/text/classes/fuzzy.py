"""Fuzzy classes: words belong to classes by degrees, and so do texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .classifier import Classifier, Steps, Training, share
from .selection import UM_LEAST, Contingency, uncertainty
from .vectors import Numbers, Text, Vector

NAME: Final = "fuzzy"


@dataclass(frozen=True, slots=True)
class Params:
    """Least membership of a class's word, and occurrences given to each (smoothing)."""

    least: float = UM_LEAST
    smooth: float = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _FuzzyClasses:
    """Membership of each word (row) in each class; 0 where it is no word of the class."""

    words: Numbers

    def scores(self, text: Text, vector: Vector) -> Numbers:
        """Return the weighted mean membership of the text's words, as shares."""
        return share(vector.values @ self.words[vector.columns])

    def model(self) -> dict[str, object]:
        return {"words": Steps.of(self.words).model()}


def fit(training: Training, params: Params) -> Classifier:
    """Give each word its membership in each class: the share of its occurrences there.

    Source: S24. Words of the title, of headings and of emphasised text count several times (`vectors.TAG_WEIGHTS`).
    Differs: the occurrences are divided by those of all words of the class, so that big classes have no advantage; a
    word's weight in a text is its sublinear count times its rarity; P(word in class) is the membership of the class
    word.
    """
    table = Contingency.of(training.counts(), training.wanted)
    sizes = np.maximum(table.occurrences.sum(axis=0), 1)
    rates = table.occurrences / sizes + params.smooth / sizes.mean()
    degrees = uncertainty(Contingency(table.documents, table.with_term, table.of_class, table.both, rates))
    return _FuzzyClasses(np.where(degrees >= params.least, degrees, 0.0))


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    return _FuzzyClasses(Steps.load(model["words"], terms).values())
