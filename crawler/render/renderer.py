"""Render a few pages at a time in a browser that is started at the first wish."""

from __future__ import annotations

import asyncio

from .chromium import Chromium
from .page import Tab
from .records import Fetch, PageDocument, Rendered, RenderError, RenderOptions, RenderProblem, RenderWish
from .script_cache import ScriptCache

_REST_SECONDS = 60.0
"""Until the next try after a browser could not be started."""


class Renderer:
    """Renders pages; no browser runs before the first, and `close` ends it."""

    def __init__(self, options: RenderOptions) -> None:
        self._options = options
        self._places = asyncio.Semaphore(options.places)
        self._starting = asyncio.Lock()
        self._scripts = ScriptCache()
        self._current: Chromium | None = None
        self._running: set[Chromium] = set()
        self._refused: RenderError | None = None
        self._rests_until = 0.0
        self._is_closed = False

    async def render(self, document: PageDocument, wish: RenderWish, fetch: Fetch) -> Rendered:
        """Show a fetched page, which is not fetched again, and read what its scripts made.

        A page that takes or does too much costs only itself.

        Raises:
            Exception: whatever `fetch` raised.
        """
        async with self._places:
            try:
                browser = await self._browser()
            except RenderError as refused:
                return Rendered(problem=refused.problem, detail=refused.detail)
            browser.pages += 1
            browser.showing += 1
            tab = Tab(browser, document, fetch, self._scripts, self._options.requests)
            try:
                return await tab.render(wish, self._options.seconds)
            finally:
                browser.showing -= 1
                await self._retire(browser)

    def processes(self) -> list[int]:
        return [pid for browser in self._running for pid in browser.processes()]

    async def close(self) -> None:
        async with self._starting:
            self._is_closed = True
            for browser in list(self._running):
                await self._end(browser)

    async def _browser(self) -> Chromium:
        """Return the running browser, or start a new one, if none failed a moment ago."""
        async with self._starting:
            if self._is_closed:
                raise RenderError(RenderProblem.NO_BROWSER, "rendering has ended")
            if self._current is not None and not self._is_spent(self._current):
                return self._current
            now = asyncio.get_running_loop().time()
            if self._refused is not None and now < self._rests_until:
                raise self._refused
            old, self._current = self._current, None
            try:
                self._current = await Chromium.start(self._options)
            except RenderError as refused:
                self._refused, self._rests_until = refused, now + _REST_SECONDS
                raise
            self._running.add(self._current)
            if old is not None:
                await self._retire(old)
            return self._current

    def _is_spent(self, browser: Chromium) -> bool:
        return browser.is_gone or browser.pages >= self._options.pages_a_browser

    async def _retire(self, browser: Chromium) -> None:
        if self._is_spent(browser) and browser.showing == 0 and browser in self._running:
            await self._end(browser)

    async def _end(self, browser: Chromium) -> None:
        self._running.discard(browser)
        await browser.close()
