"""Worker processes as the settings want them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from pipelines.worker import WorkerPool

if TYPE_CHECKING:
    from ..options.config import Config

P = TypeVar("P", bound=WorkerPool)


@asynccontextmanager
async def open_pool(config: Config, most_workers: int | None = None) -> AsyncIterator[WorkerPool]:
    """Start `WORKERS` processes, or fewer, and end them afterwards."""
    pool = new_pool(WorkerPool, config, config.workers if most_workers is None else min(config.workers, most_workers))
    try:
        yield pool
    finally:
        await asyncio.to_thread(pool.close)


def new_pool(kind: type[P], config: Config, workers: int) -> P:
    return kind(
        workers=workers,
        seconds=config.page_seconds,
        memory_bytes=config.worker_memory_bytes,
        options=config.parse_options,
    )
