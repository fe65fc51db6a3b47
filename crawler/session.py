"""From settings and seeds to an open database with a run in it, and back: how a crawl begins and ends."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import platform
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from scrapy.settings import BaseSettings

from db import frontier as table
from db import runs
from db.database import Database, open_for_crawl
from db.frontier import Waiting
from db.keys import iso
from db.runs import Resumed, RunEnd, RunStart
from db.store import add_urls
from db.tables import Kind
from db.writer import Work, Writer
from pipelines.records import BlockKind

from .config import Config
from .hosts import seed_row
from .outcomes import new_url
from .seeds import Seed, SeedError, load_seeds

logger = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")

_LONGEST_START = 60.0
_SETTINGS_KEPT = (
    "MAX_PAGES",
    "MAX_PAGES_PER_HOST",
    "MAX_DEPTH",
    "HOST_DELAY",
    "CRAWL_PRESET",
    "CRAWL_PRIORITY",
    "EXTRACTOR",
    "DUPLICATE_THRESHOLD",
)


class Session:
    """An open database and the run that writes to it.

    Attributes:
        config: the checked settings.
        database: the opened database.
        resumed: what the run found there.
        queued: URLs that were waiting when the run began, new seeds included.
    """

    def __init__(self, config: Config, database: Database, writer: Writer) -> None:
        self.config = config
        self.database = database
        self._writer = writer
        self.resumed: Resumed
        self.queued = 0

    @classmethod
    async def begin(cls, settings: BaseSettings, seeds: Any, waiting: Callable[[str], None]) -> Session:
        """Check everything, open the database, take back what a dead run left, add the seeds.

        Args:
            settings: Scrapy's settings.
            seeds: path of a seeds file, or `Seed` records.
            waiting: told in the event loop when the database has to be waited for ("" when it answers again).

        Raises:
            ConfigError, SeedError, DatabaseProblem: nothing was started.
        """
        config = Config.from_settings(settings)
        records = _read(seeds)
        loop = asyncio.get_running_loop()
        database = await loop.run_in_executor(None, _open, config)

        def wait(text: str) -> None:
            loop.call_soon_threadsafe(waiting, text)

        session = cls(config, database, Writer(database, patience_seconds=config.database_patience, waiting=wait))
        kept = {name: settings[name] for name in _SETTINGS_KEPT if settings[name] is not None}
        await session._start_run(records, json.dumps(kept, default=str))
        return session

    async def _start_run(self, seeds: list[Seed], settings: str) -> None:
        """Write the run's row and the seeds that are new."""
        now = time.time()
        start = RunStart(
            started=iso(now),
            machine=platform.node(),
            pid=os.getpid(),
            settings=settings,
            now=now,
            lease_seconds=self.config.lease_seconds,
            limits=self.config.limits,
            seeds=[seed_row(s.url, stay=s.stay, depth=s.depth, pages=s.pages, topic=s.topic) for s in seeds],
        )
        self.resumed = await self.submit(runs.start_run, start)
        first = [
            new_url(
                row.url,
                Kind.PAGE,
                priority=self.config.priority,
                depth=0,
                found_in=BlockKind.SEED,
                now=now,
                seed_id=row.id,
                again=row.id in self.resumed.new_seeds,
            )
            for row in start.seeds
        ]
        added = await self.submit(add_urls, (now, first))
        self.queued = self.resumed.pending + added.queued

    async def submit(self, work: Work[P, R], payload: P) -> R:
        """Run database work and wait for its commit."""
        return await asyncio.wrap_future(self._writer.submit(work, payload))

    async def keep_alive(self, freed: Callable[[], None]) -> None:
        """Say again and again that this run lives; calls `freed` when a dead run's work has been taken back."""
        lease = self.config.lease_seconds
        while True:
            await asyncio.sleep(lease / 3)
            now = time.time()
            if await self.submit(runs.renew, (self.resumed.run_id, now, now + lease)):
                freed()

    async def end(self, *, outcome: Callable[[Waiting], tuple[str, int]], totals: Mapping[str, int]) -> Waiting:
        """Put back what is leased and write how the run ended, as `outcome` decides from what is left."""
        await self.submit(runs.let_go, self.resumed.run_id)
        left = await self.submit(table.waiting, self.config.limits)
        text, exit_code = outcome(left)
        await self.submit(runs.finish_run, RunEnd(self.resumed.run_id, iso(time.time()), text, exit_code, dict(totals)))
        return left

    async def close(self) -> None:
        """Write what is queued and let go of the database."""
        await asyncio.get_running_loop().run_in_executor(None, self._writer.close)
        self.database.close()


def _read(seeds: Any) -> list[Seed]:
    """Seeds from a file, or as they are."""
    if not seeds:
        raise SeedError("no seeds given; use -a seeds=seeds.txt (a file of URLs) or -a seeds=demo")
    return load_seeds(seeds) if isinstance(seeds, str) else list(seeds)


def _open(config: Config) -> Database:
    return open_for_crawl(
        config.database_url,
        patience_seconds=min(config.database_patience, _LONGEST_START),
        waiting=lambda text: logger.warning("%s", text),
    )
