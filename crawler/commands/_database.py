"""Access to a crawl's database for commands: reading."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from scrapy.exceptions import UsageError

from pipelines.dates.period import parse_seconds

from ..run.config import value_of

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

    from db.engine.database import Database, Query


T = TypeVar("T")


def read(command: ScrapyCommand, query: Query[T]) -> tuple[str, T]:
    """Answer a query from the database of the settings; returns its name and answer.

    Raises:
        DatabaseProblem: it cannot be read.
    """
    return read_with(command, lambda database: database.read(query))


def read_with(command: ScrapyCommand, work: Callable[[Database], T]) -> tuple[str, T]:
    """Do the same for work that makes its connections itself."""
    from db.engine.database import open_for_reading

    assert command.settings is not None
    with closing(open_for_reading(value_of(command.settings, "DATABASE_URL"))) as database:
        return database.name, work(database)


def seconds(option: str, period: str) -> float:
    """Convert a time such as 7d to seconds.

    Raises:
        UsageError: it is none.
    """
    try:
        return parse_seconds(period)
    except ValueError as error:
        raise UsageError(f"{option} is {period!r}; {error}", print_help=False) from None
