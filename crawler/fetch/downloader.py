"""Take requests of the frontier all the way through Scrapy, each in one task.

Scrapy itself uses six tasks and as many queues for a request. Here the frontier paces hosts and bounds the requests
under way, so those queues would decide nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import getReceivers
from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.http import Response
from scrapy.utils.asyncgen import as_async_generator
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.log import logformatter_adapter
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

WAKE = Request("data:,wake")
"""The sentinel that makes the engine ask the scheduler; nobody fetches it."""


class PageDownloader(Downloader):
    """Scrapy's `DOWNLOADER`, with all of its middlewares and signals.

    Requests without a lease go through Scrapy's own code. The engine waits for all that is under way here before it
    closes the item pipelines.
    """

    def fetch(self, request: Request) -> Deferred[Any]:  # type: ignore[override]
        """Return the response; to a request of the frontier `WAKE`, when it is done."""
        if "lease" not in request.meta:
            return super().fetch(request)
        return deferred_from_coro(self._take_through(request))

    async def _take_through(self, request: Request) -> Request:
        self.active.add(request)
        try:
            answer: Response | Request | Failure
            try:
                answer = await self.middleware.download_async(self._load, request)
            except Exception:  # noqa: BLE001 - of whatever kind: the spider makes a page of it
                answer = Failure()  # type: ignore[no-untyped-call]
            if isinstance(answer, Request):  # of a middleware
                return answer
            if isinstance(answer, Response):
                self._received(answer, request)
            await self._scrape(answer, request)
            return WAKE
        finally:
            self.active.remove(request)

    async def _load(self, request: Request) -> Response:
        self._tell(signals.request_reached_downloader, request=request)
        try:
            answer: Response | None = request.meta.pop("answer", None)  # of an archive
            response = await self.handlers.download_request_async(request) if answer is None else answer
            self._tell(signals.response_downloaded, response=response, request=request)
            return response
        finally:
            self._tell(signals.request_left_downloader, request=request)

    def _received(self, response: Response, request: Request) -> None:
        if response.request is None:
            response.request = request
        line = self.crawler.logformatter.crawled(response.request, response, self.crawler.spider)  # type: ignore
        if line is not None:
            logger.log(*logformatter_adapter(line), extra={"spider": self.crawler.spider})
        self._tell(signals.response_received, response=response, request=response.request)

    async def _scrape(self, answer: Response | Failure, request: Request) -> None:
        engine = self.crawler.engine
        assert engine is not None
        scraper = engine.scraper
        output: AsyncIterator[Any]
        try:
            if isinstance(answer, Failure) or not scraper.spidermw.middlewares:
                output = as_async_generator(await scraper.call_spider_async(answer, request))
            else:
                output = await scraper.spidermw.scrape_response_async(scraper.call_spider_async, answer, request)
            async for item in output:
                if isinstance(item, Request):
                    engine.crawl(item)
                else:
                    await scraper.start_itemproc_async(item, response=answer)
        except Exception:  # noqa: BLE001 - of whatever kind: told by a signal
            scraper.handle_spider_error(Failure(), request, answer)  # type: ignore[no-untyped-call]

    def _tell(self, signal: object, **what: Any) -> None:
        if any(getReceivers(self.crawler, signal)):
            self.signals.send_catch_log(signal, spider=self.crawler.spider, **what)
