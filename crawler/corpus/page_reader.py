"""Extract saved pages in worker processes, in their order, and make rows of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.links.scope import Scope
from pipelines.records import PageKind, ParseResult
from pipelines.site_memory.knowledge import NOTHING, SiteModel, learn, pack
from pipelines.site_memory.template import may_correct
from pipelines.urls import host_key
from pipelines.worker import Job, PageFault, PageUnreadable

from .saved_pages import NOWHERE, InputError, SavedPage, page_url, read

if TYPE_CHECKING:
    from pipelines.worker import WorkerPool

_AHEAD: Final = 16
"""Pages read ahead, so that the workers are busy while results are taken in order."""
_HELD: Final = 1_000
"""Results held back until so many later pages are read, as these tell what their sites repeat."""


@dataclass(frozen=True, slots=True)
class SavedResult:
    """A saved page as it was read; `host` is empty where nothing names one."""

    input: SavedPage
    url: str
    page: ParseResult
    rendered: str = ""
    problem: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class SavedOptions:
    """Options for reading saved pages.

    At most `most` bytes of each are read, which are also rendered in a `form` if there is one. `learns` is whether
    pages of one host teach what it repeats (`SITE_MEMORY`).
    """

    most: int
    form: str = ""
    learns: bool = False


async def read_in_order(
    pool: WorkerPool, inputs: Iterable[SavedPage], reading: SavedOptions
) -> AsyncIterator[SavedResult]:
    """Yield results in the order of the pages.

    If it `learns`, a page is corrected by what the others of its host have taught: all of them, or of more than
    `_HELD` pages those up to as many behind it. Such a page is read twice.
    """
    sites: dict[str, SiteModel] = {}
    held: deque[SavedResult] = deque()
    async for result in _in_order(pool, inputs, reading):
        if not reading.learns:
            yield result
            continue
        if result.host and result.page.sample is not None:
            sites[result.host] = learn(sites.get(result.host, NOTHING), result.page.sample)
        held.append(result)
        if len(held) > _HELD:
            yield await _corrected(pool, held.popleft(), sites, reading)
    while held:
        yield await _corrected(pool, held.popleft(), sites, reading)


async def _in_order(pool: WorkerPool, inputs: Iterable[SavedPage], reading: SavedOptions) -> AsyncIterator[SavedResult]:
    site_model = b"" if reading.learns else None
    waiting: deque[asyncio.Task[SavedResult]] = deque()
    for one in inputs:
        waiting.append(asyncio.create_task(read_page(pool, one, reading, site_model)))
        if len(waiting) >= _AHEAD:
            yield await waiting.popleft()
    while waiting:
        yield await waiting.popleft()


async def _corrected(
    pool: WorkerPool, result: SavedResult, sites: Mapping[str, SiteModel], reading: SavedOptions
) -> SavedResult:
    sample, model = result.page.sample, sites.get(result.host, NOTHING)
    # it takes two pages to know what a site repeats
    if sample is None or model.seen <= 1 or not may_correct(model, sample):
        return result
    again = await read_page(pool, result.input, reading, pack(model))
    return again if again.page.is_kept else result


async def read_page(
    pool: WorkerPool, one: SavedPage, reading: SavedOptions, site_model: bytes | None = None
) -> SavedResult:
    """Read one page; a failure is the problem of its result."""
    body, fetched_at = one.body, one.fetched_at or time.time()
    url = one.url
    try:
        if one.problem:
            raise InputError(one.problem)
        if one.path is not None:
            body = read(one, reading.most)
        if one.path is not None or "://" not in url:
            url = page_url(one.url, body)
        scope = Scope("host", ())
        job = Job(
            "page", body, url, one.content_type, "", fetched_at, scope, site_model, form=reading.form, dom=one.dom
        )
        parsed = await pool.run(job)
    except (InputError, PageUnreadable) as problem:
        return SavedResult(one, one.url, ParseResult(PageKind.OTHER), problem=str(problem))
    except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the other pages
        return SavedResult(
            one, one.url, ParseResult(PageKind.OTHER), problem=f"could not be read: {PageFault.of(error)}"
        )
    canonical, is_known = parsed.metadata.canonical, NOWHERE not in url
    shown = one.url or (url if is_known else canonical)
    return SavedResult(one, shown, parsed, parsed.rendered, host=host_key(url) if is_known else "")


def row_of(result: SavedResult, extractor: str) -> dict[str, Any]:
    meta, text = result.page.metadata, result.page.extraction
    return {
        "id": result.input.id,
        "file": result.input.file,
        "url": result.url,
        "title": meta.title,
        "authors": list(meta.authors),
        "source": meta.source,
        "published_at": meta.published_at or None,
        "published_utc": meta.published_utc or None,
        "language": meta.language,
        "published_precision": meta.published_precision or None,
        "published_from": meta.published_from or None,
        "description": meta.summary,
        "tags": list(meta.keywords),
        "section": meta.section,
        "kind": result.page.kind.word,
        "kind_probability": round(result.page.probability, 4),
        "is_article": result.page.kind is PageKind.ARTICLE,
        "reason": result.problem or ("" if result.page.is_kept else result.page.reason or ""),
        "text": text.text,
        "images": [{"url": image.url, "caption": image.caption} for image in meta.images if NOWHERE not in image.url],
        "related": [{"url": url, "title": title} for url, title in result.page.stories if NOWHERE not in url],
        "extractor": extractor,
        "text_from": result.page.text_from,
        "quality": round(text.confidence, 4),
    }


def line_of(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
