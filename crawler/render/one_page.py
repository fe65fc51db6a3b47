"""Fetch single pages and render them, without a crawl."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from db.records.reasons import label

from ..fetch.one_shot import Fetched, fetch_page, with_client
from .records import PageDocument, RenderOptions, RenderWish
from .renderer import Renderer
from .requests import BrowserRequests, RobotsPolicy

if TYPE_CHECKING:
    from scrapy.settings import Settings

    from ..fetch.one_shot import Ask

logger = logging.getLogger(__name__)


def show(
    urls: Sequence[str], settings: Settings, options: RenderOptions, policy: RobotsPolicy, redirects: int
) -> dict[str, Fetched]:
    """Fetch pages and render them one after the other; return the results when done.

    Can be called once in a process.
    """

    async def work(ask: Ask) -> dict[str, Fetched]:
        renderer = Renderer(options)
        requests = BrowserRequests(ask, None, policy, seconds=options.seconds)
        shown: dict[str, Fetched] = {}
        try:
            for url in dict.fromkeys(urls):
                shown[url] = fetched = await fetch_page(ask, url, redirects)
                if fetched.problem:
                    continue
                headers = (("content-type", fetched.content_type),)
                page = PageDocument(fetched.url, 200, headers, fetched.body)
                rendered = await renderer.render(page, RenderWish.TEXT, requests.fetch)
                if rendered.problem is not None:
                    detail = label(rendered.problem, rendered.detail)
                    logger.warning("%s was not rendered to the end: %s", url, detail)
                shown[url] = replace(fetched, dom=rendered.html)
        finally:
            await renderer.close()
        return shown

    return with_client(work, settings)
