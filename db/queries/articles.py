"""Stored articles as items, with the names and values of `v_articles`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, String, bindparam, cast, exists, func, select

from ..engine.statements import among
from ..records.article import COLUMNS, LISTS, ArticleItem, split_names, split_stories
from ..records.keys import iso
from ..tables.articles import (
    HTML,
    TEXT,
    WITH_HOLDER,
    ArticleClassRow,
    ArticleRow,
    ClusterRow,
    DuplicateRow,
    ImageRow,
    PageRow,
)
from ..tables.shards import ElsewhereRow
from ..tables.urls import SiteRow, UrlRow
from .status import Version, versions

article, article_class, cluster, duplicate, elsewhere, image, page, url, site = (
    model.table()
    for model in (
        ArticleRow,
        ArticleClassRow,
        ClusterRow,
        DuplicateRow,
        ElsewhereRow,
        ImageRow,
        PageRow,
        UrlRow,
        SiteRow,
    )
)


def items(connection: Connection, requests: Sequence[Sequence[int]]) -> list[list[ArticleItem]]:
    """Read the articles of each request, but for those that are not stored.

    Cost: two reads for all requests.
    """
    wanted = {"ids": list(chain.from_iterable(requests))}
    images = images_of(connection, wanted["ids"])
    items_by_id = {
        row["key"]: _item(row, images.get(row["key"], [])) for row in connection.execute(_ARTICLES, wanted).mappings()
    }
    return [[items_by_id[key] for key in ids if key in items_by_id] for ids in requests]


def images_of(connection: Connection, ids: Sequence[int]) -> dict[int, list[dict[str, str]]]:
    images: dict[int, list[dict[str, str]]] = {}
    for row in connection.execute(_IMAGES, {"ids": ids}):
        images.setdefault(row.article_id, []).append({"url": row.url, "caption": row.caption})
    return images


def _item(row: RowMapping, images: list[dict[str, str]]) -> ArticleItem:
    values = {name: row[name] for name in (*COLUMNS, "html")}
    values |= {name: split_names(values[name]) for name in LISTS} | {"related": split_stories(values["related"])}
    return ArticleItem(**{**values, "fetched_at": iso(values["fetched_at"])}, images=images)


_original, _similar = url.alias(), url.alias()
_NO_COLUMN: dict[str, ColumnElement[Any]] = {
    "id": cast(article.c.id, String),
    "url": url.c.url,
    "text": TEXT,
    "html": HTML,
    "site": site.c.name,
    "fetched_at": url.c.fetched_at,
    "duplicate_of": func.coalesce(_original.c.url, elsewhere.c.of_url),
    "similarity": func.coalesce(elsewhere.c.similarity, duplicate.c.similarity),
    "duplicate_method": func.coalesce(elsewhere.c.method, duplicate.c.method),
    "duplicate_kind": func.coalesce(elsewhere.c.kind, duplicate.c.kind),
    "similar_to": func.coalesce(elsewhere.c.of_url, _similar.c.url),
}
"""Values that are no plain column of the article."""
SHOWN = {name: (_NO_COLUMN[name] if name in _NO_COLUMN else article.c[name]).label(name) for name in (*COLUMNS, "html")}
"""Values of an article by the names of `v_articles`; `fetched_at` in Unix seconds."""
JOINED = (
    WITH_HOLDER.outerjoin(url, url.c.id == article.c.id)
    .outerjoin(site, site.c.id == article.c.site_id)
    .outerjoin(_original, _original.c.id == article.c.duplicate_of)
    .outerjoin(duplicate, duplicate.c.article_id == article.c.id)
    .outerjoin(_similar, _similar.c.id == duplicate.c.of_id)
    .outerjoin(elsewhere, elsewhere.c.article_id == article.c.id)
)
_ARTICLES = select(article.c.id.label("key"), *SHOWN.values()).select_from(JOINED).where(among(article.c.id))
_IMAGES = (
    select(image.c.article_id, image.c.url, image.c.caption)
    .where(among(image.c.article_id))
    .order_by(image.c.article_id, image.c.position)
)


@dataclass(frozen=True, slots=True)
class ReadArticle:
    """A stored article; its cluster is all those with the same text.

    `versions` are the newest first, `memberships` (class, membership), the best first.
    """

    item: ArticleItem
    cluster_id: int
    cluster_size: int
    has_page: bool
    versions: Sequence[Version]
    memberships: Sequence[tuple[str, float]] = ()


def read_article(connection: Connection, article_id: int) -> ReadArticle | None:
    """Read an article; None when there is none.

    Cost: five reads by keys.
    """
    article_items = items(connection, [[article_id]])[0]
    if not article_items:
        return None
    row = connection.execute(
        select(article.c.cluster_id, cluster.c.size, exists().where(page.c.url_id == article.c.id).label("has_page"))
        .outerjoin(cluster, cluster.c.id == article.c.cluster_id)
        .where(article.c.id == article_id)
    ).one()
    memberships = [(name, share) for name, share in connection.execute(_MEMBERSHIPS, {"key": article_id})]
    earlier = versions(connection, article_id)
    return ReadArticle(article_items[0], row.cluster_id, row.size or 1, bool(row.has_page), earlier, memberships)


_MEMBERSHIPS = (
    select(article_class.c.name, article_class.c.membership)
    .where(article_class.c.article_id == bindparam("key"))
    .order_by(article_class.c.membership.desc(), article_class.c.name)
)
