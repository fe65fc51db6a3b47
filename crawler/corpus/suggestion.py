"""Suggest selectors of a host from its kept pages, in worker processes."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from db.engine.database import open_for_reading
from db.queries.pages import article_pages
from db.shards.databases import Shards
from pipelines.suggest import Naming, PageToRead, Sampling, SelectorFit, Trial, choose, most_named, templates_of
from pipelines.urls import host_key
from pipelines.worker import PageUnreadable

from ..run.workers import open_pool
from . import sources
from .saved_pages import NOWHERE, SavedPage, page_url, read

if TYPE_CHECKING:
    from pipelines.worker import WorkerJob, WorkerPool

    from ..options.config import Config

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Selectors of a host by field, of so many pages, of which so many are articles.

    `root` is the URL of the host's home page.
    """

    root: str
    pages: int
    articles: int
    found: Mapping[str, SelectorFit]


def stored(host: str, config: Config, most: int) -> list[SavedPage]:
    """Return the newest article pages of a host whose bytes are kept.

    Raises:
        DatabaseProblem: the database cannot be read.
        InputError: a page cannot be unpacked.
    """
    pages: list[SavedPage] = []
    for url in Shards.read(config.database_url).urls:
        with closing(open_for_reading(url)) as database:
            urls = database.read(lambda connection: article_pages(connection, host, most))
        most_bytes = config.fetch.bounds.size
        found = sources.find_stored(urls, url, archive=config.store_warc, most_bytes=most_bytes) if urls else {}
        pages += [found[one] for one in urls if one in found]
    return pages[:most]


def saved(host: str, names: Iterable[str], config: Config, most: int) -> list[SavedPage]:
    """Return pages of a host from files, folders, WARC files or JSON lines.

    A page without a URL counts as one of the host. Raises `InputError`.
    """
    with TemporaryDirectory() as folder:
        notes: list[str] = []
        every = (
            page for name in names for part in sources.find(name).cut(0, Path(folder)) for page in part.pages(notes)
        )
        return list(islice(_of_host(host, every, config.fetch.bounds.size), most))


def _of_host(host: str, pages: Iterable[SavedPage], most_bytes: int) -> Iterator[SavedPage]:
    for page in pages:
        if page.problem:
            continue
        body = page.body if page.path is None else read(page, most_bytes)
        url = page.url if "://" in page.url else page_url(page.url, body)
        if host_key(url) in {host, NOWHERE}:
            own = url.replace(f"//{NOWHERE}/", f"//{host}/", 1)
            yield SavedPage(page.id, url=own, body=body, content_type=page.content_type, fetched_at=page.fetched_at)


async def suggest(host: str, pages: Sequence[SavedPage], config: Config) -> Suggestion:
    """Suggest selectors from pages of one host; pages that cannot be read do not count."""
    now = time.time()
    to_read = [PageToRead(one.body, one.url, one.content_type, one.fetched_at or now, one.dom) for one in pages]
    async with open_pool(config, max(1, len(to_read))) as pool:
        samples = await _all(pool, [Sampling(page) for page in to_read])
        articles = [page for page, sample in zip(to_read, samples, strict=True) if sample is not None]
        templates = templates_of(samples)
        named = await _all(pool, [Naming(page, templates) for page in articles])
        tried = most_named([one for one in named if one is not None])
        trials = await _all(pool, [Trial(page, tried) for page in articles])
    schemes = Counter(urlsplit(page.url).scheme for page in to_read)
    root = f"{max(schemes, key=lambda scheme: schemes[scheme], default='https')}://{host}/"
    return Suggestion(root, len(to_read), len(articles), choose([one for one in trials if one is not None]))


async def _all(pool: WorkerPool, jobs: Sequence[WorkerJob[R]]) -> list[R | None]:
    return list(await asyncio.gather(*(_one(pool, job) for job in jobs)))


async def _one(pool: WorkerPool, job: WorkerJob[R]) -> R | None:
    try:
        return await pool.run(job)
    except PageUnreadable:
        return None
