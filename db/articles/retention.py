"""Retention: raw pages by the month in which they were fetched, and earlier texts.

On Postgres a month is forgotten by dropping a partition (`db.engine.partitions`), on SQLite its rows are deleted, some
at a time. The effect is the same: months that had ended by then go.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, text

from ..engine.partitions import Month, make_partitions, partitions
from ..engine.statements import among, is_postgres, one_by_one, run_many
from ..records.keys import iso
from ..records.outcome import Outcome, Stored
from ..records.reasons import ArticleResult
from ..records.url import Pruning
from ..tables.articles import ArticleVersionRow, PageRow

page, version = PageRow.table(), ArticleVersionRow.table()

_PAGES_AT_ONCE, _VERSIONS_AT_ONCE = 200, 1_000
"""Rows of a transaction, few enough that nobody waits long for it."""
_OLD_TEXT = frozenset({ArticleResult.UNCHANGED, ArticleResult.UPDATED})


def keep_raw(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    """Keep the bytes of pages: those that the stored text came from, else the newest."""
    new: dict[int, dict[str, Any]] = {}
    only_first: list[int] = []
    for outcome, result in zip(outcomes, results, strict=True):
        raw, what = outcome.raw, result.article
        if raw is None or (what is not None and what.why_not_stored):
            continue
        place = (raw.archived.file, raw.archived.offset) if raw.archived is not None else (None, None)
        row = (outcome.lease.id, outcome.fetched_at, raw.content_type, raw.encoding, raw.body, *place, raw.dom)
        new[outcome.lease.id] = dict(zip(_COLUMNS, row, strict=True))
        if what in _OLD_TEXT and not result.changed:  # of a wall, for instance
            only_first.append(outcome.lease.id)
    for stored_id in connection.execute(_KNOWN, {"ids": only_first}).scalars() if only_first else ():
        del new[stored_id]
    if new:
        make_partitions(connection, (row["fetched_at"] for row in new.values()))
        connection.execute(_REPLACE, {"ids": sorted(new)})  # its key has the time, which is another now
        run_many(connection, _INSERT, [new[key] for key in sorted(new)])


_COLUMNS = page.c.keys()
_KNOWN = select(page.c.url_id).where(among(page.c.url_id))
_REPLACE = delete(page).where(among(page.c.url_id))
_INSERT = page.insert().values({column.name: bindparam(column.name) for column in page.c})


@one_by_one
def prune_pages(connection: Connection, pruning: Pruning) -> float | None:
    """Delete pages of months that had ended by a time; returns the time reached.

    Cost: a page 50 microseconds on SQLite; a month some milliseconds on Postgres.
    """
    month = Month.of(pruning.before)
    if is_postgres(connection):
        for name in partitions(connection):
            if name < month.partition:
                connection.execute(text(f"DROP TABLE {name}"))
        return None
    rows = connection.execute(_OLD_PAGES, {"before": month.begin}).all()
    connection.execute(_REPLACE, {"ids": [row.url_id for row in rows]})
    return float(rows[-1].fetched_at) if rows else None


_OLD_PAGES = (
    select(page.c.url_id, page.c.fetched_at)
    .where(page.c.fetched_at < bindparam("before"))
    .order_by(page.c.fetched_at)
    .limit(_PAGES_AT_ONCE)
)


@one_by_one
def prune_versions(connection: Connection, pruning: Pruning) -> float | None:
    """Delete the next earlier texts, the oldest first; returns the time reached."""
    rows = connection.execute(_OLD_VERSIONS, {"before": iso(pruning.before)}).all()
    run_many(connection, _FORGET, [{"article": row.article_id, "time": row.seen} for row in sorted(rows)])
    return datetime.fromisoformat(rows[-1].seen).timestamp() if rows else None


_OLD_VERSIONS = (
    select(version.c.article_id, version.c.seen)
    .where(version.c.seen < bindparam("before"))
    .order_by(version.c.seen)
    .limit(_VERSIONS_AT_ONCE)
)
_FORGET = delete(version).where(version.c.article_id == bindparam("article"), version.c.seen == bindparam("time"))
