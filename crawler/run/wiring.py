"""Give classes that Scrapy builds on lower floors their settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.pipelines import ItemPipelineManager
from scrapy.utils.misc import build_from_crawler

from pipelines.stages import CrawlAccess, ExtractStage, ItemProcessor
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


class ConfiguredProcessor(ItemProcessor):
    """The stages of a page, and the item pipelines of others behind them."""

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
        extract = ExtractStage(CrawlAccess.of(crawler), pool, keep_raw=config.store_html)
        return cls(crawler, extract, build_from_crawler(ItemPipelineManager, crawler))
