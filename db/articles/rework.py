"""Rework: stored articles that are extracted again, their pages, the writing."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, bindparam, exists, select, text, update
from sqlalchemy.exc import DBAPIError

from ..engine.database import Database
from ..engine.statements import among, in_state, run_many
from ..frontier.claims import LEASE_COLUMNS
from ..frontier.revisits import MARKED
from ..records.keys import fingerprint
from ..records.outcome import Outcome, Stored, StoredPage
from ..records.reasons import REASONS
from ..records.url import Kind, Lease, State
from ..tables.articles import ArticleRow, PageRow, PartRow
from ..tables.urls import HostRow, UrlRow
from .page_transaction import Store

url, host, article, part, page = (model.table() for model in (UrlRow, HostRow, ArticleRow, PartRow, PageRow))

NO_RUN = 0
"""The run of leases that begin and end in one transaction."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Articles to be extracted or described again: those that fulfil all conditions.

    Attributes:
        made_with: versions; articles that were made with them are left out.
        since: ISO time of their first sight.
        where: an SQL condition on columns of `v_articles`.
        kinds: kinds of pages. Without a condition, pages that were not stored for their kind alone are extracted as
            well.
    """

    made_with: str
    host: str = ""
    since: str = ""
    where: str = ""
    kinds: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of an article: its URL as if it were leased, its next visit, its bytes."""

    lease: Lease
    next_visit: float | None
    fetched_at: float = 0.0
    raw: StoredPage | None = None


@dataclass(slots=True)
class Unit:
    id: int
    is_gone: bool = False
    is_stored: bool = False
    pages: list[KeptPage] = field(default_factory=list)


def find(database: Database, wanted: Wanted) -> array[int]:
    return chosen(database, wanted, article.c.checked_with != wanted.made_with)


def chosen(database: Database, wanted: Wanted, condition: ColumnElement[bool]) -> array[int]:
    """Return identifiers of articles, those that represent their clusters first.

    Raises:
        ValueError: the condition of `wanted` cannot be used.

    Memory: 8 bytes an article; with such a condition 16.
    """
    if wanted.host:
        hosts = select(host.c.id).where(host.c.name == wanted.host)
        condition &= article.c.id.in_(select(url.c.id).where(url.c.host_id.in_(hosts)))
    if wanted.since:
        condition &= article.c.first_seen >= wanted.since
    with database.reading_only() as connection:
        try:
            named = _named(connection, wanted.where) if wanted.where else None
        except DBAPIError as error:
            words = str(error.orig).strip().partition("\n")[0]
            raise ValueError(f"the condition {wanted.where!r} cannot be used: {words}") from None
        order = (article.c.duplicate_of.is_not(None), article.c.id)
        rows = connection.execution_options(yield_per=10_000).execute(
            select(article.c.id).where(condition).order_by(*order)
        )
        return array("q", (key for (key,) in rows if named is None or key in named))


def find_others(database: Database, wanted: Wanted) -> array[int]:
    if wanted.where:
        return array("q")
    condition = in_state(State.DONE) & url.c.page_kind.in_(wanted.kinds) & url.c.reason.in_(_OF_KINDS)
    condition &= (url.c.kind == Kind.PAGE.value) & ~exists().where(article.c.id == url.c.id)
    if wanted.host:
        condition &= url.c.host_id.in_(select(host.c.id).where(host.c.name == wanted.host))
    if wanted.since:
        condition &= url.c.found_at >= datetime.fromisoformat(wanted.since).timestamp()
    query = select(url.c.id).where(condition).order_by(url.c.id)
    return array("q", database.read(lambda connection: connection.execute(query).scalars().all()))


_OF_KINDS = [reason for reason in REASONS if reason.is_kind]


def _named(connection: Connection, where: str) -> frozenset[int]:
    """Return the articles that fulfil a condition.

    It is one prepared statement with a parameter, so no second statement can follow.
    """
    # in lines of its own, so that a comment in it ends there
    statement = text(f"SELECT url FROM v_articles WHERE (\n{where.replace(':', chr(92) + ':')}\n) LIMIT :most")
    rows = connection.execution_options(yield_per=10_000).execute(statement, {"most": _MOST_ARTICLES})
    return frozenset(fingerprint(name) for (name,) in rows)


_MOST_ARTICLES = 2**53


def read(connection: Connection, ids: Sequence[int]) -> list[Unit]:
    article_rows = connection.execute(_ARTICLES, {"ids": list(ids)})
    units = {row.id: Unit(row.id, row.gone is not None, is_stored=True) for row in article_rows}
    return _with_pages(connection, [units[key] for key in ids if key in units])


def read_others(connection: Connection, ids: Sequence[int]) -> list[Unit]:
    return _with_pages(connection, [Unit(key) for key in ids])


def _with_pages(connection: Connection, found: Sequence[Unit]) -> list[Unit]:
    units = {unit.id: unit for unit in found}
    ids = list(units)
    of_part = {row.id: row.first_id for row in connection.execute(_PARTS, {"ids": ids})}
    of_page = of_part | {key: key for key in ids if key not in of_part}
    keys = sorted(of_page)
    page_rows = {row.url_id: row for row in connection.execute(_PAGES, {"ids": keys})}
    for row in connection.execute(_LEASES, {"ids": keys}):
        next_visit, lease = row[0], Lease(*row[1:])
        raw = page_rows.get(lease.id)
        stored = None if raw is None else StoredPage.from_row(raw)
        if of_page[lease.id] in units:
            one = KeptPage(lease, next_visit, 0.0 if raw is None else raw.fetched_at, stored)
            units[of_page[lease.id]].pages.append(one)
    return list(found)


_PARTS = select(part.c.id, part.c.first_id).where(among(part.c.first_id))
_PAGES = select(page).where(among(page.c.url_id))
_ARTICLES = select(article.c.id, article.c.gone).where(among(article.c.id))
_LEASES = select(url.c.next_visit, *LEASE_COLUMNS).where(among(url.c.id))


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """An article whose pages were read.

    `missing` are its pages if one of them is not stored; `outcomes` are empty when one could not be read.
    """

    id: int
    is_gone: bool = False
    missing: Sequence[int] | None = None
    outcomes: Sequence[Outcome] = ()


def write(store: Store, made_with: str, connection: Connection, batch: Sequence[ReadUnit]) -> list[list[Stored]]:
    """Write articles that were extracted again, through the page transaction.

    Their URLs are leased in the same transaction, so that no lease is left when it fails. Values that are unknown now
    stay as they were.
    """
    outcomes = [outcome for one in batch for outcome in one.outcomes]
    leases = sorted(outcome.lease.id for outcome in outcomes)
    run_many(connection, _LEASE, [{"key": key, "run": NO_RUN} for key in leases])
    stored = iter(store.store(connection, outcomes))
    run_many(connection, _CHECKED, [{"key": key, "made_with": made_with} for key in sorted(one.id for one in batch)])
    return [[next(stored) for _ in one.outcomes] for one in batch]


_LEASE = (
    update(url)
    .where(url.c.id == bindparam("key"), in_state(State.DONE))
    .values(state=State.LEASED, state_before=State.DONE, leased_by=bindparam("run"), tries=url.c.tries + 1)
)
_CHECKED = update(article).where(article.c.id == bindparam("key")).values(checked_with=bindparam("made_with"))


def ask(connection: Connection, batches: Sequence[Sequence[int]]) -> list[int]:
    """Let the next crawl fetch pages unconditionally; returns how many of each batch."""
    return [connection.execute(_ASK, {"ids": sorted(ids)}).rowcount for ids in batches]


_ASK = (
    update(url)
    .where(among(url.c.id), url.c.state != State.LEASED)
    .values(next_visit=MARKED, etag=None, last_modified=None)
)
