"""The frontier as a Scrapy scheduler: glue between the engine, the window in memory and the tables.

The URL table is the queue. A small window of leased URLs per host is kept in memory (`crawler.window`, filled by
`crawler.supply`); `next_request` never waits, it pops from there. The database thread claims URLs and writes finished
pages, a batch a transaction (`db.writer`). Whenever a page is stored the engine polls again; for hosts that become
ready later, and after refills, a sentinel request wakes it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from db import frontier as table
from db.errors import DatabaseGone, DatabaseProblem
from db.found import NewUrl
from db.frontier import Claim, Waiting
from db.health import ShownAlarm
from db.outcome import Outcome, Stored
from db.revisits import Woken
from db.states import Kind, State
from db.store import Store
from pipelines.changes import differs
from pipelines.duplicates import DuplicateJudge
from pipelines.parts import joiner
from pipelines.scope import Scope
from pipelines.stages import Page, export

from . import clock, outcomes
from .config import ConfigError
from .fetch.download import is_stored
from .hosts.addresses import SharedClocks
from .hosts.book import Hosts, Seeds
from .known import KnownUrls
from .learn.hooks import Hooks
from .learn.learning import Learning
from .outcomes import HANDLES_PAUSE, OUT_OF_HANDLES, depth_memory, internal_error
from .ranker import Ranker
from .revisit.revisited import conditions, settle
from .revisit.watch import Watch
from .rulebook import Rulebook
from .seeds import SeedError
from .session import ONCE, WATCH, Session
from .supply import Supply
from .totals import count
from .window import Window

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from pipelines.focus.topic import Topic
    from pipelines.trapsigns import KnownTraps

logger = logging.getLogger(__name__)

EXIT_FINISHED, EXIT_USAGE, EXIT_STOPPED, EXIT_DATABASE = 0, 2, 3, 4

_WAKE = Request("data:,wake")
_MOST_KNOWN = 400_000
_FEW = 16


class FrontierScheduler(BaseScheduler):
    """Scrapy's `SCHEDULER`: hands out the best URL among the hosts that are ready now.

    Attributes:
        totals: counts of this run (pages, articles, duplicates, drops by reason ...), for whoever shows them.
        exit_code: what the process should return; see the README.
        problem: one sentence about why the crawl could not start or go on, else empty.
        waiting_for: what the database thread waits for at the moment, else empty.
        session: the open database, once there is one.
        window: the URLs in memory, once there is a session.
        supply: what fills the window, once there is a session.
        ranker: what scores the queue again, once there is a session.
        left: what was left at the end.
        alarms: what is wrong with hosts, at the end.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self.totals: Counter[str] = Counter()
        self.exit_code = EXIT_STOPPED
        self.problem = ""
        self.waiting_for = ""
        self.left: Waiting | None = None
        self.alarms: Sequence[ShownAlarm] = ()
        self.session: Session | None = None
        self.window: Window | None = None
        self.supply: Supply | None = None
        self.ranker: Ranker | None = None
        self._hosts: Hosts
        self._seeds: Seeds
        self._store: Store
        self._learning: Learning | None = None
        self._watch: Watch | None = None
        self._known = KnownUrls(_MOST_KNOWN)
        self._in_flight: set[int] = set()
        self._unanswered: set[int] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stopping: asyncio.Future[None] | None = None
        self._closing = False
        self._rests_until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._refuse_to_run, signal=signals.spider_opened)
        crawler.signals.connect(scheduler._item_failed, signal=signals.item_error)
        crawler.signals.connect(scheduler._spider_failed, signal=signals.spider_error)
        return scheduler

    # ------------------------------------------------------------ beginning and end

    def open(self, spider: Spider) -> Deferred[None]:
        """Open the database, take back what a dead run left, add the seeds."""
        return deferred_from_coro(self._open(getattr(spider, "seeds", None), getattr(spider, "mode", ONCE)))

    async def _open(self, seeds: Any, mode: str) -> None:
        try:
            self.session = session = await Session.begin(
                self._crawler.settings,
                seeds,
                self._database_waits,
                mode=mode,
                goes_on=lambda: self._crawler.crawling,  # Scrapy says so at once when it is told to stop
            )
            self._seeds = Seeds(session.resumed.seeds, session.config.limits.depth)
            hooks = Hooks(
                totals=self.totals,
                is_own=self._seeds.owns,
                start=self._start,
                add=self._add,
                clear=self._clear,
                changed=self._rules_changed,
            )
            self._learning = await Learning(session, hooks).load()
        except (ConfigError, SeedError, DatabaseProblem) as problem:
            self.problem = str(problem)
            self.exit_code = EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE
            return
        config = session.config
        self.window = Window(
            depth=config.window,
            connections=config.connections,
            most_hosts=config.hosts,
            patience=config.host_patience,
            shared=SharedClocks(config.same_ip_delay) if config.same_ip_delay else None,
        )
        self.ranker = Ranker(session, self.window, self._in_flight)
        self._hosts = Hosts(
            config.pace, config.patience, config.robots_agent, keep_seconds=config.robots_keep, now=clock.now()
        )
        method, policy = config.duplicate_method, config.duplicates
        judge = DuplicateJudge(method, policy)
        self._store = Store(session.resumed.run_id, judge, session.signatures, joiner(method.sign), differs)
        if mode == WATCH:
            self._watch = Watch(session, self._woke)
        self.supply = Supply(
            session,
            self.window,
            self._hosts,
            self._seeds,
            totals=self.totals,
            in_flight=self._in_flight,
            start=self._start,
            wake=self._wake,
            finish=self._finish,
            traps=self._learning.traps,
            watch=self._watch,
        )
        if self._watch is not None:
            self._start(self._watch.keep())
        self._learning.run()
        self._start(session.keep_alive(hosts=self.supply.hosts_with_work, totals=self.totals, heard=self.supply.heard))
        self.supply.top_up()

    def _refuse_to_run(self) -> None:
        """End a crawl that could not start (an exception in `open` would leave Scrapy half-open)."""
        if self.problem:
            logger.error("%s", self.problem)
            raise CloseSpider("not started")

    def close(self, reason: str) -> Deferred[None]:
        """Give back what is leased, write how the run ended, close the database."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        self._closing = True
        if self.supply is not None:
            self.supply.close()
        for task in list(self._tasks):
            task.cancel()
        if self._timer:
            self._timer.cancel()
        if self.ranker is not None:
            await self.ranker.close()
        if self.session is not None:
            try:
                if self._learning is not None:
                    self.alarms = await self._learning.close()
                self.left = await self.session.end(outcome=lambda left: self._verdict(left, reason), totals=self.totals)
            except DatabaseProblem as problem:
                self._give_up(problem)
            await self.session.close()
        self._crawler.stats.set_value("crawl/exit_code", self.exit_code)

    def _verdict(self, left: Waiting, reason: str) -> tuple[str, int]:
        """How the run ended: the table decides whether it is finished."""
        if self.problem:
            return f"stopped ({self.problem})", self.exit_code
        self.exit_code = EXIT_STOPPED if left.within else EXIT_FINISHED
        ended = "finished" if self._watch is None or self._watch.spent else "stopped watching"
        return f"stopped ({reason})" if left.within else ended, self.exit_code

    # ------------------------------------------------------------ Scrapy's scheduler interface

    def has_pending_requests(self) -> bool:
        """False only when the table says that nothing is left within the limits."""
        return not (self._closing or self.problem or (self.supply is not None and self.supply.exhausted))

    def enqueue_request(self, request: Request) -> bool:
        """Swallow the sentinel; requests of others have no place in this frontier."""
        if request is _WAKE:
            return True
        logger.warning("dropped %s: only the frontier makes requests", request)
        return False

    def next_request(self) -> Request | None:
        """The best URL among hosts that are ready, or None. Never waits."""
        if self.window is None or self.session is None or self.supply is None or self._closing or self.problem:
            return None
        now = time.monotonic()
        if now < self._rests_until:
            return None
        if len(self._in_flight) >= self.session.config.in_flight or self.session.lapsed:
            return None  # the next page that is stored, or the next sign of life, wakes the engine
        claim = self.window.pop(now)
        self.supply.top_up()
        if claim is None:
            self._plan_wake(now)
            return None
        self._in_flight.add(claim.id)
        self._unanswered.add(claim.id)
        spider = self._crawler.spider
        meta: dict[str, Any] = {"claim": claim, "started": now, "handle_httpstatus_all": True}
        if claim.kind == Kind.ROBOTS:
            meta["download_timeout"] = self.session.config.robots_timeout
            meta["download_maxsize"] = self.session.config.robots_bytes
        return Request(
            claim.url,
            callback=spider.parse,  # type: ignore[union-attr]
            errback=spider.failed,  # type: ignore[union-attr]
            dont_filter=True,
            headers=conditions(claim),
            meta=meta,
        )

    # ------------------------------------------------------------ pages coming back

    @property
    def watches(self) -> bool:
        """Whether it goes on when nothing is left, and waits for news."""
        return self._watch is not None

    @property
    def topic(self) -> Topic | None:
        """What the crawl looks for, if for something."""
        return None if self.session is None else self.session.config.topic

    def scope_of(self, claim: Claim) -> Scope:
        """Where the links of a claim's page may lead."""
        return self._seeds.scope_of(claim)

    def answered(self, page: Page) -> None:
        """The network is done with a page: its host's clock starts."""
        host_id = page.claim.host_id
        self._unanswered.discard(page.claim.id)
        verdict = self._hosts.answered(page)
        page.ready_at = clock.now() + verdict.pause
        if self.window is None or self.supply is None:
            return
        now, pause = time.monotonic(), max(verdict.pause, verdict.rest)
        if self.window.shared is not None:
            self.window.shared.join(host_id, page.address)
        self.window.finished(host_id, now + pause, now)
        if not pause and len(self._in_flight) <= _FEW:  # else a page that is stored soon wakes the engine
            asyncio.get_running_loop().call_soon(self._wake)
        if page.error == OUT_OF_HANDLES:
            self._rest(now)
        if verdict.rests or verdict.lost:
            self._start(self.supply.follow(verdict))

    def _clear(self, host_id: int) -> None:
        """Give back what is held of a host, to be looked at once more."""
        assert self.window is not None
        assert self.supply is not None
        surplus = self.window.take_all(host_id)
        if surplus:
            self._start(self.supply.give_back(surplus))
        self.window.refresh(host_id)

    def _rest(self, now: float) -> None:
        """Ask nobody for a while: this machine cannot make requests."""
        if now >= self._rests_until:
            logger.warning(
                "no file can be opened (%s); resting for %.0f s. Raise the limit (ulimit -n) or lower "
                "CONCURRENT_REQUESTS or MAX_HOSTS",
                OUT_OF_HANDLES,
                HANDLES_PAUSE,
            )
            self._rests_until = now + HANDLES_PAUSE
            asyncio.get_running_loop().call_later(HANDLES_PAUSE, self._wake)

    async def knowledge(self, claim: Claim) -> bytes | None:
        """What is known of a page's site, packed; None when nothing is to be learned."""
        assert self._learning is not None
        try:
            return await self._learning.knowledge(claim)
        except DatabaseProblem as problem:  # the page cannot be stored either, and says so
            self._give_up(problem)
            return None

    def url_rules(self, claim: Claim) -> str:
        """Rules of the addresses of a page's host, packed; empty for none."""
        assert self._learning is not None
        return self._learning.url_rules(claim)

    def known_traps(self, claim: Claim) -> KnownTraps | None:
        """What is known of the traps of a page's host; None when they are not looked for."""
        assert self._learning is not None
        return self._learning.known_traps(claim)

    def _rules_changed(self, host_id: int, waiting: int) -> None:
        """Other rules of a host: more or fewer of its URLs wait."""
        assert self.supply is not None
        self.supply.queued += waiting
        self.supply.found({}, {host_id})
        self.supply.top_up()
        self._wake()

    async def store(self, page: Page) -> Stored:
        """Write what came of a page in one transaction and take over its links.

        Raises:
            DatabaseProblem: the database gave up; the crawl is being stopped.
        """
        assert self.session is not None
        assert self.window is not None
        config = self.session.config
        rulebook = Rulebook(
            priority=config.priority,
            tries=config.tries,
            redirects=config.redirects,
            depth=self._seeds.depth_of(page.claim.seed_id),
            known=self._known,
            extractor=config.extractor,
            objection=self._hosts.foreseen,
            focus=config.focus,
            robots_hosts=self._hosts.hosts_of_robots(page.claim),
            robots_again=self._hosts.robots_again(page.claim),
            robots_bytes=config.robots_bytes,
            resting=self._hosts.troubles.is_resting(page.claim.host_id),
        )
        page.stored = True
        try:
            judged = replace(outcomes.judge(page, rulebook), ready_at=page.ready_at)
            for _, _, text in judged.robots[:1]:  # the same for all
                await self._hosts.foreread(text)
            outcome = settle(page, judged, config.schedule)
            # while there is something else to fetch, pages may wait for each other and share a transaction
            write = self.session.gather if len(self.window) else self.session.submit
            stored = await write(self._store.store, outcome)
        except DatabaseProblem as problem:
            self._give_up(problem)
            raise
        except Exception as error:  # a fault of ours: the page is marked failed, never left as if it were stored
            logger.error("%s could not be stored", page.claim.url, exc_info=error)
            outcome = internal_error(page, error)
            stored = await self.session.submit(self._store.store, outcome)
        finally:
            self._in_flight.discard(page.claim.id)
            is_stored(self._crawler, page.claim.id)
        self._took(page, outcome, stored)
        return stored

    def _took(self, page: Page, outcome: Outcome, stored: Stored) -> None:
        """A page is stored: bring memory in line with the table."""
        assert self.supply is not None
        assert self._learning is not None
        claim = page.claim
        count(self.totals, page, outcome, stored)
        for key, depth in depth_memory(outcome):
            self._known.note(key, depth)
        if outcome.seed_host is not None:
            self._seeds.adopt(*outcome.seed_host)
        if claim.kind == Kind.ROBOTS and outcome.state != State.PENDING:
            self._robots_came(claim, outcome)
        self._learning.note(page, outcome, stored)
        self._queue(outcome, stored)
        self.supply.top_up()
        if self.ranker is not None and self.ranker.is_due(self.totals["pages"]):
            self._start(self.ranker.hold(self.totals["pages"]))

    def _queue(self, outcome: Outcome, stored: Stored) -> None:
        """Say what waits now, and what will at some time."""
        assert self.supply is not None
        best: dict[int, float] = {}
        for new in outcome.new_urls:
            if not new.reason:
                best[new.host_id] = max(new.score, best.get(new.host_id, new.score))
        waits = outcome.state == State.PENDING and outcome.next_visit is not None
        # a page that was on its way when its host was given up is skipped like the others
        if waits and not self._hosts.is_closed(outcome.claim.host_id):
            self.supply.later(outcome.next_visit or 0.0, outcome.claim.host_id)
        else:
            self.supply.found(best, stored.hosts)
            if self._watch is not None:
                self._watch.note(stored.next_visit if outcome.seen is not None else outcome.next_visit)

    async def _add(self, new_urls: Sequence[NewUrl]) -> None:
        """Add URLs that no page named."""
        assert self.supply is not None
        await self.supply.add(new_urls)

    def _woke(self, woken: Woken) -> None:
        """URLs that were fetched before wait again."""
        assert self.supply is not None
        self.supply.queued += woken.urls
        self.supply.found({}, woken.hosts)
        self.supply.top_up()
        self._wake()

    async def _finish(self) -> bool:
        """Nothing is left to be fetched: whether there is, after all. If not, store articles that wait for parts."""
        assert self.session is not None
        assert self._learning is not None
        if await self._learning.look_again():
            return True
        while finished := await self.session.submit(self._store.finish, None):
            self.totals.update(one.what for one in finished)
            export(self._crawler, finished)
        return False

    def _item_failed(self, item: Page, failure: Any) -> None:
        """A stage before the store raised: the page must not look stored."""
        if not self._closing and not item.stored:
            item.worked, item.unreadable = None, f"internal error ({failure.type.__name__})"
            self._start(self.store(item))

    def _spider_failed(self, failure: Any, response: Any) -> None:
        """The spider raised: no item will come, so the URL is given another try like one that was not answered."""
        claim: Claim = response.request.meta["claim"]  # the answer's, or the failure's
        if not self._closing and claim.id in self._in_flight:
            error = f"internal error ({failure.type.__name__})"
            page = Page(claim, self.scope_of(claim), error=error, fetched_at=clock.now())
            if claim.id in self._unanswered:
                self.answered(page)
            self._start(self.store(page))

    def _robots_came(self, claim: Claim, outcome: Outcome) -> None:
        """New rules for hosts, or a further hop towards them."""
        assert self.window is not None
        assert self.session is not None
        assert self.supply is not None
        answers = list(outcome.robots)
        if answers:  # hosts whose robots.txt redirected here while this answer was on its way
            _, kind, text = answers[0]
            told = {host_id for host_id, _, _ in answers}
            late = [(key, kind, text) for key in self._hosts.hosts_of_robots(claim) if key not in told]
            answers += late
            if late:
                rows = [(key, kind, text, outcome.fetched_at) for key, kind, text in late]
                self._start(self.session.submit(table.set_robots, rows))
        self._hosts.robots_moved(claim, outcome.same_as if outcome.state == State.SKIPPED else None)
        sitemaps: list[NewUrl] = []
        for host_id, kind, text in answers:
            rules = self._hosts.set_rules(host_id, kind, text, outcome.fetched_at)
            host = self.window.hosts.get(host_id)
            if host is None:
                continue
            if host.robots_known:  # what is held was claimed under the old rules
                self._start(self.supply.give_back(self.window.take_all(host_id)))
            host.robots_known = True
            self.window.refresh(host_id)
            if kind in {"rules", "none"}:
                base = f"{claim.url.partition(':')[0]}://{host.name}/"
                priority, now = self.session.config.priority, outcome.fetched_at
                sitemaps += self._seeds.sitemaps(host.name, base, rules.sitemaps, priority=priority, now=now)
        if sitemaps:
            self._start(self.supply.add(sitemaps))

    # ------------------------------------------------------------ small machinery

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run in the background; a database that gave up stops the crawl, anything else is a bug to be seen."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, DatabaseProblem):
            self._give_up(error)
        elif error is not None and not self._closing:
            self.problem = f"internal error ({type(error).__name__}: {error}); the same command goes on"
            logger.error("%s", self.problem, exc_info=error)
            self._stop("internal error")

    def _database_waits(self, text: str) -> None:
        """The database thread waits for something, or no longer does."""
        if text:
            logger.warning("%s", text)
        elif self.waiting_for:
            logger.warning("the database answers again")
            self._known.clear()
            if self.supply is not None:
                self.supply.reconnected()
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
            # not among self._tasks: closing cancels those
            self._stopping = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))

    def _wake(self) -> None:
        """Make the engine poll now."""
        if not self._closing and self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(_WAKE)

    def _plan_wake(self, now: float) -> None:
        """Make the engine poll when the next host becomes ready or the next URL is due."""
        assert self.window is not None
        assert self.supply is not None
        if self._timer:
            self._timer.cancel()
            self._timer = None
        ready_at, due = self.window.next_ready(), self.supply.next_due()
        pauses = [] if ready_at is None else [ready_at - now]
        if due is not None:
            pauses.append(due - clock.now())
        if pauses:
            self._timer = asyncio.get_running_loop().call_later(max(0.001, min(pauses)), self._wake)
