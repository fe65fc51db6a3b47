"""Worker processes that read pages for a thread of Dask.

A page that hangs, or needs more memory than it may, costs itself only, not the Dask worker with its partition.
"""

from __future__ import annotations

import asyncio
import atexit
import multiprocessing
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from db.records.reasons import FailReason
from pipelines.worker import PageUnreadable, WorkerJob, WorkerPool

from ..run.workers import new_pool

if TYPE_CHECKING:
    from pipelines.worker import ParseOptions

    from ..options.config import Config

R = TypeVar("R")


class _PatientPool(WorkerPool):
    """Tries a page once more if its worker died: the worker may have been killed."""

    async def run(self, job: WorkerJob[R]) -> R:
        try:
            return await super().run(job)
        except PageUnreadable as problem:
            if problem.reason is not FailReason.WORKER_DIED:
                raise
        return await super().run(job)


class _Workers(threading.local):
    def __init__(self) -> None:
        self.options: ParseOptions | None = None
        self.pool: WorkerPool | None = None
        self.runner = asyncio.Runner()


_mine = _Workers()
_opened: list[WorkerPool] = []


def run(config: Config, work: Callable[[WorkerPool], Coroutine[Any, Any, R]]) -> R:
    """Do work with the process of this thread, which is kept for the next work."""
    if _mine.pool is None or _mine.options != config.parse_options:
        close(_mine.pool)
        multiprocessing.current_process().daemon = False  # Dask's workers are, and might have no processes of their own
        _mine.options = config.parse_options
        _mine.pool = new_pool(_PatientPool, config, 1)
        _opened.append(_mine.pool)
    return _mine.runner.run(work(_mine.pool))


def close(*pools: WorkerPool | None) -> None:
    for pool in pools:
        if pool is not None:
            pool.close()
            _opened.remove(pool)


atexit.register(lambda: close(*_opened))  # before `multiprocessing` waits for them to end by themselves
