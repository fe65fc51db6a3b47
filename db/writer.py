"""The one thread that writes: jobs in, futures out, as few transactions as the load allows.

Whatever waits when the thread comes back from a commit goes into the next transaction together. So batches are of one
page when pages come slowly, and articles are visible at once; under load they grow and the cost of a commit is shared.
A passing fault (lock, lost connection, deadlock) repeats the whole transaction; a job that is itself at fault is
isolated and fails alone.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import groupby
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from .database import Database
from .errors import DatabaseGone, DatabaseProblem, Unavailable, classify

logger = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")
Work = Callable[[Connection, Sequence[P]], Sequence[R]]
"""Does a batch of payloads in an open transaction, returns one result each; may be run again after a rollback."""

_MOST_JOBS = 64
_PAUSE_SECONDS = 1.0


class _Job:
    """A payload, what to do with it, and who waits for the result."""

    __slots__ = ("future", "payload", "work")

    def __init__(self, work: Work[Any, Any], payload: Any) -> None:
        self.work = work
        self.payload = payload
        self.future: Future[Any] = Future()


class Writer:
    """Runs database work in a thread of its own.

    Args:
        database: an opened database; the writer's connection is the only one that writes.
        patience_seconds: how long a locked or silent database is waited for before giving up.
        waiting: called from the writer's thread with a sentence each time waiting begins, and with "" when it is over.
    """

    def __init__(self, database: Database, *, patience_seconds: float, waiting: Callable[[str], None]) -> None:
        self._database = database
        self._patience = patience_seconds
        self._waiting = waiting
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._connection: Connection | None = None
        self._gone: DatabaseProblem | None = None
        self._thread = threading.Thread(target=self._run, name="database-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[P, R], payload: P) -> Future[R]:
        """Queue one payload. Neighbours with the same `work` are handed over together.

        The future fails with `DatabaseGone` when the database gave up, and with whatever `work` raised otherwise.
        """
        job = _Job(work, payload)
        self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finish what is queued, then end the thread. May be called from any other thread; blocks."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        """The thread: take what waits, commit it, repeat."""
        ending = False
        while not ending:
            jobs: list[_Job] = []
            job = self._queue.get()
            try:
                while job is not None and len(jobs) < _MOST_JOBS:
                    if job.future.set_running_or_notify_cancel():
                        jobs.append(job)
                    if len(jobs) < _MOST_JOBS:
                        job = self._queue.get_nowait()
            except Empty:
                pass
            ending = job is None
            if jobs:
                self._settle(jobs)
        if self._connection is not None:
            self._connection.close()

    def _settle(self, jobs: list[_Job]) -> None:
        """Bring every job to an end: done, failed by itself, or failed with the database."""
        if self._gone is None:
            try:
                results = self._persist(jobs)
            except DatabaseProblem as problem:
                self._gone = problem
            except Exception as error:  # noqa: BLE001 - goes to whoever waits for the job
                if len(jobs) > 1:
                    for job in jobs:
                        self._settle([job])
                else:
                    jobs[0].future.set_exception(error)
                return
            else:
                for job, result in zip(jobs, results, strict=True):
                    job.future.set_result(result)
                return
        for job in jobs:
            job.future.set_exception(self._gone)

    def _persist(self, jobs: list[_Job]) -> list[Any]:
        """Run the jobs in one transaction, again and again while the fault is a passing one."""
        deadline = time.monotonic() + self._patience
        told = False
        while True:
            try:
                results = self._transaction(jobs)
            except Unavailable as problem:
                self._drop_connection()
                if time.monotonic() >= deadline:
                    raise DatabaseGone(f"{problem}; gave up after {self._patience:.0f} s") from problem
                if not told:
                    self._waiting(f"{problem}; waiting")
                    told = True
                time.sleep(_PAUSE_SECONDS)
            else:
                if told:
                    self._waiting("")
                return results

    def _transaction(self, jobs: list[_Job]) -> list[Any]:
        """All jobs in one transaction; jobs of one kind that follow each other as one batch."""
        results: list[Any] = []
        try:
            if self._connection is None:
                self._connection = self._database.engine.connect().execution_options(writer=True)
            with self._database.writing(self._connection):
                for work, group in groupby(jobs, key=lambda job: job.work):
                    results.extend(work(self._connection, [job.payload for job in group]))
        except DBAPIError as error:  # connecting failed
            raise classify(error, self._database.name) or error from error
        return results

    def _drop_connection(self) -> None:
        """Forget a connection that may be broken."""
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
