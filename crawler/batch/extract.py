"""Extract the pages of a partition: the map step of `scrapy batch extract`."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from db.articles.rework import Wanted

from ..corpus import runner, sources
from ..corpus.page_reader import SavedOptions, line_of, read_in_order, row_of
from ..corpus.reextraction import Reextraction
from ..corpus.rework import UNREAD
from . import stored
from .frame import Done

if TYPE_CHECKING:
    from pipelines.worker import WorkerPool

    from ..corpus.sources import PagePartition
    from ..options.config import Config
    from .frame import BatchTotals
    from .request import Request

ARTICLES, PAGES = "articles", "pages"


def batch(request: Request) -> BatchTotals:
    """Extract the pages of a source into a file, or the articles of a database again.

    Raises what `frame.run` and `stored.batch` raise.
    """
    config = request.config
    kinds = sorted(kind.word for kind in config.parse_options.kinds)
    if request.output is None:
        request.needs_database()
        return stored.batch(request, Reextraction, Wanted("", kinds=kinds))
    settings = {
        "EXTRACTOR": config.extractor,
        "EXTRACTOR_PARAMS": config.parse_options.extractor_params,
        "STORE_KINDS": kinds,
        "version": config.extractor_version,
    }
    lean = replace(config, parse_options=replace(config.parse_options, describe=None))  # rows say nothing of that
    task = partial(extract_pages, lean, packed=request.is_packed)
    return request.into_file(sources.find(request.source), settings, task)


def extract_pages(config: Config, partition: PagePartition, *, packed: bool) -> Done:
    """Task: extract the pages of a partition, a line of JSON each."""

    async def extract_all(pool: WorkerPool) -> Done:
        notes: list[str] = []
        counts: Counter[str] = Counter()
        rows = []
        async for result in read_in_order(pool, partition.pages(notes), SavedOptions(config.fetch.bounds.size)):
            rows.append(row_of(result, config.extractor))
            counts.update({PAGES: 1, ARTICLES: rows[-1]["is_article"], UNREAD: bool(result.problem)})
        return Done(lines_of(rows, packed=packed), counts, notes)

    return runner.run(config, extract_all)


def lines_of(rows: Iterable[dict[str, Any]], *, packed: bool) -> bytes:
    """Return the bytes of rows; packed ones are a gzip member without a time."""
    data = "".join(map(line_of, rows)).encode("utf-8", "replace")
    return gzip.compress(data, mtime=0) if packed and data else data
