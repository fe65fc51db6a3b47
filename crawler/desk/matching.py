"""Match what was stored since with the saved searches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import parse_qs

from db.desk import outbox, searches
from db.desk.file import DeskFile
from db.desk.marks import MarkIndex
from db.engine.database import Query
from db.records.desk import FoundHits, MarkedArticles, SavedSearch, SearchHit
from db.search import find
from pipelines.search.query import asks_for_marks
from pipelines.search.records import SearchQuery, several_values
from pipelines.search.stored import StandingQuery, Stored

logger = logging.getLogger(__name__)

T = TypeVar("T")
Read = Callable[[Query[Any]], Any]
"""Runs a query on a read-only connection to the crawl's database."""

AT_ONCE = 500
_TEXT = "q"
_PERIOD = ("since", "until")


def query_of(parameters: str, marked: MarkedArticles | None = None) -> SearchQuery:
    """Read the parameters of a search page.

    Those that only arrange the page, as its sort, make no difference. `marked` are the marks that it may ask for.

    >>> query_of("q=port&site=a.test&site=b.test&page=3").either
    (('site', 'b.test'),)
    """
    given = parse_qs(parameters)
    conditions: dict[str, Any] = {name: given[name][-1] for name in _PERIOD if name in given}
    values = several_values(lambda name: given.get(name, []))
    return SearchQuery(given.get(_TEXT, [""])[-1], **conditions, **values, marked=marked)


def catch_up(desk: DeskFile, read: Read, now: float) -> bool:
    """Match articles stored since with all saved searches; True if more may be left.

    At most `AT_ONCE` are read.
    May run in several processes at once: what one has found, another does not write again.

    Cost: 10 ms for 500 articles and a search whose words they lack.
    """
    with desk.reading() as connection:
        saved = searches.all_searches(connection)
    if not saved:
        return False
    first = min(one.position for one in saved)
    stored: Sequence[Stored] = read(lambda connection: find.stored_after(connection, first, AT_ONCE))
    if not stored:
        return False
    last = stored[-1][0]
    marks = MarkIndex(desk)
    found = [FoundHits(one.id, last, _hits(one, read, marks, stored, now)) for one in saved if one.position < last]
    with desk.writing() as connection:
        outbox.record(connection, found)
    return len(stored) == AT_ONCE


def _hits(saved: SavedSearch, read: Read, marks: MarkIndex, stored: Sequence[Stored], now: float) -> list[SearchHit]:
    fresh = [one for one in stored if one[0] > saved.position]
    try:
        asked = query_of(saved.query)
        if asks_for_marks(asked):
            asked = replace(asked, marked=marks.marked([read]))
        query = StandingQuery(asked)
        hits: list[SearchHit] = read(lambda connection: query.among(connection, fresh, now))
    except ValueError as wrong:  # it was right when it was saved; another version may read it otherwise
        logger.warning("The saved search %r finds nothing: %s", saved.name, wrong)
        return []
    return hits
