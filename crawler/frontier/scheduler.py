"""The frontier as a Scrapy scheduler: glue between the engine, the window in memory and the tables.

The URL table is the queue. A small window of leased URLs per host is kept in memory (`crawler.frontier.host_queues`,
filled by `crawler.frontier.refill`); `next_request` never waits, it pops from there. The database thread claims URLs
and writes finished pages, a batch a transaction (`db.engine.writer`). Whenever a page is stored the engine polls again;
for hosts that become ready later, and after refills, a sentinel request wakes it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from db.engine.errors import DatabaseGone, DatabaseProblem
from db.records.lease import Waiting
from db.records.outcome import Stored
from db.records.reasons import FailReason
from db.records.url import Claim, Kind, NewUrl
from db.sites.health import ShownAlarm
from pipelines.links.scope import Scope
from pipelines.stages import Page, export

from .. import clock
from ..fetch.handler import is_stored
from ..learn.callbacks import Hooks
from ..learn.learning import Learning
from ..politeness.hosts import Hosts
from ..politeness.ip_clock import SharedClocks
from ..response.outcome import HANDLES_PAUSE
from ..response.revisit import conditions
from ..response.seed_scope import Seeds
from ..response.seen_urls import KnownUrls
from ..run.background import Background
from ..run.config import Config, ConfigError
from ..run.exit_codes import EXIT_DATABASE, EXIT_FINISHED, EXIT_STOPPED, EXIT_USAGE
from ..run.seeds import SeedError
from ..run.session import ONCE, WATCH, Session
from .completion import Storing
from .host_queues import Window
from .refill import Supply
from .rescore import Ranker
from .watch import Watch

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from pipelines.focus.topic import Topic
    from pipelines.traps.signals import KnownTraps


logger = logging.getLogger(__name__)

WAKE = Request("data:,wake")
"""The sentinel that makes the engine ask; nobody fetches it."""
_SHORTEST = 0.001


class Waker:
    """Makes the engine poll.

    Args:
        crawler: whose engine.
        background: says whether the crawl is ending.
    """

    def __init__(self, crawler: Crawler, background: Background) -> None:
        self._crawler = crawler
        self._background = background
        self._timer: asyncio.TimerHandle | None = None
        self._rests_until = 0.0

    def wake(self) -> None:
        """Now."""
        if not self._background.closing and self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(WAKE)

    def plan(self, pause: float | None) -> None:
        """After so many seconds, instead of when that was last said; None for no time known."""
        self.close()
        if pause is not None:
            self._timer = asyncio.get_running_loop().call_later(max(_SHORTEST, pause), self.wake)

    def close(self) -> None:
        """Nothing is planned any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def rest(self, now: float) -> None:
        """Ask nobody for a while: this machine cannot make requests."""
        if not self.rests(now):
            logger.warning(
                "no file can be opened (%s); resting for %.0f s. Raise the limit (ulimit -n) or lower "
                "CONCURRENT_REQUESTS or MAX_HOSTS",
                FailReason.OUT_OF_HANDLES,
                HANDLES_PAUSE,
            )
            self._rests_until = now + HANDLES_PAUSE
            asyncio.get_running_loop().call_later(HANDLES_PAUSE, self.wake)

    def rests(self, now: float) -> bool:
        """Whether nothing may be asked for at the moment (monotonic time)."""
        return now < self._rests_until


# ---- The frontier as a Scrapy scheduler: glue between the engine, the window in memory and the tables.


_MOST_KNOWN = 400_000
_FEW = 16


class FrontierScheduler(BaseScheduler):
    """Scrapy's `SCHEDULER`: hands out the best URL among the hosts that are ready now.

    Attributes:
        totals: counts of this run (pages, articles, duplicates, drops by reason ...), for whoever shows them.
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
        self._background = Background(lambda reason: crawler.engine.close_spider_async(reason=reason))
        self._waker = Waker(crawler, self._background)
        self.totals: Counter[str] = Counter()
        self.waiting_for = ""
        self.left: Waiting | None = None
        self.alarms: Sequence[ShownAlarm] = ()
        self.session: Session | None = None
        self.window: Window | None = None
        self.supply: Supply | None = None
        self.ranker: Ranker | None = None
        self._hosts: Hosts
        self._seeds: Seeds
        self._storing: Storing | None = None
        self._learning: Learning | None = None
        self._watch: Watch | None = None
        self._known = KnownUrls(_MOST_KNOWN)
        self._in_flight: set[int] = set()
        self._unanswered: set[int] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._refuse_to_run, signal=signals.spider_opened)
        crawler.signals.connect(scheduler._item_failed, signal=signals.item_error)
        crawler.signals.connect(scheduler._spider_failed, signal=signals.spider_error)
        return scheduler

    @property
    def exit_code(self) -> int:
        """What the process should return; see the README."""
        return self._background.exit_code

    # ------------------------------------------------------------ beginning and end

    def open(self, spider: Spider) -> Deferred[None]:
        """Open the database, take back what a dead run left, add the seeds."""
        return deferred_from_coro(self._open(getattr(spider, "seeds", None), getattr(spider, "mode", ONCE)))

    async def _open(self, seeds: Any, mode: str) -> None:
        try:
            self.session = session = await Session.begin(
                Config.of(self._crawler),
                seeds,
                self._database_waits,
                mode=mode,
                goes_on=lambda: self._crawler.crawling,  # Scrapy says so at once when it is told to stop
            )
            self._seeds = Seeds(session.resumed.seeds, session.config.limits.depth)
            hooks = Hooks(
                totals=self.totals,
                is_own=self._seeds.owns,
                start=self._background.start,
                add=self._add,
                clear=self._clear,
                changed=lambda host_id, urls: self._more(urls, {host_id}),
            )
            self._learning = await Learning(session, hooks).load()
        except (ConfigError, SeedError, DatabaseProblem) as problem:
            self._background.refuse(str(problem), EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE)
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
            config.delay, config.backoff, config.robots_agent, keep_seconds=config.robots_keep, now=clock.now()
        )
        if mode == WATCH:
            self._watch = Watch(session, lambda woken: self._more(woken.urls, woken.hosts))
        self.supply = Supply(
            session,
            self.window,
            self._hosts,
            self._seeds,
            totals=self.totals,
            in_flight=self._in_flight,
            start=self._background.start,
            wake=self._waker.wake,
            finish=self._finish,
            traps=self._learning.traps,
            watch=self._watch,
        )
        self._storing = Storing(
            session,
            self.window,
            self.supply,
            hosts=self._hosts,
            seeds=self._seeds,
            known=self._known,
            learning=self._learning,
            ranker=self.ranker,
            watch=self._watch,
            totals=self.totals,
            background=self._background,
            stored=self._is_stored,
        )
        if self._watch is not None:
            self._background.start(self._watch.keep())
        self._learning.run()
        alive = session.keep_alive(hosts=self.supply.hosts_with_work, totals=self.totals, heard=self.supply.heard)
        self._background.start(alive)
        self.supply.top_up()

    def _refuse_to_run(self) -> None:
        """End a crawl that could not start (an exception in `open` would leave Scrapy half-open)."""
        if self._background.problem:
            logger.error("%s", self._background.problem)
            raise CloseSpider("not started")

    def close(self, reason: str) -> Deferred[None]:
        """Give back what is leased, write how the run ended, close the database."""
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        self._background.close()
        self._waker.close()
        if self.supply is not None:
            self.supply.close()
        if self.ranker is not None:
            await self.ranker.close()
        if self.session is not None:
            try:
                if self._learning is not None:
                    self.alarms = await self._learning.close()
                self.left = await self.session.end(outcome=lambda left: self._verdict(left, reason), totals=self.totals)
            except DatabaseProblem as problem:
                self._background.give_up(problem)
            await self.session.close()
        self._crawler.stats.set_value("crawl/exit_code", self.exit_code)

    def _verdict(self, left: Waiting, reason: str) -> tuple[str, int]:
        """How the run ended: the table decides whether it is finished."""
        if self._background.problem:
            return f"stopped ({self._background.problem})", self.exit_code
        self._background.exit_code = EXIT_STOPPED if left.within else EXIT_FINISHED
        ended = "finished" if self._watch is None or self._watch.spent else "stopped watching"
        return f"stopped ({reason})" if left.within else ended, self.exit_code

    # ------------------------------------------------------------ Scrapy's scheduler interface

    def has_pending_requests(self) -> bool:
        """False only when the table says that nothing is left within the limits."""
        return not (self._background.ends or (self.supply is not None and self.supply.exhausted))

    def enqueue_request(self, request: Request) -> bool:
        """Swallow the sentinel; requests of others have no place in this frontier."""
        if request is WAKE:
            return True
        logger.warning("dropped %s: only the frontier makes requests", request)
        return False

    def next_request(self) -> Request | None:
        """The best URL among hosts that are ready, or None. Never waits."""
        if self.window is None or self.session is None or self.supply is None or self._background.ends:
            return None
        now = time.monotonic()
        if self._waker.rests(now):
            return None
        if len(self._in_flight) >= self.session.config.in_flight or self.session.lapsed:
            return None  # the next page that is stored, or the next sign of life, wakes the engine
        claim = self.window.pop(now)
        self.supply.top_up()
        if claim is None:
            pauses = [ready_at - now] if (ready_at := self.window.next_ready()) is not None else []
            if (due := self.supply.next_due()) is not None:
                pauses.append(due - clock.now())
            self._waker.plan(min(pauses, default=None))
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
            asyncio.get_running_loop().call_soon(self._waker.wake)
        if page.error is FailReason.OUT_OF_HANDLES:
            self._waker.rest(now)
        if verdict.rests or verdict.lost:
            self._background.start(self.supply.follow(verdict))

    def _clear(self, host_id: int) -> None:
        """Give back what is held of a host, to be looked at once more."""
        assert self.window is not None
        assert self.supply is not None
        surplus = self.window.take_all(host_id)
        if surplus:
            self._background.start(self.supply.give_back(surplus))
        self.window.refresh(host_id)

    async def knowledge(self, claim: Claim) -> bytes | None:
        """What is known of a page's site, packed; None when nothing is to be learned."""
        assert self._learning is not None
        try:
            return await self._learning.knowledge(claim)
        except DatabaseProblem as problem:  # the page cannot be stored either, and says so
            self._background.give_up(problem)
            return None

    def url_rules(self, claim: Claim) -> str:
        """Rules of the addresses of a page's host, packed; empty for none."""
        assert self._learning is not None
        return self._learning.url_rules(claim)

    def known_traps(self, claim: Claim) -> KnownTraps | None:
        """What is known of the traps of a page's host; None when they are not looked for."""
        assert self._learning is not None
        return self._learning.known_traps(claim)

    async def store(self, page: Page) -> Stored:
        """Write what came of a page in one transaction and take over its links.

        Raises:
            DatabaseProblem: the database gave up; the crawl is being stopped.
        """
        assert self._storing is not None
        return await self._storing.store(page)

    def _is_stored(self, claim_id: int) -> None:
        self._in_flight.discard(claim_id)
        is_stored(self._crawler, claim_id)

    async def _add(self, new_urls: Sequence[NewUrl]) -> None:
        """Add URLs that no page named."""
        assert self.supply is not None
        await self.supply.add(new_urls)

    def _more(self, urls: int, hosts: Set[int]) -> None:
        """Of some hosts more URLs wait, or fewer: rules have changed, or their time has come again."""
        assert self.supply is not None
        self.supply.more(urls, hosts)

    async def _finish(self) -> bool:
        """Nothing is left to be fetched: whether there is, after all. If not, store articles that wait for parts."""
        assert self._storing is not None
        assert self._learning is not None
        if await self._learning.look_again():
            return True
        while finished := await self._storing.finish():
            self.totals.update(one.what for one in finished)
            export(self._crawler, finished)
        return False

    def _item_failed(self, item: Page, failure: Any) -> None:
        """A stage before the store raised: the page must not look stored."""
        if not self._background.closing and not item.stored:
            item.worked, item.unreadable, item.detail = None, FailReason.INTERNAL, failure.type.__name__
            self._background.start(self.store(item))

    def _spider_failed(self, failure: Any, response: Any) -> None:
        """The spider raised: no item will come, so the URL is given another try like one that was not answered."""
        claim: Claim = response.request.meta["claim"]  # the answer's, or the failure's
        if not self._background.closing and claim.id in self._in_flight:
            scope, name = self.scope_of(claim), failure.type.__name__
            page = Page(claim, scope, error=FailReason.INTERNAL, detail=name, fetched_at=clock.now())
            if claim.id in self._unanswered:
                self.answered(page)
            self._background.start(self.store(page))

    def _database_waits(self, text: str) -> None:
        """The database thread waits for something, or no longer does."""
        if text:  # once stopped, a crawl ends when what it has fetched is stored: here that may take long
            logger.warning("%s (to end at once, stop it twice: what is not stored is fetched again)", text)
        elif self.waiting_for:
            logger.warning("the database answers again")
            self._known.clear()
            if self.supply is not None:
                self.supply.reconnected()
        self.waiting_for = text
