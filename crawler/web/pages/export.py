"""Search results as files: all articles that fulfil a query, streamed.

Each step reads some hundred articles in a thread and a transaction of its own, and waits for its turn among other
readers, so a long file holds up no page and no crawl.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import BinaryIO, Final, cast

from starlette.responses import Response, StreamingResponse
from starlette.types import Message

from db.desk.file import DeskFile
from db.engine.database import ReadConnection
from db.queries.export import Row, articles_in_order
from pipelines.export.formats import BOM, FRONT_MATTER, SHORT, RowWriter, columns_read, row_writer
from pipelines.export.read import ARTICLES, MARKED_ARTICLES, with_marks
from pipelines.search.every import EveryMatch

from ..frame.file_forms import CITATIONS, FORMATS
from ..frame.security import NOTHING_RUNS
from ..frame.visit import BadRequest, Visit
from . import search

MOST_ROWS: Final = 10_000
LIMIT: Final = (MOST_ROWS, 1, MOST_ROWS)
ORDERS: Final = ("shown", "newest")
_MOST_COLUMNS: Final = 1_000
_CHUNK: Final = 256 << 10


def show(visit: Visit) -> Response:
    """Answer with a file of the search that the parameters describe.

    Raises:
        BadRequest: the query or a parameter is wrong, or a library is missing.
    """
    form = visit.one_of("format", tuple(FORMATS))
    order = visit.one_of("order", ORDERS)
    limit = visit.whole("limit", *LIMIT)
    named = [name.strip() for name in visit.text("columns", _MOST_COLUMNS).split(",") if name.strip()]
    if named and form in CITATIONS:
        raise BadRequest(f"{form} has no columns to choose; leave columns out")
    query = search.query_of(visit)
    options = search.options_of(visit, query)
    desk = visit.site.desk.file if query.marked is not None else None
    table = ARTICLES if desk is None else MARKED_ARTICLES
    try:
        columns = table.check_columns(named or (FRONT_MATTER if form == "markdown" else SHORT))
        found = EveryMatch(
            visit.read,
            query,
            options,
            time.time(),
            is_ranked=order == "shown",
            reprints=visit.text("reprints") == "1",
        )
        steps = _File(visit, form, columns, found, limit=limit, desk=desk).steps()
        first = next(steps)
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    headers = {
        "Content-Disposition": f'attachment; filename="search.{FORMATS[form].ending}"',
        "Content-Security-Policy": NOTHING_RUNS,
    }
    if visit.request.method == "HEAD":
        return Response(headers=headers, media_type=FORMATS[form].media)
    return StreamingResponse(_streamed(visit, first, steps), headers=headers, media_type=FORMATS[form].media)


class _File:
    """A file that is written step by step; only what was written last is kept."""

    def __init__(
        self,
        visit: Visit,
        form: str,
        columns: tuple[str, ...],
        found: EveryMatch,
        *,
        limit: int,
        desk: DeskFile | None,
    ) -> None:
        self._visit = visit
        self._form = form
        self._columns = columns
        self._read = columns_read(form, columns, are_articles=True)
        self._found = found
        self._limit = limit
        self._desk = desk

    def steps(self) -> Iterator[list[bytes]]:
        """Yield pieces of the file, a step of reading for each list."""
        with tempfile.TemporaryFile() as scratch:
            file = cast("BinaryIO", scratch)
            begin = BOM if self._form == "csv" else b""
            with row_writer(self._form, file, MARKED_ARTICLES.record, self._columns, self._read, begin=begin) as writer:
                yield _taken(file)
                for _ in self._written(writer):
                    yield _taken(file)
            file.seek(0)
            while piece := file.read(_CHUNK):  # a workbook is written as a whole, at its end
                yield [piece]

    def _written(self, writer: RowWriter) -> Iterator[None]:
        left = self._limit
        for ids in self._found:
            rows = self._visit.read(partial(self._rows, ids[: left + 1]))
            writer.write([row for _, row in rows[:left]])
            yield
            if len(rows) > left:
                writer.remark(
                    f"There are more than these {self._limit:,} articles. A server writes at most {MOST_ROWS:,}: "
                    "narrow the search, or use scrapy export articles --query."
                )
                return
            left -= len(rows)
        for note in self._found.notes:
            writer.remark(f"Not all: {note}.")

    def _rows(self, ids: Sequence[int], connection: ReadConnection) -> Sequence[Row]:
        return with_marks(self._desk, lambda names: articles_in_order(connection, names, ids), self._read)


def _taken(file: BinaryIO) -> list[bytes]:
    file.seek(0)
    content = file.read()
    file.seek(0)
    file.truncate()
    return [content]


async def _streamed(visit: Visit, first: list[bytes], steps: Iterator[list[bytes]]) -> AsyncIterator[bytes]:
    pieces: list[bytes] | None = first
    try:
        while pieces is not None:
            for piece in pieces:
                if piece:
                    yield piece
            pieces = await visit.site.workers.run(partial(next, steps, None), _nothing, visit.cancellation)
    finally:
        await asyncio.to_thread(_close, steps)


async def _nothing() -> Message:
    """Wait for ever: the response itself notes when its reader leaves."""
    await asyncio.Event().wait()
    raise AssertionError


def _close(steps: Iterator[list[bytes]]) -> None:
    try:
        cast("Iterator[list[bytes]] | object", steps).close()  # type: ignore[union-attr]
    except ValueError:  # a step is still being interrupted, and ends by itself
        return
