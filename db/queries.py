"""Questions that people ask a crawl's database while it runs or afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, select
from sqlalchemy.orm import aliased

from .keys import fingerprint
from .tables import Article, Duplicate, Host, Kind, Run, Seed, State, Url

url, host, article, duplicate, run, seed = (m.table() for m in (Url, Host, Article, Duplicate, Run, Seed))


def seed_urls(connection: Connection) -> list[str]:
    """All seeds of the crawl."""
    return list(connection.execute(select(seed.c.url)).scalars())


@dataclass(frozen=True, slots=True)
class HostStatus:
    """Where one host stands."""

    name: str
    pending: int
    leased: int
    done: int
    failed: int
    skipped: int
    articles: int
    robots: str
    failures: int


@dataclass(frozen=True, slots=True)
class RunStatus:
    """How a run is doing or how it ended."""

    id: int
    started: str
    finished: str | None
    outcome: str | None
    machine: str
    pid: int
    alive_until: float
    totals: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Status:
    """A crawl at a glance: URLs by state, articles, hosts (most waiting first), reasons for drops, newest runs."""

    states: Mapping[str, int]
    articles: int
    duplicates: int
    hosts: Sequence[HostStatus]
    reasons: Sequence[tuple[str, str, int]]
    runs: Sequence[RunStatus]


def status(connection: Connection, *, hosts: int = 20, runs: int = 5) -> Status:
    """Count everything.

    Cost: one pass over the URL table.
    """

    def count(state: State) -> Any:
        return func.sum(case((url.c.state == state, 1), else_=0))

    per_host = connection.execute(
        select(
            host.c.name,
            *(count(s) for s in (State.PENDING, State.LEASED, State.DONE, State.FAILED, State.SKIPPED)),
            host.c.articles,
            host.c.robots,
            host.c.failures,
        )
        .join(url, url.c.host_id == host.c.id)
        .group_by(host.c.id, host.c.name, host.c.articles, host.c.robots, host.c.failures)
        .order_by(count(State.PENDING).desc(), count(State.DONE).desc(), host.c.name)
    ).all()
    reasons = connection.execute(
        select(url.c.state, url.c.reason, func.count())
        .where(url.c.reason.is_not(None))
        .group_by(url.c.state, url.c.reason)
        .order_by(func.count().desc())
    ).all()
    articles = connection.execute(select(func.count(), func.count(article.c.duplicate_of)).select_from(article)).one()
    newest = connection.execute(select(run).order_by(run.c.id.desc()).limit(runs)).all()
    names = ("pending", "leased", "done", "failed", "skipped")
    return Status(
        states={name: sum(int(row[i]) for row in per_host) for i, name in enumerate(names, 1)},
        articles=articles[0],
        duplicates=articles[1],
        hosts=tuple(HostStatus(*tuple(row)) for row in per_host[:hosts]),
        reasons=tuple((row[0], row[1], row[2]) for row in reasons),
        runs=tuple(
            RunStatus(
                r.id, r.started, r.finished, r.outcome, r.machine, r.pid, r.alive_until, json.loads(r.totals or "{}")
            )
            for r in newest
        ),
    )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything known about one URL; `article` is empty when none was stored under it."""

    url: str
    kind: str
    state: str
    reason: str | None
    depth: int
    score: float
    parts: Mapping[str, float]
    found_on: str | None
    found_in: int
    anchor: str | None
    seed: str | None
    host: str
    tries: int
    http_status: int | None
    fetched_at: float | None
    next_visit: float | None
    same_as: str | None
    article: Mapping[str, Any]
    duplicates: Sequence[tuple[str, float, str, str]]
    """Articles that repeat it, or that it repeats: URL, similarity, method, kind."""


def explain(connection: Connection, canonical_url: str) -> Explanation | None:
    """What happened to a URL, and why; None when the crawl has never seen it."""
    names = [canonical_url, *(f"{kind} {canonical_url}" for kind in Kind if kind != Kind.PAGE)]
    found_on, same_as, home = aliased(Url), aliased(Url), aliased(Seed)
    row = connection.execute(
        select(
            url,
            host.c.name.label("host"),
            found_on.url.label("source"),
            same_as.url.label("other"),
            home.url.label("seed"),
        )
        .join(host, host.c.id == url.c.host_id)
        .outerjoin(found_on, found_on.id == url.c.found_on)
        .outerjoin(same_as, same_as.id == url.c.same_as)
        .outerjoin(home, home.id == url.c.seed_id)
        .where(url.c.id.in_([fingerprint(name) for name in names]))
        .order_by(url.c.kind != Kind.PAGE)
    ).first()
    if row is None:
        return None
    stored = connection.execute(select(article).where(article.c.id == row.id)).mappings().one_or_none()
    other = aliased(Url)
    pairs = connection.execute(
        select(other.url, duplicate.c.similarity, duplicate.c.method, duplicate.c.kind)
        .join(
            other,
            other.id == case((duplicate.c.article_id == row.id, duplicate.c.of_id), else_=duplicate.c.article_id),
        )
        .where((duplicate.c.article_id == row.id) | (duplicate.c.of_id == row.id))
    ).all()
    return Explanation(
        url=row.url,
        kind=row.kind,
        state=row.state,
        reason=row.reason,
        depth=row.depth,
        score=row.score,
        parts=json.loads(row.score_parts or "{}"),
        found_on=row.source,
        found_in=row.found_in,
        anchor=row.anchor,
        seed=row.seed,
        host=row.host,
        tries=row.tries,
        http_status=row.http_status,
        fetched_at=row.fetched_at,
        next_visit=row.next_visit,
        same_as=row.other,
        article=dict(stored) if stored else {},
        duplicates=tuple((p[0], p[1], p[2], p[3]) for p in pairs),
    )
