"""Search: from a query to the best stories, their snippets and facets.

The full-text index gives a bounded number of candidates (`db.search.find`), which are ranked here by their packed
terms, by freshness, links and clicks. Of a cluster of duplicates the article that fits best is shown.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import reduce
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from db.records.article import split_names
from db.records.search import CandidateSet, FoundArticle, SearchCandidate, SearchFilter
from db.search import find
from db.search.index import has_form

from .clicks import NEUTRAL
from .conditions import filter_of
from .expansion import Params as Expansion
from .expansion import SynonymsOf, related_words, synonyms
from .matching import Matcher, matcher_of
from .query import QueryTerm, read_query
from .ranking import likeness, passage, score, weigh
from .records import (
    NEWEST,
    OLDEST,
    ON,
    RELEVANCE,
    REPRINTED,
    SIGNALS,
    SORTS,
    Facet,
    Hit,
    SearchQuery,
    SearchResult,
    Volume,
)
from .snippets import mark, snippet
from .terms import is_current, unpack

if TYPE_CHECKING:
    from db.engine.database import ReadConnection

Values = npt.NDArray[np.float64]

FACETS = ("site", "language", "source", "section", "classes", "month")
_CANDIDATES = 600
_COUNTED = 10_000
"""Articles that are sorted otherwise than by relevance, or counted, at most: those that were indexed last."""
_VERIFIED = 2_000
"""Articles that may fulfil an expression, the newest, which are looked at."""
_NEAR = 1_000
"""The same where they are looked at for nearness."""
_ENOUGH = 10
"""Stories with all words, of which fewer are followed by stories with some."""
_READ = 20
"""Best stories whose texts and links count."""
_READ_MOST = 100
"""The same where later pages are asked for."""
_LIKED = 5
"""Best stories whose terms tell of the subject, where no operator is used."""
_OLD_INDEX = "the index is of an older version, which finds fewer spellings; scrapy search --rebuild makes it anew"
_DAY = 86_400.0
_HALF_LIFE = 30 * _DAY
_HALF_HOT = 10
_MOST_FACETS = 20
_GRAPH = ("pagerank", "blockrank", "siterank", "hits", "opic")


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Weights of `SIGNALS`, relevances by clicks, readers of articles, synonyms."""

    weights: Mapping[str, float] = field(default_factory=dict)
    clicks: Mapping[int, float] = field(default_factory=dict)
    readers: Mapping[int, int] = field(default_factory=dict)
    synonyms: SynonymsOf = field(default_factory=dict)

    def weight(self, signal: str) -> float:
        return self.weights.get(signal, SIGNALS[signal])


def search(
    connection: ReadConnection,
    query: SearchQuery,
    options: SearchOptions,
    now: float,
    others: Sequence[ReadConnection] = (),
) -> SearchResult:
    """Return the stories that fit a query best.

    How rare a word is counts over the databases of `others`, too, so the order is that of one database with the same
    articles. Cost: with 1,000,000 articles 10 to 40 ms a database. `ValueError` says what times are taken.
    """
    return _Search((connection, *others), query, options, now).run()


def count_by_day(connection: ReadConnection, query: SearchQuery, now: float) -> SearchResult:
    """Count the stories of a search by day: total and volume.

    The volume has no sites and languages. Cost: 2 microseconds an article; as `search` does where texts must be
    read. `ValueError` as there.
    """
    return _Search((connection,), replace(query, sort=NEWEST, limit=1, is_thorough=True), SearchOptions(), now).by_day()


@dataclass(frozen=True, slots=True)
class _Ranked:
    rows: Sequence[SearchCandidate]
    order: Sequence[int]
    scores: Values
    signals: Mapping[str, Values]
    weights: Values = field(default_factory=lambda: np.zeros(0))
    texts: Mapping[int, FoundArticle] = field(default_factory=dict)
    full: int | None = None
    """Articles at the beginning of `order` that fulfil the query; None for all."""


class _Search:
    def __init__(
        self, connections: Sequence[ReadConnection], query: SearchQuery, options: SearchOptions, now: float
    ) -> None:
        self._connections = connections
        self._plan = read_query(query)
        self._query = self._plan.query
        if self._query.sort not in {"", *SORTS}:
            raise ValueError(f"sort is {self._query.sort[:40]!r}; {', '.join(SORTS[:-1])} and {SORTS[-1]} are allowed")
        is_ranked = self._query.sort in {"", RELEVANCE} and bool(self._plan.terms)
        self._sort = RELEVANCE if is_ranked else NEWEST if self._query.sort == RELEVANCE else self._query.sort or NEWEST
        self._options = options
        self._now = now
        self._notes = list(self._plan.notes)
        self._also: list[str] = []

    def run(self) -> SearchResult:
        terms, parts = self._plan.terms, self._plan.required
        admitted, notes = filter_of(self._connections, self._query, self._now)
        self._notes += notes
        if terms and not all(has_form(one, is_current) for one in self._connections):
            self._notes.append(_OLD_INDEX)
        if not terms and not parts and self._query.text.strip():
            self._notes.append("the query has no word in it")
            return SearchResult((), 0, is_exact=True, facets={}, notes=self._notes)
        if self._sort != RELEVANCE:
            rows, is_complete = self._sorted(admitted)
            return self._result(_unranked(rows, terms), is_complete=is_complete)
        full = self._full(admitted) if parts else None
        if full is None or not (self._plan.is_exact or _stories_of(full.rows) >= _ENOUGH):
            candidates = self._candidates(terms, admitted)
        else:
            candidates = full
        ranked = self._ranked(candidates if full is None else _with(candidates, full), full)
        if self._query.expand and not self._plan.is_exact and (related := self._related(ranked)):
            self._also = [term.written for term in related]
            self._plan = replace(self._plan, terms=(*terms, *related))
            full = None
            candidates = self._candidates(self._plan.terms, admitted)
            ranked = self._ranked(candidates, full)
        counted = (full or candidates).is_complete
        if self._query.is_thorough and not counted and not self._also:
            matching = self._matching(admitted, _COUNTED)
            if matching is not None:
                return self._result(ranked, is_complete=matching.is_complete, counted=matching.rows)
        return self._result(ranked, is_complete=counted)

    def by_day(self) -> SearchResult:
        admitted, _ = filter_of(self._connections, self._query, self._now)
        matcher, _ = matcher_of(self._connections, self._plan.required, self._query, self._now)
        has_words = self._plan.terms or self._plan.parts or not self._query.text.strip()
        if not (has_words and admitted.is_marked and matcher.is_decided_by_index):
            return self.run()
        places = find.places(self._connections[0], self._need(matcher), admitted, _COUNTED)
        latest: dict[int, int] = {}
        for place in sorted(places, reverse=True):
            latest.setdefault(place.cluster_id, place.day)
        volume = [Volume(day, "", "", stories) for day, stories in sorted(Counter(latest.values()).items())]
        return SearchResult((), len(latest), len(places) < _COUNTED, {}, volume=volume)

    def _full(self, admitted: SearchFilter, order: find.Order = None) -> CandidateSet:
        """Return articles that fulfil the query: the newest, or the first in an order."""
        matcher, notes = matcher_of(self._connections, self._plan.required, self._query, self._now)
        self._notes += notes
        admitted = admitted.among(matcher.ids)
        counted = [token for term in self._plan.terms for token in term.tokens]
        most = _CANDIDATES if not self._plan.is_exact else _NEAR if matcher.has_nearness else _VERIFIED
        found = []
        for connection in self._connections:
            some = find.matches(connection, matcher.need, admitted, most, counted, order=order)
            found.append(replace(some, rows=matcher.matching(connection, some.rows)))
        return reduce(add, found)

    def _candidates(self, terms: Sequence[QueryTerm], admitted: SearchFilter) -> CandidateSet:
        telling = [term.tokens for term in terms if term.is_word or term.is_related] or [term.tokens for term in terms]
        counted = [token for term in terms for token in term.tokens]
        return reduce(add, (find.candidates(one, telling, admitted, _CANDIDATES, counted) for one in self._connections))

    def _related(self, ranked: _Ranked) -> list[QueryTerm]:
        """Return terms of synonyms, and of words that go with those of the query."""
        params = Expansion()
        asked = [term.written or self._query.text[term.start : term.end] for term in self._plan.terms if term.is_word]
        texts = [f"{one.title}\n{one.text}" for one in ranked.texts.values()]
        found = dict(related_words(asked, texts, params)) | dict(synonyms(asked, self._options.synonyms, params))
        terms = []
        for word, similarity in sorted(found.items(), key=lambda one: -one[1]):
            for term in read_query(SearchQuery(word, language=self._query.language)).terms:
                if term.is_word:
                    weight = params.weight * similarity * term.weight
                    terms.append(term._replace(weight=weight, is_word=False, written=word, is_related=True))
        return terms

    # ---------------------------------------------------------------- in another order

    def _sorted(self, admitted: SearchFilter) -> tuple[Sequence[SearchCandidate], bool]:
        """Return the articles that match in order, and whether these are all."""
        is_many = self._query.is_thorough or bool(self._query.sort)
        most = _COUNTED if is_many else max(_CANDIDATES, 2 * (self._query.offset + self._query.limit))
        if not (self._plan.terms or self._plan.required or admitted) and self._sort in {NEWEST, OLDEST}:
            return self._by_time(most)
        first: find.Order = {OLDEST: "oldest", NEWEST: "newest"}.get(self._sort)  # type: ignore[assignment]
        candidates = self._matching(admitted, most, first) or self._full(admitted, first)
        if not candidates.is_complete and self._query.sort == REPRINTED:
            self._notes.append(f"only the {len(candidates.rows):,} articles that were indexed last are in this order")
        rows = candidates.rows
        if self._sort == REPRINTED:
            clusters = list({row.cluster_id for row in rows})
            sizes = {key: n for one in self._connections for key, n in find.cluster_sizes(one, clusters).items()}
            order = [(-sizes.get(row.cluster_id, 1), -row.time) for row in rows]
        else:
            order = [(0, row.time if self._sort == OLDEST else -row.time) for row in rows]
        keys = [(*key, row.article_id != row.cluster_id) for key, row in zip(order, rows, strict=True)]
        return [rows[n] for n in sorted(range(len(rows)), key=keys.__getitem__)][:most], candidates.is_complete

    def _by_time(self, most: int) -> tuple[Sequence[SearchCandidate], bool]:
        sign, read = (1, find.oldest) if self._sort == OLDEST else (-1, find.newest)
        by_database = [read(one, most) for one in self._connections]
        is_complete = all(len(rows) < most for rows in by_database)
        one_list = by_database[0] if len(by_database) == 1 else sorted(chain(*by_database), key=lambda r: sign * r.time)
        return one_list, is_complete

    def _matching(self, admitted: SearchFilter, most: int, order: find.Order = None) -> CandidateSet | None:
        """Return what matches, without terms; None if the index cannot decide."""
        matcher, _ = matcher_of(self._connections, self._plan.required, self._query, self._now)
        if matcher.is_decided_by_index:
            need = self._need(matcher)
            return reduce(add, (find.without_terms(one, need, admitted, most, order) for one in self._connections))
        if (halves := matcher.halves()) is None:
            return None
        found = []
        for connection in self._connections:
            sure = find.without_terms(connection, halves[0], admitted, most, order)
            some = find.matches(connection, halves[1], admitted, _VERIFIED, order=order)
            found += [sure, replace(some, rows=matcher.matching(connection, some.rows), documents=0)]
        return reduce(add, found)

    def _need(self, matcher: Matcher) -> find.Need:
        if self._plan.terms and not self._plan.required:  # a question, of whose words one will do
            telling = [term for term in self._plan.terms if term.is_word or term.is_related] or self._plan.terms
            return [[token for term in telling for token in term.tokens]]
        return matcher.need

    # ---------------------------------------------------------------- how well it fits

    def _ranked(self, candidates: CandidateSet, full: CandidateSet | None) -> _Ranked:
        rows, terms = candidates.rows, self._plan.terms
        weights = weigh(terms, candidates.frequencies, max(1, candidates.documents))
        packed = unpack(row.terms for row in rows)
        text = score(terms, weights, packed)
        signals = self._signals(rows, text / max(1e-9, float(text.max(initial=0.0))))
        is_full = _is_full(rows, full)
        read_most = max(_READ, min(_READ_MOST, self._query.offset + self._query.limit))
        best = self._stories(rows, _ordered(rows, is_full, _sum(signals)))[:read_most]
        texts = self._shown([rows[n].article_id for n in best])
        for n in best:
            one = texts.get(rows[n].article_id)
            if one is not None:
                signals["links"][n] = self._options.weight("links") * _link_score(one.score_parts)
                signals["updates"][n] = self._options.weight("updates") * update_frequency(one.changes, one.watched)
                text[n] += passage(terms, weights, one.text, one.language)
        if best and not self._plan.is_exact:
            text += likeness(terms, text, sorted(best, key=lambda n: -text[n])[:_LIKED], packed)
        signals["text"] = self._options.weight("text") * text / max(1e-9, float(text.max(initial=0.0)))
        scores = _sum(signals)
        order = _ordered(rows, is_full, scores)
        return _Ranked(rows, order, scores, signals, weights, texts, None if full is None else int(is_full.sum()))

    def _signals(self, rows: Sequence[SearchCandidate], text: Values) -> dict[str, Values]:
        options = self._options
        first: dict[int, int] = {}  # a story is as fresh as the first that had it
        for row in rows:
            first[row.cluster_id] = min(row.time, first.get(row.cluster_id, row.time))
        times = np.fromiter((first[row.cluster_id] for row in rows), np.float64, len(rows))
        read = (options.clicks.get(row.article_id, NEUTRAL) - NEUTRAL for row in rows)
        clicks = np.fromiter(read, np.float64, len(rows))
        freshness = np.exp2(-np.maximum(self._now - times, 0.0) / _HALF_LIFE)
        opened = np.fromiter((heat(options.readers.get(row.article_id, 0)) for row in rows), np.float64, len(rows))
        signals = {"text": text, "freshness": freshness, "clicks": clicks, "heat": opened}
        signals |= {name: np.zeros(len(rows)) for name in ("links", "updates")}
        return {name: options.weight(name) * values for name, values in signals.items()}

    @staticmethod
    def _stories(rows: Sequence[SearchCandidate], order: Sequence[int]) -> list[int]:
        stories: dict[int, int] = {}
        for n in order:
            stories.setdefault(rows[n].cluster_id, n)
        return list(stories.values())

    # ---------------------------------------------------------------- what is shown

    def _result(
        self, ranked: _Ranked, *, is_complete: bool, counted: Sequence[SearchCandidate] | None = None
    ) -> SearchResult:
        """Return hits, with counts of them, or of other articles if given."""
        rows = ranked.rows
        stories = self._stories(rows, ranked.order)
        wanted = stories[self._query.offset : self._query.offset + self._query.limit]
        missing = [rows[n].article_id for n in wanted if rows[n].article_id not in ranked.texts]
        shown = {**ranked.texts, **(self._shown(missing) if missing else {})}
        hits = [self._hit(shown[rows[n].article_id], ranked, n) for n in wanted if rows[n].article_id in shown]
        total = len({rows[n].cluster_id for n in ranked.order[: ranked.full]})
        partial = len(stories) - total
        of_stories = [rows[n] for n in stories[:total]]
        if counted is not None:
            first = {row.cluster_id: row for row in (*of_stories, *sorted(counted, key=lambda row: -row.time))[::-1]}
            of_stories, total = list(first.values()), len(first)
        facets, volume = self._counts(of_stories)
        also = list(dict.fromkeys(self._also))
        return SearchResult(hits, total, is_complete, facets, self._notes, also, partial, len(stories), volume)

    def _shown(self, ids: Sequence[int]) -> dict[int, FoundArticle]:
        return {key: article for one in self._connections for key, article in find.shown(one, ids).items()}

    def _hit(self, article: FoundArticle, ranked: _Ranked, n: int) -> Hit:
        terms = self._plan.terms
        return Hit(
            id=article.id,
            url=article.url,
            site=article.site,
            title=mark(article.title, terms, article.language),
            snippet=snippet(article.text, terms, ranked.weights.tolist(), article.language),
            authors=article.authors,
            source=article.source,
            published_at=article.published_at,
            published_utc=article.published_utc,
            first_seen=article.first_seen,
            language=article.language,
            section=article.section,
            reprints=max(0, article.members - 1),
            score=float(ranked.scores[n]),
            signals={name: float(values[n]) for name, values in ranked.signals.items() if self._is_shown(name)},
        )

    def _is_shown(self, signal: str) -> bool:
        return SIGNALS[signal] > 0 or self._options.weight(signal) > 0

    def _counts(self, rows: Sequence[SearchCandidate]) -> tuple[Mapping[str, Sequence[Facet]], Sequence[Volume]]:
        """Return facets and volume of stories, of each by one article."""
        counts: Mapping[str, Counter[Any]] = {
            "site": Counter(row.site_id for row in rows),
            "language": Counter(row.language for row in rows),
            "source": Counter(row.source for row in rows),
            "section": Counter(row.section for row in rows),
            "classes": Counter(),
            "month": Counter(),
        }
        for joined, stories in Counter(row.classes for row in rows).items():
            counts["classes"].update(dict.fromkeys(split_names(joined), stories))
        for day, stories in Counter(row.day for row in rows).items():
            counts["month"][(_EPOCH + timedelta(days=day)).isoformat()[: len("2024-03")]] += stories
        most = None if self._query.is_thorough else _MOST_FACETS
        best = {name: [each for each in values.most_common(most) if each[0]] for name, values in counts.items()}
        best["month"] = sorted(counts["month"].items(), reverse=True)[:most]
        best |= self._mark_counts(rows, most)
        sites = [key for key, _ in best["site"]]
        names = {key: name for one in self._connections for key, name in find.site_names(one, sites).items()}
        best["site"] = [(names[key], n) for key, n in best["site"] if key in names]
        facets = {name: [Facet(str(value), n) for value, n in values] for name, values in best.items()}
        if not self._query.is_thorough:
            return facets, ()
        volume = Counter((row.day, names.get(row.site_id, ""), row.language) for row in rows)
        return facets, [Volume(*key, stories) for key, stories in sorted(volume.items())]

    def _mark_counts(self, rows: Sequence[SearchCandidate], most: int | None) -> dict[str, list[tuple[str, int]]]:
        marked = self._query.marked
        if marked is None:
            return {}
        ids = {row.article_id for row in rows}
        read = len(ids & marked.read)
        numbers = {"starred": len(ids & marked.starred), "read": read, "unread": len(ids) - read}
        labels = Counter({marked.names[key]: len(ids & having) for key, having in marked.labels.items()})
        counts = {name: [(ON, number)] if number else [] for name, number in numbers.items()}
        return {"label": [each for each in labels.most_common(most) if each[1]], **counts}


def heat(readers: int) -> float:
    """Return how hot an article is, in [0, 1): one half if ten readers opened it.

    Source: S37, 内容搜索权重: the heat of a page is a part of its weight, without a formula.

    >>> heat(0), heat(10)
    (0.0, 0.5)
    """
    return readers / (readers + _HALF_HOT)


def update_frequency(changes: float, watched: float) -> float:
    """Return how often an article changes, in [0, 1): one half at a change a day.

    A page that was watched for less than a day counts as if it was watched for one.

    Source: S37, 内容搜索权重: the frequency of updates is a part of a page's weight, without a formula.

    >>> update_frequency(0, 0), update_frequency(2, 2 * 86_400.0), update_frequency(1, 3 * 86_400.0)
    (0.0, 0.5, 0.25)
    """
    daily = changes / max(1.0, watched / _DAY)
    return daily / (daily + 1)


def _link_score(parts: str | None) -> float:
    if parts is None:
        return 0.0
    values = json.loads(parts)
    return max((float(values.get(name) or 0.0) for name in _GRAPH), default=0.0)


def _unranked(rows: Sequence[SearchCandidate], terms: Sequence[QueryTerm]) -> _Ranked:
    """Return articles in the order they have, with the terms' own weights."""
    weights = np.array([term.weight for term in terms], np.float64)
    return _Ranked(rows, range(len(rows)), np.zeros(len(rows)), {}, weights)


def _stories_of(rows: Sequence[SearchCandidate]) -> int:
    return len({row.cluster_id for row in rows})


def _with(some: CandidateSet, full: CandidateSet) -> CandidateSet:
    """Return candidates with those that fulfil the query, each once."""
    ids = {row.article_id for row in full.rows}
    return replace(some, rows=[*full.rows, *(row for row in some.rows if row.article_id not in ids)])


def _is_full(rows: Sequence[SearchCandidate], full: CandidateSet | None) -> npt.NDArray[np.bool_]:
    ids = {row.article_id for row in (rows if full is None else full.rows)}
    return np.fromiter((row.article_id in ids for row in rows), np.bool_, len(rows))


def _ordered(rows: Sequence[SearchCandidate], is_full: npt.NDArray[np.bool_], scores: Values) -> list[int]:
    """Return first the candidates that fulfil the query, each part by score.

    Of equal ones the originals come first.
    """
    others = np.fromiter((row.article_id != row.cluster_id for row in rows), np.bool_, len(rows))
    return [int(n) for n in np.lexsort((others, -scores.round(6), ~is_full))]


def _sum(signals: Mapping[str, Values]) -> Values:
    return np.asarray(sum(signals.values()), np.float64)


_EPOCH = date(1970, 1, 1)
