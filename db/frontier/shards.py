"""The place of a database among those of its crawl, noted at its first use.

A crawl over several databases (`db.engine.shards`) writes into each what its place is, of how many, and the name of the
crawl, which no other crawl has. So a database is recognised wherever its server moves, and a list with databases of two
crawls, another order or another number is refused before anything is written.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select, text

from ..engine.database import Database
from ..engine.errors import DatabaseGone, WrongDatabase
from ..tables.shards import ShardRow
from ..tables.urls import UrlRow

shard, url = ShardRow.table(), UrlRow.table()

_ENTER_LOCK = 7_241_895_304


@dataclass(frozen=True, slots=True)
class ShardPlace:
    """A database in the list.

    Attributes:
        name: as its user knows it.
        number: its place, from 1.
        count: databases in the list.
    """

    name: str
    number: int
    count: int

    def check(self, connection: Connection, crawl: str | None = None) -> str | None:
        """Compare with what the database says; returns its crawl, None for none yet.

        Args:
            connection: to the database.
            crawl: that of the others in the list, as far as it is known.

        Raises:
            WrongDatabase: it belongs elsewhere.
        """
        rows = connection.execute(select(shard.c.number, shard.c.is_own, shard.c.crawl)).all()
        own = next((row for row in rows if row.is_own), None)
        if own is None:
            if self.count > 1 and connection.execute(select(url.c.id).limit(1)).first() is not None:
                raise WrongDatabase(f"{self.name} holds a crawl of one database; name it alone, or an empty one")
            return None
        if (own.number, len(rows)) != (self.number, self.count):
            raise WrongDatabase(
                f"{self.name} is database {own.number} of {len(rows)} of its crawl; name all of them in DATABASE_URL, "
                "in the order of the first time"
            )
        if crawl not in {None, own.crawl}:
            raise WrongDatabase(f"{self.name} is of another crawl than those named before it; name those of one crawl")
        return str(own.crawl)

    def enter(self, connection: Connection, crawl: str | None) -> str:
        """Note the place unless it is noted; returns the crawl."""
        # two processes that start at once: the second sees what the first has written
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ENTER_LOCK})
        crawl = self.check(connection, crawl) or crawl or secrets.token_hex(8)
        if connection.execute(select(shard.c.number).limit(1)).first() is None:
            own = self.number
            rows = [{"number": n, "is_own": int(n == own), "crawl": crawl} for n in range(1, self.count + 1)]
            connection.execute(shard.insert(), rows)
        return crawl


def enter(databases: Sequence[Database | None]) -> None:
    """Note or check the place of each database of a list; one alone must have none.

    Args:
        databases: opened, in the order of the list; None for those that do not answer.

    Raises:
        WrongDatabase: one has another place, is of another crawl, or of one that has only itself.
        DatabaseGone: one does not answer, and the crawl has not begun yet.
    """
    count = len(databases)
    found = [(one, ShardPlace(one.name, n, count)) for n, one in enumerate(databases, 1) if one is not None]
    crawl: str | None = None
    for database, place in found:
        with database.engine.connect() as connection:
            crawl = place.check(connection, crawl) or crawl
    if crawl is None and len(found) < count:
        raise DatabaseGone("not all databases of DATABASE_URL answer; when a crawl is first started all of them must")
    if count > 1:
        for database, place in found:
            with database.engine.connect() as connection, database.writing(connection):
                crawl = place.enter(connection, crawl)
