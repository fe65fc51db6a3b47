"""Work on stored articles anew: those that are wanted, some at a time.

Each article is written together with the note by what it was made, so a run that is killed goes on where it was, and a
second one finds nothing to do.
"""

from __future__ import annotations

import asyncio
import sys
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from db.engine.database import Database, open_for_crawl, open_for_reading
from db.frontier import runs
from pipelines.worker import WorkerPool

from .session import DatabaseLine

if TYPE_CHECKING:
    from db.articles.again import Wanted

    from .config import Config

_AT_ONCE = 32
"""Articles read from the database at a time."""
UNREAD = "could not be read"


class Rework(Protocol):
    """Work on stored articles.

    Attributes:
        name: of the database.
        total: articles that were found to be worked on.
        counts: what became of those that are done.
    """

    name: str
    total: int
    counts: Counter[str]

    async def run(self, wanted: Wanted) -> None:
        """Do it."""


R = TypeVar("R", bound=Rework)
T = TypeVar("T")


def rework(config: Config, begin: Callable[[DatabaseLine, WorkerPool], R], wanted: Wanted) -> R:
    """Work on the articles of a database, and tell on standard error how far it is.

    Args:
        config: the checked settings.
        begin: makes the work, with the open database and worker processes.
        wanted: which articles.

    Raises:
        ValueError: the condition is none.
        DatabaseProblem: the database is not there or gave up, or a crawl is running on it.
    """
    with closing(open_for_reading(config.database_url)) as database:  # one that is not there is not made
        database.read(lambda _: None)
    return asyncio.run(_rework(config, begin, wanted))


async def _rework(config: Config, begin: Callable[[DatabaseLine, WorkerPool], R], wanted: Wanted) -> R:
    database = open_for_crawl(config.database_url, patience_seconds=config.database_patience)
    line = DatabaseLine(database, config.database_patience)
    pool = WorkerPool(
        workers=config.workers,
        seconds=config.page_seconds,
        memory_bytes=config.worker_memory_bytes,
        options=config.parse_options,
    )
    try:
        await asyncio.to_thread(database.read, partial(runs.refuse_beside_crawls, name=database.name))
        work = begin(line, pool)
        telling = asyncio.create_task(_tell(work, config.progress_seconds))
        try:
            await work.run(wanted)
        finally:
            telling.cancel()
        return work
    finally:
        await asyncio.to_thread(pool.close)
        await line.close()  # and the database


async def _tell(work: Rework, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        sys.stderr.write(f"{work.counts.total()} of {work.total} articles\n")


async def in_parts(
    database: Database, ids: array[int], read: Callable[[Any, list[int]], list[T]]
) -> AsyncIterator[list[T]]:
    """Yield articles, read some at a time."""
    for first in range(0, len(ids), _AT_ONCE):
        part = ids[first : first + _AT_ONCE].tolist()
        yield await asyncio.to_thread(database.read, lambda connection, part=part: read(connection, part))


def summary(work: Rework, *words: str) -> Iterator[str]:
    """Yield a line about what became of the articles for each of the words."""
    return (f"  {work.counts[what]} {what}\n" for what in words if work.counts[what])
