"""Threads that make answers: a few work, and a bounded number of readers wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

from starlette.types import Receive

from db.engine.database import ReadConnection, interrupt

T = TypeVar("T")

THREADS: Final = 4
"""Requests that are worked at beside one another: more would only make each take longer."""
MOST_WAITING: Final = 200
"""Requests that wait for a thread; the next one is told to come again."""
THREAD_SECONDS: Final = 30.0
WORK_SECONDS: Final = 25.0
"""For a thread, and then for the answer: who has none by then is told so, long before the connection is closed."""


class Overloaded(Exception):
    """There is more to do than can be done in time: the reader is to come again."""


class ReaderLeft(Exception):
    """Nobody reads the answer any more."""


class Cancellation:
    """Stops what another thread does for a request; its query is interrupted."""

    def __init__(self) -> None:
        self.is_cancelled = False
        self._connection: ReadConnection | None = None
        self._lock = threading.Lock()

    @contextmanager
    def covering(self, connection: ReadConnection) -> Iterator[None]:
        """Interrupt a connection when this is cancelled.

        Raises:
            ReaderLeft: it was cancelled before.
        """
        with self._lock:
            if self.is_cancelled:
                raise ReaderLeft
            self._connection = connection
        try:
            yield
        finally:
            with self._lock:  # once it is back in the pool it is another reader's
                self._connection = None

    def cancel(self) -> None:
        with self._lock:
            self.is_cancelled = True
            if self._connection is not None:
                interrupt(self._connection)


class Workers:
    """The threads, and those who wait for them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "page")
        self._free = asyncio.Semaphore(THREADS)
        self._waiting = 0

    async def run(self, work: Callable[[], T], receive: Receive, cancellation: Cancellation) -> T:
        """Do some work in a thread, as long as its reader is there.

        Args:
            cancellation: of the work; a thread that it stops is free only when the work has ended.

        Raises:
            Overloaded: too many wait, or it took too long.
            ReaderLeft: before it was done.
        """
        if self._waiting >= MOST_WAITING and self._free.locked():
            raise Overloaded
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await self._take_thread(leaving)
            working = asyncio.get_running_loop().run_in_executor(self._threads, work)
            working.add_done_callback(self._freed)
            try:
                return await _first(working, leaving, WORK_SECONDS)
            except BaseException:
                if not working.done():
                    asyncio.get_running_loop().run_in_executor(None, cancellation.cancel)
                raise
        finally:
            leaving.cancel()

    async def _take_thread(self, leaving: asyncio.Future[None]) -> None:
        if not self._free.locked():
            await self._free.acquire()
            return
        taking = asyncio.ensure_future(self._free.acquire())
        self._waiting += 1
        try:
            await _first(taking, leaving, THREAD_SECONDS)
        except BaseException:
            if not taking.cancel() and taking.result():
                self._free.release()
            raise
        finally:
            self._waiting -= 1

    def _freed(self, working: asyncio.Future[T]) -> None:
        self._free.release()
        with suppress(asyncio.CancelledError):
            working.exception()  # nobody else asks for it when the reader has left

    def begin(self, work: Callable[[], object]) -> None:
        self._threads.submit(work)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)


async def _first(wanted: asyncio.Future[T], leaving: asyncio.Future[None], seconds: float) -> T:
    """Return what is waited for.

    Raises:
        Overloaded: it takes too long.
        ReaderLeft: the reader has left before.
    """
    both: set[asyncio.Future[Any]] = {wanted, leaving}
    await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if wanted.done():
        return wanted.result()
    raise ReaderLeft if leaving.done() else Overloaded


async def _left(receive: Receive) -> None:
    """Wait until the reader has left; what it sends meanwhile is passed over."""
    with suppress(Exception):  # a body that is too long, say: it is none of this
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await asyncio.Event().wait()
