"""Hosts that do not answer properly: they rest, recover, or are given up with all that waits of them.

Every function takes a connection inside an open transaction; rows are changed in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, case, literal_column, not_, or_, select, update

from ..engine.statements import among, in_state, is_one_of, run_many
from ..records.host import GivenUp, Rest
from ..records.reasons import REASONS
from ..records.run import Limits
from ..records.url import Kind, State
from ..tables.urls import Host, Url
from .limits import beyond_limits
from .revert import WAITS_AGAIN, put_off_host

url, host = Url.table(), Host.table()


def rest(connection: Connection, rests: Sequence[Rest]) -> list[None]:
    """Write how hosts are resting, or that they are well again; the last word on each counts."""
    newest = {one.host_id: one for one in rests}
    rows = [{"key": key, "number": newest[key].number, "until": newest[key].until} for key in sorted(newest)]
    run_many(connection, _REST, rows)
    return [None for _ in rests]


_REST = (
    update(host)
    .where(host.c.id == bindparam("key"))
    .values(trouble=bindparam("number"), rests_until=bindparam("until"))
)


def give_up(connection: Connection, given: Sequence[GivenUp]) -> list[int]:
    """Skip all that waits of hosts, robots.txt too, with the reason; returns how many URLs each had.

    What was fetched before is again what it was, and due when the host may try again.

    Only the run that owns a host gives it up: another may have had better luck meanwhile.
    """
    counts = []
    for one in given:
        owned = connection.execute(_OWNER, {"host": one.host_id}).scalar() == one.run_id
        # URLs first, then their host, as in the page transaction
        values = {"host": one.host_id, "why": one.reason, "until": one.until}
        if owned:
            put_off_host(connection, one.host_id, one.until)
        counts.append(connection.execute(_SKIP_ALL, {"host": one.host_id, "why": one.reason}).rowcount if owned else 0)
        if owned:
            connection.execute(_GIVE_UP, values)
    return counts


_OWNER = select(host.c.owner).where(host.c.id == bindparam("host"))
_GIVE_UP = (
    update(host).where(host.c.id == bindparam("host")).values(given_up=bindparam("why"), rests_until=bindparam("until"))
)
_WAITING = select(url.c.id).where(url.c.host_id == bindparam("host"), in_state(State.PENDING)).order_by(url.c.id)
_SKIP_ALL = (
    update(url)
    .where(url.c.id.in_(_WAITING.with_for_update()))
    .values(state=State.SKIPPED, reason=bindparam("why"), reason_detail=None, next_visit=None)
)


def busy_elsewhere(connection: Connection, questions: Sequence[tuple[Limits, Sequence[int]]]) -> list[bool]:
    """Whether anything is left within the limits besides what waits for given hosts, or for others that rest.

    Cost: a pass over what waits, when the answer is no.
    """
    answers = []
    for limits, ids in questions:
        resting = select(host.c.id).where(host.c.trouble > 0)
        # robots.txts are not waited for their own sake
        elsewhere = not_(among(url.c.host_id)) & url.c.host_id.not_in(resting) & (url.c.kind != Kind.ROBOTS)
        beyond = beyond_limits(connection, limits)
        waiting = in_state(State.PENDING) & not_(or_(*beyond)) if beyond else in_state(State.PENDING)
        found = any(
            connection.execute(
                select(literal_column("1")).select_from(url).where(state, elsewhere).limit(1), {"ids": list(ids)}
            ).first()
            for state in (waiting, in_state(State.LEASED))
        )
        answers.append(found)
    return answers


def reopen_due(connection: Connection, questions: Sequence[tuple[int, float]]) -> list[list[int]]:
    """Let what was skipped of hosts wait again that were given up long enough ago: (run, Unix time); returns the hosts.

    Those that another run holds are left to it.

    Cost: a pass over the hosts; when some are due, one over the URLs.
    """
    answers = []
    for run_id, now in questions:
        ids = list(connection.execute(_DUE, {"run": run_id, "now": now}).scalars())
        if ids:
            connection.execute(_WAIT_AGAIN, {"ids": ids})
            connection.execute(_OPEN, {"ids": ids})
        answers.append(ids)
    return answers


_DUE = (
    select(host.c.id)
    .where(
        host.c.given_up.is_not(None),
        host.c.rests_until <= bindparam("now"),
        or_(host.c.owner.is_(None), host.c.owner == bindparam("run")),
    )
    .order_by(host.c.id)
)
_DEAD = [reason for reason in REASONS if reason.is_dead_host]
_LOST = (
    select(url.c.id)
    .where(
        among(url.c.host_id),
        in_state(State.SKIPPED),
        is_one_of(url.c.reason, _DEAD),
    )
    .order_by(url.c.id)
)
_WAIT_AGAIN = update(url).where(url.c.id.in_(_LOST.with_for_update())).values(WAITS_AGAIN)
_OPEN = (
    update(host)
    .where(among(host.c.id))
    .values(
        given_up=None,
        trouble=0,
        rests_until=0.0,
        failures=0,
        robots="unknown",
        queued=case((host.c.queued == 0, 1), else_=host.c.queued),
    )
)


def reopen(connection: Connection) -> None:
    """A new crawl begins: whatever ailed the hosts may have passed."""
    ailing = (host.c.trouble > 0) | (host.c.rests_until > 0) | host.c.given_up.is_not(None)
    connection.execute(update(host).where(ailing).values(trouble=0, rests_until=0.0, given_up=None))
