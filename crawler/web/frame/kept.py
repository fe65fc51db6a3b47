"""A cache of slow values, which background threads compute."""

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
"""A value is good for this many times the seconds it took to compute."""
_OLD_SECONDS = 60.0
_PATIENCE = 0.1
"""Seconds a request waits for a missing or old value; a small database needs less."""
_LIVE_SECONDS = 2.0
_LIVE_OLDEST = 10.0
_LIVE_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A cached value, its Unix time and the seconds it took to compute."""

    value: T
    at: float
    took: float

    @property
    def is_good(self) -> bool:
        return time.time() < self.at + max(_LEAST_SECONDS, _REST * self.took)


class KeptValues:
    """Cache that recomputes old values in threads, one at a time."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept[Any]] = {}
        self._making: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._round = 0

    def get(self, name: str, make: Callable[[], T]) -> Kept[T] | None:
        """Return the latest value; None until there is one."""
        with self._lock:
            last = self._kept.get(name)
            if last is not None and last.is_good:
                return last
        done = self._begin(name, make, self._turn)
        if last is None or time.time() > last.at + _OLD_SECONDS:
            done.wait(_PATIENCE)
        return self._kept.get(name)

    def live(self, name: str, make: Callable[[], T]) -> Kept[T] | None:
        """Return a value that is at most ten seconds old; None until there is one.

        It does not wait its turn behind slow ones.
        """
        last = self._kept.get(name)
        if last is not None and time.time() < last.at + max(_LIVE_SECONDS, last.took):
            return last
        done = self._begin(name, make, threading.Lock())
        if last is None or time.time() > last.at + _LIVE_OLDEST / 2:
            done.wait(_LIVE_PATIENCE)
        made = self._kept.get(name)
        return made if made is not None and time.time() < made.at + _LIVE_OLDEST else None

    def forget(self) -> None:
        with self._lock:
            self._round += 1
            self._kept.clear()
            self._making.clear()

    def _begin(self, name: str, make: Callable[[], Any], turn: threading.Lock) -> threading.Event:
        with self._lock:
            done = self._making.get(name)
            if done is None:
                done = self._making[name] = threading.Event()
                # a daemon: a count over millions of rows does not hold up the end of the server
                threading.Thread(target=self._make, args=(name, make, done, self._round, turn), daemon=True).start()
            return done

    def _make(
        self, name: str, make: Callable[[], Any], done: threading.Event, number: int, turn: threading.Lock
    ) -> None:
        try:
            with turn:
                begun = time.time()
                value = Kept(make(), begun, time.time() - begun)
            with self._lock:
                if number == self._round:
                    self._kept[name] = value
        except DatabaseProblem:
            pass  # the page that asked says so by itself; the next one has it tried again
        except Exception:
            logger.exception("%s could not be made", name)
        finally:
            with self._lock:
                if self._making.get(name) is done:
                    del self._making[name]
            done.set()
