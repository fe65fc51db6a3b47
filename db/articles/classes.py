"""Memberships of articles in classes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, select

from ..engine.statements import among, insert_rows
from ..tables.articles import ArticleClassRow

article_class = ArticleClassRow.table()

Memberships = Mapping[int, Sequence[tuple[str, float]]]


def insert(connection: Connection, memberships: Memberships) -> None:
    rows = [(key, name, share) for key, named in memberships.items() for name, share in named]
    insert_rows(connection, article_class, ("article_id", "name", "membership"), rows)


def renew(connection: Connection, memberships: Memberships) -> set[int]:
    """Write memberships of stored articles where they differ; returns these articles."""
    if not memberships:
        return set()
    stored: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for key, name, share in connection.execute(_STORED, {"ids": list(memberships)}):
        stored[key][name] = share
    changed = {key: named for key, named in memberships.items() if dict(named) != stored[key]}
    if changed:
        connection.execute(_FORGET, {"ids": list(changed)})
        insert(connection, changed)
    return set(changed)


_STORED = select(article_class.c.article_id, article_class.c.name, article_class.c.membership).where(
    among(article_class.c.article_id)
)
_FORGET = article_class.delete().where(among(article_class.c.article_id))
