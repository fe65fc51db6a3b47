"""From settings and seeds to an open database with a run in it, and back: how a crawl begins and ends."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, TypeVar

from db.articles import signatures
from db.engine.database import Database, open_for_crawl
from db.engine.errors import DatabaseProblem, WrongDatabase
from db.engine.processes import here
from db.engine.writer import Work, Writer
from db.frontier import claims as table
from db.frontier import leases, revisits, runs
from db.frontier.insert import add_urls
from db.records.keys import iso
from db.records.lease import Waiting
from db.records.run import LivingRun, Resumed, RunEnd, RunStart
from db.records.signature import Reader
from db.records.url import Kind
from db.records.visit import Beginning, Due
from pipelines.dedup.judge import SignatureIndex
from pipelines.records import BlockKind

from .. import clock
from ..clock import Rate
from ..response.new_urls import new_url
from ..response.seed_scope import seed_row
from .config import MUST, SCORING, SHOULD, Config, differing
from .seeds import Seed, SeedError, load_seeds

logger = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")

ONCE, WATCH = "once", "watch"
MODES = (ONCE, WATCH)
"""Whether a crawl ends when nothing is left, or waits for news."""

_LATE_SECONDS = 60.0
"""A process that is started so soon after a crawl of many has ended was meant to take part in it."""
_LONGEST_START = 60.0
_VERSION = version("newscrawler")
_SIGN_SECONDS = 2.0
"""A run says that it lives, and hears what the others need, at least this often."""


class Session:
    """An open database and the run that writes to it.

    Attributes:
        config: the checked settings.
        database: the opened database.
        resumed: what the run found there.
        signatures: what near-duplicates are found by.
        queued: URLs that were waiting when the run began, new seeds included.
        woken: of them, how many were fetched before and are visited again.
        leads: whether this run scores the queue for all that share the database.
        reordered: whether what waits was scored for another order than this run's.
        pages_per_second: lately.
    """

    def __init__(self, config: Config, database: Database, writer: Writer) -> None:
        self.config = config
        self.database = database
        self._writer = writer
        self._lease_ends = 0.0
        self._rate = Rate()
        self.resumed: Resumed
        self.queued = 0
        self.woken = 0
        self.signatures = SignatureIndex(config.duplicate_method, config.duplicates.window)
        self.leads = database.is_sqlite
        self.reordered = False
        self.pages_per_second = 0.0

    @classmethod
    async def begin(
        cls,
        config: Config,
        seeds: Any,
        waiting: Callable[[str], None],
        mode: str = ONCE,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> Session:
        """Check everything, open the database, take back what a dead run left, add the seeds.

        Args:
            config: the checked settings.
            seeds: path of a seeds file, or `Seed` records.
            waiting: told in the event loop when the database has to be waited for ("" when it answers again).
            mode: one of `MODES`; `ONCE` on a finished crawl visits again what is due soon, too.
            goes_on: whether to wait any longer for a database that does not answer.

        Raises:
            SeedError, DatabaseProblem: nothing was started.
        """
        records = _read(seeds)
        loop = asyncio.get_running_loop()
        database = await loop.run_in_executor(None, _open, config, goes_on)

        def wait(text: str) -> None:
            loop.call_soon_threadsafe(waiting, text)

        session = cls(config, database, Writer(database, patience_seconds=config.database_patience, waiting=wait))
        try:
            await session._start_run(records, {**config.agreed, "VERSION": _VERSION}, mode)
            reader = Reader(session.signatures, config.duplicate_method.sign, logger.info)
            await session.submit(signatures.load, reader)
        except DatabaseProblem:
            await session.close()
            raise
        return session

    async def _start_run(self, seeds: list[Seed], settings: Mapping[str, Any], mode: str) -> None:
        """Write the run's row and the seeds that are new."""
        now = clock.now()
        self._lease_ends = clock.uptime() + self.config.lease_seconds
        start = RunStart(
            started=iso(now),
            machine=platform.node(),
            pid=os.getpid(),
            place=here(),
            settings=json.dumps(settings),
            now=now,
            lease_seconds=self.config.lease_seconds,
            limits=self.config.limits,
            seeds=[seed_row(s.url, stay=s.stay, depth=s.depth, pages=s.pages, topic=s.topic) for s in seeds],
            admit=lambda others: _compare(self.database.name, settings, others),
        )
        self.resumed = await self.submit(runs.start_run, start)
        self.reordered = bool(self.resumed.settings and differing(self.resumed.settings, settings, SCORING))
        self.woken = await self._wake(now, mode) if self.resumed.begun_before else 0
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
        self.queued = self.resumed.pending + self.woken + added.queued

    async def _wake(self, now: float, mode: str) -> int:
        """Queue what is to be visited again: what was marked, and in a finished crawl what is due soon."""
        until = revisits.MARKED
        if mode == ONCE and not self.resumed.others:
            left = await self.submit(table.waiting, self.config.limits)
            beginning = Beginning(self.resumed.run_id, now, max(_LATE_SECONDS, self.config.lease_seconds))
            if not left.within and await self.submit(revisits.begins_anew, beginning):
                until = now + self.config.ahead
        total = 0
        while woken := (await self.submit(revisits.wake_due, Due(until, self.config.limits))).urls:
            total += woken
        return total

    async def submit(self, work: Work[P, R], payload: P) -> R:
        """Run database work and wait for its commit."""
        return await asyncio.wrap_future(self._writer.submit(work, payload))

    async def gather(self, work: Work[P, R], payload: P) -> R:
        """The same, but the work may wait a moment for company."""
        return await asyncio.wrap_future(self._writer.gather(work, payload))

    async def read(self, question: Callable[[Any], R]) -> R:
        """Ask the database on a connection of its own, in a thread; see `Database.read`."""
        return await asyncio.to_thread(self.database.read, question)

    @property
    def lapsed(self) -> bool:
        """Whether another process may have taken this run for dead: then nothing more must be fetched for now."""
        return not self.database.is_sqlite and clock.uptime() > self._lease_ends

    async def keep_alive(
        self, *, hosts: Callable[[], int], totals: Counter[str], heard: Callable[[leases.News], None]
    ) -> None:
        """Say again and again that this run lives and how it is doing; `heard` gets the news of the others."""
        lease = self.config.lease_seconds
        while True:
            await asyncio.sleep(min(lease / 3, _SIGN_SECONDS))
            said_at = clock.uptime()
            self.pages_per_second = self._rate.update(said_at, totals["pages"])
            sign = leases.LifeSign(
                run_id=self.resumed.run_id,
                now=clock.now(),
                lease_seconds=lease,
                hosts=hosts(),
                pages_per_second=round(self.pages_per_second, 2),
                totals=json.dumps(totals, ensure_ascii=False),
            )
            news = await self.submit(leases.renew, sign)
            self._lease_ends = said_at + lease
            self.leads = news.leads
            heard(news)

    async def end(self, *, outcome: Callable[[Waiting], tuple[str, int]], totals: Mapping[str, int]) -> Waiting:
        """Put back what is leased and write how the run ended, as `outcome` decides from what is left."""
        await self.submit(runs.let_go, self.resumed.run_id)
        left = await self.submit(table.waiting, self.config.limits)
        text, exit_code = outcome(left)
        await self.submit(runs.finish_run, RunEnd(self.resumed.run_id, iso(clock.now()), text, exit_code, dict(totals)))
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


def _compare(name: str, mine: Mapping[str, Any], others: Sequence[LivingRun]) -> None:
    """Refuse to crawl beside runs whose settings contradict these; say where they only differ.

    Raises:
        WrongDatabase: naming the run and the setting.
    """
    for other in others:
        theirs = other.settings
        who = f"run {other.id} ({other.machine}, process {other.pid})"
        contradictions = differing(mine, theirs, MUST, SCORING)
        if contradictions or theirs.get("VERSION") != mine["VERSION"]:
            setting = contradictions[0] if theirs.get("VERSION") == mine["VERSION"] else "VERSION"
            what = "is of version" if setting == "VERSION" else f"is crawling with {setting}"
            raise WrongDatabase(
                f"{name}: {who} {what} {theirs.get(setting)}, this one has {mine.get(setting)}; "
                "make them agree, or wait until it has ended "
                f"(if it was killed, its lease ends in {max(0, math.ceil(other.lease_seconds))} s)"
            )
        for setting in differing(mine, theirs, SHOULD):
            values = (setting, theirs.get(setting), mine[setting])
            logger.warning("%s is crawling with %s %s, this one with %s", who, *values)


def _open(config: Config, goes_on: Callable[[], bool]) -> Database:
    return open_for_crawl(
        config.database_url,
        patience_seconds=min(config.database_patience, _LONGEST_START),
        waiting=lambda text: logger.warning("%s", text),
        goes_on=goes_on,
    )
