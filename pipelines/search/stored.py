"""A query that is asked again and again, of what was stored since.

It finds what fulfils the whole query, as exports do: nothing is ranked, and what has only some of the words is not
found. The index gives what has the tokens, the texts decide the rest (`matching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from db.records.desk import SearchHit
from db.search import find

from .conditions import filter_of
from .matching import matcher_of
from .query import read_query
from .records import text_of
from .snippets import snippet

if TYPE_CHECKING:
    from db.engine.database import ReadConnection
    from db.records.search import FoundArticle, SearchCandidate

    from .records import SearchQuery

_SPARE = 4
_MOST_READ = 2_000
"""Articles that a feed is made of, at most: those that the index got last."""
Stored = tuple[int, "SearchCandidate"]
"""An article with its `article.number`."""


class StandingQuery:
    """A query in the language of `language.parse`.

    Raises:
        ValueError: it is wrong; the text says where.
    """

    def __init__(self, query: SearchQuery) -> None:
        self._plan = read_query(query)
        self.is_wordless = (
            bool(query.text.strip()) and not self._plan.terms and not self._plan.parts and self._plan.query == query
        )
        """It has a text of signs alone, and finds nothing."""

    def newest(self, connection: ReadConnection, most: int, now: float) -> list[int]:
        """Return the articles stored last that fulfil the query, one a story.

        The newest comes first. Of a story it is the one stored first. At most `_MOST_READ` articles are looked at.

        Cost: 10 ms for 50 articles of 1,000,000, and 0.2 ms for each whose text must be read.
        """
        admitted, _ = filter_of([connection], self._plan.query, now)
        if self.is_wordless:
            return []
        matcher, _ = matcher_of([connection], self._plan.parts, self._plan.query, now)
        admitted = admitted.among(matcher.ids)
        by_story: dict[int, int] = {}
        first = 0
        for limit in (_SPARE * most, _MOST_READ):
            some = find.matches(connection, matcher.need, admitted, limit)
            rows = sorted(some.rows, key=lambda row: -row.number)
            while first < len(rows) and len(by_story) < most:
                for row in matcher.matching(connection, rows[first : first + most]):
                    by_story[row.cluster_id] = row.article_id
                first += most
            if some.is_complete or len(by_story) >= most:
                break
        order = find.article_order(connection, list(by_story.values()))
        return sorted(order, key=lambda key: -order[key])[:most]

    def snippet(self, article: FoundArticle) -> str:
        """Return the passage of a text that has most of the words."""
        terms = self._plan.terms
        return text_of(snippet(article.text, terms, [term.weight for term in terms], article.language))

    def among(self, connection: ReadConnection, stored: Sequence[Stored], now: float) -> list[SearchHit]:
        """Return those of some articles that fulfil the query.

        Cost: 10 microseconds an article without its words, 0.2 ms one whose text must be read.
        """
        admitted, _ = filter_of([connection], self._plan.query, now)
        if self.is_wordless:
            return []
        matcher, _ = matcher_of([connection], self._plan.parts, self._plan.query, now)
        numbers = {one.number: number for number, one in stored}
        rows = [one for _, one in stored if admitted.admits(one)]
        has_need = find.having(connection, matcher.need, [one.number for one in rows]) if rows else set()
        fitting = matcher.matching(connection, [one for one in rows if one.number in has_need])
        return [SearchHit(one.article_id, numbers[one.number]) for one in fitting]
