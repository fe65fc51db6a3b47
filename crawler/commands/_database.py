"""Access to a crawl's database for commands: reading, errors, wide tables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from db.engine.database import Database, Query, open_for_reading
from db.engine.errors import DatabaseGone, DatabaseProblem

from ..run.config import value_of
from ..run.exit_codes import EXIT_DATABASE, EXIT_USAGE
from ..run.terminal import Terminal

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


T = TypeVar("T")


def wide_console(*, markup: bool = False) -> Terminal:
    """Return a console as wide as the terminal, or wide enough for any host name."""
    found = Terminal(markup=markup)
    return found if found.is_terminal else Terminal(markup=markup, width=160)


def read(command: ScrapyCommand, query: Query[T]) -> tuple[str, T] | None:
    """Answer a query from the database of the settings; returns its name and answer.

    When it cannot be read, prints why, sets the command's exit code, and returns None.
    """
    return read_with(command, lambda database: database.read(query))


def read_with(command: ScrapyCommand, work: Callable[[Database], T]) -> tuple[str, T] | None:
    """Do the same for work that makes its connections itself."""
    assert command.settings is not None
    try:
        with closing(open_for_reading(value_of(command.settings, "DATABASE_URL"))) as database:
            return database.name, work(database)
    except DatabaseProblem as problem:
        sys.stderr.write(f"{problem}\n")
        command.exitcode = EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE
        return None
