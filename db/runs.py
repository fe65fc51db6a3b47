"""Runs: how one begins on what others left, keeps its lease, and ends.

A run owns hosts (`host.owner`) and holds leased URLs (`url.leased_by`) while its lease lasts (`run.alive_until`). When
it dies, another run puts back what it held: on SQLite at once, because the file lock proves that it is dead; on
Postgres when its lease has ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, exists, func, select, update

from .budgets import Limits, count_budgets, refund
from .errors import DatabaseGone
from .statements import in_state, upsert
from .tables import Host, Kind, Run, Seed, State, Url

url, host, seed, run = Url.table(), Host.table(), Seed.table(), Run.table()

TOO_DEEP = "too deep"
UNREACHABLE = ("robots unreachable", "host unreachable", "address not allowed")
"""Reasons that may have passed when the next run starts."""


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A seed as stored."""

    id: int
    url: str
    stay: str
    depth: int | None
    pages: int | None
    topic: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunStart:
    """What a run tells about itself when it begins."""

    started: str
    machine: str
    pid: int
    settings: str
    now: float
    lease_seconds: float
    limits: Limits
    seeds: Sequence[SeedRow]


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a new run finds.

    Attributes:
        run_id: its number.
        known: URLs in the table, of every state.
        pending: URLs waiting (the recovered ones included).
        recovered: URLs that a run which died had in flight, waiting again now.
        seeds: all seeds, those of earlier runs included.
        new_seeds: identifiers of the seeds that were not there before.
    """

    run_id: int
    known: int
    pending: int
    recovered: int
    seeds: tuple[SeedRow, ...]
    new_seeds: frozenset[int]


def start_run(connection: Connection, starts: Sequence[RunStart]) -> list[Resumed]:
    """Write a run's row, take back what dead runs left, add new seeds, and revive what wider limits now allow."""
    return [_start_run(connection, start) for start in starts]


def _start_run(connection: Connection, start: RunStart) -> Resumed:
    run_id = connection.execute(
        run.insert().values(
            started=start.started,
            machine=start.machine,
            pid=start.pid,
            settings=start.settings,
            alive_until=start.now + start.lease_seconds,
        )
    ).inserted_primary_key[0]  # type: ignore[index]
    recovered = _recover(connection, start, run_id)
    before = {row.id for row in connection.execute(select(seed.c.id))}
    for row in start.seeds:
        values = {"stay": row.stay, "depth": row.depth, "pages": row.pages, "topic": row.topic}
        connection.execute(
            upsert(connection, seed)
            .values(id=row.id, url=row.url, hosts=" ".join(row.hosts), used=0, **values)
            .on_conflict_do_update(index_elements=["id"], set_=values)
        )
    _revive(connection, start)
    count_budgets(connection, start.limits)
    seeds = tuple(
        SeedRow(r.id, r.url, r.stay, r.depth, r.pages, r.topic, tuple(r.hosts.split()))
        for r in connection.execute(select(seed))
    )
    states = {row[0]: row[1] for row in connection.execute(select(url.c.state, func.count()).group_by(url.c.state))}
    return Resumed(
        run_id=run_id,
        known=sum(states.values()),
        pending=states.get(State.PENDING, 0),
        recovered=recovered,
        seeds=seeds,
        new_seeds=frozenset({row.id for row in start.seeds} - before),
    )


def _recover(connection: Connection, start: RunStart, run_id: int) -> int:
    """Put back what runs hold that are dead: ended, out of lease, or killed on this very machine."""
    others = connection.execute(
        select(run.c.id, run.c.alive_until, run.c.finished).where(run.c.id != run_id, run.c.finished.is_(None))
    ).all()
    if connection.dialect.name == "sqlite":  # the file lock says that nobody else is there
        dead = [row.id for row in others]
    else:
        dead = [row.id for row in others if row.alive_until < start.now]
    return release(connection, dead, tried=1) if dead else 0


def release(connection: Connection, runs: Sequence[int], *, tried: int, outcome: str = "died") -> int:
    """Put the URLs that runs hold back to pending, free their hosts and budgets; returns how many URLs.

    `tried` is 1 when these URLs may have been asked for (the run died), 0 when it is known that they were not;
    `outcome` is written for runs that did not say how they ended.
    """
    held = connection.execute(
        select(url.c.id, url.c.host_id, url.c.seed_id, url.c.kind).where(
            in_state(State.LEASED), url.c.leased_by.in_(runs)
        )
    ).all()
    refund(connection, [(row.host_id, row.seed_id) for row in held if row.kind == Kind.PAGE])
    connection.execute(
        update(url)
        .where(in_state(State.LEASED), url.c.leased_by.in_(runs))
        .values(state=State.PENDING, leased_by=None, tries=url.c.tries - (1 - tried))
    )
    connection.execute(update(host).where(host.c.owner.in_(runs)).values(owner=None))
    connection.execute(
        update(run)
        .where(run.c.id.in_(runs), run.c.finished.is_(None))
        .values(outcome=func.coalesce(run.c.outcome, outcome), alive_until=0.0)
    )
    return len(held)


def _revive(connection: Connection, start: RunStart) -> None:
    """Apply the limits of this run to what waits: deeper URLs are skipped, those that are not too deep now wait again.

    So do URLs whose host could not be reached: that may have passed. Every host with waiting URLs has work again.
    """
    skipped = in_state(State.SKIPPED)
    for row in start.seeds:
        depth = row.depth if row.depth is not None else start.limits.depth
        own = (url.c.seed_id == row.id) & (url.c.kind == Kind.PAGE)
        within = own if depth is None else own & (url.c.depth <= depth)
        _wait_again(connection, skipped & (url.c.reason == TOO_DEEP) & within)
        if depth is not None:
            deeper = own & (in_state(State.PENDING)) & (url.c.depth > depth)
            connection.execute(update(url).where(deeper).values(state=State.SKIPPED, reason=TOO_DEEP))
    _wait_again(connection, skipped & url.c.reason.in_(UNREACHABLE))
    connection.execute(update(host).where(host.c.failures > 0).values(failures=0))
    connection.execute(update(host).where(host.c.robots.in_(["unreachable", "refused"])).values(robots="unknown"))
    waiting = exists().where(url.c.host_id == host.c.id, in_state(State.PENDING))
    connection.execute(update(host).where(host.c.queued == 0, waiting).values(queued=1))


def _wait_again(connection: Connection, condition: Any) -> None:
    """Put skipped URLs back to pending."""
    connection.execute(update(url).where(condition).values(state=State.PENDING, reason=None, tries=0))


def renew(connection: Connection, leases: Sequence[tuple[int, float, float]]) -> list[int]:
    """Prolong runs' leases, and take back what runs hold that have died meanwhile.

    A lease is (run, Unix time now, Unix time until which the run lives); the answer to each is how many URLs of dead
    runs wait again.

    Raises:
        DatabaseGone: the run's own lease had ended and another run has taken its work over.
    """
    freed = []
    for run_id, now, until in leases:
        alive = (run.c.id == run_id) & run.c.finished.is_(None) & (run.c.alive_until > 0)
        if connection.execute(update(run).where(alive).values(alive_until=until)).rowcount == 0:
            raise DatabaseGone("this crawl was silent for longer than LEASE_SECONDS and another one took its work over")
        others = select(run.c.id).where(
            run.c.id != run_id, run.c.finished.is_(None), run.c.alive_until > 0, run.c.alive_until < now
        )
        dead = connection.execute(others.with_for_update(skip_locked=True)).scalars().all()
        freed.append(release(connection, dead, tried=1) if dead else 0)
    return freed


def let_go(connection: Connection, runs: Sequence[int]) -> list[int]:
    """Put back what runs that are ending hold; returns how many URLs each held."""
    return [release(connection, [run_id], tried=0) for run_id in runs]


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended."""

    run_id: int
    finished: str
    outcome: str
    exit_code: int
    totals: Mapping[str, Any]


def finish_run(connection: Connection, ends: Sequence[RunEnd]) -> list[None]:
    """Free what the runs hold and write how they ended."""
    for end in ends:
        release(connection, [end.run_id], tried=0)
        connection.execute(
            update(run)
            .where(run.c.id == end.run_id)
            .values(
                finished=end.finished,
                outcome=end.outcome,
                exit_code=end.exit_code,
                alive_until=0.0,
                totals=json.dumps(end.totals, ensure_ascii=False),
            )
        )
    return [None for _ in ends]
