"""Values that take long to make: made beside the requests, kept with their time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from db.engine.errors import DatabaseProblem

logger = logging.getLogger(__name__)

T = TypeVar("T")

_LEAST_SECONDS = 5.0
_REST = 20.0
"""A value that took a second is good for so many."""
_OLD_SECONDS = 60.0
_PATIENCE = 0.1
"""Seconds for which a request waits for a value that is missing or old: those of a small database are there by then."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A value, the time as of which it is, and the seconds that making it took."""

    value: T
    at: float
    took: float

    @property
    def is_good(self) -> bool:
        """Tell whether it is too young to be made again."""
        return time.time() < self.at + max(_LEAST_SECONDS, _REST * self.took)


class KeptValues:
    """Makes values in threads, one at a time, when they are asked for and too old."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept[Any]] = {}
        self._making: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._round = 0

    def get(self, name: str, make: Callable[[], T]) -> Kept[T] | None:
        """Return the last value made; None while there is none yet."""
        with self._lock:
            kept = self._kept.get(name)
            if kept is not None and kept.is_good:
                return kept
            made = self._making.get(name)
            if made is None:
                made = self._making[name] = threading.Event()
                # a daemon: a count over millions of rows does not hold up the end of the server
                threading.Thread(target=self._make, args=(name, make, made, self._round), daemon=True).start()
        if kept is None or time.time() > kept.at + _OLD_SECONDS:
            made.wait(_PATIENCE)
        return self._kept.get(name)

    def forget(self) -> None:
        """Forget all values: the database is another one."""
        with self._lock:
            self._round += 1
            self._kept.clear()
            self._making.clear()

    def _make(self, name: str, make: Callable[[], Any], made: threading.Event, number: int) -> None:
        try:
            with self._turn:
                begun = time.time()
                kept = Kept(make(), begun, time.time() - begun)
            with self._lock:
                if number == self._round:
                    self._kept[name] = kept
        except DatabaseProblem:
            pass  # the page that asked says so by itself; the next one has it tried again
        except Exception:
            logger.exception("%s could not be made", name)
        finally:
            with self._lock:
                if self._making.get(name) is made:
                    del self._making[name]
            made.set()
