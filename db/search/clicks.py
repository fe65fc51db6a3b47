"""Clicks on search results: a small SQLite file beside the crawl's database.

Readers write nothing into the database itself. The file holds numbers alone: no words of a query, no IP address,
nothing of a browser. Its newest rows are kept. It may be deleted at any time; the ranking is then as it was before
anybody clicked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..engine.database import parse_url
from ..engine.errors import problem_of_file
from ..records.click import Click

FILE = "clicks.db"
MOST_CLICKS = 50_000
"""Rows that are kept, 3 MB."""
_BUSY_SECONDS = 2.0
_OTHERWISE = "no file of clicks ({error}); delete it: only what readers have opened is lost"
_CREATE = """
CREATE TABLE IF NOT EXISTS click (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    query INTEGER NOT NULL,
    article_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    opened INTEGER NOT NULL,
    seconds REAL NOT NULL,
    is_ended INTEGER NOT NULL
)"""
_COLUMNS = ", ".join(Click._fields)


def beside(database_url: str) -> Path:
    """Return the file of clicks of a database.

    It is in the folder of a SQLite file, for Postgres in the current one.

    >>> beside("sqlite:///news/all.db").as_posix(), beside("postgresql://host/name").as_posix()
    ('news/clicks.db', 'clicks.db')
    """
    url = parse_url(database_url)
    return Path(url.database or "").with_name(FILE) if url.get_backend_name() == "sqlite" else Path(FILE)


class ClickFile:
    """A file of clicks, for any number of processes and threads.

    Each call opens it anew: clicks are few, and a file that was deleted meanwhile begins again. Nothing waits for the
    disk, so a power cut may lose the last ones. All methods raise `DatabaseProblem` if the file is none of clicks, or
    cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self) -> None:
        with self._open(_CREATE) as connection:
            connection.execute(f"SELECT {_COLUMNS} FROM click LIMIT 1")

    def add(self, click: Click) -> int:
        with self._open(_CREATE) as connection:
            marks = ", ".join("?" * len(click))
            number = connection.execute(f"INSERT INTO click ({_COLUMNS}) VALUES ({marks})", click).lastrowid
            assert number is not None
            connection.execute("DELETE FROM click WHERE number <= ?", (number - MOST_CLICKS,))
        return number

    def update(self, number: int, session: int, seconds: float, *, is_ended: bool) -> bool:
        """Set the time of a session's click; False when it has none of this number."""
        values = (seconds, is_ended, number, session)
        with self._open(_CREATE) as connection:
            done = connection.execute(
                "UPDATE click SET seconds = ?, is_ended = ? WHERE number = ? AND session = ?", values
            )
        return done.rowcount == 1

    def read(self) -> list[Click]:
        """Return all clicks, the oldest first; none when there is no file."""
        if not self.path.is_file() or not self.path.stat().st_size:  # another process is about to make it
            return []
        with self._open() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM click ORDER BY number").fetchall()
        return [Click._make((*row[:-1], bool(row[-1]))) for row in rows]

    def state(self) -> object:
        """Return a value that changes whenever the file does."""
        try:
            file_stat = self.path.stat()
        except OSError:
            return None
        return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns

    @contextmanager
    def _open(self, *statements: str) -> Iterator[sqlite3.Connection]:
        """Run a transaction, after these statements; without any it only reads."""
        try:
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as connection, connection:
                connection.execute("PRAGMA synchronous = OFF" if statements else "PRAGMA query_only = ON")
                for statement in statements:
                    connection.execute(statement)
                yield connection
        except sqlite3.Error as error:
            raise problem_of_file(error, self.path, _OTHERWISE) from error
