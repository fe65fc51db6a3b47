"""Extract saved pages in worker processes, in their order, and make rows of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pipelines.links.scope import Scope
from pipelines.records import PageKind, ParseResult
from pipelines.worker import Job, PageUnreadable

from .saved_pages import NOWHERE, InputError, SavedPage, page_url, read

if TYPE_CHECKING:
    from pipelines.worker import WorkerPool

_AHEAD: Final = 16
"""Pages read ahead, so that the workers are busy while results are taken in order."""


@dataclass(frozen=True, slots=True)
class SavedResult:
    input: SavedPage
    url: str
    page: ParseResult
    rendered: str = ""
    problem: str = ""


async def read_in_order(
    pool: WorkerPool, inputs: Iterable[SavedPage], most: int, form: str = ""
) -> AsyncIterator[SavedResult]:
    """Yield results in the order of the pages, of at most `most` bytes each."""
    waiting: deque[asyncio.Task[SavedResult]] = deque()
    for one in inputs:
        waiting.append(asyncio.create_task(read_page(pool, one, most, form)))
        if len(waiting) >= _AHEAD:
            yield await waiting.popleft()
    while waiting:
        yield await waiting.popleft()


async def read_page(pool: WorkerPool, one: SavedPage, most: int, form: str = "") -> SavedResult:
    """Read one page; a failure is the problem of its result."""
    body, fetched_at = one.body, one.fetched_at or time.time()
    url = one.url
    try:
        if one.problem:
            raise InputError(one.problem)
        if one.path is not None:
            body = read(one, most)
        if one.path is not None or "://" not in url:
            url = page_url(one.url, body)
        job = Job("page", body, url, one.content_type, "", fetched_at, Scope("host", ()), form=form, dom=one.dom)
        parsed = await pool.run(job)
    except (InputError, PageUnreadable) as problem:
        return SavedResult(one, one.url, ParseResult(PageKind.OTHER), problem=str(problem))
    except Exception as error:  # noqa: BLE001 - a fault of ours must not cost the other pages
        return SavedResult(one, one.url, ParseResult(PageKind.OTHER), problem=f"could not be read: {error!r}")
    canonical = parsed.metadata.canonical
    shown = one.url or (canonical if NOWHERE in url else url)
    return SavedResult(one, shown, parsed, parsed.rendered)


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
