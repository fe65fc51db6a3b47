"""Show one page in the browser, answer its requests, wait for it and read its DOM.

Each request is paused and answered here, and the page's own document is the body that the crawl has fetched. The page
cannot leave its document, open another, or forge the DOM that is read: reading and pressing are done in an isolated
world, whose objects the page's script cannot touch.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any
from urllib.parse import urldefrag, urlsplit

from .chromium import Chromium
from .devtools import Answer, DevToolsError, TargetGone
from .records import BrowserAnswer, BrowserRequest, Fetch, Headers, PageDocument, Rendered, RenderProblem, RenderWish
from .script_cache import ScriptCache

_WIDTH, _HEIGHT = 1280, 1600
_LIST_HEIGHT = 400
"""So low that the end of a list, which loads more when it is seen, is out of sight until it is scrolled to."""
_TALLEST = 30_000
"""CSS pixels; beyond that an article is not made taller."""
_SCALE = 0.1
"""Device pixels for a CSS pixel: no picture is taken, and memory and time of drawing fall with its square."""
_QUIET_SECONDS = 0.4
"""Without request or change of the DOM until a page counts as done."""
_RESTLESS_SECONDS = 3.0
"""Without request, but with changes (a clock, a carousel), until a page counts as done."""
_READ_SECONDS = 5.0
_GONE_SECONDS = 2.0
_LARGEST_DOM = 16 << 20
"""Characters."""
_MOST_ROUNDS = 12
"""Rounds of scrolling and pressing, or of growing the window; each must bring something new."""

_ASKED = frozenset({"script", "stylesheet", "xhr", "fetch"})
"""Kinds of requests that the crawl makes for a page."""
_CACHED = frozenset({"script", "stylesheet"})
_PICTURES = frozenset({"image", "media", "font", "texttrack"})
_PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
"""A transparent picture, so that a page which waits for its pictures goes on."""
_DROPPED_HEADERS = frozenset(
    {
        "connection",
        "content-disposition",
        "content-encoding",
        "content-length",
        "keep-alive",
        "link",
        "nel",
        "refresh",
        "report-to",
        "reporting-endpoints",
        "strict-transport-security",
        "transfer-encoding",
    }
)
"""Framing and compression, which are undone, and headers that would make the browser ask for more."""
_SCRIPT = files(__package__).joinpath("page.js").read_text(encoding="utf-8")
_WORLD_NAME = "crawler"


class Tab:
    """One page in the browser, with a profile of its own that goes with it."""

    def __init__(
        self, browser: Chromium, document: PageDocument, fetch: Fetch, scripts: ScriptCache, most: int
    ) -> None:
        self._browser = browser
        self._tools = browser.tools
        self._document = document
        self._fetch = fetch
        self._scripts = scripts
        self._most_requests = most
        self._requests = 0
        self._profile = ""
        self._target = ""
        self._session = ""
        self._sessions: set[str] = set()
        self._is_given = False
        self._world = 0
        self._is_inside = False
        self._problem: RenderProblem | None = None
        self._answering: set[asyncio.Task[None]] = set()
        self._failed: BaseException | None = None
        self._changed = asyncio.Event()
        self._last_answer = 0.0

    async def render(self, wish: RenderWish, seconds: float) -> Rendered:
        """Show the page, do as wished and read it; reading may exceed `seconds`.

        Raises:
            Exception: whatever `fetch` raised.
        """
        html = ""
        try:
            try:
                async with asyncio.timeout(seconds):
                    await self._open()
                    await self._show(wish)
            except TimeoutError:
                self._problem = self._problem or RenderProblem.TIMED_OUT
                self._tools.send("Runtime.terminateExecution", self._session)
            async with asyncio.timeout(_READ_SECONDS):
                html = await self._read()
        except TimeoutError:
            self._problem = self._problem or RenderProblem.TIMED_OUT
        except DevToolsError:
            killed = self._browser.is_too_large
            self._problem = self._problem or (RenderProblem.TOO_MUCH_MEMORY if killed else RenderProblem.CRASHED)
        finally:
            await self._close()
        if self._failed is not None:
            raise self._failed
        return Rendered(html.encode("utf-8", "replace"), self._requests, self._problem)

    # -- from the first command to the last

    async def _open(self) -> None:
        ask = self._tools.send
        self._profile = (await ask("Target.createBrowserContext", disposeOnDetach=True))["browserContextId"]
        self._browser.profiles[self._profile] = self._happened
        ask("Browser.setDownloadBehavior", behavior="deny", browserContextId=self._profile)
        await ask("Target.createTarget", url="about:blank", browserContextId=self._profile)
        if not self._session:
            raise DevToolsError("the browser made no page")

    def _attach(self, session: str) -> None:
        """Pause all requests of a target, and every target it starts before it makes any."""
        self._sessions.add(session)
        self._tools.listen(session, self._happened)
        self._tools.send("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        self._tools.send("Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    async def _show(self, wish: RenderWish) -> None:
        if "errorText" in await self._tools.send("Page.navigate", self._session, url=self._document.url):
            self._problem = RenderProblem.NOT_A_PAGE
            raise TargetGone("no document")
        await self._enter()
        await self._settle()
        if await self._run("crawl.refuseConsent()"):
            await self._settle()
        if wish is RenderWish.LINKS:
            await self._go_down()
        else:
            await self._unfold()

    async def _enter(self) -> None:
        world = self._tools.send("Page.createIsolatedWorld", self._session, frameId=self._target, worldName=_WORLD_NAME)
        self._world = (await world)["executionContextId"]
        await self._run(_SCRIPT)
        self._is_inside = True

    async def _unfold(self) -> None:
        if await self._run("crawl.unfold()"):
            await self._settle()
        height = _HEIGHT
        for _ in range(_MOST_ROUNDS):
            tall = min(int(await self._run("crawl.height()")), _TALLEST)
            if tall <= height:
                return
            height = tall
            self._resize(height)
            await self._run("crawl.frame()")
            await self._settle()

    async def _go_down(self) -> None:
        self._resize(_LIST_HEIGHT)
        links = int(await self._run("crawl.links()"))
        for _ in range(_MOST_ROUNDS):
            await self._run("crawl.scroll()")
            await self._settle()
            if (now := int(await self._run("crawl.links()"))) == links and await self._run("crawl.loadMore()"):
                await self._settle()
                now = int(await self._run("crawl.links()"))
            if now <= links:
                return
            links = now

    async def _read(self) -> str:
        if not self._is_inside:  # the page's script never let us
            await self._enter()
        size = int(await self._run("crawl.size()"))
        if size > _LARGEST_DOM:
            self._problem = self._problem or RenderProblem.TOO_LARGE
            return ""
        return str(await self._run("crawl.html()"))

    async def _close(self) -> None:
        for task in self._answering:
            task.cancel()
        self._browser.profiles.pop(self._profile, None)
        if self._profile:
            with contextlib.suppress(DevToolsError, TimeoutError):
                gone = self._tools.send("Target.disposeBrowserContext", browserContextId=self._profile)
                await asyncio.wait_for(gone, _GONE_SECONDS)
        for session in self._sessions:
            self._tools.forget(session)

    # -- commands

    def _resize(self, height: int) -> None:
        size = {"width": _WIDTH, "height": height, "deviceScaleFactor": _SCALE, "mobile": False}
        self._tools.send("Emulation.setDeviceMetricsOverride", self._session, **size)

    async def _run(self, expression: str) -> Any:
        answer = await self._tools.send(
            "Runtime.evaluate",
            self._session,
            expression=expression,
            contextId=self._world,
            returnByValue=True,
            awaitPromise=True,
            timeout=_READ_SECONDS * 1000,
        )
        if "exceptionDetails" in answer:
            raise DevToolsError(str(answer["exceptionDetails"].get("exception", {}).get("description", expression)))
        return answer["result"].get("value")

    async def _settle(self) -> None:
        loop = asyncio.get_running_loop()
        self._last_answer = loop.time()
        while True:
            self._check()
            if self._answering:
                self._changed.clear()
                await self._changed.wait()
                continue
            idle = loop.time() - self._last_answer
            if idle < _QUIET_SECONDS:
                await asyncio.sleep(_QUIET_SECONDS - idle)
                continue
            quiet = float(await self._run("crawl.quietFor()")) / 1000
            if self._answering or loop.time() - self._last_answer < _QUIET_SECONDS:
                continue
            if quiet >= _QUIET_SECONDS or idle >= _RESTLESS_SECONDS:
                return
            await asyncio.sleep(_QUIET_SECONDS - max(quiet, 0.0))

    def _check(self) -> None:
        if self._failed is not None:
            raise TargetGone("a request failed")

    # -- events

    def _happened(self, method: str, event: Answer, session: str) -> None:
        if method == "Fetch.requestPaused":
            self._paused(event, session)
        elif method == "Target.attachedToTarget":
            self._attached(event)
        elif method == "Page.javascriptDialogOpening":
            self._tools.send("Page.handleJavaScriptDialog", session, accept=event.get("type") == "beforeunload")
        elif method == "Target.targetCrashed" and event["targetId"] == self._target:
            # whoever takes too much memory is killed; nobody else kills
            killed = event.get("status") == "killed"
            self._crashed(RenderProblem.TOO_MUCH_MEMORY if killed else RenderProblem.CRASHED)

    def _crashed(self, problem: RenderProblem) -> None:
        self._problem = self._problem or problem
        for session in self._sessions:
            self._tools.end(session)
        self._changed.set()

    def _attached(self, event: Answer) -> None:
        """Let the page, its frames and workers run, but no other window."""
        session, target = event["sessionId"], event["targetInfo"]
        if target["type"] == "page" and not self._session:
            self._session, self._target = session, target["targetId"]
            self._attach(session)
            self._tools.send("Page.enable", session)
            self._resize(_HEIGHT)
            self._tools.send("Runtime.runIfWaitingForDebugger", session)
        elif target["type"] in {"iframe", "worker"}:
            self._attach(session)
            self._tools.send("Runtime.runIfWaitingForDebugger", session)
        else:
            if target["type"] == "page":  # whose opener waits until it goes on
                self._attach(session)
                self._tools.send("Runtime.runIfWaitingForDebugger", session)
            self._tools.send("Target.closeTarget", targetId=target["targetId"])

    def _paused(self, event: Answer, session: str) -> None:
        request, paused, kind = event["request"], event["requestId"], event["resourceType"].lower()
        if kind == "document":
            self._answer_document(event, session)
        elif urlsplit(request["url"]).scheme not in {"http", "https"}:
            self._refuse(paused, session)
        elif kind == "preflight" or (request["method"] == "OPTIONS" and kind in _ASKED):
            self._fulfil(paused, session, BrowserAnswer(204, _permission(request["headers"])))
        elif kind in _PICTURES:
            picture = (("content-type", "image/gif"), ("access-control-allow-origin", "*"))
            self._fulfil(paused, session, BrowserAnswer(200, picture, _PIXEL))
        elif kind not in _ASKED or "text/event-stream" in request["headers"].get("Accept", ""):
            self._refuse(paused, session)  # a stream of events has no end
        else:
            self._ask(event, session, kind)

    def _answer_document(self, event: Answer, session: str) -> None:
        """Give the page its document, once; frames are empty, and the page stays."""
        paused = event["requestId"]
        if event["frameId"] != self._target:
            self._fulfil(paused, session, BrowserAnswer(200, (("content-type", "text/html"),)))
        elif self._is_given:
            self._refuse(paused, session, "Aborted")
        else:
            self._is_given = True
            document = self._document
            self._fulfil(paused, session, BrowserAnswer(document.status, document.headers, document.body))

    def _ask(self, event: Answer, session: str, kind: str) -> None:
        paused_request, paused = event["request"], event["requestId"]
        body = b"".join(base64.b64decode(part.get("bytes", "")) for part in paused_request.get("postDataEntries", ()))
        url = urldefrag(paused_request["url"]).url
        if (paused_request.get("hasPostData") and not body) or self._failed is not None:
            self._refuse(paused, session)
            return
        is_cacheable = kind in _CACHED and paused_request["method"] == "GET"
        cached = self._scripts.get(self._document.url, url) if is_cacheable else None
        if cached is not None:
            self._fulfil(paused, session, cached)
            return
        if self._requests >= self._most_requests:
            self._problem = self._problem or RenderProblem.TOO_MANY_REQUESTS
            self._refuse(paused, session)
            return
        self._requests += 1
        headers = tuple((str(name), str(value)) for name, value in paused_request["headers"].items())
        request = BrowserRequest(url, paused_request["method"], headers, body, kind)
        task = asyncio.ensure_future(self._answer(request, paused, session))
        self._answering.add(task)
        task.add_done_callback(self._answered)

    async def _answer(self, request: BrowserRequest, paused: str, session: str) -> None:
        answer = await self._fetch(request)
        if answer.refused:
            self._refuse(paused, session)
            return
        if request.kind in _CACHED and request.method == "GET":
            self._scripts.keep(self._document.url, request.url, answer)
        self._fulfil(paused, session, answer)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        self._last_answer = asyncio.get_running_loop().time()
        if not task.cancelled() and (failed := task.exception()) is not None:
            self._failed = self._failed or failed
        self._changed.set()

    def _refuse(self, paused: str, session: str, why: str = "BlockedByClient") -> None:
        self._tools.send("Fetch.failRequest", session, requestId=paused, errorReason=why)

    def _fulfil(self, paused: str, session: str, answer: BrowserAnswer) -> None:
        headers = [{"name": n, "value": v} for n, v in answer.headers if n.lower() not in _DROPPED_HEADERS]
        body = base64.b64encode(answer.body).decode("ascii")
        response = {"responseCode": answer.status, "responseHeaders": headers, "body": body}
        self._tools.send("Fetch.fulfillRequest", session, requestId=paused, **response)


def _permission(headers: Mapping[str, str]) -> Headers:
    """Grant what a page asks for in a CORS preflight; the answer itself still decides."""
    request = {name.lower(): value for name, value in headers.items()}
    return (
        ("access-control-allow-origin", request.get("origin", "*")),
        ("access-control-allow-credentials", "true"),
        ("access-control-allow-methods", request.get("access-control-request-method", "GET")),
        ("access-control-allow-headers", request.get("access-control-request-headers", "")),
    )
