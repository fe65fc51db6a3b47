"""The base of all tables."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.orm import DeclarativeBase


class Record(DeclarativeBase):
    """Base of all tables."""

    @classmethod
    def table(cls) -> Table:
        """The Core table, which the batches use."""
        return cls.__table__  # type: ignore[return-value]
