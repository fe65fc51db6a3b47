"""The search page."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from starlette.responses import Response

from db.desk.marks import DEEDS
from db.records.desk import ArticleMarks, label_key
from pipelines.search.records import MARKS, RELEVANCE, SORTS, VALUED, SearchQuery, SearchResult, several_values
from pipelines.search.search import SearchOptions, search

from ..frame.file_forms import offered
from ..frame.visit import VIEWS, BadRequest, Visit
from . import volume
from .marks import DONE, MOST_AT_ONCE

FILTERS: Final = ("site", "source", "section", "classes", "language", "label", *MARKS, "since", "until")
FACETS: Final = ("label", "site", "source", "section", "classes", "language", "month")
PERIODS: Final = ("24h", "7d", "30d", "365d")
SIZES: Final = (10, 20, 50)
_LISTED: Final = 30
"""Hits of a page in the form of a list."""
MOST_PAGE: Final = 50
OPERATORS: Final[Sequence[tuple[str, str, str]]] = (
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
    ("marks", "is:unread label:待读", 'is:starred -is:read label:"to read"'),
)
"""Operators of the query language, each with examples in Chinese and English."""
_MOST_FILTER = 300
_MOST_FACETS = 8


@dataclass(frozen=True, slots=True)
class FacetLink:
    """A value that narrows the search; an active one links to the wider search.

    `without` links to the search without articles of this value.
    """

    value: str
    articles: int
    href: str
    is_on: bool
    without: str | None


@dataclass(frozen=True, slots=True)
class _Chip:
    """A filter that is set, and the URL of the search without it."""

    name: str
    value: str
    href: str
    is_excluding: bool


def show(visit: Visit) -> Response:
    size = visit.whole("limit", _LISTED if visit.view == "list" else SIZES[0], 1, SIZES[-1])
    page = visit.whole("page", 1, 1, MOST_PAGE)
    query = replace(query_of(visit), limit=size, offset=(page - 1) * size, is_thorough=True)
    try:
        result, refused = find(visit, query), ""
    except BadRequest as wrong:
        result, refused = SearchResult((), 0, is_exact=True, facets={}), str(wrong)
    chips = list(chips_of(visit, query))
    last = min(MOST_PAGE, -(-result.listed // size))
    can_mark = not visit.site.desk.objection()
    response = visit.page(
        "search.html",
        status=400 if refused else 200,
        refused=refused,
        section="search",
        query=query,
        result=result,
        chips=chips,
        hidden=[(chip.name if not chip.is_excluding else f"-{chip.name}", chip.value) for chip in chips],
        facets={name: links for name in FACETS if (links := list(_links(visit, query, result, name)))},
        all_values={name: _all_values(visit, result, name) for name in FACETS},
        sorts=[(each, visit.here(page=None, sort=each)) for each in SORTS if each != RELEVANCE or query.text],
        sort=query.sort or (SORTS[0] if query.text else SORTS[1]),
        views=[(each, visit.here(page=None, view=each)) for each in VIEWS],
        timeline=None if refused else volume.picture(visit, query, result),
        compare=visit.here("/compare", page=None, limit=None, sort=None, stack=None),
        periods=[(each, visit.here(page=None, since=each, until=None), query.since == each) for each in PERIODS],
        has_filter=bool(chips),
        wider=visit.here(page=None, **dict.fromkeys((*FILTERS, *(f"-{name}" for name in VALUED)))),
        expanded=visit.here(page=None, expand=None if query.expand else "1"),
        feed=visit.here("/feed.atom", page=None, limit=None, sort=None),
        exports=[(form, visit.here("/api/export", page=None, limit=None, format=form)) for form in offered()],
        saves=visit.here("/", page=None, limit=None).partition("?")[2] if can_mark else None,
        can_mark=can_mark,
        marks=visit.site.desk.marks_of([hit.url for hit in result.hits]),
        unmarked=ArticleMarks(),
        marked_facets=[
            (name, link)
            for name in MARKS
            for value, articles in result.facets.get(name, ())
            if (link := link_of(visit, query, name, value, articles))
        ],
        label_names=[] if query.marked is None else sorted(query.marked.names.values(), key=label_key),
        this_search=visit.here("/").partition("?")[2],
        most_marked=MOST_AT_ONCE,
        done=_done(visit),
        page=page,
        first_partial=result.listed - result.partial - query.offset if result.partial else None,
        operators=[each for each in OPERATORS if each[0] != "marks" or query.marked is not None],
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
    filters: dict[str, Any] = {name: visit.text(name, _MOST_FILTER) for name in FILTERS if name not in VALUED}
    return SearchQuery(
        visit.beginning("q"),
        **filters,
        **several_values(lambda name: visit.texts(name, _MOST_FILTER)),
        expand=visit.text("expand", _MOST_FILTER) == "1",
        sort=visit.choice("sort", SORTS, ""),
        marked=visit.site.desk.marked(visit.read),
    )


def _done(visit: Visit) -> tuple[str, int, int] | None:
    """Return the deed of a form, and with how many articles it was done and not."""
    # not by `visit.text`: links of the page do not repeat them
    marked, deed, full = (visit.request.query_params.get(name, "0") for name in DONE)
    is_said = deed in DEEDS and all(each.isascii() and each.isdecimal() and len(each) < 6 for each in (marked, full))
    return (deed, int(marked), int(full)) if is_said else None


def values_of(query: SearchQuery, name: str) -> list[str]:
    """Return the values that a filter has."""
    first = getattr(query, name)
    return [*([first] if first else []), *(value for field, value in query.either if field == name)]


def chips_of(visit: Visit, query: SearchQuery) -> Iterator[_Chip]:
    """Yield the filters that are set, each with the way to the search without it."""
    for name in FILTERS:
        values = values_of(query, name)
        for value in values:
            changes: dict[str, Any] = {name: [each for each in values if each != value]}
            yield _Chip(name, value, visit.here(page=None, **changes), is_excluding=False)
    for name in VALUED:
        values = [value for field, value in query.without if field == name]
        for value in values:
            changes = {f"-{name}": [each for each in values if each != value]}
            yield _Chip(name, value, visit.here(page=None, **changes), is_excluding=True)


def options_of(visit: Visit, query: SearchQuery) -> SearchOptions:
    """Return the configured weights, and what readers have read."""
    readers = visit.site.readers
    return replace(visit.site.options.search, clicks=readers.relevances(query.text), readers=readers.counts)


def find(visit: Visit, query: SearchQuery, options: SearchOptions | None = None) -> SearchResult:
    """Search, by default with the configured weights and what readers have read.

    Raises:
        BadRequest: the query or a time is wrong.
    """
    chosen = options or options_of(visit, query)
    try:
        result = visit.read(lambda connection: search(connection, query, chosen, time.time()))
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None
    if "q" in visit.cut:
        notes = f"only the first {len(query.text):,} characters of the query were read", *result.notes
        result = replace(result, notes=notes)
    return result


def _links(visit: Visit, query: SearchQuery, result: SearchResult, name: str) -> Iterator[FacetLink]:
    for value, articles in result.facets.get(name, ())[:_MOST_FACETS]:
        yield link_of(visit, query, name, value, articles)


def link_of(visit: Visit, query: SearchQuery, name: str, value: str, articles: int) -> FacetLink:
    """Return a value of a facet with the searches for it and without it."""
    if name == "month":
        is_on = query.since == query.until == value
        href = visit.here("/", page=None, since=None if is_on else value, until=None if is_on else value)
        return FacetLink(value, articles, href, is_on, None)
    values = values_of(query, name)
    is_on = value in values
    others = [each for each in values if each != value]
    href = visit.here("/", page=None, **{name: others if is_on else [*values, value]})
    excluded = [each for field, each in query.without if field == name]
    without = visit.here("/", page=None, **{name: others, f"-{name}": list(dict.fromkeys([*excluded, value]))})
    return FacetLink(value, articles, href, is_on, without)


def _all_values(visit: Visit, result: SearchResult, name: str) -> str | None:
    """Return the URL of all values of a facet if there may be more."""
    has_more = len(result.facets.get(name, ())) > _MOST_FACETS
    is_on = any(visit.request.query_params.getlist(each) for each in (name, f"-{name}"))
    return visit.here("/values", page=None, limit=None, facet=name) if has_more or is_on else None
