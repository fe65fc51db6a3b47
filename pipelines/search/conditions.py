"""Conditions of a search as the index takes them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING

from db.records.desk import label_key
from db.records.search import SearchFilter
from db.search import find

from ..dates.period import Bound
from .periods import read_period
from .records import MARKS, ON, SearchQuery

if TYPE_CHECKING:
    from db.engine.database import ReadConnection

_MOST_LABELS = 6
"""Of a name of which no site is known: each is one more pass over the sites."""
_EPOCH = date(1970, 1, 1)
NO_MARKS = "there are no marks here to search by; leave out is:, label: and the filters of these names"


def filter_of(connections: Sequence[ReadConnection], query: SearchQuery, now: float) -> tuple[SearchFilter, list[str]]:
    """Return the conditions of a query, and sentences on how its site was understood.

    Raises:
        ValueError: a time cannot be read, or marks are asked for where there is no desk; the text says what is taken.
    """
    period = read_period(query.since, query.until, now)
    since, until = period.since, period.until
    notes: list[str] = []
    sites: list[int] | None = None
    for name in _values(query, "site"):
        keys, said = _sites(connections, name)
        sites = [*(sites or []), *keys]
        notes += said
    ids, without, said = _marked(query)
    notes += said
    for name, value in query.without:
        excluded, said = filter_of(connections, SearchQuery(either=((name, value),), marked=query.marked), now)
        without.append(excluded)
        notes += said
    admitted = SearchFilter(
        sites=sites,
        since=since.begins(now) if since is not None and since.day is None else None,
        until=until.ends(now) if until is not None and until.day is None else None,
        first_day=_day(since),
        last_day=_day(until),
        languages=_values(query, "language"),
        sources=_values(query, "source"),
        sections=_values(query, "section"),
        classes=_values(query, "classes"),
        without=tuple(without),
        ids=ids,
    )
    return admitted, notes


def _marked(query: SearchQuery) -> tuple[frozenset[int] | None, list[SearchFilter], list[str]]:
    """Return the ids that marks leave, those they exclude, and what is to be said."""
    asked = {name: values for name in ("label", *MARKS) if (values := _values(query, name))}
    if not asked:
        return None, [], []
    marked = query.marked
    if marked is None:
        raise ValueError(NO_MARKS)
    for name in asked.keys() & {*MARKS}:
        if asked[name] != (ON,):
            raise ValueError(f"{name} is {asked[name][0][:40]!r}; only {ON} is allowed")
    labels = {value: marked.labels.get(label_key(value)) for value in asked.get("label", ())}
    admitted = [frozenset[int]().union(*(ids for ids in labels.values() if ids))] if labels else []
    admitted += [ids for name, ids in (("starred", marked.starred), ("read", marked.read)) if name in asked]
    notes = [f"no article has the label {value!r}" for value, ids in labels.items() if ids is None]
    without = [SearchFilter(ids=marked.read)] if "unread" in asked else []
    return frozenset.intersection(*admitted) if admitted else None, without, notes


def _values(query: SearchQuery, name: str) -> tuple[str, ...]:
    """Return the values of a field, any of which will do."""
    given = (getattr(query, name), *(value for field, value in query.either if field == name))
    return tuple(dict.fromkeys(value.strip() for value in given if value.strip()))


def _sites(connections: Sequence[ReadConnection], given: str) -> tuple[list[int], list[str]]:
    name = given.strip().lower().partition("://")[2] or given.strip().lower()
    name = name.partition("/")[0].partition(":")[0].removeprefix("www.")
    with suppress(UnicodeError):
        name = name.encode("idna").decode() if not name.isascii() else name
    sites = _named(connections, name) if name else []
    labels = name.split(".")[-_MOST_LABELS:]
    while not sites and len(labels) > 2:  # a host of a site
        labels = labels[1:]
        name = ".".join(labels)
        sites = _named(connections, name)
    notes = []
    if not sites:
        notes.append(f"no site has {given.strip()!r} in its name")
    elif len(sites) > 1 or sites[0][1] != name:
        notes.append(f"site: {_some([each for _, each in sites])}")
    return [key for key, _ in sites], notes


def _named(connections: Sequence[ReadConnection], name: str) -> list[tuple[int, str]]:
    """Return the sites of a name, or when there is none those with it in theirs."""
    sites = [site for one in connections for site in find.sites(one, name)]
    return [site for site in sites if site[1] == name] or sites


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _day(bound: Bound | None) -> int | None:
    return None if bound is None or bound.day is None else (bound.day - _EPOCH).days
