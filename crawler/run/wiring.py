"""Give classes that Scrapy builds on lower floors their settings."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from pipelines.stages import CrawlAccess, ExtractStage
from pipelines.worker import WorkerPool

from ..fetch.handler import Network
from ..options.config import CrawlConfig, fetch_options
from ..options.given import value_of
from .process import raise_limit, spare_files
from .workers import new_pool

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class ConfiguredNetwork(Network):
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        options = fetch_options(crawler.settings)
        if options.proxies.resolves:
            logger.warning(
                "PROXY_RESOLVES gives up the guard against private addresses: where names lead, proxies alone know"
            )
        hosts, requests = (value_of(crawler.settings, name) for name in ("MAX_HOSTS", "CONCURRENT_REQUESTS"))
        spare = spare_files(raise_limit(), requests)
        return cls.from_options(replace(options, idle=hosts if spare is None else min(hosts, spare // 2)))


class ConfiguredExtractStage(ExtractStage):
    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        config = CrawlConfig.of(crawler)
        access = CrawlAccess.of(crawler)
        access.pool = new_pool(WorkerPool, config, config.workers)
        return cls(
            lambda: access.services, access.pool, keep_raw=config.store_html, describes_later=config.describes_later
        )
