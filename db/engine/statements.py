"""Fast statements for every page: compiled once, for many rows at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    Float,
    Integer,
    Table,
    Text,
    TypeDecorator,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    or_,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from ..records.url import State
from ..tables.urls import UrlRow

P = TypeVar("P")
R = TypeVar("R")


def one_by_one(work: Callable[[Connection, P], R]) -> Callable[[Connection, Sequence[P]], list[R]]:
    @wraps(work)
    def batch(connection: Connection, payloads: Sequence[P]) -> list[R]:
        return [work(connection, payload) for payload in payloads]

    return batch


def is_postgres(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def is_one_of(column: Any, values: Sequence[str]) -> ColumnElement[bool]:
    """Compare a column with a few constants, in a form that `run_many` takes as well."""
    return or_(*(column == value for value in values))


def in_state(state: State) -> ColumnElement[bool]:
    """Return a condition on the state, written out so that partial indexes serve it."""
    return UrlRow.table().c.state == literal_column(f"'{state}'")


def clock(connection: Connection, now: float) -> ColumnElement[float]:
    """Return the Unix time of leases: the server's, on SQLite the caller's `now`."""
    if is_postgres(connection):
        return func.extract("epoch", func.clock_timestamp()).cast(Float)
    return literal(now, Float)


# ---------------------------------------------------------------- what became of a transaction


def transaction_number(connection: Connection) -> int | None:
    """Return the number of a transaction that has written; None on SQLite."""
    if not is_postgres(connection):
        return None
    number: int | None = connection.execute(_TRANSACTION).scalar_one()
    return number


def transaction_state(connection: Connection, number: int) -> str | None:
    """Return "committed", "aborted" or "in progress"; None if it is forgotten.

    A number that is yet to come was given out before a crash, and its transaction never reached the disk.
    """
    state: str | None = connection.execute(_TRANSACTION_STATE, {"number": number}).scalar_one()
    return state


_TRANSACTION = select(func.txid_current_if_assigned())
_NUMBER = bindparam("number", type_=BigInteger)
_IS_TO_COME = func.txid_current() <= _NUMBER
_TRANSACTION_STATE = select(case((_IS_TO_COME, "aborted"), else_=func.txid_status(_NUMBER)))


# ---------------------------------------------------------------- one of many identifiers


class _Ids(TypeDecorator[Sequence[int]]):
    """A list of identifiers as one parameter: an array on Postgres, JSON on SQLite."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Sequence[int] | None, dialect: Dialect) -> str:
        assert value is not None
        return array_of(value) if dialect.name == "postgresql" else json.dumps(list(value))


def array_of(numbers: Iterable[int | None]) -> str:
    """Write numbers as a Postgres array: several times faster than one by one."""
    return "{" + ",".join(["NULL" if n is None else str(n) for n in numbers]) + "}"


class _Among(FunctionElement[Any]):
    # of no declared type: SQLite would be asked whether a boolean "= 1", and then uses no index
    inherit_cache = True


@compiles(_Among)
def _among_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY (CAST({ids} AS BIGINT[]))"


@compiles(_Among, "sqlite")
def _among_json(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({ids}))"


def among(column: ColumnElement[Any], name: str = "ids") -> Any:
    """`column IN (...)` for a list given as the parameter `name`.

    The list is one parameter, so the statement stays the same for any length, and neither SQLAlchemy nor the database
    has to prepare it again (an expanding IN is rendered anew each time).
    """
    return _Among(column, bindparam(name, type_=_Ids()))


# ---------------------------------------------------------------- many rows


def upsert(connection: Connection, table: Table, fixed: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Write a row: `values` always, `fixed` (with its key) only if it is new."""
    statement = _maker(connection.dialect.name).insert(table).values({**fixed, **values})
    keys = table.primary_key.columns.keys()
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=values))


def _maker(dialect: str) -> Any:
    return postgresql if dialect == "postgresql" else sqlite


@cache
def _insert_new(dialect: str, table: Table) -> Any:
    return _maker(dialect).insert(table).on_conflict_do_nothing()


@cache
def replacing(dialect: str, table: Table) -> Any:
    keys = table.primary_key.columns.keys()
    statement = _maker(dialect).insert(table).values({each.name: bindparam(each.name) for each in table.c})
    new = {each.name: statement.excluded[each.name] for each in table.c if each.name not in keys}
    return statement.on_conflict_do_update(index_elements=keys, set_=new)


def insert_new(connection: Connection, table: Table) -> Any:
    """Return `INSERT ... ON CONFLICT DO NOTHING`, cached: building it is slow."""
    return _insert_new(connection.dialect.name, table)


def run_many(connection: Connection, statement: Executable, rows: Sequence[Mapping[str, Any]]) -> int:
    """Run a statement for each row of parameters; returns how many rows changed.

    The statement is compiled once, and rows go to the driver unchecked: a quarter of the time of `Connection.execute`.
    For plain columns only (nothing that SQLAlchemy would convert).
    """
    if not rows:
        return 0
    sql, constants, places = _compiled(connection.dialect, statement)
    if places is None:
        parameters: Any = [{**constants, **row} for row in rows]
    elif constants:
        parameters = [places({**constants, **row}) for row in rows]
    else:
        parameters = [places(row) for row in rows]
    return connection.exec_driver_sql(sql, parameters).rowcount


@cache
def _compiled(dialect: Dialect, statement: Any) -> tuple[str, dict[str, Any], Any]:
    """Return SQL text, constant parameters, and the order of the others if unnamed."""
    compiled = statement.compile(dialect=dialect)
    constants = {name: bind.value for bind, name in compiled.bind_names.items() if not bind.required}
    order = compiled.positiontup
    if order is None:
        return compiled.string, constants, None
    if len(order) == 1:
        name = order[0]
        return compiled.string, constants, lambda row: (row[name],)
    return compiled.string, constants, itemgetter(*order)


def insert_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> int:
    """Insert many rows except those whose key exists; returns how many are new.

    For tables that get dozens of rows a page. On SQLite 32 go with each statement, because its driver releases Python's
    lock and takes it again for every statement; on Postgres all go as one, with an array for each column.
    """
    if not rows:
        return 0
    names = ", ".join(columns)
    if not is_postgres(connection):
        whole = len(rows) - len(rows) % _ROWS_TOGETHER
        parts = (_ROWS_TOGETHER, rows[:whole]), (1, rows[whole:])
        return sum(_insert_sqlite(connection, f"{table.name} ({names})", size, part) for size, part in parts if part)
    types = [table.c[name].type for name in columns]
    arrays = ", ".join(f"CAST(%s AS {type_.compile(connection.dialect)}[])" for type_ in types)
    values = [
        array_of(column) if isinstance(type_, Integer) else list(column)
        for type_, column in zip(types, zip(*rows, strict=True), strict=True)
    ]
    statement = f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({arrays}) ON CONFLICT DO NOTHING"
    return connection.exec_driver_sql(statement, tuple(values)).rowcount


_ROWS_TOGETHER = 32


def _insert_sqlite(connection: Connection, into: str, size: int, rows: Sequence[tuple[Any, ...]]) -> int:
    values = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * size)
    together = [tuple(chain.from_iterable(rows[n : n + size])) for n in range(0, len(rows), size)]
    return connection.exec_driver_sql(f"INSERT INTO {into} VALUES {values} ON CONFLICT DO NOTHING", together).rowcount
