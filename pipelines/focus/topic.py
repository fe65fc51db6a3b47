"""The topic of a crawl: a description, examples and a profile made one query."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np

from ..text.words import search_words
from .terms import PageTerms, Terms, Weights, hash_word, hash_words

MOST_TERMS: Final = 256
_CLASS: Final = re.compile(r"(?:^|\s)class[:：]", re.IGNORECASE)
_ENTRIES: Final = ("index.", "default.", "home.", "homepage.", "welcome.", "main.")
USUAL: Final = 1 / 3
"""Value of each signal of the topic for a page like most that wait, and for one of which nothing can be told."""
_FULL: Final = 1e6
"""Weight of a word that counts fully."""
_HALF: Final = 4.0
"""Weight of a word at which a page has half of what the word can give (as BM25 does)."""
_NOTHING, _WORDS, _MANY = -3.44, 6.24, -1.21
"""Logistic regression on the words of a description alone: constant, evidence, evidence x log(number of words).

These and the next were fitted on articles with classes (BBC, THUCNews, SogouC, Reuters-21578; 35 classes, described by
their first 1, 2, 3, 5 and 10 keywords; crawls of 60 to 500 pages of which 3 or 10 % are on the topic). What .3 means on
classes that were held out stands in docs/crawl-order.md.
"""
_LEARNED_NOTHING, _LEARNED, _LEARNED_WORDS = -3.07, 2.21, 1.0
"""The same with feedback: constant, deviations above the mean page of the crawl, evidence."""
_MOST_DEVIATIONS: Final = 6.0


@dataclass(frozen=True, eq=False)
class Feedback:
    """Words that go together with the topic in a crawl (relevance feedback).

    `terms` are hashes modulo `buckets`, a power of two, ascending; `mean` and `deviation` are of pages' similarity to
    them.
    """

    terms: Terms
    weights: Weights
    mean: float
    deviation: float
    buckets: int

    def deviations(self, page: PageTerms) -> float:
        """Return the similarity of a page in deviations above the crawl's mean."""
        if not len(page.terms):
            return 0.0
        counts = 1.0 + np.log(np.maximum(page.weights, 1.0))
        wanted = page.terms & np.uint32(self.buckets - 1)
        places = np.minimum(np.searchsorted(self.terms, wanted), len(self.terms) - 1)
        similarity = counts @ np.where(self.terms[places] == wanted, self.weights[places], 0.0)
        return (float(similarity / np.linalg.norm(counts)) - self.mean) / self.deviation


@dataclass(frozen=True, eq=False)
class Topic:
    """Hashes of a description's words and unit vectors of what was liked; or classes."""

    wanted: Terms
    liked: tuple[tuple[Terms, Weights], ...] = ()
    feedback: Feedback | None = None
    classes: tuple[str, ...] = ()

    @property
    def is_given(self) -> bool:
        return bool(len(self.wanted) or self.liked or self.classes)

    def share(self, memberships: Iterable[tuple[str, float]]) -> float:
        """Return how far a page belongs to the classes, by its memberships in some.

        >>> round(by_classes(("sport", "travel")).share([("sport", 0.5), ("finance", 0.3), ("travel", 0.2)]), 2)
        0.7
        """
        return min(1.0, sum(degree for name, degree in memberships if name in self.classes))

    def relevance(self, page: PageTerms) -> float:
        """Estimate how probable it is that a page is on the topic, by its words.

        Evidence are the words of the description, more so in titles and at the beginning, and, once the crawl has
        taught some, those that go with them; without these what was liked counts by its cosine. 0 if no word is shared
        or known.

        Source: saturation after Robertson and Walker, Some simple effective approximations to the 2-Poisson model,
        1994.
        """
        weights = dict(zip(page.terms.tolist(), page.weights.tolist(), strict=True))
        if self.feedback is not None:
            return float(learned_relevance(self.feedback.deviations(page), self._evidence(weights)))
        return max(self._described(weights), self._similarity(weights))

    def anchors(self, page: PageTerms) -> list[float]:
        relevances = [0.0] * len(page)
        if not self._wanted.isdisjoint(page.anchors.tolist()):
            links = np.repeat(np.arange(len(page)), page.anchor_counts)
            named = np.bincount(links, np.isin(page.anchors, self.wanted), len(page))
            relevances = described_relevance(np.sqrt(named * saturated(_FULL)), len(self._wanted)).tolist()
        if self._liked:
            at = 0
            for link, count in enumerate(page.anchor_counts.tolist()):
                weights = dict.fromkeys(page.anchors[at : at + count].tolist(), _FULL)
                relevances[link] = max(relevances[link], self._similarity(weights))
                at += count
        return relevances

    def _evidence(self, weights: Mapping[int, float]) -> float:
        return float(sum(saturated(weights[one]) for one in self._wanted & weights.keys()) ** 0.5)

    def _described(self, weights: Mapping[int, float]) -> float:
        return float(described_relevance(self._evidence(weights), len(self._wanted)))

    def _similarity(self, weights: Mapping[int, float]) -> float:
        best = 0.0
        for liked in self._liked:
            shared = liked.keys() & weights.keys()
            if shared:
                length = sum(min(weight, 1e3) ** 2 for weight in weights.values()) ** 0.5
                best = max(best, sum(liked[one] * min(weights[one], 1e3) for one in shared) / length)
        return min(best, 1.0)

    @cached_property
    def _wanted(self) -> frozenset[int]:
        return frozenset(self.wanted.tolist())

    @cached_property
    def _liked(self) -> tuple[dict[int, float], ...]:
        return tuple(dict(zip(terms.tolist(), weights.tolist(), strict=True)) for terms, weights in self.liked)


def make_topic(
    description: str = "", examples: Sequence[PageTerms] = (), profile: Mapping[str, float] | None = None
) -> Topic:
    """Build the topic from a description in any language, examples and a profile.

    `ValueError`: nothing is given, or nothing but stop words, numbers and marks.

    >>> make_topic("bridges of the world").wanted.size
    2
    """
    wanted = np.array(hash_words(search_words(description), MOST_TERMS), np.uint32)
    liked = [_unit(page.terms, page.weights) for page in examples if len(page.terms)]
    if profile:
        liked.append(_of_profile(profile))
    if not len(wanted) and not liked:
        raise ValueError(
            f"the topic {description!r} has no word to look for; it takes words other than stop words and numbers, "
            "examples or a profile"
        )
    return Topic(wanted, tuple(liked))


def liking(topic: Topic, profile: Mapping[str, float]) -> Topic:
    """Return the topic with a profile, maybe an empty one, in place of what was liked."""
    return replace(topic, liked=(_of_profile(profile),) if profile else ())


def of_readers(description: str = "") -> Topic:
    """Build a topic whose profile is to come (`liking`), with or without words."""
    return make_topic(description) if description else Topic(np.zeros(0, np.uint32))


def by_classes(names: Sequence[str]) -> Topic:
    return Topic(np.zeros(0, np.uint32), classes=tuple(names))


def named_classes(description: str) -> tuple[str, ...]:
    """Return the classes that a description names, none if it has words.

    `ValueError`: it has both.

    >>> named_classes("class:sport, real estate class:finance"), named_classes("class struggle")
    (('sport', 'real estate', 'finance'), ())
    """
    words, *lists = _CLASS.split(description)
    if lists and words.strip():
        raise ValueError(f"the topic {description!r} has words and classes; give either, like class:sport,finance")
    return tuple(dict.fromkeys(name.strip() for names in lists for name in re.split("[,，、]", names)))


def saturated(weight: Any) -> Any:
    """Return the evidence of a word of some weight (number or array), in [0, 1)."""
    return weight / (weight + _HALF)


def described_relevance(evidence: Any, words: int) -> Any:
    """Estimate relevance by the description alone; takes numbers or arrays.

    `evidence` is the square root of the sum of `saturated` over the words of the description; 0 gives 0.
    """
    slope = max(_WORDS + _MANY * log(max(words, 1)), _LEARNED_WORDS)
    return (evidence > 0) / (1.0 + np.exp(-_NOTHING - slope * evidence))


def learned_relevance(deviations: Any, evidence: Any) -> Any:
    """Estimate relevance with `Feedback.deviations` and evidence, numbers or arrays."""
    above = np.clip(deviations, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)
    return 1.0 / (1.0 + np.exp(-(_LEARNED_NOTHING + _LEARNED * above + _LEARNED_WORDS * evidence)))


def is_entry(url: str) -> bool:
    """Tell whether a URL is a home page or an index, and so no example of a topic.

    >>> is_entry("http://a.test/news/index.html"), is_entry("http://a.test/wiki/Bridge")
    (True, False)
    """
    path = urlsplit(url).path
    return path.endswith("/") or path == "" or path.rpartition("/")[2].lower().startswith(_ENTRIES)


def _of_profile(profile: Mapping[str, float]) -> tuple[Terms, Weights]:
    return _unit(np.array([*map(hash_word, profile)], np.uint32), np.array([*profile.values()], np.float32))


def _unit(terms: Terms, weights: Weights) -> tuple[Terms, Weights]:
    return terms, (weights / np.linalg.norm(weights)).astype(np.float32)
