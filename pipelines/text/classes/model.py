"""Model of classes: learned from labelled texts, kept as versioned JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ...models.arrays import pack, unpack
from ...models.files import load
from . import METHODS
from .calibration import Calibration
from .classifier import Classifier, Steps
from .vectors import Space, Terms, Text


class TextClasses(NamedTuple):
    """Classes of a text, best first, and all memberships in [0, 1]; empty if unknown."""

    names: tuple[str, ...] = ()
    memberships: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True, eq=False)
class ClassModel:
    """A learned model; its calibrations are by language, as "zh" and "en"."""

    method: str
    labels: tuple[str, ...]
    space: Space
    classifier: Classifier
    calibrations: Mapping[str, Calibration]

    def predict(self, text: Text) -> TextClasses:
        """Return the classes of a text above their thresholds, none in unknown languages."""
        calibration = self.calibrations.get(base_language(text.language))
        if calibration is None:
            return TextClasses()
        vector = self.space.vector(METHODS[self.method].terms(text))
        if not len(vector.columns):
            return TextClasses()
        degrees = calibration.memberships(self.classifier.scores(text, vector))
        order = np.argsort(-degrees, kind="stable").tolist()
        memberships = {self.labels[number]: round(float(degrees[number]), 4) for number in order}
        chosen = calibration.chosen(degrees[None])[0]
        return TextClasses(tuple(self.labels[number] for number in order if chosen[number]), memberships)

    def model(self) -> dict[str, object]:
        return {
            "method": self.method,
            "labels": list(self.labels),
            "terms": pack(self.space.ids),
            "weights": Steps.of(self.space.weights[:, None]).model(),
            "classifier": self.classifier.model(),
            "languages": {language: one.model() for language, one in self.calibrations.items()},
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Self:
        """Build what `model` described; `ValueError` if its parts do not fit."""
        labels, ids = tuple(model["labels"]), unpack(model["terms"])
        if not labels or len(set(labels)) != len(labels) or not all(isinstance(label, str) for label in labels):
            raise ValueError("its classes have no names")
        space = Space(ids, Steps.load(model["weights"], len(ids)).values()[:, 0])
        method = model["method"]
        if method not in METHODS:
            raise ValueError(f"its method {method!r} is unknown")
        classifier = METHODS[method].load(model["classifier"], len(ids), len(labels))
        calibrations = {str(language): Calibration.of(one) for language, one in model["languages"].items()}
        rows = [row for one in calibrations.values() for row in (one.slope, one.offset, one.threshold)]
        probe = classifier.scores(Text("", ""), space.vector(Terms(ids[:1], np.ones(1))))
        if any(row.shape != (len(labels),) or not np.isfinite(row).all() for row in (*rows, probe)):
            raise ValueError("its numbers do not fit its classes")
        return cls(method, labels, space, classifier, calibrations)


def shipped() -> ClassModel:
    return load("classes", ClassModel.of)


def base_language(language: str) -> str:
    """Return a language without its script or country.

    >>> base_language("zh-Hant"), base_language("")
    ('zh', '')
    """
    return language.partition("-")[0].lower()
