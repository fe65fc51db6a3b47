"""The frontier's SQL: runs, seeds, host ownership, claims, re-scoring.

A host belongs to one run at a time (`host.owner`), so only that run's clock decides when it is asked and claims need no
lock on single URLs. Ownership ends with the run's lease (`run.alive_until`): whoever takes the host over puts the URLs
that the dead run held back to pending. Every function takes a connection inside an open transaction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table, bindparam, func, literal_column, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from .tables import Budget, Host, Kind, Run, Seed, State, Url

url, host, seed, run, budget = Url.table(), Host.table(), Seed.table(), Run.table(), Budget.table()

_BATCH = 400
TOO_DEEP = "too deep"
UNREACHABLE = ("robots unreachable", "host unreachable", "address not allowed")
"""Reasons that may have passed when the next run starts."""


def upsert(connection: Connection, table: Any) -> Any:
    """`INSERT` of the connection's dialect, which knows `on_conflict_do_...`."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement: Insert = dialect.insert(table)
    return statement


def insert_new(connection: Connection, table: Table) -> Any:
    """`INSERT ... ON CONFLICT DO NOTHING`, made once: building it costs more than running it."""
    key = (connection.dialect.name, table.name)
    if key not in _INSERTS:
        _INSERTS[key] = upsert(connection, table).on_conflict_do_nothing()
    return _INSERTS[key]


_INSERTS: dict[tuple[str, str], Any] = {}


def insert_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows, leaving out those whose key is there already.

    For the two tables that get dozens of rows a page: tuples go to the driver as they are, which saves three quarters
    of the time that a dictionary a row would take.
    """
    if not rows:
        return
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    places = ", ".join([mark] * len(columns))
    names = ", ".join(columns)
    connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({places}) ON CONFLICT DO NOTHING", rows)


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a crawl may go; None means no limit. A page counts when it was answered (redirects do not count)."""

    pages: int | None = None
    pages_per_host: int | None = None
    depth: int | None = None


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
class Claim:
    """A URL handed out for fetching."""

    id: int
    url: str
    host_id: int
    seed_id: int | None
    kind: str
    depth: int
    score: float
    found_in: int
    found_on: int | None
    found_at: float
    tries: int
    hops: int
    etag: str | None
    last_modified: str | None


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
    failures: int


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


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """A wish for work.

    Attributes:
        run_id: the asking run.
        wants: host -> how many URLs.
        new_hosts: how many further hosts may be taken over.
        robots_only: hosts among `wants` whose rules are not known yet: only their robots.txt may be handed out.
        objection: why a host's rules forbid a URL, or an empty string.
        now: Unix time.
    """

    run_id: int
    wants: Mapping[int, int]
    new_hosts: int
    robots_only: frozenset[int]
    objection: Callable[[int, str], str]
    limits: Limits
    now: float


@dataclass(slots=True)
class Claims:
    """The answer to a `ClaimRequest`.

    Attributes:
        urls: leased now, in the order in which they should be fetched.
        hosts: newly owned hosts (ask for their URLs with the next request).
        dry: hosts that gave less than was asked for, and when the next of their URLs is due, if one is.
        skipped: how many URLs were ruled out, by reason.
        spent: the limit of the whole crawl is reached.
    """

    urls: list[Claim] = field(default_factory=list)
    hosts: list[OwnedHost] = field(default_factory=list)
    dry: dict[int, float | None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    spent: bool = False


# ---------------------------------------------------------------- runs


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
    _count_budgets(connection, start.limits)
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
    return _release(connection, dead) if dead else 0


def _release(connection: Connection, runs: Sequence[int]) -> int:
    """Put the URLs that runs hold back to pending, free their hosts and budgets; returns how many URLs."""
    held = connection.execute(
        select(url.c.id, url.c.host_id, url.c.seed_id, url.c.kind).where(
            url.c.state == State.LEASED, url.c.leased_by.in_(runs)
        )
    ).all()
    refund(connection, [(row.host_id, row.seed_id) for row in held if row.kind == Kind.PAGE])
    connection.execute(
        update(url)
        .where(url.c.state == State.LEASED, url.c.leased_by.in_(runs))
        .values(state=State.PENDING, leased_by=None)
    )
    connection.execute(update(host).where(host.c.owner.in_(runs)).values(owner=None))
    connection.execute(
        update(run)
        .where(run.c.id.in_(runs), run.c.finished.is_(None))
        .values(outcome=func.coalesce(run.c.outcome, "died"), alive_until=0.0)
    )
    return len(held)


def refund(connection: Connection, pages: Iterable[tuple[int, int | None]]) -> None:
    """Give back the budget of pages (host, seed) that were leased but are not counted after all."""
    hosts: dict[int, int] = {}
    seeds: dict[int, int] = {}
    for host_id, seed_id in pages:
        hosts[host_id] = hosts.get(host_id, 0) + 1
        if seed_id is not None:
            seeds[seed_id] = seeds.get(seed_id, 0) + 1
    _spend(connection, {key: -n for key, n in hosts.items()}, {key: -n for key, n in seeds.items()})


def _spend(connection: Connection, hosts: Mapping[int, int], seeds: Mapping[int, int]) -> None:
    """Add to the counters of hosts, seeds and the whole crawl (rows in order of their key, against deadlocks)."""
    if not hosts:
        return
    connection.execute(_SPEND_HOST, [{"key": key, "n": hosts[key]} for key in sorted(hosts)])
    if seeds:
        connection.execute(_SPEND_SEED, [{"key": key, "n": seeds[key]} for key in sorted(seeds)])
    connection.execute(_SPEND, {"n": sum(hosts.values())})


_SPEND_HOST = update(host).where(host.c.id == bindparam("key")).values(pages=host.c.pages + bindparam("n"))
_SPEND_SEED = update(seed).where(seed.c.id == bindparam("key")).values(used=seed.c.used + bindparam("n"))
_SPEND = update(budget).values(pages=budget.c.pages + bindparam("n"))


def _count_budgets(connection: Connection, limits: Limits) -> None:
    """Make the budgets true: what is counted is what the URL table says was answered or is leased."""
    connection.execute(upsert(connection, budget).values(id=1, pages=0).on_conflict_do_nothing())
    connection.execute(select(budget.c.pages).with_for_update())
    counted = (url.c.kind == Kind.PAGE) & (
        (url.c.state == State.LEASED) | (url.c.state.in_([State.DONE, State.FAILED]) & url.c.http_status.is_not(None))
    )
    if limits.pages is not None or limits.pages_per_host is not None:
        per_host = connection.execute(select(url.c.host_id, func.count()).where(counted).group_by(url.c.host_id)).all()
        if per_host:
            connection.execute(
                update(host).where(host.c.id == bindparam("key")).values(pages=bindparam("n")),
                [{"key": key, "n": n} for key, n in sorted(per_host)],
            )
        connection.execute(update(budget).values(pages=sum(n for _, n in per_host)))
    limited = connection.execute(select(seed.c.id).where(seed.c.pages.is_not(None))).scalars().all()
    for seed_id in limited:
        used = connection.execute(select(func.count()).where(counted, url.c.seed_id == seed_id)).scalar_one()
        connection.execute(update(seed).where(seed.c.id == seed_id).values(used=used))


def _revive(connection: Connection, start: RunStart) -> None:
    """What was skipped for a limit that is wider now, or for a robots.txt that may answer now, waits again."""
    deepest = start.limits.depth
    changed = [(r.id, r.depth if r.depth is not None else deepest) for r in start.seeds]
    for seed_id, depth in changed:
        too_deep = (url.c.state == State.SKIPPED) & (url.c.reason == TOO_DEEP) & (url.c.seed_id == seed_id)
        if depth is not None:
            too_deep &= url.c.depth <= depth
        _wait_again(connection, too_deep)
    _wait_again(connection, (url.c.state == State.SKIPPED) & url.c.reason.in_(UNREACHABLE))
    connection.execute(
        update(host).where(host.c.robots.in_(["unreachable", "refused"])).values(robots="unknown", failures=0)
    )


def _wait_again(connection: Connection, condition: Any) -> None:
    hosts = connection.execute(select(url.c.host_id).where(condition).distinct()).scalars().all()
    if hosts:
        connection.execute(update(url).where(condition).values(state=State.PENDING, reason=None, tries=0))
        connection.execute(update(host).where(host.c.id.in_(hosts)).values(queued=1))


def renew(connection: Connection, leases: Sequence[tuple[int, float]]) -> list[None]:
    """Prolong runs' leases: pairs of run and the Unix time until which it lives."""
    for run_id, until in leases:
        connection.execute(update(run).where(run.c.id == run_id).values(alive_until=until))
    return [None for _ in leases]


def let_go(connection: Connection, runs: Sequence[int]) -> list[int]:
    """Put back what runs that are ending hold; returns how many URLs each held."""
    return [_release(connection, [run_id]) for run_id in runs]


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
        _release(connection, [end.run_id])
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


# ---------------------------------------------------------------- claims


def claim(connection: Connection, requests: Sequence[ClaimRequest]) -> list[Claims]:
    """Hand out the best waiting URLs of the asked hosts, within the limits, and take over further hosts.

    Cost: one indexed read of `want` rows a host and one batch update.
    """
    return [_claim(connection, request) for request in requests]


def _claim(connection: Connection, request: ClaimRequest) -> Claims:
    left = None
    if request.limits.pages is not None:
        used = connection.execute(select(budget.c.pages).with_for_update()).scalar_one()
        left = max(0, request.limits.pages - used)
        if left == 0:
            return Claims(dry=dict.fromkeys(request.wants), spent=True)
    claims = Claims(hosts=_take_hosts(connection, request) if request.new_hosts else [])
    seeds = _seed_budgets(connection)
    spent_seeds = {key for key, n in seeds.items() if n <= 0}
    candidates: list[Claim] = []
    for host_id in sorted(request.wants):
        found = _best_of(connection, request, host_id, spent_seeds, claims)
        candidates.extend(found)
    candidates.sort(key=lambda c: (-c.score, c.found_at))
    spent_hosts: dict[int, int] = {}
    spent_by_seed: dict[int, int] = {}
    for candidate in candidates:
        if candidate.kind == Kind.PAGE:
            if left is not None and left <= 0:
                claims.dry[candidate.host_id] = None
                continue
            if candidate.seed_id in seeds:
                if seeds[candidate.seed_id] <= 0:
                    continue
                seeds[candidate.seed_id] -= 1
            if left is not None:
                left -= 1
            spent_hosts[candidate.host_id] = spent_hosts.get(candidate.host_id, 0) + 1
            if candidate.seed_id is not None:
                spent_by_seed[candidate.seed_id] = spent_by_seed.get(candidate.seed_id, 0) + 1
        claims.urls.append(candidate)
    if claims.urls:
        ids = sorted(candidate.id for candidate in claims.urls)
        connection.execute(_LEASE, [{"key": key, "run": request.run_id} for key in ids])
        _spend(connection, spent_hosts, spent_by_seed)
    return claims


_LEASE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(state=State.LEASED, leased_by=bindparam("run"), tries=url.c.tries + 1, next_visit=None)
)
_SEED_BUDGETS = select(seed.c.id, seed.c.pages, seed.c.used).where(seed.c.pages.is_not(None))


def _seed_budgets(connection: Connection) -> dict[int, int]:
    """Pages left for each seed that has a limit."""
    return {row.id: row.pages - row.used for row in connection.execute(_SEED_BUDGETS)}


_CLAIM_COLUMNS = (
    url.c.id,
    url.c.url,
    url.c.host_id,
    url.c.seed_id,
    url.c.kind,
    url.c.depth,
    url.c.score,
    url.c.found_in,
    url.c.found_on,
    url.c.found_at,
    url.c.tries,
    url.c.hops,
    url.c.etag,
    url.c.last_modified,
)


_WAITING = (url.c.host_id == bindparam("host")) & (url.c.state == literal_column("'pending'"))
_BEST = (
    select(*_CLAIM_COLUMNS)
    .where(_WAITING, or_(url.c.next_visit.is_(None), url.c.next_visit <= bindparam("now")))
    .order_by(url.c.score.desc(), url.c.found_at)
    .limit(bindparam("most"))
    .offset(bindparam("passed"))
)
_BEST_ROBOTS = _BEST.where(url.c.kind == Kind.ROBOTS)
_NEXT_DUE = select(func.min(url.c.next_visit)).where(_WAITING)


def _best_of(
    connection: Connection, request: ClaimRequest, host_id: int, spent_seeds: set[int], claims: Claims
) -> list[Claim]:
    """The best waiting URLs of one host that its rules and budget permit; notes whether the host ran dry."""
    want = request.wants[host_id]
    robots_only = host_id in request.robots_only
    if request.limits.pages_per_host is not None and not robots_only:
        pages = connection.execute(select(host.c.pages).where(host.c.id == host_id)).scalar_one()
        want = min(want, request.limits.pages_per_host - pages)
    query = _BEST_ROBOTS if robots_only else _BEST
    if spent_seeds:
        query = query.where(or_(url.c.seed_id.is_(None), url.c.seed_id.not_in(spent_seeds)))
    found: list[Claim] = []
    while len(found) < want:
        asked = want - len(found)
        wish = {"host": host_id, "now": request.now, "most": asked, "passed": len(found)}
        rows = connection.execute(query, wish).all()
        forbidden: dict[str, list[int]] = {}
        for row in rows:
            candidate = Claim(*row)  # type: ignore[call-arg]
            objection = "" if candidate.kind == Kind.ROBOTS else request.objection(host_id, candidate.url)
            if objection:
                forbidden.setdefault(objection, []).append(candidate.id)
            else:
                found.append(candidate)
        for objection, ids in forbidden.items():
            skip(connection, ids, objection)
            claims.skipped[objection] += len(ids)
        if len(rows) < asked:
            break
    if len(found) < request.wants[host_id]:
        due = connection.execute(_NEXT_DUE, {"host": host_id}).scalar_one()
        claims.dry[host_id] = due if due is not None and due > request.now else None
    return found


def skip(connection: Connection, ids: Sequence[int], reason: str) -> None:
    """Mark URLs as not to be fetched."""
    connection.execute(
        update(url).where(url.c.id == bindparam("key")).values(state=State.SKIPPED, reason=reason),
        [{"key": key} for key in sorted(ids)],
    )


def _take_hosts(connection: Connection, request: ClaimRequest) -> list[OwnedHost]:
    """Become the owner of hosts that have work and no living owner."""
    free = (
        select(host)
        .where(host.c.queued == 1, host.c.owner.is_(None))
        .order_by(host.c.ready_at, host.c.id)
        .limit(request.new_hosts)
        .with_for_update(skip_locked=True)
    )
    rows = connection.execute(free).all()
    if rows:
        connection.execute(update(host).where(host.c.id.in_([row.id for row in rows])).values(owner=request.run_id))
    return [
        OwnedHost(r.id, r.name, r.scheme, r.robots, r.robots_text, r.robots_at, r.ready_at, r.failures) for r in rows
    ]


def drop_hosts(connection: Connection, requests: Sequence[Sequence[int]]) -> list[set[int]]:
    """Give up hosts that may have run dry; returns those which still have waiting URLs and are kept."""
    answers = []
    for ids in requests:
        busy = set(
            connection.execute(
                select(url.c.host_id).where(url.c.host_id.in_(ids), url.c.state == State.PENDING).distinct()
            ).scalars()
        )
        idle = sorted(set(ids) - busy)
        if idle:
            connection.execute(update(host).where(host.c.id.in_(idle)).values(queued=0, owner=None))
        answers.append(busy)
    return answers


def give_back(connection: Connection, batches: Sequence[Sequence[Claim]]) -> list[None]:
    """Return leased URLs unfetched."""
    for claims in batches:
        connection.execute(
            update(url)
            .where(url.c.id == bindparam("key"))
            .values(state=State.PENDING, leased_by=None, tries=url.c.tries - 1),
            [{"key": c.id} for c in sorted(claims, key=lambda c: c.id)],
        )
        refund(connection, [(c.host_id, c.seed_id) for c in claims if c.kind == Kind.PAGE])
    return [None for _ in batches]


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is left: URLs that may be fetched now or later within the limits, and those beyond the limits."""

    within: int
    beyond: int
    next_due: float | None


def waiting(connection: Connection, questions: Sequence[Limits]) -> list[Waiting]:
    """Count what is left to do within given limits. "finished" is said only when `within` is 0."""
    return [_waiting(connection, limits) for limits in questions]


def _waiting(connection: Connection, limits: Limits) -> Waiting:
    pending = connection.execute(
        select(func.count(), func.min(url.c.next_visit)).where(url.c.state == State.PENDING)
    ).one()
    leased = connection.execute(select(func.count()).where(url.c.state == State.LEASED)).scalar_one()
    total, due = pending
    beyond = 0
    if limits.pages is not None and connection.execute(select(budget.c.pages)).scalar_one() >= limits.pages:
        beyond = total
    else:
        blocked = []
        if limits.pages_per_host is not None:
            full = select(host.c.id).where(host.c.pages >= limits.pages_per_host)
            blocked.append(url.c.host_id.in_(full))
        spent = [key for key, n in _seed_budgets(connection).items() if n <= 0]
        if spent:
            blocked.append(url.c.seed_id.in_(spent))
        if blocked:
            beyond = connection.execute(
                select(func.count()).where(url.c.state == State.PENDING, or_(*blocked))
            ).scalar_one()
    return Waiting(within=total + leased - beyond, beyond=beyond, next_due=due)


# ---------------------------------------------------------------- scores


def set_scores(
    connection: Connection, batches: Sequence[Sequence[tuple[int, float, Mapping[str, float]]]]
) -> list[int]:
    """Give URLs new scores, in bulk: triples of URL, score and the value of each signal. Queued URLs move at once.

    Returns how many rows each batch changed. Only waiting URLs are touched.
    """
    statement = (
        update(url)
        .where(url.c.id == bindparam("key"), url.c.state == State.PENDING)
        .values(score=bindparam("new_score"), score_parts=bindparam("new_parts"))
    )
    changed = []
    for batch in batches:
        rows = [
            {"key": key, "new_score": score, "new_parts": json.dumps(parts)}
            for key, score, parts in sorted(batch, key=lambda b: b[0])
        ]
        changed.append(connection.execute(statement, rows).rowcount if rows else 0)
    return changed
