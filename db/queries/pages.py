"""Raw pages, a range of keys at a time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select

from ..engine.database import Database
from ..tables.articles import READ_BODY, READ_TYPE, ArticleRow, PageRow
from ..tables.urls import HostRow, UrlRow

page, url, article, host = (model.table() for model in (PageRow, UrlRow, ArticleRow, HostRow))

_AT_ONCE: Final = 32


class RawPage(NamedTuple):
    """A page as fetched, or as a browser made it; its bytes are zstd-compressed."""

    key: int
    url: str
    fetched_at: float
    content_type: str
    body: bytes


def count_pages(connection: Connection) -> int:
    return connection.execute(select(func.count(page.c.url_id))).scalar_one()


def article_pages(connection: Connection, host_name: str, most: int) -> list[str]:
    """Return the URLs of a host's articles whose pages are kept, the newest first."""
    return list(connection.execute(_OF_ARTICLES, {"name": host_name, "most": most}).scalars())


def pages_between(database: Database, first: int, last: int) -> Iterator[RawPage]:
    """Yield the raw pages of a range of keys by these; only some are held at a time.

    Raises:
        DatabaseProblem: it cannot be read at the moment.
    """
    while first <= last:
        rows = database.read(partial(_some_between, first=first, last=last))
        yield from rows
        if len(rows) < _AT_ONCE:
            return
        first = rows[-1].key + 1


def _some_between(connection: Connection, first: int, last: int) -> list[RawPage]:
    return [RawPage(*row) for row in connection.execute(_BETWEEN, {"first": first, "last": last})]


_OF_ARTICLES = (
    select(url.c.url)
    .join(host, host.c.id == url.c.host_id)
    .join(page, page.c.url_id == url.c.id)
    .join(article, article.c.id == url.c.id)
    .where(host.c.name == bindparam("name"))
    .order_by(page.c.fetched_at.desc(), url.c.id)
    .limit(bindparam("most"))
)
_BETWEEN = (
    select(url.c.id, url.c.url, page.c.fetched_at, READ_TYPE, READ_BODY)
    .join(url, url.c.id == page.c.url_id)
    .where(page.c.url_id.between(bindparam("first"), bindparam("last")), func.length(page.c.body) > 0)
    .order_by(page.c.url_id)
    .limit(_AT_ONCE)
)
