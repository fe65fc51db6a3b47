"""Which stored texts are worth comparing: the rule of the shingle index, and an index in memory that follows it.

A stored index (a table of hash and article number) and this one give the same candidates, because both do:

1. *Insert*: for each sampled shingle of a text, add (hash, article), unless the hash has `max_postings` articles
   already. Such a shingle is boilerplate, and its row would never help (to insert it nevertheless changes no result).
   Which articles are inserted is `worth_indexing`'s decision: hundreds of copies of one story would otherwise make
   all its shingles look like boilerplate.
2. *Look up*: for each sampled shingle of the new text, fetch its articles, oldest first. A hash with `max_postings`
   articles is skipped.
3. *Rank*: count the fetched rows per article; keep those with at least `min_shared` rows; most rows first, equal counts
   in order of arrival; the first `max_candidates`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CandidateParams:
    """How candidates are chosen.

    Attributes:
        max_postings: articles stored per shingle; one that has so many finds nothing any more.
        min_shared: shingles that a candidate must share with the new text, at least.
        max_candidates: candidates that are compared.
    """

    max_postings: int = 64
    min_shared: int = 2
    max_candidates: int = 8


def rank(articles: Iterable[int], params: CandidateParams = CandidateParams()) -> list[tuple[int, int]]:
    """Order the articles that share shingles with a new text (step 3).

    Args:    articles: one article number per shared shingle, in any order.
    Returns: (article number, shared shingles), most shared first, then the lower number; at most `max_candidates`.
    Cost:    O(rows + articles log articles).
    """
    shared = [(article, count) for article, count in Counter(articles).items() if count >= params.min_shared]
    shared.sort(key=lambda pair: (-pair[1], pair[0]))
    return shared[: params.max_candidates]


class ShingleIndex:
    """The shingle index in memory; article numbers must be given in growing order."""

    def __init__(self, params: CandidateParams = CandidateParams()) -> None:
        """Start empty."""
        self._params = params
        self._postings: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, article: int, shingles: Iterable[int]) -> None:
        """Store the sampled shingles of an article (step 1)."""
        for shingle in shingles:
            postings = self._postings[shingle]
            if len(postings) < self._params.max_postings:
                postings.append(article)

    def candidates(self, shingles: Iterable[int]) -> list[tuple[int, int]]:
        """Find the articles to compare with (steps 2 and 3): (article number, shared shingles), best first."""
        found: list[int] = []
        for shingle in shingles:
            postings = self._postings.get(shingle, ())
            if len(postings) < self._params.max_postings:
                found.extend(postings)
        return rank(found, self._params)
