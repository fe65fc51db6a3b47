"""What the commands that look into a database share: opening it, one sentence when that fails, where tables go."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.exc import DBAPIError

from db.engine.database import Database, open_for_reading
from db.engine.errors import DatabaseGone, DatabaseProblem, classify

from ..run.config import value_of
from ..run.exit_codes import EXIT_DATABASE, EXIT_USAGE
from ..run.terminal import Terminal

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand
    from sqlalchemy import Connection


T = TypeVar("T")


def wide_console(*, markup: bool = False) -> Terminal:
    """As wide as the terminal; wide enough for any host name when the output goes elsewhere."""
    found = Terminal(markup=markup)
    return found if found.is_terminal else Terminal(markup=markup, width=160)


def read(command: ScrapyCommand, question: Callable[[Connection], T]) -> tuple[str, T] | None:
    """Ask the database of the settings; returns its name and the answer.

    When it cannot be read, prints why, sets the command's exit code, and returns None.
    """
    return read_with(command, lambda database: _connected(database, question))


def read_with(command: ScrapyCommand, work: Callable[[Database], T]) -> tuple[str, T] | None:
    """As `read`, for what makes its connections itself."""
    assert command.settings is not None
    try:
        return _with(value_of(command.settings, "DATABASE_URL"), work)
    except DatabaseProblem as problem:
        sys.stderr.write(f"{problem}\n")
        command.exitcode = EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE
        return None


def ask(database_url: str, question: Callable[[Connection], T]) -> tuple[str, T]:
    """Ask a database; returns its name and the answer.

    Raises:
        DatabaseProblem: it cannot be read.
    """
    return _with(database_url, lambda database: _connected(database, question))


def _with(database_url: str, work: Callable[[Database], T]) -> tuple[str, T]:
    """Open a database, do something with it, and close it."""
    database = open_for_reading(database_url)
    try:
        return database.name, work(database)
    except DBAPIError as error:
        raise classify(error, database.name) or error from error
    finally:
        database.close()


def _connected(database: Database, question: Callable[[Connection], T]) -> T:
    with database.engine.connect() as connection:
        return question(connection)
