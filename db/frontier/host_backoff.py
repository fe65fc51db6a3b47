"""Host errors: hosts in backoff, recovered, or dead with all that waits of them.

Rows are changed in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, literal_column, not_, or_, select, text, update

from ..engine.statements import among, in_state, is_one_of, one_by_one, run_many
from ..records.host import BackoffState, DeadHost
from ..records.reasons import REASONS
from ..records.run import Limits
from ..records.url import Kind, State
from ..tables.urls import RECONSIDERED, HostRow, UrlCountRow, UrlRow
from .limits import within_limits
from .revert import WAITS_AGAIN, put_off_host

url, host, count = UrlRow.table(), HostRow.table(), UrlCountRow.table()


def write_backoffs(connection: Connection, rests: Sequence[BackoffState]) -> list[None]:
    """Write the hosts' backoffs, 0 for recovered ones; the last of a host counts."""
    newest = {one.host_id: one for one in rests}
    rows = [{"key": key, "number": newest[key].number, "until": newest[key].until} for key in sorted(newest)]
    run_many(connection, _WRITE_BACKOFF, rows)
    return [None for _ in rests]


_WRITE_BACKOFF = (
    update(host)
    .where(host.c.id == bindparam("key"))
    .values(backoffs=bindparam("number"), backoff_until=bindparam("until"))
)


@one_by_one
def close_dead_hosts(connection: Connection, dead: DeadHost) -> int:
    """Skip all that waits of dead hosts, robots.txt too; returns how many URLs.

    What was fetched before is as it was, and due when the host may be tried again. Only the run that owns a host closes
    it: another may have had better luck meanwhile.
    """
    if connection.execute(_OWNER, {"host": dead.host_id}).scalar() != dead.run_id:
        return 0
    # URLs first, then their host, as in the page transaction
    put_off_host(connection, dead.host_id, dead.until)
    count = connection.execute(_SKIP_ALL, {"host": dead.host_id, "why": dead.reason}).rowcount
    connection.execute(_CLOSE, {"host": dead.host_id, "why": dead.reason, "until": dead.until})
    return count


_OWNER = select(host.c.owner).where(host.c.id == bindparam("host"))
_CLOSE = (
    update(host)
    .where(host.c.id == bindparam("host"))
    .values(dead_reason=bindparam("why"), backoff_until=bindparam("until"))
)
_WAITING = select(url.c.id).where(url.c.host_id == bindparam("host"), in_state(State.PENDING)).order_by(url.c.id)
_SKIP_ALL = (
    update(url)
    .where(url.c.id.in_(_WAITING.with_for_update()))
    .values(state=State.SKIPPED, reason=bindparam("why"), reason_detail=None, next_visit=None)
)


@one_by_one
def busy_elsewhere(connection: Connection, question: tuple[Limits, Sequence[int]]) -> bool:
    """Tell whether other hosts, not in backoff, have work within the limits.

    Cost: a pass over the counts; over what waits elsewhere beyond the limits, when the answer is no.
    """
    limits, ids = question
    in_backoff = select(host.c.id).where(host.c.backoffs > 0)
    # robots.txts are not waited for their own sake
    queued = select(count.c.host_id).where(count.c.state.in_([State.PENDING, State.LEASED]), count.c.n > 0)
    hosts = queued.where(not_(among(count.c.host_id)), count.c.host_id.not_in(in_backoff))
    elsewhere = url.c.host_id.in_(hosts) & (url.c.kind != Kind.ROBOTS)
    waiting = in_state(State.PENDING) & within_limits(connection, limits)
    one: Select[Any] = select(literal_column("1")).select_from(url).where(elsewhere).limit(1)
    states = (waiting, in_state(State.LEASED))
    return any(connection.execute(one.where(state), {"ids": list(ids)}).first() for state in states)


@one_by_one
def reopen_due(connection: Connection, question: tuple[int, float]) -> list[int]:
    """Re-queue what dead hosts lost whose time has come: (run, Unix time) -> hosts.

    Hosts that another run holds are left to it.

    Cost: a pass over the hosts; when some are due, one over the URLs.
    """
    run_id, now = question
    ids = list(connection.execute(_DUE, {"run": run_id, "now": now}).scalars())
    if ids:
        connection.execute(_WAIT_AGAIN, {"ids": ids})
        connection.execute(_OPEN, {"ids": ids})
    return ids


_DUE = (
    select(host.c.id)
    .where(
        host.c.dead_reason.is_not(None),
        host.c.backoff_until <= bindparam("now"),
        or_(host.c.owner.is_(None), host.c.owner == bindparam("run")),
    )
    .order_by(host.c.id)
)
_DEAD = [reason for reason in REASONS if reason.is_dead_host]
_LOST = (
    select(url.c.id).where(among(url.c.host_id), text(RECONSIDERED), is_one_of(url.c.reason, _DEAD)).order_by(url.c.id)
)
_WAIT_AGAIN = update(url).where(url.c.id.in_(_LOST.with_for_update())).values(WAITS_AGAIN)
_OPEN = (
    update(host)
    .where(among(host.c.id))
    .values(
        dead_reason=None,
        backoffs=0,
        backoff_until=0.0,
        failures=0,
        robots="unknown",
        queued=case((host.c.queued == 0, 1), else_=host.c.queued),
    )
)


def reopen(connection: Connection) -> None:
    unwell = (host.c.backoffs > 0) | (host.c.backoff_until > 0) | host.c.dead_reason.is_not(None)
    connection.execute(update(host).where(unwell).values(backoffs=0, backoff_until=0.0, dead_reason=None))
