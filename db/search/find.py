"""Find a bounded number of candidates of a query, and read what is shown of hits.

Both databases find what has all of some words quickly, but neither ranks a million matches in time. So the rarest words
of a query are looked for first: all articles that have one of them, as long as these are few. Of frequent words, the
newest articles with two of them or more are read, and then the newest with one. SQLite reads its lists from the newest
on and stops; the index of Postgres has no order, so there the newest are found by marks that neighbouring numbers share
(`index.bucket_mark`), more of them until enough is found.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from math import prod
from typing import Any, Final, Literal, NamedTuple

from sqlalchemy import Connection, LargeBinary, bindparam, func, literal, nulls_last, select

from ..engine.statements import among, is_postgres
from ..records.search import TERM_FIELDS, CandidateSet, FoundArticle, SearchCandidate, SearchedText, SearchFilter
from ..tables.articles import TEXT, WITH_HOLDER, ArticleRow, ClusterRow
from ..tables.search import SearchDocumentRow
from ..tables.urls import SiteRow, UrlRow
from . import index

article, cluster, document, site, url = (
    model.table() for model in (ArticleRow, ClusterRow, SearchDocumentRow, SiteRow, UrlRow)
)

Need = Sequence["Sequence[str | Need] | Without"]
"""Groups: an article must have one of each group, which is a token, or all that a need within asks for."""

Groups = Sequence[Sequence[str]]
"""The same of tokens alone."""


@dataclass(frozen=True, slots=True)
class Without:
    """A group that is fulfilled by articles which lack what is needed."""

    need: Need


Found = tuple[list[SearchCandidate], bool]

Order = Literal["newest", "oldest"] | None
"""Of more articles than are wanted: the first by time of publication, or those that were indexed last."""

_COUNTED = 500
"""Matches that are counted, the newest; the number of more frequent words is estimated."""
_IN_A_DAY: Final = 2
"""Of articles in the order of time so many times what is wanted are read: a day may have more than is wanted."""
_A_DAY: Final = timedelta(days=1)
_PAIRED = 4
"""Frequent words of a query that are looked for together, the rarest ones."""


def site_names(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    return {row.id: row.name for row in connection.execute(_SITE_NAMES, {"ids": ids})}


def candidates(
    connection: Connection,
    wanted: Groups,
    admitted: SearchFilter,
    most: int,
    counted: Sequence[str] = (),
) -> CandidateSet:
    """Return articles that have some of the words and fulfil conditions.

    `wanted` are words as `pipelines.search.terms` cuts them, each with others that will do as well; none for all
    articles. Of more than about `most` articles the newest are returned, with the rarest words first.

    Cost: for 1,000 of 1,000,000 articles 10 ms.
    """
    engine = _engine(connection, admitted)
    top = engine.top
    if not wanted:
        rows, is_complete = engine.rows([], most, 1.0)
        return CandidateSet([row for row in rows if admitted.admits(row)], is_complete, top)
    counts = engine.frequencies(list(dict.fromkeys([*(word for group in wanted for word in group), *counted])))
    candidates_by_number: dict[int, SearchCandidate] = {}
    is_complete = True
    for need, limit in _tiers(wanted, counts, most):
        shares = [min(1.0, sum(counts[word] for word in group) / max(1, top)) for group in need]
        rows, is_all = engine.rows(need, limit, prod(shares) * _TOGETHER ** (len(need) - 1))
        is_complete &= is_all
        candidates_by_number.update((row.number, row) for row in rows)
    admitted_rows = [row for row in candidates_by_number.values() if admitted.admits(row)]
    return CandidateSet(admitted_rows, is_complete, top, counts)


def matches(
    connection: Connection,
    need: Need,
    admitted: SearchFilter,
    most: int,
    counted: Sequence[str] = (),
    *,
    order: Order = None,
) -> CandidateSet:
    """Return articles that have what is needed and fulfil conditions.

    Of more than `most` they are those indexed last, or the first in an order. Cost: for 1,000 of 1,000,000 articles
    10 ms.
    """
    engine = _engine(connection, admitted)
    rows, is_complete = _ordered(engine, need, most, order)
    counts = engine.frequencies(list(dict.fromkeys(counted)))
    return CandidateSet([row for row in rows if admitted.admits(row)], is_complete, engine.top, counts)


def without_terms(
    connection: Connection, need: Need, admitted: SearchFilter, most: int, order: Order = None
) -> CandidateSet:
    """Return what `matches` does, without terms: to count and to sort many.

    Cost: 5 microseconds an article on SQLite.
    """
    engine = _engine(connection, admitted, has_terms=False)
    rows, is_complete = _ordered(engine, need, most, order)
    rows = [row for row in rows if admitted.admits(row)] if admitted else rows
    return CandidateSet(rows, is_complete, engine.top)


def _ordered(engine: _Sqlite | _Postgres, need: Need, most: int, order: Order) -> Found:
    if order is None or engine.ids is not None or engine.count(need, most) < most:
        return engine.rows(need, most, 0.0, order)
    rows, _ = engine.rows([*need, _first_days(engine, need, most, order)], _IN_A_DAY * most, 0.0)
    sign = 1 if order == "oldest" else -1
    return sorted(rows, key=lambda row: sign * row.time)[:most], False


def _first_days(engine: _Sqlite | _Postgres, need: Need, most: int, order: Order) -> list[str]:
    """Return marks of the first periods in an order that hold so many articles.

    These have what is needed. Two more days are among them, because days begin at another time in each zone.
    """
    years = [date(year, 1, 1) for year in range(index.FIRST.year, index.LAST.year + 1)]
    in_use = engine.frequencies([index.year_mark(year) for year in years])
    spans = [(year, index.following_year(year)) for year in years if in_use[index.year_mark(year)]]
    marks: list[str] = []
    end = None
    way = 1 if order == "oldest" else -1
    while spans and most > 0:
        begin, end_of_span = span = spans.pop(0 if way > 0 else -1)
        days = index.day_marks(*map(index.day_of, (begin, end_of_span - _A_DAY)))
        count = engine.count([*need, days], most + 1)
        if count > most and (parts := index.parts_of(*span)):
            spans = [*parts, *spans] if way > 0 else [*spans, *parts]
        else:
            marks += days
            most -= count
            end = end_of_span - _A_DAY if way > 0 else begin
    if end is not None:
        more = sorted((end + way * _A_DAY, end + 2 * way * _A_DAY))
        marks += index.day_marks(*map(index.day_of, more))
    return marks


def need_of(admitted: SearchFilter) -> Need:
    """Return the marks that an article has which fulfils conditions."""
    days = admitted.days()
    return [*_marks(admitted), *([] if days is None else [index.day_marks(*days)])]


def _engine(connection: Connection, admitted: SearchFilter, *, has_terms: bool = True) -> _Sqlite | _Postgres:
    top = connection.execute(_TOP).scalar_one()
    days = admitted.days()
    periods = None if days is None else index.day_marks(*days)
    return (_Postgres if is_postgres(connection) else _Sqlite)(
        connection, top, _marks(admitted), periods, admitted.ids, has_terms=has_terms
    )


def _tiers(wanted: Groups, counts: Mapping[str, float], most: int) -> list[tuple[Groups, int]]:
    groups = {tuple(word for word in group if counts[word]): 0.0 for group in wanted}
    groups = {group: sum(counts[word] for word in group) for group in groups if group}
    order = sorted(groups, key=lambda group: (groups[group], group))
    expected = accumulate(groups[group] for group in order)
    rare = [group for group, sum_ in zip(order, expected, strict=True) if sum_ <= most]
    tiers: list[tuple[Groups, int]] = []
    if rare:
        tiers.append(([[word for group in rare for word in group]], most))
    common = order[len(rare) :][:_PAIRED]
    if len(common) > 1:
        tiers.append((common, most // 2))
    if len(common) > 2:
        tiers.append(([common[0], [word for group in common[1:] for word in group]], most // 2))
    if common:
        tiers.append(([common[0]], most // 4 if tiers else most))
    return tiers


def _marks(admitted: SearchFilter) -> list[Sequence[str]]:
    groups: list[Sequence[str]] = []
    if admitted.sites is not None:
        groups.append([index.site_mark(key) for key in admitted.sites])
    groups += [
        list(map(mark, values))
        for mark, values in (
            (index.language_mark, admitted.languages),
            (index.source_mark, admitted.sources),
            (index.section_mark, admitted.sections),
            (index.class_mark, admitted.classes),
        )
        if values
    ]
    return groups


@dataclass(frozen=True, slots=True)
class _Sqlite:
    """The index in SQLite: FTS5, whose lists can be read from the newest on."""

    connection: Connection
    top: int
    marks: Need
    periods: Sequence[str] | None
    ids: frozenset[int] | None = None
    has_terms: bool = True

    def frequencies(self, words: Sequence[str]) -> dict[str, float]:
        queries = json.dumps([_fts([[word]], ()) for word in words])
        counts = {}
        json_counts = self.connection.exec_driver_sql(_COUNT, (_COUNTED, queries)).scalars().all()
        for word, (count, oldest) in zip(words, map(json.loads, json_counts), strict=True):
            counts[word] = count * self.top / (self.top - oldest + 1) if count == _COUNTED else float(count)
        return counts

    def count(self, need: Need, most: int) -> int:
        """Count articles that have a token of each group, up to `most`."""
        need = self._narrowed(need)
        if not need or _is_void(need):
            return 0 if need else min(self.top, most)
        query = json.dumps([_fts(need, index.bucket_marks(self.top))])
        return int(json.loads(self.connection.exec_driver_sql(_COUNT, (most, query)).scalar_one())[0])

    def _narrowed(self, need: Need) -> Need:
        return [*need, *self.marks, *([] if self.periods is None else [self.periods])]

    def rows(self, need: Need, limit: int, _share: float, order: Order = None) -> Found:
        """Return the newest articles with a token of each group; of `ids` in an order."""
        need = self._narrowed(need)
        if _is_void(need):
            return [], True
        if self.ids is not None:
            return _of_ids(self.connection, self.ids, need, limit, order=order, has_terms=self.has_terms)
        if not need:
            rows = _read(self.connection, _NEWEST_ROWS if self.has_terms else _NEWEST_LIGHT, {"most": limit})
        else:
            statement = _MATCHES if self.has_terms else _LIGHT_MATCHES
            match_rows = self.connection.exec_driver_sql(
                statement, (_fts(need, index.bucket_marks(self.top)), limit)
            ).all()
            rows = list(map(SearchCandidate._make, match_rows))
        return rows, len(rows) < limit


def _fts(need: Need, everything: Sequence[str]) -> str:
    """Write a need for FTS5; each article has one of the marks of `everything`."""
    return _Form('"', " AND ", " OR ", " NOT ", everything).written(need)


def _tsquery(need: Need, everything: Sequence[str]) -> str:
    return _Form("'", " & ", " | ", " & !", everything).written(need)


class _Form(NamedTuple):
    """A language of queries: its quotation mark and operators."""

    quote: str
    all_of: str
    one_of: str
    none_of: str
    everything: Sequence[str]

    def written(self, need: Need) -> str:
        groups = [self._group(group) for group in need if not isinstance(group, Without)]
        without = [f"({self.written(group.need)})" for group in need if isinstance(group, Without)]
        if not without:
            return self.all_of.join(groups)
        return (
            f"({self.all_of.join(groups or [self._group(self.everything)])}){self.none_of}({self.one_of.join(without)})"
        )

    def _group(self, group: Sequence[str | Need]) -> str:
        members = [
            f"{self.quote}{_plain(each)}{self.quote}" if isinstance(each, str) else f"({self.written(each)})"
            for each in group
        ]
        return f"({self.one_of.join(members)})"


def _is_void(need: Need) -> bool:
    """Tell whether no article can have what is needed: a group has nothing in it."""
    return any(not isinstance(group, Without) and not group for group in need)


@dataclass(frozen=True, slots=True)
class _Postgres:
    """The index in Postgres: GIN, which finds all matches, in no order."""

    connection: Connection
    top: int
    marks: Need
    periods: Sequence[str] | None
    ids: frozenset[int] | None = None
    has_terms: bool = True

    def frequencies(self, words: Sequence[str]) -> dict[str, float]:
        """Return about how many articles have each word, exactly when few."""
        counts = dict(zip(words, self._sampled([[[word]] for word in words]), strict=True))
        rare = [word for word, count in counts.items() if count <= _FEW]
        exact = self._count([[[word]] for word in rare], 2 * _COUNTED)
        scale = max(1.0, self.top / (1 << index.BUCKET_BITS))
        return {word: count * scale for word, count in counts.items()} | dict(zip(rare, exact, strict=True))

    def count(self, need: Need, most: int) -> int:
        """Count articles that have a token of each group, up to `most`."""
        need = [*need, *self.marks, *([] if self.periods is None else [self.periods])]
        if not need or _is_void(need):
            return 0 if need else min(self.top, most)
        return int(self._count([need], most)[0])

    def _sampled(self, needs: Sequence[Need]) -> list[float]:
        bucket = [index.bucket_mark(self.top // 2)]
        return self._count([[*need, bucket] for need in needs], 1 << index.BUCKET_BITS)

    def _count(self, needs: Sequence[Need], most: int) -> list[float]:
        queries = [_tsquery(need, index.bucket_marks(self.top)) for need in needs]
        if not queries:
            return []
        return [float(count) for count in self.connection.exec_driver_sql(_COUNTS, (most, queries)).scalars()]

    def rows(self, need: Need, limit: int, share: float, order: Order = None) -> Found:
        """Return the newest articles with a token of each group; of `ids` in an order.

        Of frequent ones the newest days, months or buckets that should be enough are read, then more of them, then all;
        `share` is the estimated share of articles that match.
        """
        need = [*need, *self.marks]
        if _is_void(need) or self.periods == []:
            return [], True
        if self.ids is not None:
            every = need if self.periods is None else [*need, self.periods]
            return _of_ids(self.connection, self.ids, every, limit, order=order, has_terms=self.has_terms)
        if self.periods:
            steps = [self.periods[:count] for count in _PERIODS if count < len(self.periods)]
            return self._newest(need, steps, limit, self.periods)
        if not need:
            rows = _read(self.connection, _NEWEST_ROWS if self.has_terms else _NEWEST_LIGHT, {"most": limit})
            return rows, len(rows) < limit
        if len(need) > 1 or self.marks or not share:
            share = max(share if not self.marks else 0.0, self._sampled([need])[0] / (1 << index.BUCKET_BITS))
        newest = self.top >> index.BUCKET_BITS
        enough = 2 + int(_SPARE * limit / max(share, 1e-9) / (1 << index.BUCKET_BITS))
        sizes = [size for size in (enough, enough * _MORE) if size < min(newest, _MOST_BUCKETS)]
        steps = [[index.bucket_mark(n << index.BUCKET_BITS) for n in range(newest, newest - n, -1)] for n in sizes]
        return self._newest(need, steps, limit)

    def _newest(self, need: Need, steps: Sequence[Sequence[str]], limit: int, last: Sequence[str] = ()) -> Found:
        for marks in steps:
            rows = self._rows([*need, marks], limit)
            if len(rows) >= _ENOUGH * limit:
                return rows, False
        rows = self._rows([*need, last] if last else need, limit)
        return rows, len(rows) < limit

    def _rows(self, need: Need, limit: int) -> list[SearchCandidate]:
        statement = _TEXT_ROWS if self.has_terms else _LIGHT_TEXT_ROWS
        match_rows = self.connection.exec_driver_sql(
            statement, (_tsquery(need, index.bucket_marks(self.top)), limit)
        ).all()
        return list(map(SearchCandidate._make, match_rows))


def _of_ids(
    connection: Connection, ids: Iterable[int], need: Need, limit: int, *, order: Order = None, has_terms: bool
) -> Found:
    """Return those of some articles that have a token of each group, in an order."""
    numbers = _numbers_of(connection, ids, need)
    is_complete = len(numbers) <= limit
    if order is not None and not is_complete:
        light = _read(connection, _LIGHT_DOCUMENTS, {"ids": numbers})
        numbers = [row.number for row in sorted(light, key=lambda row: row.time, reverse=order == "newest")]
    rows = _read(connection, _DOCUMENTS if has_terms else _LIGHT_DOCUMENTS, {"ids": numbers[:limit]})
    return rows, is_complete


def _numbers_of(connection: Connection, ids: Iterable[int], need: Need) -> list[int]:
    """Return the numbers of their documents, the newest first."""
    numbers = connection.execute(_NUMBERS_OF, {"ids": list(ids)}).scalars().all()
    return sorted(having(connection, need, numbers), reverse=True)


def _plain(token: str) -> str:
    """Return a token with a "_" for each character that no indexed token has."""
    return _FOREIGN.sub("_", token)


_FOREIGN = re.compile(r"(?![0-9A-Za-z._])[\x00-\x7f]")


def article_numbers(connection: Connection, need: Need, ids: Iterable[int] | None = None) -> array[int]:
    """Return the numbers of all articles that have a token of each group, in order.

    With `ids` they are sought among these.

    Memory: 8 bytes an article. Cost: 10 microseconds for each match.
    """
    if _is_void(need):
        return array("q")
    if ids is not None:
        found = _read(connection, _LIGHT_DOCUMENTS, {"ids": _numbers_of(connection, ids, need)})
        return array("q", sorted(article_order(connection, [row.article_id for row in found]).values()))
    if not need:
        return array("q", sorted(connection.execute(_NUMBERS).scalars()))
    everything = index.bucket_marks(last_indexed(connection))
    if is_postgres(connection):
        rows = connection.exec_driver_sql(_NUMBERS_BY_TEXT, (_tsquery(need, everything),))
    else:
        rows = connection.exec_driver_sql(_NUMBERS_BY_MATCH, (_fts(need, everything),))
    return array("q", sorted(rows.scalars()))


def numbered(connection: Connection, numbers: Sequence[int]) -> list[SearchCandidate]:
    """Return articles by their `article.number`."""
    return [SearchCandidate(*row) for row in connection.execute(_NUMBERED, {"ids": list(numbers)})]


class IndexPlace(NamedTuple):
    """Time, document number, cluster and day (since 1970) of an article."""

    time: int
    number: int
    cluster_id: int
    day: int


def places(
    connection: Connection, need: Need, admitted: SearchFilter, most: int, order: Order = None
) -> list[IndexPlace]:
    """Return the places of articles that have what is needed.

    They have the marks of the conditions, too. Of many they are those stored last, or the first in an order;
    without any need those published last. Cost: 2 microseconds an article on SQLite.
    """
    need = [*need, *need_of(admitted)]
    if _is_void(need):
        return []
    if not need or admitted.ids is not None:
        if admitted.ids is not None:
            rows, _ = _of_ids(connection, admitted.ids, need, most, order=order, has_terms=False)
        else:
            rows = oldest(connection, most) if order == "oldest" else newest(connection, most)
        return [IndexPlace(row.time, row.number, row.cluster_id, row.day) for row in rows]
    engine = _engine(connection, SearchFilter())
    limit = most
    if order is not None and engine.count(need, most) >= most:
        need, limit = [*need, _first_days(engine, need, most, order)], _IN_A_DAY * most
    everything = index.bucket_marks(engine.top)
    if is_postgres(connection):
        found = connection.exec_driver_sql(_PLACES_BY_TEXT, (_tsquery(need, everything), limit))
    else:
        found = connection.exec_driver_sql(_PLACES_BY_MATCH, (_fts(need, everything), limit))
    places_found = list(map(IndexPlace._make, found.all()))
    if order is not None:
        places_found.sort(reverse=order == "newest")
    return places_found[:most]


def documents(connection: Connection, numbers: Sequence[int]) -> list[SearchCandidate]:
    """Return articles by the number of their document."""
    return [SearchCandidate(*row) for row in connection.execute(_DOCUMENTS, {"ids": list(numbers)})]


def indexed(connection: Connection, ids: Sequence[int]) -> list[SearchCandidate]:
    """Return articles by their ids, without terms."""
    return [SearchCandidate(*row) for row in connection.execute(_INDEXED, {"ids": list(ids)})]


def stored_after(connection: Connection, number: int, most: int) -> list[tuple[int, SearchCandidate]]:
    """Return the first articles after an `article.number`, each with its own."""
    parameters = {"number": number, "most": most}
    return [(row[0], SearchCandidate._make(row[1:])) for row in connection.execute(_STORED_AFTER, parameters)]


def last_number(connection: Connection) -> int:
    """Return the `article.number` of what was stored last, 0 when nothing was."""
    return int(connection.execute(_LAST_STORED).scalar_one())


def last_indexed(connection: Connection) -> int:
    """Return the number of what the index got last; it grows with every change."""
    return int(connection.execute(_TOP).scalar_one())


def article_order(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    """Return the `article.number` of articles by their ids."""
    return {row.id: row.number for row in connection.execute(_ORDER_OF, {"ids": list(ids)})}


def having(connection: Connection, need: Need, numbers: Sequence[int]) -> set[int]:
    """Return those of some numbers whose articles have a token of each group."""
    if not need or _is_void(need):
        return set() if need else set(numbers)
    everything = list({index.bucket_mark(number) for number in numbers})
    if is_postgres(connection):
        rows = connection.exec_driver_sql(_HAVING_TEXT, (list(numbers), _tsquery(need, everything)))
    elif len(numbers) <= _LOOKED_UP:
        rows = connection.exec_driver_sql(_HAVING_MATCH, (json.dumps(list(numbers)), _fts(need, everything)))
    else:
        rows = connection.exec_driver_sql(_HAVING_MANY, (_fts(need, everything), json.dumps(list(numbers))))
    return set(rows.scalars())


def texts(connection: Connection, ids: Sequence[int]) -> dict[int, SearchedText]:
    """Return all that is searched of articles, by their ids."""
    return {row[0]: SearchedText(*row[1:]) for row in connection.execute(_TEXTS, {"ids": list(ids)}).all()}


def newest(connection: Connection, most: int) -> list[SearchCandidate]:
    return _read(connection, _PUBLISHED_LAST, {"most": most})


def oldest(connection: Connection, most: int) -> list[SearchCandidate]:
    return _read(connection, _PUBLISHED_FIRST, {"most": most})


def cluster_sizes(connection: Connection, ids: Sequence[int]) -> dict[int, int]:
    """Return how many articles those of the clusters have that have several."""
    return {row.id: row.size for row in connection.execute(_SIZES, {"ids": list(ids)})}


def sites(connection: Connection, name: str) -> list[tuple[int, str]]:
    """Return sites by their name, or by a part of it when no site has that name."""
    exact = connection.execute(_SITE, {"name": name}).all()
    part = _WILD.sub(rf"{_ESCAPE}\g<0>", name)
    return list(exact or connection.execute(_SITES, {"part": part}).all())


def shown(connection: Connection, ids: Sequence[int]) -> dict[int, FoundArticle]:
    return {row.id: FoundArticle._make(row) for row in connection.execute(_SHOWN, {"ids": list(ids)})}


def _read(connection: Connection, statement: Any, parameters: Mapping[str, Any]) -> list[SearchCandidate]:
    return [SearchCandidate(*row) for row in connection.execute(statement, parameters).all()]


_LOOKED_UP = 500
"""Articles that are looked up in the lists of words one by one, at 30 microseconds each.

For more of them the lists are read, at one microsecond an article in them.
"""
_FEW = 2
"""Articles of a bucket with a word, up to which all with it are counted."""
_PERIODS = (1, 4, 16)
"""Days, months or years of a longer time that are read, the newest first, before all of them."""
_SPARE, _MORE, _MOST_BUCKETS = 1.3, 6, 32
"""Buckets read, as a multiple of those that should be enough; when they are not; and most in a query, because for each
article found in one the server looks at all of them.
"""
_ENOUGH = 0.5
"""Share of the wanted rows that will do: to be sure of the rest costs as much again."""
_TOGETHER = 1.5
"""Factor by which a word is likelier where another one of the query stands."""
_TOP = select(func.coalesce(func.max(document.c.number), 0))
_LIGHT = [document.c[name] for name in SearchCandidate._fields[:-1]]
_LISTED = document.c.article_id.is_not(None)
_WITHOUT_TERMS = select(*_LIGHT, literal(b"", LargeBinary))
_ROWS = select(*_LIGHT, document.c.terms)
_NUMBERED = _ROWS.join(article, article.c.id == document.c.article_id).where(among(article.c.number))
_NUMBERS = select(article.c.number).join(document, document.c.article_id == article.c.id)
_DOCUMENTS = _ROWS.where(among(document.c.number), _LISTED)
_LIGHT_DOCUMENTS = _WITHOUT_TERMS.where(among(document.c.number), _LISTED)
_NUMBERS_OF = select(document.c.number).where(among(document.c.article_id))
_INDEXED = _WITHOUT_TERMS.where(among(document.c.article_id))
_NEWEST_ROWS, _NEWEST_LIGHT = (
    rows.where(_LISTED).order_by(document.c.number.desc()).limit(bindparam("most")) for rows in (_ROWS, _WITHOUT_TERMS)
)
_PUBLISHED_LAST, _PUBLISHED_FIRST = (
    _WITHOUT_TERMS.select_from(article)
    .join(document, document.c.article_id == article.c.id)
    .order_by(nulls_last(order))
    .limit(bindparam("most"))
    for order in (article.c.published_utc.desc(), article.c.published_utc.asc())
)
_SIZES = select(cluster.c.id, cluster.c.size).where(among(cluster.c.id), cluster.c.size > 1)
_PLACES_BY_MATCH = """
SELECT d.time, d.number, d.cluster_id, d.day FROM
(SELECT rowid FROM search_words WHERE search_words MATCH ? ORDER BY rowid DESC LIMIT ?) AS w
JOIN search_document AS d ON d.number = w.rowid WHERE d.article_id IS NOT NULL
"""
_PLACES_BY_TEXT = """
SELECT time, number, cluster_id, day FROM search_document
WHERE words @@ CAST(%s AS TSQUERY) AND article_id IS NOT NULL ORDER BY number + 0 DESC LIMIT %s
"""
_NUMBERS_BY_MATCH = """
SELECT a.number FROM search_words w JOIN search_document d ON d.number = w.rowid JOIN article a ON a.id = d.article_id
WHERE search_words MATCH ?
"""
_NUMBERS_BY_TEXT = """
SELECT a.number FROM search_document d JOIN article a ON a.id = d.article_id WHERE d.words @@ CAST(%s AS TSQUERY)
"""
_STORED_AFTER = (
    select(article.c.number.label("stored"), *_LIGHT, document.c.terms)
    .join(document, document.c.article_id == article.c.id)
    .where(article.c.number > bindparam("number"))
    .order_by(article.c.number)
    .limit(bindparam("most"))
)
_ORDER_OF = select(article.c.id, article.c.number).where(among(article.c.id))
_LAST_STORED = select(func.coalesce(func.max(article.c.number), 0))
# each number is looked up in the lists of words, which may be much longer
_HAVING_MATCH = """
SELECT search_words.rowid FROM json_each(?) AS n CROSS JOIN search_words ON search_words.rowid = n.value
WHERE search_words MATCH ?
"""
_HAVING_MANY = """
SELECT rowid FROM search_words WHERE search_words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""
_HAVING_TEXT = """
SELECT number FROM search_document WHERE number = ANY(CAST(%s AS BIGINT[])) AND words @@ CAST(%s AS TSQUERY)
"""
_COUNT = """
SELECT (SELECT json_array(count(*), min(rowid)) FROM
  (SELECT rowid FROM search_words WHERE search_words MATCH query.value ORDER BY rowid DESC LIMIT ?))
FROM json_each(?) AS query
"""
_MATCHES = f"""
SELECT {", ".join(f"d.{name}" for name in SearchCandidate._fields)} FROM
(SELECT rowid FROM search_words WHERE search_words MATCH ? ORDER BY rowid DESC LIMIT ?) AS w
JOIN search_document AS d ON d.number = w.rowid WHERE d.article_id IS NOT NULL
"""
_LIGHT_MATCHES = _MATCHES.replace("d.terms", "x'' AS terms")
_COUNTS = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM search_document WHERE words @@ CAST(query AS TSQUERY) LIMIT %s) AS _)
FROM unnest(CAST(%s AS TEXT[])) WITH ORDINALITY AS _ (query, place) ORDER BY place
"""
# in an order that no index has, or all articles would be read backwards until enough have the words
_TEXT_ROWS = f"""
SELECT {", ".join(SearchCandidate._fields)} FROM search_document
WHERE words @@ CAST(%s AS TSQUERY) AND article_id IS NOT NULL ORDER BY number + 0 DESC LIMIT %s
"""
_LIGHT_TEXT_ROWS = _TEXT_ROWS.replace(", terms", ", CAST('' AS BYTEA) AS terms")
_ESCAPE: Final = "!"
_WILD: Final = re.compile(f"[%_{_ESCAPE}]")
"""Signs that LIKE takes for other characters."""
_SITE_NAMES = select(site.c.id, site.c.name).where(among(site.c.id))
_SITE = select(site.c.id, site.c.name).where(site.c.name == bindparam("name"))
_SITES = (
    select(site.c.id, site.c.name)
    .where(site.c.name.contains(bindparam("part"), escape=_ESCAPE))
    .order_by(site.c.name)
    .limit(200)
)
_TEXTS = (
    select(article.c.id, *(TEXT if name == "text" else article.c[name] for name in TERM_FIELDS))
    .select_from(WITH_HOLDER)
    .where(among(article.c.id))
)
_SHOWN = (
    select(
        article.c.id,
        url.c.url,
        func.coalesce(site.c.name, ""),
        article.c.title,
        TEXT,
        *(article.c[name] for name in ("authors", "source", "published_at", "published_utc", "first_seen")),
        *(article.c[name] for name in ("language", "section")),
        func.coalesce(cluster.c.size, 1),
        *(url.c[name] for name in ("score_parts", "brought", "watched")),
    )
    .select_from(WITH_HOLDER)
    .join(url, url.c.id == article.c.id)
    .outerjoin(site, site.c.id == article.c.site_id)
    .outerjoin(cluster, cluster.c.id == article.c.cluster_id)
    .where(among(article.c.id))
)
