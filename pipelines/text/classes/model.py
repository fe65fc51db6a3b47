"""Model of classes: learned from labelled texts, kept as versioned JSON."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from ..model_file import VERSION, ModelError, load, refused_if_broken
from . import METHODS, Trainer, Weigh, learner
from .calibration import Calibration, calibrate
from .classifier import Classifier, Training, pack, unpack
from .selection import Chosen, Contingency, Select, report, select, uncertainty
from .vectors import Numbers, Space, Terms, Text, is_word, spell

KIND: Final = "classes"
SECTIONS: Final = Path(__file__).with_name("sections.json")
MOST_CLASSES: Final = 500
_FOLDS: Final = 4
_LEAST_TEXTS: Final = 2
_SMALL: Final = 50
"""Texts from which a term must stand in two of them."""


class TextClasses(NamedTuple):
    """Classes of a text.

    Attributes:
        names: its classes, best first; may be empty.
        memberships: every class of the model -> how far the text belongs to it, in [0, 1], best first; empty when the
            text has nothing that the model knows.
    """

    names: tuple[str, ...] = ()
    memberships: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True, eq=False)
class ClassModel:
    """A model that was learned.

    Attributes:
        method: key of `METHODS`.
        labels: names of the classes.
        space: of the vectors.
        classifier: gives scores.
        calibration: makes memberships of them.
    """

    method: str
    labels: tuple[str, ...]
    space: Space
    classifier: Classifier
    calibration: Calibration

    def predict(self, text: Text) -> TextClasses:
        """Return the classes of a text.

        A model of texts with one class each gives the best one, if it is likely enough; one of several classes those
        above their thresholds.

        Cost: O(characters), 1 ms for 1,000 Chinese ones.
        """
        vector = self.space.vector(METHODS[self.method].terms(text))
        if not len(vector.columns):
            return TextClasses()
        degrees = self.calibration.memberships(self.classifier.scores(text, vector))
        order = np.argsort(-degrees, kind="stable").tolist()
        memberships = {self.labels[number]: round(float(degrees[number]), 4) for number in order}
        chosen = self.calibration.chosen(degrees[None])[0]
        return TextClasses(tuple(self.labels[number] for number in order if chosen[number]), memberships)

    def model(self) -> dict[str, object]:
        """Return the model as JSON can keep it, the same for the same texts."""
        return {
            "kind": KIND,
            "version": VERSION,
            "method": self.method,
            "labels": list(self.labels),
            "terms": base64.b64encode(self.space.ids.astype("<u4").tobytes()).decode(),
            "weights": pack(self.space.weights[:, None]),
            "classifier": self.classifier.model(),
            "calibration": self.calibration.model(),
        }


def read(found: Mapping[str, Any], name: str) -> ClassModel:
    """Return the model that `ClassModel.model` described.

    Args:
        found: from `model_file.load`.
        name: of the file, for messages.

    Raises:
        ModelError: it is broken.
    """
    with refused_if_broken(name):
        return _model(found)


@cache
def shipped() -> ClassModel:
    """Return the shipped model of news sections, Chinese and English."""
    return read(load(SECTIONS, KIND), SECTIONS.name)


def _model(found: Mapping[str, Any]) -> ClassModel:
    """Build a model, checking that its parts fit."""
    labels = tuple(found["labels"])
    ids = np.frombuffer(base64.b64decode(found["terms"], validate=True), "<u4").astype(np.uint32)
    if not labels or len(set(labels)) != len(labels) or not all(isinstance(label, str) for label in labels):
        raise ValueError("its classes have no names")
    space = Space(ids, unpack(found["weights"], len(ids))[:, 0])
    method = found["method"]
    if method not in METHODS:
        raise ValueError(f"its method {method!r} is unknown")
    classifier = METHODS[method].load(found["classifier"], len(ids), len(labels))
    model = ClassModel(method, labels, space, classifier, Calibration.of(found["calibration"]))
    rows = (model.calibration.slope, model.calibration.offset, model.calibration.threshold)
    probe = classifier.scores(Text("", ""), space.vector(Terms(ids[:1], np.ones(1))))
    if any(row.shape != (len(labels),) or not np.isfinite(row).all() for row in (*rows, probe)):
        raise ValueError("its numbers do not fit its classes")
    return model


def learn(
    texts: Sequence[Text],
    labels: Sequence[Iterable[str]],
    by: Trainer | None = None,
    wanted: Select | None = None,
    least: float = 0.0,
) -> tuple[ClassModel, list[dict[str, object]]]:
    """Learn classes from labelled texts.

    Args:
        texts: to learn from.
        labels: the classes of each, none, one or several.
        by: the method, by default the combined one.
        wanted: which terms are kept; by default as the method says.
        least: membership below which a text has no class, where texts have one class each.

    Returns:
        The model, and its report: for each class the terms chosen for it (`selection.report`), and its F1 in texts
        that were held out.

    Raises:
        ModelError: there are no two classes, too many, or no terms.

    Cost: five trainings: one, and four whose scores of texts that were held out make the memberships.
    """
    by = by or learner()
    names = sorted({name for own in labels for name in own})
    _check(texts, labels, names)
    where = {name: number for number, name in enumerate(names)}
    table_of = np.zeros((len(texts), len(names)))
    for row, own in enumerate(labels):
        for name in own:
            table_of[row, where[name]] = 1
    counts = [by.method.terms(text) for text in texts]
    space, chosen = _space(counts, table_of, names, wanted or by.method.select, by.method.weigh)
    training = Training(
        space, texts, [space.vector(one) for one in counts], table_of, bool((table_of.sum(axis=1) == 1).all())
    )
    scores = _held_out_scores(training, by)
    model = ClassModel(
        by.name,
        tuple(names),
        space,
        by.fit(training),
        calibrate(scores, table_of, is_single=training.is_single, least=least),
    )
    told = model.calibration.chosen(model.calibration.memberships(scores))
    hits = 2 * (told * table_of).sum(axis=0) / np.maximum(told.sum(axis=0) + table_of.sum(axis=0), 1)
    rows = _spelt(chosen, space, texts)
    return model, [{**row, "f1": round(float(f1), 4)} for row, f1 in zip(rows, hits, strict=True)]


def _check(texts: Sequence[Text], labels: Sequence[Iterable[str]], names: Sequence[str]) -> None:
    """Refuse what nothing can be learned from."""
    if len(texts) != len(labels):
        raise ModelError(f"there are {len(texts)} texts and {len(labels)} lists of classes")
    if len(names) < 2:
        told = f"there is only the class {names[0]!r}" if names else "no text has a class"
        raise ModelError(f"{told}; give texts of two classes or more")
    if len(names) > MOST_CLASSES:
        raise ModelError(f"there are {len(names)} classes, more than {MOST_CLASSES}; is the label really a class?")


def _space(
    counts: Sequence[Terms], labelled: Numbers, names: Sequence[str], wanted: Select, weigh: Weigh
) -> tuple[Space, Mapping[str, tuple[int, list[Chosen]]]]:
    """Choose the terms of the space; return those chosen for each class, too."""
    ids, documents = np.unique(np.concatenate([one.ids for one in counts]), return_counts=True)
    ids = ids[documents >= (_LEAST_TEXTS if len(counts) >= _SMALL else 1)]
    if not len(ids):
        raise ModelError("the texts have no words in common; give more or longer texts")
    every = Space(ids, np.ones(len(ids)))
    whole = Training(every, (), [every.vector(one) for one in counts], labelled, is_single=True)
    table = Contingency.of(whole.counts(), labelled)
    kept = np.sort(select(table, wanted))
    weights = uncertainty(table).max(axis=1) if wanted.measure == "um" else weigh(table, ids)
    chosen = report(table, kept, names, wanted.measure, is_word(ids))
    places = {column: place for place, column in enumerate(kept.tolist())}
    return Space(ids[kept], weights[kept]), {
        label: (count, [replace(one, column=places[one.column]) for one in best])
        for label, (count, best) in chosen.items()
    }


def _spelt(
    chosen: Mapping[str, tuple[int, list[Chosen]]], space: Space, texts: Sequence[Text]
) -> list[dict[str, object]]:
    """Return the chosen terms in letters: the model itself has their hashes alone."""
    missing = {int(space.ids[one.column]) for _, best in chosen.values() for one in best}
    spelt: dict[int, str] = {}
    for text in texts:
        if not missing:
            break
        found = spell(text)
        spelt |= {number: found[number] for number in missing & found.keys()}
        missing -= found.keys()
    return [
        {
            "class": label,
            "chosen": count,
            "terms": [
                {"term": spelt[int(space.ids[one.column])], "score": round(one.score, 4), "documents": one.documents}
                for one in best
            ],
        }
        for label, (count, best) in chosen.items()
    ]


def _held_out_scores(training: Training, by: Trainer) -> Numbers:
    """Return the scores of each text by what was learned from others."""
    scores = np.zeros(training.wanted.shape)
    order = np.random.default_rng(0).permutation(len(training.texts))
    folds = min(_FOLDS, len(order))
    for fold in range(folds):
        own = order[fold::folds]
        found = by.fit(training.part(np.setdiff1d(order, own).tolist()))
        for row in own:
            scores[row] = found.scores(training.texts[row], training.vectors[row])
    return scores
