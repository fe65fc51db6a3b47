"""Base of all tables, and what their declarations share."""

from __future__ import annotations

from sqlalchemy import Index, Table, text
from sqlalchemy.orm import DeclarativeBase


class Record(DeclarativeBase):
    """Base of all tables."""

    @classmethod
    def table(cls) -> Table:
        """Return the Core table, which the batches use."""
        return cls.__table__  # type: ignore[return-value]


def partial_index(name: str, *columns: str, where: str) -> Index:
    """Declare an index of the rows that fulfil a condition; columns may say `DESC`."""
    rows = text(where)
    parts = (text(column) if " " in column else column for column in columns)
    return Index(name, *parts, sqlite_where=rows, postgresql_where=rows)
