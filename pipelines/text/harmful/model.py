"""Learned model of harmful texts: weights of hashed signs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...models.arrays import pack, unpack
from ...models.files import load
from .features import BITS, Hashes, Numbers, OwnedSigns, once
from .records import HarmKind

KIND_BITS: Final = 18
SHORT: Final = 40
"""Characters up to which a text is read as a short one: a headline, a post."""
LONG: Final = 80
"""Characters from which it is read as a long one; between the two, as both."""
_STEPS: Final = 127
_OF_SHORT: Final = 0.3
"""Weight of the vote for short texts against a long one."""


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Linear votes of signs: their mean, times the root of their number, and a bias."""

    steps: NDArray[np.int8]
    unit: float
    bias: float

    @classmethod
    def of(cls, weights: Numbers, bias: float) -> Votes:
        unit = float(np.abs(weights).max(initial=0.0)) / _STEPS or 1.0
        return cls(np.rint(weights / unit).astype(np.int8), unit, bias)

    def vote(self, signs: Hashes) -> float:
        return self.unit * float(self.steps.take(signs).sum(dtype=np.int64)) / math.sqrt(max(len(signs), 1)) + self.bias

    def votes(self, signs: Hashes, of: Hashes, texts: int) -> Numbers:
        """Return the vote of each text; `of` are the texts of the signs."""
        sizes = np.maximum(np.bincount(of, minlength=texts), 1)
        return self.unit * np.bincount(of, self.steps.take(signs), texts) / np.sqrt(sizes) + self.bias

    def dump(self) -> dict[str, object]:
        return {"unit": float(f"{self.unit:.6g}"), "bias": float(f"{self.bias:.6g}"), "steps": pack(self.steps)}

    @classmethod
    def load(cls, model: Mapping[str, Any], size: int) -> Votes:
        """Read what `dump` wrote; `ValueError` if it is broken, or of another size."""
        steps = unpack(model["steps"])
        if len(steps) != size:
            raise ValueError(f"{len(steps)} weights instead of {size}")
        return cls(steps, _number(model["unit"]), _number(model["bias"]))


@dataclass(frozen=True, slots=True, eq=False)
class HarmReading:
    """Votes for texts of one size, by the label of the honest texts.

    Harm shows beside each sort of honest texts: talk reads like advertisements beside news, news beside talk.
    """

    votes: Mapping[str, Votes]

    def margin(self, signs: Hashes) -> float:
        """Return by how much a text is harmful; below 0 it is not."""
        return min([votes.vote(signs) for votes in self.votes.values()])

    def margins(self, signs: OwnedSigns, texts: int) -> Numbers:
        margins: Numbers = np.min([votes.votes(*signs, texts) for votes in self.votes.values()], axis=0)
        return margins

    def weights(self, signs: Hashes) -> Numbers:
        votes = min(self.votes.values(), key=lambda each: each.vote(np.unique(signs)))
        return votes.steps[signs].astype(np.float64) * votes.unit


@dataclass(frozen=True, slots=True, eq=False)
class HarmModel:
    """Everything that was learned about harmful pages.

    `foreign` holds weights of the margin of a part of a page and of its absence (the squared share of its pairs of
    letters that are nowhere else there), a bias for pieces of the title, one for lines: above 0 the part is foreign.
    """

    short: HarmReading
    long: HarmReading
    foreign: tuple[float, float, float, float]
    kinds: Mapping[HarmKind, Votes]

    def score(self, signs: Hashes, chars: int) -> float:
        if not len(signs):
            return 0.0
        share = min(max((chars - SHORT) / (LONG - SHORT), 0.0), 1.0)
        short = self.short.margin(signs)
        score = (1 - share) * logistic(short)
        if share > 0:
            # Notices with an address and offers of games are no posts, though they are like letters that advertise.
            score += share * logistic(self.long.margin(signs) + _OF_SHORT * min(short, 0.0))
        return score

    def kind(self, signs: Hashes) -> HarmKind:
        rows = kind_signs(signs)
        return max(self.kinds, key=lambda kind: self.kinds[kind].vote(rows))

    def dump(self) -> dict[str, object]:
        return {
            "short": {label: votes.dump() for label, votes in self.short.votes.items()},
            "long": {label: votes.dump() for label, votes in self.long.votes.items()},
            "parts": [float(f"{value:.6g}") for value in self.foreign],
            "kinds": {str(kind): votes.dump() for kind, votes in self.kinds.items()},
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> HarmModel:
        """Build what `dump` described; `ValueError` if it is broken."""
        short, long = (
            HarmReading({label: Votes.load(votes, 1 << BITS) for label, votes in model[size].items()})
            for size in ("short", "long")
        )
        margin, absence, of_titles, of_lines = map(_number, model["parts"])
        kinds = {HarmKind(kind): Votes.load(votes, 1 << KIND_BITS) for kind, votes in model["kinds"].items()}
        if not kinds or not short.votes or not long.votes:
            raise ValueError("parts are missing")
        return cls(short, long, (margin, absence, of_titles, of_lines), kinds)


def shipped() -> HarmModel:
    return load("harmful", HarmModel.of)


def kind_signs(signs: Hashes) -> Hashes:
    """Return signs as the votes for kinds know them, each once."""
    return once(signs >> (BITS - KIND_BITS), KIND_BITS)


def logistic(margin: float) -> float:
    return 1 / (1 + math.exp(-min(max(margin, -500.0), 500.0)))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)
