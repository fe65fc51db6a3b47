"""Writing the full-text index, in the transaction that writes the articles.

A row of `search_document` has what filters and ranking need; its words go to an FTS5 table on SQLite, on Postgres into
a column with a GIN index. Nothing is taken out of the FTS5 table: words of numbers without a row are passed over, until
the index is rebuilt.

Beside the words of an article stand marks: tokens for its site, language, source, section, classes, day, month and
year, by which a search narrows before it counts. No word begins with "_".
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from ..engine.locks import AdvisoryLock
from ..engine.statements import among, array_of, insert_rows, is_postgres
from ..records.article import split_names
from ..records.keys import fingerprint, read_day, read_time
from ..records.search import TERM_FIELDS, IndexedArticle, IndexForm, MakeTerms
from ..tables.articles import TEXT, WITH_HOLDER, ArticleRow
from ..tables.search import SearchDocumentRow

article, document = ArticleRow.table(), SearchDocumentRow.table()

BUCKET_BITS = 12
"""Numbers that share all but so many bits share a mark on Postgres, whose index has no order."""
_AT_ONCE = 500
_SAID_EVERY = 10_000
_COLUMNS = ("number", *(name for name in IndexedArticle._fields if name != "words"))
_EPOCH = date(1970, 1, 1)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_WHOLE = _COLUMNS.index("language")
"""The leading columns that are numbers."""


def insert(connection: Connection, rows: Sequence[IndexedArticle]) -> None:
    """Add articles that are not in the index. The caller holds the lock on articles.

    Cost: 0.2 ms an article on SQLite.
    """
    if not rows:
        return
    first = connection.execute(_TOP).scalar_one() + 1
    numbered = list(enumerate(rows, first))
    words = [" ".join(filter(None, (row.words, *marks_of(row), bucket_mark(number)))) for number, row in numbered]
    values = [(number, *row[:-2], row.terms) for number, row in numbered]
    if is_postgres(connection):
        columns = list(zip(*values, strict=True))
        whole, others = [array_of(column) for column in columns[:_WHOLE]], columns[_WHOLE:]
        connection.exec_driver_sql(_INSERT, (*whole, *map(list, others), words))
        return
    insert_rows(connection, document, _COLUMNS, values)
    tagged = list(zip((number for number, _ in numbered), words, strict=True))
    connection.exec_driver_sql("INSERT INTO search_words (rowid, words) VALUES (?, ?)", tagged)


def merge_pending(connection: Connection) -> None:
    """Merge into the index what Postgres keeps beside it; SQLite has nothing to merge.

    Done apart, so that no page's transaction has to; searches read what is not merged yet. Cost: 1 to 2 ms of the
    server an article.
    """
    if is_postgres(connection):
        connection.exec_driver_sql("SELECT gin_clean_pending_list('ix_search_document_words')")


def remove(connection: Connection, article_ids: Iterable[int]) -> None:
    ids = {"ids": list(article_ids)}
    connection.execute(_REMOVE, ids)
    connection.execute(_EMPTY, ids)


def move(connection: Connection, old: int, new: int) -> None:
    connection.execute(_MOVE, {"old": old, "new": new})


def regroup(connection: Connection, cluster_id: int) -> None:
    connection.execute(_REGROUP, {"key": cluster_id})


def regroup_all(connection: Connection) -> None:
    connection.execute(_REGROUP_ALL)


def renew(connection: Connection, article_ids: Sequence[int], make: MakeTerms) -> None:
    """Index stored articles anew. The caller holds the lock on articles."""
    if article_ids:
        remove(connection, article_ids)
        stored_rows = {row.id: row for row in connection.execute(_STORED, {"ids": list(article_ids)})}
        insert(connection, [_row(stored_rows[key], make) for key in article_ids if key in stored_rows])


def rebuild(connection: Connection, make: MakeTerms, progress: Callable[[int], None]) -> int:
    """Index all articles anew, the newest last; returns how many there are.

    The caller holds the lock on articles. Until the transaction ends, others see the index as it was. `progress` is
    called with the number of articles of each batch.

    Memory: 8 bytes an article. Cost: 1 ms an article, most of it for `make`.
    """
    connection.execute(delete(document))
    if not is_postgres(connection):
        connection.exec_driver_sql("INSERT INTO search_words (search_words) VALUES ('delete-all')")
    order = array("q", connection.execute(_ORDER).scalars())
    for first in range(0, len(order), _AT_ONCE):
        ids = order[first : first + _AT_ONCE].tolist()
        stored_rows = {row.id: row for row in connection.execute(_STORED, {"ids": ids})}
        insert(connection, [_row(stored_rows[key], make) for key in ids])
        progress(len(ids))
    merge_pending(connection)
    return len(order)


def has_form(connection: Connection, is_current: Callable[[bytes], bool]) -> bool:
    """Tell whether the index is of a form, as its first and last rows tell."""
    end_terms = (connection.execute(end).scalar() for end in (_FIRST_TERMS, _LAST_TERMS))
    return all(terms is None or is_current(terms) for terms in end_terms)


def bring_up_to_date(connection: Connection, forms: Sequence[IndexForm]) -> list[None]:
    """Rebuild the index if it is of another form.

    Cost: 1 ms an article if it is, see `rebuild`; else two reads.
    """
    for form in forms:
        if has_form(connection, form.is_current):
            continue
        if is_postgres(connection):
            connection.exec_driver_sql("SET LOCAL lock_timeout = 0")  # another process may be making it
            AdvisoryLock.ARTICLES.take(connection)
            if has_form(connection, form.is_current):  # it has just done so
                continue
        form.said("the full-text index is made anew: this version finds words by more spellings")
        done = rebuild(connection, form.make, IndexingProgress(form.said))
        form.said(f"{done:,} articles indexed")
    return [None] * len(forms)


class IndexingProgress:
    def __init__(self, said: Callable[[str], None]) -> None:
        self._said = said
        self._done = 0

    def __call__(self, more: int) -> None:
        before, self._done = self._done, self._done + more
        if before // _SAID_EVERY < self._done // _SAID_EVERY:
            self._said(f"{self._done:,} articles indexed")


def _row(stored: Any, make: MakeTerms) -> IndexedArticle:
    words, terms = make(*(getattr(stored, name) for name in TERM_FIELDS))
    times = times_of(stored.published_at, stored.published_utc, stored.first_seen)
    facets = stored.language, stored.source, stored.section, stored.classes
    return IndexedArticle(stored.id, stored.site_id, stored.cluster_id, *times, *facets, words, terms)


def times_of(published_at: str | None, published_utc: str | None, first_seen: str) -> tuple[int, int]:
    """Return the Unix time and the day by which an article is sought.

    A text that is no time counts as none.

    >>> times_of("1970-01-02", "1970-01-01 16:00:00", ""), times_of(None, None, "1970-01-01T01:00:00+00:00")
    ((57600, 1), (3600, 0))
    """
    seen = read_time(first_seen) or _NEVER
    moment = read_time(published_utc) or seen
    day = read_day(published_at) or (seen if published_utc is None else moment).date()
    return int(moment.timestamp()), day_of(day)


# ---------------------------------------------------------------- marks


def marks_of(row: IndexedArticle) -> Iterator[str]:
    yield site_mark(row.site_id)
    yield language_mark(row.language)
    if row.source:
        yield source_mark(row.source)
    if row.section:
        yield section_mark(row.section)
    for name in split_names(row.classes):
        yield class_mark(name)
    day = _EPOCH + timedelta(days=row.day)
    yield year_mark(day)
    yield _month_mark(day)
    yield _day_mark(day)


def site_mark(site_id: int) -> str:
    return f"_s{site_id & _ALL_BITS:x}"


def language_mark(language: str) -> str:
    return f"_l{language.partition('-')[0].lower()}"


def source_mark(source: str) -> str:
    return f"_o{fingerprint(source) & _ALL_BITS:x}"


def section_mark(section: str) -> str:
    return f"_c{fingerprint(section) & _ALL_BITS:x}"


def class_mark(name: str) -> str:
    return f"_k{fingerprint(name) & _ALL_BITS:x}"


def bucket_mark(number: int) -> str:
    return f"_b{number >> BUCKET_BITS:x}"


def bucket_marks(last: int) -> list[str]:
    """Return the marks of all numbers up to the last, the newest first."""
    return [bucket_mark(number) for number in range(last, -1, -(1 << BUCKET_BITS))]


def day_marks(first_day: int, last_day: int) -> list[str]:
    """Return the marks of a period, the newest first: of years, months and days.

    >>> day_marks(364, 395)
    ['_m197101', '_d19701231']
    """
    marks = []
    end = _EPOCH + timedelta(days=min(last_day, day_of(LAST)) + 1)
    first = _EPOCH + timedelta(days=max(first_day, day_of(FIRST)))
    while end > first:
        last = end - timedelta(days=1)
        year, month = last.replace(month=1, day=1), last.replace(day=1)
        if (end.month, end.day) == (1, 1) and year >= first:
            marks.append(year_mark(last))
            end = year
        elif end.day == 1 and month >= first:
            marks.append(_month_mark(last))
            end = month
        else:
            marks.append(_day_mark(last))
            end = last
    return marks


def parts_of(first: date, end: date) -> list[tuple[date, date]]:
    """Return the months of a year, or the days of a month; none of a day.

    Each is its first day and the day behind its last.

    >>> len(parts_of(date(2024, 1, 1), date(2025, 1, 1))), len(parts_of(date(2024, 2, 1), date(2024, 3, 1)))
    (12, 29)
    """
    days = [first + timedelta(days=n) for n in range((end - first).days)]
    if len(days) == 1:
        return []
    starts = [day for day in days if day.day == 1] if end > following_month(first) else days
    return list(zip(starts, [*starts[1:], end], strict=True))


def following_year(day: date) -> date:
    return date(day.year + 1, 1, 1)


def following_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def day_of(day: date) -> int:
    """Return a day as a number of days since 1970."""
    return (day - _EPOCH).days


def year_mark(day: date) -> str:
    return f"_y{day.year:04}"


def _month_mark(day: date) -> str:
    return f"_m{day.year:04}{day.month:02}"


def _day_mark(day: date) -> str:
    return f"_d{day.year:04}{day.month:02}{day.day:02}"


_ALL_BITS = (1 << 64) - 1
FIRST, LAST = date(1800, 1, 1), date(2199, 12, 31)
"""No article is earlier or later."""
_TOP = select(func.coalesce(func.max(document.c.number), 0))
_FIRST_TERMS, _LAST_TERMS = (
    select(document.c.terms).where(document.c.article_id.is_not(None)).order_by(order).limit(1)
    for order in (document.c.number, document.c.number.desc())
)
_REMOVE = delete(document).where(among(document.c.article_id), document.c.number < _TOP.scalar_subquery())
_EMPTY = update(document).where(among(document.c.article_id)).values(article_id=None, terms=b"", words=None)
_MOVE = update(document).where(document.c.article_id == bindparam("old")).values(article_id=bindparam("new"))
_REGROUP = (
    update(document)
    .where(
        document.c.article_id.in_(select(article.c.id).where(article.c.cluster_id == bindparam("key"))),
        document.c.cluster_id != bindparam("key"),
    )
    .values(cluster_id=bindparam("key"))
)
_CLUSTER = select(article.c.cluster_id).where(article.c.id == document.c.article_id).scalar_subquery()
_REGROUP_ALL = update(document).where(document.c.cluster_id != _CLUSTER).values(cluster_id=_CLUSTER)
_STORED = (
    select(
        *(article.c[name] for name in ("id", "site_id", "cluster_id", "published_at", "published_utc", "first_seen")),
        *(article.c[name] for name in ("section", "classes", *TERM_FIELDS) if name != "text"),
        TEXT.label("text"),
    )
    .select_from(WITH_HOLDER)
    .where(among(article.c.id))
)
_ORDER = select(article.c.id).order_by(article.c.published_utc.is_not(None), article.c.published_utc, article.c.id)
_INSERT = (
    f"INSERT INTO search_document ({', '.join(_COLUMNS)}, words) SELECT {', '.join('abcdefghijk')}, "
    "array_to_tsvector(string_to_array(w, ' ')) FROM unnest(CAST(%s AS BIGINT[]), CAST(%s AS BIGINT[]), "
    "CAST(%s AS BIGINT[]), CAST(%s AS BIGINT[]), CAST(%s AS BIGINT[]), CAST(%s AS BIGINT[]), CAST(%s AS TEXT[]), "
    "CAST(%s AS TEXT[]), CAST(%s AS TEXT[]), CAST(%s AS TEXT[]), CAST(%s AS BYTEA[]), CAST(%s AS TEXT[])) "
    "AS _ (a, b, c, d, e, f, g, h, i, j, k, w)"
)
