"""The topic of a crawl: a description, examples and a profile made one query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from .terms import PageTerms, Terms, Weights, hash_word, hash_words
from .words import search_words

MOST_TERMS: Final = 256
_ENTRIES: Final = ("index.", "default.", "home.", "homepage.", "welcome.", "main.")
USUAL: Final = 1 / 3
"""Value of each signal of the topic for a page like most that wait, and for one of which nothing can be told."""
_HALF: Final = 2.0
"""Occurrences of a word of the description at which a page has half of what the word can give (as BM25 does)."""


@dataclass(frozen=True, eq=False)
class Topic:
    """Words of a description, and vectors of what was liked.

    Attributes:
        wanted: hashes of the description's words.
        liked: vectors of what was liked (examples, a profile): hashes and weights of unit length.
    """

    wanted: Terms
    liked: tuple[tuple[Terms, Weights], ...] = ()

    def relevance(self, page: PageTerms) -> float:
        """Return how much of the topic a page has, judged by itself alone.

        A description is matched by the share of its words that the page has, each growing with its weight and
        levelling off; what was liked by the cosine. The best match counts.

        Args:
            page: of any page.

        Returns:
            A number in [0, 1]; 0 when no word is shared.

        Cost: O(terms).
        """
        weights = dict(zip(page.terms.tolist(), page.weights.tolist(), strict=True))
        return self._relevance(weights)

    def anchors(self, page: PageTerms) -> list[float]:
        """Return the relevance of the anchor of each link: a first guess at its target.

        An anchor has few words, so each counts fully.
        """
        found, at = [], 0
        for count in page.anchor_counts.tolist():
            found.append(self._relevance(dict.fromkeys(page.anchors[at : at + count].tolist(), 1e6)))
            at += count
        return found

    def _relevance(self, weights: Mapping[int, float]) -> float:
        best = 0.0
        if self._wanted:
            best = sum(weights[one] / (weights[one] + _HALF) for one in self._wanted & weights.keys())
            best /= len(self._wanted)
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
    """Build the topic from a description, examples and a profile.

    Args:
        description: words in any language; in another script than the pages it matches nothing.
        examples: pages on the topic.
        profile: word -> weight, see `profile.learn`.

    Returns:
        The topic.

    Raises:
        ValueError: nothing is given, or nothing but stop words, numbers and marks.

    >>> make_topic("bridges of the world").wanted.size
    2
    """
    wanted = np.array(hash_words(search_words(description), MOST_TERMS), np.uint32)
    liked = [_unit(page.terms, page.weights) for page in examples if len(page.terms)]
    if profile:
        liked.append(_unit(np.array([*map(hash_word, profile)], np.uint32), np.array([*profile.values()], np.float32)))
    if not len(wanted) and not liked:
        raise ValueError(
            f"the topic {description!r} has no word to look for; it takes words other than stop words and numbers, "
            "examples or a profile"
        )
    return Topic(wanted, tuple(liked))


def is_entry(url: str) -> bool:
    """Tell whether a URL is a home page or an index, and so no example of a topic.

    >>> is_entry("http://a.test/news/index.html"), is_entry("http://a.test/wiki/Bridge")
    (True, False)
    """
    path = urlsplit(url).path
    return path.endswith("/") or path == "" or path.rpartition("/")[2].lower().startswith(_ENTRIES)


def _unit(terms: Terms, weights: Weights) -> tuple[Terms, Weights]:
    """Return a vector of unit length."""
    return terms, (weights / np.linalg.norm(weights)).astype(np.float32)
