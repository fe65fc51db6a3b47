"""The desk of a server: its file, its marks, and whether readers may write to it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from db.desk.file import DeskFile
from db.desk.marks import MarkIndex, Read, marks_of
from db.engine.errors import DatabaseProblem
from db.records.desk import ArticleMarks, MarkedArticles

from ...desk.watcher import Watcher
from ...options.alerts import AlertOptions

_LAST_SECONDS = 2.0
"""For what is being sent when the server ends; another watcher would send it again."""
_OFF = "this server was started with --no-desk"


@dataclass(frozen=True, slots=True)
class DeskOptions:
    """The file of the desk, None for no desk, and how its alerts are sent.

    With `allows_loopback` readers may name webhooks on this machine: they are at it.
    """

    path: Path | None = None
    alerts: AlertOptions = field(default_factory=AlertOptions)
    allows_loopback: bool = True


class Desk:
    """The desk as pages use it."""

    def __init__(self, options: DeskOptions) -> None:
        self.options = options
        self.file = None if options.path is None else DeskFile(options.path)
        self.index = None if self.file is None else MarkIndex(self.file)

    def objection(self) -> str:
        """Say why nothing can be kept here, in one sentence; empty when it can."""
        return _OFF if self.file is None else self.file.objection()

    def marked(self, read: Read) -> MarkedArticles | None:
        """Return the articles with marks; None without a desk that can be read."""
        try:
            return None if self.index is None else self.index.marked([read])
        except DatabaseProblem:  # pages are of use without it; /desk says why
            return None

    def marks_of(self, urls: Iterable[str]) -> Mapping[str, ArticleMarks]:
        """Return the marks of those of some articles that have any."""
        try:
            if self.file is None:
                return {}
            with self.file.reading() as connection:
                return marks_of(connection, urls)
        except DatabaseProblem:
            return {}

    @contextmanager
    def watched(self, database_url: str) -> Iterator[None]:
        """Watch what is stored, in a thread, as long as the server runs."""
        if self.file is None:
            yield
            return
        stop = threading.Event()
        watcher = Watcher(database_url, self.file, self.options.alerts)
        thread = threading.Thread(target=watcher.run, args=(stop,), name="desk", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(_LAST_SECONDS)
