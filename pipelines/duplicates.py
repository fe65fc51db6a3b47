"""Duplicates as the store asks for them: which stored article does a new one repeat, or is it that very page again?

`pipelines.dedup` compares texts. Here its verdict meets what is known of the two pages: a near-copy on another site is
a reprint and is linked to its original; the same text on the same site, under the same headline and time or tied by
`rel=canonical`, is one article at two addresses and is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence

from db.articles import Candidate, Lookup, NewArticle, Verdict

from .dedup import Candidate as Compared
from .dedup import Match, matches, normalize, worth_indexing
from .dedup.candidates import CandidateParams

_SAME_PAGE_CANONICAL = 0.9
_SAME_PAGE = 0.98
_SHORTEST_COPY = 40


class DuplicateJudge:
    """Judges new articles for `db.store.Store`; runs in the database thread, inside the page's transaction.

    Args:
        threshold: similarity from which a text is a duplicate, in [0, 1].
    """

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold

    @staticmethod
    def lookup() -> Lookup:
        """How candidates are to be looked up."""
        params = CandidateParams()
        return Lookup(params.max_candidates, params.min_shared, params.max_postings)

    def __call__(self, new: NewArticle, candidates: Sequence[Candidate]) -> Verdict | None:
        """The candidate that the article repeats, the same page before any reprint, or None."""
        by_id = {c.id: c for c in candidates}
        found = [Match(c.id, 1.0, "exact", "same") for c in candidates if _is_copy(new, c)]
        if not any(_same_page(new, by_id[match.article_id], 1.0) for match in found):
            others = [Compared(c.id, c.text, c.shared) for c in candidates if c.text_hash != new.text_hash]
            found += matches(new.text, others, self._threshold)
        if not found:
            return None
        verdicts = [_verdict(new, by_id[match.article_id], match) for match in found]
        return max(verdicts, key=lambda verdict: (verdict.same_page, verdict.similarity))


def _verdict(new: NewArticle, stored: Candidate, match: Match) -> Verdict:
    """A match in the words of the store."""
    same_page = _same_page(new, stored, match.similarity)
    return Verdict(stored, match.similarity, match.method, match.kind, same_page, worth_indexing(match))


def _is_copy(new: NewArticle, stored: Candidate) -> bool:
    """Whether the texts are equal and say enough: two captions that read alike are not one story."""
    if new.text_hash != stored.text_hash or not new.text_hash:
        return False
    return len(new.text) >= _SHORTEST_COPY or normalize(new.title) == normalize(stored.title)


def _same_page(new: NewArticle, stored: Candidate, similarity: float) -> bool:
    """Whether both are one article of one site at two addresses."""
    if new.site_id != stored.site_id:
        return False
    tied = new.canonical_id == stored.id or (
        stored.points_to is not None and stored.points_to in {new.id, new.canonical_id}
    )
    if tied and similarity >= _SAME_PAGE_CANONICAL:
        return True
    same_time = None in {new.published_at, stored.published_at} or new.published_at == stored.published_at
    return similarity >= _SAME_PAGE and same_time and normalize(new.title) == normalize(stored.title)
