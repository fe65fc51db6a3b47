"""Hand the frontier's URLs to Scrapy as its scheduler.

The URL table is the queue; a few leased URLs per host are kept in memory (`crawler.frontier.host_queues`), and
`next_request` never waits. The engine polls again whenever a page is stored; for hosts that become ready later,
and after refills, a sentinel request wakes it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider
from scrapy.utils.defer import deferred_from_coro

from db.engine.errors import DatabaseGone, DatabaseProblem
from db.records.reasons import FailReason
from db.records.url import Kind, Lease
from pipelines.item import Page
from pipelines.stages import CrawlAccess, export
from pipelines.urls import host_key

from .. import clock
from ..fetch.downloader import WAKE
from ..fetch.errors import HANDLES_PAUSE
from ..fetch.handler import Network
from ..options.config import CrawlConfig
from ..options.seeds import SeedError
from ..options.values import ConfigError
from ..response.revisit import conditions
from ..run.background import Background, EngineCallbacks
from ..run.exit_codes import EXIT_DATABASE, EXIT_FAULT, EXIT_USAGE
from ..run.session import ONCE
from .crawl import Crawl, Ended, open_crawl

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from .metrics import MetricsEndpoint


logger = logging.getLogger(__name__)

_SHORTEST_PAUSE = 0.001


class Waker:
    """Makes the engine poll; by itself it does after items and every five seconds."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._timer: asyncio.TimerHandle | None = None
        self._rests_until = 0.0
        self._closed = False

    def wake(self) -> None:
        if not self._closed and self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(WAKE)

    @property
    def items(self) -> int:
        slot = self._crawler.engine.scraper.slot
        return slot.itemproc_size if slot is not None else 0

    def plan(self, pause: float | None) -> None:
        """Poll after so many seconds (None: never), instead of when last planned."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if pause is not None:
            self._timer = asyncio.get_running_loop().call_later(max(_SHORTEST_PAUSE, pause), self.wake)

    def close(self) -> None:
        self._closed = True
        self.plan(None)

    def rest(self) -> None:
        if not self.rests():
            logger.warning(
                "no file can be opened (%s); resting for %.0f s. Raise the limit (ulimit -n) or lower "
                "CONCURRENT_REQUESTS or MAX_HOSTS",
                FailReason.OUT_OF_HANDLES,
                HANDLES_PAUSE,
            )
            self._rests_until = time.monotonic() + HANDLES_PAUSE
            asyncio.get_running_loop().call_later(HANDLES_PAUSE, self.wake)

    def rests(self) -> bool:
        return time.monotonic() < self._rests_until


class FrontierScheduler(BaseScheduler):
    """Scrapy's `SCHEDULER`: hands out the best URL among the hosts that are ready now.

    `crawl` is None until it is open, and when it could not start.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._waker = Waker(crawler)
        engine = EngineCallbacks(
            stop=lambda reason: crawler.engine.close_spider_async(reason=reason),
            poll=self._waker.wake,
            pause=self._waker.rest,
            export=partial(export, crawler),
            stored=Network.of(crawler).slots.release,
            reaches=self._reaches,
            forget_names=Network.of(crawler).names.forget,
            download=self._download,
            cookies=Network.of(crawler).cookies_of,
            pool=lambda: CrawlAccess.of(crawler).pool,
            goes_on=lambda: crawler.crawling,  # Scrapy says so at once when it is told to stop
        )
        self._engine = engine
        self._background = Background(engine.stop)
        self._metrics: MetricsEndpoint | None = None
        self.crawl: Crawl | None = None
        self.ended = Ended()

    async def _reaches(self, url: str) -> bool:
        proxy = self.crawl.seeds.proxy_of_host(host_key(url)) if self.crawl is not None else ""
        return await Network.of(self._crawler).reaches(url, proxy)

    async def _download(self, request: Request) -> Response:
        return await self._crawler.engine.download_async(request)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        scheduler = cls(crawler)
        crawler.signals.connect(scheduler._refuse_to_run, signal=signals.spider_opened)
        crawler.signals.connect(scheduler._background.opened, signal=signals.engine_started)
        crawler.signals.connect(scheduler._spider_failed, signal=signals.spider_error)
        return scheduler

    @property
    def exit_code(self) -> int:
        return self._background.exit_code

    # ------------------------------------------------------------ beginning and end

    def open(self, spider: Spider) -> Deferred[None]:
        return deferred_from_coro(self._open(getattr(spider, "seeds", None), getattr(spider, "mode", ONCE)))

    async def _open(self, seeds: Any, mode: str) -> None:
        try:
            config = CrawlConfig.of(self._crawler)
            if config.metrics_port:
                from .metrics import MetricsEndpoint  # noqa: PLC0415 - a library that most crawls do without

                self._metrics = MetricsEndpoint(config.metrics_port)
            crawl = await open_crawl(
                config,
                seeds,
                mode,
                self._engine.goes_on,
                background=self._background,
                engine=self._engine,
            )
        except (ConfigError, SeedError, DatabaseProblem) as problem:
            self._background.refuse(str(problem), EXIT_DATABASE if isinstance(problem, DatabaseGone) else EXIT_USAGE)
            return
        except Exception as error:
            logger.exception("the crawl could not be begun")
            description = f"{type(error).__name__}: {error}".partition("\n")[0]
            self._background.refuse(f"internal error ({description}); nothing was begun", EXIT_FAULT)
            return
        CrawlAccess.of(self._crawler).services = self.crawl = crawl
        if self._metrics is not None:
            self._metrics.crawl = crawl
        crawl.run()

    def _refuse_to_run(self) -> None:
        """After an exception in `open` Scrapy would hang."""
        if self._background.problem:
            logger.error("%s", self._background.problem)
            raise CloseSpider("not started")

    def close(self, reason: str) -> Deferred[None]:
        return deferred_from_coro(self._close(reason))

    async def _close(self, reason: str) -> None:
        self._background.close()
        self._waker.close()
        try:
            if self.crawl is not None:
                self.ended = await self.crawl.close(reason)
            if self._metrics is not None:
                await asyncio.to_thread(self._metrics.close)
        except Exception as error:  # noqa: BLE001 - of whatever kind: it is said how the crawl ended
            self._background.failed(error)
        self._crawler.stats.set_value("crawl/exit_code", self.exit_code)

    # ------------------------------------------------------------ Scrapy's scheduler interface

    def has_pending_requests(self) -> bool:
        """Return False only when the table says that nothing is left within the limits."""
        return not (self._background.ends or (self.crawl is not None and self.crawl.exhausted))

    def enqueue_request(self, request: Request) -> bool:
        """Swallow the sentinel; requests of others have no place in this frontier."""
        if request is WAKE:
            return True
        logger.warning("dropped %s: only the frontier makes requests", request)
        return False

    def next_request(self) -> Request | None:
        """Return the best URL among ready hosts, or None. Never waits."""
        try:
            return self._next_request()
        except Exception as error:  # noqa: BLE001 - of whatever kind: Scrapy would ask no more, and never end
            self._background.failed(error)
            return None

    def _next_request(self) -> Request | None:
        crawl = self.crawl
        if crawl is None or self._background.ends or self._waker.rests() or crawl.outage.suspected:
            return None
        queues, config, now = crawl.queues, crawl.session.config, time.monotonic()
        in_flight = max(len(queues.in_flight), self._waker.items)
        if in_flight >= config.in_flight or crawl.session.lapsed or crawl.session.is_paused:
            return None  # the next page that is stored, or the next sign of life, wakes the engine
        spider = self._crawler.spider
        assert spider is not None
        if crawl.replay is not None:
            answered = crawl.replay.pop()
            return None if answered is None else crawl.replay.request(*answered, spider)
        lease = queues.pop(now)
        crawl.pending.changed.set()
        if lease is None:
            ready_at = queues.next_ready()
            self._waker.plan(None if ready_at is None else ready_at - now)
            return None
        meta: dict[str, Any] = {"lease": lease, "started": now, "handle_httpstatus_all": True}
        if lease.kind == Kind.ROBOTS:
            meta["download_timeout"] = config.robots_timeout
            meta["download_maxsize"] = config.robots_bytes
        if proxy := crawl.seeds.proxy_of(lease):
            meta["proxy"] = proxy
        return Request(
            lease.url,
            callback=spider.parse,
            errback=spider.failed,  # type: ignore[attr-defined]
            dont_filter=True,
            headers=conditions(lease),
            meta=meta,
        )

    # ------------------------------------------------------------ faults of ours

    def _spider_failed(self, failure: Any, response: Any) -> None:
        request: Request = response.request  # the answer's, or the failure's
        lease: Lease = request.meta["lease"]
        if (crawl := self._crawl_of(lease)) is not None:
            scope, name = crawl.scope_of(lease), failure.type.__name__
            page = Page(lease, scope, error=FailReason.INTERNAL, detail=name, fetched_at=clock.now())
            if "answered" not in request.meta:
                page = crawl.answered(page)
            self._background.start(crawl.store(page))

    def _crawl_of(self, lease: Lease) -> Crawl | None:
        crawl = self.crawl
        if crawl is None or self._background.closing or lease.id not in crawl.queues.in_flight:
            return None
        return crawl
