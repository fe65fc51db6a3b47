"""The spider: makes one `Page` item of each response to the frontier's requests."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.http import Response

from db.records.reasons import FailReason
from pipelines.item import Page
from pipelines.stages import CrawlAccess

from .. import clock
from ..fetch import http_parser
from ..fetch.errors import why
from ..fetch.handler import BOUND, NEW_COOKIE, SENT_COOKIES, TRUNCATED
from ..fetch.proxies import ProxyProblem
from ..options import scrapy_settings
from ..options.given import apply_environment, name_contact
from ..response.redirects import with_redirect
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
        """Apply the settings of the news crawl, and over them those of a subclass."""
        scrapy_settings.apply(settings)
        super().update_settings(settings)
        apply_environment(settings)
        name_contact(settings)

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: seeds are rows of the frontier."""
        return
        yield

    def parse(self, response: Response, **_: Any) -> list[Page]:
        assert response.request is not None
        flags = response.flags
        return self._answered(
            response.request,
            status=response.status,
            address=str(response.ip_address or ""),
            body=response.body,
            truncated=TRUNCATED in flags,
            cookies=response.request.meta.get(SENT_COOKIES, ""),
            new_cookie=NEW_COOKIE in flags,
            bounds=tuple(flag.removeprefix(BOUND) for flag in flags if flag.startswith(BOUND)),
            headers={
                name: http_parser.READERS.get(name, http_parser.text)(values)
                for name in http_parser.KEPT
                if (values := response.headers.getlist(name))
            },
        )

    def failed(self, failure: Failure) -> list[Page]:
        error, detail = (FailReason.OUT_OF_HANDLES, "") if exhausted() else why(failure.value)
        bounds = getattr(failure.value, "bounds", ())
        wait = failure.value.seconds if isinstance(failure.value, ProxyProblem) else 0.0
        request = failure.request  # type: ignore[attr-defined]
        return self._answered(request, error=error, detail=detail, bounds=bounds, wait=wait)

    def _answered(self, request: Request, **answer: Any) -> list[Page]:
        lease, seconds = request.meta["lease"], time.monotonic() - request.meta["started"]
        seconds -= request.meta.get("lookup_seconds", 0.0)  # that is the name server's
        services = CrawlAccess.of(self.crawler).services
        at = request.meta.get("recorded_at")
        answer |= {name: request.meta.pop(name, None) for name in ("wire", "archived")}
        answer["dom"] = request.meta.pop("dom", b"")
        answer |= {"fetched_at": at or clock.now(), "recorded": at is not None}
        page = with_redirect(Page(lease, services.scope_of(lease), seconds=seconds, **answer))
        request.meta["answered"] = True
        return [services.answered(page)]
