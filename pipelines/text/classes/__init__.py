"""Classes of texts, as "sport" and "finance": one, or several with memberships.

A text becomes a vector (`vectors`) of the terms that tell the classes apart (`selection`); a method learns scores
(`METHODS`), which become memberships (`calibration`). All that was learned is one JSON file (`model`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ...params import fill_params
from . import combined, fuzzy, knn, naive_bayes, structure, svm
from .classifier import Classifier, Training
from .selection import Contingency, Select
from .vectors import Ids, Numbers, Terms, Text, count_features, count_terms, rarity

Weigh = Callable[[Contingency, Ids], Numbers]


def weigh_rarity(table: Contingency, ids: Ids) -> Numbers:
    return rarity(table.with_term, table.documents)


class ClassMethod(NamedTuple):
    """A way to learn classes; `module` is a package of the extra `train` for `fit`.

    With `is_fuzzy` a text has every class above its threshold, also where each text to learn from has one class.
    """

    fit: Callable[[Training, Any], Classifier]
    load: Callable[[Mapping[str, Any], int, int], Classifier]
    params: type
    terms: Callable[[Text], Terms] = count_terms
    select: Select = Select("chi2", 20_000)
    weigh: Weigh = weigh_rarity
    module: str = ""
    is_fuzzy: bool = False


METHODS: Final[Mapping[str, ClassMethod]] = {
    combined.NAME: ClassMethod(
        combined.fit, combined.load, combined.Params, count_features, Select("chi2", 60_000), combined.weigh
    ),
    svm.NAME: ClassMethod(svm.fit, svm.load, svm.Params, module="sklearn"),
    naive_bayes.NAME: ClassMethod(naive_bayes.fit, naive_bayes.load, naive_bayes.Params),
    knn.NAME: ClassMethod(knn.fit, knn.load, knn.Params, select=Select("chi2", 5000)),
    fuzzy.NAME: ClassMethod(fuzzy.fit, fuzzy.load, fuzzy.Params, fuzzy.count_class_words, is_fuzzy=True),
    structure.NAME: ClassMethod(
        structure.fit, structure.load, structure.Params, structure.count_placed, module="sklearn"
    ),
}

DEFAULT: Final = combined.NAME


class Trainer(NamedTuple):
    name: str
    method: ClassMethod
    fit: Callable[[Training], Classifier]


def learner(name: str = DEFAULT, params: Mapping[str, object] | None = None) -> Trainer:
    """Return a method with `params` filled in; `ValueError` lists the right names."""
    if name not in METHODS:
        raise ValueError(f"unknown classifier {name!r}; known: {', '.join(sorted(METHODS))}")
    method = METHODS[name]
    filled = fill_params(method.params, params, f"classifier {name!r}")
    return Trainer(name, method, lambda training: method.fit(training, filled))


__all__ = ["DEFAULT", "METHODS", "ClassMethod", "Classifier", "Text", "Trainer", "Training", "Weigh", "learner"]
