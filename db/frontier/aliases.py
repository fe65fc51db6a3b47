"""DUST rules: representatives of normal forms, and URLs skipped for them.

A URL is skipped only for one that is still to be fetched or that has brought an article. When that one brings none, all
that were skipped for it wait again (`revive`). One in sixteen (`keys.is_sampled`) is fetched all the same, so that a
wrong rule is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, case, exists, literal_column, or_, select, update

from ..engine.statements import among, in_state, insert_rows, is_one_of, one_by_one, run_many
from ..records.keys import is_sampled
from ..records.reasons import REASONS, SkipReason
from ..records.url import State
from ..tables.learned import UrlFormRow
from ..tables.urls import HostRow, UrlRow

url, host, form = UrlRow.table(), HostRow.table(), UrlFormRow.table()

_SETTLED = [reason for reason in REASONS if reason.is_settled]


def is_representative(row: Any) -> ColumnElement[bool]:
    return or_(
        is_one_of(row.state, (State.PENDING, State.LEASED)),
        (row.state == State.DONE) & or_(row.reason.is_(None), is_one_of(row.reason, _SETTLED)),
        (row.state == State.SKIPPED) & (row.reason == SkipReason.REDIRECT),
    )


IS_RULED = in_state(State.SKIPPED) & (url.c.reason == literal_column(f"'{SkipReason.URL_RULE}'"))
IS_TRAPPED = in_state(State.SKIPPED) & (url.c.reason == literal_column(f"'{SkipReason.TRAP}'"))
_other = url.alias()


def represent(connection: Connection, found: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    """Choose the new URLs to skip, and the representative of each.

    `found` has (URL, host, form) of URLs that are about to be inserted, in the order in which they were found.

    Cost: one read and one insert, some microseconds a URL.
    """
    rows = connection.execute(_KNOWN, {"ids": sorted({key for _, _, key in found})}).all()
    representatives = {row.id: row.url_id for row in rows if row.valid}
    fallen = {row.id for row in rows if not row.valid}
    skipped: dict[int, int] = {}
    new: dict[int, tuple[int, int]] = {}
    for url_id, host_id, key in found:
        if key not in representatives:
            representatives[key] = url_id
            new[key] = (host_id, url_id)
        elif representatives[key] != url_id and not is_sampled(url_id):
            skipped[url_id] = representatives[key]
    insert_rows(connection, form, _COLUMNS, [(key, *new[key]) for key in sorted(new.keys() - fallen)])
    run_many(connection, _REPLACE, [{"key": key, "other": new[key][1]} for key in sorted(new.keys() & fallen)])
    return skipped


_COLUMNS = ("id", "host_id", "url_id")
_KNOWN = select(
    form.c.id, form.c.url_id, exists().where(_other.c.id == form.c.url_id, is_representative(_other.c)).label("valid")
).where(among(form.c.id))
_REPLACE = update(form).where(form.c.id == bindparam("key")).values(url_id=bindparam("other"))


def revive(connection: Connection, ids: Sequence[int]) -> list[tuple[int, int, int]]:
    """Re-queue URLs of useless representatives: (URL, host, representative).

    Cost: one read by index when there are none.
    """
    if not ids:
        return []
    rows = sorted((row.id, row.host_id, row.same_as) for row in connection.execute(_SKIPPED_FOR, {"ids": ids}))
    run_many(connection, _LET_WAIT, [{"key": url_id} for url_id, *_ in rows])
    return rows


_SKIPPED_FOR = select(url.c.id, url.c.host_id, url.c.same_as).where(
    among(url.c.same_as), url.c.same_as.is_not(None), IS_RULED
)
_LET_WAIT = (
    update(url)
    .where(url.c.id == bindparam("key"), or_(IS_RULED, IS_TRAPPED))
    .values(state=State.PENDING, reason=None, reason_detail=None, same_as=None)
)


def let_wait(connection: Connection, batches: Sequence[tuple[int, Sequence[int]]]) -> list[int]:
    """Re-queue URLs of hosts, (host, URLs), that nothing skips; returns how many."""
    revived = [run_many(connection, _LET_WAIT, [{"key": key} for key in sorted(ids)]) for _, ids in batches]
    hosts = sorted({host_id for host_id, ids in batches if ids})
    run_many(connection, HAS_WORK, [{"key": host_id} for host_id in hosts])
    return revived


# whoever owns the host may have looked for work of it already: see `host.queued`
HAS_WORK = (
    update(host)
    .where(host.c.id == bindparam("key"))
    .values(queued=case((host.c.owner.is_not(None), 2), (host.c.queued == 0, 1), else_=host.c.queued))
)


# ---------------------------------------------------------------- when the rules of a host change


@one_by_one
def fill(connection: Connection, rows: Sequence[tuple[int, int, int]]) -> None:
    """Write representative URLs, those of earlier rows first: (form, host, URL)."""
    insert_rows(connection, form, _COLUMNS, sorted({row[0]: row for row in reversed(rows)}.values()))


@one_by_one
def clear(connection: Connection, host_id: int) -> int:
    """Delete some thousand forms of a host; returns how many."""
    return connection.execute(_CLEAR, {"host": host_id}).rowcount


_CLEAR = form.delete().where(
    form.c.id.in_(select(form.c.id).where(form.c.host_id == bindparam("host")).limit(5000).scalar_subquery())
)


@one_by_one
def skip_waiting(connection: Connection, rows: Sequence[tuple[int, int]]) -> int:
    """Skip pending URLs for their representatives, (URL, representative); counts them."""
    return run_many(connection, _SKIP_WAITING, [{"key": key, "other": other} for key, other in sorted(rows)])


_SKIP_WAITING = (
    update(url)
    .where(
        url.c.id == bindparam("key"),
        in_state(State.PENDING),
        exists().where(_other.c.id == bindparam("other"), is_representative(_other.c)),
    )
    .values(state=State.SKIPPED, reason=SkipReason.URL_RULE, same_as=bindparam("other"))
)
