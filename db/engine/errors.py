"""Database problems, in words for the person who runs the crawl."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from sqlalchemy.exc import DBAPIError


class DatabaseProblem(Exception):
    """Base of all: its text is one sentence that says what happened and what to do."""


class WrongDatabase(DatabaseProblem):
    """The database named must not be used (foreign, newer): nothing was started."""


class InUse(WrongDatabase):
    """Another crawl has the file."""


class DatabaseGone(DatabaseProblem):
    """The database or its disk gave up: stop, everything is resumable."""


class Unwritable(DatabaseGone):
    """The database is read-only; one that was so from the start is wrong."""


class Unavailable(DatabaseProblem):
    """It may pass by itself (locked, connection lost): worth another try."""


class Contended(Unavailable):
    """Two transactions were in each other's way: try again at once, without a word."""


@dataclass(frozen=True, slots=True)
class _Rule:
    problem: type[DatabaseProblem]
    sentence: str
    states: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


LACKS_A_PART = (
    "{where} lacks a part of a crawl's tables ({text}); restore it from a copy, or name another database in "
    "DATABASE_URL"
)
_NUMBER = re.compile(r"\[Errno -?\d+\] ")
# The first that fits counts. {where}: the database; {text}: what the driver says.
_RULES = (
    _Rule(Contended, "{where}: other processes hold rows that this one needs", states=("40001", "40P01", "55P03")),
    _Rule(
        DatabaseGone,
        "{where}: the disk is full or failing ({text}); free some space and run the same command again",
        states=("53100",),
        words=("disk is full", "disk i/o error", "no space"),
    ),
    _Rule(
        Unwritable,
        "{where} is read-only ({text}); make it and its folder writable and run the same command again",
        states=("25006",),
        words=("readonly", "read-only"),
    ),
    _Rule(
        Unwritable,
        "{where} cannot be opened; its folder must exist and be writable",
        words=("unable to open database file",),
    ),
    _Rule(
        WrongDatabase,
        "{where} is no usable SQLite database ({text}); name another file in DATABASE_URL",
        words=("malformed", "not a database"),
    ),
    _Rule(
        WrongDatabase,
        LACKS_A_PART,
        states=("42P01", "42703"),
        words=("no such table", "no such column", "has no column named"),
    ),
    _Rule(
        WrongDatabase,
        "{where}: there is no such database; create it first (createdb), or check the name in DATABASE_URL",
        states=("3D000",),
        words=("fatal:  database",),
    ),
    _Rule(
        WrongDatabase,
        "{where}: this user may not create or write tables there ({text}); grant it the rights "
        "(ALTER DATABASE ... OWNER TO ...) or name another user in DATABASE_URL",
        states=("42501",),
        words=("permission denied",),
    ),
    _Rule(
        WrongDatabase,
        "{where} refuses this user ({text}); check user and password in DATABASE_URL",
        states=("28",),
        words=("password authentication failed", "no password supplied", "fatal:  role", "no pg_hba.conf entry"),
    ),
    _Rule(Unavailable, "{where} is locked by another program", words=("locked", "busy")),
    _Rule(
        Unavailable,
        "{where} does not answer ({text})",
        states=("57P", "08", "53300", "25P03"),
        words=("connect", "resolve"),
    ),
)


def classify(error: DBAPIError, where: str) -> DatabaseProblem | None:
    """Name the problem behind a database error; None for a mistake in the statement."""
    from sqlalchemy.exc import DataError, IntegrityError, NotSupportedError  # noqa: PLC0415 - seldom, and slow to load

    if isinstance(error, IntegrityError | DataError | NotSupportedError):
        return None
    lines = str(error.orig or error).strip().splitlines()
    text = _NUMBER.sub("", lines[0]) if lines else type(error).__name__
    state = getattr(error.orig, "sqlstate", None) or ""
    for rule in _RULES:
        if any(state.startswith(code) for code in rule.states) or any(word in text.lower() for word in rule.words):
            return rule.problem(rule.sentence.format(where=where, text=text))
    return Unavailable(f"{where} does not answer ({text})") if error.connection_invalidated else None


def problem_of_file(error: sqlite3.Error, path: Path, otherwise: str) -> DatabaseProblem:
    """Return the problem of a SQLite file beside the database.

    `otherwise` says what it is when it is neither locked nor out of reach; `{error}` in it is what SQLite says.
    """
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Unavailable(f"{path} is locked by another program")
    if code.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return DatabaseGone(f"{path} cannot be used ({error}); free some space, or make it and its folder writable")
    return WrongDatabase(f"{path} is {otherwise.format(error=error)}")
