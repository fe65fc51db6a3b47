"""DUST rules of hosts, and the pages that they are learned from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, or_, select

from ..engine.statements import in_state, insert_rows
from ..frontier.aliases import IS_RULED, is_representative
from ..records.reasons import PageReason, SkipReason
from ..records.url import Kind, State
from ..tables.articles import ArticleRow
from ..tables.learned import UrlRuleRow
from ..tables.urls import HostRow, UrlRow

url, host, article, rule = UrlRow.table(), HostRow.table(), ArticleRow.table(), UrlRuleRow.table()

_LISTS = (PageReason.LIST, *(reason for reason in PageReason if reason.is_part))
"""Reasons of pages that have content of their own although they are no articles."""
_MOST_STEPS = 5


class RuleRow(NamedTuple):
    kind: str
    pattern: str
    support: int
    against: int
    confidence: float
    used: int
    example: str


def save(connection: Connection, batch: Sequence[tuple[int, Sequence[RuleRow]]]) -> list[None]:
    for host_id, rows in sorted(batch, key=itemgetter(0)):
        connection.execute(rule.delete().where(rule.c.host_id == host_id))
        insert_rows(connection, rule, ("host_id", *RuleRow._fields), [(host_id, *row) for row in rows])
    return [None for _ in batch]


def used(connection: Connection, requests: Sequence[None]) -> list[dict[int, list[tuple[str, str]]]]:
    """Read the rules in use, (kind, pattern), of every host that has some."""
    host_rules: dict[int, list[tuple[str, str]]] = {}
    for row in connection.execute(select(rule.c.host_id, rule.c.kind, rule.c.pattern).where(rule.c.used == 1)):
        host_rules.setdefault(row.host_id, []).append((row.kind, row.pattern))
    return [host_rules for _ in requests]


def used_of(connection: Connection, host_id: int) -> list[tuple[str, str]]:
    query = select(rule.c.kind, rule.c.pattern).where(rule.c.host_id == host_id, rule.c.used == 1)
    return [(row.kind, row.pattern) for row in connection.execute(query)]


def rules(connection: Connection) -> list[tuple[str, RuleRow]]:
    """Read all rules with their hosts' names: those in use first, the surest first."""
    order = (rule.c.used.desc(), rule.c.confidence.desc(), host.c.name, rule.c.kind, rule.c.pattern)
    columns = [rule.c[name] for name in RuleRow._fields]
    rows = connection.execute(select(host.c.name, *columns).join(host, host.c.id == rule.c.host_id).order_by(*order))
    return [(row[0], RuleRow(*row[1:])) for row in rows]


def hosts_with_repeats(connection: Connection, most: int) -> list[tuple[int, str]]:
    """Read the hosts with articles fetched at two URLs, those with most first.

    Cost: a pass over the URL table.
    """
    wasted = or_(url.c.reason == PageReason.SAME_PAGE, (url.c.reason == SkipReason.REDIRECT) & in_state(State.SKIPPED))
    rows = connection.execute(
        select(host.c.id, host.c.name)
        .join(url, url.c.host_id == host.c.id)
        .where(wasted, url.c.kind == Kind.PAGE)
        .group_by(host.c.id, host.c.name)
        .order_by(func.count().desc(), host.c.name)
        .limit(most)
    )
    return [(row.id, row.name) for row in rows]


def evidence(connection: Connection, host_id: int, most: int) -> list[tuple[str, int]]:
    """Read the newest pages of a host: URLs, each with an identifier of its content.

    That is the article stored under it, or the one that it is another URL of or leads to. Lists and parts of articles
    are each by themselves. Pages without content (errors, empty ones) are left out.

    Cost: some microseconds a page.
    """
    rows = connection.execute(
        select(url.c.id, url.c.url, url.c.state, url.c.reason, url.c.same_as, article.c.id.label("article"))
        .outerjoin(article, article.c.id == url.c.id)
        .where(url.c.host_id == host_id, url.c.fetched_at.is_not(None), url.c.kind == Kind.PAGE)
        .order_by(url.c.fetched_at.desc())
        .limit(most)
    ).all()
    by_id = {row.id: row for row in rows}
    contents = ((row.url, _content(row.id, by_id)) for row in rows)
    return [(page, content) for page, content in contents if content is not None]


class RepeatedPages(NamedTuple):
    name: str
    used: list[tuple[str, str]]
    pages: list[tuple[str, int]]


def repeated_pages(connection: Connection, hosts: int, most: int) -> Iterator[RepeatedPages]:
    for host_id, name in hosts_with_repeats(connection, hosts):
        yield RepeatedPages(name, used_of(connection, host_id), evidence(connection, host_id, most))


def _content(url_id: int, rows: Mapping[int, Any]) -> int | None:
    for _ in range(_MOST_STEPS):
        row = rows.get(url_id)
        if row is None or row.article is not None or row.reason in _LISTS:
            return url_id
        leads = row.state == State.SKIPPED and row.reason == SkipReason.REDIRECT
        moved = row.state == State.DONE and row.reason in {None, PageReason.SAME_PAGE}
        if row.same_as is None or not (leads or moved):
            return None
        url_id = row.same_as
    return None


class KnownUrl(NamedTuple):
    """A URL that may represent others: whether it waits, and where it was found."""

    id: int
    url: str
    waits: bool
    found_in: int


def known_urls(connection: Connection, host_id: int, most: int) -> list[KnownUrl]:
    """Read the representative URLs of a host: fetched, newest first, then the queue.

    Cost: some microseconds a URL.
    """
    fetched = (
        select(url.c.id, url.c.url, url.c.found_in, url.c.reason)
        .where(
            url.c.host_id == host_id, url.c.fetched_at.is_not(None), url.c.kind == Kind.PAGE, is_representative(url.c)
        )
        .order_by(url.c.fetched_at.desc())
        .limit(most)
    )
    waiting = (
        select(url.c.id, url.c.url, url.c.found_in)
        .where(url.c.host_id == host_id, in_state(State.PENDING), url.c.kind == Kind.PAGE, url.c.fetched_at.is_(None))
        .order_by(url.c.score.desc(), url.c.found_at)
        .limit(most)
    )
    rows = sorted(connection.execute(fetched), key=lambda row: row.reason is not None)
    fetched_urls = [KnownUrl(row.id, row.url, waits=False, found_in=row.found_in) for row in rows]
    return fetched_urls + [KnownUrl(*row[:2], waits=True, found_in=row.found_in) for row in connection.execute(waiting)]


def skipped_urls(connection: Connection, host_id: int) -> list[tuple[int, str, str]]:
    """Read URLs of a host that rules skip: identifier, URL, representative URL."""
    other = url.alias()
    rows = connection.execute(
        select(url.c.id, url.c.url, other.c.url.label("other"))
        .join(other, other.c.id == url.c.same_as)
        .where(url.c.host_id == host_id, IS_RULED)
    )
    return [(row.id, row.url, row.other) for row in rows]
