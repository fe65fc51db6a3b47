"""Fuzzy classes: words belong to classes by degrees, and so do texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..words import MAX_CHARS, fold
from .classifier import Classifier, Steps, Training, share
from .selection import UM_LEAST, Contingency, uncertainty
from .vectors import Numbers, Terms, Text, Vector, as_terms, count_words, hash_words, words_of

NAME: Final = "fuzzy"
_KEY_WEIGHT: Final = 2
"""Further occurrences that a word of a key sentence counts for."""
_SENTENCE: Final = re.compile(r"[^。！？!?\n]+")
_KEY: Final = re.compile(
    r"关键在于|关键是|旨在|目的在于|重点在于|核心在于|\b(?:the key (?:is|to)|aims? (?:to|at)|aimed at)\b"
)
"""Cues of key sentences in a folded text."""


@dataclass(frozen=True, slots=True)
class Params:
    """Least membership of a class's word, and occurrences given to each (smoothing)."""

    least: float = UM_LEAST
    smooth: float = 0.5


def count_class_words(text: Text) -> Terms:
    """Count words; those of title, headings, bold type and key sentences count more."""
    counts = count_words(text)
    for sentence in filter(_KEY.search, _SENTENCE.findall(fold(text.text[:MAX_CHARS]))):
        for word in words_of(sentence):
            counts[word] = counts.get(word, 0.0) + _KEY_WEIGHT
    return as_terms(counts)


@dataclass(frozen=True, slots=True, eq=False)
class _FuzzyClasses:
    """Membership of each word (row) in each class; 0 where it is no word of the class.

    `synonyms` are pairs of rows with their closeness, the closest first.
    """

    words: Numbers
    synonyms: Sequence[tuple[int, int, float]]

    def scores(self, text: Text, vector: Vector) -> Numbers:
        """Return the mean membership of the text's words, weighted by counts, as shares."""
        return share(self._merged(vector) @ self.words[vector.columns])

    def _merged(self, vector: Vector) -> Numbers:
        """Return the counts, those of synonyms added to that of the most frequent one."""
        if not self.synonyms:
            return vector.counts
        place = {column: number for number, column in enumerate(vector.columns.tolist())}
        counts = vector.counts.copy()
        for first, second, closeness in self.synonyms:
            pair = [place[column] for column in (first, second) if column in place]
            if len(pair) == 2 and counts[pair].all():
                kept, other = pair if counts[pair[0]] >= counts[pair[1]] else reversed(pair)
                counts[kept] += closeness * counts[other]
                counts[other] = 0
        return counts

    def model(self) -> dict[str, object]:
        return {"words": Steps.of(self.words).model(), "synonyms": [list(pair) for pair in self.synonyms]}


def fit(training: Training, params: Params) -> Classifier:
    """Give each word its membership in each class: the share of its occurrences there.

    A text belongs to every class whose threshold it reaches: to none, one or several, also where each text to learn
    from has one. Of synonyms in a text the most frequent keeps its count and gets theirs, times their closeness.

    Source: S24. Words of the title, of headings and of emphasised text (`vectors.TAG_WEIGHTS`) and of key sentences
    count several times.
    Differs: the numbers of the paper are lost, and its further cues of key sentences: weights and cues are ours. The
    occurrences are divided by those of all words of the class, so that big classes have no advantage. Each class has a
    threshold of its own, that of the best F1 of held-out texts, on memberships that were calibrated. Words are cut by
    the dictionary of the project instead of by maximum matching in both directions. The dictionary of class words is
    learned anew only when the model is.
    """
    table = Contingency.of(training.counts(), training.wanted)
    sizes = np.maximum(table.occurrences.sum(axis=0), 1)
    rates = table.occurrences / sizes + params.smooth / sizes.mean()
    degrees = uncertainty(Contingency(table.documents, table.with_term, table.of_class, table.both, rates))
    return _FuzzyClasses(np.where(degrees >= params.least, degrees, 0.0), _columns(training))


def _columns(training: Training) -> list[tuple[int, int, float]]:
    column_of = {number: column for column, number in enumerate(training.space.ids.tolist())}
    pairs: list[tuple[int, int, float]] = []
    for words, closeness in sorted(training.synonyms.items(), key=lambda item: (-item[1], item[0])):
        first, second = (column_of.get(number) for number in hash_words(words))
        if first is not None and second is not None and first != second:
            pairs.append((first, second, closeness))
    return pairs


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    pairs = [(int(first), int(second), float(closeness)) for first, second, closeness in model.get("synonyms", [])]
    if not all(min(pair[:2]) >= 0 and max(pair[:2]) < terms and 0 < pair[2] <= 1 for pair in pairs):
        raise ValueError("its synonyms are of words that it does not have")
    return _FuzzyClasses(Steps.load(model["words"], terms).values(), pairs)
