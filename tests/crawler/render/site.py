"""A site that answers the browser from memory, and one browser for many pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.render.chromium import ChromiumOptions, find, why_no_namespaces
from crawler.render.records import BrowserAnswer, BrowserRequest, PageDocument, Rendered, RenderOptions, RenderWish
from crawler.render.renderer import Renderer

HOME = "http://news.test/"
NO_BROWSER = "no Chromium: install Debian's package `chromium-headless-shell` or `chromium`"
NO_NAMESPACES = "the system refuses user and network namespaces"


def why_not() -> str | None:
    """Reason to skip the tests that need a browser."""
    if find(ChromiumOptions().browser) is None:
        return NO_BROWSER
    return NO_NAMESPACES if why_no_namespaces() is not None else None


@dataclass
class Site:
    """Answers by URL; all else is 404.

    Attributes:
        answers: by URL or path.
        asked: all requests so far.
    """

    answers: dict[str, BrowserAnswer] = field(default_factory=dict)
    asked: list[BrowserRequest] = field(default_factory=list)

    async def fetch(self, request: BrowserRequest) -> BrowserAnswer:
        self.asked.append(request)
        await asyncio.sleep(0.01)
        path = request.url.removeprefix(HOME.rstrip("/"))
        return self.answers.get(path, BrowserAnswer(404))


def script(text: str, **headers: str) -> BrowserAnswer:
    """Answer with a script."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return BrowserAnswer(200, (("Content-Type", "text/javascript"), *pairs), text.encode())


def data(text: str, **headers: str) -> BrowserAnswer:
    """Answer with JSON that every site may read."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return BrowserAnswer(200, (("Content-Type", "application/json"), *pairs), text.encode())


def document(body: str, url: str = HOME) -> PageDocument:
    """Make the document of a page."""
    html = f"<!DOCTYPE html><html><head><meta charset=utf-8></head><body>{body}</body></html>"
    return PageDocument(url, 200, (("Content-Type", "text/html; charset=utf-8"),), html.encode())


class Browsing:
    """A renderer, and a loop to run it in."""

    def __init__(self, options: RenderOptions) -> None:
        self.renderer = Renderer(options)
        self._runner = asyncio.Runner()

    def run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Run to the end."""
        return self._runner.run(work())

    def show(self, body: str, site: Site | None = None, wish: RenderWish = RenderWish.TEXT) -> Rendered:
        """Render one page."""
        return self.show_all([document(body)], site, wish)[0]

    def show_all(
        self, documents: Sequence[PageDocument], site: Site | None = None, wish: RenderWish = RenderWish.TEXT
    ) -> list[Rendered]:
        """Render pages, as many at a time as there are places."""
        fetch = (site or Site()).fetch

        async def work() -> list[Rendered]:
            return await asyncio.gather(*(self.renderer.render(each, wish, fetch) for each in documents))

        return self.run(work)

    def close(self) -> None:
        """End the browser."""
        self._runner.run(self.renderer.close())
        self._runner.close()
