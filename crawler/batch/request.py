"""The request of a batch: its action, source, output and cluster."""

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

    from ..corpus.sources import PageSource
    from ..options.config import Config

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Request:
    """Arguments of `scrapy batch`.

    Attributes:
        output: None for the database itself.
        workers: processes on this machine.
        scheduler: address of another scheduler; None for one of this machine.
        partitions: number wanted; 0: by the size of the source.
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
        return cluster.connected(self.workers, self.scheduler, dashboard=self.dashboard)

    @property
    def is_packed(self) -> bool:
        return self.output is not None and self.output.suffix == ".gz"

    def needs_database(self) -> None:
        """Raise `ValueError` for a source that is no database."""
        if not is_database(self.source):
            raise ValueError(f"{self.source} is no database to write to; name a file with --output")

    def beside(self, database: str) -> Request:
        """Return a request with parts beside a SQLite file, or here under its name."""
        return replace(self, output=Path(database if Path(database).is_file() else re.sub(r"[^\w.-]+", "_", database)))

    def parts(self, mark: Mapping[str, Any], stage: str = "") -> Parts:
        """Return the folder that keeps results until the batch is done: beside its output.

        `mark` is of the source, and the settings that make a difference. Each `stage` has a folder of its own inside.

        Raises:
            ValueError: the folder belongs to another batch.
        """
        assert self.output is not None
        folder = self.output.with_name(f"{self.output.name}.parts") / stage
        return Parts(folder, {"action": self.action, "partitions": self.partitions, **mark})

    def into_file(self, source: PageSource[P], settings: Mapping[str, Any], task: Callable[[P], Done]) -> BatchTotals:
        """Do a task for all partitions of a source, and write the output; see `frame.run`."""
        assert self.output is not None
        parts = self.parts({**settings, **source.mark()})
        cut = source.cut(self.partitions, parts.folder)
        with self.connected() as client:
            totals = run(client, parts, task, cut)
        parts.join(len(cut), self.output)
        return totals
