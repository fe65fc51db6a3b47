"""Writing articles: new ones, duplicates with their evidence, other addresses of a stored one, changed texts.

Near-duplicates are looked up in the `shingle` table. It keeps at most `Lookup.most_common` articles for one shingle,
the earliest, so that a passage on every page of a site costs no more than any other and a story with thousands of
copies stays findable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, select, text, update

from .statements import among, insert_new, insert_rows, is_postgres, run_many
from .tables import Article, ArticleVersion, Cluster, Duplicate, Image, Shingle, Url

article, version, shingle, duplicate, cluster, image, url = (
    model.table() for model in (Article, ArticleVersion, Shingle, Duplicate, Cluster, Image, Url)
)

_MOST_EXACT = 20
_ARTICLE_LOCK = 7_241_895_303


@dataclass(frozen=True, slots=True)
class NewArticle:
    """An article as it came from its page; names as in the table.

    Attributes:
        shingles: sampled shingle hashes of the text.
        images: (URL, caption) pairs, the lead image first.
        canonical_id: the URL on the same host that the page calls its canonical one, if that is another.
        seen: ISO time of the fetch.
        relevance: how near it is to what the crawl looks for, if it looks for something.
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
    relevance: float | None = None


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


class Added(NamedTuple):
    """What `add` did: "new", "duplicate", "same page" (of `same_as`), "updated" or "unchanged"."""

    what: str
    same_as: int | None = None


def add(connection: Connection, articles: Sequence[NewArticle], judge: Judge, lookup: Lookup) -> list[Added]:
    """Write articles in the open transaction, in order: each may repeat one before it.

    The caller holds `lock`: so no copy can be stored between looking for one and writing.

    Cost: five reads and three inserts for all of them, and the judge's comparisons. An article that is related to an
    earlier one of the same batch begins a new round of reads.
    """
    added: list[Added] = []
    while len(added) < len(articles):
        added += _Round(connection, articles[len(added) :], judge, lookup).write()
    return added


def lock(connection: Connection) -> None:
    """Let one process at a time write articles, from here to the end of its transaction."""
    if is_postgres(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ARTICLE_LOCK})


def absorb(connection: Connection, into: int, others: Sequence[int]) -> None:
    """What is stored under some URLs is part of the article of another URL, which has it from now on.

    The first of them becomes that article, unless it is stored already; the rest is deleted, and what repeats it is
    said to repeat that article.
    """
    stored = {row.id: row for row in connection.execute(_STORED, {"ids": [into, *others]})}
    for old in others:
        if old not in stored:
            continue
        if into not in stored:
            _move(connection, old, into)
        else:
            _delete(connection, stored[old], stored[into])
        stored = {row.id: row for row in connection.execute(_STORED, {"ids": [into, *others]})}


class _Round:
    """Articles that do not depend on each other: looked up together, written together."""

    def __init__(self, connection: Connection, articles: Sequence[NewArticle], judge: Judge, lookup: Lookup) -> None:
        self._connection = connection
        self._articles = _unrelated(articles)
        self._judge = judge
        self._lookup = lookup
        self._found = _Found(connection, self._articles, lookup)
        self._changed: set[int] = set()
        """Stored articles that this round has changed: what was read of them holds no longer."""
        self._new: list[tuple[NewArticle, int | None]] = []
        self._indexed: list[NewArticle] = []

    def write(self) -> list[Added]:
        """Write as many articles as can be judged by what was read."""
        added = []
        for new in self._articles:
            candidates = self._found.candidates(new, self._lookup)
            if new.id in self._changed or any(not self._changed.isdisjoint((c.id, c.stands_for)) for c in candidates):
                break
            added.append(self._write(new, candidates))
        _insert(self._connection, self._new)
        _write_shingles(self._connection, self._indexed, self._found.common)
        return added

    def _write(self, new: NewArticle, candidates: Sequence[Candidate]) -> Added:
        stored = self._found.stored.get(new.id)
        if stored is not None:
            self._changed.add(new.id)
            return _update(self._connection, stored, new)
        verdict = self._judge(new, candidates) if candidates else None
        if verdict is None:
            self._new.append((new, None))
            self._indexed.append(new)
            return Added("new")
        original = verdict.candidate.stands_for
        self._changed |= {new.id, verdict.candidate.id, original}
        if verdict.same_page:
            if verdict.candidate.points_to != new.id:
                return Added("same page", verdict.candidate.id)
            return self._move(new, verdict.candidate.id)
        _insert(self._connection, [(new, original)])
        if verdict.own_wording:
            self._indexed.append(new)
        _write_evidence(self._connection, new.id, verdict.candidate.id, verdict)
        self._connection.execute(_GROW, {"key": original})
        if _is_earlier(new, _published(self._connection, original)):
            _take_over(self._connection, original, new.id, verdict)
        return Added("duplicate")

    def _move(self, new: NewArticle, old: int) -> Added:
        """The stored article is this one under another address, and this is the address it calls its own."""
        _move(self._connection, old, new.id)
        moved = shingle.c.hash.in_(new.shingles) & (shingle.c.article_id == old)
        self._connection.execute(shingle.delete().where(moved))
        self._indexed.append(new)
        stored = self._connection.execute(_STORED, {"ids": [new.id]}).one()
        return _update(self._connection, stored, new)


def _unrelated(articles: Sequence[NewArticle]) -> Sequence[NewArticle]:
    """The leading articles of which none can be a candidate of another."""
    ids: set[int] = set()
    texts: set[int] = set()
    shingles: set[int] = set()
    for n, new in enumerate(articles):
        own = {new.id} if new.canonical_id is None else {new.id, new.canonical_id}
        if new.text_hash in texts or not (ids.isdisjoint(own) and shingles.isdisjoint(new.shingles)):
            return articles[:n]
        ids |= own
        texts.add(new.text_hash)
        shingles.update(new.shingles)
    return articles


class _Found:
    """What the tables hold that some articles may be related to.

    Attributes:
        stored: rows of those that are stored already.
        common: shingles that enough articles have.
    """

    def __init__(self, connection: Connection, articles: Sequence[NewArticle], lookup: Lookup) -> None:
        ids = [new.id for new in articles]
        hashes = sorted({new.text_hash for new in articles})
        shingles = sorted({key for new in articles for key in new.shingles})
        self.stored = {row.id: row for row in connection.execute(_STORED, {"ids": ids})}
        self._rows: dict[int, Any] = {}
        self._equal: dict[int, list[int]] = {}
        self._tied: dict[int, list[int]] = {}
        known = set(connection.execute(_KNOWN_TEXTS, {"ids": hashes}).scalars())
        for new in articles:
            if new.text_hash in known:  # few: the rest of the batch costs no query
                rows = connection.execute(_EXACT, {"text_hash": new.text_hash, "site_id": new.site_id}).all()
                self._equal[new.id] = self._keep(rows)
        for row in connection.execute(_TIED, {"ids": ids}):
            self._rows[row.id] = row
            self._tied.setdefault(row.points_to, []).append(row.id)
        self._having: dict[int, list[int]] = {}
        for hit in connection.execute(_HITS, {"ids": shingles}):
            self._having.setdefault(hit.hash, []).append(hit.article_id)
        self.common = {key for key, having in self._having.items() if len(having) >= lookup.most_common}
        self._shared = {new.id: self._best(new, lookup) for new in articles}
        wanted = {key for shared in self._shared.values() for key in shared}
        wanted |= {new.canonical_id for new in articles if new.canonical_id is not None}
        missing = sorted(wanted - self._rows.keys())
        if missing:
            self._keep(connection.execute(_BY_ID, {"ids": missing}).all())

    def _keep(self, rows: Sequence[Any]) -> list[int]:
        self._rows |= {row.id: row for row in rows}
        return [row.id for row in rows]

    def _best(self, new: NewArticle, lookup: Lookup) -> dict[int, int]:
        """Articles that share most shingles with a new one, and how many."""
        shared = Counter(key for shingle_hash in new.shingles for key in self._having.get(shingle_hash, ()))
        least = min(lookup.least_shared, len(new.shingles))
        near = [key for key, n in shared.items() if n >= least]
        best = sorted(near, key=lambda key: (-shared[key], key))[: lookup.candidates]
        return {key: shared[key] for key in best}

    def candidates(self, new: NewArticle, lookup: Lookup) -> list[Candidate]:
        """Stored articles that a new one may repeat, those that share most first."""
        sure = [*self._equal.get(new.id, ()), *self._tied.get(new.id, ())[:_MOST_EXACT]]
        if new.canonical_id is not None and new.canonical_id in self._rows:
            sure.append(new.canonical_id)
        shared = dict.fromkeys(sure, len(new.shingles))
        shared |= {key: n for key, n in self._shared[new.id].items() if key not in shared}
        found = [_candidate(self._rows[key], n) for key, n in shared.items() if key in self._rows and key != new.id]
        return sorted(found, key=lambda candidate: -candidate.shared)


def _insert(connection: Connection, articles: Sequence[tuple[NewArticle, int | None]]) -> None:
    """Write the rows of new articles, each with the one it repeats, if it does."""
    rows = [
        _values(new)
        | {"id": new.id, "cluster_id": original or new.id, "duplicate_of": original, "first_seen": new.seen}
        for new, original in articles
    ]
    run_many(connection, _INSERT, rows)
    insert_rows(
        connection,
        image,
        ("article_id", "position", "url", "caption"),
        [(new.id, i, address, caption) for new, _ in articles for i, (address, caption) in enumerate(new.images)],
    )
    clusters = [(new.id, 1) for new, original in articles if original is None]
    insert_rows(connection, cluster, ("id", "size"), clusters)


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
        "relevance": None if new.relevance is None else round(new.relevance, 4),
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


_STORED = select(article).where(among(article.c.id))
_INSERT = article.insert().values(
    {name: bindparam(name) for name in article.c.keys()}  # noqa: SIM118 - a collection, no dictionary
)
_GROW = update(cluster).where(cluster.c.id == bindparam("key")).values(size=cluster.c.size + 1)
_KNOWN_TEXTS = select(article.c.text_hash).where(among(article.c.text_hash)).distinct()
_CANDIDATES = select(*_CANDIDATE_COLUMNS).join(url, url.c.id == article.c.id)
_EXACT = (
    _CANDIDATES.where(article.c.text_hash == bindparam("text_hash"))
    .order_by(article.c.site_id != bindparam("site_id"), article.c.duplicate_of.is_not(None))
    .limit(_MOST_EXACT)
)
_TIED = _CANDIDATES.where(among(url.c.same_as), url.c.same_as.is_not(None)).limit(10 * _MOST_EXACT)
_BY_ID = _CANDIDATES.where(among(article.c.id))
_HITS = select(shingle.c.hash, shingle.c.article_id).where(among(shingle.c.hash))


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


def _write_shingles(connection: Connection, articles: Sequence[NewArticle], common: Set[int]) -> None:
    """Index texts, leaving out shingles that are in enough articles already."""
    rows = sorted((key, new.id) for new in articles for key in new.shingles if key not in common)
    insert_rows(connection, shingle, ("hash", "article_id"), rows)


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
    _write_shingles(connection, [new], set())
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


def _delete(connection: Connection, old: Row[Any], into: Row[Any]) -> None:
    """Remove an article whose text is in another one; the copies of it are that one's."""
    original = into.id if into.duplicate_of in {None, old.id} else into.duplicate_of
    for table in (image, version):
        connection.execute(table.delete().where(table.c.article_id == old.id))
    connection.execute(duplicate.delete().where((duplicate.c.article_id == old.id) | (duplicate.c.of_id == old.id)))
    connection.execute(article.delete().where(article.c.id == old.id))
    if old.duplicate_of is not None:
        connection.execute(update(cluster).where(cluster.c.id == old.cluster_id).values(size=cluster.c.size - 1))
        return
    copies = article.c.cluster_id == old.id
    connection.execute(update(article).where(copies).values(cluster_id=original, duplicate_of=original))
    connection.execute(update(article).where(article.c.id == original).values(duplicate_of=None))
    connection.execute(cluster.delete().where(cluster.c.id == old.id))
    insert = insert_new(connection, cluster)
    connection.execute(insert, {"id": original, "size": 0})
    members = select(func.count()).where(article.c.cluster_id == original).scalar_subquery()
    connection.execute(update(cluster).where(cluster.c.id == original).values(size=members))
