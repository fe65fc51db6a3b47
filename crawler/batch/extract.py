"""Extract the pages of a partition: the map step of `scrapy batch extract`."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..archive.page_reader import line_of, read_in_order, row_of
from . import sources, workers
from .frame import Done, run

if TYPE_CHECKING:
    from pipelines.worker import WorkerPool

    from ..run.config import Config
    from .frame import Totals
    from .request import Request
    from .sources import PagePartition

ARTICLES, PAGES, UNREAD = "articles", "pages", "could not be read"


def batch(request: Request) -> Totals:
    """Extract the pages of a source into a file.

    Raises:
        BatchStopped, ValueError, OSError: see `frame.run`.
    """
    assert request.output is not None
    source, config = sources.find(request.source), request.config
    made = {"extractor": config.extractor, "version": config.extractor_version}
    parts = request.parts({**made, **source.mark()})
    cut = source.cut(request.partitions, parts.folder)
    with request.connected() as client:
        totals = run(client, parts, ExtractTask(config, packed=request.output.suffix == ".gz"), cut)
    parts.join(len(cut), request.output)
    return totals


@dataclass(frozen=True, slots=True)
class ExtractTask:
    """The task; it is sent to workers.

    Attributes:
        config: the checked settings.
        packed: whether the lines are gzipped.
    """

    config: Config
    packed: bool

    def __call__(self, partition: PagePartition) -> Done:
        """Extract the pages of a partition, in their order: a line of JSON each."""
        return workers.run(self.config, lambda pool: self._lines(pool, partition))

    async def _lines(self, pool: WorkerPool, partition: PagePartition) -> Done:
        notes: list[str] = []
        counts: Counter[str] = Counter()
        lines = []
        async for result in read_in_order(pool, partition.pages(notes), self.config.fetch.bounds.size):
            row = row_of(result, self.config.extractor)
            counts.update({PAGES: 1, ARTICLES: row["is_article"], UNREAD: bool(result.problem)})
            lines.append(line_of(row))
        return Done(pack("".join(lines), packed=self.packed), counts, notes)


def pack(text: str, *, packed: bool) -> bytes:
    """Return the bytes of lines; packed ones are a gzip member without a time."""
    data = text.encode("utf-8", "replace")
    return gzip.compress(data, mtime=0) if packed and data else data
