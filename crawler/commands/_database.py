"""Access to a crawl's database for commands: reading, wide tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from scrapy.exceptions import UsageError

from ..run.config import value_of

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

    from db.engine.database import Database, Query

    from ..run.terminal import Terminal


T = TypeVar("T")


def wide_console(*, markup: bool = False) -> Terminal:
    """Return a console as wide as the terminal, or wide enough for any host name."""
    from ..run.terminal import Terminal

    found = Terminal(markup=markup)
    return found if found.is_terminal else Terminal(markup=markup, width=160)


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


_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PERIOD = re.compile(r"([0-9]{1,6})([smhdw])")


def seconds(option: str, period: str) -> float:
    """Convert a time such as 7d to seconds.

    Raises:
        UsageError: it is none.
    """
    found = _PERIOD.fullmatch(period.strip().lower())
    if found is None:
        raise UsageError(f"{option} is {period!r}; it takes a number with s, m, h, d or w, e.g. 7d", print_help=False)
    return float(int(found[1]) * _UNITS[found[2]])
