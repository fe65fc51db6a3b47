"""Retention: raw pages by the month in which they were fetched, and earlier texts.

On Postgres a month of raw pages is a partition of `page`, made when the first page of it comes; to forget a month is to
drop that. On SQLite its rows are deleted, some at a time. What is kept is the same: months that had ended by then go.

A page is found by its key in the index of each partition: some microseconds for each month that is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, select, text

from ..engine.statements import among, is_postgres, one_by_one, run_many
from ..records.keys import iso
from ..records.outcome import Outcome, Stored
from ..records.reasons import ArticleResult
from ..records.url import Pruning
from ..tables.articles import ArticleVersionRow, PageRow

page, version = PageRow.table(), ArticleVersionRow.table()

_PAGES_AT_ONCE, _VERSIONS_AT_ONCE = 200, 1_000
"""So many in a transaction hold up nobody for long."""
_OLD_TEXT = frozenset({ArticleResult.UNCHANGED, ArticleResult.UPDATED})


class Month(NamedTuple):
    """A month in UTC.

    >>> Month.of(1_700_000_000.0)
    Month(year=2023, number=11)
    >>> Month.of(1_700_000_000.0).begin, Month.of(1_700_000_000.0).next.begin
    (1698796800.0, 1701388800.0)
    """

    year: int
    number: int

    @classmethod
    def of(cls, at: float) -> Month:
        """Return the month of a Unix time."""
        day = datetime.fromtimestamp(at, UTC)
        return cls(day.year, day.month)

    @property
    def begin(self) -> float:
        """Unix time at which it begins."""
        return datetime(self.year, self.number, 1, tzinfo=UTC).timestamp()

    @property
    def next(self) -> Month:
        """The month after it."""
        return Month(self.year + self.number // 12, self.number % 12 + 1)

    @property
    def partition(self) -> str:
        """Table of its pages on Postgres; of two months the later one's name is greater."""
        return f"page_{self.year:04}_{self.number:02}"


def make_partitions(connection: Connection, times: Iterable[float]) -> None:
    """Make the partitions for pages of some times, where there are none yet; nothing on SQLite.

    Cost: one read of the catalogue when all are there.
    """
    months = {month.partition: month for month in map(Month.of, times)} if is_postgres(connection) else {}
    if not months or not (missing := months.keys() - set(_partitions(connection))):
        return
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _PARTITION_LOCK})
    for name in sorted(missing):
        bounds = f"FROM ({months[name].begin}) TO ({months[name].next.begin})"
        connection.execute(text(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF page FOR VALUES {bounds}"))


def _partitions(connection: Connection) -> list[str]:
    """Name the partitions, the oldest first."""
    return list(connection.execute(_PARTITIONS).scalars())


_PARTITION_LOCK = 7_241_895_304
_PARTITIONS = text(
    "SELECT CAST(inhrelid AS regclass)::text FROM pg_inherits WHERE inhparent = CAST('page' AS regclass) ORDER BY 1"
)


def keep_raw(connection: Connection, outcomes: Sequence[Outcome], results: Sequence[Stored]) -> None:
    """Keep the bytes of pages: those that the stored text came from, else the newest."""
    new, only_first = {}, []
    for outcome, result in zip(outcomes, results, strict=True):
        what = result.article
        if outcome.raw is None or (what is not None and what.why_not_stored):
            continue
        new[outcome.lease.id] = {"url_id": outcome.lease.id, "fetched_at": outcome.fetched_at, **asdict(outcome.raw)}
        if what in _OLD_TEXT and not result.changed:  # of a wall, for instance
            only_first.append(outcome.lease.id)
    for known in connection.execute(_KNOWN, {"ids": only_first}).scalars() if only_first else ():
        del new[known]
    if new:
        make_partitions(connection, (row["fetched_at"] for row in new.values()))
        connection.execute(_REPLACE, {"ids": sorted(new)})  # its key has the time, which is another now
        run_many(connection, _INSERT, [new[key] for key in sorted(new)])


_KNOWN = select(page.c.url_id).where(among(page.c.url_id))
_REPLACE = delete(page).where(among(page.c.url_id))
_INSERT = page.insert().values({column.name: bindparam(column.name) for column in page.c})


@one_by_one
def prune_pages(connection: Connection, pruning: Pruning) -> float | None:
    """Forget pages of months that had ended by a time; returns until when, None for none.

    Cost: a page 50 microseconds on SQLite; a month some milliseconds on Postgres.
    """
    month = Month.of(pruning.before)
    if is_postgres(connection):
        for name in _partitions(connection):
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
    """Forget the next earlier texts, the oldest first; returns until when, None for none."""
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
