"""Signatures: rows by which near-duplicates of an article are found.

Looking up dozens of hashes of every new text in a table of millions would cost more than everything else that is done
with a page. So each process has an index of all signatures in memory (`MemoryIndex`, made by the caller), and each
transaction that writes articles begins with reading the new rows, its own and those of others. Rows are numbered in the
order in which transactions end, because `lock_articles` lets one process at a time write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from sqlalchemy import BigInteger, Connection, bindparam, exists, func, or_, select, text, update

from ..engine.database import Database, Query
from ..engine.locks import AdvisoryLock
from ..engine.statements import among, insert_rows, is_postgres, upsert
from ..frontier.runs import refuse_beside_crawls
from ..records.keys import day_of
from ..records.signature import MemoryIndex, Reader, Sign, SignatureDifferences, Signed, SignedText
from ..tables.articles import ArticleRow, DuplicateRow, SignatureFormRow, SignatureRow

article, duplicate, signature, form = (m.table() for m in (ArticleRow, DuplicateRow, SignatureRow, SignatureFormRow))

T = TypeVar("T")
_ROWS = 100_000
_TEXTS = 500
_COLUMNS = ("number", "article_id", "cluster", "day", "length", "features", "fresh")


def lock_articles(connection: Connection) -> None:
    """Let one process at a time write articles, until its transaction ends."""
    if is_postgres(connection):
        AdvisoryLock.ARTICLES.take(connection)


def write_alone(database: Database, work: Query[T]) -> T:
    """Run a write transaction beside which nobody crawls or writes articles.

    Raises:
        WrongDatabase: a run is at work.
        DatabaseProblem: the database cannot be written.
    """

    def alone(connection: Connection) -> T:
        refuse_beside_crawls(connection, database.name)
        lock_articles(connection)
        return work(connection)

    return database.write(alone)


def catch_up(connection: Connection, index: MemoryIndex) -> None:
    """Read the rows that are new to the index; the caller holds the lock on articles."""
    index.read([Signed(*row) for row in connection.execute(_SINCE, {"known": index.known}).all()])


def load(connection: Connection, readers: Sequence[Reader]) -> list[None]:
    """Read all signatures; make them first if there are none of this form.

    Cost: 10 microseconds a signature.
    """
    for reader in readers:
        index = reader.index
        if _form(connection) != index.form:
            if is_postgres(connection):
                connection.execute(text("SET LOCAL lock_timeout = 0"))  # another process may be making them
            lock_articles(connection)
            if _form(connection) != index.form:  # nobody else has just done it
                if connection.execute(select(article.c.id).limit(1)).first():
                    reader.progress("duplicates are found in another way now: all articles get new signatures")
                rebuild(connection, reader)
                continue
        _read(connection, index)
    return [None] * len(readers)


def _read(connection: Connection, index: MemoryIndex) -> None:
    if not (index.restore() and _agree(connection, index)):
        index.clear()
    oldest = None
    if index.window is not None:
        newest = connection.execute(select(func.max(signature.c.day))).scalar_one()
        oldest = None if newest is None else newest - index.window
    for rows in _all(connection, oldest, index.known):
        index.read(rows)


def _agree(connection: Connection, index: MemoryIndex) -> bool:
    """Bring what an index has saved up to date; False when the table has other rows.

    Cost: 1 microsecond a signature.
    """
    rows = connection.execute(_ARTICLES, {"known": index.known}).all()
    numbers, articles = zip(*rows, strict=True) if rows else ((), ())
    touched = index.agree(numbers, articles)
    if touched is None:
        return False
    for first in range(0, len(touched), _TEXTS):
        ids = touched[first : first + _TEXTS]
        index.extend([Signed(*row) for row in connection.execute(_ROWS_OF, {"ids": ids}).all()])
    return True


def _form(connection: Connection) -> str | None:
    return connection.execute(select(form.c.form)).scalar_one_or_none()


def rebuild(connection: Connection, reader: Reader) -> int:
    """Make all signatures anew, in the order of the articles; returns how many.

    The caller holds the lock on articles. Cost: 0.3 ms an article.
    """
    index = reader.index
    top = connection.execute(select(func.max(signature.c.number))).scalar_one() or 0
    connection.execute(signature.delete())
    index.clear()
    index.known = top  # who reads beside this finds the new rows behind the old ones
    clusters: dict[int, int] = {}
    done = 0
    for texts in _texts(connection):
        rows = []
        for one in texts:
            signed = reader.sign(one.title, one.text)
            if not signed.length:
                continue
            cluster, day = clusters.get(one.cluster_id), day_of(one.updated)
            row = index.post(one.article_id, cluster, day, signed.length, signed.features)
            clusters.setdefault(one.cluster_id, row.cluster)
            rows.append(row)
        insert(connection, rows)
        index.read(rows)
        done += len(rows)
        if done % 50_000 < len(rows):
            reader.progress(f"{done:,} signatures made")
    upsert(connection, form, {"id": 1}, {"form": index.form})
    return done


def check(connection: Connection, wanted: str, sign: Sign) -> SignatureDifferences:
    """Compare all signatures with the articles' texts, in one snapshot.

    The transaction has read nothing yet; `wanted` is the form that signatures should have, which `sign` makes.
    """
    if is_postgres(connection):
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
    stored: dict[int, tuple[int, bytes]] = {}
    count = 0
    for rows in _all(connection, None):
        for row in rows:
            if row.article_id:
                count += 1
                stored[row.article_id] = row.length, row.features
    missing: list[int] = []
    wrong: list[int] = []
    for texts in _texts(connection):
        for one in texts:
            signed = sign(one.title, one.text)
            stored_signature = stored.pop(one.article_id, None)
            if stored_signature is None and signed.length:
                missing.append(one.article_id)
            elif stored_signature is not None and stored_signature != (signed.length, signed.features):
                wrong.append(one.article_id)
    return SignatureDifferences(count, missing, list(stored), wrong, _form(connection) != wanted)


def insert(connection: Connection, rows: Sequence[Signed]) -> None:
    insert_rows(connection, signature, _COLUMNS, rows)


def remove(connection: Connection, article_ids: Iterable[int]) -> None:
    """Empty the rows of articles whose texts are gone; numbers are never reused.

    What a later text of the cluster shared with one of them is looked up by that text from now on.
    """
    ids = list(article_ids)
    clusters = connection.execute(_CLUSTERS, {"ids": ids}).scalars().all()
    connection.execute(_REMOVE, {"ids": ids})
    for cluster in clusters:
        connection.execute(_WHOLE, {"of_cluster": cluster})


def move(connection: Connection, old: int, new: int) -> None:
    """Give a signature another article; the indexes of processes keep the old one."""
    connection.execute(_MOVE, {"old": old, "new": new})


def hand_over(connection: Connection, old: int, new: int) -> None:
    """Give a signature another article in a new row: all processes learn of it."""
    if connection.execute(_CLUSTER_OF, {"ids": [old]}).first() is not None:
        connection.execute(_AGAIN, {"old": old, "new": new})
        remove(connection, [old])


def row_of(connection: Connection, article_id: int) -> Signed | None:
    row = connection.execute(_ROW, {"ids": [article_id]}).first()
    return None if row is None else Signed(*row)


def cluster_of(connection: Connection, waiting: Sequence[Signed], article_ids: Sequence[int]) -> int | None:
    """Return the cluster that one of these articles is in, waiting rows included."""
    for row in waiting:
        if row.article_id in article_ids:
            return row.cluster
    return connection.execute(_CLUSTER_OF, {"ids": article_ids}).scalar_one_or_none()


_ALL_COLUMNS = tuple(signature.c[name] for name in _COLUMNS)
_SINCE = select(*_ALL_COLUMNS).where(signature.c.number > bindparam("known")).order_by(signature.c.number)
_NEXT = _SINCE.limit(_ROWS)
_REMOVE = (
    update(signature).where(among(signature.c.article_id)).values(article_id=0, length=0, features=b"", fresh=None)
)
_CLUSTERS = select(signature.c.cluster).where(among(signature.c.article_id)).distinct()
_NEXT_OF_CLUSTER = select(func.min(signature.c.number)).where(
    signature.c.cluster == bindparam("of_cluster"), signature.c.fresh.is_not(None), signature.c.article_id != 0
)
_WHOLE = update(signature).where(signature.c.number == _NEXT_OF_CLUSTER.scalar_subquery()).values(fresh=None)
_ROWS_OF = select(*_ALL_COLUMNS).where(among(signature.c.article_id))
_ROW = _ROWS_OF.limit(1)
_ARTICLES = (
    select(signature.c.number, signature.c.article_id)
    .where(signature.c.number <= bindparam("known"))
    .order_by(signature.c.number)
)
_AGAIN = signature.insert().from_select(
    _COLUMNS,
    select(
        select(func.max(signature.c.number) + 1).scalar_subquery(),
        bindparam("new", type_=BigInteger),
        signature.c.cluster,
        signature.c.day,
        signature.c.length,
        signature.c.features,
        signature.c.fresh,
    )
    .where(signature.c.article_id == bindparam("old"))
    .limit(1),
)
_MOVE = update(signature).where(signature.c.article_id == bindparam("old")).values(article_id=bindparam("new"))
_CLUSTER_OF = select(signature.c.cluster).where(among(signature.c.article_id)).order_by(signature.c.number).limit(1)


def _all(connection: Connection, oldest: int | None, known: int = 0) -> Iterator[list[Signed]]:
    statement = _NEXT if oldest is None else _NEXT.where(signature.c.day >= oldest)
    while rows := [Signed(*row) for row in connection.execute(statement, {"known": known}).all()]:
        yield rows
        known = rows[-1].number


_SIGNED = or_(
    article.c.duplicate_of.is_(None), exists().where(duplicate.c.article_id == article.c.id, duplicate.c.own == 1)
)
_ORDER = select(article.c.id).where(article.c.text != "", _SIGNED).order_by(article.c.first_seen, article.c.id)
_TEXT_COLUMNS = (article.c.id, article.c.cluster_id, article.c.updated, article.c.title, article.c.text)
_TEXTS_OF = select(*_TEXT_COLUMNS).where(among(article.c.id))


def _texts(connection: Connection) -> Iterator[list[SignedText]]:
    order = connection.execute(_ORDER).scalars().all()
    for first in range(0, len(order), _TEXTS):
        ids = order[first : first + _TEXTS]
        rows = {row.id: SignedText(*row) for row in connection.execute(_TEXTS_OF, {"ids": ids})}
        yield [rows[key] for key in ids if key in rows]
