"""Answer the requests of a rendered page, as the crawl itself would ask.

They go through the crawl's download handler and obey each host's robots.txt, which is fetched where it is not known
yet. A host gets one request at a time, and the crawl's next request to it waits the longer for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urljoin
from weakref import WeakValueDictionary

from cachetools import TLRUCache
from scrapy import Request

from db.records.reasons import Reason, SkipReason, label
from db.records.url import REDIRECTS
from pipelines.urls import host_key

from ..fetch.errors import why
from ..fetch.proxies import ProxyProblem
from ..politeness.delay import RobotsRules, decode_robots
from .records import BrowserAnswer, BrowserRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

Download = Callable[[Request], Awaitable["Response"]]
"""Fetches through the crawl's download handler; redirects are answers, faults are raised."""

Keep = Callable[[Request, "Response"], Awaitable[None]]
_METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
"""Pages also read by POST (GraphQL); what changes or deletes something is never sent."""
_OURS = frozenset(
    {"user-agent", "cookie", "host", "accept-encoding", "connection", "content-length", "upgrade-insecure-requests"}
)
"""Headers of a browser's request that the handler writes itself, or that describe a browser."""
_NOT_PASSED_ON = frozenset({"content-length", "content-encoding", "transfer-encoding", "connection", "set-cookie"})
"""Headers of an answer that no longer hold; cookies are kept by the handler."""
_ROBOTS_HOPS = 5  # RFC 9309 section 2.3.1.2
_AGAIN_SECONDS = 600.0
"""Until a robots.txt that could not be fetched is tried again."""
_MOST_HOSTS = 4_000


class HostTurns(Protocol):
    """Turns at the hosts of the crawl, for requests of a browser."""

    def rules(self, host: str) -> RobotsRules | None:
        """Return the rules of a host; None when they are not known."""

    async def begin(self, host: str) -> bool:
        """Wait until no request is under way to a host; return what `end` is told."""

    def end(self, host: str, *, taken: bool) -> None:
        """Note that the host has answered."""


@dataclass(frozen=True, slots=True)
class RobotsPolicy:
    """Bounds for the robots.txt of hosts outside of the crawl; times are in seconds.

    `agent` is our product token, `keep` the time for which one counts, `size` the bytes of one that count; a
    crawl-delay beyond `most_delay` forbids everything.
    """

    agent: str
    keep: float
    timeout: float
    size: int
    most_delay: float


class BrowserRequests:
    """Answers the requests of all rendered pages; `keep` gets each, for an archive."""

    def __init__(
        self,
        download: Download,
        turns: HostTurns | None,
        policy: RobotsPolicy,
        *,
        seconds: float,
        keep: Keep | None = None,
    ) -> None:
        self._download = download
        self._turns = turns
        self._policy = policy
        self._seconds = seconds
        self._keep = keep
        self._rules: TLRUCache[str, RobotsRules] = TLRUCache(_MOST_HOSTS, self._until)
        self._under_way: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._asked_robots: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def _until(self, _host: str, rules: RobotsRules, now: float) -> float:
        return now + (_AGAIN_SECONDS if rules.reason is SkipReason.ROBOTS_UNREACHABLE else self._policy.keep)

    async def fetch(self, request: BrowserRequest, proxy: str = "") -> BrowserAnswer:
        """Answer one request, or refuse it; `proxy` names the proxies of its page's seed.

        Raises:
            ProxyProblem: none serves; the page can be shown later.
        """
        if not request.url.startswith(("http://", "https://")) or request.method not in _METHODS:
            return BrowserAnswer(refused="not asked")
        if (reason := await self._disallowed(request.url, proxy)) is not None:
            return BrowserAnswer(refused=str(reason))
        try:
            response = await self._ask(
                Request(
                    request.url,
                    method=request.method,
                    headers=list(_headers(request)),
                    body=request.body,
                    dont_filter=True,
                    meta=self._meta(proxy),
                )
            )
        except ProxyProblem:
            raise
        except Exception as error:  # noqa: BLE001 - of whatever kind: the page gets no answer
            return BrowserAnswer(refused=label(*why(error)))
        return BrowserAnswer(response.status, tuple(_answer_headers(response)), response.body)

    def _meta(self, proxy: str, **more: Any) -> dict[str, Any]:
        named = {"proxy": proxy} if proxy else {}
        return {"handle_httpstatus_all": True, "download_timeout": self._seconds, **named, **more}

    async def _ask(self, request: Request) -> Response:
        async with self._turn(host_key(request.url)):
            response = await self._download(request)
        if self._keep is not None:
            await self._keep(request, response)
        return response

    @asynccontextmanager
    async def _turn(self, host: str) -> AsyncIterator[None]:
        async with self._under_way.setdefault(host, asyncio.Lock()):
            if self._turns is None:
                yield
                return
            taken = await self._turns.begin(host)
            try:
                yield
            finally:
                self._turns.end(host, taken=taken)

    # ------------------------------------------------------------ robots.txt

    async def _disallowed(self, url: str, proxy: str) -> Reason | None:
        host = host_key(url)
        rules = self._turns.rules(host) if self._turns is not None else None
        if rules is None:
            async with self._asked_robots.setdefault(host, asyncio.Lock()):
                rules = self._rules.get(host)
                if rules is None:
                    robots = f"{url.partition('://')[0]}://{host}/robots.txt"
                    rules = self._rules[host] = await self._robots_of(robots, proxy)
        return rules.disallow_reason(url)

    async def _robots_of(self, url: str, proxy: str) -> RobotsRules:
        """Fetch a robots.txt (RFC 9309): 4xx permits everything, other failures nothing."""
        policy = self._policy
        nothing = RobotsRules("", policy.agent, SkipReason.ROBOTS_UNREACHABLE)
        for _ in range(_ROBOTS_HOPS + 1):
            meta = self._meta(proxy, download_timeout=policy.timeout, download_maxsize=policy.size)
            try:
                response = await self._ask(Request(url, dont_filter=True, meta=meta))
            except ProxyProblem:
                raise
            except Exception:  # noqa: BLE001 - of whatever kind: there is no answer
                return nothing
            location = response.headers.get("Location")
            if response.status in REDIRECTS and location:
                url = urljoin(url, location.decode("latin-1"))
                continue
            if 200 <= response.status < 300:
                text = decode_robots(response.body, policy.size)
                return RobotsRules(text, policy.agent, most_delay=policy.most_delay)
            return RobotsRules("", policy.agent) if 400 <= response.status < 500 and response.status != 429 else nothing
        return RobotsRules("", policy.agent)  # redirects without end count as none


def _headers(request: BrowserRequest) -> Iterator[tuple[str, str]]:
    for name, value in request.headers:
        lower = name.lower()
        if lower not in _OURS and not lower.startswith(("sec-", ":")):
            yield name, value


def _answer_headers(response: Response) -> Iterator[tuple[str, str]]:
    for name, values in response.headers.items():
        if name.decode("latin-1").lower() not in _NOT_PASSED_ON:
            for value in values:
                yield name.decode("latin-1"), value.decode("latin-1")
