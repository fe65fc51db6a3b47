"""Runs: how one begins on what others left, and how it ends.

A run owns hosts (`host.owner`) and holds leased URLs (`url.leased_by`) while its lease lasts (`run.alive_until`, by
the server's clock; see `db.frontier.leases`). When it dies, another run returns what it held: on SQLite at once,
because the file lock proves that it is dead; on Postgres at once when its process is known to be gone (same
machine), else when its lease has expired.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, case, func, select, text, update

from ..engine.errors import WrongDatabase
from ..engine.locks import AdvisoryLock
from ..engine.processes import is_gone
from ..engine.statements import clock, in_state, is_postgres, one_by_one, upsert
from ..records.reasons import SkipReason
from ..records.run import Limits, LivingRun, Resumed, RunEnd, RunStart, StoredSeed
from ..records.url import Kind, State
from ..tables.runs import RunRow
from ..tables.urls import RECONSIDERED, TOO_DEEP, HostRow, SeedRow, UrlCountRow, UrlRow
from . import counts, samples
from .host_backoff import reopen
from .limits import COUNTS, begin_run, open_budget, refund
from .revert import SETTLE_HOSTS, WAITS_AGAIN, WAKE_HOSTS
from .seeds import give_seeds, reconsider, resting_seeds, seed_rows

url, host, seed, run, count = (m.table() for m in (UrlRow, HostRow, SeedRow, RunRow, UrlCountRow))

_LAST_REQUEST_SECONDS = 1.0
"""Seconds for which the last request of a dead run may still be under way."""


def refuse_beside_crawls(connection: Connection, name: str) -> None:
    """Refuse an operation while a run lives; on SQLite the file's lock does so before.

    Raises:
        WrongDatabase: naming the run.
    """
    if not is_postgres(connection):
        return
    living = run.c.finished.is_(None), run.c.alive_until > clock(connection, 0)
    for row in connection.execute(select(run.c.id, run.c.pid, run.c.place, run.c.machine).where(*living)):
        if not is_gone(row.place, row.pid):
            raise WrongDatabase(f"{name}: run {row.id} (process {row.pid} on {row.machine}) is crawling; stop it first")


@one_by_one
def start_run(connection: Connection, start: RunStart) -> Resumed:
    """Write a run's row, free dead runs, add seeds, and revive what limits now allow.

    Cost: passes over the hosts and the counts, one read for each URL that waits again; where seeds, depths or times
    are others than before, a pass over the URLs.
    """
    if is_postgres(connection):  # two that start at once: the second sees the first
        AdvisoryLock.START.take(connection)
    recovered = free_the_dead(connection, None, start.now, (start.place, start.pid))
    living = living_runs(connection, start.now)
    if living:
        start.admit(living)
    previous = connection.execute(select(run.c.settings).order_by(run.c.id.desc()).limit(1)).scalar()
    run_id = connection.execute(
        run.insert().values(
            started=start.started,
            machine=start.machine,
            pid=start.pid,
            place=start.place,
            settings=start.settings,
            seeds=" ".join(str(row.id) for row in start.seeds),
            alive_until=clock(connection, start.now) + start.lease_seconds,
        )
    ).inserted_primary_key[0]  # type: ignore[index]
    recovered += _free_the_forgotten(connection, [run_id, *(other.id for other in living)])
    before = {row.id: row for row in seed_rows(connection, None)}
    ungiven = set(connection.execute(select(seed.c.id).where(seed.c.given == 0)).scalars())
    for row in start.seeds:
        values = {
            **{name: getattr(row, name) for name in _COPIED},
            **{"include": " ".join(row.include), "exclude": " ".join(row.exclude), "bare": int(row.bare)},
        }
        upsert(connection, seed, {"id": row.id, "url": row.url, "hosts": " ".join(row.hosts), "used": 0}, values)
    given = frozenset(row.id for row in start.seeds).union(*(other.seeds for other in living))
    if start.seeds:
        give_seeds(connection, given, ungiven, start)
    if not living:
        _revive(connection, start.limits)
        old = json.loads(previous or "{}")
        new = json.loads(start.settings)
        moved = any(old.get(name) != new.get(name) for name in ("SINCE", "UNTIL"))
        changed = [row for row in start.seeds if row.id in before and (moved or _is_other(before[row.id], row))]
        reconsider(connection, changed, start)
        connection.execute(SETTLE_HOSTS)
        counts.fold(connection)
    open_budget(connection)
    samples.forget_old(connection)
    if not living:
        begin_run(connection)
    begun_before = connection.execute(select(url.c.id).limit(1)).first() is not None
    return Resumed(
        run_id=run_id,
        begun_before=begun_before,
        pending=counts.states(connection).get(State.PENDING, 0),
        recovered=recovered,
        seeds=tuple(row for row in seed_rows(connection, None) if not start.seeds or row.id in given),
        resting={} if living else resting_seeds(connection),
        new_seeds=frozenset({row.id for row in start.seeds} - before.keys()),
        others=len(living),
        settings=json.loads(previous or "{}"),
    )


def living_runs(connection: Connection, now: float) -> list[LivingRun]:
    """Read the runs that have not ended, with dead ones until they are freed."""
    lease = (run.c.alive_until - clock(connection, now)).label("lease")
    living = select(run, lease).where(run.c.finished.is_(None), run.c.alive_until > 0).order_by(run.c.id)
    return [
        LivingRun(r.id, r.machine, r.pid, json.loads(r.settings), r.lease, frozenset(map(int, r.seeds.split())))
        for r in connection.execute(living)
    ]


def _is_other(before: StoredSeed, now: StoredSeed) -> bool:
    return any(getattr(before, name) != getattr(now, name) for name in ("stay", "include", "exclude", "since"))


def free_the_dead(connection: Connection, run_id: int | None, now: float, starting: tuple[str, int] = ("", 0)) -> int:
    """Return what dead runs hold: expired leases, ended processes; counts the URLs.

    A run of the same process (place, pid) as the starting one counts as dead: its start was repeated.
    """
    expired = (run.c.alive_until < clock(connection, now)).label("expired")
    others = connection.execute(
        select(run.c.id, run.c.place, run.c.pid, expired).where(
            run.c.finished.is_(None), run.c.alive_until > 0, run.c.id.is_distinct_from(run_id)
        )
    ).all()
    # on SQLite the file lock says that nobody else is there
    again = [r.id for r in others if r.place and (r.place, r.pid) == starting]
    gone = [*again, *(r.id for r in others if not is_postgres(connection) or is_gone(r.place, r.pid))]
    dead = [*gone, *(r.id for r in others if r.expired)]
    if dead:  # whoever comes first takes a dead run's work; the others go on. One may have renewed its lease just now
        still = (run.c.alive_until > 0) & (run.c.id.in_(gone) | (run.c.alive_until < clock(connection, now)))
        free = select(run.c.id).where(run.c.id.in_(dead), still).order_by(run.c.id)
        dead = list(connection.execute(free.with_for_update(skip_locked=True)).scalars())
    return release(connection, dead, tried=1, ready_at=now + _LAST_REQUEST_SECONDS) if dead else 0


def _free_the_forgotten(connection: Connection, living: Sequence[int]) -> int:
    owners = select(host.c.owner).where(host.c.owner.is_not(None), host.c.owner.not_in(living))
    holders = select(url.c.leased_by).where(in_state(State.LEASED), url.c.leased_by.not_in(living))
    ended = sorted(connection.execute(owners.union(holders)).scalars())
    return release(connection, ended, tried=1) if ended else 0


_COPIED = ("stay", "depth", "pages", "topic", "since", "render", "proxy", "body", "title", "published", "author")
"""Columns of a seed that are its options as they are."""
_UNNOTIFIED = case((host.c.queued == 2, 1), else_=host.c.queued)
"""`host.queued` of a host that is given up: its next owner looks at everything anyway."""


def release(
    connection: Connection, runs: Sequence[int], *, tried: int, ready_at: float = 0.0, outcome: str = "died"
) -> int:
    """Re-queue the URLs that runs hold, free their hosts and budgets; counts the URLs.

    `tried` is 1 when these URLs may have been asked for (the run died), 0 when they surely were not. `ready_at` is the
    Unix time before which their hosts must not be asked; `outcome` is written for runs that did not say how they ended.
    """
    held = connection.execute(
        select(url.c.id, url.c.host_id, url.c.seed_id, COUNTS.label("counts")).where(
            in_state(State.LEASED), url.c.leased_by.in_(runs)
        )
    ).all()
    connection.execute(
        update(url)
        .where(in_state(State.LEASED), url.c.leased_by.in_(runs))
        .values(state=State.PENDING, leased_by=None, tries=url.c.tries - (1 - tried))
    )
    refund(connection, [(row.host_id, row.seed_id) for row in held if row.counts])
    mine = select(host.c.id).where(host.c.owner.in_(runs)).order_by(host.c.id).with_for_update()
    connection.execute(mine).all()  # locked by key, as everywhere
    clock_of_host = case((host.c.ready_at < ready_at, ready_at), else_=host.c.ready_at)
    connection.execute(
        update(host).where(host.c.owner.in_(runs)).values(owner=None, queued=_UNNOTIFIED, ready_at=clock_of_host)
    )
    connection.execute(
        update(run)
        .where(run.c.id.in_(runs), run.c.finished.is_(None))
        .values(outcome=func.coalesce(run.c.outcome, outcome), alive_until=0.0, hosts=0, pages_per_second=0.0, seeds="")
    )
    return len(held)


def _revive(connection: Connection, limits: Limits) -> None:
    """Apply the limits of this run to what waits, and re-queue what may have passed."""

    def requeue(condition: Any) -> None:
        connection.execute(update(url).where(condition).values(WAITS_AGAIN))

    depths = func.coalesce(seed.c.depth, limits.depth) if limits.depth is not None else seed.c.depth
    for depth in connection.execute(select(depths).distinct()).scalars().all():
        seed_pages = url.c.seed_id.in_(select(seed.c.id).where(depths.is_not_distinct_from(depth))) & (
            url.c.kind == Kind.PAGE
        )
        within = seed_pages if depth is None else seed_pages & (url.c.depth <= depth)
        requeue(text(TOO_DEEP) & within)
        if depth is not None:
            counted = count.c.state == State.PENDING, count.c.depth > min(depth, counts.MOST_DEPTH - 1), count.c.n > 0
            hosts = url.c.host_id.in_(select(count.c.host_id).where(*counted))
            deeper = seed_pages & in_state(State.PENDING) & (url.c.depth > depth) & hosts
            connection.execute(update(url).where(deeper).values(state=State.SKIPPED, reason=SkipReason.TOO_DEEP))
    requeue(text(RECONSIDERED))
    connection.execute(update(host).where(host.c.failures > 0).values(failures=0))
    reopen(connection)
    connection.execute(update(host).where(host.c.robots.in_(["unreachable", "refused"])).values(robots="unknown"))
    connection.execute(WAKE_HOSTS)


@one_by_one
def let_go(connection: Connection, run_id: int) -> int:
    """Return what an ending run holds; returns how many URLs."""
    return release(connection, [run_id], tried=0)


@one_by_one
def finish_run(connection: Connection, end: RunEnd) -> None:
    release(connection, [end.run_id], tried=0)
    values = {"finished": end.finished, "outcome": end.outcome, "exit_code": end.exit_code, "alive_until": 0.0}
    totals = json.dumps(end.totals, ensure_ascii=False)
    if end.at:
        samples.add(connection, end.run_id, samples.sample_of(end.totals, end.at))
    connection.execute(update(run).where(run.c.id == end.run_id).values(values | {"totals": totals}))
