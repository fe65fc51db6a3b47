"""Articles that are described again: their texts and pages, and writing them."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, or_, select, update

from ..engine.database import Database
from ..engine.statements import among, run_many
from ..records.reasons import REASONS, PageReason
from ..records.search import MakeTerms
from ..search import index
from ..tables.articles import READ_BODY, READ_TYPE, TEXT, WITH_HOLDER, ArticleRow, PageRow
from ..tables.urls import UrlRow
from . import classes, rework
from .rework import Wanted
from .signatures import lock_articles

article, page, url = (model.table() for model in (ArticleRow, PageRow, UrlRow))

OF_HARM = ("harm", "harm_kind", "harm_detail")
_COLUMNS = ("keywords", "summary", "classes", "harm", "harm_kind", "described_with")


class DescribedText(NamedTuple):
    """A stored article without its description; its page where that is kept."""

    id: int
    updated: str
    title: str
    text: str
    language: str
    harm: float | None
    url: str
    content_type: str | None = None
    body: bytes | None = None


class Redescribed(NamedTuple):
    """An article with its description; without values `OF_HARM` it keeps its own."""

    article: DescribedText
    values: Mapping[str, Any]


def find(database: Database, wanted: Wanted) -> array[int]:
    """Return articles of the wanted kinds that were described by something else.

    Raises:
        ValueError: the condition cannot be used.
    """
    others = (article.c.described_with != wanted.made_with) & article.c.kind.in_(wanted.kinds)
    return rework.chosen(database, wanted, others)


def find_undescribed(kinds: Collection[str], connection: Connection) -> array[int]:
    """Return articles of some kinds that are yet to be described, the oldest first."""
    query = select(article.c.id).where(article.c.described_with == "", article.c.kind.in_(kinds))
    return array("q", connection.execute(query.order_by(article.c.number)).scalars())


def read(connection: Connection, ids: Sequence[int]) -> list[DescribedText]:
    return [DescribedText(*row) for row in connection.execute(_TEXTS, {"ids": list(ids)})]


def read_undescribed(connection: Connection, ids: Sequence[int]) -> list[DescribedText]:
    """Read those of some articles that are yet to be described, without their pages."""
    return [DescribedText(*row) for row in connection.execute(_UNDESCRIBED, {"ids": list(ids)})]


_ALONE = (
    select(article.c.id, article.c.updated, article.c.title, TEXT, article.c.language, article.c.harm, url.c.url)
    .select_from(WITH_HOLDER.join(url, url.c.id == article.c.id))
    .where(among(article.c.id))
)
_TEXTS = _ALONE.add_columns(READ_TYPE, READ_BODY).outerjoin(page, page.c.url_id == article.c.id)
_UNDESCRIBED = _ALONE.where(article.c.described_with == "")


def write(make_terms: MakeTerms, connection: Connection, batches: Sequence[Sequence[Redescribed]]) -> list[int]:
    """Write descriptions; returns how many of each batch are other ones.

    An article that was written meanwhile keeps what it got then.
    """
    lock_articles(connection)
    return [len(_write(make_terms, connection, batch)) for batch in batches]


def _write(make_terms: MakeTerms, connection: Connection, batch: Sequence[Redescribed]) -> set[int]:
    stored = {row.id: row for row in connection.execute(_STORED, {"ids": [one.article.id for one in batch]})}
    wanted = {
        one.article.id: {name: stored[one.article.id]._mapping[name] for name in _COLUMNS} | dict(one.values)
        for one in sorted(batch, key=lambda one: one.article.id)
        if one.article.id in stored and stored[one.article.id].updated == one.article.updated
    }
    others = {key: _differing(stored[key], values) for key, values in wanted.items()}
    run_many(connection, _DESCRIBE, [{"key": key, **_columns(values)} for key, values in wanted.items()])
    reclassed = classes.renew(connection, {key: values["memberships"] for key, values in wanted.items()})
    details = {key: values["harm_detail"] for key, values in wanted.items() if "harm_detail" in values}
    run_many(connection, _FLAG, [{"key": key, "detail": detail} for key, detail in details.items() if detail])
    cleared = [key for key, detail in details.items() if not detail and stored[key].harm_kind]
    run_many(connection, _CLEAR, [{"key": key} for key in cleared])
    index.renew(connection, [key for key, names in others.items() if "classes" in names], make_terms)
    return reclassed | {key for key, names in others.items() if names}


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": values[name] for name in _COLUMNS}


def _differing(stored: Any, values: Mapping[str, Any]) -> set[str]:
    return {name for name in _COLUMNS if values[name] != stored._mapping[name]} - {"described_with"}


_STORED = select(article.c.id, article.c.updated, *(article.c[name] for name in _COLUMNS)).where(among(article.c.id))
_DESCRIBE = (
    update(article)
    .where(article.c.id == bindparam("key"))
    .values({name: bindparam(f"new_{name}") for name in _COLUMNS})
)
_LESS = [reason for reason in REASONS if reason.is_doubt] + [PageReason.HARMFUL]
"""Reasons of stored articles that this one goes before."""
_FLAG = (
    update(url)
    .where(url.c.id == bindparam("key"), or_(url.c.reason.is_(None), *(url.c.reason == each for each in _LESS)))
    .values(reason=PageReason.HARMFUL, reason_detail=bindparam("detail"))
)
_CLEAR = (
    update(url)
    .where(url.c.id == bindparam("key"), url.c.reason == PageReason.HARMFUL)
    .values(reason=None, reason_detail=None)
)
