"""Give classes that Scrapy builds on lower floors their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pipelines.stages import CrawlAccess, ExtractStage
from pipelines.worker import WorkerPool

from ..fetch.handler import Network
from .config import Config, fetch_options

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class ConfiguredNetwork(Network):
    """The network of a crawl, by its settings."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        return cls.from_options(fetch_options(crawler.settings))


class ConfiguredExtractStage(ExtractStage):
    """The stage that reads pages."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Scrapy's constructor."""
        config = Config.of(crawler)
        pool = WorkerPool(
            workers=config.workers,
            seconds=config.page_seconds,
            memory_bytes=config.worker_memory_bytes,
            options=config.parse_options,
        )
        access = CrawlAccess.of(crawler)
        return cls(lambda: access.services, pool, keep_raw=config.store_html)
