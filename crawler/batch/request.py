"""The request of a batch: what is to be done to which source, where and how."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from db.engine.database import is_database

from . import cluster
from .frame import BatchTotals, Done, Parts, run

if TYPE_CHECKING:
    from distributed import Client

    from ..options.config import Config
    from .sources import BatchSource

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments of `scrapy batch`.

    Attributes:
        action: `extract`, `describe`, `duplicates` or `rank`.
        source: a path or the URL of a database, as given.
        output: where the result goes; None for the database.
        config: the checked settings; it can be sent to workers.
        workers: processes on this machine.
        scheduler: address of another scheduler; None for one of this machine.
        partitions: how many are wanted; 0: by the size of the source.
        dashboard: whether the scheduler of this machine shows what it does.
    """

    action: str
    source: str
    output: Path | None
    config: Config
    workers: int
    scheduler: str | None
    partitions: int
    dashboard: bool = False

    def connected(self) -> AbstractContextManager[Client]:
        """Open the scheduler; see `cluster.connected`."""
        return cluster.connected(self.workers, self.scheduler, dashboard=self.dashboard)

    @property
    def is_packed(self) -> bool:
        """Tell whether the output is gzipped."""
        return self.output is not None and self.output.suffix == ".gz"

    def needs_database(self) -> None:
        """Refuse a source that is no database.

        Raises:
            ValueError: naming what is missing.
        """
        if not is_database(self.source):
            raise ValueError(f"{self.source} is no database to write to; name a file with --output")

    def beside(self, database: str) -> Request:
        """Return it with parts beside a SQLite file, or here under a database's name."""
        return replace(self, output=Path(database if Path(database).is_file() else re.sub(r"[^\w.-]+", "_", database)))

    def parts(self, mark: Mapping[str, Any], stage: str = "") -> Parts:
        """Return where results are kept until the batch is done: beside its output.

        Args:
            mark: of the source, and the settings that make a difference.
            stage: of a batch of several; each has a folder of its own, inside the first one's.

        Raises:
            ValueError: what is there is of something else.
        """
        assert self.output is not None
        folder = self.output.with_name(f"{self.output.name}.parts") / stage
        return Parts(folder, {"action": self.action, "partitions": self.partitions, **mark})

    def into_file(self, source: BatchSource[P], made: Mapping[str, Any], task: Callable[[P], Done]) -> BatchTotals:
        """Do a task for all partitions of a source, and write the output.

        Args:
            source: of the partitions.
            made: settings that make a difference.
            task: see `frame.run`.

        Raises:
            BatchStopped, ValueError, OSError, DatabaseProblem: see `frame.run`.
        """
        assert self.output is not None
        parts = self.parts({**made, **source.mark()})
        cut = source.cut(self.partitions, parts.folder)
        with self.connected() as client:
            totals = run(client, parts, task, cut)
        parts.join(len(cut), self.output)
        return totals
