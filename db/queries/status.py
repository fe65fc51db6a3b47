"""Answers to questions about a crawl while it runs or afterwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, case, exists, func, or_, select, text

from ..engine.processes import is_gone
from ..engine.statements import among, clock, in_state
from ..frontier import counts
from ..frontier.revisits import IS_GIVEN, count_unread
from ..records.keys import fingerprint
from ..records.outcome import StoredPage
from ..records.run import FAILED
from ..records.url import Kind, State
from ..records.visit import Unread
from ..tables.articles import ArticleRow, ArticleVersionRow, ClusterRow, DuplicateRow, PageRow, PartRow
from ..tables.runs import RunRow
from ..tables.urls import AGAIN, HostRow, SeedRow, SiteRow, UrlCountRow, UrlRow

url, host, site, count, run, seed = (m.table() for m in (UrlRow, HostRow, SiteRow, UrlCountRow, RunRow, SeedRow))
article, version, cluster, part, duplicate, page = (
    m.table() for m in (ArticleRow, ArticleVersionRow, ClusterRow, PartRow, DuplicateRow, PageRow)
)


def seed_urls(connection: Connection) -> list[str]:
    return list(connection.execute(select(seed.c.url)).scalars())


def stored_page(connection: Connection, canonical_url: str) -> tuple[float, StoredPage] | None:
    """Return a page's time and zstd-compressed bytes, None when not stored."""
    return stored_page_of(connection, fingerprint(canonical_url))


def stored_page_of(connection: Connection, url_id: int) -> tuple[float, StoredPage] | None:
    row = connection.execute(select(page).where(page.c.url_id == url_id)).one_or_none()
    return None if row is None else (row.fetched_at, StoredPage.from_row(row))


@dataclass(frozen=True, slots=True)
class Named:
    """Title and state of a URL; an empty title when there is no article under it."""

    url: str
    kind: str
    state: str
    title: str


def named(connection: Connection, ids: Sequence[int]) -> dict[int, Named]:
    """Return titles and states of URLs; unknown ones are left out."""
    return {row.id: Named(row.url, row.kind, row.state, row.title or "") for row in _many(connection, _NAMED, ids)}


def _many(connection: Connection, statement: Any, ids: Sequence[int]) -> Iterator[Any]:
    for first in range(0, len(ids), _MOST_IDS):
        yield from connection.execute(statement, {"ids": ids[first : first + _MOST_IDS]})


_MOST_IDS = 10_000
_NAMED = (
    select(url.c.id, url.c.url, url.c.kind, url.c.state, article.c.title)
    .outerjoin(article, article.c.id == url.c.id)
    .where(among(url.c.id))
)


@dataclass(frozen=True, slots=True)
class HostStatus:
    name: str
    pending: int
    leased: int
    done: int
    failed: int
    skipped: int
    articles: int
    robots: str
    failures: int
    owner: int | None
    backoffs: int = 0
    backoff_until: float = 0.0
    dead_reason: str | None = None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """State or end of a run.

    `lease_seconds` is how long its lease lasts from now on, 0 or less for one that has ended or died. Of the `urls` it
    holds, some are in memory, some under way.
    """

    id: int
    started: str
    finished: str | None
    outcome: str | None
    machine: str
    pid: int
    lease_seconds: float
    hosts: int
    urls: int
    pages_per_second: float
    totals: Mapping[str, int]
    asked: str = ""
    """Request of an operator, see `Asked`."""

    @property
    def is_running(self) -> bool:
        """Tell whether its lease lasts and its process is not known to be gone."""
        return self.finished is None and self.lease_seconds > 0

    @property
    def has_failed(self) -> bool:
        """Tell whether it has ended by a fault, or brought nothing."""
        return (self.outcome or "").startswith(FAILED)

    @property
    def is_dead(self) -> bool:
        return self.finished is None and self.lease_seconds <= 0


@dataclass(frozen=True, slots=True)
class Waits:
    """Fairness of turns among the hosts with URLs that may be fetched now.

    `host` has waited longest, for `seconds`, since it might have been asked again; empty when there is none. `unasked`
    counts those never asked.
    """

    host: str
    seconds: float
    unasked: int


@dataclass(frozen=True, slots=True)
class Status:
    """A crawl at a glance: busiest hosts first, living runs and the newest others."""

    states: Mapping[str, int]
    articles: int
    duplicates: int
    hosts: Sequence[HostStatus]
    waits: Waits
    reasons: Sequence[tuple[str, str, int]]
    runs: Sequence[RunStatus]
    again: int
    """URLs that are to be visited again; `next_visit` is the Unix time at which the first is due."""
    next_visit: float | None
    unread: Unread


def joined(found: Sequence[Status], *, hosts: int = 20) -> Status:
    states: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for each in found:
        states.update(each.states)
        reasons.update({(state, reason): n for state, reason, n in each.reasons})
    longest = max((each.waits for each in found), key=lambda waits: (bool(waits.host), waits.seconds))
    busiest = sorted((host for each in found for host in each.hosts), key=lambda h: (-h.pending, -h.done, h.name))
    return Status(
        states=states,
        articles=sum(each.articles for each in found),
        duplicates=sum(each.duplicates for each in found),
        hosts=busiest[:hosts],
        waits=replace(longest, unasked=sum(each.waits.unasked for each in found)),
        reasons=tuple((*what, n) for what, n in reasons.most_common()),
        runs=tuple(run for each in found for run in each.runs),
        again=sum(each.again for each in found),
        next_visit=min((each.next_visit for each in found if each.next_visit is not None), default=None),
        unread=Unread(sum(each.unread.again for each in found), sum(each.unread.given_up for each in found)),
    )


def status(connection: Connection, now: float, *, hosts: int = 20, runs: int = 5) -> Status:
    """Count everything, as of a Unix time.

    Cost: indexed reads, a pass over the counts, a few of each host, and the identifiers of articles.
    """
    shown = connection.execute(_HOSTS.limit(hosts)).all()
    articles, clusters = (
        connection.execute(select(func.count()).select_from(each)).scalar_one() for each in (article, cluster)
    )
    again = connection.execute(select(func.count(), func.min(url.c.next_visit)).where(text(AGAIN), IS_GIVEN)).one()
    return Status(
        states=counts.states(connection),
        articles=articles,
        duplicates=articles - clusters,
        hosts=tuple(HostStatus(*row) for row in shown),
        waits=_waits(connection, now),
        reasons=tuple(counts.reasons(connection)),
        runs=tuple(runs_shown(connection, now, runs)),
        again=again[0],
        next_visit=again[1],
        unread=count_unread(connection, [None])[0],
    )


def _in_state(state: State) -> ColumnElement[int]:
    return func.sum(case((count.c.state == state.value, count.c.n), else_=0)).cast(BigInteger).label(state.value)


_PER_HOST = (
    select(count.c.host_id, *(_in_state(state) for state in State)).group_by(count.c.host_id).subquery("per_host")
)
_HOSTS = (
    select(
        host.c.name,
        *(_PER_HOST.c[state.value] for state in (State.PENDING, State.LEASED, State.DONE, State.FAILED, State.SKIPPED)),
        *(host.c[name] for name in ("articles", "robots", "failures", "owner", "backoffs", "backoff_until")),
        host.c.dead_reason,
    )
    .join(_PER_HOST, _PER_HOST.c.host_id == host.c.id)
    .order_by(_PER_HOST.c.pending.desc(), _PER_HOST.c.done.desc(), host.c.name)
)


def _waits(connection: Connection, now: float) -> Waits:
    is_due = or_(url.c.next_visit.is_(None), url.c.next_visit <= now)
    has_work = exists().where(url.c.host_id == host.c.id, in_state(State.PENDING), is_due)
    ready = select(host.c.name, host.c.ready_at).where(host.c.queued > 0, host.c.backoff_until <= now, has_work)
    asked = ready.where(host.c.ready_at > 0, host.c.ready_at <= now).order_by(host.c.ready_at, host.c.name).limit(1)
    longest = connection.execute(asked).one_or_none()
    unasked = ready.where(host.c.ready_at == 0).subquery()
    return Waits(
        host="" if longest is None else longest.name,
        seconds=0.0 if longest is None else now - longest.ready_at,
        unasked=connection.execute(select(func.count()).select_from(unasked)).scalar_one(),
    )


def runs_shown(connection: Connection, now: float, most: int) -> Iterator[RunStatus]:
    lease = run.c.alive_until - clock(connection, now)
    held = select(url.c.leased_by, func.count()).where(in_state(State.LEASED)).group_by(url.c.leased_by)
    urls = {row[0]: row[1] for row in connection.execute(held)}
    owned = select(host.c.owner, func.count()).where(host.c.owner.is_not(None)).group_by(host.c.owner)
    hosts = {row[0]: row[1] for row in connection.execute(owned)}
    newest = select(run.c.id).order_by(run.c.id.desc()).limit(most)
    shown = select(run, lease.label("lease")).where((run.c.alive_until > 0) | run.c.id.in_(newest))
    for r in connection.execute(shown.order_by(run.c.id.desc())):
        yield RunStatus(
            id=r.id,
            started=r.started,
            finished=r.finished,
            outcome=r.outcome,
            machine=r.machine,
            pid=r.pid,
            lease_seconds=r.lease if r.alive_until > 0 and not is_gone(r.place, r.pid) else 0.0,
            hosts=hosts.get(r.id, 0),
            urls=urls.get(r.id, 0),
            pages_per_second=r.pages_per_second,
            totals=json.loads(r.totals or "{}"),
            asked=r.asked,
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything known about one URL; `article` is empty when it has none."""

    url: str
    kind: str
    state: str
    reason: str | None
    detail: str | None
    page_kind: str | None
    depth: int
    score: float
    parts: Mapping[str, float]
    """The value of each signal that the score is made of."""
    settings: Mapping[str, Any]
    found_on: str | None
    found_in: int
    anchor: str | None
    seed: str | None
    host: str
    tries: int
    http_status: int | None
    fetched_at: float | None
    next_visit: float | None
    rests: bool | None
    """True when the seed is no longer among the seeds given."""
    same_as: str | None
    part: tuple[int, str] | None
    """Place in an article of several pages (0 when it adds nothing to it), and the URL of that."""
    article: Mapping[str, Any]
    versions: Sequence[Version]
    visits: int
    brought: float
    watched: float
    duplicates: Sequence[tuple[str, float, str, str, bool]]
    """Some articles that it has to do with: URL, similarity, method, kind, and whether it is the later of the two."""


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier version of an article, from `seen` (ISO time) on."""

    seen: str
    title: str
    text: str


def versions(connection: Connection, article_id: int) -> tuple[Version, ...]:
    rows = (
        select(version).where(version.c.article_id == article_id).order_by(version.c.seen.desc()).limit(_MOST_VERSIONS)
    )
    return tuple(Version(row.seen, row.title, row.text) for row in connection.execute(rows))


_MOST_VERSIONS = 20
_MOST_PAIRS = 200
"""An article of an agency is repeated by thousands."""
_SHOWN = [each for each in url.c if each.name in Explanation.__slots__ and each.name not in {"found_on", "same_as"}]
_NEWEST_SETTINGS = select(run.c.settings).order_by(run.c.id.desc()).limit(1)


def explain(connection: Connection, canonical_url: str) -> Explanation | None:
    """Tell what happened to a URL, and why; None when it was never seen."""
    names = [canonical_url, *(f"{kind} {canonical_url}" for kind in Kind if kind != Kind.PAGE)]
    found_on, same_as, home = url.alias(), url.alias(), seed.alias()
    row = connection.execute(
        select(
            *_SHOWN,
            url.c.reason_detail.label("detail"),
            url.c.score_parts.label("parts"),
            host.c.name.label("host"),
            found_on.c.url.label("found_on"),
            same_as.c.url.label("same_as"),
            home.c.url.label("seed"),
            (home.c.given == 0).label("rests"),
        )
        .join(host, host.c.id == url.c.host_id)
        .outerjoin(found_on, found_on.c.id == url.c.found_on)
        .outerjoin(same_as, same_as.c.id == url.c.same_as)
        .outerjoin(home, home.c.id == url.c.seed_id)
        .where(url.c.id.in_([fingerprint(name) for name in names]))
        .order_by(url.c.kind != Kind.PAGE)
    ).first()
    if row is None:
        return None
    key = fingerprint(canonical_url if row.kind == Kind.PAGE else f"{row.kind} {canonical_url}")
    stored = connection.execute(select(article).where(article.c.id == key)).mappings().one_or_none()
    first = url.alias()
    place = connection.execute(
        select(part.c.position, first.c.url).join(first, first.c.id == part.c.first_id).where(part.c.id == key)
    ).first()
    other = url.alias()
    pairs = connection.execute(
        select(
            other.c.url,
            duplicate.c.similarity,
            duplicate.c.method,
            duplicate.c.kind,
            (duplicate.c.article_id == key).label("later"),
        )
        .join(
            other,
            other.c.id == case((duplicate.c.article_id == key, duplicate.c.of_id), else_=duplicate.c.article_id),
        )
        .where((duplicate.c.article_id == key) | (duplicate.c.of_id == key))
        .limit(_MOST_PAIRS)
    ).all()
    return Explanation(
        **{**row._mapping, "parts": json.loads(row.parts or "{}")},
        settings=json.loads(connection.execute(_NEWEST_SETTINGS).scalar() or "{}"),
        part=None if place is None else (place.position, place.url),
        article=dict(stored) if stored else {},
        versions=versions(connection, key) if stored else (),
        duplicates=tuple((p[0], p[1], p[2], p[3], bool(p[4])) for p in pairs),
    )
