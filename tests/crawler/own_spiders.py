"""Spiders and components as a user of the project writes them; the tests name this module in `SPIDER_MODULES`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Self

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.exceptions import StopDownload
from scrapy.http import Response

from crawler.spiders.news import NewsSpider

logger = logging.getLogger(__name__)


class Upper:
    """Item pipeline."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        return {**item, "title": item["title"].upper()}


class Plain(scrapy.Spider):
    """A spider like in any project: callbacks, requests, items, a pipeline, settings of its own."""

    name = "plain"
    custom_settings = {  # noqa: RUF012
        "ITEM_PIPELINES": {"tests.crawler.own_spiders.Upper": 300},
        "DEPTH_LIMIT": 2,
        "ROBOTSTXT_OBEY": True,
        "RETRY_TIMES": 2,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
    }

    def __init__(self, url: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_urls = [url]

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"title": response.css("title::text").get(), "url": response.url, "cookie": ""}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_linked)

    def parse_linked(self, response: Response) -> Iterator[Any]:
        asked = response.request
        assert asked is not None
        sent = (asked.headers.get("Cookie") or b"").decode()
        yield {"title": response.css("title::text").get(), "url": response.url, "cookie": sent}
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse_linked)


class Guarded(Plain):
    """An ordinary spider whose requests go by the guarded handler."""

    name = "guarded"
    custom_settings = Plain.custom_settings | {
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), "crawler.fetch.handler.GuardedHandler"),
        "EXTENSIONS": {"crawler.run.wiring.ConfiguredNetwork": 0},
    }


class Describing(scrapy.Spider):
    """Sends requests of all kinds and describes what comes of each."""

    name = "describing"
    custom_settings = {"TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False, "RETRY_ENABLED": False}  # noqa: RUF012
    handle_httpstatus_list = [404]  # noqa: RUF012

    def __init__(self, url: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.url = url
        self.heard: dict[str, list[Any]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.headers_received, signal=signals.headers_received)
        crawler.signals.connect(spider.bytes_received, signal=signals.bytes_received)
        return spider

    def requests(self) -> dict[str, dict[str, Any]]:
        unmerged = {"dont_merge_cookies": True}
        return {
            "get": {},
            "post": {"method": "POST"},
            "post body": {"method": "POST", "body": b"a=1"},
            "put": {"method": "PUT"},
            "put body": {"method": "PUT", "body": b"xyz", "headers": {"Content-Type": "text/x"}},
            "delete": {"method": "DELETE"},
            "options": {"method": "OPTIONS"},
            "head": {"method": "HEAD"},
            "after head": {},
            "cookies": {"cookies": {"a": "1", "b": 2}},
            "verbose cookies": {"cookies": [{"name": "c", "value": "3", "path": "/describe", "secure": False}]},
            "cookie header": {"headers": {"Cookie": "mine=1"}, "meta": unmerged},
            "accept-encoding": {"headers": {"Accept-Encoding": "identity"}},
            "host": {"headers": {"Host": "other.example"}},
            "bind": {"meta": {"bindaddress": "127.0.0.2"}},
            "image": {},
            "image no limit": {"meta": {"download_maxsize": 0}},
            "missing": {},
            "no length": {},
            "cut": {"meta": {"download_fail_on_dataloss": False}},
            "cut fails": {"meta": {"download_fail_on_dataloss": True}},
            "silent": {"meta": {"download_timeout": 0.5}},
            "stop at head": {},
            "stop at body": {},
            "stop fails": {},
        }

    async def start(self) -> Any:
        for name, options in self.requests().items():
            url = f"{self.url}describe/{name.replace(' ', '-')}"
            yield scrapy.Request(
                url, self.parse, errback=self.failed, cb_kwargs={"asked": name}, dont_filter=True, **options
            )

    def parse(self, response: Response, asked: str) -> Iterator[Any]:
        yield self.description(response, asked)

    def description(self, response: Response, asked: str) -> dict[str, Any]:
        sent = response.request
        assert sent is not None
        return {
            "asked": asked,
            "type": type(response).__name__,
            "status": response.status,
            "body": response.body.decode("latin-1") if len(response.body) < 5000 else len(response.body),
            "headers": {name.decode(): [one.decode() for one in said] for name, said in response.headers.items()},
            "flags": sorted(set(response.flags) & {"dataloss", "partial", "download_stopped"}),
            "ip": str(response.ip_address),
            "protocol": response.protocol,
            "certificate": None if response.certificate is None else response.certificate.digest().decode(),
            "latency": sent.meta["download_latency"],
            "heard": self.heard.get(response.url),
        }

    def failed(self, failure: Any) -> Iterator[Any]:
        request = failure.request
        stopped = getattr(failure.value, "response", None)
        if stopped is not None:
            stopped.request = request
            yield {**self.description(stopped, request.cb_kwargs["asked"]), "error": True}
        else:
            yield {"asked": request.cb_kwargs["asked"], "error": True}

    def headers_received(self, headers: Any, body_length: Any, request: scrapy.Request) -> None:
        self.heard[request.url] = [headers.get("Content-Type", b"").decode(), body_length, 0]
        if "stop-at-head" in request.url:
            raise StopDownload(fail=False)
        if "stop-fails" in request.url:
            raise StopDownload(fail=True)

    def bytes_received(self, data: bytes, request: scrapy.Request) -> None:
        self.heard[request.url][2] += len(data)
        if "stop-at-body" in request.url:
            raise StopDownload(fail=False)


class MyNews(NewsSpider):
    """The news spider under another name, with an argument more and a setting."""

    name = "mynews"
    custom_settings = {"MAX_DEPTH": 1}  # noqa: RUF012

    def __init__(self, *args: Any, region: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.region = region


class Limited(NewsSpider):
    """One that asks for what has no effect."""

    name = "limited"
    custom_settings = {"DEPTH_LIMIT": 1}  # noqa: RUF012


class Counting:
    """Extension, downloader middleware and spider middleware: tells what it saw of a crawl."""

    def __init__(self) -> None:
        self.seen = dict.fromkeys(("items", "requests", "responses", "pages"), 0)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        counting = cls()
        crawler.signals.connect(counting.item_scraped, signal=signals.item_scraped)
        crawler.signals.connect(counting.closed, signal=signals.spider_closed)
        return counting

    def item_scraped(self, item: Any) -> None:
        self.seen["items"] += 1

    def process_request(self, request: scrapy.Request) -> None:
        self.seen["requests"] += 1

    def process_response(self, request: scrapy.Request, response: Response) -> Response:
        self.seen["responses"] += 1
        return response

    async def process_spider_output_async(self, response: Response, result: Any) -> Any:
        async for page in result:
            self.seen["pages"] += 1
            yield page

    def process_spider_output(self, response: Response, result: Any) -> Any:
        for page in result:
            self.seen["pages"] += 1
            yield page

    def closed(self) -> None:
        logger.warning("%s saw %s", type(self).__name__, self.seen)


class CountingExtension(Counting):
    """As an extension."""


class CountingDownloads(Counting):
    """As a downloader middleware."""


class CountingPages(Counting):
    """As a spider middleware."""
