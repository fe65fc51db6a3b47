"""Learning of keywords from texts of which they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..models.arrays import pack
from ..text.analysis import AnalysedText
from ..text.frequencies import Frequencies
from ..text.keywords import bayes, combined
from ..text.keywords.candidates import Floats, KeywordCandidates, find
from ..text.words import english_stem, fold
from .trained import Trained, require

TREES: Final = 120
_RATE: Final = 0.08
_LEAST_LEAF: Final = 40
_L2: Final = 5.0
_ROUNDS: Final = 15
_ARTICLE_WORDS: Final = 200
"""Words from which a text is an article when nobody tells."""
_DECAY: Final = 300.0
"""Strength of the prior that a weight of the regression is zero."""
_GATE_DECAY: Final = 1.0
_SURE: Final = 4.0
"""Logarithm of the odds that a text is of the only kind that was learned from."""


@dataclass(frozen=True, slots=True, eq=False)
class KeywordExample:
    """A text with known keywords: `wanted` is 1 for candidates that are one, else 0."""

    found: KeywordCandidates
    wanted: Floats
    is_article: bool
    weight: float = 1.0


def example(
    text: AnalysedText,
    keys: Iterable[str],
    frequencies: Frequencies,
    weight: float = 1.0,
    is_article: bool | None = None,  # noqa: FBT001 - told by who knows the texts
) -> KeywordExample:
    """Build an example of a text and its keywords, which match by stems."""
    candidates = find(text, frequencies)
    wanted = {normal_form(key) for key in keys}
    right = np.array([normal_form(term) in wanted for term in candidates.terms], float)
    return KeywordExample(candidates, right, len(text) >= _ARTICLE_WORDS if is_article is None else is_article, weight)


def normal_form(term: str) -> str:
    """Return a term without blanks, of English words the stems.

    >>> normal_form("Stone Bridges") == normal_form("stone-bridge")
    True
    """
    return "".join(map(english_stem, "".join(c if c.isalnum() else " " for c in fold(term)).split()))


def learn(method: str, examples: Sequence[KeywordExample]) -> dict[str, Any]:
    """Learn the models of each script, as a file has them: 10 s for 1,000 texts.

    Raises:
        ValueError: the examples of a script have no keyword among their candidates, or nothing else.
    """
    return {"method": method, "scripts": _by_script(examples, LEARNERS[method])}


def _learn_bayes(examples: list[KeywordExample]) -> dict[str, Any]:
    return bayes.learn([(each.found, each.wanted) for each in examples]).model()


def _by_script(
    examples: Sequence[KeywordExample], learn: Callable[[list[KeywordExample]], dict[str, Any]]
) -> dict[str, Any]:
    parts: dict[str, list[KeywordExample]] = {}
    for each in examples:
        if each.found.terms:
            parts.setdefault(each.found.script, []).append(each)
    if not parts:
        raise ValueError("no text has a candidate for a keyword")
    return {script: learn(chosen) for script, chosen in sorted(parts.items())}


def _learn_pair(examples: list[KeywordExample]) -> dict[str, Any]:
    table = np.concatenate([each.found.table for each in examples])
    wanted = np.concatenate([each.wanted for each in examples])
    weight = np.concatenate([np.full(len(each.wanted), each.weight) for each in examples])
    if not 0 < wanted.sum() < len(wanted):
        raise ValueError(f"{int(wanted.sum())} of {len(wanted)} candidates are keywords; some must be, and some not")
    article = np.concatenate([np.full(len(each.wanted), each.is_article) for each in examples])
    return {
        "trees": _learn_trees(table, wanted, weight),
        "regression": _learn_regression(combined.expand(table[article]), wanted[article], weight[article], _DECAY),
        "gate": _learn_gate(examples),
    }


def _learn_gate(examples: list[KeywordExample]) -> dict[str, Any]:
    """Fit the odds that a text is an article; both kinds count the same."""
    features = np.concatenate([combined.style(each.found.table) for each in examples])
    article = np.array([each.is_article for each in examples], float)
    if article.min() == article.max():
        none = _learn_regression(features[:0], article[:0], article[:0], _GATE_DECAY)
        return none | {"base": _SURE if article[0] else -_SURE}
    weight = len(article) / 2 / np.where(article > 0, article.sum(), (1 - article).sum())
    return _learn_regression(features, article, weight, _GATE_DECAY)


def _learn_trees(table: Floats, wanted: Floats, weight: Floats) -> dict[str, Any]:
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - in an extra, for training alone

    model = HistGradientBoostingClassifier(
        max_iter=TREES, learning_rate=_RATE, max_depth=combined.DEPTH, max_leaf_nodes=2**combined.DEPTH,
        min_samples_leaf=_LEAST_LEAF, l2_regularization=_L2, early_stopping=False, random_state=0,
    ).fit(table, wanted, sample_weight=weight)  # fmt: skip
    inner = 2**combined.DEPTH - 1
    shape = len(model._predictors), inner
    columns, borders, leaves = np.zeros(shape, np.int8), np.zeros(shape), np.zeros((shape[0], inner + 1))
    for number, (tree,) in enumerate(model._predictors):  # scikit-learn has no public way to read these trees
        source = {0: 0}
        for node in range(2 * inner + 1):
            old = tree.nodes[source[node]]
            if node >= inner:
                leaves[number, node - inner] = round(float(old["value"]), 4)
                continue
            if old["is_leaf"]:
                source[2 * node + 1] = source[2 * node + 2] = source[node]
                continue
            columns[number, node], borders[number, node] = old["feature_idx"], old["num_threshold"]
            source[2 * node + 1], source[2 * node + 2] = int(old["left"]), int(old["right"])
    base = float(np.ravel(model._baseline_prediction)[0])
    return {"base": round(base, 4), "columns": pack(columns), "borders": pack(borders, 6), "leaves": pack(leaves)}


def _learn_regression(features: Floats, wanted: Floats, weight: Floats, prior: float) -> dict[str, Any]:
    size = features.shape[1]
    if not len(wanted):
        return {
            "mean": pack(np.zeros(size)),
            "scale": pack(np.ones(size)),
            "weights": pack(np.zeros(size)),
            "base": 0.0,
        }
    mean, scale = features.mean(0), features.std(0)
    scale[scale < 1e-9] = 1.0
    rows = np.column_stack((np.ones(len(features)), (features - mean) / scale))
    decay = np.full(rows.shape[1], prior)
    decay[0] = 1e-3
    weights = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        share = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (weight * (wanted - share)) - decay * weights
        weights += np.linalg.solve((rows * (weight * share * (1 - share))[:, None]).T @ rows + np.diag(decay), slope)
    parts = {"mean": mean, "scale": scale, "weights": weights[1:]}
    return {"base": round(float(weights[0]), 4), **{name: pack(values, 5) for name, values in parts.items()}}


LEARNERS: Final[Mapping[str, Callable[[list[KeywordExample]], dict[str, Any]]]] = {
    combined.NAME: _learn_pair,
    bayes.NAME: _learn_bayes,
}


def learn_model(examples: Iterable[KeywordExample], *, method: str) -> Trained:
    if method not in LEARNERS:
        raise ValueError(f"--method is {method!r}; keywords are learned by {' or '.join(LEARNERS)}")
    if method == combined.NAME:
        require("sklearn")
    examples = list(examples)
    return Trained(learn(method, examples), {"keywords": int(sum(each.wanted.sum() for each in examples))})
