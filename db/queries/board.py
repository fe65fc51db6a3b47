"""Counts for people who watch a crawl: curves of runs, what waits, hosts, sites.

`curves` is cheap whatever the size of the crawl. `crawl_counts` reads counts that are kept with every change; with
`curves` in one transaction it is all that is shown of a crawl, as of one moment. `census` goes over all sites and
articles: whoever serves pages asks for it beside them, and says as of when its answer is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, case, func, select

from ..engine.statements import among
from ..frontier import counts
from ..records.host import ShownAlarm
from ..records.run import RunSample
from ..records.url import State
from ..tables.articles import ArticleRow, ClusterRow
from ..tables.learned import AlarmRow
from ..tables.runs import BudgetRow, RunRow, RunSampleRow
from ..tables.urls import HostRow, SiteRow, UrlCountRow
from .status import RunStatus, runs_shown

article, cluster, count, host, site, run, sample, alarm, budget = (
    m.table()
    for m in (ArticleRow, ClusterRow, UrlCountRow, HostRow, SiteRow, RunRow, RunSampleRow, AlarmRow, BudgetRow)
)

_MOST_HOSTS = 12
_MOST_SITES = 20_000
_SLOW, _SLOWER = 0.3, 2.0
"""A slow host takes longer than so many seconds, and than so many times what the host in the middle takes."""


@dataclass(frozen=True, slots=True)
class Curve:
    run: RunStatus
    settings: Mapping[str, Any]
    samples: Sequence[RunSample]


def curves(connection: Connection, now: float, most: int) -> list[Curve]:
    """Read all living runs and the newest others with their samples, the newest first.

    Cost: some hundred rows a run.
    """
    runs = list(runs_shown(connection, now, most))
    ids = [each.id for each in runs]
    samples: dict[int, list[RunSample]] = {key: [] for key in ids}
    rows = connection.execute(select(sample).where(sample.c.run_id.in_(ids)).order_by(sample.c.at))
    for row in rows:
        values = {name: getattr(row, name) for name in RunSample.__slots__}
        samples[row.run_id].append(RunSample(**{**values, "reasons": json.loads(row.reasons)}))
    settings_json = dict(connection.execute(select(run.c.id, run.c.settings).where(run.c.id.in_(ids))).all())
    return [Curve(each, json.loads(settings_json[each.id]), samples[each.id]) for each in runs]


@dataclass(frozen=True, slots=True)
class HostNow:
    """A host in lists of slow and failing ones; names as in the table.

    `waiting` counts URLs that wait; only for the hosts with most of them.
    """

    name: str
    site: str
    answer_seconds: float | None
    failures: int
    backoffs: int
    backoff_until: float
    dead_reason: str | None
    pages: int
    articles: int
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class SiteNow:
    """A site in the list of all.

    Attributes:
        originals, reprints: articles that stand for themselves, and that repeat one.
        alarms: active ones.
        dead, resting: hosts that are given up, or in backoff.
    """

    name: str
    hosts: int
    pages: int
    articles: int
    originals: int
    reprints: int
    alarms: int
    dead: int
    resting: int


@dataclass(frozen=True, slots=True)
class CrawlCounts:
    """Exact counts of URLs, and the hosts to look at.

    Attributes:
        states: URLs by state.
        reasons: URLs that became no article by state and reason, the most frequent first.
        depths: URLs that wait by depth; those beyond `counts.MOST_DEPTH` under it.
        queues: hosts with most waiting URLs.
        slow: hosts that take much longer to answer than most, the slowest first.
        failing: hosts that fail, rest, or are given up.
        budget: pages counted against `MAX_PAGES` and against `MAX_PAGES_PER_RUN`.
    """

    states: Mapping[str, int]
    reasons: Sequence[tuple[str, str, int]]
    depths: Mapping[int, int]
    queues: Sequence[HostNow]
    slow: Sequence[HostNow]
    failing: Sequence[HostNow]
    budget: tuple[int, int]


@dataclass(frozen=True, slots=True)
class CrawlNow:
    """A crawl as of one moment, the Unix time `at`."""

    at: float
    runs: Sequence[Curve]
    alarms: Sequence[ShownAlarm]
    counts: CrawlCounts


@dataclass(frozen=True, slots=True)
class DatabaseCounts:
    """Counts over whole tables.

    Attributes:
        articles, clusters: stored articles, and stories that they are of.
        sites: all of which something was asked, those with most articles first.
    """

    articles: int
    clusters: int
    sites: Sequence[SiteNow]


def crawl_counts(connection: Connection, now: float) -> CrawlCounts:
    """Count a crawl as of a Unix time.

    Cost: passes over the counts (some rows a host) and the hosts, by the database.
    """
    waiting: dict[int, int] = dict(connection.execute(_QUEUES).all())
    named = {row.id: row for row in connection.execute(_NAMED, {"ids": list(waiting)})}
    usual = connection.execute(_USUAL).scalar()
    at_least = max(_SLOW, (usual or 0.0) * _SLOWER)
    spent = connection.execute(select(budget.c.pages, budget.c.run_pages)).first()
    return CrawlCounts(
        states=counts.states(connection),
        reasons=counts.reasons(connection),
        depths=dict(connection.execute(_DEPTHS).all()),
        queues=[host_now(named[key], n) for key, n in waiting.items() if key in named],
        slow=[host_now(row, 0) for row in connection.execute(_SLOWEST, {"least": at_least})],
        failing=[host_now(row, 0) for row in connection.execute(_FAILING, {"now": now})],
        budget=(0, 0) if spent is None else (spent.pages, spent.run_pages),
    )


def census(connection: Connection, now: float) -> DatabaseCounts:
    """Count articles and sites, as of a Unix time.

    Cost: passes over the hosts and the identifiers of articles.
    """
    return DatabaseCounts(
        articles=connection.execute(select(func.count()).select_from(article)).scalar_one(),
        clusters=connection.execute(select(func.count()).select_from(cluster)).scalar_one(),
        sites=[SiteNow(*tuple(row)) for row in connection.execute(_SITES, {"now": now})],
    )


def host_now(row: Any, waiting: int) -> HostNow:
    return HostNow(**{name: getattr(row, name) for name in HostNow.__slots__ if name != "waiting"}, waiting=waiting)


_IS_PENDING = count.c.state == State.PENDING
_QUEUES = (
    select(count.c.host_id, counts.TOTAL)
    .where(_IS_PENDING)
    .group_by(count.c.host_id)
    .having(counts.TOTAL > 0)
    .order_by(counts.TOTAL.desc(), count.c.host_id)
    .limit(_MOST_HOSTS)
)
_DEPTHS = (
    select(count.c.depth, counts.TOTAL)
    .where(_IS_PENDING)
    .group_by(count.c.depth)
    .having(counts.TOTAL > 0)
    .order_by(count.c.depth)
)
HOST_COLUMNS = (
    *(host.c[name] for name in ("id", "name", "answer_seconds", "failures", "backoffs", "backoff_until")),
    *(host.c[name] for name in ("dead_reason", "pages", "articles")),
    func.coalesce(site.c.name, host.c.name).label("site"),
)
WITH_SITE = host.outerjoin(site, site.c.id == host.c.site_id)
_worth_a_look = (host.c.pages > 0) | (host.c.failures > 0) | (host.c.queued > 0) | host.c.dead_reason.is_not(None)
_OF_HOSTS = select(*HOST_COLUMNS).select_from(WITH_SITE)
_NAMED = _OF_HOSTS.where(among(host.c.id))
_is_timed = host.c.answer_seconds.is_not(None)
_timed = select(func.count() // 2).select_from(host).where(_is_timed).scalar_subquery()
_USUAL = select(host.c.answer_seconds).where(_is_timed).order_by(host.c.answer_seconds).limit(1).offset(_timed)
_SLOWEST = (
    _OF_HOSTS.where(host.c.answer_seconds > bindparam("least"))
    .order_by(host.c.answer_seconds.desc(), host.c.name)
    .limit(_MOST_HOSTS)
)
_FAILING = (
    _OF_HOSTS.where(host.c.dead_reason.is_not(None) | (host.c.failures > 0) | (host.c.backoff_until > bindparam("now")))
    .order_by(host.c.dead_reason.is_(None), host.c.backoffs.desc(), host.c.failures.desc(), host.c.name)
    .limit(_MOST_HOSTS)
)
_alarms = (
    select(host.c.site_id, func.count().label("n"))
    .join(alarm, alarm.c.host_id == host.c.id)
    .where(alarm.c.until.is_(None))
    .group_by(host.c.site_id)
    .subquery()
)
_of_site = (
    select(
        host.c.site_id,
        func.count().label("hosts"),
        func.sum(host.c.pages).label("pages"),
        func.sum(host.c.articles).label("articles"),
        func.sum(case((host.c.dead_reason.is_not(None), 1), else_=0)).label("dead"),
        func.sum(case((host.c.backoff_until > bindparam("now"), 1), else_=0)).label("resting"),
    )
    .where(_worth_a_look)
    .group_by(host.c.site_id)
    .subquery()
)
_SITES = (
    select(
        site.c.name,
        *(_of_site.c[name] for name in ("hosts", "pages", "articles")),
        site.c.originals,
        site.c.reprints,
        func.coalesce(_alarms.c.n, 0),
        _of_site.c.dead,
        _of_site.c.resting,
    )
    .join(_of_site, _of_site.c.site_id == site.c.id)
    .outerjoin(_alarms, _alarms.c.site_id == site.c.id)
    .order_by(_of_site.c.articles.desc(), _of_site.c.pages.desc(), site.c.name)
    .limit(_MOST_SITES)
)
