"""Drop: delete the URLs of a host or seed, with or without what is stored of them.

A few hundred rows a transaction, in the order of their keys, so that the database is held up by none and a drop that
was stopped is gone on with by the next. No crawl may be at work meanwhile.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, case, exists, func, or_, select, update

from ..engine.database import Database
from ..engine.statements import among, in_state
from ..frontier.limits import COUNTS
from ..frontier.runs import refuse_beside_crawls
from ..frontier.seeds import seed_rows
from ..records.keys import fingerprint
from ..records.reasons import REASONS
from ..records.url import Kind, State
from ..tables.articles import (
    ArticleRow,
    ArticleVersionRow,
    DuplicateRow,
    ImageRow,
    PageRow,
    PartRow,
    SourceAttributionRow,
)
from ..tables.learned import (
    AlarmRow,
    HostHealthRow,
    PageTermsRow,
    RenderGainRow,
    SiteMemoryRow,
    UrlFormRow,
    UrlPatternRow,
    UrlRuleRow,
)
from ..tables.runs import BudgetRow
from ..tables.urls import HostRow, LinkRow, SeedRow, SiteRow, UrlRow
from . import clusters
from .apply import renumber
from .candidates import stored_rows
from .signatures import lock_articles

url, host, seed, site, link, budget = (m.table() for m in (UrlRow, HostRow, SeedRow, SiteRow, LinkRow, BudgetRow))
article, version, image, duplicate, page, part, page_terms = (
    m.table() for m in (ArticleRow, ArticleVersionRow, ImageRow, DuplicateRow, PageRow, PartRow, PageTermsRow)
)

attribution = SourceAttributionRow.table()
_AT_ONCE = 500
_OF_HOSTS = tuple(
    m.table() for m in (AlarmRow, HostHealthRow, RenderGainRow, SiteMemoryRow, UrlFormRow, UrlPatternRow, UrlRuleRow)
)


@dataclass(frozen=True, slots=True)
class Dropping:
    """A host or a seed to drop, and how many rows there are of it."""

    name: str
    is_seed: bool
    key: int
    urls: int
    fetched: int
    articles: int
    versions: int
    images: int


def find(connection: Connection, name: str, seeds: list[str]) -> Dropping | None:
    """Return the host of a name, or the seed of one of its URLs; None for neither.

    Cost: some passes over the tables.
    """
    rows = seed_rows(connection, [fingerprint(one) for one in seeds])
    is_host = connection.execute(select(host.c.id).where(host.c.id == fingerprint(name))).first() is not None
    if not is_host and not rows:
        return None
    key = fingerprint(name) if is_host else rows[0].id
    own_urls = _owned(key, is_seed=not is_host)
    visited = func.sum(case((url.c.visits > 0, 1), else_=0))
    urls, fetched = connection.execute(select(func.count(), visited).where(own_urls)).one()

    def count(column: ColumnElement[int]) -> int:
        return int(
            connection.execute(select(func.count(column)).join(url, url.c.id == column).where(own_urls)).scalar_one()
        )

    stored = [count(column) for column in (article.c.id, version.c.article_id, image.c.article_id)]
    return Dropping(name if is_host else rows[0].url, not is_host, key, urls, int(fetched or 0), *stored)


def drop(database: Database, what: Dropping, *, articles: bool) -> None:
    """Delete the URLs of a host or a seed.

    Without `articles`, URLs of articles stay, and are not visited again. `progress` is told how many rows were gone
    through.

    Raises:
        WrongDatabase: a crawl is at work.
        DatabaseGone, Unavailable: the database gave up; the same again goes on.
    """
    last = -(1 << 63)
    while ids := database.write(partial(_drop_some, database=database, what=what, last=last, articles=articles)):
        last = ids[-1]
    database.write(lambda connection: _finish(connection, database, what))


def _owned(key: int, *, is_seed: bool) -> ColumnElement[bool]:
    return url.c.seed_id == key if is_seed else url.c.host_id == key


def _drop_some(connection: Connection, *, database: Database, what: Dropping, last: int, articles: bool) -> list[int]:
    refuse_beside_crawls(connection, database.name)
    own_urls = _owned(what.key, is_seed=what.is_seed)
    rows = connection.execute(_NEXT.where(own_urls), {"last": last}).all()
    ids = [row.id for row in rows]
    stored = stored_rows(connection, ids)
    if stored and articles:
        lock_articles(connection)
        for key in sorted(stored):
            heir = clusters.remove(connection, stored_rows(connection, [key])[key])
            renumber(connection, [] if heir is None else [heir])
        _count_off(connection, host, "articles", Counter(row.host_id for row in rows if row.id in stored))
        stored = {}
    gone = [row for row in rows if row.id not in stored]
    pages = Counter(row.host_id for row in gone if row.counted)
    _count_off(connection, host, "pages", pages)
    _count_off(connection, seed, "used", Counter(row.seed_id for row in gone if row.counted and row.seed_id))
    _count_off(connection, budget, "pages", Counter({1: pages.total()}))
    keys = {"ids": [row.id for row in gone]}
    for column in (link.c.source, page_terms.c.url_id, page.c.url_id, part.c.id, duplicate.c.article_id, url.c.id):
        connection.execute(column.table.delete().where(among(column)), keys)
    connection.execute(_KEEP, {"ids": sorted(stored)})
    return ids


def _count_off(connection: Connection, table: Any, name: str, counts: Counter[int]) -> None:
    column = table.c[name]
    less = case((column > bindparam("n"), column - bindparam("n")), else_=0)
    statement = update(table).where(table.c.id == bindparam("key")).values({name: less})
    for key in sorted(counts):
        connection.execute(statement, {"key": key, "n": counts[key]})


def _finish(connection: Connection, database: Database, what: Dropping) -> None:
    refuse_beside_crawls(connection, database.name)
    if what.is_seed:
        connection.execute(seed.delete().where(seed.c.id == what.key))
        return
    seed_ids = [row.id for row in seed_rows(connection, None) if row.hosts == (what.name,)]
    connection.execute(seed.delete().where(among(seed.c.id)), {"ids": seed_ids})
    for table in _OF_HOSTS:
        connection.execute(table.delete().where(table.c.host_id == what.key))
    connection.execute(update(host).where(host.c.id == what.key).values(queued=0, owner=None))
    connection.execute(host.delete().where(host.c.id == what.key, ~exists().where(url.c.host_id == host.c.id)))
    unused = ~exists().where(host.c.site_id == site.c.id), ~exists().where(article.c.site_id == site.c.id)
    sites = {"ids": list(connection.execute(select(site.c.id).where(*unused)).scalars())}
    connection.execute(attribution.delete().where(among(attribution.c.site_id)), sites)
    connection.execute(site.delete().where(among(site.c.id)), sites)


_REDIRECTS = [reason for reason in REASONS if reason.is_redirect]
_IS_PAGE = func.coalesce(url.c.reason, "").not_in(_REDIRECTS)
_COUNTED = or_(
    (url.c.kind == Kind.PAGE) & url.c.http_status.is_not(None) & _IS_PAGE,
    in_state(State.LEASED) & COUNTS,  # by a run that died
)
_NEXT = (
    select(url.c.id, url.c.host_id, url.c.seed_id, _COUNTED.label("counted"))
    .where(url.c.id > bindparam("last"))
    .order_by(url.c.id)
    .limit(_AT_ONCE)
)
_RESTS = {"state": State.DONE, "state_before": None, "seed_id": None, "next_visit": None, "unread": 0}
_KEEP = update(url).where(among(url.c.id)).values(_RESTS)
