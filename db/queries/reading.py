"""An article with all that a reader may want to know of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, exists, select

from ..records.article import ArticleItem
from ..tables.articles import ArticleRow, ClusterRow, PageRow
from .articles import items
from .status import Version, versions

article, cluster, page = (m.table() for m in (ArticleRow, ClusterRow, PageRow))


@dataclass(frozen=True, slots=True)
class ReadArticle:
    """A stored article.

    Attributes:
        item: its values.
        cluster_id, cluster_size: the articles with the same text.
        has_page: whether the bytes of its page are stored.
        versions: earlier texts, the newest first.
    """

    item: ArticleItem
    cluster_id: int
    cluster_size: int
    has_page: bool
    versions: Sequence[Version]


def read_article(connection: Connection, article_id: int) -> ReadArticle | None:
    """Read an article; None when there is none.

    Cost: four reads by keys.
    """
    found = items(connection, [[article_id]])[0]
    if not found:
        return None
    row = connection.execute(
        select(article.c.cluster_id, cluster.c.size, exists().where(page.c.url_id == article.c.id).label("has_page"))
        .outerjoin(cluster, cluster.c.id == article.c.cluster_id)
        .where(article.c.id == article_id)
    ).one()
    return ReadArticle(found[0], row.cluster_id, row.size or 1, bool(row.has_page), versions(connection, article_id))
