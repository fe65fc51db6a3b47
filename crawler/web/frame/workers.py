"""Threads that compute answers, and a bounded queue of waiting readers."""

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
"""Requests handled at the same time; more would only make each take longer."""
MOST_WAITING: Final = 200
"""Requests that may wait for a thread; further ones are asked to try again."""
THREAD_SECONDS: Final = 30.0
WORK_SECONDS: Final = 25.0
"""Limits of waiting for a thread and of computing the answer, well below the connection's own timeout."""


class Overloaded(Exception):
    """The server is overloaded; the reader should try again."""


class ReaderLeft(Exception):
    """The reader has disconnected."""


class Cancellation:
    """Stops the work another thread does for a request, interrupting its query."""

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
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "page")
        self._free = asyncio.Semaphore(THREADS)
        self._waiting = 0

    async def run(self, work: Callable[[], T], receive: Receive, cancellation: Cancellation) -> T:
        """Run work in a thread while its reader stays connected.

        After `cancellation` the thread is free again only when the work has ended.

        Raises:
            Overloaded: too many readers wait, or it took too long.
            ReaderLeft: the reader disconnected.
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
    both: set[asyncio.Future[Any]] = {wanted, leaving}
    await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    if wanted.done():
        return wanted.result()
    raise ReaderLeft if leaving.done() else Overloaded


async def _left(receive: Receive) -> None:
    with suppress(Exception):  # a body that is too long, say: it is none of this
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    await asyncio.Event().wait()
