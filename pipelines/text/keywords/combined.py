"""Keywords by all features, weighed by trees and a regression: the default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from ...models.arrays import unpack
from ...models.files import load
from ..analysis import AnalysedText
from ..frequencies import Frequencies
from .candidates import COLUMNS, Floats, Ints, KeywordCandidates, find

NAME = "combined"
DEPTH: Final = 3
"""Questions that each tree asks."""
_KINDS: Final = ((1,), (2,), (23,), (20, 21, 22), *((number,) for number in range(31, 38)))
"""Kinds of words that count as one as the last and first of a phrase: noun, verb, verbal noun, name, endings."""
_IS_KIND: Final = np.array([[number in kinds for kinds in _KINDS] for number in range(40)], float)


@dataclass(frozen=True, slots=True)
class Params:
    """Weight of the trees beside the regression, for articles."""

    trees: float = 0.6


DEFAULTS = Params()


@dataclass(frozen=True, slots=True, eq=False)
class _BoostedTrees:
    """Boosted trees, all of them `DEPTH` deep.

    Attributes:
        asked: the column that each different question asks about.
        limits: a value above it is answered by 1, a row a question.
        questions: of the inner nodes of each tree, level by level; a row a node, a column a tree.
        leaves: what each leaf adds to the logarithm of the odds, a row a tree.
    """

    asked: Ints
    limits: Floats
    questions: Ints
    leaves: Floats
    base: float

    @classmethod
    def of(cls, columns: Ints, borders: Floats, leaves: Floats, base: float) -> Self:
        """Build trees of columns and borders; `ValueError` if they do not fit."""
        inner = 2**DEPTH - 1
        if not columns.shape == borders.shape == (len(leaves), inner) or leaves.shape[1:] != (inner + 1,):
            raise ValueError(f"trees have {columns.shape} nodes, {borders.shape} borders, {leaves.shape} leaves")
        if columns.min() < 0 or columns.max() >= len(COLUMNS):
            raise ValueError(f"columns go from 0 to {len(COLUMNS) - 1}")
        pairs = np.stack((columns.T.ravel(), borders.T.ravel()))
        different, questions = np.unique(pairs, axis=1, return_inverse=True)
        return cls(different[0].astype(int), different[1][:, None], questions.reshape(columns.T.shape), leaves, base)

    def log_odds(self, table: Floats) -> Floats:
        answers = (table.T[self.asked] > self.limits).view(np.int8)[self.questions]
        last = 2 ** (DEPTH - 1)
        leaf = 2 * np.arange(last, dtype=np.int8)[:, None, None] + answers[last - 1 :]
        for level in reversed(range(DEPTH - 1)):
            leaf = np.where(answers[2**level - 1 : 2 ** (level + 1) - 1], leaf[1::2], leaf[::2])
        every = 2**DEPTH * np.arange(len(self.leaves))[:, None]
        odds: Floats = self.base + self.leaves.ravel().take(leaf[0] + every).sum(0)
        return odds


@dataclass(frozen=True, slots=True, eq=False)
class _Regression:
    mean: Floats
    scale: Floats
    weights: Floats
    base: float

    def log_odds(self, features: Floats) -> Floats:
        odds: Floats = self.base + (features - self.mean) / self.scale @ self.weights
        return odds


@dataclass(frozen=True, slots=True, eq=False)
class _KeywordModel:
    """Models of one script; the gate gives the odds of an article and no abstract."""

    trees: _BoostedTrees
    regression: _Regression
    gate: _Regression


Models = Mapping[str, _KeywordModel]


def extract(text: AnalysedText, frequencies: Frequencies, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    """Return (term, probability) of the candidates of a text, the likeliest first.

    Cost:    O(words); 1.5 ms for 1,000 Chinese characters.
    Source:  own. Features of S21 (degree in the network of words) and S22 (TF x IDF, first occurrence, length,
             coherence), beside title, spread, parts of speech, capitals, quotation marks and what stands around a term.
             Boosted trees: J. Friedman, Greedy function approximation, 2001.
    """
    return rank(find(text, frequencies), shipped(), params)


def rank(candidates: KeywordCandidates, models: Models, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    if not candidates.terms:
        return []
    model = models.get(candidates.script) or next(iter(models.values()))
    article = 1 / (1 + np.exp(-model.gate.log_odds(style(candidates.table))))
    odds = (1 - article + article * params.trees) * model.trees.log_odds(candidates.table)
    odds += article * model.regression.log_odds(expand(candidates.table))
    return candidates.rank(1 / (1 + np.exp(-odds)))


def style(table: Floats) -> Floats:
    row = dict(zip(COLUMNS, table[0].tolist(), strict=True))
    words = row["text_words"]
    return np.array(
        [[words, words - math.log(row["text_sentences"]), row["text_idf"], row["text_capital"], row["text_phrases"]]]
    )


def expand(table: Floats) -> Floats:
    column = dict(zip(COLUMNS, table.T, strict=True))
    chars = column["chars"]
    return np.column_stack(
        (
            column["tf"],
            np.log(column["tfidf"] + 1e-3),
            column["idf_mean"],
            column["in_title"],
            np.log(column["first"] + 0.01),
            column["lead"],
            column["words"] == 1,
            np.minimum(chars, 8),
            chars == 2,
            chars == 3,
            column["inside_longer"],
            column["acronym"],
            column["opening"],
            _IS_KIND[column["right"].astype(int)],
            _IS_KIND[column["left"].astype(int)],
        )
    )


def shipped() -> Models:
    return load("keywords", read)


def read(model: Mapping[str, Any]) -> Models:
    """Read the models of a file, by script; `ValueError` if they are none."""
    nothing = np.ones((1, len(COLUMNS)))
    try:
        models = {
            script: _KeywordModel(
                _read_trees(each["trees"]),
                _read_regression(each["regression"], expand(nothing)),
                _read_regression(each["gate"], style(nothing)),
            )
            for script, each in model["scripts"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        models = {}
    if not models:
        raise ValueError(f"no model of keywords by {NAME}: make it anew with scrapy train keywords")
    return models


def _read_trees(values: Mapping[str, Any]) -> _BoostedTrees:
    return _BoostedTrees.of(
        unpack(values["columns"]).astype(int),
        unpack(values["borders"]),
        unpack(values["leaves"]),
        float(values["base"]),
    )


def _read_regression(values: Mapping[str, Any], features: Floats) -> _Regression:
    mean, scale, weights = (unpack(values[name]) for name in ("mean", "scale", "weights"))
    if not mean.shape == scale.shape == weights.shape == features.shape[1:]:
        raise ValueError(f"a regression has {mean.shape} means, {scale.shape} scales, {weights.shape} weights")
    return _Regression(mean, scale, weights, float(values["base"]))
