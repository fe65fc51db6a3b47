"""Document frequencies of words: a start that is shipped, and those of a crawl."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

from ..models.files import load

_PRIOR_DOCUMENTS: Final = 1000.0
"""So many documents of the crawl count as much as the start."""
MOST_TERMS: Final = 200_000
"""Terms that are held of a crawl; beyond it the rarest are forgotten."""


class Frequencies(Protocol):
    """Anything that knows how rare terms are, and how often they begin texts."""

    def look_up(self, terms: Sequence[str]) -> list[tuple[float, float]]: ...


@dataclass(frozen=True, slots=True)
class ShippedFrequencies:
    """Inverse document frequencies of terms and how much oftener they begin texts.

    `rare` and `rare_han` are the frequencies of those not listed.
    """

    listed: Mapping[str, tuple[float, float]]
    rare_han: float
    rare: float

    def idf(self, term: str) -> float:
        """Return the logarithm of documents over documents with the term.

        >>> shipped().idf("bridg") > shipped().idf("year")
        True
        """
        return self.look_up([term])[0][0]

    def look_up(self, terms: Sequence[str]) -> list[tuple[float, float]]:
        """Return the `idf` of each term, and the logarithm of how often it opens texts.

        >>> (_, beijing), (_, reporter) = shipped().look_up(["北京", "记者"])
        >>> beijing > reporter
        True
        """
        listed, rare_han, rare = self.listed.get, (self.rare_han, 0.0), (self.rare, 0.0)
        return [listed(term) or (rare_han if term[:1] >= "\u2e80" else rare) for term in terms]

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> Self:
        listed: dict[str, tuple[float, float]] = {}
        rarities, openings = (
            {
                term: value
                for terms_of in model[name].values()
                for value, terms in [(float(level), terms) for level, terms in terms_of.items()]
                for term in terms.split()
            }
            for name in ("levels", "openings")
        )
        pairs: dict[tuple[float, float], tuple[float, float]] = {}  # a few hundred, each of many terms
        for term, rarity in rarities.items():
            pair = rarity, openings.get(term, 0.0)
            listed[term] = pairs.setdefault(pair, pair)
        return cls(listed, model["rare_han"], model["rare"])


def shipped() -> ShippedFrequencies:
    return load("frequencies", ShippedFrequencies.of)


class LearnedFrequencies:
    """Document frequencies that a crawl learns on top of the shipped ones: some 20 MB."""

    def __init__(self, counts: Mapping[str, int] | None = None, documents: int = 0) -> None:
        self.counts = dict(counts or {})
        self.documents = documents
        self._start = shipped()
        self._least = 1

    def learn(self, terms: Iterable[str]) -> None:
        self.documents += 1
        counts = self.counts
        for term in set(terms):
            counts[term] = counts.get(term, 0) + 1
        while len(counts) > MOST_TERMS:
            for term in [term for term, count in counts.items() if count <= self._least]:
                del counts[term]
            self._least += 1
        if len(counts) < MOST_TERMS // 2:
            self._least = 1

    def idf(self, term: str) -> float:
        """Return the inverse frequency; the start counts as `_PRIOR_DOCUMENTS` documents."""
        before = self._start.idf(term)
        share = (self.counts.get(term, 0) + _PRIOR_DOCUMENTS * math.exp(-before)) / (self.documents + _PRIOR_DOCUMENTS)
        return -math.log(share)

    def look_up(self, terms: Sequence[str]) -> list[tuple[float, float]]:
        return [(self.idf(term), opening) for term, (_, opening) in zip(terms, self._start.look_up(terms), strict=True)]
