"""The timeline of a search as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from pipelines.export.cells import harmless
from pipelines.search.records import SearchResult
from pipelines.search.volume import Timeline

from ..frame.visit import Visit
from . import search, volume


def find(visit: Visit) -> tuple[SearchResult, Timeline]:
    """Search as the parameters say, and count what was found over time."""
    result = search.find(visit, replace(search.query_of(visit), limit=1, is_thorough=True))
    return result, volume.read(visit, result)


def show(visit: Visit) -> Response:
    _, one = find(visit)
    stack = visit.text("stack")
    head = [one.by, *(volume.band_name(visit, stack, band) for band in one.bands)]
    counts = [[band.counts[n] for band in one.bands] for n in range(len(one.starts))]
    return csv_answer(
        visit, "timeline.csv", [head, *([day, *row] for day, row in zip(one.starts, counts, strict=True))]
    )


def csv_answer(visit: Visit, name: str, rows: Iterable[Iterable[Any]]) -> Response:
    """Answer with a table that spreadsheets open without running anything in it."""
    text = io.StringIO()
    csv.writer(text).writerows([harmless(cell) for cell in row] for row in rows)
    response = visit.answer("\ufeff" + text.getvalue(), "text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
