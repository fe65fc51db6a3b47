"""Candidates: stored articles that new ones may repeat, looked up in batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, bindparam, func, or_, select

from ..engine.statements import among
from ..records.article import Candidate, NewArticle
from ..records.evidence import REPEATING, SURE
from ..records.keys import day_of
from ..records.signature import MemoryIndex
from ..tables.articles import TEXT, WITH_HOLDER, ArticleRow, DuplicateRow
from ..tables.urls import UrlRow

article, duplicate, url = (model.table() for model in (ArticleRow, DuplicateRow, UrlRow))

ALONE = 0
"""Cluster of stored articles in no cluster, while all are grouped again."""
_MOST_EXACT = 20
_MOST_BESIDE = 4  # articles beside one that is near: frames are seen in few
_ALIKE = 2  # features that articles share which may be duplicates: the least that an index asks for


def unrelated(articles: Sequence[NewArticle]) -> Sequence[NewArticle]:
    """Return the leading articles of which none can be a candidate of another."""
    ids: set[int] = set()
    texts: set[int] = set()
    features: set[int] = set()
    for n, new in enumerate(articles):
        own_ids = {new.id} if new.canonical_id is None else {new.id, new.canonical_id}
        named = set(memoryview(new.features).cast("I"))
        alike = len(named & features) >= min(_ALIKE, len(named)) > 0
        if alike or new.text_hash in texts or not ids.isdisjoint(own_ids):
            return articles[:n]
        ids |= own_ids
        texts.add(new.text_hash)
        features |= named
    return articles


def stored_rows(connection: Connection, ids: Sequence[int]) -> dict[int, Row[Any]]:
    return {row.id: row for row in connection.execute(_STORED, {"ids": ids})}


def by_ids(connection: Connection, ids: Sequence[int]) -> list[Candidate]:
    return [Candidate(*tuple(row)) for row in connection.execute(_BY_ID, {"ids": ids})]


class Candidates:
    def __init__(self, connection: Connection, articles: Sequence[NewArticle], index: MemoryIndex) -> None:
        ids = [new.id for new in articles]
        hashes = sorted({new.text_hash for new in articles})
        self.stored = stored_rows(connection, ids)
        self._rows: dict[int, Any] = {}
        self._sure: dict[int, list[int]] = {new.id: [] for new in articles}
        stored_hashes = set(connection.execute(_KNOWN_TEXTS, {"ids": hashes}).scalars())
        for new in articles:
            if new.text_hash in stored_hashes:  # few: the rest of the batch costs no query
                rows = connection.execute(_EXACT, {"text_hash": new.text_hash, "site_id": new.site_id}).all()
                self._sure[new.id] += self._keep(rows)
        for row in connection.execute(_TIED, {"ids": ids}):
            self._rows[row.id] = row
            if len(self._sure[row.points_to]) < 2 * _MOST_EXACT:
                self._sure[row.points_to].append(row.id)
        for new in articles:
            if new.canonical_id is not None:
                self._sure[new.id].append(new.canonical_id)
        self._near = {
            new.id: index.candidates(day_of(new.seen), new.length, new.features) if new.length else ()
            for new in articles
        }
        self._beside = _doubtful_ties(connection, {key for keys in self._near.values() for key in keys})
        wanted = {key for keys in (*self._sure.values(), *self._near.values(), *self._beside.values()) for key in keys}
        missing = sorted(wanted - self._rows.keys())
        if missing:
            self._keep(connection.execute(_BY_ID, {"ids": missing}).all())

    def _keep(self, rows: Sequence[Any]) -> list[int]:
        self._rows |= {row.id: row for row in rows}
        return [row.id for row in rows]

    def of(self, new: NewArticle) -> list[Candidate]:
        near = self._near[new.id]
        keys = dict.fromkeys((*self._sure[new.id], *near, *(key for one in near for key in self._beside.get(one, ()))))
        return [Candidate(*self._rows[key]) for key in keys if key in self._rows and key != new.id]


def _doubtful_ties(connection: Connection, ids: Collection[int]) -> dict[int, list[int]]:
    ties: dict[int, list[int]] = defaultdict(list)
    if ids:
        for late, early in connection.execute(_BESIDE, {"ids": sorted(ids)}):
            for one, other in ((late, early), (early, late)):
                if one in ids and len(ties[one]) < _MOST_BESIDE:
                    ties[one].append(other)
    return ties


_STORED = select(article).where(among(article.c.id))
_DOUBTFUL = and_(duplicate.c.kind.in_(sorted(REPEATING)), duplicate.c.similarity < SURE)
_BESIDE = (
    select(duplicate.c.article_id, duplicate.c.of_id)
    .where(or_(among(duplicate.c.article_id), among(duplicate.c.of_id)), _DOUBTFUL)
    .limit(10 * _MOST_EXACT)
)
_CANDIDATES = (
    select(
        article.c.id,
        article.c.site_id,
        article.c.title,
        article.c.published_at,
        article.c.text_hash,
        TEXT,
        func.coalesce(article.c.duplicate_of, article.c.id),
        url.c.same_as.label("points_to"),
        article.c.updated,
        func.coalesce(article.c.text_holder, article.c.id),
        duplicate.c.of_id,
    )
    .select_from(WITH_HOLDER)
    .join(url, url.c.id == article.c.id)
    .join(duplicate, and_(duplicate.c.article_id == article.c.id, _DOUBTFUL), isouter=True)
    .where(article.c.cluster_id != ALONE)
)
_KNOWN_TEXTS = select(article.c.text_hash).where(among(article.c.text_hash)).distinct()
_EQUAL = (
    select(article.c.id)
    .where(article.c.text_hash == bindparam("text_hash"), article.c.cluster_id != ALONE)
    .order_by(article.c.site_id != bindparam("site_id"), article.c.duplicate_of.is_not(None))
    .limit(_MOST_EXACT)
)
_EXACT = _CANDIDATES.where(article.c.id.in_(_EQUAL.scalar_subquery()))
_TIED = _CANDIDATES.where(among(url.c.same_as), url.c.same_as.is_not(None)).limit(10 * _MOST_EXACT)
_BY_ID = _CANDIDATES.where(among(article.c.id))
