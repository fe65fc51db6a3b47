"""The frontier as a Scrapy scheduler: glue between the engine, the window in memory and the tables.

How it works. The URL table is the queue. A small window of leased URLs per host is kept in memory (`crawler.window`);
`next_request` never waits, it pops from there. The database thread refills the window and writes finished pages, a
batch a transaction (`db.writer`). Whenever a page is stored the engine polls again; for hosts that become ready later,
and for refills, a sentinel request wakes it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from db import frontier as table
from db.database import Database, open_for_crawl
from db.errors import DatabaseGone, DatabaseProblem
from db.frontier import Claim, ClaimRequest, OwnedHost, Resumed, RunEnd, RunStart, SeedRow, Waiting
from db.keys import iso
from db.store import NewUrl, Outcome, Store, Stored, add_urls
from db.tables import Kind, State
from db.writer import Writer
from pipelines.duplicates import DuplicateJudge
from pipelines.records import BlockKind
from pipelines.scope import Scope
from pipelines.urls import canonicalize, fingerprint, host_key

from .config import Config, ConfigError
from .outcomes import Rulebook, depth_memory, judge, new_url
from .politeness import Rules, retry_after, retry_pause
from .seeds import Seed, SeedError, load_seeds
from .window import HostQueue, Window

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from pipelines.stages import Page

logger = logging.getLogger(__name__)

EXIT_FINISHED, EXIT_USAGE, EXIT_STOPPED, EXIT_DATABASE = 0, 2, 3, 4

_WAKE = Request("data:,wake")
_ROBOTS_SECONDS = 86_400.0
_MOST_KNOWN = 400_000
_LOOK_AGAIN_SECONDS = 1.0
_SETTINGS_KEPT = (
    "MAX_PAGES",
    "MAX_PAGES_PER_HOST",
    "MAX_DEPTH",
    "HOST_DELAY",
    "CRAWL_PRESET",
    "CRAWL_PRIORITY",
    "EXTRACTOR",
)


class FrontierScheduler(BaseScheduler):
    """Scrapy's `SCHEDULER`: hands out the best URL among the hosts that are ready now.

    Attributes:
        totals: counts of this run (pages, articles, duplicates, drops by reason ...), for whoever shows them.
        exit_code: what the process should return; see the README.
        problem: one sentence about why the crawl could not start or go on, else empty.
        resumed: what the run found in the database, once it is open.
        queued: URLs waiting, as far as this process knows.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.totals: Counter[str] = Counter()
        self.exit_code = EXIT_STOPPED
        self.problem = ""
        self.waiting_for = ""
        self.resumed: Resumed | None = None
        self.left: Waiting | None = None
        self.queued = 0
        self.window: Window | None = None
        self.database: Database | None = None
        self._writer: Writer | None = None
        self._config: Config
        self._store: Store
        self._rules: dict[int, Rules] = {}
        self._failures: Counter[int] = Counter()
        self._scopes: dict[int, Scope] = {}
        self._depths: dict[int, int | None] = {}
        self._seed_hosts: set[int] = set()
        self._known: OrderedDict[int, int] = OrderedDict()
        self._robots_for: dict[int, set[int]] = {}
        self._due: list[tuple[float, int]] = []
        self._in_flight = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._refilling = False
        self._more_hosts = True
        self._exhausted = False
        self._closing = False
        self._wake_timer: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._refuse_to_run, signal=signals.spider_opened)
        crawler.signals.connect(scheduler._item_failed, signal=signals.item_error)
        return scheduler

    # ------------------------------------------------------------ opening and closing

    def open(self, spider: Spider) -> Deferred[None]:
        """Open the database, take back what a dead run left, add the seeds."""
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: Spider) -> None:
        try:
            self._config = Config.from_settings(self._crawler.settings)
            seeds = self._read_seeds(getattr(spider, "seeds", None))
            loop = asyncio.get_running_loop()
            self.database = await loop.run_in_executor(None, self._open_database)
            self._writer = Writer(
                self.database,
                patience_seconds=self._config.database_patience,
                waiting=lambda text: loop.call_soon_threadsafe(self._database_waits, text),
            )
            await self._begin(seeds)
        except (ConfigError, SeedError, DatabaseProblem) as problem:
            self.problem = str(problem)
            self.exit_code = EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE

    def _open_database(self) -> Database:
        return open_for_crawl(
            self._config.database_url,
            patience_seconds=min(self._config.database_patience, 60.0),
            waiting=lambda text: logger.warning("%s", text),
        )

    @staticmethod
    def _read_seeds(seeds: Any) -> list[Seed]:
        if not seeds:
            raise SeedError("no seeds given; use -a seeds=seeds.txt (a file of URLs) or -a seeds=demo")
        return load_seeds(seeds) if isinstance(seeds, str) else list(seeds)

    async def _begin(self, seeds: Sequence[Seed]) -> None:
        """Write the run and its seeds, and get the first URLs."""
        config = self._config
        settings = {name: self._crawler.settings[name] for name in _SETTINGS_KEPT}
        rows = [
            SeedRow(fingerprint(s.url), s.url, s.stay, s.depth, s.pages, s.topic, (host_key(s.url),)) for s in seeds
        ]
        self.resumed = await self._submit(
            table.start_run,
            RunStart(
                started=iso(time.time()),
                machine=platform.node(),
                pid=os.getpid(),
                settings=str({k: v for k, v in settings.items() if v is not None}),
                now=time.time(),
                lease_seconds=config.lease_seconds,
                limits=config.limits,
                seeds=rows,
            ),
        )
        self.queued = self.resumed.pending
        self.window = Window(depth=config.window, connections=config.connections, most_hosts=config.hosts)
        self._store = Store(DuplicateJudge(config.duplicate_threshold), DuplicateJudge.lookup())
        for row in self.resumed.seeds:
            self._scopes[row.id] = Scope(row.stay, row.hosts)
            self._depths[row.id] = row.depth if row.depth is not None else config.limits.depth
            self._seed_hosts.update(fingerprint(host) for host in row.hosts)
        now = time.time()
        first = [
            new_url(
                row.url, Kind.PAGE, priority=config.priority, depth=0, found_in=BlockKind.SEED, now=now, seed_id=row.id
            )
            for row in self.resumed.seeds
            if row.id in self.resumed.new_seeds
        ]
        if first:
            added = await self._submit(add_urls, (now, first))
            self.queued += added.queued
        self._start_task(self._renew_lease())
        self._top_up()

    def _refuse_to_run(self) -> None:
        """End a crawl that could not start (an exception in `open` would leave Scrapy half-open)."""
        if self.problem:
            logger.error("%s", self.problem)
            raise CloseSpider("not started")

    def close(self, reason: str) -> Deferred[None]:
        """Give back what is leased, write how the run ended, close the database."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        try:
            await self._shut(reason)
        finally:
            self._crawler.stats.set_value("crawl/exit_code", self.exit_code)

    async def _shut(self, reason: str) -> None:
        self._closing = True
        for task in list(self._tasks):
            task.cancel()
        if self._wake_timer:
            self._wake_timer.cancel()
        if self._writer is None:
            return
        if self.resumed is not None:
            try:
                await self._finish_run(reason)
            except DatabaseProblem as problem:
                self._give_up(problem)
        await asyncio.get_running_loop().run_in_executor(None, self._writer.close)
        assert self.database is not None
        self.database.close()

    async def _finish_run(self, reason: str) -> None:
        """Decide from the table how the crawl ended, and write it."""
        assert self.resumed is not None
        await self._submit(table.let_go, self.resumed.run_id)
        self.left = await self._submit(table.waiting, self._config.limits)
        done = self.left.within == 0 and reason == "finished"
        if not self.problem:
            self.exit_code = EXIT_FINISHED if done else EXIT_STOPPED
        await self._submit(
            table.finish_run,
            RunEnd(
                run_id=self.resumed.run_id,
                finished=iso(time.time()),
                outcome="finished" if done else f"stopped ({self.problem or reason})",
                exit_code=self.exit_code,
                totals=dict(self.totals),
            ),
        )

    # ------------------------------------------------------------ Scrapy's scheduler interface

    def has_pending_requests(self) -> bool:
        """False only when the table says that nothing is left within the limits."""
        return not (self._exhausted or self._closing or self.problem)

    def enqueue_request(self, request: Request) -> bool:
        """Swallow the sentinel; requests of others have no place in this frontier."""
        if request is not _WAKE:
            logger.warning("dropped %s: only the frontier makes requests", request)
            return False
        return True

    def next_request(self) -> Request | None:
        """The best URL among hosts that are ready, or None. Never waits."""
        if self.window is None or self._closing or self.problem:
            return None
        now = time.monotonic()
        claim = self.window.pop(now) if self._in_flight < 2 * self._config.in_flight else None
        self._top_up()
        if claim is None:
            self._plan_wake(now)
            return None
        self._in_flight += 1
        return self._request(claim)

    def _request(self, claim: Claim) -> Request:
        spider = self._crawler.spider
        return Request(
            claim.url,
            callback=spider.parse,  # type: ignore[union-attr]
            errback=spider.failed,  # type: ignore[union-attr]
            dont_filter=True,
            meta={"claim": claim, "started": time.monotonic(), "handle_httpstatus_all": True},
        )

    # ------------------------------------------------------------ pages coming back

    def scope_of(self, claim: Claim) -> Scope:
        """Where the links of a claim's page may lead."""
        own = Scope("host", (host_key(claim.url),))
        return self._scopes.get(claim.seed_id, own) if claim.seed_id is not None else own

    def answered(self, page: Page) -> None:
        """The network is done with a page: its host's clock starts."""
        host_id = page.claim.host_id
        trouble = bool(page.error) or page.status == 429 or page.status >= 500
        self._failures[host_id] = self._failures[host_id] + 1 if trouble else 0
        pause = self._pause(page, self._failures[host_id])
        page.ready_at = time.time() + pause
        if self._failures[host_id] >= self._config.host_failures:
            self._rules[host_id] = Rules("", self._config.robots_agent, "host unreachable")
        now = time.monotonic()
        if self.window is not None:
            self.window.finished(host_id, now + pause, now)

    def _pause(self, page: Page, failures: int) -> float:
        """Seconds until the host may be asked again."""
        pause = self._config.pauses.between(self._rules.get(page.claim.host_id))
        if page.status in {429, 503}:
            asked = retry_after(page.headers.get("retry-after", ""), page.fetched_at)
            return max(pause, asked if asked is not None else retry_pause(failures))
        return max(pause, min(30.0, retry_pause(failures))) if failures > 1 else pause

    async def store(self, page: Page) -> None:
        """Write what came of a page in one transaction and take over its links.

        Raises:
            DatabaseProblem: the database gave up; the crawl is being stopped.
        """
        claim = page.claim
        robots_hosts = (claim.host_id,) if claim.kind == Kind.ROBOTS and claim.url.endswith("/robots.txt") else ()
        waiting_for_rules = self._robots_for.get(claim.id, set())
        rulebook = Rulebook(
            priority=self._config.priority,
            tries=self._config.tries,
            redirects=self._config.redirects,
            depth=self._depths.get(claim.seed_id, self._config.limits.depth)
            if claim.seed_id is not None
            else self._config.limits.depth,
            known=self._known,
            extractor=self._config.extractor,
            robots_hosts=(*robots_hosts, *sorted(waiting_for_rules - set(robots_hosts))),
        )
        outcome = replace(judge(page, rulebook), ready_at=page.ready_at)
        try:
            stored = await self._submit(self._store.store, outcome)
        except DatabaseProblem as problem:
            self._give_up(problem)
            raise
        except Exception as error:  # noqa: BLE001 - a fault of ours: the page is marked failed, never left as if stored
            logger.error("%s could not be stored", claim.url, exc_info=error)
            outcome = _internal_error(page, error)
            stored = await self._submit(self._store.store, outcome)
        finally:
            self._in_flight -= 1
        self._took(page, outcome, stored, rulebook)

    def _took(self, page: Page, outcome: Outcome, stored: Stored, rulebook: Rulebook) -> None:
        """A page is stored: bring memory in line with the table."""
        assert self.window is not None
        claim = page.claim
        self._count(outcome, stored)
        for key, depth in depth_memory(outcome):
            self._known[key] = min(depth, self._known.get(key, depth))
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        if outcome.seed_host is not None:
            seed_id, host = outcome.seed_host
            self._scopes[seed_id] = Scope(self._scopes[seed_id].stay, (*self._scopes[seed_id].hosts, host))
            self._seed_hosts.add(fingerprint(host))
        if claim.kind == Kind.ROBOTS:
            self._robots_came(claim, outcome, rulebook)
        if outcome.next_visit is not None:
            self._due.append((outcome.next_visit, claim.host_id))
        best: dict[int, float] = {}
        for new in outcome.new_urls:
            if not new.reason:
                best[new.host_id] = max(new.score, best.get(new.host_id, new.score))
        for host_id in stored.hosts:
            if host_id not in self.window.hosts:
                self._more_hosts = True
            elif outcome.next_visit is None or host_id != claim.host_id:
                self.window.refresh(host_id)
                self.window.overtake(host_id, best.get(host_id, float("-inf")))
        self._top_up()

    def _count(self, outcome: Outcome, stored: Stored) -> None:
        totals = self.totals
        self.queued += stored.queued
        if outcome.claim.kind == Kind.PAGE:
            totals["pages"] += outcome.counted
            if stored.article:
                totals[stored.article] += 1
            reason = "same page" if stored.same_as else outcome.reason
            if outcome.state == State.PENDING:
                totals["retries"] += 1
            elif reason:
                totals[f"{'failed' if outcome.state == State.FAILED else 'dropped'}/{reason}"] += 1
                totals["failed"] += outcome.state == State.FAILED
        for new in outcome.new_urls:
            if new.reason:
                totals[f"links/{new.reason}"] += 1

    def _item_failed(self, item: Page, failure: Any) -> None:
        """A stage before the store raised: the page must not look stored."""
        if not isinstance(failure.value, DatabaseProblem) and not self._closing:
            item.worked = None
            item.unreadable = f"internal error ({failure.type.__name__})"
            self._start_task(self.store(item))

    # ------------------------------------------------------------ robots.txt

    def _robots_came(self, claim: Claim, outcome: Outcome, rulebook: Rulebook) -> None:
        """New rules for a host, or a further hop towards them."""
        assert self.window is not None
        if outcome.state == State.PENDING:
            return
        waiting_hosts = set(rulebook.robots_hosts)
        self._robots_for.pop(claim.id, None)
        if outcome.same_as is not None and outcome.state == State.SKIPPED:
            self._robots_for.setdefault(outcome.same_as, set()).update(waiting_hosts)
            return
        sitemaps: list[NewUrl] = []
        for host_id, kind, text in outcome.robots:
            rules = self._rules_from(kind, text)
            self._rules[host_id] = rules
            host = self.window.hosts.get(host_id)
            if host is None:
                continue
            host.robots_known = True
            self.window.refresh(host_id)
            if host_id in self._seed_hosts and kind in {"rules", "none"}:
                sitemaps.extend(self._sitemaps(claim, host, rules))
        if sitemaps:
            self._start_task(self._add(sitemaps))

    def _rules_from(self, kind: str, text: str) -> Rules:
        reason = {"unreachable": "robots unreachable", "refused": "address not allowed"}.get(kind, "")
        return Rules(text if kind == "rules" else "", self._config.robots_agent, reason)

    def _sitemaps(self, claim: Claim, host: HostQueue, rules: Rules) -> list[NewUrl]:
        """Sitemaps that the rules name, else the usual place; for hosts of seeds only."""
        seed_id, scope = next(
            ((key, scope) for key, scope in self._scopes.items() if scope.covers(host.name)), (None, None)
        )
        if scope is None or self._depths.get(seed_id or 0) == 0:
            return []
        base = claim.url if host.id == claim.host_id else f"{claim.url.partition(':')[0]}://{host.name}/robots.txt"
        named = [url for url in (canonicalize(text, base) for text in rules.sitemaps) if url]
        return [
            new_url(
                url,
                Kind.SITEMAP,
                priority=self._config.priority,
                depth=0,
                found_in=BlockKind.SITEMAP,
                now=time.time(),
                seed_id=seed_id,
                reason="" if scope.covers(host_key(url)) else "outside",
            )
            for url in named or [canonicalize("/sitemap.xml", base) or ""]
            if url
        ]

    # ------------------------------------------------------------ refilling

    def _top_up(self) -> None:
        """Ask the database for more when some host's queue runs low or hosts are free. One request at a time."""
        if self._refilling or self._closing or self.problem or self.window is None:
            return
        window, now = self.window, time.time()
        if self._due:
            for due, host_id in [entry for entry in self._due if entry[0] <= now]:
                self._due.remove((due, host_id))
                window.refresh(host_id)
        wants = window.wants()
        if window.room_for_hosts == 0 and self._more_hosts:
            self._start_task(self._drop_idle_hosts())
        new_hosts = window.room_for_hosts if self._more_hosts else 0
        if not wants and not new_hosts:
            if not len(window) and not self._in_flight and not self._exhausted:
                self._refilling = True
                self._start_task(self._look_around())
            return
        assert self.resumed is not None
        self._refilling = True
        self._more_hosts = False
        request = ClaimRequest(
            run_id=self.resumed.run_id,
            wants=wants,
            new_hosts=new_hosts,
            robots_only=frozenset(key for key in wants if not window.hosts[key].robots_known),
            objection=self._objection,
            limits=self._config.limits,
            now=now,
        )
        self._start_task(self._refill(request))

    def _objection(self, host_id: int, url: str) -> str:
        """Asked from the database thread; rules are only ever replaced as a whole."""
        return self._rules[host_id].objection(url)

    async def _refill(self, request: ClaimRequest) -> None:
        assert self.window is not None
        try:
            claims = await self._submit(table.claim, request)
            robots = self._took_over(claims.hosts)
            for host_id, due in claims.dry.items():
                self.window.mark_dry(host_id)
                if due is not None:
                    self._due.append((due, host_id))
            if request.new_hosts and len(claims.hosts) >= request.new_hosts:
                self._more_hosts = True
            self.totals["dropped/robots"] += claims.skipped
            self.queued -= claims.skipped + len(claims.urls)
            surplus = self.window.push(claims.urls, time.monotonic())
            if surplus:
                self.queued += len(surplus)
                await self._submit(table.give_back, surplus)
            if robots:
                await self._add(robots)
        finally:
            self._refilling = False
        self._wake()

    def _took_over(self, hosts: Sequence[OwnedHost]) -> list[NewUrl]:
        """Hold new hosts; returns the robots.txt that must be fetched first."""
        assert self.window is not None
        now, wall = time.monotonic(), time.time()
        robots = []
        for host in hosts:
            fresh = host.robots_at is not None and wall - host.robots_at < _ROBOTS_SECONDS
            known = host.robots != "unknown" and fresh
            if known:
                self._rules[host.id] = self._rules_from(host.robots, host.robots_text or "")
            else:
                robots.append(
                    new_url(
                        f"{host.scheme}://{host.name}/robots.txt",
                        Kind.ROBOTS,
                        priority=self._config.priority,
                        depth=0,
                        found_in=BlockKind.OTHER,
                        now=wall,
                        seed_id=None,
                        again=True,
                    )
                )
            ready_in = min(60.0, max(0.0, host.ready_at - wall))
            self._failures[host.id] = host.failures
            self.window.add_host(HostQueue(host.id, host.name, ready_at=now + ready_in, robots_known=known))
        return robots

    async def _add(self, new_urls: list[NewUrl]) -> None:
        """Add URLs that no page named."""
        assert self.window is not None
        stored = await self._submit(add_urls, (time.time(), new_urls))
        self.queued += stored.queued
        for host_id in stored.hosts:
            if host_id in self.window.hosts:
                self.window.refresh(host_id)
            else:
                self._more_hosts = True
        self._top_up()

    async def _drop_idle_hosts(self) -> None:
        """Make room for hosts that have work."""
        assert self.window is not None
        due = {host_id for _, host_id in self._due}
        idle = [host_id for host_id in self.window.idle_hosts() if host_id not in due]
        if not idle:
            return
        kept = await self._submit(table.drop_hosts, idle)
        for host_id in idle:
            host = self.window.hosts.get(host_id)
            if host_id not in kept and host is not None and not host.queue and not host.busy:
                self.window.remove_host(host_id)
                self._rules.pop(host_id, None)
        self._wake()

    async def _look_around(self) -> None:
        """Nothing queued, nothing under way: is anything left, and when?"""
        assert self.window is not None
        try:
            left = await self._submit(table.waiting, self._config.limits)
            self.left = left
            if left.within == 0:
                self._exhausted = True
                return
            pause = _LOOK_AGAIN_SECONDS
            if left.next_due is not None and left.next_due > time.time():
                pause = min(max(left.next_due - time.time(), 0.05), 5.0)
                await asyncio.sleep(pause)
            elif self._due:
                await asyncio.sleep(0.05)
            else:
                await asyncio.sleep(pause)
            for host_id in self.window.hosts:
                self.window.refresh(host_id)
            self._more_hosts = True
        finally:
            self._refilling = False
            self._wake()

    # ------------------------------------------------------------ small machinery

    async def _submit(self, work: Any, payload: Any) -> Any:
        """Run database work and wait for its commit."""
        assert self._writer is not None
        return await asyncio.wrap_future(self._writer.submit(work, payload))

    def _start_task(self, coroutine: Any) -> None:
        """Run in the background; a database that gave up stops the crawl, anything else is a bug to be seen."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._task_ended)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if isinstance(error, DatabaseProblem):
            self._give_up(error)
        elif error is not None and not self._closing:
            self.problem = (
                f"internal error in the frontier ({type(error).__name__}: {error}); run the same command again"
            )
            logger.error("%s", self.problem, exc_info=error)
            self._stop("internal error")

    async def _renew_lease(self) -> None:
        """Say that this run is alive."""
        assert self.resumed is not None
        while True:
            await asyncio.sleep(self._config.lease_seconds / 3)
            await self._submit(table.renew, (self.resumed.run_id, time.time() + self._config.lease_seconds))

    def _database_waits(self, text: str) -> None:
        """The database thread waits for something, or no longer does."""
        if text:
            logger.warning("%s", text)
        elif self.waiting_for:
            logger.warning("the database answers again")
        self.waiting_for = text

    def _give_up(self, problem: DatabaseProblem) -> None:
        """The database is gone: stop, say so once, keep everything resumable."""
        if not self.problem:
            self.problem = str(problem)
            self.exit_code = EXIT_DATABASE
            logger.error("%s", self.problem)
            self._stop("database")

    def _stop(self, reason: str) -> None:
        if not self._closing:
            self._closing = True
            asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))

    def _wake(self) -> None:
        """Make the engine poll now."""
        if not self._closing and self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(_WAKE)

    def _plan_wake(self, now: float) -> None:
        """Make the engine poll when the next host becomes ready."""
        assert self.window is not None
        ready_at = self.window.next_ready()
        if self._wake_timer:
            self._wake_timer.cancel()
            self._wake_timer = None
        pauses = [ready_at - now] if ready_at is not None else []
        if self._due:
            pauses.append(min(due for due, _ in self._due) - time.time())
        if pauses:
            self._wake_timer = asyncio.get_running_loop().call_later(max(0.001, min(pauses)), self._wake)


def _internal_error(page: Page, error: Exception) -> Outcome:
    """A page that could not be stored as it is."""
    return Outcome(
        page.claim,
        State.FAILED,
        f"internal error ({type(error).__name__})",
        counted=page.status > 0,
        http_status=page.status or None,
        fetched_at=page.fetched_at,
        ready_at=page.ready_at,
    )
