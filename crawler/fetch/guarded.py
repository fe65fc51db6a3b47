"""Settings that put a spider on the guarded download handler."""

from __future__ import annotations

from typing import Any

_HANDLER = "crawler.fetch.handler.GuardedHandler"

GUARDED: dict[str, Any] = {
    "DOWNLOAD_HANDLERS_BASE": {"http": _HANDLER, "https": _HANDLER},
    "EXTENSIONS_BASE": {"crawler.run.wiring.ConfiguredNetwork": 0},
    # Cookies, codings and proxies are the handler's.
    "DOWNLOADER_MIDDLEWARES_BASE": {
        "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
        "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
        "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
    },
    "SPIDER_MIDDLEWARES_BASE": {},
}
"""In place of Scrapy's own components; those of the user (`EXTENSIONS`, ...) are added to them."""
