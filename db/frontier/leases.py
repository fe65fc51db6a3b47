"""Staying alive among others: a run prolongs its lease, and hears how many hosts it should hold and which have news."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, exists, func, literal_column, not_, or_, select, update

from ..engine.errors import DatabaseGone
from ..engine.statements import among, clock, in_state, is_postgres, run_many
from ..records.run import Limits
from ..records.url import Lease, State
from ..tables.runs import Run
from ..tables.urls import Host, Url
from .claims import LEASE_COLUMNS, LIVES, release
from .limits import beyond_limits
from .runs import free_the_dead

host = Host.table()
run = Run.table()

_MOST_FREE = 10_000


@dataclass(frozen=True, slots=True)
class LifeSign:
    """What a run says of itself every few seconds: it lives on for `lease_seconds` from now.

    Attributes:
        run_id: the run.
        now: Unix time.
        lease_seconds: how long it may be silent.
        hosts: hosts with work that it holds.
        pages_per_second: lately.
        totals: JSON, as in the table.
    """

    run_id: int
    now: float
    lease_seconds: float
    hosts: int
    pages_per_second: float
    totals: str


@dataclass(frozen=True, slots=True)
class News:
    """What a run hears in answer.

    Attributes:
        freed: URLs of runs that had died and that wait again now.
        knocked: own hosts for which another run has found URLs.
        share: how many hosts with work each run should hold; None when this one is alone.
        surplus: how many it should let go, because another has fewer and none is free.
        leads: whether it is the one that does what only one should do, such as ranking: the longest living.
    """

    freed: int = 0
    knocked: tuple[int, ...] = ()
    share: int | None = None
    surplus: int = 0
    leads: bool = True


def renew(connection: Connection, signs: Sequence[LifeSign]) -> list[News]:
    """Prolong runs' leases, take back what runs hold that have died meanwhile, and share out the hosts.

    Raises:
        DatabaseGone: the run's own lease had ended and another run has taken its work over.
    """
    return [_renew(connection, sign) for sign in signs]


def _renew(connection: Connection, sign: LifeSign) -> News:
    alive = (run.c.id == sign.run_id) & run.c.finished.is_(None) & (run.c.alive_until > 0)
    values = {
        "alive_until": clock(connection, sign.now) + sign.lease_seconds,
        "hosts": sign.hosts,
        "pages_per_second": sign.pages_per_second,
        "totals": sign.totals,
    }
    if connection.execute(update(run).where(alive).values(values)).rowcount == 0:
        raise DatabaseGone("this crawl was silent for longer than LEASE_SECONDS and another one took its work over")
    if not is_postgres(connection):
        return News()
    freed = free_the_dead(connection, sign.run_id, sign.now)
    heard = select(host.c.id).where(host.c.owner == sign.run_id, host.c.queued == literal_column("2"))
    mine = tuple(connection.execute(heard.with_for_update(skip_locked=True)).scalars())  # the rest next time
    if mine:
        connection.execute(update(host).where(host.c.id.in_(mine)).values(queued=1))
    columns = select(run.c.id, run.c.hosts, run.c.settings)
    runs = connection.execute(columns.where(run.c.finished.is_(None), run.c.alive_until > 0)).all()
    share, surplus = _share(connection, sign, runs)
    return News(freed, mine, share, surplus, leads=sign.run_id == min(r.id for r in runs))


def _share(connection: Connection, sign: LifeSign, runs: Sequence[Any]) -> tuple[int | None, int]:
    """An equal part of the hosts that have work, and how many of its own the run should let go."""
    if len(runs) < 2:
        return None, 0
    most = {r.id: json.loads(r.settings).get("MAX_HOSTS") or _MOST_FREE for r in runs}
    waiting = select(host.c.id).where(host.c.queued == 1, host.c.owner.is_(None)).limit(_MOST_FREE)
    free = connection.execute(select(func.count()).select_from(waiting.subquery())).scalar_one()
    least, share = equal_parts(free + sum(r.hosts for r in runs), list(most.values()))
    missing = sum(max(0, min(least, most[r.id]) - r.hosts) for r in runs if r.id != sign.run_id) - free
    return share, max(0, min(sign.hosts - share, missing))


def equal_parts(total: int, capacities: Sequence[int]) -> tuple[int, int]:
    """How many of `total` things each holder gets, rounded down and up, when some can hold only so many.

    >>> equal_parts(7, [10, 10])
    (3, 4)
    >>> equal_parts(20, [4, 100, 100])
    (8, 8)
    """
    holders = sorted(capacities)
    for n, capacity in enumerate(holders):
        rest = len(holders) - n
        if capacity >= -(-total // rest):
            return total // rest, -(-total // rest)
        total -= capacity
    return holders[-1], holders[-1]


# ---- Which run may ask which host: taking over, handing over, letting go.


url = Url.table()


@dataclass(frozen=True, slots=True)
class OwnedHost:
    """A host that the run has just come to own."""

    id: int
    name: str
    scheme: str
    robots: str
    robots_text: str | None
    robots_at: float | None
    ready_at: float
    trouble: int = 0
    rests_until: float = 0.0
    given_up: str | None = None


def take_hosts(connection: Connection, wishes: Sequence[tuple[int, int]]) -> list[list[OwnedHost]]:
    """Make runs the owners of hosts that have work and no owner: (run, how many at most)."""
    answers = []
    for run_id, most in wishes:
        living = connection.execute(LIVES, {"run": run_id}).first() is not None
        rows = connection.execute(_FREE_HOSTS, {"most": most}).all() if living else []
        if rows:
            connection.execute(_OWN, {"ids": [row.id for row in rows], "run": run_id})
        answers.append([OwnedHost(*(getattr(row, name) for name in OwnedHost.__slots__)) for row in rows])
    return answers


_FREE_HOSTS = (
    select(host)
    .where(host.c.queued == literal_column("1"), host.c.owner.is_(None))
    .order_by(host.c.ready_at, host.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_OWN = update(host).where(among(host.c.id)).values(owner=bindparam("run"))


@dataclass(frozen=True, slots=True)
class Handover:
    """Hosts that a run gives up for others: (host, Unix time from which it may be asked), and what it held of them."""

    run_id: int
    hosts: Sequence[tuple[int, float]]
    leases: Sequence[Lease]


def hand_over(connection: Connection, handovers: Sequence[Handover]) -> list[None]:
    """Return hosts and their unfetched URLs, so that another run may take them."""
    for handover in handovers:
        release(connection, [(handover.run_id, handover.leases)])
        rows = [{"key": key, "run": handover.run_id, "ready": ready} for key, ready in sorted(handover.hosts)]
        run_many(connection, _HAND_OVER, rows)
    return [None for _ in handovers]


_HAND_OVER = (
    update(host)
    .where(host.c.id == bindparam("key"), host.c.owner == bindparam("run"))
    .values(owner=None, queued=1, ready_at=bindparam("ready"))
)


def return_strays(connection: Connection, questions: Sequence[tuple[int, Set[int], Set[int]]]) -> list[int]:
    """Put back what a run holds and does not know of: (run, URLs it knows, hosts it knows); returns how many URLs.

    There is such after a connection was lost at the moment of a commit: the lease was made and its answer lost.
    """
    counts = []
    for run_id, known, hosts in questions:
        held = connection.execute(_HELD_BY, {"run": run_id}).all()
        strays = [Lease(*row) for row in held if row.id not in known]  # type: ignore[call-arg]
        release(connection, [(run_id, strays)])
        owned = set(connection.execute(_OWNED_BY, {"run": run_id}).scalars())
        run_many(connection, _LET_GO, [{"key": key, "run": run_id} for key in sorted(owned - hosts)])
        counts.append(len(strays))
    return counts


_OWNED_BY = select(host.c.id).where(host.c.owner == bindparam("run"))
_LET_GO = (
    update(host).where(host.c.id == bindparam("key"), host.c.owner == bindparam("run")).values(owner=None, queued=1)
)


_HELD_BY = select(*LEASE_COLUMNS).where(in_state(State.LEASED), url.c.leased_by == bindparam("run"))


def drop_hosts(connection: Connection, requests: Sequence[tuple[int, Limits, Sequence[int]]]) -> list[set[int]]:
    """Give up hosts of a run that have nothing to do within the limits; returns those which have, and are kept."""
    answers = []
    for run_id, limits, ids in requests:
        # the lock first: a page that is being stored now either is seen here, or wakes the host up again afterwards
        connection.execute(LOCK_HOSTS, {"ids": ids})
        waiting = in_state(State.PENDING)
        beyond = beyond_limits(connection, limits)
        if beyond:
            waiting &= not_(or_(*beyond))
        work = select(url.c.host_id).where(among(url.c.host_id), waiting).distinct()
        under_way = select(url.c.host_id).where(among(url.c.host_id), in_state(State.LEASED)).distinct()
        kept = {key for query in (work, under_way) for key in connection.execute(query, {"ids": ids}).scalars()}
        idle = sorted(set(ids) - kept)
        if idle:
            connection.execute(_DROP, {"ids": idle, "run": run_id})
        answers.append(kept)
    return answers


_DROP = update(host).where(among(host.c.id), host.c.owner == bindparam("run")).values(queued=0, owner=None)
LOCK_HOSTS = select(host.c.id).where(among(host.c.id)).order_by(host.c.id).with_for_update()


def wake_hosts(connection: Connection, requests: Sequence[None]) -> list[int]:
    """Mark every host without an owner that has waiting URLs as having work; returns how many were not."""
    forgotten = (
        update(host)
        .where(
            host.c.owner.is_(None),
            host.c.queued == 0,
            exists().where(url.c.host_id == host.c.id, in_state(State.PENDING)),
        )
        .values(queued=1)
    )
    return [connection.execute(forgotten).rowcount for _ in requests]
