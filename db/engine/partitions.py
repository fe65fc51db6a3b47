"""Partitions of raw pages on Postgres: one for each month of fetching.

Each is made when the first page of its month comes. A page is found by its key in the index of each of them: some
microseconds for each month that is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Connection, text

from .locks import AdvisoryLock
from .statements import is_postgres


class Month(NamedTuple):
    """A month in UTC.

    >>> Month.of(1_700_000_000.0)
    Month(year=2023, number=11)
    >>> Month.of(1_700_000_000.0).begin, Month.of(1_700_000_000.0).next.begin
    (1698796800.0, 1701388800.0)
    """

    year: int
    number: int

    @classmethod
    def of(cls, at: float) -> Month:
        day = datetime.fromtimestamp(at, UTC)
        return cls(day.year, day.month)

    @property
    def begin(self) -> float:
        """Unix time at which the month begins."""
        return datetime(self.year, self.number, 1, tzinfo=UTC).timestamp()

    @property
    def next(self) -> Month:
        return Month(self.year + self.number // 12, self.number % 12 + 1)

    @property
    def partition(self) -> str:
        """Name of its table on Postgres; names sort by month."""
        return f"page_{self.year:04}_{self.number:02}"


def make_partitions(connection: Connection, times: Iterable[float]) -> None:
    """Make the partitions for pages of some times; nothing on SQLite.

    Cost: one read of the catalogue when all are there.
    """
    months = {month.partition: month for month in map(Month.of, times)} if is_postgres(connection) else {}
    if not months or not (missing := months.keys() - set(partitions(connection))):
        return
    AdvisoryLock.PARTITION.take(connection)
    for name in sorted(missing):
        bounds = f"FROM ({months[name].begin}) TO ({months[name].next.begin})"
        connection.execute(text(f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF page FOR VALUES {bounds}"))


def partitions(connection: Connection) -> list[str]:
    return list(connection.execute(_PARTITIONS).scalars())


_PARTITIONS = text(
    "SELECT CAST(inhrelid AS regclass)::text FROM pg_inherits WHERE inhparent = CAST('page' AS regclass) ORDER BY 1"
)
