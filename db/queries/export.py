"""Rows for exports: a page at a time in a stable order, each behind a key.

Each page is a transaction of its own. So an export holds up no crawl, however long it takes, and needs no memory of
what it has read: the key of its last row says where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    cast,
    column,
    func,
    null,
    select,
    table,
    tuple_,
)

from ..engine.statements import among
from ..records.keys import fingerprint, iso
from ..tables.articles import ArticleRow, DuplicateRow
from ..tables.urls import HostRow, LinkRow, SiteRow, UrlRow
from .articles import JOINED, SHOWN, images_of

article, duplicate, link, url, host, site = (
    m.table() for m in (ArticleRow, DuplicateRow, LinkRow, UrlRow, HostRow, SiteRow)
)

Key: TypeAlias = tuple[int, ...]
"""Place of a row in the order of its table; the empty one is before all."""
Row: TypeAlias = tuple[Key, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions on rows; an empty one is none.

    Attributes:
        since, until: a day, which counts as a whole, or a time in UTC, `YYYY-MM-DD HH:MM:SS`. They are compared with
            the time of publication of articles (by the page's own clock when it is a day; of pages that state none with
            the time at which they were found first), and with the last fetch of the pages of links and sites.
        language: code, or its beginning: `zh` is all Chinese.
        source: what articles name as their source.
    """

    since: str = ""
    until: str = ""
    site: str = ""
    language: str = ""
    source: str = ""


ReadPage: TypeAlias = Callable[[Connection, Sequence[str], Selection, Key, int], Sequence[Row]]
"""Reads some columns of at most so many rows behind a key."""


def has_site(connection: Connection, name: str) -> bool:
    return connection.execute(select(site.c.id).where(site.c.id == fingerprint(name))).first() is not None


def article_page(connection: Connection, columns: Sequence[str], wanted: Selection, after: Key, most: int) -> list[Row]:
    """Read articles in the order in which they were stored; the key is the number.

    Columns are those of `v_articles`, `html` and `images`.
    """
    rows = _articles(columns).where(*_of_articles(article, wanted)).order_by(article.c.number).limit(most)
    if after:
        rows = rows.where(article.c.number > after[0])
    return list(_read_articles(connection, columns, rows, {}).values())


def articles_by_id(connection: Connection, columns: Sequence[str], wanted: Selection, ids: Sequence[int]) -> list[Row]:
    """Read those of some articles that fulfil conditions, ordered by number."""
    rows = _articles(columns).where(among(article.c.id), *_of_articles(article, wanted)).order_by(article.c.number)
    return list(_read_articles(connection, columns, rows, {"ids": list(ids)}).values())


def articles_in_order(connection: Connection, columns: Sequence[str], ids: Sequence[int]) -> list[Row]:
    """Read articles in the order of their ids; those that are gone are left out."""
    rows = _articles(columns).where(among(article.c.id))
    rows_by_id = _read_articles(connection, columns, rows, {"ids": list(ids)})
    return [rows_by_id[key] for key in ids if key in rows_by_id]


def _articles(columns: Sequence[str]) -> Select[Any]:
    shown = [null().label(name) if name == "images" else SHOWN[name] for name in columns]
    return select(article.c.number.label("key"), article.c.id.label("article_id"), *shown).select_from(JOINED)


def _read_articles(
    connection: Connection, columns: Sequence[str], rows: Select[Any], parameters: Mapping[str, Any]
) -> dict[int, Row]:
    article_rows = connection.execute(rows, parameters).all()
    times = [at for at, name in enumerate(columns) if name == "fetched_at"]
    pictures = [at for at, name in enumerate(columns) if name == "images"]
    images = images_of(connection, [row.article_id for row in article_rows]) if pictures else {}
    made: dict[int, Row] = {}
    for number, key, *values in article_rows:
        for at in times:
            values[at] = None if values[at] is None else iso(values[at])
        for at in pictures:
            values[at] = images.get(key, [])
        made[key] = (number,), tuple(values)
    return made


def _of_articles(of: Any, wanted: Selection) -> list[ColumnElement[bool]]:
    """Return the conditions on articles.

    They are written so that no index serves them: one that finds the articles of a site or month would have them sorted
    by number again for every page.
    """
    conditions = []
    clock = func.coalesce(of.c.published_at, of.c.first_seen)
    instant = func.coalesce(of.c.published_utc, func.replace(func.substr(of.c.first_seen, 1, 19), "T", " "))
    if wanted.since:
        conditions.append((clock if _is_day(wanted.since) else instant) >= wanted.since)
    if wanted.until:
        day = func.substr(clock, 1, len(wanted.until))
        conditions.append((day if _is_day(wanted.until) else instant) <= wanted.until)
    if wanted.site:
        conditions.append(func.coalesce(of.c.site_id, 0) == fingerprint(wanted.site))
    if wanted.language:
        conditions.append(func.substr(of.c.language, 1, len(wanted.language)) == wanted.language)
    if wanted.source:
        conditions.append(of.c.source == wanted.source)
    return conditions


def _is_day(bound: str) -> bool:
    return len(bound) == len("2024-03-12")


_source, _target = url.alias("source_url"), url.alias("target_url")
_LINK = {
    "source": _source.c.url,
    "target": _target.c.url,
    "block": link.c.block,
    "source_id": cast(link.c.source, String),
    "target_id": cast(link.c.target, String),
}
_LINKS = link.outerjoin(_source, _source.c.id == link.c.source).outerjoin(_target, _target.c.id == link.c.target)


def link_page(connection: Connection, columns: Sequence[str], wanted: Selection, after: Key, most: int) -> list[Row]:
    """Read links in the order of their identifiers, source and target: the key."""
    joined, conditions = _LINKS, []
    if wanted.site:
        joined = joined.outerjoin(host, host.c.id == _source.c.host_id)
        conditions.append(host.c.site_id == fingerprint(wanted.site))
    if wanted.since:
        conditions.append(_source.c.fetched_at >= _instants(wanted.since)[0])
    if wanted.until:
        conditions.append(_source.c.fetched_at <= _instants(wanted.until)[1])
    place = (link.c.source, link.c.target)
    rows = select(*place, *(_LINK[name].label(name) for name in columns)).select_from(joined).where(*conditions)
    return _read_pairs(connection, rows, place, after, most)


def _instants(bound: str) -> tuple[float, float]:
    """Return first and last instant of a bound as Unix time; a day is one of UTC."""
    first = datetime.fromisoformat(bound).replace(tzinfo=UTC)
    last = first + timedelta(days=1, microseconds=-1) if _is_day(bound) else first
    return first.timestamp(), last.timestamp()


def _read_pairs(
    connection: Connection, rows: Select[Any], place: tuple[ColumnElement[int], ...], after: Key, most: int
) -> list[Row]:
    if after:
        rows = rows.where(tuple_(*place) > tuple_(*after))
    pair_rows = connection.execute(rows.order_by(*place).limit(most)).all()
    return [((row[0], row[1]), tuple(row[2:])) for row in pair_rows]


class _Side:
    def __init__(self, name: str, key: ColumnElement[int]) -> None:
        self.key = key
        self.url, self.host, self.site, self.article = (
            one.alias(f"{name}_{one.name}") for one in (url, host, site, article)
        )

    def join(self, joined: Any) -> Any:
        return (
            joined.outerjoin(self.url, self.url.c.id == self.key)
            .outerjoin(self.host, self.host.c.id == self.url.c.host_id)
            .outerjoin(self.site, self.site.c.id == self.host.c.site_id)
            .outerjoin(self.article, self.article.c.id == self.key)
        )

    def columns(self, prefix: str) -> dict[str, ColumnElement[Any]]:
        shown = {"url": self.url.c.url, "site": self.site.c.name}
        shown |= {name: self.article.c[name] for name in ("title", "published_at", "published_utc")}
        return {f"{prefix}{name}": column for name, column in shown.items()}


_LATER, _EARLIER = _Side("later", duplicate.c.article_id), _Side("earlier", duplicate.c.of_id)
_DUPLICATE = {
    **_LATER.columns(""),
    **_EARLIER.columns("of_"),
    **{name: duplicate.c[name] for name in ("similarity", "method", "kind")},
    "article_id": cast(duplicate.c.article_id, String),
    "of_id": cast(duplicate.c.of_id, String),
}
_DUPLICATES = _EARLIER.join(_LATER.join(duplicate))


def duplicate_page(
    connection: Connection, columns: Sequence[str], wanted: Selection, after: Key, most: int
) -> list[Row]:
    """Read evidence in the order of its identifiers, article and other: the key."""
    conditions = _of_articles(_LATER.article, Selection(wanted.since, wanted.until, "", wanted.language))
    if wanted.site:
        conditions.append(_LATER.host.c.site_id == fingerprint(wanted.site))
    place = (duplicate.c.article_id, duplicate.c.of_id)
    shown = (_DUPLICATE[name].label(name) for name in columns)
    rows = select(*place, *shown).select_from(_DUPLICATES).where(*conditions)
    return _read_pairs(connection, rows, place, after, most)


def site_page(connection: Connection, columns: Sequence[str], wanted: Selection, after: Key, most: int) -> list[Row]:
    """Read the rows of `v_sites` in the order of their identifiers: the key.

    Cost: counts all URLs for every page, so one page should hold all.
    """
    key = cast(column("id"), BigInteger)
    fetched = func.replace(column("fetched_at", String), "T", " ")
    rows: Any = select(key, *(column(name) for name in columns)).select_from(table("v_sites"))
    if after:
        rows = rows.where(key > after[0])
    if wanted.site:
        rows = rows.where(column("site") == wanted.site)
    if wanted.since:
        rows = rows.where(fetched >= wanted.since)
    if wanted.until:
        rows = rows.where(func.substr(fetched, 1, len(wanted.until)) <= wanted.until)
    site_rows = connection.execute(rows.order_by(key).limit(most)).all()
    return [((row[0],), tuple(row[1:])) for row in site_rows]
