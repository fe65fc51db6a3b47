"""Writing articles: new ones, duplicates with their evidence, other addresses of a stored one, changed texts.

Near-duplicates are looked up in the `shingle` table. It keeps at most `Lookup.most_common` articles for one shingle,
the earliest, so that a passage on every page of a site costs no more than any other and a story with thousands of
copies stays findable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select, update

from .statements import insert_new, insert_rows
from .tables import Article, ArticleVersion, Cluster, Duplicate, Image, Shingle, Url

article, version, shingle, duplicate, cluster, image, url = (
    model.table() for model in (Article, ArticleVersion, Shingle, Duplicate, Cluster, Image, Url)
)

_MOST_EXACT = 20


@dataclass(frozen=True, slots=True)
class NewArticle:
    """An article as it came from its page; names as in the table.

    Attributes:
        shingles: sampled shingle hashes of the text.
        images: (URL, caption) pairs, the lead image first.
        canonical_id: the URL on the same host that the page calls its canonical one, if that is another.
        seen: ISO time of the fetch.
    """

    id: int
    site_id: int
    title: str
    authors: str
    source: str
    published_at: str | None
    published_precision: str | None
    published_from: str | None
    language: str
    text: str
    html: str
    summary: str
    keywords: str
    classes: str
    quality: float
    extractor: str
    text_hash: int
    shingles: Sequence[int]
    images: Sequence[tuple[str, str]]
    canonical_id: int | None
    seen: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored article that a new one may repeat.

    Attributes:
        id, site_id, title, published_at, text_hash, text: as stored.
        stands_for: the article that stands for its cluster.
        points_to: the URL its own page called canonical, if that was another.
        shared: shingles in common with the new article.
    """

    id: int
    site_id: int
    title: str
    published_at: str | None
    text_hash: int
    text: str
    stands_for: int
    points_to: int | None
    shared: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which candidate a new article repeats, how much, and by which method and in which way it was found.

    `same_page` says that it is the same article of the same site at another address, not a reprint; `own_wording` that
    it differs enough for later copies of it to be looked up by its own shingles.
    """

    candidate: Candidate
    similarity: float
    method: str
    kind: str
    same_page: bool
    own_wording: bool


Judge = Callable[[NewArticle, Sequence[Candidate]], Verdict | None]


@dataclass(frozen=True, slots=True)
class Lookup:
    """How duplicates are looked up.

    Attributes:
        candidates: how many stored articles are compared with a new one at most.
        least_shared: how many shingles must be shared.
        most_common: how many articles are kept for one shingle.
    """

    candidates: int = 8
    least_shared: int = 2
    most_common: int = 64


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did: "new", "duplicate", "same page" (of `same_as`), "updated" or "unchanged"."""

    what: str
    same_as: int | None = None


def add(connection: Connection, new: NewArticle, judge: Judge, lookup: Lookup) -> Added:
    """Write one article in the open transaction.

    Cost: two indexed reads, the judge's comparisons, three or four inserts.
    """
    stored = connection.execute(_STORED, {"key": new.id}).one_or_none()
    if stored is not None:
        return _update(connection, stored, new)
    candidates, common = _candidates(connection, new, lookup)
    verdict = judge(new, candidates) if candidates else None
    if verdict is not None and verdict.same_page:
        if verdict.candidate.points_to != new.id:
            return Added("same page", verdict.candidate.id)
        _move(connection, verdict.candidate.id, new.id)
        moved = shingle.c.hash.in_(new.shingles) & (shingle.c.article_id == verdict.candidate.id)
        connection.execute(shingle.delete().where(moved))
        _write_shingles(connection, new, common, lookup)
        stored = connection.execute(_STORED, {"key": new.id}).one()
        return _update(connection, stored, new)
    original = verdict.candidate.stands_for if verdict else None
    values = {"id": new.id, "cluster_id": original or new.id, "duplicate_of": original, "first_seen": new.seen}
    connection.execute(_INSERT, _values(new) | values)
    _write_images(connection, new)
    if verdict is None or verdict.own_wording:
        _write_shingles(connection, new, common, lookup)
    if verdict is None:
        connection.execute(insert_new(connection, cluster), {"id": new.id, "size": 1})
        return Added("new")
    assert original is not None
    _write_evidence(connection, new.id, verdict.candidate.id, verdict)
    connection.execute(update(cluster).where(cluster.c.id == original).values(size=cluster.c.size + 1))
    if _is_earlier(new, _published(connection, original)):
        _take_over(connection, original, new.id, verdict)
    return Added("duplicate")


def _write_evidence(connection: Connection, article_id: int, of_id: int, verdict: Verdict) -> None:
    """Say why an article counts as a duplicate; the first evidence stands."""
    known = connection.execute(select(duplicate.c.of_id).where(duplicate.c.article_id == article_id).limit(1)).first()
    if known is None:
        values = {"similarity": round(verdict.similarity, 4), "method": verdict.method, "kind": verdict.kind}
        connection.execute(duplicate.insert().values(article_id=article_id, of_id=of_id, **values))


def _published(connection: Connection, article_id: int) -> Row[str | None, str | None]:
    """When an article says it was published, and how exactly."""
    query = select(article.c.published_at, article.c.published_precision).where(article.c.id == article_id)
    return connection.execute(query).one()


def _is_earlier(new: NewArticle, stored: Row[str | None, str | None]) -> bool:
    """Whether the new article was surely published before the stored one; a day alone says nothing within that day."""
    if not new.published_at or not stored.published_at:
        return False
    mine, other = datetime.fromisoformat(new.published_at), datetime.fromisoformat(stored.published_at)
    if "day" in {new.published_precision, stored.published_precision}:
        return mine.date() < other.date()
    return mine < other


def _take_over(connection: Connection, old: int, new: int, verdict: Verdict) -> None:
    """The article published first stands for its cluster, also when it is found later."""
    _write_evidence(connection, old, new, verdict)
    connection.execute(update(article).where(article.c.cluster_id == old).values(cluster_id=new, duplicate_of=new))
    connection.execute(update(article).where(article.c.id == new).values(duplicate_of=None))
    connection.execute(update(cluster).where(cluster.c.id == old).values(id=new))


def _values(new: NewArticle) -> dict[str, Any]:
    """The columns that a page determines."""
    return {
        "site_id": new.site_id,
        "title": new.title,
        "authors": new.authors,
        "source": new.source,
        "published_at": new.published_at,
        "published_precision": new.published_precision,
        "published_from": new.published_from,
        "language": new.language,
        "text": new.text,
        "html": new.html,
        "summary": new.summary,
        "keywords": new.keywords,
        "classes": new.classes,
        "quality": round(new.quality, 4),
        "extractor": new.extractor,
        "text_hash": new.text_hash,
        "text_chars": len(new.text),
        "updated": new.seen,
    }


_CANDIDATE_COLUMNS = (
    article.c.id,
    article.c.site_id,
    article.c.title,
    article.c.published_at,
    article.c.text_hash,
    article.c.text,
    func.coalesce(article.c.duplicate_of, article.c.id).label("stands_for"),
    url.c.same_as.label("points_to"),
)


_STORED = select(article).where(article.c.id == bindparam("key"))
_INSERT = article.insert()
_CANDIDATES = select(*_CANDIDATE_COLUMNS).join(url, url.c.id == article.c.id)
_EXACT = (
    _CANDIDATES.where(article.c.text_hash == bindparam("text_hash"))
    .order_by(article.c.site_id != bindparam("site_id"), article.c.duplicate_of.is_not(None))
    .limit(_MOST_EXACT)
)
_TIED = _CANDIDATES.where(url.c.same_as == bindparam("key")).limit(_MOST_EXACT)
_BY_ID = _CANDIDATES.where(article.c.id.in_(bindparam("keys", expanding=True)))
_HITS = select(shingle.c.hash, shingle.c.article_id).where(shingle.c.hash.in_(bindparam("hashes", expanding=True)))


def _candidate(row: Any, shared: int) -> Candidate:
    """A row of `_CANDIDATE_COLUMNS` as a candidate."""
    return Candidate(
        row.id,
        row.site_id,
        row.title,
        row.published_at,
        row.text_hash,
        row.text,
        row.stands_for,
        row.points_to,
        shared,
    )


def _candidates(connection: Connection, new: NewArticle, lookup: Lookup) -> tuple[list[Candidate], set[int]]:
    """Stored articles that may be the same, and those of the new article's shingles that are common already."""
    everything = len(new.shingles)
    rows = list(connection.execute(_EXACT, {"text_hash": new.text_hash, "site_id": new.site_id}))
    rows += connection.execute(_TIED, {"key": new.id})
    if new.canonical_id is not None:
        rows += connection.execute(_BY_ID, {"keys": [new.canonical_id]})
    found = {row.id: _candidate(row, everything) for row in rows}
    hits = connection.execute(_HITS, {"hashes": new.shingles}).all()
    shared = Counter(hit.article_id for hit in hits)
    spread = Counter(hit.hash for hit in hits)
    least = min(lookup.least_shared, everything)
    near = {key: n for key, n in shared.items() if key not in found and n >= least}
    best = sorted(near, key=lambda key: (-near[key], key))[: lookup.candidates]
    if best:
        for row in connection.execute(_BY_ID, {"keys": best}):
            found[row.id] = _candidate(row, near[row.id])
    common = {key for key, n in spread.items() if n >= lookup.most_common}
    return sorted(found.values(), key=lambda candidate: -candidate.shared), common


def _write_shingles(connection: Connection, new: NewArticle, common: set[int], lookup: Lookup) -> None:
    """Index the text, leaving out shingles that are in enough articles already."""
    rows = [(key, new.id) for key in sorted(new.shingles) if key not in common]
    insert_rows(connection, shingle, ("hash", "article_id"), rows)


def _write_images(connection: Connection, new: NewArticle) -> None:
    if new.images:
        connection.execute(
            insert_new(connection, image),
            [
                {"article_id": new.id, "position": i, "url": address, "caption": caption}
                for i, (address, caption) in enumerate(new.images)
            ],
        )


def _update(connection: Connection, stored: Row[Any], new: NewArticle) -> Added:
    """The same article again: keep the text that was, if it has changed."""
    values = _values(new)
    if stored.text_hash == new.text_hash:
        if all(stored._mapping[name] == value for name, value in values.items() if name != "updated"):
            return Added("unchanged")
        connection.execute(update(article).where(article.c.id == new.id).values(values))
        return Added("updated")
    connection.execute(
        insert_new(connection, version),
        {"article_id": stored.id, "seen": stored.updated, "title": stored.title, "text": stored.text},
    )
    connection.execute(update(article).where(article.c.id == new.id).values(values))
    _write_shingles(connection, new, set(), Lookup())
    return Added("updated")


def _move(connection: Connection, old: int, new: int) -> None:
    """Give a stored article the identifier of its canonical URL."""
    connection.execute(update(article).where(article.c.id == old).values(id=new))
    connection.execute(update(article).where(article.c.cluster_id == old).values(cluster_id=new))
    connection.execute(
        update(article).where(article.c.cluster_id == new, article.c.duplicate_of == old).values(duplicate_of=new)
    )
    members = select(article.c.id).where(article.c.cluster_id == new)
    connection.execute(
        update(duplicate).where(duplicate.c.of_id == old, duplicate.c.article_id.in_(members)).values(of_id=new)
    )
    connection.execute(update(duplicate).where(duplicate.c.article_id == old).values(article_id=new))
    connection.execute(update(cluster).where(cluster.c.id == old).values(id=new))
    connection.execute(update(image).where(image.c.article_id == old).values(article_id=new))
    connection.execute(update(version).where(version.c.article_id == old).values(article_id=new))
