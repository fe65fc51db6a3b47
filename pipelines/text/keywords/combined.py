"""Keywords by all features, weighed by trees and a regression: the default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..analysis import Analysis
from ..frequencies import Frequencies
from .candidates import COLUMNS, Floats, Ints, KeywordCandidates, find

NAME = "combined"
MODEL: Final = Path(__file__).with_name("combined.json")
DEPTH: Final = 3
"""Questions that each tree asks."""
MIDDLE_WORDS: Final = 200.0
_SLOPE: Final = 6.0
"""Texts of more words than the middle are weighed as articles, shorter ones as abstracts; near it both count."""
_KINDS: Final = ((1,), (2,), (23,), (20, 21, 22), *((number,) for number in range(31, 38)))
"""Kinds of words that count as one as the last and first of a phrase: noun, verb, verbal noun, name, endings."""
_IS_KIND: Final = np.array([[number in kinds for kinds in _KINDS] for number in range(40)], float)


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of `combined`.

    Attributes:
        trees: weight of the trees beside the regression, for articles.
    """

    trees: float = 0.3


DEFAULTS = Params()


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """Boosted trees, all of them `DEPTH` deep.

    Attributes:
        columns: which column each inner node asks about; a row a tree, its nodes level by level.
        borders: a value above goes to the right.
        leaves: what each leaf adds to the logarithm of the odds.
        base: that of a candidate of which nothing is known.
    """

    columns: Ints
    borders: Floats
    leaves: Floats
    base: float

    def log_odds(self, table: Floats) -> Floats:
        """Return the logarithm of the odds of each row of a table."""
        inner = self.columns.shape[1]
        tree = inner * np.arange(len(self.columns))
        row = table.shape[1] * np.arange(len(table))[:, None]
        columns, borders, values = self.columns.ravel(), self.borders.ravel(), np.ravel(table)
        node = np.zeros((len(table), len(tree)), np.int64)
        for _ in range(DEPTH):
            at = tree + node
            node += node + 1 + (values.take(row + columns.take(at)) > borders.take(at))
        leaf = node - inner + (inner + 1) * np.arange(len(tree))
        found: Floats = self.base + self.leaves.ravel().take(leaf).sum(1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Logistic regression over `expand`.

    Attributes:
        mean, scale: of each feature in training.
        weights: of the features so scaled.
        base: logarithm of the odds of a candidate where all features have their mean.
    """

    mean: Floats
    scale: Floats
    weights: Floats
    base: float

    def log_odds(self, table: Floats) -> Floats:
        """Return the logarithm of the odds of each row of a table."""
        found: Floats = self.base + (expand(table) - self.mean) / self.scale @ self.weights
        return found


Models = Mapping[str, tuple[BoostedTrees, Regression]]
"""By script."""


def extract(text: Analysis, frequencies: Frequencies, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    """Return the candidates of a text by the probability that they are keywords.

    Args:
        text: the analysed text.
        frequencies: how rare terms are.
        params: see `Params`.

    Returns:
        (term, probability), the likeliest first.

    Cost:    O(words); 1.5 ms for 1,000 Chinese characters.
    Source:  own. Features of S21 (degree in the network of words) and S22 (TF x IDF, first occurrence, length,
             coherence), beside title, spread, parts of speech, capitals, quotation marks and what stands around a term.
             Boosted trees: J. Friedman, Greedy function approximation, 2001.
    """
    return rank(find(text, frequencies), load(), params)


def rank(found: KeywordCandidates, models: Models, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    """Return the candidates by their probability under the models of their script."""
    if not found.terms:
        return []
    trees, regression = models.get(found.script) or next(iter(models.values()))
    long = is_article(found.table)
    share = 1 - long + long * params.trees
    odds = share * trees.log_odds(found.table) + long * regression.log_odds(found.table)
    return found.rank(1 / (1 + np.exp(-odds)))


def is_article(table: Floats, middle_words: float = MIDDLE_WORDS) -> Floats:
    """Return how much each row is weighed as of an article, in (0, 1)."""
    length = table[:, COLUMNS.index("text_words")]
    found: Floats = 1 / (1 + np.exp(-_SLOPE * (length - np.log(middle_words))))
    return found


def expand(table: Floats) -> Floats:
    """Return the features of the regression."""
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
            _IS_KIND[column["right"].astype(int)],
            _IS_KIND[column["left"].astype(int)],
        )
    )


@cache
def load(path: Path = MODEL) -> Models:
    """Load the shipped models."""
    return read(json.loads(path.read_text(encoding="utf-8"))["models"])


def read(models: Mapping[str, Any]) -> Models:
    """Return the models of plain values.

    Raises:
        ValueError: they are none.
    """
    try:
        found = {
            script: (
                BoostedTrees(
                    np.array(each["trees"]["columns"], int),
                    np.array(each["trees"]["borders"], float),
                    np.array(each["trees"]["leaves"], float),
                    float(each["trees"]["base"]),
                ),
                Regression(
                    np.array(each["regression"]["mean"], float),
                    np.array(each["regression"]["scale"], float),
                    np.array(each["regression"]["weights"], float),
                    float(each["regression"]["base"]),
                ),
            )
            for script, each in models.items()
        }
        inner = 2**DEPTH - 1
        features = expand(np.zeros((1, len(COLUMNS)))).shape[1]
        fits = bool(found) and all(
            trees.columns.shape == trees.borders.shape == (len(trees.leaves), inner)
            and trees.leaves.shape[1:] == (inner + 1,)
            and (trees.columns >= 0).all()
            and (trees.columns < len(COLUMNS)).all()
            and regression.mean.shape == regression.scale.shape == regression.weights.shape == (features,)
            for trees, regression in found.values()
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise ValueError(f"no model of keywords by {NAME}: make it anew with scrapy train keywords")
    return found
