"""The frontier's SQL: taking over hosts, claiming their best URLs, what is left, new scores.

A host belongs to one run at a time, so only that run's clock decides when it is asked and claims need no lock on single
URLs. Every function takes a connection inside an open transaction.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, bindparam, exists, func, not_, or_, select, update

from .budgets import Limits, beyond_limits, pages_left, refund, seed_budgets, spend
from .statements import in_state
from .tables import Host, Kind, State, Url

url, host = Url.table(), Host.table()


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
class ClaimRequest:
    """A wish for work.

    Attributes:
        run_id: the asking run.
        wants: host -> how many URLs.
        new_hosts: how many further hosts may be taken over.
        robots_only: hosts among `wants` whose rules are not known yet: only their robots.txt may be handed out.
        objection: why a host's rules forbid a URL, or an empty string.
        closed: why a host's rules forbid every URL, or an empty string.
        now: Unix time.
    """

    run_id: int
    wants: Mapping[int, int]
    new_hosts: int
    robots_only: frozenset[int]
    objection: Callable[[int, str], str]
    closed: Callable[[int], str]
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


def claim(connection: Connection, requests: Sequence[ClaimRequest]) -> list[Claims]:
    """Hand out the best waiting URLs of the asked hosts, within the limits, and take over further hosts.

    Cost: one indexed read of `want` rows a host and one batch update.
    """
    return [_claim(connection, request) for request in requests]


def _claim(connection: Connection, request: ClaimRequest) -> Claims:
    left = pages_left(connection, request.limits)
    if left == 0:
        return Claims(dry=dict.fromkeys(request.wants), spent=True)
    claims = Claims(hosts=_take_hosts(connection, request) if request.new_hosts else [])
    seeds = seed_budgets(connection)
    spent_seeds = {key for key, n in seeds.items() if n <= 0}
    candidates: list[Claim] = []
    owned = set(connection.execute(_OWNED, {"ids": list(request.wants), "run": request.run_id}).scalars())
    for host_id in sorted(request.wants):
        if host_id in owned:
            candidates += _best_of(connection, request, host_id, spent_seeds, claims)
        else:
            claims.dry[host_id] = None
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
        spend(connection, spent_hosts, spent_by_seed)
    return claims


_OWNED = select(host.c.id).where(host.c.id.in_(bindparam("ids", expanding=True)), host.c.owner == bindparam("run"))
_LEASE = (
    update(url)
    .where(url.c.id == bindparam("key"))
    .values(state=State.LEASED, leased_by=bindparam("run"), tries=url.c.tries + 1, next_visit=None)
)


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


_WAITING = (url.c.host_id == bindparam("host")) & (in_state(State.PENDING))
_BEST = (
    select(*_CLAIM_COLUMNS)
    .where(_WAITING, or_(url.c.next_visit.is_(None), url.c.next_visit <= bindparam("now")))
    .order_by(url.c.score.desc(), url.c.found_at)
    .limit(bindparam("most"))
)
_BEST_ROBOTS = _BEST.where(url.c.kind == Kind.ROBOTS)
_SKIP_HOST = update(url).where(_WAITING, url.c.kind != Kind.ROBOTS).values(state=State.SKIPPED, reason=bindparam("why"))
_READ_AHEAD = 200
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
    closed = "" if robots_only else request.closed(host_id)
    if closed:
        claims.skipped[closed] += connection.execute(_SKIP_HOST, {"host": host_id, "why": closed}).rowcount
        want = 0
    found: dict[int, Claim] = {}
    while len(found) < want:
        most = max(want, _READ_AHEAD if found else 0)
        rows = connection.execute(query, {"host": host_id, "now": request.now, "most": most}).all()
        forbidden: dict[str, list[int]] = {}
        for row in rows:
            candidate = Claim(*row)  # type: ignore[call-arg]
            objection = "" if candidate.kind == Kind.ROBOTS else request.objection(host_id, candidate.url)
            if objection:
                forbidden.setdefault(objection, []).append(candidate.id)
            elif len(found) < want:
                found[candidate.id] = candidate
        for objection, ids in forbidden.items():
            skip(connection, ids, objection)
            claims.skipped[objection] += len(ids)
        if len(rows) < most or not forbidden:
            break
    if len(found) < request.wants[host_id]:
        due = connection.execute(_NEXT_DUE, {"host": host_id}).scalar_one()
        claims.dry[host_id] = due if due is not None and due > request.now else None
    return list(found.values())


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


def drop_hosts(connection: Connection, requests: Sequence[tuple[Limits, Sequence[int]]]) -> list[set[int]]:
    """Give up hosts that have nothing to do within the limits; returns those which have, and are kept."""
    answers = []
    for limits, ids in requests:
        # the lock first: a page that is being stored now either is seen here, or wakes the host up again afterwards
        connection.execute(select(host.c.id).where(host.c.id.in_(ids)).order_by(host.c.id).with_for_update())
        waiting = in_state(State.PENDING)
        beyond = beyond_limits(connection, limits)
        if beyond:
            waiting &= not_(or_(*beyond))
        kept = set(
            connection.execute(select(url.c.host_id).where(url.c.host_id.in_(ids), waiting).distinct()).scalars()
        )
        leased = select(url.c.host_id).where(in_state(State.LEASED), url.c.host_id.in_(ids)).distinct()
        kept |= set(connection.execute(leased).scalars())
        idle = sorted(set(ids) - kept)
        if idle:
            connection.execute(update(host).where(host.c.id.in_(idle)).values(queued=0, owner=None))
        answers.append(kept)
    return answers


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


def set_robots(connection: Connection, batches: Sequence[Sequence[tuple[int, str, str, float]]]) -> list[None]:
    """Write rules of hosts: (host, kind as in `host.robots`, text, Unix time)."""
    statement = (
        update(host)
        .where(host.c.id == bindparam("key"))
        .values(robots=bindparam("kind"), robots_text=bindparam("body"), robots_at=bindparam("at"))
    )
    for batch in batches:
        rows = [{"key": key, "kind": kind, "body": body or None, "at": at} for key, kind, body, at in sorted(batch)]
        if rows:
            connection.execute(statement, rows)
    return [None for _ in batches]


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
    pending = connection.execute(select(func.count(), func.min(url.c.next_visit)).where(in_state(State.PENDING))).one()
    leased = connection.execute(select(func.count()).where(in_state(State.LEASED))).scalar_one()
    total, due = pending
    blocked = beyond_limits(connection, limits)
    beyond = 0
    if blocked:
        query = select(func.count()).where(in_state(State.PENDING), or_(*blocked))
        beyond = connection.execute(query).scalar_one()
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
        .where(url.c.id == bindparam("key"), in_state(State.PENDING))
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
