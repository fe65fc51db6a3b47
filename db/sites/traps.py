"""Patterns of URLs that may be traps, and the URLs that were skipped for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, literal_column, or_, select

from ..engine.statements import among, one_by_one, replacing, run_many
from ..frontier.aliases import IS_TRAPPED
from ..frontier.revisits import mark_gone
from ..tables.articles import ArticleRow
from ..tables.learned import UrlPatternRow
from ..tables.urls import HostRow, UrlRow

article, url, host, pattern = ArticleRow.table(), UrlRow.table(), HostRow.table(), UrlPatternRow.table()


class PatternRow(NamedTuple):
    host_id: int
    level: int
    pattern: str
    pages: int
    brought: int
    reached: int
    unproductive: float
    grown: int
    kind: str
    blocked_at: float
    why: str
    example: str


@one_by_one
def load(connection: Connection, ids: Sequence[int]) -> dict[int, list[PatternRow]]:
    host_patterns: dict[int, list[PatternRow]] = {key: [] for key in ids}
    for row in connection.execute(_OF_HOSTS, {"ids": ids}):
        host_patterns[row.host_id].append(PatternRow(*row))
    return host_patterns


_COLUMNS = [pattern.c[name] for name in PatternRow._fields]
_OF_HOSTS = select(*_COLUMNS).where(among(pattern.c.host_id))


def save(connection: Connection, batches: Sequence[tuple[int, Sequence[PatternRow]]]) -> list[None]:
    """Write patterns, (run, rows), except of hosts that another run has taken."""
    rows = {row[:3]: (run_id, row) for run_id, patterns in batches for row in patterns}
    ids = sorted({row.host_id for _, row in rows.values()})
    owners = {row.id: row.owner for row in connection.execute(_OWNERS, {"ids": ids})}
    mine = [rows[key][1] for key in sorted(rows) if owners.get(key[0], rows[key][0]) == rows[key][0]]
    run_many(connection, replacing(connection.dialect.name, pattern), [row._asdict() for row in mine])
    return [None for _ in batches]


_OWNERS = select(host.c.id, host.c.owner).where(among(host.c.id), host.c.owner.is_not(None))


@one_by_one
def due(connection: Connection, moment: float) -> list[int]:
    """Read free hosts with patterns blocked before a Unix time."""
    return list(connection.execute(_DUE, {"moment": moment}).scalars())


_MOST_DUE = 2000
_DUE = (
    select(host.c.id)
    .join(pattern, host.c.id == pattern.c.host_id)
    .where(pattern.c.kind != literal_column("''"), pattern.c.blocked_at < bindparam("moment"), host.c.owner.is_(None))
    .group_by(host.c.id)
    .order_by(func.min(pattern.c.blocked_at), host.c.id)
    .limit(_MOST_DUE)
)


def skipped(connection: Connection, host_id: int, after: int, most: int) -> list[tuple[int, str]]:
    """Read trapped URLs of a host by their identifiers, from the one after `after`.

    Cost: some microseconds a URL.
    """
    return [(row.id, row.url) for row in connection.execute(_SKIPPED, {"host": host_id, "after": after, "most": most})]


_SKIPPED = (
    select(url.c.id, url.c.url)
    .where(url.c.host_id == bindparam("host"), IS_TRAPPED, url.c.id > bindparam("after"))
    .order_by(url.c.id)
    .limit(bindparam("most"))
)


class Source(NamedTuple):
    id: int
    url: str
    host_id: int


@one_by_one
def sources(connection: Connection, ids: Sequence[int]) -> list[Source]:
    return [Source(*row) for row in connection.execute(_SOURCES, {"ids": ids})]


_SOURCES = select(url.c.id, url.c.url, url.c.host_id).where(among(url.c.id))


class Titled(NamedTuple):
    id: int
    url: str
    title: str
    text: str


def titled(connection: Connection, host_id: int, title: str) -> list[Titled]:
    """Read articles of a host with a title, unless they are gone.

    Cost: some microseconds for each article of the site.
    """
    return [Titled(*row) for row in connection.execute(_TITLED, {"host": host_id, "title": title})]


_MOST_TITLED = 1000
_TITLED = (
    select(article.c.id, url.c.url, article.c.title, article.c.text)
    .join(url, url.c.id == article.c.id)
    .where(
        article.c.site_id == select(host.c.site_id).where(host.c.id == bindparam("host")).scalar_subquery(),
        article.c.title == bindparam("title"),
        article.c.gone.is_(None),
        url.c.host_id == bindparam("host"),
    )
    .limit(_MOST_TITLED)
)


@one_by_one
def mark_missing(connection: Connection, gone: Sequence[tuple[int, str]]) -> None:
    """Mark articles as gone, (article, ISO time): their pages never existed."""
    mark_gone(connection, gone, ())


def listed(connection: Connection) -> tuple[list[tuple[str, PatternRow]], list[tuple[str, int]]]:
    """Read blocked patterns, the costliest first, and how many URLs each kind skips."""
    rows = connection.execute(
        select(host.c.name, *_COLUMNS)
        .join(host, host.c.id == pattern.c.host_id)
        .where(or_(pattern.c.kind != literal_column("''"), pattern.c.blocked_at > literal_column("0")))
        .order_by(pattern.c.kind == literal_column("''"), pattern.c.pages.desc(), host.c.name, pattern.c.pattern)
    )
    counts = connection.execute(
        select(url.c.reason_detail, func.count())
        .where(IS_TRAPPED)
        .group_by(url.c.reason_detail)
        .order_by(func.count().desc())
    )
    return [(row[0], PatternRow(*row[1:])) for row in rows], [(kind, n) for kind, n in counts]
