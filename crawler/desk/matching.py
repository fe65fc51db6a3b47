"""Match what was stored since with the saved searches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qs

from db.desk import outbox, searches
from db.desk.file import DeskFile
from db.engine.database import Query
from db.records.desk import FoundHits, SavedSearch, SearchHit
from db.search import find
from pipelines.search.records import SearchQuery, several_values
from pipelines.search.stored import StandingQuery, Stored

logger = logging.getLogger(__name__)

T = TypeVar("T")
Read = Callable[[Query[Any]], Any]
"""Runs a query on a read-only connection to the crawl's database."""

AT_ONCE = 500
_TEXT = "q"
_PERIOD = ("since", "until")


def query_of(parameters: str) -> SearchQuery:
    """Read the parameters of a search page.

    Those that only arrange the page, as its sort, make no difference.

    >>> query_of("q=port&site=a.test&site=b.test&page=3").either
    (('site', 'b.test'),)
    """
    given = parse_qs(parameters)
    conditions: dict[str, Any] = {name: given[name][-1] for name in _PERIOD if name in given}
    return SearchQuery(given.get(_TEXT, [""])[-1], **conditions, **several_values(lambda name: given.get(name, [])))


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
    found = [FoundHits(one.id, last, _hits(one, read, stored, now)) for one in saved if one.position < last]
    with desk.writing() as connection:
        outbox.record(connection, found)
    return len(stored) == AT_ONCE


def _hits(saved: SavedSearch, read: Read, stored: Sequence[Stored], now: float) -> list[SearchHit]:
    fresh = [one for one in stored if one[0] > saved.position]
    try:
        query = StandingQuery(query_of(saved.query))
        hits: list[SearchHit] = read(lambda connection: query.among(connection, fresh, now))
    except ValueError as wrong:  # it was right when it was saved; another version may read it otherwise
        logger.warning("The saved search %r finds nothing: %s", saved.name, wrong)
        return []
    return hits
