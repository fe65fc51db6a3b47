"""The file of the desk: SQLite, beside the crawl's database.

The number of its schema is in `PRAGMA user_version`; an older file is brought up to date when it is opened for writing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..engine.database import parse_url
from ..engine.errors import DatabaseProblem, WrongDatabase, problem_of_file

_SUFFIX = ".desk.db"
_MARK = 0x4E44534B
"""`PRAGMA application_id` of a desk, so that no other file is taken for one."""
_BUSY_SECONDS = 5.0
_OTHERWISE = "no desk ({error}); name another file in DESK"
# To change the schema, add a step; those that are here never change.
_STEPS = (
    """
    CREATE TABLE search (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        query TEXT NOT NULL,
        created REAL NOT NULL,
        seen INTEGER NOT NULL,
        position INTEGER NOT NULL,
        channel TEXT NOT NULL DEFAULT '',
        target TEXT NOT NULL DEFAULT '',
        language TEXT NOT NULL DEFAULT 'en'
    );
    CREATE TABLE message (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
        key TEXT NOT NULL UNIQUE,
        channel TEXT NOT NULL,
        target TEXT NOT NULL,
        content TEXT NOT NULL,
        created REAL NOT NULL,
        tries INTEGER NOT NULL DEFAULT 0,
        next_try REAL NOT NULL,
        told REAL,
        problem TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX message_waiting ON message (next_try) WHERE told IS NULL;
    CREATE INDEX message_of_search ON message (search_id, created);
    CREATE TABLE hit (
        search_id INTEGER NOT NULL REFERENCES search (id) ON DELETE CASCADE,
        article_id INTEGER NOT NULL,
        number INTEGER NOT NULL,
        message_id INTEGER,
        is_to_tell INTEGER NOT NULL,
        PRIMARY KEY (search_id, article_id)
    ) WITHOUT ROWID;
    CREATE INDEX hit_in_order ON hit (search_id, number);
    CREATE INDEX hit_untold ON hit (search_id, number) WHERE is_to_tell = 1 AND message_id IS NULL;
    CREATE TABLE watcher (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        owner TEXT NOT NULL,
        place TEXT NOT NULL,
        pid INTEGER NOT NULL,
        until REAL NOT NULL
    );
    """,
    """
    CREATE TABLE mark (
        id INTEGER PRIMARY KEY,
        url TEXT NOT NULL UNIQUE,
        read_at REAL,
        starred_at REAL,
        note TEXT NOT NULL DEFAULT ''
    );
    CREATE TABLE label (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL
    );
    CREATE TABLE mark_label (
        mark_id INTEGER NOT NULL REFERENCES mark (id) ON DELETE CASCADE,
        label_id INTEGER NOT NULL REFERENCES label (id) ON DELETE CASCADE,
        PRIMARY KEY (mark_id, label_id)
    ) WITHOUT ROWID;
    CREATE INDEX mark_of_label ON mark_label (label_id);
    CREATE TABLE mark_state (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        number INTEGER NOT NULL
    );
    INSERT INTO mark_state VALUES (1, 0);
    """,
)


def beside(database_url: str) -> Path:
    """Return the desk of a database.

    It is beside a SQLite file and has its name, for Postgres it is in the current folder.

    >>> beside("sqlite:///news/all.db").as_posix(), beside("postgresql://host/name").as_posix()
    ('news/all.desk.db', 'name.desk.db')
    """
    url = parse_url(database_url)
    name = Path(url.database or "news")
    return (name if url.get_backend_name() == "sqlite" else Path(name.name)).with_suffix(_SUFFIX)


class DeskFile:
    """A desk, for any number of processes and threads.

    Each transaction opens the file anew. All methods raise `DatabaseProblem` if the file is no desk or cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        return self.path.is_file()

    def create(self) -> None:
        """Make the file, or bring it up to date."""
        with self.writing():
            pass

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read within one transaction; a desk that is not there is an empty one."""
        if not self.exists():
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
                _renew(empty)
                yield empty
            return
        # a writer that was killed leaves a journal, which whoever opens the file next has to undo
        mode = "rw" if os.access(self.path, os.W_OK) else "ro"
        with self._problems(), closing(self._open(mode)) as connection:
            connection.execute("PRAGMA query_only = ON")
            if _version(connection, self.path) < len(_STEPS):
                self.create()
            connection.execute("BEGIN")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Write within one transaction; an exception undoes it."""
        with self._problems(), closing(self._open("rwc")) as connection:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            try:
                if _version(connection, self.path) < len(_STEPS):
                    _renew(connection)
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def objection(self) -> str:
        """Say why nothing can be written, in one sentence; empty when it can."""
        try:
            if not self.exists() and not os.access(self.path.parent, os.W_OK):
                return f"the folder of {self.path.name} cannot be written"
            if self.exists() and not os.access(self.path, os.W_OK):
                return f"{self.path.name} cannot be written"
            with self.reading():
                return ""
        except DatabaseProblem as problem:
            return str(problem)

    def _open(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)

    @contextmanager
    def _problems(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:  # a mistake of the caller
            raise
        except sqlite3.Error as error:
            raise problem_of_file(error, self.path, _OTHERWISE) from error


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    is_empty = version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if mark != _MARK and not is_empty:
        raise WrongDatabase(f"{path} is no desk; name another file in DESK")
    if version > len(_STEPS):
        raise WrongDatabase(f"{path} was made by a newer version of this program; use that one, or name another file")
    return version


def _renew(connection: sqlite3.Connection) -> None:
    first = connection.execute("PRAGMA user_version").fetchone()[0]
    for step in _STEPS[first:]:
        for statement in filter(str.strip, step.split(";")):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(_STEPS)}")
    connection.execute(f"PRAGMA application_id = {_MARK}")
