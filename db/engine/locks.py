"""Advisory locks of Postgres, all in one place: no two share a number."""

from __future__ import annotations

from enum import Enum, unique

from sqlalchemy import Connection, text


@unique
class AdvisoryLock(Enum):
    MIGRATION = 7_241_895_301
    START = 7_241_895_302
    ARTICLES = 7_241_895_303
    """Judging and storing articles."""
    PARTITION = 7_241_895_304
    ENTER = 7_241_895_305
    """Noting a database's place among several."""
    TURN = 7_241_895_306
    """Choosing the database that a process works on."""
    MAIL = 7_241_896_000
    """Sending mail; the number of the receiving database is added."""

    def take(self, connection: Connection) -> None:
        """Wait for the lock, and hold it until the transaction ends."""
        connection.execute(_TAKE, {"key": self.value})


_TAKE = text("SELECT pg_advisory_xact_lock(:key)")
