"""Work on stored articles anew: those that are wanted, some at a time.

Each article is written together with the note by what it was made, so a run that is killed goes on where it was, and a
second one finds nothing to do. Reading the pages is apart from writing the results: it may be done anywhere.
"""

from __future__ import annotations

import asyncio
import sys
from array import array
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from db.engine.database import Database, open_for_crawl, open_for_reading
from db.frontier import runs
from pipelines.worker import WorkerPool

from ..run.session import DatabaseLine

if TYPE_CHECKING:
    from db.articles.rework import Wanted

    from ..options.config import Config

_AT_ONCE = 32
"""Articles read from the database at a time."""
UNREAD = "could not be read"


@dataclass(frozen=True, slots=True)
class ChosenArticles:
    """Articles to be worked on.

    Attributes:
        ids: their identifiers, in the order in which they are to be written.
        read: reads some of them; a function of a module, so that it can be sent elsewhere.
    """

    ids: array[int]
    read: Callable[[Any, Sequence[int]], Sequence[Any]]


MakeReader = Callable[["Config", Database, WorkerPool], Callable[[Any], Awaitable[Any]]]
"""Makes what works on one article in worker processes; a class of a module, so that it can be sent elsewhere."""


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

    @property
    def reader(self) -> MakeReader:
        """Maker of what works on one article."""

    async def choose(self, wanted: Wanted) -> Sequence[ChosenArticles]:
        """Find the articles."""

    async def take(self, results: Sequence[Any]) -> None:
        """Write what the reader made of some of them, in their order."""

    def report(self) -> Iterator[str]:
        """Yield lines about what became of them."""


Way = Callable[["Config", MakeReader, Database, Sequence[ChosenArticles]], AsyncGenerator[Sequence[Any], None]]
"""Yields what readers make of chosen articles, some at a time, in their order."""
R = TypeVar("R", bound=Rework)


async def here(
    config: Config, reader: MakeReader, database: Database, chosen: Sequence[ChosenArticles]
) -> AsyncGenerator[Sequence[Any], None]:
    """Work on articles in processes of this one; see `Way`."""
    pool = WorkerPool(
        workers=config.workers,
        seconds=config.page_seconds,
        memory_bytes=config.worker_memory_bytes,
        options=config.parse_options,
    )
    try:
        work = reader(config, database, pool)
        for each in chosen:
            async for results in read_all(work, database, each):
                yield results
    finally:
        await asyncio.to_thread(pool.close)


async def read_all(
    work: Callable[[Any], Awaitable[Any]], database: Database, chosen: ChosenArticles
) -> AsyncGenerator[Sequence[Any], None]:
    """Work on articles, some at a time."""
    for first in range(0, len(chosen.ids), _AT_ONCE):
        ids = chosen.ids[first : first + _AT_ONCE].tolist()
        found = await asyncio.to_thread(database.read, lambda connection, ids=ids: chosen.read(connection, ids))
        yield await asyncio.gather(*map(work, found))


def rework(config: Config, begin: Callable[[Config, DatabaseLine], R], wanted: Wanted, way: Way = here) -> R:
    """Work on the articles of a database, and tell on standard error how far it is.

    Args:
        config: the checked settings.
        begin: makes the work, with the open database.
        wanted: which articles.
        way: where their pages are read.

    Raises:
        ValueError: the condition is none.
        DatabaseProblem: the database is not there or gave up, or a crawl is running on it.
    """
    with closing(open_for_reading(config.database_url)) as database:  # one that is not there is not made
        database.read(lambda _: None)
    return asyncio.run(_rework(config, begin, wanted, way))


async def _rework(config: Config, begin: Callable[[Config, DatabaseLine], R], wanted: Wanted, way: Way) -> R:
    database = open_for_crawl(config.database_url, patience_seconds=config.database_patience)
    line = DatabaseLine(database, config.database_patience)
    try:
        await asyncio.to_thread(database.read, partial(runs.refuse_beside_crawls, name=database.name))
        work = begin(config, line)
        telling = asyncio.create_task(_tell(work, config.progress_seconds))
        try:
            chosen = await work.choose(wanted)
            if work.total:
                async with aclosing(way(config, work.reader, database, chosen)) as found:
                    await _take(work, found)
        finally:
            telling.cancel()
        return work
    finally:
        await line.close()  # and the database


async def _take(work: Rework, found: AsyncGenerator[Sequence[Any], None]) -> None:
    """Write results while the next are made."""
    taking: asyncio.Task[None] | None = None
    try:
        async for results in found:
            if taking is not None:
                await taking
            taking = asyncio.create_task(work.take(results))
    finally:
        if taking is not None:
            await taking


async def _tell(work: Rework, seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        sys.stderr.write(f"{work.counts.total()} of {work.total} articles\n")


def summary(work: Rework, *words: str) -> Iterator[str]:
    """Yield a line about what became of the articles for each of the words."""
    return (f"  {work.counts[what]} {what}\n" for what in words if work.counts[what])
