"""Numbers of URLs by state, host, reason and depth, kept with every change.

Some thirty statements change a URL's state, so triggers count (see the migration): no statement can forget it. Inserts,
dozens of rows a page, are counted in bulk, on SQLite here.

Cost: on SQLite 6 microseconds a change, of which a page has two, and 3 for each host of a page's new URLs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import itemgetter

from sqlalchemy import BigInteger, ColumnElement, Connection, delete, func, select, text

from ..engine.statements import is_postgres
from ..records.reasons import Reason, counted
from ..records.url import State
from ..tables.urls import UrlCountRow

count = UrlCountRow.table()

MOST_DEPTH = 20
"""Greater depths are counted together."""


def add(connection: Connection, rows: Iterable[tuple[int, Reason | None, str, int]]) -> None:
    """Count inserted URLs: (host, reason if skipped, its detail, depth)."""
    if is_postgres(connection):  # its trigger has done so
        return
    url_counts = Counter(
        (State.SKIPPED.value, host_id, counted(reason, detail), -1)
        if reason
        else (State.PENDING.value, host_id, "", min(depth, MOST_DEPTH))
        for host_id, reason, detail, depth in rows
    )
    if url_counts:
        connection.exec_driver_sql(_ADD, [(*key, n) for key, n in sorted(url_counts.items(), key=itemgetter(0))])


_ADD = """INSERT INTO url_count (state, host_id, reason, depth, connection, n) VALUES (?, ?, ?, ?, 0, ?)
ON CONFLICT DO UPDATE SET n = n + excluded.n"""


TOTAL = func.sum(count.c.n).cast(BigInteger)


def number_of(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return select(func.coalesce(TOTAL, 0)).where(*conditions).scalar_subquery()


PENDING, LEASED = (number_of(count.c.state == state) for state in (State.PENDING, State.LEASED))


def states(connection: Connection) -> dict[str, int]:
    return {row.state: row.n for row in connection.execute(_STATES)}


def reasons(connection: Connection) -> list[tuple[str, str, int]]:
    """Return (state, reason with its detail, number), the most frequent first."""
    return [tuple(row) for row in connection.execute(_REASONS)]


_STATES = select(count.c.state, TOTAL.label("n")).group_by(count.c.state).having(TOTAL > 0)
_REASONS = (
    select(count.c.state, count.c.reason, TOTAL)
    .where(count.c.reason != "")
    .group_by(count.c.state, count.c.reason)
    .having(TOTAL > 0)
    .order_by(TOTAL.desc(), count.c.state, count.c.reason)
)


def fold(connection: Connection) -> None:
    """Add up what several connections have counted, and delete zeros."""
    if is_postgres(connection):  # no other may count between the two statements
        connection.execute(text("LOCK TABLE url_count IN EXCLUSIVE MODE"))
    connection.execute(_FOLD)
    connection.execute(delete(count).where((count.c.n == 0) | (count.c.connection != 0)))


_FOLD = text(
    """INSERT INTO url_count (state, host_id, reason, depth, connection, n)
SELECT state, host_id, reason, depth, 0, sum(n) FROM url_count WHERE connection <> 0
GROUP BY state, host_id, reason, depth
ON CONFLICT (state, host_id, reason, depth, connection) DO UPDATE SET n = url_count.n + excluded.n"""
)
