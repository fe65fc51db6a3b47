"""The folder of a managed crawl, and the list of changes by operators."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from db.engine.database import parse_url

_SUFFIX = ".manage"
_FILE: Final = "changes.jsonl"
_MOST_BYTES = 1 << 20
"""Of the list; then it begins anew, and the one before is kept."""
_MOST_TEXT = 500


def beside(database_url: str) -> Path:
    """Return the folder of a managed crawl, beside the database as the desk is.

    >>> beside("sqlite:///news/all.db").as_posix(), beside("postgresql://host/name").as_posix()
    ('news/all.manage', 'name.manage')
    """
    url = parse_url(database_url)
    name = Path(url.database or "news")
    return (name if url.get_backend_name() == "sqlite" else Path(name.name)).with_suffix(_SUFFIX)


@dataclass(frozen=True, slots=True)
class ChangeMade:
    """A change: Unix time, role and address of who made it, and its result."""

    at: float
    role: str
    address: str
    what: str
    detail: str
    result: str


class Journal:
    """The list of changes: a line of JSON each, only ever added to.

    What somebody sent is in quotes of JSON, so that no text makes a line of its own.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = folder / _FILE
        self._clock = clock
        self._lock = threading.Lock()

    def note(self, role: str, address: str, what: str, detail: str = "", result: str = "") -> None:
        """Add a change; texts are cut. Raises `OSError`."""
        texts = (text[:_MOST_TEXT] for text in (role, address, what, detail, result))
        line = json.dumps(asdict(ChangeMade(round(self._clock(), 3), *texts)))
        with self._lock:
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size > _MOST_BYTES:
                self.path.replace(self.path.with_suffix(".1.jsonl"))
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(handle, line.encode() + b"\n")  # one call: several servers may write
            finally:
                os.close(handle)

    def latest(self, most: int) -> list[ChangeMade]:
        """Return the latest changes, the newest first; lines that are none are left out."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - 4_000 * most))
                lines = file.read().splitlines()[-most:]
        except OSError:
            return []
        return [change for line in reversed(lines) if (change := _change(line)) is not None]


def _change(line: bytes) -> ChangeMade | None:
    try:
        read: dict[str, Any] = json.loads(line)
        texts = (str(read[name]) for name in ("role", "address", "what", "detail", "result"))
        return ChangeMade(float(read["at"]), *texts)
    except (ValueError, KeyError, TypeError):
        return None
