"""Duplicates as the store asks for them: which stored article does a new one repeat, or is it that very page again?

`pipelines.dedup` compares texts. Here its verdict meets what is known of the two pages: a near-copy on another site is a
reprint and is linked to its original; the same text on the same site, under the same headline and time or tied by
`rel=canonical`, is one article at two addresses and is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence

from db.articles import Candidate, Lookup, NewArticle, Verdict

from .dedup import Candidate as Compared
from .dedup import matches, normalize
from .dedup.candidates import CandidateParams

_SAME_PAGE_CANONICAL = 0.9
_SAME_PAGE = 0.98


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
        exact = [c for c in candidates if c.text_hash == new.text_hash]
        others = {c.id: c for c in candidates if c.text_hash != new.text_hash}
        found = [(c, 1.0, "exact", "same") for c in exact]
        if not any(_same_page(new, c, 1.0) for c in exact):
            compared = [Compared(c.id, c.text, c.shared) for c in others.values()]
            found += [
                (others[m.article_id], m.similarity, m.method, m.kind)
                for m in matches(new.text, compared, self._threshold)
            ]
        if not found:
            return None
        verdicts = [Verdict(c, s, method, kind, _same_page(new, c, s)) for c, s, method, kind in found]
        return max(verdicts, key=lambda v: (v.same_page, v.similarity))


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
