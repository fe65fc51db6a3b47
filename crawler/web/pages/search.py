"""The search page."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from pipelines.search.records import SearchQuery, SearchResult
from pipelines.search.search import SearchOptions, search

from ..frame.visit import BadRequest, Visit

FILTERS: Final = ("site", "source", "section", "classes", "language", "since", "until")
FACETS: Final = ("site", "source", "section", "classes", "language", "month")
PERIODS: Final = ("24h", "7d", "30d", "365d")
SIZES: Final = (10, 20, 50)
MOST_PAGE: Final = 50
OPERATORS: Final = (
    ("words", "台风 停电", "storm ferry"),
    ("phrase", "“航运公司”", '"climate change"'),
    ("without", "港口 -招聘", "port -strike"),
    ("or", "(港口 OR 码头) AND 航运", "(port OR harbour) AND ferry"),
    ("title", "title:港口", "title:(port OR ferry)"),
    ("author", "author:李四", 'author:"Ada Byron"'),
    (
        "where",
        "site:example.com source:新华社 class:finance lang:zh",
        "site:example.com source:Herald class:sport lang:en",
    ),
    ("when", "after:2024-05 before:2024年6月", "after:2024-05-01 before:2024-06"),
    ("near", "near:5(港口 台风)", "near:5(port storm)"),
)
"""Operators of the query language, each with examples in Chinese and English."""
_MOST_FILTER = 300
_MOST_FACETS = 8


@dataclass(frozen=True, slots=True)
class _FacetLink:
    """A value that narrows the search; an active one links to the wider search."""

    value: str
    articles: int
    href: str
    is_on: bool


def show(visit: Visit) -> Response:
    size = visit.whole("limit", SIZES[0], 1, SIZES[-1])
    page = visit.whole("page", 1, 1, MOST_PAGE)
    query = replace(query_of(visit), limit=size, offset=(page - 1) * size)
    try:
        result, refused = find(visit, query), ""
    except BadRequest as wrong:
        result, refused = SearchResult((), 0, is_exact=True, facets={}), str(wrong)
    narrowed = [name for name in FILTERS if getattr(query, name)]
    last = min(MOST_PAGE, -(-(result.total + result.partial) // size))
    response = visit.page(
        "search.html",
        status=400 if refused else 200,
        refused=refused,
        section="search",
        query=query,
        result=result,
        filters=[(name, getattr(query, name), visit.here(page=None, **{name: None})) for name in narrowed],
        facets={name: links for name in FACETS if (links := list(_links(visit, query, result, name)))},
        periods=[(each, visit.here(page=None, since=each, until=None), query.since == each) for each in PERIODS],
        has_filter=bool(narrowed),
        wider=visit.here(page=None, **dict.fromkeys(FILTERS)),
        expanded=visit.here(page=None, expand=None if query.expand else "1"),
        feed=visit.here("/feed.atom", page=None, limit=None),
        saves=None if visit.site.desk.objection() else visit.here("/", page=None, limit=None).partition("?")[2],
        page=page,
        first_partial=result.total - query.offset if result.partial else None,
        operators=OPERATORS,
        previous=visit.here(page=page - 1) if page > 1 else None,
        following=visit.here(page=page + 1) if page < last else None,
        strongest=max((value for hit in result.hits for value in hit.signals.values()), default=0),
    )
    if "hx-request" in visit.request.headers:
        response.headers["HX-Push-Url"] = visit.here()  # without the empty fields of the form
    visit.note_hits(response, query.text, [hit.id for hit in result.hits], query.offset)
    return response


def query_of(visit: Visit) -> SearchQuery:
    """Return the search described by the URL's parameters.

    Raises:
        BadRequest: a parameter is too long.
    """
    filters: dict[str, Any] = {name: visit.text(name, _MOST_FILTER) for name in FILTERS}
    return SearchQuery(visit.beginning("q"), **filters, expand=visit.text("expand", _MOST_FILTER) == "1")


def find(visit: Visit, query: SearchQuery, options: SearchOptions | None = None) -> SearchResult:
    """Search, by default with the configured weights and what readers have read.

    Raises:
        BadRequest: the query or a time is wrong.
    """
    if options is None:
        readers = visit.site.readers
        clicks = readers.relevances(query.text)
        options = replace(visit.site.options.search, clicks=clicks, readers=readers.counts)
    try:
        result = visit.read(lambda connection: search(connection, query, options, time.time()))
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    if "q" in visit.cut:
        notes = f"only the first {len(query.text):,} characters of the query were read", *result.notes
        result = replace(result, notes=notes)
    return result


def _links(visit: Visit, query: SearchQuery, result: SearchResult, name: str) -> Iterator[_FacetLink]:
    for value, articles in result.facets.get(name, ())[:_MOST_FACETS]:
        narrowed = _narrowed(name, value)
        is_on = all(getattr(query, key) == each for key, each in narrowed.items())
        changes: Mapping[str, str | None] = dict.fromkeys(narrowed) if is_on else narrowed
        yield _FacetLink(value, articles, visit.here(page=None, **changes), is_on)


def _narrowed(name: str, value: str) -> dict[str, str | None]:
    """Return the parameters that narrow a search to a facet's value.

    >>> _narrowed("month", "2024-05")
    {'since': '2024-05', 'until': '2024-05'}
    """
    return {"since": value, "until": value} if name == "month" else {name: value}
