"""Extract or describe stored articles again on Dask, and write them in bulk."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncGenerator, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from db.engine.database import open_for_reading, whole_url

from ..corpus import runner
from ..corpus.rework import ChosenArticles, MakeReader, Rework, read_all, rework
from ..corpus.sources import PAGES, shares
from .frame import BatchTotals, in_order, progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from db.articles.rework import Wanted
    from db.engine.database import Database
    from pipelines.worker import WorkerPool

    from ..options.config import Config
    from ..run.session import DatabaseLine
    from .request import Request


def batch(request: Request, begin: Callable[[Config, DatabaseLine], Rework], wanted: Wanted) -> BatchTotals:
    """Work on the articles of a database, read by workers, written here; see `rework`."""
    config = replace(request.config, database_url=whole_url(request.source))
    done = rework(config, begin, wanted, partial(_on_cluster, request))
    return BatchTotals(done.counts, report=list(done.report()))


async def _on_cluster(
    request: Request, config: Config, reader: MakeReader, _database: Database, chosen: Sequence[ChosenArticles]
) -> AsyncGenerator[Sequence[Any], None]:
    """See `rework.Way`."""
    loop = asyncio.get_running_loop()
    generator = _results(request, partial(read_articles, config, reader), chosen)
    with ThreadPoolExecutor(1) as thread:  # a generator belongs to one thread
        try:
            while (results := await loop.run_in_executor(thread, next, generator, None)) is not None:
                yield results
        finally:
            await loop.run_in_executor(thread, generator.close)


def _results(
    request: Request, task: Callable[[ChosenArticles], list[Any]], chosen: Sequence[ChosenArticles]
) -> Generator[Sequence[Any], None, None]:
    partitions = [
        ChosenArticles(array("q", each.ids[start:end]), each.read)
        for each in chosen
        for start, end in shares(len(each.ids), request.partitions, PAGES)
        if end
    ]
    with request.connected() as client, progress(len(partitions), 0) as count_one:
        for results in in_order(client, task, partitions):
            yield results
            count_one()


def read_articles(config: Config, reader: MakeReader, chosen: ChosenArticles) -> list[Any]:
    """Task: read some of the articles."""
    with closing(open_for_reading(config.database_url)) as database:

        async def read(pool: WorkerPool) -> list[Any]:
            work = reader(config, database, pool)
            return [result async for results in read_all(work, database, chosen) for result in results]

        return runner.run(config, read)
