"""Staying alive among others: a run prolongs its lease, and hears how many hosts it should hold and which have news."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, literal_column, select, update

from .errors import DatabaseGone
from .runs import free_the_dead
from .statements import clock, is_postgres
from .tables.runs import Run
from .tables.urls import Host

host, run = Host.table(), Run.table()

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
