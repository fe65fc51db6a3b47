"""All that a crawl knows of one site."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, literal_column, nulls_last, select, text

from ..engine.statements import in_state
from ..records.host import ShownAlarm
from ..records.keys import fingerprint, read_day
from ..records.url import State
from ..tables.articles import ArticleRow
from ..tables.learned import AlarmRow, HostHealthRow, SiteMemoryRow, UrlPatternRow, UrlRuleRow
from ..tables.urls import FEEDS, HostRow, SiteRow, UrlRow
from .board import HOST_COLUMNS, WITH_SITE, HostNow, host_now

article, url, host, site, alarm = (m.table() for m in (ArticleRow, UrlRow, HostRow, SiteRow, AlarmRow))
health, memory, pattern, rule = (m.table() for m in (HostHealthRow, SiteMemoryRow, UrlPatternRow, UrlRuleRow))

_MOST_HOSTS = 50
_MOST_ROWS = 50
_NEWEST = 20


@dataclass(frozen=True, slots=True)
class SiteHost:
    """A host of a site; `learned` articles made its model, `answers` its health."""

    host: HostNow
    robots: str
    fetched: int
    learned: int
    model: bytes
    answers: int


@dataclass(frozen=True, slots=True)
class SiteFeed:
    """A feed or sitemap: its visits, and what came of those after the first."""

    url: str
    kind: str
    state: str
    reason: str | None
    visits: int
    named: float
    brought: float
    fetched_at: float | None
    next_visit: float | None


@dataclass(frozen=True, slots=True)
class SiteRule:
    host: str
    kind: str
    pattern: str
    pages: int
    used: bool
    why: str


@dataclass(frozen=True, slots=True)
class SiteArticle:
    id: int
    title: str
    published_at: str | None
    first_seen: str
    is_reprint: bool


@dataclass(frozen=True, slots=True)
class SiteDetail:
    name: str
    first_seen: str
    originals: int
    reprints: int
    hosts: Sequence[SiteHost]
    alarms: Sequence[ShownAlarm]
    feeds: Sequence[SiteFeed]
    rules: Sequence[SiteRule]
    traps: Sequence[SiteRule]
    published: Mapping[str, int]
    newest: Sequence[SiteArticle]


def site_detail(connection: Connection, name: str, now: float) -> SiteDetail | None:
    """Read all about a site; None when it is not known.

    Cost: indexed reads only; the URLs of its hosts that wait or were fetched are counted in their indexes.
    """
    key = fingerprint(name)
    row = connection.execute(select(site).where(site.c.id == key)).one_or_none()
    if row is None:
        return None
    rows = connection.execute(_SITE_HOSTS, {"site": key}).all()
    ids = [each.id for each in rows]
    learned = {each.host_id: each for each in connection.execute(select(memory).where(memory.c.host_id.in_(ids)))}
    judged = dict(connection.execute(select(health.c.host_id, health.c.answers).where(health.c.host_id.in_(ids))).all())
    hosts = []
    for each in rows:
        model = learned.get(each.id)
        hosts.append(
            SiteHost(
                host=host_now(each, connection.execute(_WAITING, {"host": each.id}).scalar_one()),
                robots=each.robots,
                fetched=connection.execute(_FETCHED, {"host": each.id}).scalar_one(),
                learned=model.pages if model else 0,
                model=bytes(model.state) if model else b"",
                answers=judged.get(each.id, 0),
            )
        )
    names = {each.id: each.name for each in rows}
    return SiteDetail(
        name=row.name,
        first_seen=row.first_seen,
        originals=row.originals,
        reprints=row.reprints,
        hosts=hosts,
        alarms=_site_alarms(connection, names),
        feeds=_feeds(connection, ids),
        rules=_site_rules(connection, names),
        traps=_site_traps(connection, names),
        published=_published(connection, key, now),
        newest=[SiteArticle(*tuple(each)) for each in connection.execute(_NEWEST_OF, {"site": key})],
    )


_SITE_HOSTS = (
    select(*HOST_COLUMNS, host.c.robots)
    .select_from(WITH_SITE)
    .where(host.c.site_id == bindparam("site"))
    .order_by(host.c.articles.desc(), host.c.pages.desc(), host.c.name)
    .limit(_MOST_HOSTS)
)
_OF_HOST = url.c.host_id == bindparam("host")
_WAITING = select(func.count()).select_from(url).where(_OF_HOST, in_state(State.PENDING))
_FETCHED = select(func.count()).select_from(url).where(_OF_HOST, url.c.fetched_at.is_not(None))
_NEWEST_OF = (
    select(
        *(article.c[name] for name in ("id", "title", "published_at", "first_seen")),
        article.c.duplicate_of.is_not(None).label("is_reprint"),
    )
    .where(article.c.site_id == bindparam("site"))
    .order_by(nulls_last(article.c.published_utc.desc()))
    .limit(_NEWEST)
)


def _site_alarms(connection: Connection, names: Mapping[int, str]) -> list[ShownAlarm]:
    columns = (alarm.c.host_id, alarm.c.kind, alarm.c.since, alarm.c.until, alarm.c.text)
    order = (alarm.c.until.is_not(None), alarm.c.since.desc(), alarm.c.kind)
    rows = connection.execute(select(*columns).where(alarm.c.host_id.in_(names)).order_by(*order).limit(_MOST_ROWS))
    return [ShownAlarm(names[row[0]], *row[1:]) for row in rows]


def _feeds(connection: Connection, ids: Sequence[int]) -> list[SiteFeed]:
    columns = [url.c[name] for name in SiteFeed.__slots__]
    order = (url.c.brought.desc(), url.c.named.desc(), url.c.visits.desc(), url.c.url)
    feeds = select(*columns).where(url.c.host_id.in_(ids), text(FEEDS))
    rows = connection.execute(feeds.order_by(*order).limit(_MOST_ROWS))
    return [SiteFeed(*row) for row in rows]


def _site_rules(connection: Connection, names: Mapping[int, str]) -> list[SiteRule]:
    columns = (rule.c.host_id, rule.c.kind, rule.c.pattern, rule.c.support, rule.c.used)
    order = (rule.c.used.desc(), rule.c.support.desc(), rule.c.pattern)
    rows = connection.execute(select(*columns).where(rule.c.host_id.in_(names)).order_by(*order).limit(_MOST_ROWS))
    return [SiteRule(names[r.host_id], r.kind, r.pattern, r.support, bool(r.used), "") for r in rows]


def _site_traps(connection: Connection, names: Mapping[int, str]) -> list[SiteRule]:
    columns = (pattern.c.host_id, pattern.c.kind, pattern.c.pattern, pattern.c.pages, pattern.c.why)
    blocked = select(*columns).where(pattern.c.host_id.in_(names), pattern.c.kind != literal_column("''"))
    rows = connection.execute(blocked.order_by(pattern.c.pages.desc(), pattern.c.pattern).limit(_MOST_ROWS))
    return [SiteRule(names[r.host_id], r.kind, r.pattern, r.pages, used=True, why=r.why) for r in rows]


def _published(connection: Connection, key: int, now: float) -> dict[str, int]:
    """Count articles by day of publication, or by month where days are few.

    The spans end with the newest article, so that a crawl of years ago shows its own time.
    """
    tomorrow = datetime.fromtimestamp(now + _DAY, UTC).date()  # later dates are errors of pages
    newest = connection.execute(_NEWEST_TIMES, {"site": key, "until": str(tomorrow)}).scalars()
    last = next(filter(None, map(read_day, newest)), None)
    if last is None or last < _FIRST:
        return {}
    days = [str(last - timedelta(days=n)) for n in reversed(range(_DAYS))]
    day_counts = _by(connection, _BY_DAY, key, days, str(tomorrow))
    if sum(day_counts.values()) >= _DAYS:
        return day_counts
    months = [f"{at // 12}-{at % 12 + 1:02}" for at in _months(last)]
    return _by(connection, _BY_MONTH, key, months, str(tomorrow))


def _months(last: date) -> range:
    end = 12 * last.year + last.month
    return range(end - _MONTHS, end)


def _by(
    connection: Connection, statement: Select[str, int], key: int, spans: Sequence[str], until: str
) -> dict[str, int]:
    rows = connection.execute(statement, {"site": key, "since": spans[0], "until": until})
    span_counts: dict[str, int] = dict(rows.all())
    return {each: span_counts.get(each, 0) for each in spans}


_DAY = 86_400
_DAYS = 60
_MONTHS = 24
_FIRST = date(1000, 1, 1)
"""Years before have no four digits, or no months before them."""
_OF_SITE = article.c.site_id == bindparam("site")
_BEFORE = article.c.published_utc < bindparam("until")
_NEWEST_TIMES = (
    select(article.c.published_utc).where(_OF_SITE, _BEFORE).order_by(article.c.published_utc.desc()).limit(100)
)
_DAY_OF: ColumnElement[str] = literal_column("substr(article.published_utc, 1, 10)")
_MONTH_OF: ColumnElement[str] = literal_column("substr(article.published_utc, 1, 7)")
_BY_DAY, _BY_MONTH = (
    select(span, func.count()).where(_OF_SITE, article.c.published_utc >= bindparam("since"), _BEFORE).group_by(span)
    for span in (_DAY_OF, _MONTH_OF)
)
