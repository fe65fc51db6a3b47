"""Describe the documents of a partition: the map step of `scrapy batch describe`."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from db.articles.rework import Wanted
from pipelines.describe import describer
from pipelines.worker import PageFault, PageUnreadable

from ..corpus import runner, sources
from ..corpus.documents import WANTED, described
from ..corpus.redescription import DESCRIBED_KINDS, Redescription
from ..corpus.rework import UNREAD
from . import stored
from .extract import lines_of
from .frame import Done

if TYPE_CHECKING:
    from pipelines.worker import ParseOptions, WorkerPool

    from ..options.config import Config
    from .frame import BatchTotals
    from .request import Request


def batch(request: Request) -> BatchTotals:
    """Describe documents into a file, or the articles of a database again.

    Raises what `frame.run` and `stored.batch` raise.
    """
    options = request.config.parse_options.describe
    assert options is not None
    if request.output is None:
        request.needs_database()
        wanted = Wanted(options.version(), kinds=sorted(kind.word for kind in DESCRIBED_KINDS))
        return stored.batch(request, Redescription, wanted)
    if not request.source.lower().endswith(sources.LINES):
        raise ValueError(f"{request.source} is no file of JSON lines; make one of pages by scrapy batch extract")
    source = sources.LineSource(Path(request.source))
    task = partial(describe_documents, request.config, packed=request.is_packed)
    return request.into_file(source, {"described": options.version()}, task)


@dataclass(frozen=True, slots=True)
class _DocumentJob:
    row: dict[str, Any]
    body: bytes = field(default=b"", init=False)

    def done(self, options: ParseOptions) -> dict[str, object]:
        assert options.describe is not None
        return described(self.row, describer(options.describe), "")


def describe_documents(config: Config, partition: sources.Lines, *, packed: bool) -> Done:
    """Task: describe the documents of a partition, a line of JSON each."""
    notes: list[str] = []
    rows = [row for _, row in partition.rows(notes, WANTED)]

    async def describe_all(pool: WorkerPool) -> list[dict[str, object]]:
        return await asyncio.gather(*(_described(pool, row) for row in rows))

    descriptions = runner.run(config, describe_all)
    failed = sum("problem" in row for row in descriptions)
    counts = Counter({"documents": len(descriptions), UNREAD: failed})
    return Done(lines_of(descriptions, packed=packed), counts, notes)


async def _described(pool: WorkerPool, row: dict[str, Any]) -> dict[str, object]:
    """Describe a document; one that cannot be is a row with a problem."""
    try:
        return await pool.run(_DocumentJob(row))
    except (PageUnreadable, PageFault) as problem:
        return {"id": row["id"], "problem": str(problem)}
