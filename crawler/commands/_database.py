"""What the commands that look into a database share: opening it, and one sentence when that fails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.exc import DBAPIError

from db.database import open_for_reading
from db.errors import DatabaseGone, DatabaseProblem, classify

from ..frontier import EXIT_DATABASE, EXIT_USAGE

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand
    from sqlalchemy import Connection

T = TypeVar("T")


def read(command: ScrapyCommand, question: Callable[[Connection], T]) -> tuple[str, T] | None:
    """Ask the database of the settings; returns its name and the answer.

    When it cannot be read, prints why, sets the command's exit code, and returns None.
    """
    assert command.settings is not None
    try:
        return ask(command.settings["DATABASE_URL"], question)
    except DatabaseProblem as problem:
        sys.stderr.write(f"{problem}\n")
        command.exitcode = EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE
        return None


def ask(database_url: str, question: Callable[[Connection], T]) -> tuple[str, T]:
    """Ask a database; returns its name and the answer.

    Raises:
        DatabaseProblem: it cannot be read.
    """
    database = open_for_reading(database_url)
    try:
        with database.engine.connect() as connection:
            return database.name, question(connection)
    except DBAPIError as error:
        raise classify(error, database.name) or error from error
    finally:
        database.close()
