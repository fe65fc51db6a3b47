"""Copying a crawl into another database: SQLite to Postgres, back, or to a file.

All is read in one transaction and written in one. So the copy is the crawl as it was at one moment, and a copy that
was interrupted leaves the target empty. Tables and columns are those of the models: a new one is copied too. The
full-text index is made anew in the target.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, LargeBinary, String, Table, func, select, text
from sqlalchemy.exc import DBAPIError

from ..engine.database import Database, open_for_crawl, open_for_reading, parse_url
from ..engine.errors import DatabaseGone, WrongDatabase, classify
from ..engine.partitions import make_partitions
from ..engine.processes import is_gone
from ..engine.statements import clock, is_postgres
from ..frontier import counts
from ..frontier.leases import wake_hosts
from ..frontier.runs import release
from ..records.search import MakeTerms
from ..search import index
from ..tables import Record
from ..tables.articles import ArticleRow, PageRow
from ..tables.runs import RunRow
from ..tables.search import SearchDocumentRow

Rows = Sequence[Sequence[Any]]
Progress = Callable[[int, str, int], None]
"""Called with the rows of all tables, the table being copied, and how many more of its rows are."""

document, page = SearchDocumentRow.table(), PageRow.table()
TABLES: Sequence[Table] = Record.metadata.sorted_tables
COPIED: Sequence[Table] = [table for table in TABLES if table is not document]
"""Tables that are copied; the full-text index is made anew, since each database has another."""
run = RunRow.table()

_ROWS = 1000
_ROWS_WITH_BYTES = 50  # pages as fetched: some MB each at worst
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Copied:
    """Result of a copy: the target's URL without password, and rows by table.

    `changed` counts texts that the target could not hold as they were.
    """

    url: str
    rows: Mapping[str, int]
    changed: int


def copy_database(
    source_url: str,
    target_url: str,
    *,
    patience_seconds: float,
    make_terms: MakeTerms,
    waiting: Callable[[str], None],
    progress: Progress,
) -> Copied:
    """Copy a crawl that is not running into an empty or new database.

    `patience_seconds` is how long a locked or silent target is waited for at the start, `waiting` is called once with a
    sentence that says why, `progress` for each batch. Nothing is changed in the source.

    Raises:
        WrongDatabase: one of the two must not be used so.
        DatabaseGone, Unavailable: one of the two gave up. Nothing was copied then.

    Cost: one batch of rows in memory; some 150,000 rows a second, and 1 ms an article.
    """
    with closing(open_for_reading(source_url)) as source:
        _refuse_same_file(source, target_url)
        _keep_crawls_away(source)
        with closing(open_for_crawl(target_url, patience_seconds=patience_seconds, waiting=waiting)) as target:
            return _copy(source, target, make_terms, progress)


def _copy(source: Database, target: Database, make_terms: MakeTerms, progress: Progress) -> Copied:
    texts = _Texts(with_nul=target.is_sqlite)
    fill = _insert if target.is_sqlite else _copy_in
    with _in_words(source), _snapshot(source) as reader:
        _take_your_time(reader)
        _refuse_running(source, reader)
        newest = _newest(reader)
        sizes = {table.name: _count(reader, table) for table in COPIED}
        sizes[document.name] = sizes[ArticleRow.__tablename__]
        taken = partial(progress, sum(sizes.values()))
        with _in_words(target), target.engine.connect().execution_options(writer=True) as writer, writer.begin():
            _take_your_time(writer)
            _refuse_same_database(source, reader, target, writer)
            _refuse_filled(target, writer)
            _count_urls(writer, "DISABLE")  # the counts are copied
            make_partitions(writer, reader.execute(select(page.c.fetched_at)).scalars())
            for table in COPIED:
                fill(writer, table, texts.fit(table, _batches(source, reader, table, taken)))
            index.rebuild(writer, make_terms, partial(taken, document.name))
            for table in TABLES:
                if (row_count := _count(writer, table)) != sizes[table.name]:
                    raise DatabaseGone(
                        f"{target.name} has {row_count} rows in {table.name} instead of {sizes[table.name]}; "
                        "nothing was copied"
                    )
            _make_ready(writer)
            _refuse_started(source, newest)
    url = URL.create("sqlite", database=target.name).render_as_string() if target.is_sqlite else target.name
    return Copied(url, sizes, texts.changed)


@contextmanager
def _in_words(database: Database) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        words = str(error.orig).strip().partition("\n")[0]
        problem = classify(error, database.name) or DatabaseGone(f"{database.name}: {words}; nothing was copied")
        raise problem from error


# ---------------------------------------------------------------- what is refused


def _refuse_same_file(source: Database, target_url: str) -> None:
    """Refuse the source's file before it is opened, for its lock is held already."""
    target = parse_url(target_url)
    if source.is_sqlite and target.get_backend_name() == "sqlite":
        path = Path(target.database or "")
        if path.exists() and path.samefile(source.name):
            raise _same(source)


def _refuse_same_database(source: Database, reader: Connection, target: Database, writer: Connection) -> None:
    """Refuse a target that is the source under another URL, as the server says."""
    if not source.is_sqlite and not target.is_sqlite:
        identity = text("SELECT pg_postmaster_start_time(), current_database()")
        if reader.execute(identity).one() == writer.execute(identity).one():
            raise _same(source)


def _same(source: Database) -> WrongDatabase:
    return WrongDatabase(f"{source.name} cannot be copied into itself; name another database")


def _keep_crawls_away(source: Database) -> None:
    try:
        source.keep_crawls_away()
    except WrongDatabase:
        raise _running(f"a crawl is running on {source.name}") from None


def _refuse_running(source: Database, reader: Connection) -> None:
    if source.is_sqlite:
        return
    rest = (run.c.alive_until - clock(reader, 0)).label("rest")
    for row in reader.execute(select(run.c.pid, run.c.place, run.c.machine, rest).where(run.c.finished.is_(None))):
        if row.rest > 0 and not is_gone(row.place, row.pid):
            raise _running(
                f"a crawl is running on {source.name} (process {row.pid} on {row.machine}; "
                f"if it was killed, its lease ends in {row.rest:.0f} s)"
            )


def _refuse_started(source: Database, newest: int) -> None:
    if not source.is_sqlite:
        with _in_words(source), source.engine.connect() as connection:
            _refuse_running(source, connection)
            if _newest(connection) != newest:
                raise _running(f"a crawl was started on {source.name} meanwhile")


def _newest(connection: Connection) -> int:
    return int(connection.execute(select(func.coalesce(func.max(run.c.id), 0))).scalar_one())


def _running(what: str) -> WrongDatabase:
    return WrongDatabase(f"{what}, and what it does would be missing in the copy; stop it and copy again")


def _refuse_filled(target: Database, writer: Connection) -> None:
    for table in TABLES:
        if writer.execute(select(table).limit(1)).first() is not None:
            raise WrongDatabase(
                f"{target.name} is not empty (see its table {table.name}); name an empty or new database"
            )


# ---------------------------------------------------------------- rows


def _snapshot(source: Database) -> Connection:
    connection = source.engine.connect()
    if not source.is_sqlite:
        return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    driver: Any = connection.connection.driver_connection
    # a file takes any bytes for text; those that are none become surrogates, which `_Texts` replaces
    driver.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    return connection


def _take_your_time(connection: Connection) -> None:
    """Lift time limits: one side may have nothing to do for minutes."""
    if is_postgres(connection):
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def _count(connection: Connection, table: Table) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def _batches(source: Database, reader: Connection, table: Table, taken: Callable[[str, int], None]) -> Iterator[Rows]:
    size = _ROWS_WITH_BYTES if any(isinstance(column.type, LargeBinary) for column in table.columns) else _ROWS
    with _in_words(source):
        for rows in reader.execute(select(table), execution_options={"yield_per": size}).partitions():
            yield rows
            taken(table.name, len(rows))


class _Texts:
    def __init__(self, *, with_nul: bool) -> None:
        self.changed = 0
        self._with_nul = with_nul

    def fit(self, table: Table, batches: Iterable[Rows]) -> Iterator[Rows]:
        if not any(isinstance(column.type, String) for column in table.columns):
            yield from batches
            return
        for rows in batches:
            yield [[self._text(value) if isinstance(value, str) else value for value in row] for row in rows]

    def _text(self, value: str) -> str:
        fit = value if self._with_nul else value.replace("\0", "")
        try:
            fit.encode()  # a search for surrogates takes ten times as long
        except UnicodeEncodeError:
            fit = _SURROGATE.sub("\ufffd", fit)
        self.changed += fit != value
        return fit


def _insert(writer: Connection, table: Table, batches: Iterable[Rows]) -> None:
    name, columns = _names(writer, table)
    places = ", ".join("?" * len(table.columns))
    for rows in batches:
        writer.exec_driver_sql(f"INSERT INTO {name} ({columns}) VALUES ({places})", [tuple(row) for row in rows])


def _copy_in(writer: Connection, table: Table, batches: Iterable[Rows]) -> None:
    """Load rows into Postgres by one COPY, in a quarter of the time of INSERTs."""
    name, columns = _names(writer, table)
    driver: Any = writer.connection.driver_connection
    try:
        with driver.cursor().copy(f"COPY {name} ({columns}) FROM STDIN") as copy:
            for rows in batches:
                for row in rows:
                    copy.write_row(row)
    except writer.dialect.loaded_dbapi.Error as error:
        raise DBAPIError("COPY", None, error) from error


def _names(writer: Connection, table: Table) -> tuple[str, str]:
    quoted = writer.dialect.identifier_preparer
    return quoted.format_table(table), ", ".join(quoted.format_column(column) for column in table.columns)


def _count_urls(writer: Connection, what: str) -> None:
    if is_postgres(writer):
        writer.exec_driver_sql(f"ALTER TABLE url {what} TRIGGER USER")


def _make_ready(writer: Connection) -> None:
    _count_urls(writer, "ENABLE")
    release(writer, writer.execute(select(run.c.id)).scalars().all(), tried=1, outcome="copied")
    wake_hosts(writer, [None])
    counts.fold(writer)
    if not is_postgres(writer):
        return
    for table in TABLES:
        column = table.autoincrement_column
        if column is not None:
            sequence = func.pg_get_serial_sequence(table.name, column.name)
            last = select(func.setval(sequence, func.coalesce(func.max(column), 0) + 1, False))  # noqa: FBT003
            writer.execute(last)
        writer.exec_driver_sql(f"ANALYZE {_names(writer, table)[0]}")
