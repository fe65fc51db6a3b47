"""Extract or describe stored articles again, a few at a time.

An article is written in one transaction with the note that says by what it was made. So a run that was killed goes on
where it was, and a second one finds nothing to do. Reading the pages is apart from writing the results: it may happen
in processes of this command or on Dask.
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
from ..run.workers import open_pool

if TYPE_CHECKING:
    from db.articles.rework import Wanted

    from ..options.config import Config

_AT_ONCE = 32
"""Articles read from the database at a time."""
UNREAD = "could not be read"


@dataclass(frozen=True, slots=True)
class ChosenArticles:
    """Articles to be worked on, in the order in which they are written.

    `read` reads some of them; it is a module's function, so that it can be sent to workers.
    """

    ids: array[int]
    read: Callable[[Any, Sequence[int]], Sequence[Any]]


MakeReader = Callable[["Config", Database, WorkerPool], Callable[[Any], Awaitable[Any]]]
"""Makes the function that works on one article in workers; a module's class, so that it can be sent to them."""


class Rework(Protocol):
    """Work on stored articles; `counts` are the results of those that are done."""

    name: str
    total: int
    counts: Counter[str]

    @property
    def reader(self) -> MakeReader:
        """Return the maker of the function that works on one article."""

    async def choose(self, wanted: Wanted) -> Sequence[ChosenArticles]:
        """Find the articles.

        Raises:
            ValueError: the condition cannot be used.
            DatabaseProblem: the database failed; the same command goes on.
        """

    async def take(self, results: Sequence[Any]) -> None:
        """Write the results of some articles, in their order."""

    def report(self) -> Iterator[str]:
        """Yield lines about the results."""


Way = Callable[["Config", MakeReader, Database, Sequence[ChosenArticles]], AsyncGenerator[Sequence[Any], None]]
"""Yields the readers' results for chosen articles, a few at a time, in their order."""
R = TypeVar("R", bound=Rework)


async def here(
    config: Config, reader: MakeReader, database: Database, chosen: Sequence[ChosenArticles]
) -> AsyncGenerator[Sequence[Any], None]:
    async with open_pool(config) as pool:
        work = reader(config, database, pool)
        for each in chosen:
            async for results in read_all(work, database, each):
                yield results


async def read_all(
    work: Callable[[Any], Awaitable[Any]], database: Database, chosen: ChosenArticles
) -> AsyncGenerator[Sequence[Any], None]:
    for first in range(0, len(chosen.ids), _AT_ONCE):
        ids = chosen.ids[first : first + _AT_ONCE].tolist()
        units = await asyncio.to_thread(database.read, lambda connection, ids=ids: chosen.read(connection, ids))
        yield await asyncio.gather(*map(work, units))


def rework(config: Config, begin: Callable[[Config, DatabaseLine], R], wanted: Wanted, way: Way = here) -> R:
    """Work on the articles of a database, showing progress on standard error.

    `begin` makes the work, with the open database; `way` says where pages are read.

    Raises:
        ValueError: the condition cannot be used.
        DatabaseProblem: the database is missing or failed, or a crawl is running on it.
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
                async with aclosing(way(config, work.reader, database, chosen)) as batches:
                    await _take(work, batches)
        finally:
            telling.cancel()
        return work
    finally:
        await line.close()  # and the database


async def _take(work: Rework, batches: AsyncGenerator[Sequence[Any], None]) -> None:
    taking: asyncio.Task[None] | None = None
    try:
        async for results in batches:
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
    return (f"  {work.counts[what]} {what}\n" for what in words if work.counts[what])
