"""Learned model of kinds: networks weigh the votes of words with all else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ..models.arrays import pack, unpack
from ..models.files import load
from ..models.network import DenseNetwork
from ..records import PageKind
from .words import Words

Numbers = NDArray[np.float64]

_LEAST: Final = 1e-9
_LIKELIER: Final = 3.5
"""A page in doubt is of one other kind when that alone is so many times as likely as an article.

Chosen on folds (`tests.benchmarks.page_kinds`): at 3 half as many articles again are refused.
"""


@dataclass(frozen=True, slots=True, eq=False)
class WordVotes:
    """Linear votes of words: weights have a row per word and a column per kind."""

    index: Mapping[str, int]
    weights: Numbers
    bias: Numbers
    known: frozenset[str]

    def vote(self, found: Iterable[str]) -> Numbers:
        rows = sorted([self.index[word] for word in self.known.intersection(found)])  # the same sums in each process
        votes: Numbers = np.add.reduce(self.weights[rows]) / math.sqrt(max(len(rows), 1)) + self.bias
        return votes

    def model(self) -> dict[str, object]:
        return {"words": list(self.index), "weights": pack(self.weights, 3), "bias": pack(self.bias, 4)}

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Self:
        words, weights, bias = model["words"], unpack(model["weights"]), unpack(model["bias"])
        if weights.shape != (len(words), len(bias)):
            raise ValueError(f"{len(words)} words with weights of shape {weights.shape}")
        return cls({word: row for row, word in enumerate(words)}, weights, bias, frozenset(words))


@dataclass(frozen=True, slots=True, eq=False)
class KindModel:
    """Everything that was learned about kinds of pages.

    Attributes:
        kinds: of the outputs, articles first.
        of_site, of_text: votes of the words of the page, and of those of its text.
        features: names of the other inputs, in order.
        network: of the features, then the votes of words; an output per kind.
        slope, offset: turn log-odds of the networks into those that pages have shown.
        address: weights of what the address is like, for an article.
        threshold: probability from which a page is taken for an article.
    """

    kinds: tuple[PageKind, ...]
    of_site: WordVotes
    of_text: WordVotes
    features: tuple[str, ...]
    network: DenseNetwork
    slope: float = 1.0
    offset: float = 0.0
    address: Mapping[str, float] | None = None
    threshold: float = 0.5

    def predict(self, values: Mapping[str, float], found: Words, address: Mapping[str, float]) -> Numbers:
        """Return the probability of each kind. Cost: O(words + weights), under 1 ms."""
        feature_values = np.fromiter(map(values.__getitem__, self.features), np.float64, len(self.features))
        votes = self.vote(np.concatenate((feature_values, hear((self.of_site, self.of_text), found)))[:, None])[:, 0]
        address_weights = self.address or {}
        return self.calibrate(votes, sum(address_weights.get(name, 0.0) * value for name, value in address.items()))

    def is_article(self, chances: Numbers) -> bool:
        return bool(chances[0] >= self.threshold and chances[1:].max() <= _LIKELIER * chances[0])

    def vote(self, inputs: Numbers) -> Numbers:
        odds = self.network.outputs(self.network.standardise(inputs))
        shares = np.exp(odds - odds.max(axis=1, keepdims=True))
        mean: Numbers = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        return mean

    def calibrate(self, votes: Numbers, evidence: float) -> Numbers:
        odds = self.slope * float(log_odds(votes[:1])[0]) + self.offset + evidence
        article = 1 / (1 + np.exp(-odds))
        others = votes[1:] / max(float(votes[1:].sum()), _LEAST)
        return np.concatenate(([article], (1 - article) * others))

    def model(self) -> dict[str, object]:
        return {
            "kinds": [kind.name.lower() for kind in self.kinds],
            "threshold": round(self.threshold, 4),
            "slope": round(self.slope, 4),
            "offset": round(self.offset, 4),
            "address": {name: round(value, 4) for name, value in (self.address or {}).items()},
            "features": list(self.features),
            "network": self.network.model(),
            "words": [votes.model() for votes in (self.of_site, self.of_text)],
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> KindModel:
        kinds = tuple(PageKind[name.upper()] for name in model["kinds"])
        of_site, of_text = map(WordVotes.of, model["words"])
        return cls(
            kinds,
            of_site,
            of_text,
            tuple(model["features"]),
            DenseNetwork.of(model["network"]),
            model["slope"],
            model["offset"],
            model["address"],
            model["threshold"],
        )


def shipped() -> KindModel:
    return load("kinds", KindModel.of)


def hear(votes: tuple[WordVotes, WordVotes], found: Words) -> Numbers:
    return np.concatenate((votes[0].vote(found.site), votes[1].vote(found.text)))


def log_odds(chances: Numbers) -> Numbers:
    bounded = np.clip(chances, _LEAST, 1 - _LEAST)
    odds: Numbers = np.log(bounded / (1 - bounded))
    return odds
