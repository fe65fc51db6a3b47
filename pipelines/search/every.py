"""All articles that fulfil a query, step by step, for files.

A search ranks a bounded number of articles. Here those come first, as the search lists them, and then all others that
fulfil the query, the newest first; articles with only some of the words are left out. A search by time is in its order
to the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from db.search import find

from .conditions import filter_of
from .matching import Matcher, matcher_of
from .query import read_query
from .records import NEWEST, OLDEST, SearchQuery
from .search import SearchOptions, search

if TYPE_CHECKING:
    from db.engine.database import ReadConnection
    from db.records.search import SearchCandidate, SearchFilter

Read = Callable[[Callable[["ReadConnection"], Any]], Any]
"""Runs a query on a connection."""

MOST_CANDIDATES: Final = 20_000
"""Articles that are looked at besides the ranked ones, those stored last; in an order of time the first ones."""
_RANKED: Final = 2_000
_SHOWN: Final = 20
"""Hits of the first two pages, whose order depends on how many are read."""
_AT_ONCE: Final = 200


class EveryMatch:
    """The articles that fulfil a query, read as they are asked for.

    Each step is a transaction of its own. Of each story the first in the order is taken, with `reprints` all articles
    that fulfil the query. `is_ranked` puts first what the search ranks; else all are ordered by time. Memory: 16 bytes
    an article looked at.

    Raises:
        ValueError: the query or a time is wrong.
    """

    def __init__(
        self, read: Read, query: SearchQuery, options: SearchOptions, now: float, *, is_ranked: bool, reprints: bool
    ) -> None:
        self._read = read
        self._query = query
        self._options = options
        self._now = now
        self._reprints = reprints
        self._seen: set[int] = set()
        plan = read_query(query)
        # where words only rank, or related ones count, there is nothing to fulfil but what was ranked
        self._only_ranked = bool(plan.terms) and (plan.is_question or query.expand)
        by_time = {OLDEST: "oldest", NEWEST: "newest"}
        self._order: find.Order = by_time.get(query.sort) if is_ranked else "newest"  # type: ignore[assignment]
        self._is_shown = is_ranked
        self._is_ranked = is_ranked and self._order is None and bool(plan.terms or plan.parts)
        self.notes: list[str] = []
        self._first = self._ranked() if self._is_ranked or self._only_ranked else []
        self._admitted: SearchFilter
        self._matcher: Matcher
        self._places: Sequence[find.IndexPlace] = ()
        if not self._only_ranked:
            self._places = read(partial(self._prepare, plan.query, plan.required))
            if len(self._places) >= MOST_CANDIDATES:
                which = f"{self._order} articles" if self._order else "articles stored last"
                self.notes.append(f"only the {MOST_CANDIDATES:,} {which} were looked at")

    def __iter__(self) -> Iterator[list[int]]:
        """Yield ids of articles, some hundred at a time."""
        for start in range(0, len(self._first), _AT_ONCE):
            rows = self._read(partial(find.indexed, ids=self._first[start : start + _AT_ONCE]))
            rows_by_id = {row.article_id: row for row in rows}
            yield self._unseen([rows_by_id[key] for key in self._first[start : start + _AT_ONCE] if key in rows_by_id])
        for start in range(0, len(self._places), _AT_ONCE):
            numbers = [place.number for place in self._places[start : start + _AT_ONCE]]
            yield self._unseen(self._read(partial(self._matching, numbers)))

    def _ranked(self) -> list[int]:
        ids: dict[int, None] = {}
        for limit in (_SHOWN, _RANKED):
            result = self._read(lambda one: search(one, replace(self._query, limit=limit), self._options, self._now))  # noqa: B023
            ids |= dict.fromkeys(hit.id for hit in result.hits[: result.total])
            if result.total <= limit:
                break
        if self._is_shown:
            return list(ids)
        rows = self._read(partial(find.indexed, ids=list(ids)))
        return [row.article_id for row in sorted(rows, key=lambda row: (-row.time, -row.number))]

    def _prepare(self, query: SearchQuery, parts: Sequence[Any], connection: ReadConnection) -> list[find.IndexPlace]:
        self._admitted, _ = filter_of([connection], query, self._now)
        self._matcher, _ = matcher_of([connection], parts, query, self._now)
        admitted = self._admitted.among(self._matcher.ids)
        places = find.places(connection, self._matcher.need, admitted, MOST_CANDIDATES, self._order)
        return places if self._order else sorted(places, reverse=True)

    def _matching(self, numbers: Sequence[int], connection: ReadConnection) -> list[SearchCandidate]:
        rows = [row for row in find.documents(connection, numbers) if self._admitted.admits(row)]
        sign = 1 if self._order == "oldest" else -1
        return sorted(self._matcher.matching(connection, rows), key=lambda row: (sign * row.time, sign * row.number))

    def _unseen(self, rows: Sequence[SearchCandidate]) -> list[int]:
        found = []
        for row in rows:
            key = row.article_id if self._reprints else row.cluster_id
            if key not in self._seen:
                self._seen.add(key)
                found.append(row.article_id)
        return found
