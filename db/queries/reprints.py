"""Clusters of articles for people: who printed first, and who copied from whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from ..engine.statements import among
from ..records.keys import fingerprint
from ..tables.articles import ArticleRow, DuplicateRow
from ..tables.urls import SiteRow, UrlRow

article, duplicate, url, site = (m.table() for m in (ArticleRow, DuplicateRow, UrlRow, SiteRow))

_MOST_HOPS = 8


@dataclass(frozen=True, slots=True)
class Reprint:
    """An article of a cluster, and the evidence that ties it to another.

    Attributes:
        of_id: the article that it repeats (or is related to); None for the one that stands for the cluster.
        similarity, method, kind: the evidence, as in the table.
        text: empty when it is not kept; `text_holder` says which article has the same.
    """

    id: int
    url: str
    site: str
    title: str
    source: str
    published_at: str | None
    published_utc: str | None
    first_seen: str
    text: str
    text_holder: int | None
    text_chars: int
    of_id: int | None
    similarity: float | None
    method: str | None
    kind: str | None


class Branch(NamedTuple):
    article: Reprint
    above: Reprint | None
    depth: int


@dataclass(frozen=True, slots=True)
class Reprints:
    """A cluster: the article that stands for it first, then by time of publication.

    `id` is that of the article that stands for it; `related` articles are kept apart: quotations, bulletins of other
    days.
    """

    id: int
    articles: Sequence[Reprint]
    size: int
    related: Sequence[Reprint]

    def branches(self) -> list[Branch]:
        """Return the tree, each article behind the one that it repeats.

        Where that one is not among these, the article stands below the first. Cost: O(articles x depth).
        """
        first = self.articles[0]
        branches_by_id = {first.id: Branch(first, None, 0)}
        waiting = list(self.articles[1:])
        while waiting:
            ready = [one for one in waiting if one.of_id in branches_by_id] or waiting[:1]
            for one in ready:
                above = branches_by_id.get(one.of_id or 0, branches_by_id[first.id])
                branches_by_id[one.id] = Branch(one, above.article, above.depth + 1)
            waiting = [one for one in waiting if one.id not in branches_by_id]
        return list(branches_by_id.values())

    def text_of(self, one: Reprint) -> str | None:
        if one.text_holder is None:
            return one.text
        return next((other.text for other in self.articles if other.id == one.text_holder), None)


_EVIDENCE = ("of_id", "similarity", "method", "kind")
_ROWS = (
    select(
        *(article.c[name] for name in Reprint.__slots__ if name in article.c and name not in _EVIDENCE),
        url.c.url,
        site.c.name.label("site"),
        *(duplicate.c[name] for name in _EVIDENCE),
    )
    .join(url, url.c.id == article.c.id)
    .join(site, site.c.id == article.c.site_id)
    .outerjoin(duplicate, duplicate.c.article_id == article.c.id)
)


def reprints(connection: Connection, canonical_url: str, most: int) -> Reprints | None:
    """Read the cluster of a URL's article; None when no article is stored for the URL."""
    key: int | None = fingerprint(canonical_url)
    for _ in range(_MOST_HOPS):
        url_reprints = None if key is None else reprints_of(connection, key, most)
        if url_reprints is not None or key is None:
            return url_reprints
        key = connection.execute(select(url.c.same_as).where(url.c.id == key)).scalar()
    return None


def reprints_of(connection: Connection, article_id: int, most: int) -> Reprints | None:
    """Read the cluster of a stored article; None when there is no such article."""
    cluster_id = connection.execute(select(article.c.cluster_id).where(article.c.id == article_id)).scalar()
    if cluster_id is None:
        return None
    members = article.c.cluster_id == cluster_id
    published = article.c.published_utc
    order = (article.c.id != cluster_id, published.is_(None), published, article.c.first_seen)
    rows = connection.execute(_ROWS.where(members).order_by(*order).limit(most)).all()
    size = connection.execute(select(func.count()).where(members)).scalar_one()
    ids = [row.id for row in rows]
    related_ids = [row.of_id for row in rows if row.id == cluster_id and row.of_id is not None]
    pairs = select(duplicate.c.article_id).where(duplicate.c.of_id.in_(ids))
    keys = [*connection.execute(pairs).scalars(), *related_ids]  # without them all articles would be gone through
    near = _ROWS.where(among(article.c.id), duplicate.c.of_id.in_(ids) | article.c.id.in_(related_ids))
    near = near.where(article.c.cluster_id != cluster_id).order_by(published).limit(most)
    related = connection.execute(near, {"ids": keys}).all()
    member_reprints = [Reprint(**row._mapping) for row in rows]
    return Reprints(cluster_id, member_reprints, size, [Reprint(**row._mapping) for row in related])
