"""Keywords by naive Bayes over four features (S22)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from ...models.arrays import pack, unpack
from ...models.files import load
from ..analysis import AnalysedText
from ..frequencies import Frequencies
from ..synonyms import Thesaurus, merge
from .candidates import Floats, KeywordCandidates, find

NAME = "bayes"
FEATURES: Final = ("tfidf", "first", "chars", "coherence")
BINS: Final = 8


@dataclass(frozen=True)
class Params:
    """Parameters of `bayes`.

    Attributes:
        prior: weight of the prior odds, which do not change the order.
        synonyms, glosses: paths of files of a user, see `synonyms.read_synonyms` and `read_glosses`; without them no
            words are merged.
        merge: closeness above which two words are one, from 0 up to 1; at 1 only words of one sense are.
    """

    prior: float = 1.0
    merge: float = 0.5
    synonyms: str = ""
    glosses: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.merge <= 1:
            raise ValueError(f"merge is {self.merge}; it takes a closeness from 0 up to 1")
        _ = self.thesaurus  # a file that cannot be read is told now

    @cached_property
    def thesaurus(self) -> Thesaurus:
        return Thesaurus.load(self.synonyms, self.glosses)


DEFAULTS = Params()


@dataclass(frozen=True, slots=True, eq=False)
class KeywordBayes:
    """Naive Bayes over binned features.

    `weights` are log P(bin | keyword) / P(bin | other) by feature and bin, `prior` log P(keyword) / P(other).
    """

    edges: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    prior: float

    def log_odds(self, candidates: KeywordCandidates, prior: float = 1.0) -> Floats:
        total = np.full(len(candidates.terms), self.prior * prior)
        for name, edges, weights in zip(FEATURES, self.edges, self.weights, strict=True):
            total += weights[np.searchsorted(edges, candidates.column(name), side="right")]
        return total

    def model(self) -> dict[str, object]:
        return {
            "edges": [pack(edges.round(5)) for edges in self.edges],
            "weights": [pack(weights.round(4)) for weights in self.weights],
            "prior": round(self.prior, 4),
        }


def extract(text: AnalysedText, frequencies: Frequencies, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    """Return (term, probability) of the candidates of a text, the likeliest first.

    Cost:    O(words); 1 ms for 1,000 Chinese characters.
    Source:  S22, after O. Medelyan, I. Witten, Thesaurus based automatic keyphrase indexing (KEA++), 2006: senses by
             extended gloss overlap; words closer than a threshold are one; TF x IDF, first occurrence, length,
             coherence; bins of equal depth; naive Bayes.
    Differs: there is no WordNet (no free one knows Chinese): senses and closeness come from files of the user, and
             without them no words are told apart or merged. Candidates are phrases of the text, and coherence is the
             mean number of the ten heaviest words in the sentences where a candidate stands.
    """
    merged = merge(text, params.thesaurus, params.merge)
    return rank(find(merged, frequencies), shipped(), params)


def rank(
    candidates: KeywordCandidates, models: Mapping[str, KeywordBayes], params: Params = DEFAULTS
) -> list[tuple[str, float]]:
    if not candidates.terms:
        return []
    model = models.get(candidates.script) or next(iter(models.values()))
    return candidates.rank(1 / (1 + np.exp(-model.log_odds(candidates, params.prior))))


def shipped() -> dict[str, KeywordBayes]:
    return load("keywords_bayes", read)


def read(model: Mapping[str, Any]) -> dict[str, KeywordBayes]:
    """Read the models of a file, by script; `ValueError` if they are none."""
    try:
        models = {
            script: KeywordBayes(
                tuple(map(unpack, each["edges"])),
                tuple(map(unpack, each["weights"])),
                float(each["prior"]),
            )
            for script, each in model["scripts"].items()
        }
        whole = all(
            [len(edges) + 1 for edges in each.edges] == [len(weights) for weights in each.weights]
            and len(each.edges) == len(FEATURES)
            for each in models.values()
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        whole = False
    if not whole or not models:
        raise ValueError(f"no model of keywords by {NAME}: make it anew with scrapy train keywords")
    return models


def learn(examples: Sequence[tuple[KeywordCandidates, Floats]]) -> KeywordBayes:
    """Learn a model of candidates of texts, labelled 1 for keywords, 0 for others.

    Bins have equal depth; where values repeat there are fewer. `ValueError`: no candidate is a keyword, or all are.
    """
    right = np.concatenate([wanted for _, wanted in examples]) > 0 if examples else np.zeros(0, bool)
    if not right.any() or right.all():
        raise ValueError(f"{int(right.sum())} of {len(right)} candidates are keywords; some must be, and some not")
    edges, weights = [], []
    for name in FEATURES:
        values = np.concatenate([candidates.column(name) for candidates, _ in examples])
        borders = np.unique(np.quantile(values, np.arange(1, BINS) / BINS))
        bins = np.searchsorted(borders, values, side="right")
        share = [
            (np.bincount(bins[chosen], minlength=len(borders) + 1) + 1) / (chosen.sum() + len(borders) + 1)
            for chosen in (right, ~right)
        ]
        edges.append(borders)
        weights.append(np.log(share[0] / share[1]))
    return KeywordBayes(tuple(edges), tuple(weights), float(np.log(right.sum() / (~right).sum())))
