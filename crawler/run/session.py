"""Begin a run from settings and seeds, keep its lease, and end it."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import os
import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from db.articles import signatures
from db.engine.database import Database, open_for_crawl
from db.engine.errors import DatabaseProblem, WrongDatabase
from db.engine.processes import here
from db.engine.writer import Answers, Work, Writer, deliver
from db.frontier import claims as table
from db.frontier import leases, revisits, runs
from db.frontier.insert import add_urls
from db.frontier.seeds import are_answered
from db.records.keys import iso
from db.records.lease import Waiting
from db.records.run import Asked, Limits, LivingRun, Resumed, RunEnd, RunStart, StoredSeed
from db.records.search import IndexForm
from db.records.shard import Dealing
from db.records.signature import Reader
from db.records.url import Found, NewUrl
from db.records.visit import Beginning, Due, Unread
from db.search.index import bring_up_to_date, merge_pending
from db.shards.databases import Shards
from db.shards.mail import post_urls
from db.shards.places import OpenShards, enter, keep_grant, place_of_process
from pipelines.dedup.judge import SignatureIndex
from pipelines.document.selectors import Selectors
from pipelines.links.scope import identify
from pipelines.records import BlockKind
from pipelines.search.terms import index_terms, is_current

from .. import clock
from ..clock import GrowthRate
from ..options.config import Config
from ..options.seeds import ArchiveSeeds, Seed, seeds_of
from ..options.table import differing
from ..options.values import MUST, SCORING, SHOULD
from ..response.new_urls import new_url
from ..response.seed_scope import scope_of_seed, seed_row

logger = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")

ONCE, WATCH = "once", "watch"
MODES = (ONCE, WATCH)
"""A crawl ends when nothing is left, or waits for news."""

_LATE_SECONDS = 60.0
"""A process that is started so soon after a crawl of many has ended was meant to take part in it."""
_VERSION = version("newscrawler")
_OF_SEEDS = (
    "stay", "depth", "pages", "topic", "include", "exclude", "since", "bare", "render", "proxy",
    *Selectors._fields,
)  # fmt: skip
_NEIGHBOUR_PATIENCE = 20.0
"""Seconds for which each of several databases is waited for at the start."""
_SIGN_SECONDS = 2.0
"""A run says that it lives, and hears what the others need, at least this often."""
_MERGE_SECONDS = 10.0
"""The fewer merges, the cheaper is each article; searches meanwhile read what waits for one."""


@dataclass(frozen=True, slots=True)
class RunBeginning:
    """The state of the queue when a run begins.

    Attributes:
        queued: URLs that were waiting, new seeds included.
        woken: of them, how many were fetched before and are visited again.
        reordered: whether what waits was scored for another order than this run's.
        lease_ends: uptime until which no other process takes this run for dead.
    """

    resumed: Resumed
    queued: int
    woken: int
    reordered: bool
    lease_ends: float


class Session:
    """An open database and the run that writes to it.

    Attributes:
        leads: whether this run scores the queue for all that share the database.
        pages_per_second: lately.
        neighbours: the databases of the crawl; None when there is one.
        dealing: what belongs to the others; None when there are none.
        limits_of_all: limits of the crawl over all databases; `config` has what is for this one.
        asked: what an operator asked of this run, as of the last `renew`.
    """

    def __init__(
        self,
        config: Config,
        line: DatabaseLine,
        began: RunBeginning,
        signatures: SignatureIndex,
        *,
        neighbours: OpenShards | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.config = config
        self.limits_of_all = limits or config.limits
        self.neighbours = neighbours
        self.dealing = neighbours.dealing if neighbours is not None else None
        self.database = line.database
        self.resumed = began.resumed
        self.began = began
        self.signatures = signatures
        self.stats: Counter[str] = Counter()
        self.leads = line.database.is_sqlite
        self.pages_per_second = 0.0
        self.submit = line.submit
        self.gather = line.gather
        self.line = line
        self._lease_ends = began.lease_ends
        self._rate = GrowthRate()
        self._merging: asyncio.Task[None] | None = None
        self._merge_at = math.inf if self.database.is_sqlite else 0.0
        self.asked = Asked.NOTHING

    @classmethod
    async def begin(
        cls, config: Config, seeds: Any, *, mode: str = ONCE, goes_on: Callable[[], bool] = lambda: True
    ) -> Session:
        """Check everything, open the database, take back expired leases, add the seeds.

        Args:
            seeds: path of a seeds file, or `Seed` records.
            mode: one of `MODES`; `ONCE` on a finished crawl visits again what is due soon, too.
            goes_on: tells whether to wait any longer for a database that does not answer.

        Raises:
            SeedError, DatabaseProblem: nothing was started.
        """
        records = seeds_of(seeds)
        loop = asyncio.get_running_loop()
        turn = ExitStack()
        database, neighbours = await loop.run_in_executor(None, _open, config, goes_on, turn)
        limits = config.limits
        if neighbours is not None:
            config = replace(config, database_url=neighbours.own_url, limits=neighbours.dealing.part(limits))
        line = DatabaseLine(database, config.database_patience)
        try:
            settings = {**config.agreed, "VERSION": _VERSION}
            await line.submit(bring_up_to_date, IndexForm(index_terms, is_current, logger.info))
            began = await _start_run(config, line, records, settings, mode, neighbours=neighbours)
            await loop.run_in_executor(None, turn.close)
            index = signature_index(config, database)
            await line.submit(signatures.load, Reader(index, config.duplicate_method.sign, logger.info))
        except DatabaseProblem:
            await loop.run_in_executor(None, turn.close)
            await line.close()
            if neighbours is not None:
                neighbours.close()
            raise
        return cls(config, line, began, index, neighbours=neighbours, limits=limits)

    async def read(self, question: Callable[[Any], R]) -> R:
        """Ask the database on a connection of its own, in a thread; see `Database.read`."""
        return await asyncio.to_thread(self.database.read, question)

    @property
    def lapsed(self) -> bool:
        """Tell whether the lease may have expired: then nothing more must be fetched."""
        return not self.database.is_sqlite and clock.uptime() > self._lease_ends

    @property
    def is_paused(self) -> bool:
        """Tell whether an operator wants nothing new to be fetched for the time being."""
        return self.asked is Asked.PAUSE

    @property
    def sign_seconds(self) -> float:
        return min(self.config.lease_seconds / 3, _SIGN_SECONDS)

    async def renew(self, hosts: int, queued: int | None = None) -> leases.News:
        """Prolong the run's lease and say how it is doing; returns the news of the others.

        `hosts` is how many it has something to do for; `queued` are URLs that wait, as far as it knows them all.

        Raises:
            DatabaseProblem: the database gave up, or the lease has expired.
        """
        said_at = clock.uptime()
        self.pages_per_second = self._rate.update(said_at, self.stats["pages"])
        sign = leases.LifeSign(
            run_id=self.resumed.run_id,
            now=clock.now(),
            lease_seconds=self.config.lease_seconds,
            hosts=hosts,
            pages_per_second=round(self.pages_per_second, 2),
            totals=dict(self.stats),
            queued=queued,
        )
        news = await self.submit(leases.renew, sign)
        self._lease_ends = said_at + self.config.lease_seconds
        self.leads = news.leads
        if news.asked is not self.asked:
            self.asked = news.asked
            if news.asked is not Asked.STOP:
                logger.warning("paused by an operator" if self.is_paused else "going on")
        if self.leads and said_at >= self._merge_at and (self._merging is None or self._merging.done()):
            self._merge_at = said_at + _MERGE_SECONDS
            self._merging = asyncio.create_task(self._merge())
        return news

    async def _merge(self) -> None:
        try:
            await self.read(merge_pending)
        except DatabaseProblem:  # the next time will do, and pages meet the problem as well
            pass
        except Exception:
            logger.exception("the full-text index could not be merged; searches read what waits for it")

    async def release_all(self) -> Waiting:
        """Put back what is leased; returns what is left."""
        await self.submit(runs.let_go, self.resumed.run_id)
        return await self.submit(table.waiting, self.config.limits)

    async def add(self, now: float, new_urls: Sequence[NewUrl]) -> Found:
        """Add URLs that no page named; what other databases own is posted there."""
        return await _add(self.line, self.dealing, now, new_urls)

    async def unread(self) -> Unread:
        """Count the URLs whose last answer could not be read, through a fault of ours."""
        return await self.submit(revisits.count_unread, None)

    async def is_answered(self) -> bool:
        """Tell whether the seeds ever brought a page, in any database; True without seeds."""
        if self.stats["new"] or self.stats["duplicate"]:
            return True
        databases = [self.database, *([] if self.neighbours is None else self.neighbours.answering())]
        answers = [await asyncio.to_thread(one.read, are_answered) for one in databases]
        return any(answers) or None in answers

    async def end(self, text: str, exit_code: int) -> None:
        now = clock.now()
        end = RunEnd(self.resumed.run_id, iso(now), text, exit_code, dict(self.stats), now)
        await self.submit(runs.finish_run, end)

    async def close(self) -> None:
        if self._merging is not None:
            await self._merging
            await self._merge()
        await self.line.close(self.signatures.save)
        if self.neighbours is not None:
            self.neighbours.close()


def signature_index(config: Config, database: Database) -> SignatureIndex:
    """Make the index of signatures; it lies beside a SQLite file, used by one crawl."""
    folder = Path(f"{database.name}.duplicates") if database.is_sqlite else None
    return SignatureIndex(config.duplicate_method, config.duplicates.window, config.duplicate_memory_bytes, folder)


def row_of(seed: Seed) -> StoredSeed:
    return seed_row(seed.url, **{name: getattr(seed, name) for name in _OF_SEEDS})


class DatabaseLine:
    """The database thread as seen from the event loop.

    Attributes:
        waits_for: what the thread waits for at the moment, else empty.
        reconnects: how often it had to wait and the database answered again.
    """

    def __init__(self, database: Database, patience_seconds: float) -> None:
        self.database = database
        self.waits_for = ""
        self.reconnects = 0
        self._loop = asyncio.get_running_loop()
        self._writer = Writer(
            database, patience_seconds=patience_seconds, waiting=self._waits_in_thread, tell=self._tell_in_thread
        )

    async def submit(self, work: Work[P, R], payload: P) -> R:
        """Run database work and wait for its commit."""
        answer: asyncio.Future[R] = self._loop.create_future()
        self._writer.put(work, payload, answer)
        return await answer

    async def gather(self, work: Work[P, R], payload: P) -> R:
        """Do the same, but the work may wait a moment for company."""
        answer: asyncio.Future[R] = self._loop.create_future()
        self._writer.put_by(work, payload, answer)
        return await answer

    async def close(self, last: Callable[[], None] | None = None) -> None:
        """Write what is queued, run `last` in a thread, let go of the database."""
        await asyncio.to_thread(self._writer.close)
        if last is not None:
            await asyncio.to_thread(last)
        self.database.close()

    def _tell_in_thread(self, answers: Answers) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(deliver, answers)

    def _waits_in_thread(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self._waits, text)

    def _waits(self, text: str) -> None:
        if text:  # once stopped, a crawl ends when what it has fetched is stored: here that may take long
            logger.warning("%s (to end at once, stop it twice: what is not stored is fetched again)", text)
        elif self.waits_for:
            logger.warning("the database answers again")
            self.reconnects += 1
        self.waits_for = text


async def _start_run(
    config: Config,
    line: DatabaseLine,
    seeds: Sequence[Seed],
    settings: Mapping[str, Any],
    mode: str,
    *,
    neighbours: OpenShards | None,
) -> RunBeginning:
    now = clock.now()
    dealing = neighbours.dealing if neighbours is not None else None
    lease_ends = clock.uptime() + config.lease_seconds
    start = RunStart(
        started=iso(now),
        machine=platform.node(),
        pid=os.getpid(),
        place=here(),
        settings=json.dumps(settings),
        now=now,
        lease_seconds=config.lease_seconds,
        limits=config.limits,
        seeds=[row_of(seed) if dealing is None else dealing.part_of_seed(row_of(seed)) for seed in seeds],
        admit=lambda others: _compare(line.database.name, settings, others),
        covers=lambda seed, url: scope_of_seed(seed).permits(url),
        span=lambda seed: scope_of_seed(seed, config.period).period.span(now),
    )
    for other in neighbours.answering() if neighbours is not None else ():
        _compare(other.name, settings, await asyncio.to_thread(other.read, partial(runs.living_runs, now=now)))
    resumed = await line.submit(runs.start_run, start)
    if dealing is not None:
        await line.submit(keep_grant, None)
    asks = not isinstance(seeds, ArchiveSeeds)
    woken = await _wake(config, line, resumed, now, mode) if resumed.begun_before and asks else 0
    first = [
        new_url(
            identify(row.url),
            priority=config.priority,
            depth=0,
            found_in=BlockKind.SEED,
            now=now,
            seed_id=row.id,
            again=row.id in resumed.new_seeds,
        )
        for row in start.seeds
    ]
    if dealing is not None:  # the others have new seeds as well, and know best whether theirs are to be fetched again
        first = [new for new in first if dealing.belongs(new) == dealing.number or new.again]
    added = await _add(line, dealing, now, first)
    return RunBeginning(
        resumed,
        queued=resumed.pending + woken + added.queued,
        woken=woken,
        reordered=bool(resumed.settings and differing(resumed.settings, settings, SCORING)),
        lease_ends=lease_ends,
    )


async def _add(line: DatabaseLine, dealing: Dealing | None, now: float, new_urls: Sequence[NewUrl]) -> Found:
    if dealing is not None:
        foreign = [replace(new, again=False) for new in new_urls if dealing.belongs(new) != dealing.number]
        new_urls = [new for new in new_urls if dealing.belongs(new) == dealing.number]
        await line.submit(post_urls, (dealing, now, foreign))
    return await line.submit(add_urls, (now, new_urls))


async def _wake(config: Config, line: DatabaseLine, resumed: Resumed, now: float, mode: str) -> int:
    """Queue what was marked for another visit; in a finished crawl also what is due."""
    until = revisits.MARKED
    if not resumed.others:
        await line.submit(revisits.mark_unread, None)
    if mode == ONCE and not resumed.others:
        left = await line.submit(table.waiting, config.limits)
        beginning = Beginning(resumed.run_id, now, max(_LATE_SECONDS, config.lease_seconds))
        if not left.within and await line.submit(revisits.begins_anew, beginning):
            until = now + config.ahead
    total = 0
    while woken := (await line.submit(revisits.wake_due, Due(until, config.limits))).urls:
        total += woken
    return total


def _compare(name: str, mine: Mapping[str, Any], others: Sequence[LivingRun]) -> None:
    """Refuse to crawl beside runs whose settings contradict these; warn of others."""
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


def _open(config: Config, goes_on: Callable[[], bool], turn: ExitStack) -> tuple[Database, OpenShards | None]:
    """Open the database, or those of the crawl; `turn` makes others wait."""

    def open_one(url: str, patience: float = config.database_patience) -> Database:
        return open_for_crawl(
            url,
            patience_seconds=patience,
            waiting=lambda text: logger.warning("%s", text),
            goes_on=goes_on,
        )

    shards = Shards.read(config.database_url)
    if len(shards) > 1:
        patience = min(config.database_patience, _NEIGHBOUR_PATIENCE)
        one_of_several = partial(open_one, patience=patience)
        neighbours = turn.enter_context(place_of_process(shards, config.shard, one_of_several, logger.warning))
        return neighbours.own, neighbours
    database = open_one(shards.urls[0])
    try:
        enter([database])
    except DatabaseProblem:
        database.close()
        raise
    return database, None
