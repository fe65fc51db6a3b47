"""Reading articles, links, duplicates and sites of a database, lazily.

from pipelines.export.read import read_articles

for article in read_articles("news.db", site="example.com", since="7d"):
print(article.published_utc, article.title)
frame = read_articles("news.db").to_pandas(["site", "published_utc", "title"])
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from db.desk.file import DeskFile
from db.desk.marks import MarkIndex, marks_of
from db.engine.database import Database, open_for_reading
from db.engine.errors import WrongDatabase
from db.queries import export
from db.queries.export import Key, ReadPage, Row, Selection
from db.records.article import COLUMNS, JOINED_BY
from db.records.desk import ArticleMarks
from db.records.keys import iso
from db.search.find import article_numbers, numbered
from db.search.index import has_form
from db.shards.databases import Shards

from ..dates.period import Bound
from ..records import BlockKind
from ..search.language import Condition, Not
from ..search.matching import Matcher, matcher_of
from ..search.periods import read_period
from ..search.query import QueryPlan, asks_for_marks, read_query
from ..search.records import MARKS, SearchQuery
from ..search.terms import is_current
from ..urls import bare_host, canonicalize, host_key, site_key
from . import arrow
from .records import (
    MARK_COLUMNS,
    MarkedArticle,
    StoredArticle,
    StoredDuplicate,
    StoredLink,
    StoredSite,
    annotations_of,
    readers,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from db.engine.database import ReadConnection

T = TypeVar("T")
Time = str | date | datetime
"""A bound of time: a day (`2024-05-01`), a period before now (`7d`), or an instant; empty for none."""

EVERY_COLUMN = "all"
"""Stands for all columns of a table."""
_MASK = (1 << 64) - 1
_NOT_BEGUN = "-"
_NUMBER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_PAIR = re.compile(r"[0-9a-f]{32}")
_BLOCKS = {kind.value: kind.name.lower() for kind in BlockKind}


@dataclass(frozen=True, slots=True)
class ExportTable(Generic[T]):
    """A table that can be exported.

    Attributes:
        key: the column by which an export goes on.
        conditions: options of a selection that apply to it.
        at_once: rows read together.
        columns: shown unless others are named; empty for all.
    """

    name: str
    record: type[T]
    key: str
    conditions: frozenset[str]
    read: ReadPage
    at_once: int
    columns: tuple[str, ...] = ()

    @property
    def all_columns(self) -> tuple[str, ...]:
        return tuple(annotations_of(self.record))

    def check_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns named, or the usual ones; `all` stands for all.

        Raises:
            ValueError: there is no such column.
        """
        if list(columns) == [EVERY_COLUMN]:
            return self.all_columns
        for name in columns:
            if name not in self.all_columns:
                raise ValueError(f"{self.name} have no column {name!r}; there is {', '.join(self.all_columns)}")
        if len(set(columns)) < len(columns):
            raise ValueError(f"a column is named twice in {','.join(columns)}")
        return tuple(columns) or self.columns or self.all_columns

    def keys_of(self, text: str, count: int) -> tuple[Key, ...]:
        """Read the place of an earlier export from `count` databases; raises `ValueError`."""
        keys = text.split(",") if text else [_NOT_BEGUN] * count
        if len(keys) != count:
            raise ValueError(f"{text!r} has {len(keys)} keys, and DATABASE_URL names {count}; take what was said last")
        return tuple(self.key_of("" if key == _NOT_BEGUN else key) for key in keys)

    def key_of(self, text: str) -> Key:
        """Read the key of a row; raises `ValueError`."""
        if not text:
            return ()
        if self.key == "key" and _PAIR.fullmatch(text):
            return _signed(text[:16]), _signed(text[16:])
        if self.key != "key" and _NUMBER.fullmatch(text):
            return (int(text),)
        raise ValueError(f"{text!r} is no key of {self.name}; take the one in the column {self.key!r} of a row")


def key_text(key: Key) -> str:
    """Write the key of a row: a number, or two identifiers as hexadecimal digits."""
    return str(key[0]) if len(key) == 1 else "".join(f"{one & _MASK:016x}" for one in key)


def place_text(keys: Sequence[Key]) -> str:
    """Write the place of an export: the key of the last row of each database."""
    return ",".join(key_text(key) if key else _NOT_BEGUN for key in keys)


def _signed(digits: str) -> int:
    value = int(digits, 16)
    return value - (1 << 64) if value >> 63 else value


def _with_keys(read: ReadPage) -> ReadPage:
    """Make a reader of pairs whose column `key` is that of the row."""

    def page(connection: Any, columns: Sequence[str], wanted: Selection, after: Key, most: int) -> Sequence[Row]:
        stored = [name for name in columns if name != "key"]
        rows = []
        for key, values in read(connection, stored, wanted, after, most):
            shown = {"key": key_text(key), **dict(zip(stored, values, strict=True))}
            if "block" in shown:
                shown["block"] = _BLOCKS.get(shown["block"], str(shown["block"]))
            rows.append((key, tuple(shown[name] for name in columns)))
        return rows

    return page


_PERIOD = frozenset(("since", "until", "site"))
ARTICLES = ExportTable(
    "articles", StoredArticle, "number", _PERIOD | {"language", "query"}, export.article_page, 500, COLUMNS
)
LINKS = ExportTable("links", StoredLink, "key", _PERIOD, _with_keys(export.link_page), 5_000)
DUPLICATES = ExportTable(
    "duplicates", StoredDuplicate, "key", _PERIOD | {"language"}, _with_keys(export.duplicate_page), 2_000
)
SITES = ExportTable("sites", StoredSite, "id", _PERIOD, export.site_page, 1 << 31)
MARKED_ARTICLES: ExportTable[StoredArticle] = replace(ARTICLES, record=MarkedArticle)
"""Articles with the columns that a desk adds."""
TABLES: dict[str, ExportTable[Any]] = {table.name: table for table in (ARTICLES, LINKS, DUPLICATES, SITES)}


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """Rows of a crawl's databases, one after the other, read as they are asked for.

    They come a page at a time. Each iteration reads from the beginning, and sees everything stored until it came there.
    It holds some hundred rows in memory, and no transaction between two pages.

    Raises:
        db.engine.errors.DatabaseProblem: in an iteration: the database is missing, of another version, or gone.
    """

    table: ExportTable[T]
    databases: Shards
    wanted: Selection
    plan: QueryPlan | None = None
    after: tuple[Key, ...] = ((),)
    desk: DeskFile | None = None

    def pages(self, columns: Sequence[str] = ()) -> Iterator[Sequence[Row]]:
        """Yield keys and database values of some columns, page after page.

        Raises:
            ValueError: a column or site does not exist.
        """
        return (rows for rows, _ in self.steps(columns))

    def steps(self, columns: Sequence[str] = ()) -> Iterator[tuple[Sequence[Row], str]]:
        """Yield the same pages, each with the text of the place behind it; see `pages`."""
        names = self.table.check_columns(columns)
        with ExitStack() as stack:
            databases = [stack.enter_context(closing(open_for_reading(url))) for url in self.databases.urls]
            if self.wanted.site and not any(map(self._has_site, databases)):
                where = " and ".join(database.name for database in databases)
                raise ValueError(f"{where} has no site {self.wanted.site}; its sites: scrapy export sites")
            place = list(self.after)
            for n, database in enumerate(databases):
                for rows in self._pages(database, names, place[n]):
                    place[n] = rows[-1][0]
                    yield rows, place_text(place)

    def _has_site(self, database: Database) -> bool:
        return database.read(lambda one: export.has_site(one, self.wanted.site))

    def _pages(self, database: Database, names: tuple[str, ...], key: Key) -> Iterator[Sequence[Row]]:
        if self.plan is not None:
            yield from self._found(database, names, self.plan, key)
            return
        while True:
            rows = database.read(partial(self._page, names, key))
            if rows:
                yield rows
            if len(rows) < self.table.at_once:
                return
            key = rows[-1][0]

    def _page(self, names: tuple[str, ...], key: Key, connection: Any) -> Sequence[Row]:
        table, wanted = self.table, self.wanted
        return with_marks(self.desk, lambda some: table.read(connection, some, wanted, key, table.at_once), names)

    def _found(self, database: Database, names: tuple[str, ...], plan: QueryPlan, key: Key) -> Iterator[Sequence[Row]]:
        """Yield the articles that fulfil a query, with all its words."""
        if not database.read(partial(has_form, is_current=is_current)):
            raise WrongDatabase(
                f"{database.name} has a full-text index of an older version; make it anew with: scrapy search --rebuild"
            )
        if self.desk is not None and asks_for_marks(plan.query):
            marked = MarkIndex(self.desk).marked([database.read])
            plan = replace(plan, query=replace(plan.query, marked=marked))
        matcher = database.read(partial(_matcher, plan))
        numbers = database.read(lambda one: article_numbers(one, matcher.need, matcher.ids))
        for first in range(bisect_right(numbers, key[0]) if key else 0, len(numbers), self.table.at_once):
            chosen = numbers[first : first + self.table.at_once].tolist()
            rows = database.read(partial(self._chosen, names, chosen, matcher))
            if rows:
                yield rows

    def _chosen(
        self, names: tuple[str, ...], numbers: Sequence[int], matcher: Matcher, connection: ReadConnection
    ) -> Sequence[Row]:
        ids = [row.article_id for row in matcher.matching(connection, numbered(connection, numbers))]
        read = partial(export.articles_by_id, connection, wanted=self.wanted, ids=ids)
        return with_marks(self.desk, read, names)

    def __iter__(self) -> Iterator[T]:
        names = self.table.all_columns
        converters = readers(self.table.record)
        places = [(at, converters[name]) for at, name in enumerate(names) if name in converters]
        for page in self.pages(names):
            for _, row in page:
                values = list(row)
                for at, read in places:
                    values[at] = read(values[at])
                yield self.table.record(*values)

    def to_arrow(self, columns: Sequence[str] = ()) -> pa.Table:
        """Return an Arrow table of these columns; it is held in memory whole."""
        names, record = self.table.check_columns(columns), self.table.record
        batches = (arrow.batch(record, names, [row for _, row in page]) for page in self.pages(names))
        return arrow.table(record, names, batches)

    def to_pandas(self, columns: Sequence[str] = ()) -> Any:
        """Return a pandas frame of these columns (`pip install pandas`)."""
        return self.to_arrow(columns).to_pandas()


def _matcher(plan: QueryPlan, connection: ReadConnection) -> Matcher:
    # what a selection has no field for
    names = ("section", "classes", "label", *MARKS)
    others = [Condition(name, value, 0) for name in names if (value := getattr(plan.query, name))]
    excluded = [Not(Condition(name, value, 0)) for name, value in plan.query.without]
    return matcher_of([connection], (*plan.parts, *others, *excluded), plan.query, time.time())[0]


def with_marks(
    desk: DeskFile | None, read: Callable[[Sequence[str]], Sequence[Row]], columns: Sequence[str]
) -> Sequence[Row]:
    """Read columns of articles; those of `MARK_COLUMNS` come from a desk.

    Raises:
        DatabaseProblem: the desk cannot be read.
    """
    if desk is None or set(MARK_COLUMNS).isdisjoint(columns):
        return read(columns)
    stored = list(dict.fromkeys(["url", *(name for name in columns if name not in MARK_COLUMNS)]))
    rows = read(stored)
    with desk.reading() as connection:
        marks = marks_of(connection, [values[0] for _, values in rows])
    found = []
    for key, values in rows:
        mark = marks.get(values[0], ArticleMarks())
        shown = dict(zip(stored, values, strict=True)) | {
            "starred": mark.starred_at is not None,
            "read_at": None if mark.read_at is None else iso(mark.read_at),
            "labels": JOINED_BY.join(mark.labels),
            "note": mark.note,
        }
        found.append((key, tuple(shown[name] for name in columns)))
    return found


def read_articles(
    database: str = "news.db",
    *,
    since: Time = "",
    until: Time = "",
    site: str = "",
    language: str = "",
    query: str = "",
    after: str = "",
    desk: str = "",
) -> Reading[StoredArticle]:
    """Read articles, in the order in which they were stored.

    Args:
        database: URL, or path of a SQLite file; several URLs, as `DATABASE_URL` has them, are read one after the other.
        since: earliest time of publication; of articles without one, time at which they were found. A day
            (`2024-05-01`, or a `date`) counts as a whole, by the page's own clock; `7d`, `12h` are so long before now.
        until: latest time, likewise.
        site: name of a site, or a host or URL of it.
        language: code, or its beginning: `zh` is all Chinese.
        query: in the language of `scrapy search`; an article must have all words. (`scrapy search` goes on with
            articles that have some of them, ranks, and shows one of each story.)
        after: `number` of an article: only those stored after it are read; of several databases one each, with commas.
        desk: path of the file of a desk: records are `MarkedArticle` then, and the query may ask for marks.

    Returns: frozen records when iterated over; `to_arrow` and `to_pandas` make tables.
    Raises:  ValueError: a bound or key cannot be read. Iterating raises `DatabaseProblem`.
    Cost:    50 microseconds an article on SQLite.
    """
    table, file = (MARKED_ARTICLES, DeskFile(Path(desk))) if desk else (ARTICLES, None)
    conditions = {"since": since, "until": until, "site": site, "language": language, "query": query}
    return reading(table, database, **conditions, after=after, desk=file)  # type: ignore[arg-type]


def reading(
    table: ExportTable[T],
    database: str = "news.db",
    *,
    since: Time = "",
    until: Time = "",
    site: str = "",
    language: str = "",
    query: str = "",
    after: str = "",
    desk: DeskFile | None = None,
) -> Reading[T]:
    """Read a table; see `read_articles`. With a desk it is `MARKED_ARTICLES`.

    Raises:
        ValueError: an argument cannot be read, or does not apply to this table.
    """
    given = {"since": since, "until": until, "site": site, "language": language, "query": query}
    for name, value in given.items():
        if value and name not in table.conditions:
            raise ValueError(f"{name} says nothing of {table.name}; it takes {', '.join(sorted(table.conditions))}")
    plan = _plan(query)
    if plan is not None:
        named = plan.query
        since, until, site = since or named.since, until or named.until, site or named.site
        language = language or named.language
    now = time.time()
    period = read_period(_end(since, now), _end(until, now), now)
    wanted = Selection(
        _text(period.since, now),
        _text(period.until, now),
        _site(site),
        language.strip(),
        plan.query.source if plan else "",
    )
    databases = Shards.read(database)
    return Reading(table, databases, wanted, plan, table.keys_of(after, len(databases)), desk)


read_links = partial(reading, LINKS)
"""Read links, of pages of a site or pages last fetched in a time."""
read_duplicates = partial(reading, DUPLICATES)
"""Read the evidence of duplicates: which article repeats which, and how much."""
read_sites = partial(reading, SITES)
"""Read sites with their counts."""


def _plan(query: str) -> QueryPlan | None:
    if not query.strip():
        return None
    plan = read_query(SearchQuery(query))
    if not plan.terms and not plan.parts and plan.query == SearchQuery(plan.query.text):
        raise ValueError(f"query is {query[:40]!r}, which has no word in it")
    return plan


def _end(value: Time, now: float) -> str | Bound:
    if isinstance(value, datetime):
        return Bound(seconds=now - value.timestamp())
    return Bound(value) if isinstance(value, date) else value


def _text(bound: Bound | None, now: float) -> str:
    if bound is None:
        return ""
    if bound.day:
        return bound.day.isoformat()
    moment = datetime.fromtimestamp(round(max(now - bound.seconds, 0)), UTC)
    return moment.replace(tzinfo=None).isoformat(" ")


def _site(name: str) -> str:
    name = name.strip()
    if not name:
        return ""
    url = canonicalize(name if "://" in name else f"http://{name}/")
    if url is None:
        raise ValueError(f"site is {name!r}; it takes a name such as example.com")
    return site_key(bare_host(host_key(url)))
