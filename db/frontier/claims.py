"""Leasing the best URLs of hosts, releasing them, and counting what is left.

`db.frontier.leases` settles which run may lease from a host. Several rows are changed in the order of their keys, and
rows only chosen from are locked with SKIP LOCKED, so that processes never wait for each other in a circle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, or_, select, text, update

from ..engine.statements import among, in_state, is_postgres, one_by_one, run_many
from ..records.lease import Beyond, LeaseRequest, Leases, Waiting
from ..records.reasons import FailReason, Reason, label
from ..records.run import Limits
from ..records.url import Kind, Lease, State
from ..tables.runs import RunRow
from ..tables.urls import UNREAD, HostRow, UrlRow
from . import counts
from .aliases import revive
from .limits import begin_day, locked_seed_budgets, pages_left, pending_beyond, refund, spend_hosts, spend_totals
from .revert import CLOSED_SECONDS, put_off_host, put_off_urls
from .seeds import seed_rows

url, host, run = UrlRow.table(), HostRow.table(), RunRow.table()


@one_by_one
def lease(connection: Connection, request: LeaseRequest) -> Leases:
    """Lease the best waiting URLs of the requested hosts, within the limits.

    Beyond the limits only pages that could not be read are leased again.

    Cost: one indexed read of `want` rows a host and one batch update.
    """
    if connection.execute(LIVES, {"run": request.run_id}).first() is None:
        return Leases(dry=dict.fromkeys(request.wants))
    begin_day(connection)
    left = pages_left(connection, request.limits)
    leases = Leases(spent=left == 0)
    seeds = locked_seed_budgets(connection, request.limits)
    spent = _Spent(leases.spent, {key for key, n in seeds.items() if n <= 0}, _unread_hosts(connection, request))
    candidates: list[Lease] = []
    owned = set(connection.execute(_OWNED, {"ids": list(request.wants), "run": request.run_id}).scalars())
    for host_id in sorted(request.wants):
        if host_id in owned and (not spent.crawl or host_id in spent.unread):
            candidates += _best_of(connection, request, host_id, spent, leases)
        else:
            leases.dry[host_id] = None
    candidates.sort(key=lambda c: (-c.score, c.found_at))
    for candidate in candidates:
        if candidate.counts:
            if left is not None and left <= 0:
                leases.dry[candidate.host_id] = None
                continue
            if candidate.seed_id in seeds:
                if seeds[candidate.seed_id] <= 0:
                    continue
                seeds[candidate.seed_id] -= 1
            if left is not None:
                left -= 1
        leases.urls.append(candidate)
    if leases.urls:
        ids = sorted(candidate.id for candidate in leases.urls)
        run_many(connection, _LEASE, [{"key": key, "run": request.run_id} for key in ids])
        pages = [candidate for candidate in leases.urls if candidate.counts]
        spend_totals(connection, [candidate.seed_id for candidate in pages])
        spend_hosts(connection, Counter(candidate.host_id for candidate in pages))
        leases.seeds = seed_rows(connection, sorted({c.seed_id for c in leases.urls if c.seed_id is not None}))
    leased = Counter(candidate.host_id for candidate in leases.urls)
    missing = {host_id: request.wants[host_id] - leased[host_id] for host_id in owned - request.robots_only}
    full = {key for key, n in seeds.items() if n <= 0}
    if left == 0 or full or request.limits.pages_per_host is not None:
        leases.beyond = _beyond(connection, request, missing, full, is_over=left == 0)
    return leases


def _beyond(
    connection: Connection, request: LeaseRequest, missing: Mapping[int, int], full: set[int], *, is_over: bool
) -> list[Beyond]:
    """Return the best URLs, up to `missing` of each host, that limits leave waiting.

    The limit of the crawl is reached if it `is_over`, and those of the seeds in `full`.
    """
    most = request.limits.pages_per_host
    beyond: list[Beyond] = []
    for host_id, n in sorted(missing.items()):
        if n <= 0 or request.closed(host_id) is not None:
            continue
        is_full = most is not None and connection.execute(_PAGES, {"key": host_id}).scalar_one() >= most
        if not (is_over or is_full or full):
            continue
        waits = _WAITS if is_over or is_full else _WAITS.where(url.c.seed_id.in_(full))
        rows = connection.execute(waits, {"host": host_id, "now": request.now, "most": n}).all()
        beyond += [
            Beyond(one, host_id if is_full else None, one.seed_id if one.seed_id in full else None)
            for one in (Lease(*row) for row in rows)
            if one.counts and not request.disallow_reason(host_id, one.url) and request.refuse(one) is None
        ]
    return beyond


# locked: nobody takes the run for dead before this transaction has ended
LIVES = select(run.c.id).where(run.c.id == bindparam("run"), run.c.alive_until > 0).with_for_update()
_OWNED = select(host.c.id).where(among(host.c.id), host.c.owner == bindparam("run"))
_LEASE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(state=State.LEASED, leased_by=bindparam("run"), tries=url.c.tries + 1, next_visit=None)
)


LEASE_COLUMNS = tuple(url.c[name] for name in Lease.__dataclass_fields__)


_WAITING = (url.c.host_id == bindparam("host")) & (in_state(State.PENDING))
_READY = _WAITING & or_(url.c.next_visit.is_(None), url.c.next_visit <= bindparam("now"))
_WAITS = select(*LEASE_COLUMNS).where(_READY).order_by(url.c.score.desc(), url.c.found_at).limit(bindparam("most"))
_BEST = _WAITS.with_for_update(skip_locked=True)
_BEST_ROBOTS = _BEST.where(url.c.kind == Kind.ROBOTS)
_THERE = select(url.c.id).where(_READY).limit(bindparam("most"))
_THERE_ROBOTS = _THERE.where(url.c.kind == Kind.ROBOTS)
_SKIP_HOST = (
    update(url)
    .where(_WAITING, url.c.kind != Kind.ROBOTS, url.c.visits == 0)
    .values(state=State.SKIPPED, reason=bindparam("why"), reason_detail=None)
)
_READ_AHEAD = 200
_MOST_PASSED_OVER = 4000
"""Approximate number of URLs that are ruled out in one transaction."""
_LOCKED_SECONDS = 0.5
"""Seconds after which URLs that another process is writing, e.g. new scores of them, are tried again."""
_WAITS_UNREAD = text(UNREAD)
_UNREAD_HOSTS = select(url.c.host_id).where(_WAITS_UNREAD, in_state(State.PENDING)).distinct()
_PAGES = select(host.c.pages).where(host.c.id == bindparam("key"))
_NEXT_DUE = select(func.min(url.c.next_visit)).where(_WAITING)


@dataclass(frozen=True, slots=True)
class _Spent:
    """Limits that are reached: of the whole crawl, and of seeds.

    `unread` are hosts with a waiting page that could not be read: those are leased all the same.
    """

    crawl: bool
    seeds: set[int]
    unread: set[int]


def _unread_hosts(connection: Connection, request: LeaseRequest) -> set[int]:
    return set() if request.limits == Limits() else set(connection.execute(_UNREAD_HOSTS).scalars())


def _best_of(connection: Connection, request: LeaseRequest, host_id: int, spent: _Spent, leases: Leases) -> list[Lease]:
    want = request.wants[host_id]
    robots_only = host_id in request.robots_only
    beyond = spent.crawl
    if request.limits.pages_per_host is not None and not robots_only and not beyond:
        left = request.limits.pages_per_host - connection.execute(_PAGES, {"key": host_id}).scalar_one()
        beyond = left <= 0
        if not beyond or host_id not in spent.unread:
            want = min(want, left)
    best, there = (_BEST_ROBOTS, _THERE_ROBOTS) if robots_only else (_BEST, _THERE)
    if beyond and not robots_only:
        best, there = best.where(_WAITS_UNREAD), there.where(_WAITS_UNREAD)
    elif spent.seeds:
        unspent = or_(url.c.seed_id.is_(None), url.c.seed_id.not_in(spent.seeds), _WAITS_UNREAD)
        best, there = best.where(unspent), there.where(unspent)
    closed = None if robots_only else request.closed(host_id)
    if closed is not None:
        leases.skipped[closed] += connection.execute(_SKIP_HOST, {"host": host_id, "why": closed}).rowcount
        put_off_host(connection, host_id, request.now + CLOSED_SECONDS)
        want = 0
    host_leases: dict[int, Lease] = {}
    passed_over = 0
    while len(host_leases) < want:
        most = max(want, _READ_AHEAD if host_leases or passed_over else 0)
        rows = connection.execute(best, {"host": host_id, "now": request.now, "most": most}).all()
        candidates = [Lease(*row) for row in rows]
        permitted, revived = _rule_out(connection, request, candidates, leases)
        fresh = [one for one in permitted if one.id not in host_leases]
        host_leases |= {one.id: one for one in fresh[: want - len(host_leases)]}
        if not revived and (len(rows) < most or len(permitted) == len(rows)):
            break
        passed_over += len(rows) - len(permitted)
        if passed_over >= _MOST_PASSED_OVER:  # there may be a million: others want their turn in between
            return list(host_leases.values())
    if len(host_leases) < request.wants[host_id]:
        due = connection.execute(_NEXT_DUE, {"host": host_id}).scalar_one()
        leases.dry[host_id] = due if due is not None and due > request.now else None
        if len(host_leases) < want and is_postgres(connection):
            rows = connection.execute(there, {"host": host_id, "now": request.now, "most": len(host_leases) + 1}).all()
            if len(rows) > len(host_leases):
                leases.dry[host_id] = request.now + _LOCKED_SECONDS
    return list(host_leases.values())


def _rule_out(
    connection: Connection, request: LeaseRequest, candidates: Sequence[Lease], leases: Leases
) -> tuple[list[Lease], int]:
    """Skip what must not be fetched; returns the others, and how many were revived."""
    permitted: list[Lease] = []
    forbidden: dict[tuple[Reason, str], list[Lease]] = {}
    for one in candidates:
        why = None
        if one.kind != Kind.ROBOTS:
            disallow_reason = request.disallow_reason(one.host_id, one.url)
            why = (disallow_reason, "") if disallow_reason else request.refuse(one)
        if why is None:
            permitted.append(one)
        else:
            forbidden.setdefault(why, []).append(one)
    revived = 0
    for (reason, detail), ruled_out in forbidden.items():
        new = [one.id for one in ruled_out if not one.visits]
        put_off_urls(connection, [one.id for one in ruled_out if one.visits], request.now)
        run_many(connection, _SKIP, [{"key": key, "why": reason, "detail": detail or None} for key in sorted(new)])
        leases.skipped[label(reason, detail)] += len(new)
        revived += len(revive(connection, new))
    return permitted, revived


_SKIP = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(state=State.SKIPPED, reason=bindparam("why"), reason_detail=bindparam("detail"))
)


@one_by_one
def skip_waiting(connection: Connection, request: tuple[Sequence[int], Reason]) -> None:
    ids, reason = request
    run_many(connection, _SKIP_WAITING, [{"key": key, "why": reason, "detail": None} for key in sorted(ids)])


_SKIP_WAITING = _SKIP.where(url.c.state == State.PENDING)


@one_by_one
def set_robots(connection: Connection, batch: Sequence[tuple[int, str, str, float]]) -> None:
    rows = [{"key": key, "kind": kind, "body": body or None, "at": at} for key, kind, body, at in sorted(batch)]
    run_many(connection, SET_ROBOTS, rows)


SET_ROBOTS = (
    update(host)
    .where(host.c.id == bindparam("key"))
    .values(robots=bindparam("kind"), robots_text=bindparam("body"), robots_at=bindparam("at"))
)


def release(connection: Connection, batches: Sequence[tuple[int, Sequence[Lease]]]) -> list[None]:
    """Return leased URLs unfetched: (run, leases)."""
    for run_id, leases in batches:
        held = held_by(connection, run_id, [lease.id for lease in leases])
        mine = [lease for lease in leases if lease.id in held]
        run_many(connection, _RELEASE, [{"key": key} for key in sorted(held)])
        refund(connection, [(c.host_id, c.seed_id) for c in mine if c.counts])
    return [None for _ in batches]


def held_by(connection: Connection, run_id: int, ids: Sequence[int]) -> set[int]:
    """Return those of these URLs that a run holds: all, unless it was taken for dead."""
    return set(connection.execute(_HELD, {"ids": ids, "run": run_id}).scalars())


_HELD = select(url.c.id).where(among(url.c.id), in_state(State.LEASED), url.c.leased_by == bindparam("run"))
_RELEASE = (
    update(url).where(url.c.id == bindparam("key")).values(state=State.PENDING, leased_by=None, tries=url.c.tries - 1)
)


def abandon(connection: Connection, failures: Sequence[tuple[int, int, str]]) -> list[None]:
    """Fail URLs because of an error of ours: (run, identifier, name of the error)."""
    run_many(connection, _ABANDON, [{"run": run_id, "key": key, "name": name} for run_id, key, name in failures])
    return [None for _ in failures]


_ABANDON = (
    update(url)
    .where(url.c.id == bindparam("key"), in_state(State.LEASED), url.c.leased_by == bindparam("run"))
    .values(
        state=State.FAILED,
        reason=FailReason.INTERNAL,
        reason_detail=bindparam("name"),
        leased_by=None,
        unread=url.c.unread + 1,
    )
)


_DUE = in_state(State.PENDING) & url.c.next_visit.is_not(None)


@one_by_one
def waiting(connection: Connection, limits: Limits) -> Waiting:
    """Count what is left within given limits: "finished" means that `within` is 0."""
    first_due = select(func.min(url.c.next_visit)).where(_DUE)
    # one statement: between two, another process may store a page with all that it links to
    parts = select(counts.PENDING, counts.LEASED, pending_beyond(connection, limits), first_due.scalar_subquery())
    pending, leased, beyond, due = connection.execute(parts).one()
    return Waiting(within=pending + leased - beyond, beyond=beyond, next_due=due)


@one_by_one
def bring_forward(connection: Connection, latest: float) -> None:
    """Let no URL wait beyond a Unix time."""
    connection.execute(update(url).where(_DUE & (url.c.next_visit > latest)).values(next_visit=latest))
