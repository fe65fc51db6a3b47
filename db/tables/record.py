"""Base of all tables, and what their declarations share."""

from __future__ import annotations

from typing import Any, ClassVar

from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, Index, MetaData, Table, column, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.schema import SchemaItem


class Record:
    """Base of all tables; the annotation of a column that may be empty says `None`.

    SQLAlchemy's mapper takes the same declarations, but to import it and to map our tables is a tenth of what the start
    of a command costs, and rows are read and written by the tables alone. What only one kind of database has is said
    beside the base (`class LinkRow(Record, sqlite_with_rowid=False)`).
    """

    metadata: ClassVar = MetaData()
    __tablename__: ClassVar[str]
    __parts__: ClassVar[tuple[SchemaItem, ...]] = ()
    """Indexes and constraints."""
    _table: ClassVar[Table]

    def __init_subclass__(cls, **options: Any) -> None:
        columns = {name: one for name, one in vars(cls).items() if isinstance(one, Column)}
        for name, one in columns.items():
            one.name = one.key = name
            one.nullable = "None" in cls.__annotations__[name]
        cls._table = Table(cls.__tablename__, cls.metadata, *columns.values(), *cls.__parts__, **options)

    @classmethod
    def table(cls) -> Table:
        return cls._table


def refers_to(target: str, circle: str | None = None) -> ForeignKey:
    """Declare a reference, which Postgres checks at the end of the transaction.

    SQLite checks none unless it is asked to (`PRAGMA foreign_keys`): its tools show what belongs together.

    Args:
        target: column of the other table.
        circle: name of the constraint, when the other table refers to this one.
    """
    return ForeignKey(target, deferrable=True, initially="DEFERRED", name=circle, use_alter=circle is not None)


def unchecked(name: str, target: str) -> ForeignKeyConstraint:
    """Declare a reference that Postgres does not have, because it would check it.

    New URLs and links would take twice as long to write, and a row of `url` that goes a look at all others. Rows of
    hosts are locked often, and what is learned of them is written beside.
    """
    return ForeignKeyConstraint([name], [target]).ddl_if(dialect="sqlite")


def partial_index(name: str, *columns: str, where: str) -> Index:
    """Declare an index of the rows that fulfil a condition; columns may say `DESC`."""
    rows = text(where)
    parts = (text(one) if " " in one else one for one in columns)
    return Index(name, *parts, sqlite_where=rows, postgresql_where=rows)


class _Latest(FunctionElement[str]):
    # SQLite puts what is empty last by itself, and knows no words for that in an index
    inherit_cache = True


@compiles(_Latest)
def _latest(element: _Latest, compiler: SQLCompiler, **options: Any) -> str:
    (column,) = element.clauses
    return f"{compiler.process(column, **options)} DESC NULLS LAST"


@compiles(_Latest, "sqlite")
def _latest_in_sqlite(element: _Latest, compiler: SQLCompiler, **options: Any) -> str:
    (column,) = element.clauses
    return f"{compiler.process(column, **options)} DESC"


def newest_first(name: str, *before: str, time: str) -> Index:
    """Declare an index of the latest rows, of each value of `before` on their own."""
    return Index(name, *before, _Latest(column(time)))
