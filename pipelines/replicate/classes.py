"""Features and classifiers of texts (S23), fuzzy classes (S24), structure (S25)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..document.document import parse
from ..metadata.language import detect
from ..text.classes import Trainer, learner
from ..text.classes.classifier import Classifier, Training
from ..text.classes.selection import Select
from ..text.classes.structure import place
from ..text.classes.vectors import Terms, Text
from ..training.classes import LabelledText, deal, learn
from ..training.trained import require
from .table import Replication, Row, f_score

MOST: Final = 1500
"""Texts of an experiment; of more a sample is drawn."""
_TERMS: Final = 1000
_TYPE: Final = "text/html; charset=utf-8"
_MEASURES: Final = ("df", "ig", "chi2", "um", "df+ig", "df+chi2")
_CLASSIFIERS: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "kNN": ("knn", {}),
    "naive Bayes": ("naive_bayes", {}),
    "SVM": ("svm", {}),
}
_METHODS: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "fuzzy (S24)": ("fuzzy", {}),
    "structure (S25), support vector machine": ("structure", {}),
    "structure (S25), nearest core": ("structure", {"by": "nearest"}),
    "combined": ("combined", {}),
    "svm, gaussian (S23)": ("svm", {}),
    "svm, linear": ("svm", {"kernel": "linear"}),
    "knn, equal votes (S23)": ("knn", {}),
    "knn, votes by cosine": ("knn", {"votes": "cosine"}),
}


def features(material: Sequence[Mapping[str, Any]], seed: int) -> Replication:
    """Compare selections of features under three classifiers: macro-F1, CPU seconds.

    Every text is judged by what was learned, terms included, from the other three of four folds; the seconds are those
    of the five trainings of the classifier alone.

    Raises:
        ValueError: the texts have no two classes.

    Source: 代六玲 et al. and the measure UM (S23).
    """
    require("sklearn")
    texts = _texts(material, seed)
    rows: list[Row] = []
    for name, (method, params) in _CLASSIFIERS.items():
        trainer = learner(method, params)
        cached = _cached(trainer)
        for measure in _MEASURES:
            clock = _Clock(cached)
            told = _told(texts, clock.trainer, Select(measure, _TERMS))
            rows.append(Row(f"{name}, {measure}", {"F1": macro_f1(texts, told), "CPU s": clock.seconds}))
    notes = [
        f"{len(texts)} texts, {_TERMS} terms, four folds by source.",
        "The digits of the paper are lost: it finds that document frequency first, then gain or chi-square, is best, "
        "and trains several times faster.",
        "um chooses words of which one class has .3 of the occurrences, and weighs by them.",
    ]
    return Replication("S23", rows, notes)


def classes(material: Sequence[Mapping[str, Any]], seed: int) -> Replication:
    """Compare classifiers: macro-F1, shares of texts with no class, one, and several.

    In each of four folds the method learns, with its thresholds, from the texts of the others alone.

    Raises:
        ValueError: the texts have no two classes.

    Source: 张义忠 et al. (S24), 袁家政 et al. (S25).
    """
    require("sklearn")
    texts = _texts(material, seed)
    folds = deal([one.text for one in texts], [one.source for one in texts])
    rows: list[Row] = []
    for name, (method, params) in _METHODS.items():
        trainer = _cached(learner(method, params))
        told: list[tuple[str, ...]] = [()] * len(texts)
        for fold in range(int(folds.max()) + 1):
            others = [texts[number] for number in np.flatnonzero(folds != fold)]
            model = learn(
                [one.text for one in others],
                [one.labels for one in others],
                trainer,
                sources=[one.source for one in others],
            ).model
            for number in np.flatnonzero(folds == fold).tolist():
                told[number] = model.predict(texts[number].text).names
        sizes = Counter(min(len(names), 2) for names in told)
        shares = {name: sizes[size] / len(told) for size, name in enumerate(("none", "one", "several"))}
        rows.append(Row(name, {"F1": macro_f1(texts, told), **shares}))
    pages = sum(bool(one.text.edges) for one in texts)
    notes = [
        f"{len(texts)} texts, {pages} of them with their page, four folds by source.",
        "The pages of the papers (travel sites; XML documents) are not at hand, and their figures are lost.",
    ]
    return Replication("S24, S25", rows, notes)


def macro_f1(texts: Sequence[LabelledText], told: Sequence[Sequence[str]]) -> float:
    """Return the mean F1 of the classes that the texts have.

    >>> texts = [LabelledText(Text("", ""), (label,), "") for label in "aab"]
    >>> macro_f1(texts, [("a",), ("b",), ("a", "b")])  # a: one of two, one of two; b: one of two, one of one
    0.5833333333333333
    """
    wanted = Counter(label for one in texts for label in one.labels)
    given = Counter(name for names in told for name in names)
    right = Counter(name for one, names in zip(texts, told, strict=True) for name in set(names) & set(one.labels))
    scores = [f_score(right[name] / max(given[name], 1), right[name] / wanted[name]) for name in wanted]
    return sum(scores) / len(scores)


def _told(texts: Sequence[LabelledText], trainer: Trainer, select: Select) -> list[tuple[str, ...]]:
    labels, sources = [one.labels for one in texts], [one.source for one in texts]
    return learn([one.text for one in texts], labels, trainer, select, sources=sources).told


def _texts(material: Sequence[Mapping[str, Any]], seed: int) -> list[LabelledText]:
    texts: list[LabelledText] = []
    rows = [row for row in material if row.get("labels") or row.get("label")]
    if len(rows) > MOST:
        rows = [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))[:MOST]]
    for row in rows:
        labels = row.get("labels") or [row["label"]]
        title, body = str(row.get("title") or ""), str(row.get("text") or "")
        text = (
            place(parse(row["html"].encode("utf-8", "replace"), "", _TYPE), title, body)
            if row.get("html")
            else Text(title, body)
        )
        language = str(row.get("language") or detect(body or title))
        source = str(row.get("source") or "")
        texts.append(LabelledText(text._replace(language=language), tuple(map(str, labels)), source))
    names = sorted({label for one in texts for label in one.labels})
    if len(names) < 2:
        raise ValueError(f"the texts have the classes {names}; give rows with label, of two classes or more")
    return texts


def _cached(trainer: Trainer) -> Trainer:
    """Return a trainer that counts the terms of each text once."""
    terms: dict[int, Terms] = {}
    count = trainer.method.terms

    def counted(text: Text) -> Terms:
        if id(text) not in terms:
            terms[id(text)] = count(text)
        return terms[id(text)]

    return trainer._replace(method=trainer.method._replace(terms=counted))


class _Clock:
    """A trainer that adds up the seconds of CPU of its trainings."""

    def __init__(self, trainer: Trainer) -> None:
        self.seconds = 0.0
        self._fit = trainer.fit
        self.trainer = trainer._replace(fit=self._timed)

    def _timed(self, training: Training) -> Classifier:
        since = time.process_time()
        try:
            return self._fit(training)
        finally:
            self.seconds += time.process_time() - since
