"""Inserts that leave out what is there already, in the words of either database, made once and used for every page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, literal_column
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from .tables import State, Url


def in_state(state: State) -> ColumnElement[bool]:
    """`url.state = '...'` with the state written out: an index on part of a table serves no bound parameter."""
    return Url.table().c.state == literal_column(f"'{state}'")


def upsert(connection: Connection, table: Any) -> Any:
    """`INSERT` of the connection's dialect, which knows `on_conflict_do_...`."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement: Insert = dialect.insert(table)
    return statement


def insert_new(connection: Connection, table: Table) -> Any:
    """`INSERT ... ON CONFLICT DO NOTHING`, made once: building it costs more than running it."""
    key = (connection.dialect.name, table.name)
    if key not in _INSERTS:
        _INSERTS[key] = upsert(connection, table).on_conflict_do_nothing()
    return _INSERTS[key]


_INSERTS: dict[tuple[str, str], Any] = {}


def insert_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows, leaving out those whose key is there already.

    For the two tables that get dozens of rows a page: tuples go to the driver as they are, which saves three quarters
    of the time that a dictionary a row would take.
    """
    if not rows:
        return
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    places = ", ".join([mark] * len(columns))
    names = ", ".join(columns)
    connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) VALUES ({places}) ON CONFLICT DO NOTHING", rows)
