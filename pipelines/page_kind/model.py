"""Learned model of kinds: networks weigh the votes of words with all else."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import models
from ..records import PageKind
from .words import Words

Numbers = NDArray[np.float64]

_LEAST: Final = 1e-9
_CLIP: Final = 5.0
_LIKELIER: Final = 1.5
"""A page that may be an article is a list when that is so many times as likely: what it leads to is not lost."""


@dataclass(frozen=True, slots=True, eq=False)
class WordVotes:
    """Linear votes of words for each kind.

    Attributes:
        index: word -> row.
        weights: a row per word, a column per kind.
        bias: per kind.
        known: the words.
    """

    index: Mapping[str, int]
    weights: Numbers
    bias: Numbers
    known: frozenset[str]

    def vote(self, found: Set[str]) -> Numbers:
        """Return the votes of the words that are known, one number per kind."""
        rows = sorted([self.index[word] for word in self.known & found])  # sums are the same in each process
        votes: Numbers = self.weights[rows].sum(axis=0) / np.sqrt(max(len(rows), 1)) + self.bias
        return votes


@dataclass(frozen=True, slots=True, eq=False)
class KindModel:
    """Everything that was learned about kinds of pages.

    Attributes:
        kinds: of the outputs, articles first.
        of_site, of_text: votes of the words of the page, and of those of its text.
        features: names of the other inputs, in order.
        shift, scale: what is taken from each input, and by what it is then divided.
        weights, biases: per layer a stack of matrices (networks, outputs, inputs) and of rows (networks, outputs).
        slope, offset: turn log-odds of the networks into those that pages have shown.
        address: weights of what the address is like, for an article.
        threshold: probability from which a page is taken for an article.
    """

    kinds: tuple[PageKind, ...]
    of_site: WordVotes
    of_text: WordVotes
    features: tuple[str, ...]
    shift: Numbers
    scale: Numbers
    weights: tuple[Numbers, ...]
    biases: tuple[Numbers, ...]
    slope: float = 1.0
    offset: float = 0.0
    address: Mapping[str, float] | None = None
    threshold: float = 0.5

    def predict(self, values: Mapping[str, float], found: Words, address: Mapping[str, float]) -> Numbers:
        """Return the probability of each kind.

        Args:
            values: features of the page.
            found: its words.
            address: what its address is like; empty when it has none.

        Cost: O(words + weights), some tenths of a millisecond.
        """
        own = np.array(list(map(values.__getitem__, self.features)))
        votes = self.vote(np.concatenate((own, hear((self.of_site, self.of_text), found)))[:, None])[:, 0]
        told = self.address or {}
        return self.calibrate(votes, sum(told.get(name, 0.0) * value for name, value in address.items()))

    def is_article(self, chances: Numbers) -> bool:
        """Tell whether a page of these chances is taken for an article."""
        listed = chances[self.kinds.index(PageKind.LIST)] if PageKind.LIST in self.kinds else 0.0
        return bool(chances[0] >= self.threshold and listed <= _LIKELIER * chances[0])

    def vote(self, inputs: Numbers) -> Numbers:
        """Return the mean of what the networks say: a row per kind, a column per page."""
        layer = standardise(inputs, self.shift[:, None], self.scale[:, None])
        for weights, biases in zip(self.weights[:-1], self.biases[:-1], strict=True):
            layer = np.maximum(weights @ layer + biases[:, :, None], 0)
        odds = self.weights[-1] @ layer + self.biases[-1][:, :, None]
        shares = np.exp(odds - odds.max(axis=1, keepdims=True))
        mean: Numbers = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        return mean

    def calibrate(self, votes: Numbers, evidence: float) -> Numbers:
        """Return votes as probabilities, with the evidence of the address."""
        odds = self.slope * float(log_odds(votes[:1])[0]) + self.offset + evidence
        article = 1 / (1 + np.exp(-odds))
        others = votes[1:] / max(float(votes[1:].sum()), _LEAST)
        return np.concatenate(([article], (1 - article) * others))

    def model(self) -> dict[str, object]:
        """Return the model as strings and lists, a row of numbers being one string."""
        return {
            "kinds": [kind.name.lower() for kind in self.kinds],
            "threshold": round(self.threshold, 4),
            "slope": round(self.slope, 4),
            "offset": round(self.offset, 4),
            "address": {name: round(value, 4) for name, value in (self.address or {}).items()},
            "features": list(self.features),
            "shift": _row(self.shift),
            "scale": _row(self.scale),
            "weights": [[[_row(row) for row in matrix] for matrix in layer] for layer in self.weights],
            "biases": [[_row(row) for row in layer] for layer in self.biases],
            "bias of words": [_row(self.of_site.bias), _row(self.of_text.bias)],
            "words": [
                {word: _row(votes.weights[row], 3) for word, row in votes.index.items()}
                for votes in (self.of_site, self.of_text)
            ],
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> KindModel:
        """Return the model that `model` describes."""
        kinds = tuple(PageKind[name.upper()] for name in model["kinds"])
        of_site, of_text = (
            _votes({word: _numbers(row) for word, row in words.items()}, _numbers(bias))
            for words, bias in zip(model["words"], model["bias of words"], strict=True)
        )
        return cls(
            kinds,
            of_site,
            of_text,
            tuple(model["features"]),
            _numbers(model["shift"]),
            _numbers(model["scale"]),
            tuple(np.array([[_numbers(row) for row in matrix] for matrix in layer]) for layer in model["weights"]),
            tuple(np.array([_numbers(row) for row in layer]) for layer in model["biases"]),
            model["slope"],
            model["offset"],
            model["address"],
            model["threshold"],
        )


@cache
def shipped() -> KindModel:
    """Return the model that comes with the program."""
    return KindModel.of(models.load("kinds"))


def hear(votes: tuple[WordVotes, WordVotes], found: Words) -> Numbers:
    """Return the votes of a page's words, those of its text last."""
    return np.concatenate((votes[0].vote(found.site), votes[1].vote(found.text)))


def standardise(values: Numbers, shift: Numbers, scale: Numbers) -> Numbers:
    """Bring inputs to the same size, outliers to five times that."""
    clipped: Numbers = np.clip((values - shift) * scale, -_CLIP, _CLIP)
    return clipped


def log_odds(chances: Numbers) -> Numbers:
    """Return the logarithms of chances against their opposites, bounded."""
    bounded = np.clip(chances, _LEAST, 1 - _LEAST)
    odds: Numbers = np.log(bounded / (1 - bounded))
    return odds


def _votes(rows: Mapping[str, Numbers], bias: Numbers) -> WordVotes:
    weights = np.array(list(rows.values())).reshape(len(rows), len(bias))
    return WordVotes({word: number for number, word in enumerate(rows)}, weights, bias, frozenset(rows))


def _row(values: Numbers, digits: int = 4) -> str:
    """Write numbers to some digits."""
    return " ".join(f"{value:.{digits}g}" for value in values.tolist())


def _numbers(row: str) -> Numbers:
    """Read the numbers that `_row` wrote."""
    return np.array(row.split(), np.float64)
