"""The spider: thin. Seeds are rows of the frontier, requests come from there, one `Page` item per answer goes out."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.http import Response

from db.records.reasons import FailReason
from pipelines.stages import CrawlAccess, Page, PageServices

from .. import clock
from ..fetch import http_parser
from ..fetch.errors import why
from ..fetch.handler import BOUND, NEW_COOKIE, TRUNCATED
from ..run.config import name_contact
from ..run.process import exhausted
from ..run.session import ONCE

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure


class NewsSpider(Spider):
    """`scrapy crawl news -a seeds=FILE` (or `-a seeds=demo`) `[-a mode=once|watch]`."""

    name = "news"

    def __init__(self, seeds: Any = None, mode: str = ONCE, **unknown: str) -> None:
        super().__init__()
        self.seeds = seeds
        self.mode = mode
        self.unknown = unknown

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Complete the User-Agent with the contact."""
        super().update_settings(settings)
        name_contact(settings)

    async def start(self) -> AsyncIterator[Any]:
        """Nothing: seeds are rows of the frontier."""
        return
        yield

    def parse(self, response: Response, **_: Any) -> list[Page]:
        """An answer of any status."""
        assert response.request is not None
        page = self._page(response.request)
        page.status = response.status
        page.address = str(response.ip_address or "")
        page.body = response.body
        if response.flags:
            page.truncated = TRUNCATED in response.flags
            page.new_cookie = NEW_COOKIE in response.flags
            page.bounds = tuple(flag.removeprefix(BOUND) for flag in response.flags if flag.startswith(BOUND))
        page.headers = {
            name: http_parser.READERS.get(name, http_parser.text)(values)
            for name in http_parser.KEPT
            if (values := response.headers.getlist(name))
        }
        return self._answered(page, response.request)

    def failed(self, failure: Failure) -> list[Page]:
        """No answer."""
        page = self._page(failure.request)  # type: ignore[attr-defined]
        page.error, page.detail = (FailReason.OUT_OF_HANDLES, "") if exhausted() else why(failure.value)
        page.bounds = getattr(failure.value, "bounds", ())
        return self._answered(page, failure.request)  # type: ignore[attr-defined]

    def _answered(self, page: Page, request: Request) -> list[Page]:
        """Tell the crawl, once."""
        request.meta["answered"] = True
        self._services.answered(page)
        return [page]

    @property
    def _services(self) -> PageServices:
        return CrawlAccess.of(self.crawler).services

    def _page(self, request: Request) -> Page:
        lease = request.meta["lease"]
        return Page(
            lease=lease,
            scope=self._services.scope_of(lease),
            fetched_at=clock.now(),
            seconds=time.monotonic() - request.meta["started"],
        )
