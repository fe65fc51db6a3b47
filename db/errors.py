"""What can go wrong with a database, in words for the person who runs the crawl.

    DatabaseProblem           base: one sentence that says what happened and what to do
    +-- WrongDatabase         the caller named a database that must not be used (foreign, newer, in use): nothing started
    +-- DatabaseGone          the database or its disk gave up: stop, everything is resumable
    +-- Unavailable           may pass by itself: locked, connection lost, deadlock; worth another try
"""

from __future__ import annotations

from sqlalchemy.exc import DBAPIError


class DatabaseProblem(Exception):
    """Base of all database errors; its text is one sentence for the user."""


class WrongDatabase(DatabaseProblem):
    """The database named is not one to write to."""


class DatabaseGone(DatabaseProblem):
    """The database cannot be used any more."""


class Unavailable(DatabaseProblem):
    """The database does not answer at the moment."""


_SQLITE_PASSING = ("locked", "busy")
_SQLITE_DISK = ("disk is full", "disk i/o error", "no space")
_POSTGRES_PASSING = {"40001": "serialization failure", "40P01": "deadlock", "55P03": "lock not available"}
_POSTGRES_DISK = {"53100": "its disk is full"}


def classify(error: DBAPIError, where: str) -> DatabaseProblem | None:
    """Name the problem behind a database error, or None when it is a fault of the statement itself.

    Args:
        error: what SQLAlchemy raised.
        where: the database as the user named it, without password.
    """
    text = str(error.orig or error).strip().splitlines()[0] if str(error.orig or error).strip() else type(error).__name__
    state = getattr(error.orig, "sqlstate", None)
    lower = text.lower()
    if state in _POSTGRES_PASSING:
        return Unavailable(f"{where}: {_POSTGRES_PASSING[state]}")
    if state in _POSTGRES_DISK or any(words in lower for words in _SQLITE_DISK):
        return DatabaseGone(f"{where}: the disk is full or failing ({text}); free some space and run the same command again")
    if "readonly" in lower or "read-only" in lower or state == "25006":
        return DatabaseGone(f"{where} is read-only ({text}); make it and its folder writable and run the same command again")
    if "unable to open database file" in lower:
        return DatabaseGone(f"{where} cannot be opened; its folder must exist and be writable")
    if "malformed" in lower or "not a database" in lower:
        return WrongDatabase(f"{where} is no usable SQLite database ({text}); name another file in DATABASE_URL")
    if any(words in lower for words in _SQLITE_PASSING):
        return Unavailable(f"{where} is locked by another program")
    if error.connection_invalidated or state in {"57P01", "57P02", "57P03"} or (state or "").startswith("08") or "connect" in lower:
        return Unavailable(f"{where} does not answer ({text})")
    return None
