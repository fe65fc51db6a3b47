"""Which run may ask which host: taking over, handing over, letting go.

A host belongs to one run at a time (`host.owner`), so only that run's clock decides when it is asked. Every function
takes a connection inside an open transaction.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, exists, literal_column, not_, or_, select, update

from .budgets import beyond_limits
from .frontier import CLAIM_COLUMNS, LIVES, give_back
from .records.run import Limits
from .records.url import Claim, State
from .statements import among, in_state, run_many
from .tables.urls import Host, Url

url, host = Url.table(), Host.table()


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
    claims: Sequence[Claim]


def hand_over(connection: Connection, handovers: Sequence[Handover]) -> list[None]:
    """Return hosts and their unfetched URLs, so that another run may take them."""
    for handover in handovers:
        give_back(connection, [(handover.run_id, handover.claims)])
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

    There is such after a connection was lost at the moment of a commit: the claim was made and its answer lost.
    """
    counts = []
    for run_id, known, hosts in questions:
        held = connection.execute(_HELD_BY, {"run": run_id}).all()
        strays = [Claim(*row) for row in held if row.id not in known]  # type: ignore[call-arg]
        give_back(connection, [(run_id, strays)])
        owned = set(connection.execute(_OWNED_BY, {"run": run_id}).scalars())
        run_many(connection, _LET_GO, [{"key": key, "run": run_id} for key in sorted(owned - hosts)])
        counts.append(len(strays))
    return counts


_OWNED_BY = select(host.c.id).where(host.c.owner == bindparam("run"))
_LET_GO = (
    update(host).where(host.c.id == bindparam("key"), host.c.owner == bindparam("run")).values(owner=None, queued=1)
)


_HELD_BY = select(*CLAIM_COLUMNS).where(in_state(State.LEASED), url.c.leased_by == bindparam("run"))


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
