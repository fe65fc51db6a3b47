"""The way from an article to the search that found it and its neighbours there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pipelines.search.query import read_query
from pipelines.search.records import SearchQuery
from pipelines.search.snippets import marker

from ..frame.body import Mark
from ..frame.visit import BadRequest, Visit
from . import search


@dataclass(frozen=True, slots=True)
class Way:
    """URLs of the results, and of the articles before and behind this one."""

    back: str
    previous: str | None
    following: str | None


def find_way(visit: Visit, query: SearchQuery, article_id: int) -> Way | None:
    """Return the way back to the search that the URL names; None without one.

    Cost: a search; at the ends of a page of results two.
    """
    size = visit.whole("limit", search.SIZES[0], 1, search.SIZES[-1])
    page = visit.whole("page", 1, 1, search.MOST_PAGE)
    if query == SearchQuery() and (size, page) == (search.SIZES[0], 1):
        return None
    back = visit.here("/")
    try:
        ids = _ids(visit, query, size, page)
        if article_id not in ids:
            return Way(back, None, None)
        place = ids.index(article_id)
        before, behind = ids[:place], ids[place + 1 :]
        previous = (before[-1], page) if before else None
        following = (behind[0], page) if behind else None
        if previous is None and page > 1 and (others := _ids(visit, query, size, page - 1)):
            previous = others[-1], page - 1
        if following is None and page < search.MOST_PAGE and (others := _ids(visit, query, size, page + 1)):
            following = others[0], page + 1
    except BadRequest:
        return Way(back, None, None)
    return Way(back, _link(visit, previous), _link(visit, following))


def mark_of(query: SearchQuery, text: str, language: str) -> Mark | None:
    """Return the function that marks the words of a query; None without any."""
    try:
        terms = read_query(query).terms
    except ValueError:
        return None
    return marker(text, terms, language) if terms else None


def _ids(visit: Visit, query: SearchQuery, size: int, page: int) -> list[int]:
    result = search.find(visit, replace(query, limit=size, offset=(page - 1) * size))
    return [hit.id for hit in result.hits]


def _link(visit: Visit, place: tuple[int, int] | None) -> str | None:
    if place is None:
        return None
    key, page = place
    return visit.here(f"/article/{key}", page=page if page > 1 else None)
