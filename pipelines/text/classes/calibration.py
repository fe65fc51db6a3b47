"""Memberships from scores: as likely as such scores were right; thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...models.arrays import pack, unpack
from .vectors import Numbers

_STEPS: Final = 40
_ENOUGH: Final = 12
"""Texts of a class from which it has a curve of its own."""
_TRUSTED: Final = 20.0
"""Texts of a class at which its own threshold counts half, that of all classes the other half."""
_UNKNOWN: Final = (0.0, -40.0)
"""Curve of a class that no text has: nobody can tell what its scores mean."""
NEVER: Final = 2.0
"""Threshold that no membership reaches."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Curves from scores to memberships, and the least membership of each class."""

    slope: Numbers
    offset: Numbers
    threshold: Numbers
    is_single: bool

    def memberships(self, scores: Numbers) -> Numbers:
        """Return the memberships of scores, each in [0, 1]; one text per row, or one text."""
        chances = sigmoid(self.slope * scores + self.offset)
        if self.is_single:
            chances = chances / np.maximum(chances.sum(axis=-1, keepdims=True), 1e-12)
        return chances

    def chosen(self, memberships: Numbers) -> NDArray[np.bool_]:
        """Return the classes of each row above their thresholds; if single, the best."""
        chosen: NDArray[np.bool_] = memberships >= self.threshold
        if self.is_single:
            chosen &= np.arange(memberships.shape[1]) == memberships.argmax(axis=1)[:, None]
        return chosen

    def model(self) -> dict[str, object]:
        rows = {"slope": self.slope, "offset": self.offset, "threshold": self.threshold}
        return {**{name: pack(row.round(5)) for name, row in rows.items()}, "single": self.is_single}

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Calibration:
        rows = [unpack(model[name]) for name in ("slope", "offset", "threshold")]
        return cls(rows[0], rows[1], rows[2], bool(model["single"]))


def sigmoid(odds: Numbers) -> Numbers:
    chances: Numbers = 1 / (1 + np.exp(-np.clip(odds, -40, 40)))
    return chances


def calibrate(scores: Numbers, wanted: Numbers, *, is_single: bool, precision: float = 0.0) -> Calibration:
    """Fit curves and thresholds to scores of texts that were not learned from.

    Texts of one class share one curve, so that the class of the best score stays the best. A class that none of the
    texts has gets no membership. With `precision` there is one threshold for all classes, from which this share of the
    assigned ones is right; else none where texts have one class, or that of the best F1 for each.

    Source: Platt 1999, "Probabilistic outputs for support vector machines", with his smoothed targets.
    """
    counts = wanted.sum(axis=0)
    common = platt(scores.ravel(), wanted.ravel())
    curves = [
        _UNKNOWN
        if not count
        else platt(scores[:, number], wanted[:, number])
        if not is_single and count >= _ENOUGH
        else common
        for number, count in enumerate(counts)
    ]
    slope, offset = (np.array(column) for column in zip(*curves, strict=True))
    calibration = Calibration(slope, offset, np.zeros(len(counts)), is_single)
    chances = calibration.memberships(scores)
    if precision:
        chosen = calibration.chosen(chances)
        calibration.threshold[:] = precise_threshold(chances[chosen], wanted[chosen], precision)
    elif not is_single:
        overall = best_threshold(chances.ravel(), wanted.ravel())
        for number, count in enumerate(counts):
            of_class = best_threshold(chances[:, number], wanted[:, number]) if count else overall
            calibration.threshold[number] = (count * of_class + _TRUSTED * overall) / (count + _TRUSTED)
    return calibration


def platt(scores: Numbers, wanted: Numbers) -> tuple[float, float]:
    """Return slope and offset of the logistic curve through scores.

    >>> slope, offset = platt(np.array([-1.0, -0.5, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0]))
    >>> slope > 0, abs(offset) < 1e-6
    (True, True)
    """
    right, wrong = wanted.sum(), len(wanted) - wanted.sum()
    target = np.where(wanted > 0, (right + 1) / (right + 2), 1 / (wrong + 2))
    inputs = np.stack([scores, np.ones(len(scores))], axis=1)
    line = np.array([1.0, float(np.log((right + 1) / (wrong + 1)))])
    for _ in range(_STEPS):
        chances = sigmoid(inputs @ line)
        slope = inputs.T @ (chances - target) + 1e-4 * line
        curve = (inputs * (chances * (1 - chances))[:, None]).T @ inputs + 1e-4 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        line -= np.clip(step, -3, 3)
        if np.abs(step).max() < 1e-7:
            break
    return max(float(line[0]), 1e-3), float(line[1])


def best_threshold(chances: Numbers, wanted: Numbers) -> float:
    """Return the threshold of the best F1, in the middle between two chances.

    >>> best_threshold(np.array([0.1, 0.4, 0.8]), np.array([0.0, 1.0, 1.0])).__round__(2)
    0.25
    """
    order = np.argsort(-chances, kind="stable")
    hits = np.cumsum(wanted[order])
    score = 2 * hits / (np.arange(1, len(order) + 1) + max(wanted.sum(), 1))
    return _below(chances[order], int(score.argmax()))


def precise_threshold(chances: Numbers, right: Numbers, precision: float) -> float:
    """Return the least threshold above which enough are right, were one more wrong.

    It lies halfway between two chances; `NEVER` if there is none.

    >>> told = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    >>> precise_threshold(told, np.array([1.0, 1.0, 1.0, 0.0, 0.0]), 0.7).__round__(2)
    0.65
    >>> precise_threshold(told, np.array([1.0, 1.0, 1.0, 0.0, 0.0]), 0.9) == NEVER
    True
    """
    order = np.argsort(-chances, kind="stable")
    shares = np.cumsum(right[order]) / np.arange(2, len(order) + 2)
    enough = np.flatnonzero(shares >= precision)
    return _below(chances[order], int(enough[-1])) if len(enough) else NEVER


def _below(falling: Numbers, place: int) -> float:
    return float(falling[place] + (falling[place + 1] if place + 1 < len(falling) else 0.0)) / 2
