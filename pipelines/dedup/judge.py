"""Match decisions: which stored article a new one repeats, reprint or same page.

A near-copy on another site is a reprint and is linked to its original. The same text on the same site, under the same
headline and time or tied by `rel=canonical`, is one article under two URLs and is stored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from db.records.article import Candidate, Keep, MatchDecision, NewArticle
from db.records.evidence import EDITED, RELATED, REPEATING, SAME
from db.records.keys import day_of
from db.records.signature import Signed

from .boilerplate import BoilerplateLines, Bystanders
from .index import FeatureIndex
from .normalize import normalize
from .shape import Comparison, Method

EXACT = "exact"
"""Method of the evidence that texts are equal in normal form."""

# Chosen by hand.
_SAME_PAGE_CANONICAL = 0.9  # similarity of one article under two URLs, tied by rel=canonical
_SAME_PAGE = 0.98  # the same by equal headline and time
_SHORTEST_COPY = 40  # characters of an equal text that says enough
_PREPARED = 256
_EQUAL = Comparison(1.0, SAME)
_WHOLE = frozenset({SAME, EDITED})
_MOST_OF_IT = 0.5
"""Share of the longer of two texts beyond which it cannot hold a second story of that size."""
_LEARNED = 512
_MANY = 256  # rows that are worth an array of their own in the index


@dataclass(frozen=True, slots=True)
class Policy:
    """Policy for duplicates; `window` in days, None for all; `sites` are exceptions."""

    threshold: float
    window: int | None = None
    keep: Keep = Keep.METADATA
    sites: Mapping[int, Keep] = field(default_factory=dict)


class DuplicateJudge:
    """Decides on new articles in the page transaction, in the database thread."""

    def __init__(self, method: Method, policy: Policy) -> None:
        self._method = method
        self._policy = policy
        self._lines = BoilerplateLines()
        """Lines that recur in the stories of a site, and make different stories look alike."""
        self._learned: LRUCache[tuple[int, int], None] = LRUCache(_LEARNED)
        self._prepared: LRUCache[tuple[int, int, int, str], Any] = LRUCache(_PREPARED)

    def __call__(self, new: NewArticle, candidates: Sequence[Candidate]) -> MatchDecision | None:
        """Decide how the article relates to the candidates; None if it does not.

        The same page takes precedence over a reprint, that over a related article; then the best match wins.
        """
        if self._policy.window is not None:
            oldest = day_of(new.seen) - self._policy.window
            candidates = [c for c in candidates if c.site_id == new.site_id or day_of(c.seen) >= oldest]
        copies = sorted((c for c in candidates if _is_copy(new, c)), key=lambda c: c.text != new.text)
        decisions = [(self._decide(new, c, EXACT, _EQUAL), 1.0) for c in copies]  # same script first
        freed: Sequence[Candidate] = ()
        if not any(decision.same_page for decision, _ in decisions):
            others = [c for c in candidates if c.text_hash != new.text_hash]
            compared, freed = self._compared(new, others)
            decisions += compared
        decisions.sort(key=lambda pair: (pair[0].same_page, pair[0].repeats, pair[1]), reverse=True)
        best, standing = decisions[0] if decisions else (None, 0.0)
        if best is None or not best.repeats:
            self._learn(new)
        if best is None:
            return None
        best = replace(best, freed=freed)
        if best.same_page or not _is_whole(best, standing):
            return best
        whole = [decision for decision, standing in decisions if _is_whole(decision, standing)]
        return replace(best, also=_of_other_clusters(best, whole))

    def between(self, late: Candidate, early: Candidate) -> MatchDecision | None:
        """Decide whether a stored article repeats another one; None if not."""
        method, comparison = EXACT, _EQUAL
        if late.text_hash != early.text_hash or min(len(late.text), len(early.text)) < _SHORTEST_COPY:
            method = self._method.name
            comparison = self._method.compare(self._stored(late), self._stored(early)).at(self._policy.threshold)
        if comparison.kind not in REPEATING:
            return None
        return MatchDecision(
            candidate=early,
            similarity=comparison.similarity,
            method=method,
            kind=comparison.kind,
            repeats=True,
            same_page=False,
            own_wording=comparison.has_own_wording(),
        )

    def _learn(self, new: NewArticle) -> None:
        key = new.id, new.text_hash
        if key not in self._learned:
            self._learned[key] = None
            self._lines.learn(new.text, str(new.site_id))

    def _compared(
        self, new: NewArticle, candidates: Sequence[Candidate]
    ) -> tuple[list[tuple[MatchDecision, float]], list[Candidate]]:
        if not candidates or not new.length:
            return [], []
        prepared = self._method.prepare(new.title, self._lines.without(new.text, str(new.site_id)))
        beside = Bystanders(
            self._method,
            self._policy.threshold,
            prepared,
            [self._stored(candidate) for candidate in candidates],
            [(one.representative, one.id == one.representative) for one in candidates],
        )
        related = [
            (self._decide(new, candidate, self._method.name, comparison), comparison.standing)
            for candidate, comparison in zip(candidates, beside.of_new(), strict=True)
            if comparison.kind in REPEATING or comparison.kind in RELATED
        ]
        places = {candidate.id: place for place, candidate in enumerate(candidates)}
        freed = [
            one
            for place, one in enumerate(candidates)
            if one.doubtful in places and beside.is_frame(place, places[one.doubtful])
        ]
        return related, freed

    def _stored(self, candidate: Candidate) -> Any:
        """Prepare a stored text; cached, because copied stories are copied again."""
        key = candidate.id, candidate.text_holder, len(candidate.text), candidate.title
        prepared = self._prepared.get(key)
        if prepared is None:
            text = self._lines.without(candidate.text, str(candidate.site_id))
            prepared = self._prepared[key] = self._method.prepare(candidate.title, text)
        return prepared

    def _decide(self, new: NewArticle, stored: Candidate, method: str, comparison: Comparison) -> MatchDecision:
        repeats = comparison.kind in REPEATING
        return MatchDecision(
            candidate=stored,
            similarity=comparison.similarity,
            method=method,
            kind=comparison.kind,
            repeats=repeats,
            same_page=repeats and _is_same_page(new, stored, comparison.similarity),
            own_wording=comparison.has_own_wording(),
            keep=self._policy.sites.get(new.site_id, self._policy.keep),
        )


def _is_whole(decision: MatchDecision, standing: float) -> bool:
    return decision.kind in _WHOLE or (decision.repeats and standing > _MOST_OF_IT)


def _of_other_clusters(best: MatchDecision, decisions: Sequence[MatchDecision]) -> list[MatchDecision]:
    others: dict[int, MatchDecision] = {}
    for one in decisions:
        representative = one.candidate.representative
        if one.repeats and representative != best.candidate.representative:
            others.setdefault(representative, one)
    return list(others.values())


def _is_copy(new: NewArticle, stored: Candidate) -> bool:
    if new.text_hash != stored.text_hash or not new.text_hash:
        return False
    return len(new.text) >= _SHORTEST_COPY or normalize(new.title) == normalize(stored.title)


def _is_same_page(new: NewArticle, stored: Candidate, similarity: float) -> bool:
    if new.site_id != stored.site_id:
        return False
    tied = new.canonical_id == stored.id or (
        stored.points_to is not None and stored.points_to in {new.id, new.canonical_id}
    )
    if tied and similarity >= _SAME_PAGE_CANONICAL:
        return True
    same_time = None in {new.published_at, stored.published_at} or new.published_at == stored.published_at
    return similarity >= _SAME_PAGE and same_time and normalize(new.title) == normalize(stored.title)


class SignatureIndex:
    """Signatures of stored articles: a `db.records.signature.MemoryIndex`.

    Texts of `window` days are looked up, None for all; `folder` keeps the files for the next crawl, None for none.
    """

    def __init__(
        self, method: Method, window: int | None, memory: int | None = None, folder: Path | None = None
    ) -> None:
        self.form = method.form
        self.window = window
        self._params = method.index
        self._memory = memory
        self._folder = folder if window is None else None  # what is too old stays in files
        self._begin()

    def _begin(self) -> None:
        self.known = 0
        self._index = FeatureIndex(self._params, self._memory, self._folder)
        self._heads: dict[int, int] = {}
        """For stories whose first row is gone: the text that takes its place."""
        self._posted: list[Signed] = []
        """Rows of `post` not yet confirmed to be in the table."""

    def clear(self) -> None:
        self._index.forget()
        self._begin()

    def restore(self) -> bool:
        """Load saved rows up to `known`; false if there are none."""
        self._begin()
        if self._index.restore(self.form):
            self.known = self._index.row(len(self._index) - 1)
        return self.known > 0

    def agree(self, numbers: Sequence[int], articles: Sequence[int]) -> Sequence[int] | None:
        """Take the current articles of the rows, 0 where the text is gone.

        Returns articles of clusters that lost a row, for `extend`; None if these are not the saved rows.
        """
        return self._index.rekey(numbers, articles)

    def extend(self, rows: Sequence[Signed]) -> None:
        """Read rows again whose features have to be posted in full now."""
        for row in rows:
            place = self._index.place(row.number)
            if place is not None and row.fresh is None:
                self._index.post(place, row.features)

    def save(self) -> None:
        """Save stored rows if some are in files already; ends all use."""
        if not self._heads:
            self._index.finish(len(self._index) - len(self._posted), self.form)

    def read(self, rows: Sequence[Signed]) -> None:
        """Take all rows of the table after `known`."""
        confirmed = len(self._posted)
        if list(rows[:confirmed]) != self._posted:
            self._index.truncate(len(self._index) - confirmed)
            confirmed = 0
        self._posted = []
        self._extend(rows[confirmed:])
        if rows:
            self.known = rows[-1].number
        if not self._heads:
            self._index.save(self.form)

    def candidates(self, day: int, length: int, features: bytes) -> Sequence[int]:
        since = None if self.window is None else day - self.window
        hits = self._index.candidates(features, length, since)
        return list(dict.fromkeys(self._index.key(one.text) for one in hits))

    def post(self, article_id: int, cluster: int | None, day: int, length: int, features: bytes) -> Signed:
        """Add a text to a cluster, or as a new one; return the row to write."""
        number = max(self.known, self._posted[-1].number if self._posted else 0) + 1
        place = None if cluster is None else self._place(cluster)
        fresh = None if place is None else self._index.fresh(features, place)
        row = Signed(number, article_id, number if cluster is None else cluster, day, length, features, fresh)
        self._index.add(article_id, features if fresh is None else fresh, length, place, day, number)
        self._posted.append(row)
        return row

    def _extend(self, rows: Sequence[Signed]) -> None:
        if not rows:
            return
        first = len(self._index)
        numbers = [row.number for row in rows]
        of_number = dict(zip(numbers, range(first, first + len(rows)), strict=True))
        places: list[int] = []
        fresh: list[bytes] = []
        for text, row in enumerate(rows, first):
            place = of_number.get(row.cluster)
            if place is None:
                place = self._place(row.cluster)
            if place is None:
                place = self._heads[row.cluster] = text
            places.append(place)
            fresh.append(row.features if row.fresh is None else row.fresh)
        columns = list(zip(*rows, strict=True))
        if len(rows) >= _MANY:
            self._index.extend(columns[1], fresh, columns[4], places, columns[3], numbers)
        else:
            for one in zip(columns[1], fresh, columns[4], places, columns[3], numbers, strict=True):
                self._index.add(*one)

    def _place(self, cluster: int) -> int | None:
        place = self._index.place(cluster)
        return self._heads.get(cluster) if place is None else place
