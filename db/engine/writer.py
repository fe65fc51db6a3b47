"""The one thread that writes: jobs in, futures out, in few transactions.

Whatever waits when the thread comes back from a commit is done together, work of one kind in one transaction. Jobs that
are `gathered` may be kept waiting for company for a moment, but only when the last commit is just as short a time ago:
so when pages come slowly each is committed, and seen, at once; under load dozens share the cost of a transaction.
A passing fault (lock, lost connection, deadlock) repeats the whole transaction; a job that is itself at fault is
isolated and fails alone. When the connection is lost while a transaction is being committed, Postgres is asked what
became of it first: nothing is done twice.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from .database import Database
from .errors import Contended, DatabaseGone, DatabaseProblem, Unavailable, classify
from .statements import transaction_number, transaction_state

logger = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")
Work = Callable[[Connection, Sequence[P]], Sequence[R]]
"""Does a batch of payloads in an open transaction, returns one result each; may be run again after a rollback."""

_MOST_JOBS = 64
_GATHER_SECONDS = 0.25
_PAUSE_SECONDS = 1.0
_QUIET_SECONDS = 4.0
_QUIET_PAUSE_SECONDS = 0.05


class _Job:
    __slots__ = ("future", "payload", "work")

    def __init__(self, work: Work[Any, Any], payload: Any, future: Any) -> None:
        self.work = work
        self.payload = payload
        self.future = future


Answers = Sequence[tuple[Any, Any, Exception | None]]
"""Futures with the result or the error of each."""


def deliver(answers: Answers) -> None:
    """Tell those who still wait."""
    for future, result, error in answers:
        if future.done():  # cancelled
            continue
        with suppress(InvalidStateError):  # cancelled just now, by another thread
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


class Writer:
    """Runs database work in a thread of its own, on the only connection that writes.

    `patience_seconds` is how long a locked or silent database is waited for before giving up. `waiting` is called from
    the writer's thread with a sentence each time waiting begins, and with "" when it is over. `tell` hands on what came
    of a transaction, from there as well: to all at once, because waking another thread costs more than an answer.
    """

    def __init__(
        self,
        database: Database,
        *,
        patience_seconds: float,
        waiting: Callable[[str], None],
        tell: Callable[[Answers], None] = deliver,
    ) -> None:
        self._database = database
        self._patience = patience_seconds
        self._waiting = waiting
        self._tell = tell
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._connection: Connection | None = None
        self._gone: DatabaseProblem | None = None
        self._unsure: tuple[int, list[Any]] | None = None  # a transaction that was being committed, and its results
        self._urgent = threading.Event()
        self._rested_at = 0.0
        self._thread = threading.Thread(target=self._run, name="database-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[P, R], payload: P) -> Future[R]:
        """Queue one payload; those that wait for the same `work` are done together.

        The future fails with `DatabaseGone` when the database gave up, and with whatever `work` raised otherwise.
        """
        future: Future[R] = Future()
        self.put(work, payload, future)
        return future

    def gather(self, work: Work[P, R], payload: P) -> Future[R]:
        """Like `submit`, but may wait for a moment until there is more to do."""
        future: Future[R] = Future()
        self.put_by(work, payload, future)
        return future

    def put(self, work: Work[P, R], payload: P, future: Any) -> None:
        """Do what `submit` does, with a future of any kind that `tell` knows to set."""
        self._queue.put(_Job(work, payload, future))
        self._urgent.set()

    def put_by(self, work: Work[P, R], payload: P, future: Any) -> None:
        """Do what `gather` does, with a future of any kind that `tell` knows to set."""
        self._queue.put(_Job(work, payload, future))
        if self._queue.qsize() >= _MOST_JOBS:
            self._urgent.set()

    def close(self) -> None:
        """Finish the queue, then end the thread; blocks, callable from other threads."""
        self._queue.put(None)
        self._urgent.set()
        self._thread.join()

    def _run(self) -> None:
        ending = False
        while not ending:
            jobs = [self._queue.get()]
            pause = self._rested_at + _GATHER_SECONDS - time.monotonic()
            if pause > 0:
                self._urgent.wait(pause)
            self._urgent.clear()
            try:
                while jobs[-1] is not None and len(jobs) < _MOST_JOBS:
                    jobs.append(self._queue.get_nowait())
            except Empty:
                pass
            ending = jobs[-1] is None
            kinds: dict[Work[Any, Any], list[_Job]] = {}
            for job in jobs:
                if job is not None and not job.future.cancelled():
                    kinds.setdefault(job.work, []).append(job)
            for alike in kinds.values():
                self._settle(alike)
            self._rested_at = time.monotonic()
        if self._connection is not None:
            self._connection.close()

    def _settle(self, jobs: list[_Job]) -> None:
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
                    self._tell([(jobs[0].future, None, error)])
                return
            else:
                self._tell([(job.future, result, None) for job, result in zip(jobs, results, strict=True)])
                return
        self._tell([(job.future, None, self._gone) for job in jobs])

    def _persist(self, jobs: list[_Job]) -> list[Any]:
        started = time.monotonic()
        deadline = started + self._patience
        tries = 0
        is_announced = False
        self._unsure = None
        while True:
            try:
                results = self._transaction(jobs)
            except Unavailable as problem:
                tries += 1
                quiet = isinstance(problem, Contended) and time.monotonic() - started < _QUIET_SECONDS
                if not isinstance(problem, Contended):
                    self._drop_connection()
                if time.monotonic() >= deadline:
                    raise DatabaseGone(f"{problem}; gave up after {self._patience:.0f} s") from problem
                if not is_announced and not quiet:
                    self._waiting(f"{problem}; waiting")
                    is_announced = True
                contended = random.uniform(0.2, 1) * _QUIET_PAUSE_SECONDS * min(tries, 8)
                time.sleep(contended if isinstance(problem, Contended) else _PAUSE_SECONDS)
            else:
                if is_announced:
                    self._waiting("")
                return results

    def _transaction(self, jobs: list[_Job]) -> list[Any]:
        try:
            if self._connection is None:
                self._connection = self._database.connect_writer()
            if self._unsure is not None and self._is_done(self._connection, self._unsure[0]):
                return self._unsure[1]
            self._unsure = None
            with self._database.writing(self._connection):
                results = list(jobs[0].work(self._connection, [job.payload for job in jobs]))
                if len(results) != len(jobs):  # not committed: nobody could be told what came of it
                    raise RuntimeError(f"{jobs[0].work!r} gave {len(results)} results for {len(jobs)} jobs")
                number = transaction_number(self._connection)
                self._unsure = None if number is None else (number, results)
            return results
        except DBAPIError as error:  # connecting failed
            raise classify(error, self._database.name) or error from error

    def _is_done(self, connection: Connection, number: int) -> bool:
        """Tell whether a transaction was committed though its end was not heard of.

        `Unavailable` when the server has not noticed yet that nobody waits for it.
        """
        with self._database.writing(connection):
            state = transaction_state(connection, number)
        if state == "in progress":
            raise Unavailable(f"{self._database.name} is still busy with what it was asked before")
        return state == "committed"

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
