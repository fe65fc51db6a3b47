"""All values of a facet, to choose several from."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from starlette.responses import Response

from pipelines.search.records import VALUED

from ..frame.visit import Visit
from . import search

_MOST_SHOWN: Final = 500
_MOST_SOUGHT: Final = 60


def show(visit: Visit) -> Response:
    """Show the values that a search has, whatever is chosen of this facet now."""
    name = visit.choice("facet", search.FACETS, search.FACETS[0])
    sought = visit.text("find", _MOST_SOUGHT)
    query = search.query_of(visit)
    either = tuple(each for each in query.either if each[0] != name)
    without = tuple(each for each in query.without if each[0] != name)
    free = {"since": "", "until": ""} if name == "month" else {name: ""}
    wider = replace(query, either=either, without=without, **free, limit=1, is_thorough=True)  # type: ignore[arg-type]
    result = search.find(visit, wider)
    t = visit.language
    shown = [(value, t.named(name, value), count) for value, count in result.facets.get(name, ())]
    fitting = [each for each in shown if sought.casefold() in f"{each[0]}\n{each[1]}".casefold()]
    kept = [
        (key, value)
        for key, value in visit.request.query_params.multi_items()
        if value and key in {"q", "since", "until", "sort", "expand", *VALUED, *(f"-{n}" for n in VALUED)}
    ]
    links = [(label, search.link_of(visit, query, name, value, count)) for value, label, count in fitting[:_MOST_SHOWN]]
    listed = {link.value for _, link in links}
    chosen = search.values_of(query, name) if name in VALUED else []
    return visit.page(
        "values.html",
        section="search",
        name=name,
        sought=sought,
        links=links,
        total=len(fitting),
        all_values=len(shown),
        has_boxes=name in VALUED,
        kept=kept,
        others=[(key, value) for key, value in kept if key != name],
        hidden_chosen=[value for value in chosen if value not in listed],
        is_exact=result.is_exact,
        back=visit.here("/", facet=None, find=None),
    )
