"""Leases of runs: renewing them, sharing out hosts, orphaned leases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, literal_column, select, update

from ..engine.errors import DatabaseGone
from ..engine.statements import among, clock, in_state, is_postgres, one_by_one, run_many
from ..records.run import Asked, Limits
from ..records.url import Lease, State
from ..tables.runs import RunRow
from ..tables.urls import HostRow, UrlRow
from . import samples
from .claims import LEASE_COLUMNS, LIVES, release
from .limits import within_limits
from .revert import WAKE_HOSTS
from .runs import free_the_dead

url, host, run = UrlRow.table(), HostRow.table(), RunRow.table()

_MOST_FREE = 10_000


@dataclass(frozen=True, slots=True)
class LifeSign:
    """A run's heartbeat: it lives on for `lease_seconds` from now.

    `hosts` are those with work that it holds; `queued` is None unless it knows of all URLs that wait.
    """

    run_id: int
    now: float
    lease_seconds: float
    hosts: int
    pages_per_second: float
    totals: Mapping[str, int]
    queued: int | None = None


@dataclass(frozen=True, slots=True)
class News:
    """The answer to a `LifeSign`.

    Attributes:
        freed: URLs of expired leases that wait again now.
        notified: own hosts for which another run has found URLs.
        share: how many hosts with work each run should hold; None when this one is alone.
        surplus: how many it should let go, because another has fewer and none is free.
        leads: it is the longest living run, which does what only one should do, such as ranking.
        asked: what an operator asks of this run.
    """

    freed: int = 0
    notified: tuple[int, ...] = ()
    share: int | None = None
    surplus: int = 0
    leads: bool = True
    asked: Asked = Asked.NOTHING


@one_by_one
def renew(connection: Connection, sign: LifeSign) -> News:
    """Renew leases of runs, take over from expired ones, and share out the hosts.

    Raises:
        DatabaseGone: the run's own lease had expired and another run has taken its work over.
    """
    alive = (run.c.id == sign.run_id) & run.c.finished.is_(None) & (run.c.alive_until > 0)
    values = {
        "alive_until": clock(connection, sign.now) + sign.lease_seconds,
        "hosts": sign.hosts,
        "pages_per_second": sign.pages_per_second,
        "totals": json.dumps(sign.totals, ensure_ascii=False),
    }
    renewed = connection.execute(update(run).where(alive).values(values).returning(run.c.asked)).first()
    if renewed is None:
        raise DatabaseGone("this crawl was silent for longer than LEASE_SECONDS and another one took its work over")
    samples.add(connection, sign.run_id, samples.sample_of(sign.totals, sign.now, sign.queued))
    asked = Asked(renewed.asked) if renewed.asked in set(Asked) else Asked.NOTHING
    if not is_postgres(connection):
        return News(asked=asked)
    freed = free_the_dead(connection, sign.run_id, sign.now)
    heard = select(host.c.id).where(host.c.owner == sign.run_id, host.c.queued == literal_column("2"))
    mine = tuple(connection.execute(heard.with_for_update(skip_locked=True)).scalars())  # the rest next time
    if mine:
        connection.execute(update(host).where(host.c.id.in_(mine)).values(queued=1))
    columns = select(run.c.id, run.c.hosts, run.c.settings)
    runs = connection.execute(columns.where(run.c.finished.is_(None), run.c.alive_until > 0)).all()
    share, surplus = _share(connection, sign, runs)
    return News(freed, mine, share, surplus, leads=sign.run_id == min(r.id for r in runs), asked=asked)


def ask(connection: Connection, run_id: int | None, asked: Asked) -> int:
    """Ask something of a living run, or of all (None); returns of how many.

    They hear of it when they renew their leases, after some seconds. What has been asked to stop does not go on.
    """
    living = run.c.finished.is_(None) & (run.c.alive_until > 0) & (run.c.asked != Asked.STOP.value)
    chosen = living if run_id is None else living & (run.c.id == run_id)
    return connection.execute(update(run).where(chosen).values(asked=asked.value)).rowcount


def _share(connection: Connection, sign: LifeSign, runs: Sequence[Any]) -> tuple[int | None, int]:
    if len(runs) < 2:
        return None, 0
    most = {r.id: json.loads(r.settings).get("MAX_HOSTS") or _MOST_FREE for r in runs}
    waiting = select(host.c.id).where(host.c.queued == 1, host.c.owner.is_(None)).limit(_MOST_FREE)
    free = connection.execute(select(func.count()).select_from(waiting.subquery())).scalar_one()
    least, share = equal_parts(free + sum(r.hosts for r in runs), list(most.values()))
    missing = sum(max(0, min(least, most[r.id]) - r.hosts) for r in runs if r.id != sign.run_id) - free
    return share, max(0, min(sign.hosts - share, missing))


def equal_parts(total: int, capacities: Sequence[int]) -> tuple[int, int]:
    """Divide `total` things among holders of limited capacity: rounded down and up.

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


@dataclass(frozen=True, slots=True)
class OwnedHost:
    id: int
    name: str
    scheme: str
    robots: str
    robots_text: str | None
    robots_at: float | None
    ready_at: float
    backoffs: int = 0
    backoff_until: float = 0.0
    dead_reason: str | None = None


@one_by_one
def take_hosts(connection: Connection, wish: tuple[int, int]) -> list[OwnedHost]:
    """Make runs the owners of free hosts that have work: (run, how many at most)."""
    run_id, most = wish
    living = connection.execute(LIVES, {"run": run_id}).first() is not None
    rows = connection.execute(_FREE_HOSTS, {"most": most}).all() if living else []
    if rows:
        connection.execute(_OWN, {"ids": [row.id for row in rows], "run": run_id})
    return [OwnedHost(*(getattr(row, name) for name in OwnedHost.__slots__)) for row in rows]


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
    """Hosts that a run gives away, each with its clock (Unix time), and its URLs."""

    run_id: int
    hosts: Sequence[tuple[int, float]]
    leases: Sequence[Lease]


@one_by_one
def hand_over(connection: Connection, handover: Handover) -> None:
    release(connection, [(handover.run_id, handover.leases)])
    rows = [{"key": key, "run": handover.run_id, "ready": ready} for key, ready in sorted(handover.hosts)]
    run_many(connection, _HAND_OVER, rows)


_HAND_OVER = (
    update(host)
    .where(host.c.id == bindparam("key"), host.c.owner == bindparam("run"))
    .values(owner=None, queued=1, ready_at=bindparam("ready"))
)


@one_by_one
def return_orphans(connection: Connection, known: tuple[int, Set[int], Set[int]]) -> int:
    """Return orphaned leases: (run, URLs it knows, hosts it knows) -> how many URLs.

    There are some when a connection was lost during a commit: the lease was made and its answer lost.
    """
    run_id, urls, hosts = known
    held = connection.execute(_HELD_BY, {"run": run_id}).all()
    orphans = [Lease(*row) for row in held if row.id not in urls]
    release(connection, [(run_id, orphans)])
    owned = set(connection.execute(_OWNED_BY, {"run": run_id}).scalars())
    run_many(connection, _LET_GO, [{"key": key, "run": run_id} for key in sorted(owned - hosts)])
    return len(orphans)


_OWNED_BY = select(host.c.id).where(host.c.owner == bindparam("run"))
_LET_GO = (
    update(host).where(host.c.id == bindparam("key"), host.c.owner == bindparam("run")).values(owner=None, queued=1)
)


_HELD_BY = select(*LEASE_COLUMNS).where(in_state(State.LEASED), url.c.leased_by == bindparam("run"))


@one_by_one
def drop_hosts(connection: Connection, request: tuple[int, Limits, Sequence[int]]) -> set[int]:
    """Give up hosts without work within the limits; returns those that are kept."""
    run_id, limits, ids = request
    # the lock first: a page that is being stored now either is seen here, or wakes the host up again afterwards
    connection.execute(LOCK_HOSTS, {"ids": ids})
    waiting = in_state(State.PENDING) & within_limits(connection, limits)
    work = select(url.c.host_id).where(among(url.c.host_id), waiting).distinct()
    under_way = select(url.c.host_id).where(among(url.c.host_id), in_state(State.LEASED)).distinct()
    busy_ids = {key for query in (work, under_way) for key in connection.execute(query, {"ids": ids}).scalars()}
    idle = sorted(set(ids) - busy_ids)
    if idle:
        connection.execute(_DROP, {"ids": idle, "run": run_id})
    return busy_ids


_DROP = update(host).where(among(host.c.id), host.c.owner == bindparam("run")).values(queued=0, owner=None)
LOCK_HOSTS = select(host.c.id).where(among(host.c.id)).order_by(host.c.id).with_for_update()


@one_by_one
def wake_hosts(connection: Connection, _request: None) -> int:
    """Mark free hosts with pending URLs as having work; returns how many were not."""
    return connection.execute(WAKE_HOSTS.where(host.c.owner.is_(None))).rowcount
