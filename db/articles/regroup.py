"""Group stored articles again: signatures, evidence and clusters made anew."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, Select, func, select, update

from ..engine.database import Database
from ..engine.statements import upsert
from ..records.article import Judge, NewArticle
from ..records.signature import MemoryIndex, TextFeatures
from ..search import index as search
from ..tables.articles import (
    TEXT,
    WITH_HOLDER,
    ArticleRow,
    ClusterRow,
    DuplicateRow,
    SignatureFormRow,
    SignatureRow,
    SourceAttributionRow,
)
from ..tables.urls import SiteRow
from .apply import regroup
from .candidates import ALONE
from .signatures import catch_up

article, cluster, duplicate, signature, form, attribution, site = (
    model.table()
    for model in (
        ArticleRow,
        ClusterRow,
        DuplicateRow,
        SignatureRow,
        SignatureFormRow,
        SourceAttributionRow,
        SiteRow,
    )
)

_AT_ONCE = 100
_FIRST, _LAST = -(1 << 63), (1 << 63) - 1


class ArticleText(NamedTuple):
    id: int
    site_id: int
    title: str
    text: str


def numbers(connection: Connection) -> array[int]:
    rows = connection.execution_options(yield_per=10_000).execute(select(article.c.number).order_by(article.c.number))
    return array("q", (number for (number,) in rows))


def texts(database: Database, first: int, last: int) -> Iterator[ArticleText]:
    """Yield the articles from one number to another, in this order."""
    while True:
        rows = database.read(partial(_read, first=first, last=last))
        yield from (ArticleText(row.id, row.site_id, row.title, row.text) for row in rows)
        if len(rows) < _AT_ONCE:
            return
        first = rows[-1].number + 1


def _read(connection: Connection, first: int, last: int) -> Sequence[Row[Any]]:
    return connection.execute(_texts(first, last)).all()


def group_again(
    connection: Connection, judge: Judge, index: MemoryIndex, signed: Callable[[ArticleText], TextFeatures]
) -> int:
    """Group all stored articles anew, as if they came now; returns how many.

    Signatures, evidence and clusters are made anew; evidence of copies that were not stored stays. The caller holds the
    lock on articles. `index` is empty.
    """
    _clear(connection)
    index.clear()
    index.known = connection.execute(select(func.max(signature.c.number))).scalar_one() or 0
    connection.execute(signature.delete())
    done, first = 0, _FIRST
    while rows := connection.execute(_texts(first, _LAST, *_COPIED)).all():
        new = [_new(row, signed(ArticleText(row.id, row.site_id, row.title, row.text))) for row in rows]
        regroup(connection, new, judge, index)
        catch_up(connection, index)
        done += len(rows)
        first = rows[-1].number + 1
    upsert(connection, form, {"id": 1}, {"form": index.form})
    search.regroup_all(connection)
    return done


def _clear(connection: Connection) -> None:
    connection.execute(duplicate.delete().where(duplicate.c.article_id.in_(select(article.c.id))))
    connection.execute(cluster.delete())
    connection.execute(update(article).values(cluster_id=ALONE, duplicate_of=None))
    connection.execute(update(site).values(originals=0, reprints=0))
    connection.execute(attribution.delete())


_COPIED = ("source", "published_at", "published_utc", "published_precision", "text_hash", "updated")


def _texts(first: int, last: int, *more: str) -> Select[Any]:
    return (
        select(article.c.number, article.c.id, article.c.site_id, article.c.title, TEXT.label("text"))
        .add_columns(*(article.c[name] for name in more))
        .select_from(WITH_HOLDER)
        .where(article.c.number.between(first, last))
        .order_by(article.c.number)
        .limit(_AT_ONCE)
    )


def _new(row: Row[Any], signed: TextFeatures) -> NewArticle:
    return NewArticle(
        id=row.id,
        site_id=row.site_id,
        title=row.title,
        text=row.text,
        source=row.source,
        published_at=row.published_at,
        published_utc=row.published_utc,
        published_precision=row.published_precision,
        text_hash=row.text_hash,
        seen=row.updated,
        features=signed.features,
        length=signed.length,
        canonical_id=None,
        **_UNSEEN,
    )


_UNSEEN: Final[dict[str, Any]] = {
    **dict.fromkeys(("authors", "language", "html", "description", "tags", "section", "extractor"), ""),
    **{"published_from": None, "quality": 0.0, "images": ()},
}
