"""Selection of features: the terms that tell classes apart, by ten measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from numpy.typing import NDArray

from .vectors import Columns, Numbers

if TYPE_CHECKING:
    import scipy.sparse as sp

UM_LEAST: Final = 0.3
"""Share of a term's occurrences that one class must have."""
_COMBINED_SHARE: Final = 10
"""The combined measures choose among so many times as many terms as are kept: the most frequent ones."""
_COMBINED_LEAST: Final = 1000
_SMOOTH: Final = 0.5
_PRIOR: Final = 2.0
"""Documents that a term is given beside its own, of all classes."""
LISTED: Final = 20


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """Documents, and occurrences of a term (row), in each class (column)."""

    documents: int
    with_term: Numbers
    of_class: Numbers
    both: Numbers
    occurrences: Numbers

    @classmethod
    def of(cls, counts: sp.csr_matrix, wanted: Numbers) -> Contingency:
        """Count a collection: a row a document; `wanted` is 1 where it is of the class."""
        import scipy.sparse as sp  # noqa: PLC0415 - learning alone needs it, and a worker does not learn

        present = sp.csr_matrix((np.ones(counts.nnz), counts.indices, counts.indptr), counts.shape)
        return cls(
            counts.shape[0],
            np.asarray(present.sum(axis=0)).ravel(),
            wanted.sum(axis=0),
            np.asarray(present.T @ wanted),
            np.asarray(counts.T @ wanted),
        )

    def part(self, columns: Columns) -> Self:
        counts = self.with_term[columns], self.of_class, self.both[columns], self.occurrences[columns]
        return type(self)(self.documents, *counts)

    def cells(self) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Return documents with term and class, term alone, class alone, neither."""
        term = self.with_term[:, None]
        return (
            self.both,
            term - self.both,
            self.of_class - self.both,
            self.documents - term - self.of_class + self.both,
        )


def document_frequency(table: Contingency) -> Numbers:
    return table.both


def information_gain(table: Contingency) -> Numbers:
    """Return each class's part in what a term's presence or absence tells, in bits.

    Their sum over the classes is -sum P(c) log P(c) + P(t) sum P(c|t) log P(c|t) + P(not t) sum P(c|not t) log P(c|not
    t), the gain of the paper, where each text has one class.
    """
    with_class, _, class_alone, _ = (cell / max(table.documents, 1) for cell in table.cells())
    term = table.with_term[:, None] / max(table.documents, 1)
    label = with_class + class_alone
    present = _plogp(with_class, with_class / np.maximum(term * label, 1e-12))
    return present + _plogp(class_alone, class_alone / np.maximum((1 - term) * label, 1e-12))


def mutual_information(table: Contingency) -> Numbers:
    """Return log2 P(term, class) / (P(term) P(class)), of smoothed counts."""
    both = table.both + _SMOOTH / max(len(table.of_class), 1)
    expected = (table.with_term[:, None] + _SMOOTH) * table.of_class / max(table.documents, 1)
    scores: Numbers = np.log2(both / np.maximum(expected, 1e-12))
    return scores


def chi_square(table: Contingency) -> Numbers:
    """Return chi-square; negative where the term speaks against the class."""
    both, term, label, neither = table.cells()
    apart = both * neither - term * label
    margins = (both + term) * (label + neither) * (both + label) * (term + neither)
    return table.documents * apart * np.abs(apart) / np.maximum(margins, 1e-12)


def odds_ratio(table: Contingency) -> Numbers:
    """Return the logarithm of the odds of a term inside a class against those outside."""
    both, term, label, neither = (cell + _SMOOTH for cell in table.cells())
    odds: Numbers = np.log2(both * neither / (term * label))
    return odds


def cross_entropy(table: Contingency) -> Numbers:
    """Return P(term) P(class | term) log2 P(class | term) / P(class)."""
    given = table.both / np.maximum(table.with_term[:, None], 1e-12)
    prior = table.of_class / max(table.documents, 1)
    share: Numbers = table.with_term[:, None] / max(table.documents, 1)
    return share * _plogp(given, given / np.maximum(prior, 1e-12))


def uncertainty(table: Contingency) -> Numbers:
    """Return tf(t, c) / tf(t), UM(term, class) of S23."""
    shares: Numbers = table.occurrences / np.maximum(table.occurrences.sum(axis=1, keepdims=True), 1e-12)
    return shares


def information(table: Contingency) -> Numbers:
    """Return how sure a term makes of the class, in [0, 1].

    It is one less the entropy of its documents over the classes, in shares of the greatest. Classes count as
    if they had equally many documents; a term of few documents is drawn towards 0.
    """
    prior = table.of_class / max(table.of_class.sum(), 1)
    given = (table.both + _PRIOR * prior) / np.maximum(prior, 1e-12)
    shares = given / np.maximum(given.sum(axis=1, keepdims=True), 1e-12)
    sureness: Numbers = 1 + _plogp(shares, shares).sum(axis=1) / np.log2(max(len(prior), 2))
    return sureness


def _plogp(share: Numbers, ratio: Numbers) -> Numbers:
    product: Numbers = share * np.log2(np.maximum(ratio, 1e-12))
    return product


Score = Callable[[Contingency], Numbers]


def _weighted_sum(scores: Numbers, table: Contingency) -> Numbers:
    total: Numbers = np.maximum(scores, 0).sum(axis=1)
    return total


def _sum(scores: Numbers, table: Contingency) -> Numbers:
    total: Numbers = scores.sum(axis=1)
    return total


def _mean(scores: Numbers, table: Contingency) -> Numbers:
    mean: Numbers = scores @ (table.of_class / max(table.of_class.sum(), 1))
    return mean


def _most(scores: Numbers, table: Contingency) -> Numbers:
    most: Numbers = scores.max(axis=1)
    return most


def _sure(scores: Numbers, table: Contingency) -> Numbers:
    sure = scores.max(axis=1)
    return np.where(sure >= UM_LEAST, sure * np.log1p(table.with_term), 0.0)


def _in_turn(scores: Numbers, table: Contingency) -> Numbers:
    order = np.argsort(-scores, axis=0, kind="stable")
    ranks = np.empty(scores.shape)
    np.put_along_axis(ranks, order, np.arange(len(scores), dtype=np.float64)[:, None], axis=0)
    first: Numbers = ranks.min(axis=1, initial=len(scores))
    return -first


@dataclass(frozen=True, slots=True)
class Measure:
    score: Score
    join: Callable[[Numbers, Contingency], Numbers] = _most
    is_combined: bool = False


MEASURES: Final[Mapping[str, Measure]] = {
    "df": Measure(document_frequency, lambda _, table: table.with_term),
    "ig": Measure(information_gain, _sum),
    "mi": Measure(mutual_information),
    "mi_mean": Measure(mutual_information, _mean),
    "chi2": Measure(chi_square),
    "odds": Measure(odds_ratio),
    "entropy": Measure(cross_entropy, _weighted_sum),
    "um": Measure(uncertainty, _sure),
    "df+ig": Measure(information_gain, _sum, is_combined=True),
    "df+chi2": Measure(chi_square, _in_turn, is_combined=True),
}


@dataclass(frozen=True, slots=True)
class Select:
    measure: str = "df+chi2"
    count: int = 2000

    def __str__(self) -> str:
        return f"{self.measure}:{self.count}"


def read_select(text: str) -> Select:
    """Read a selection as users write it.

    Raises:
        ValueError: saying what is allowed.

    >>> read_select("chi2:500")
    Select(measure='chi2', count=500)
    """
    name, _, count = text.strip().partition(":")
    if name not in MEASURES:
        raise ValueError(f"selection {text!r} names no measure; known: {', '.join(MEASURES)}, as in chi2:2000")
    if count and (not count.isdecimal() or not count.isascii() or not 0 < int(count) <= 1_000_000):
        raise ValueError(f"selection {text!r} keeps {count!r} terms; it takes a number from 1 to 1000000: chi2:2000")
    return Select(name, int(count)) if count else Select(name)


def select(table: Contingency, wanted: Select) -> Columns:
    """Return the columns of the best terms, best first.

    The combined measures look at the frequent terms alone: information gain and chi-square overrate rare ones when
    there are few documents. df+chi2 takes the best term of each class in turn: else easy classes get nearly all.

    Source: S23 (DF, IG, MI, chi-square, odds ratio, cross entropy, UM, combined).
    Differs: UM alone ranks thousands of words of one document first; here it is multiplied with the logarithm of
    their documents. The paper's size of the first step of the combined selection is lost: here it is ten times the
    second's; and it takes no turns. A text of several classes counts in each.
    """
    measure = MEASURES[wanted.measure]
    columns = np.flatnonzero(table.with_term > 0)
    if measure.is_combined:
        first = max(_COMBINED_SHARE * wanted.count, _COMBINED_LEAST)
        columns = np.sort(columns[np.argsort(-table.with_term[columns], kind="stable")[:first]])
    part = table.part(columns)
    value = measure.join(measure.score(part), part)
    return columns[np.argsort(-value, kind="stable")[: wanted.count]]


@dataclass(frozen=True, slots=True)
class Chosen:
    column: int
    score: float
    documents: int


ChosenByClass = dict[str, tuple[int, list[Chosen]]]


def report(
    table: Contingency, columns: Columns, labels: Sequence[str], measure: str, first: NDArray[np.bool_]
) -> ChosenByClass:
    """Map each class to its number of telling terms and the best, `first` ones ahead.

    A term tells of the class of its best score, of those in which it is not rarer than elsewhere.
    """
    scores = MEASURES[measure].score(table)[columns]
    part = table.part(columns)
    is_telling = part.both * part.documents >= part.with_term[:, None] * part.of_class
    best = np.where(is_telling, scores, scores.min(initial=0.0) - 1).argmax(axis=1)
    by_class: ChosenByClass = {}
    for number, label in enumerate(labels):
        of_class, values = columns[best == number], scores[best == number, number]
        listed = np.lexsort((-values, ~first[of_class]))[:LISTED].tolist()
        by_class[label] = (
            len(of_class),
            [Chosen(int(of_class[n]), float(values[n]), int(table.with_term[of_class[n]])) for n in listed],
        )
    return by_class
