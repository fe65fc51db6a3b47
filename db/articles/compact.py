"""Give back the space of earlier texts, useless URLs, and rows that are gone.

Some hundred rows are deleted in a transaction, and the database engine rewrites its files by itself: whatever is
stopped or killed leaves a whole database, and the same again goes on. No crawl may be at work meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, bindparam, delete, exists, func, select, text
from sqlalchemy.exc import DBAPIError

from ..engine.database import Database
from ..engine.errors import classify
from ..engine.statements import among, in_state, is_postgres
from ..frontier.runs import refuse_beside_crawls
from ..records.url import State
from ..tables.articles import ArticleRow, ArticleVersionRow, PartRow
from ..tables.learned import UrlFormRow
from ..tables.runs import RunRow, RunSampleRow
from ..tables.urls import HostRow, SeedRow, UrlRow

url, host, seed, article, version, part, url_form, run, sample = (
    m.table()
    for m in (UrlRow, HostRow, SeedRow, ArticleRow, ArticleVersionRow, PartRow, UrlFormRow, RunRow, RunSampleRow)
)

_AT_ONCE = 500
_FIRST = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Compaction:
    """Rows to delete.

    Attributes:
        versions: earlier texts of an article that stay, the newest; None for all.
        versions_since: ISO time from which they stay; empty for all.
        dead_since: Unix time; URLs of hosts that are dead and have answered nothing since then go, those that never
            brought anything. None for no such URLs.
        samples: whether the curves of all runs but the newest go.
    """

    versions: int | None = None
    versions_since: str = ""
    dead_since: float | None = None
    samples: bool = False


@dataclass(frozen=True, slots=True)
class Removable:
    versions: int = 0
    urls: int = 0
    samples: int = 0


def count(connection: Connection, what: Compaction) -> Removable:
    """Count what would be deleted.

    Cost: a pass over the versions, one over the URLs of dead hosts.
    """
    old = select(func.count()).select_from(_old_versions(what).subquery()) if _has_versions(what) else None
    useless = select(func.count()).where(_is_useless(what.dead_since)) if what.dead_since is not None else None
    samples = select(func.count()).select_from(sample).where(_IS_OLD_SAMPLE) if what.samples else None
    counts = (0 if query is None else connection.execute(query).scalar_one() for query in (old, useless, samples))
    return Removable(*map(int, counts))


def remove(database: Database, what: Compaction) -> Removable:
    """Delete rows of a database opened as for a crawl.

    Raises:
        WrongDatabase: a crawl is at work.
        DatabaseGone, Unavailable: the database gave up; the same again goes on.
    """
    versions = _through(database, what, _remove_versions) if _has_versions(what) else 0
    urls = _through(database, what, _remove_urls) if what.dead_since is not None else 0
    samples = database.write(partial(_remove_samples, name=database.name)) if what.samples else 0
    return Removable(versions, urls, samples)


def _through(database: Database, what: Compaction, remove_some: Callable[..., tuple[int | None, int]]) -> int:
    last: int | None = _FIRST
    total = 0
    while last is not None:
        last, gone = database.write(partial(remove_some, name=database.name, what=what, last=last))
        total += gone
    return total


def rewrite(database: Database, step: Callable[[str], None]) -> None:
    """Have the engine give back free space and renew its statistics and indexes.

    On SQLite the file is written anew beside itself, which takes as much free space as it has content.

    Raises:
        WrongDatabase: a crawl is at work.
        DatabaseGone, Unavailable: the database gave up.
    """
    database.read(lambda connection: refuse_beside_crawls(connection, database.name))
    try:
        if not database.is_sqlite:
            with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                step("vacuum and statistics")
                connection.exec_driver_sql("VACUUM (ANALYZE)")
            return
        for table in database.read(_search_tables):
            step("search index")
            database.write(partial(_optimise, table=table))
        with database.engine.connect() as connection, closing(connection.connection.cursor()) as cursor:
            step("vacuum")  # past SQLAlchemy, which would begin a transaction for it
            # SQLite's place for temporary files is often small, and this connection has them in memory
            folder = str(Path(database.name).resolve().parent).replace("'", "''")
            for pragma in ("temp_store = FILE", f"temp_store_directory = '{folder}'", "wal_checkpoint(TRUNCATE)"):
                cursor.execute(f"PRAGMA {pragma}").fetchall()
            cursor.execute("VACUUM")
            for pragma in ("wal_checkpoint(TRUNCATE)", "temp_store_directory = ''"):
                cursor.execute(f"PRAGMA {pragma}").fetchall()
    except DBAPIError as error:
        raise classify(error, database.name) or error from error


def size(database: Database) -> int:
    if not database.is_sqlite:
        return int(database.read(lambda connection: connection.execute(_POSTGRES_BYTES).scalar_one()))
    total = 0
    for ending in ("", "-wal"):
        with suppress(FileNotFoundError):
            total += Path(database.name + ending).stat().st_size
    return total


def free_bytes(connection: Connection) -> int | None:
    """Return how much of a SQLite file is free inside; None on Postgres."""
    if is_postgres(connection):
        return None
    free, page = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("freelist_count", "page_size"))
    return int(free) * int(page)


# ------------------------------------------------------------------------------------------------ rows


def _has_versions(what: Compaction) -> bool:
    return what.versions is not None or bool(what.versions_since)


def _old_versions(what: Compaction, *of: ColumnElement[bool]) -> Any:
    place = func.row_number().over(partition_by=version.c.article_id, order_by=version.c.seen.desc()).label("place")
    placed = select(version.c.article_id, version.c.seen, place).where(*of).subquery()
    old = placed.c.place > (what.versions or 0) if what.versions is not None else placed.c.seen < what.versions_since
    return select(placed.c.article_id, placed.c.seen).where(old)


def _remove_versions(connection: Connection, *, name: str, what: Compaction, last: int) -> tuple[int | None, int]:
    refuse_beside_crawls(connection, name)
    ids = list(connection.execute(_NEXT_ARTICLES, {"last": last}).scalars())
    versions = connection.execute(_old_versions(what, among(version.c.article_id)), {"ids": ids}).all() if ids else []
    key = version.c.article_id == bindparam("article"), version.c.seen == bindparam("time")
    if versions:
        connection.execute(delete(version).where(*key), [{"article": row[0], "time": row[1]} for row in versions])
    return (ids[-1] if ids else None), len(versions)


def _is_useless(dead_since: float) -> ColumnElement[bool]:
    """Tell URLs of dead hosts that no answer, article or `same_as` hangs on."""
    other, answered = url.alias("other"), url.alias("answered")
    silent = ~exists().where(
        answered.c.host_id == host.c.id, answered.c.fetched_at > dead_since, answered.c.http_status.is_not(None)
    )
    dead = select(host.c.id).where(host.c.dead_reason.is_not(None), silent)
    return and_(
        url.c.host_id.in_(dead),
        url.c.http_status.is_(None),
        url.c.found_at <= dead_since,
        ~in_state(State.LEASED),
        url.c.id.not_in(select(seed.c.id)),
        ~exists().where(article.c.id == url.c.id),
        ~exists().where(part.c.id == url.c.id),
        ~exists().where(other.c.same_as == url.c.id, other.c.same_as.is_not(None)),
    )


def _remove_urls(connection: Connection, *, name: str, what: Compaction, last: int) -> tuple[int | None, int]:
    refuse_beside_crawls(connection, name)
    assert what.dead_since is not None
    following = select(url.c.id).where(url.c.id > last, _is_useless(what.dead_since)).order_by(url.c.id).limit(_AT_ONCE)
    ids = list(connection.execute(following).scalars())
    for column in (url_form.c.url_id, url.c.id):
        connection.execute(column.table.delete().where(among(column)), {"ids": ids})
    return (ids[-1] if ids else None), len(ids)


def _remove_samples(connection: Connection, *, name: str) -> int:
    refuse_beside_crawls(connection, name)
    return connection.execute(delete(sample).where(_IS_OLD_SAMPLE)).rowcount


def _search_tables(connection: Connection) -> list[str]:
    return list(connection.execute(_FTS).scalars())


def _optimise(connection: Connection, *, table: str) -> None:
    quoted = connection.dialect.identifier_preparer.quote_identifier(table)  # a person may have made it
    connection.exec_driver_sql(f"INSERT INTO {quoted}({quoted}) VALUES ('optimize')")


_NEXT_ARTICLES = (
    select(version.c.article_id)
    .where(version.c.article_id > bindparam("last"))
    .distinct()
    .order_by(version.c.article_id)
    .limit(_AT_ONCE)
)
_IS_OLD_SAMPLE = sample.c.run_id < select(func.max(run.c.id)).scalar_subquery()
_FTS = text(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND lower(sql) LIKE 'create virtual table%using fts5(%'"
)
_POSTGRES_BYTES = text("SELECT pg_database_size(current_database())")
