"""Spiders and components as a user of the project writes them; the tests name this module in `SPIDER_MODULES`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Self

import scrapy
from scrapy import signals
from scrapy.crawler import Crawler
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
