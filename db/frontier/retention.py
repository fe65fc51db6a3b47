"""Retention: rows of URLs outside of all scopes are pruned to what ranking needs.

Most rows of a crawl are links that lead outside. They are of interest for some days; then a row of some 400 bytes is
replaced by one of 20 in `outside`, its identifier and its host. Links to it stay. So ranks do not change, and a link to
it that is found again makes no new row, unless it is inside by then. The signals of fetched URLs' scores, which take a
third of a row and only `scrapy why` shows, may go as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, text, update

from ..engine.statements import among, insert_rows, one_by_one, run_many
from ..records.url import Pruning, State
from ..tables.urls import OUTSIDE, OutsideRow, UrlRow

url, outside = UrlRow.table(), OutsideRow.table()

_AT_ONCE = 1_000
"""Rows of a transaction, few enough that nobody waits long for it."""


@one_by_one
def prune(connection: Connection, pruning: Pruning) -> float | None:
    """Prune the next rows, the oldest first; returns the time reached, or None.

    A URL that another leads to keeps its row; on Postgres so do rows that another process is writing.

    Cost: some ten milliseconds for a thousand rows, each once.
    """
    rows = connection.execute(_NEXT, {"after": pruning.after, "before": pruning.before}).all()
    if not rows:
        return None
    pruned_urls = [(row.id, row.host_id) for row in rows if not row.is_named]
    ids = {"ids": [key for key, _ in pruned_urls]}
    insert_rows(connection, outside, ("id", "host_id"), sorted(pruned_urls))
    connection.execute(_DELETE, ids)
    return float(rows[-1].found_at)


@one_by_one
def prune_signals(connection: Connection, pruning: Pruning) -> float | None:
    """Delete the signals of fetched URLs' scores; returns the time reached, or None.

    Cost: some ten milliseconds for a thousand rows, each once a run.
    """
    rows = connection.execute(_FETCHED, {"after": pruning.after, "before": pruning.before}).all()
    run_many(connection, _FORGET_SIGNALS, [{"key": key} for key in sorted(row.id for row in rows if row.score_parts)])
    return float(rows[-1].fetched_at) if rows else None


def pruned(connection: Connection, ids: Sequence[int]) -> set[int]:
    return set(connection.execute(_PRUNED, {"ids": ids}).scalars()) if ids else set()


def restore(connection: Connection, ids: Sequence[int]) -> None:
    """Forget that URLs were pruned: they are inside now, and have rows again."""
    if ids:
        connection.execute(_RESTORE, {"ids": ids})


_other = url.alias("other")
_IS_NAMED = select(_other.c.id).where(_other.c.same_as == url.c.id, _other.c.same_as.is_not(None)).exists()
_NEXT = (
    select(url.c.id, url.c.host_id, url.c.found_at, _IS_NAMED.label("is_named"))
    .where(
        url.c.found_at > bindparam("after"),
        url.c.found_at <= bindparam("before"),
        text(OUTSIDE),
    )
    .order_by(url.c.found_at)
    .limit(_AT_ONCE)
    .with_for_update(skip_locked=True, of=url)
)
_IS_OVER = url.c.state.not_in([State.PENDING.value, State.LEASED.value])
_FETCHED = (
    select(url.c.id, url.c.fetched_at, url.c.score_parts)
    .where(url.c.fetched_at > bindparam("after"), url.c.fetched_at <= bindparam("before"), _IS_OVER)
    .order_by(url.c.fetched_at)
    .limit(_AT_ONCE)
    .with_for_update(skip_locked=True)
)
_FORGET_SIGNALS = update(url).where(url.c.id == bindparam("key")).values(score_parts=None)
_DELETE = url.delete().where(among(url.c.id))
_PRUNED = select(outside.c.id).where(among(outside.c.id))
_RESTORE = outside.delete().where(among(outside.c.id))
