"""The download handler: all responses come by it, from checked IP addresses only.

It is written on asyncio and `crawler.fetch.http_parser` instead of on Scrapy's own handler, because that one loses a
page for one bad header line, decodes without knowing when to stop, and cannot be told which certificates to believe.
"""

from __future__ import annotations

import asyncio
import errno
import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured, NotSupported
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from db.records.reasons import FailReason

from .. import clock
from .body_slots import Acquire, BodySlots
from .connection import Connection, FetchBounds, FetchOptions, HttpResponse, connect
from .cookies import SiteCookies
from .decompress import ACCEPT_ENCODING
from .dns import DnsCache
from .errors import FetchError
from .guard import AddressRefused
from .tls import Trust

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


TRUNCATED = "truncated"
"""Flag of a response of which only the beginning came."""
NEW_COOKIE = "new cookie"
"""Flag of a response that set a cookie which another request would carry."""
BOUND = "bound: "
"""Beginning of the flags that name a bound which the response ran into."""

_IDLE_SECONDS = 30.0
_REACH_SECONDS = 5.0
_MOST_IDLE = 512
_UNSAFE = re.compile(rb"[\0\r\n]")
# Framing is this module's business; nothing of the user is asked of a server.
_OWN_HEADERS = frozenset(
    {b"host", b"connection", b"accept-encoding", b"content-length", b"transfer-encoding", b"cookie"}
)
_SPOKEN_FOR = frozenset({b"content-encoding", b"transfer-encoding", b"connection", b"set-cookie"})


class GuardedHandler(BaseDownloadHandler):
    """Scrapy's handler for http and https.

    Raises `AddressRefused`, `FetchError` and `OSError`s.

    A response's flags tell whether it is `TRUNCATED`, set a `NEW_COOKIE`, and which bounds it ran into.
    Proxies are not supported: what a proxy connects to cannot be seen from here.
    """

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._network = Network.of(crawler)
        self._bounds = self._network.options.bounds
        self._seconds = self._network.options.seconds

    async def download_request(self, request: Request) -> Response:
        """Download within the bounds."""
        if request.meta.get("proxy"):
            msg = "requests through a proxy escape the address guard; set HTTPPROXY_ENABLED = False"
            raise NotSupported(msg)
        loop = asyncio.get_running_loop()
        started = loop.time()
        deadline = started + (request.meta.get("download_timeout") or self._seconds)
        bounds = self._bounds
        if "download_maxsize" in request.meta:
            bounds = FetchBounds(
                request.meta["download_maxsize"], bounds.ratio, bounds.head, bounds.stall, bounds.least_rate
            )
        target = _Target(request.url)
        slots, lease = self._network.slots, request.meta.get("lease")
        key = request if lease is None else lease.id
        acquire = partial(slots.acquire, key)
        try:
            response, connection = await self._ask(target, self._written(request, target), bounds, deadline, acquire)
        finally:
            if lease is None:  # else the body is kept until its page is stored
                slots.release(key)
        request.meta["download_latency"] = loop.time() - started
        return self._response(request, target, response, connection)

    async def close(self) -> None:
        """Close what is kept open."""
        self._network.idle.close()
        self._network.names.close()

    async def _ask(
        self, target: _Target, written: bytes, bounds: FetchBounds, deadline: float, acquire: Acquire
    ) -> tuple[HttpResponse, Connection]:
        """Send a request over a kept connection, or a new one."""
        while (kept := self._network.idle.take(target.key)) is not None:
            try:
                response = await kept.ask(written, bounds, deadline, acquire)
            except FetchError as error:
                if kept.is_silent and error.reason is FailReason.LOST:
                    continue  # the server had closed it, as it may at any time
                raise
            if response.head.status == 408 and not kept.is_idle:
                continue  # the server's farewell to a connection that was idle for too long
            return self._done(target, response, kept)
        until = min(deadline, asyncio.get_running_loop().time() + bounds.stall)
        async with asyncio.timeout_at(until):
            addresses = await self._network.names.addresses(target.host, target.port)
        context = self._network.trust.context(target.host) if target.secure else None
        try:
            fresh = await connect(addresses, target.port, context, target.host, until)
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE}:
                self._network.idle.close()  # what is only kept for later must not be in the way
            raise
        return self._done(target, await fresh.ask(written, bounds, deadline, acquire), fresh)

    def _done(self, target: _Target, response: HttpResponse, connection: Connection) -> tuple[HttpResponse, Connection]:
        if connection.is_idle:
            self._network.idle.put(target.key, connection)
        return response, connection

    def _written(self, request: Request, target: _Target) -> bytes:
        """Write a request as it goes out."""
        lines = [b"%s %s HTTP/1.1" % (request.method.encode(), target.path), b"Host: " + target.netloc]
        lines += _header_lines(request.headers)
        lines.append(b"Accept-Encoding: " + ACCEPT_ENCODING.encode())
        if self._network.cookies is not None:
            cookies = self._network.cookies.header(
                target.host, target.plain_path, secure=target.secure, now=clock.now()
            )
            if cookies:
                lines.append(b"Cookie: " + cookies.encode("latin-1", "replace"))
        if request.body:
            lines.append(b"Content-Length: %d" % len(request.body))
        return b"\r\n".join([*lines, b"", request.body])

    def _response(self, request: Request, target: _Target, response: HttpResponse, connection: Connection) -> Response:
        """Convert a response to Scrapy's form."""
        flags = [BOUND + name for name in response.bounds]
        if response.truncated:
            flags.append(TRUNCATED)
        headers = Headers()
        for name, value in response.head.headers:
            if name not in _SPOKEN_FOR:
                headers.appendlist(name, value)
        if self._network.cookies is not None:
            lines = [line.decode("latin-1") for line in response.head.all(b"set-cookie")]
            if lines and self._network.cookies.keep(
                target.host, target.plain_path, lines, secure=target.secure, now=clock.now()
            ):
                flags.append(NEW_COOKIE)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=response.body)
        return kind(
            request.url,
            status=response.head.status,
            headers=headers,
            body=response.body,
            flags=flags,
            request=request,
            ip_address=connection.peer,
            protocol="HTTP/{}.{}".format(*response.head.version),
        )


@dataclass(frozen=True, slots=True)
class Network:
    """Scrapy extension that holds what the handlers of both schemes share.

    A cookie set by http goes along with https. Whoever else needs one of these, as the scheduler `slots`, gets it the
    same way: `Network.of(crawler)`.
    """

    options: FetchOptions
    names: DnsCache
    trust: Trust
    cookies: SiteCookies | None
    idle: _IdleConnections
    slots: BodySlots

    @classmethod
    def from_options(cls, options: FetchOptions) -> Self:
        """Build the parts from the settings of fetching."""
        return cls(
            options=options,
            names=DnsCache(options.guard),
            trust=options.trust,
            cookies=SiteCookies() if options.cookies else None,
            idle=_IdleConnections(),
            slots=BodySlots(options.bounds.size),
        )

    async def reaches(self, url: str) -> bool:
        """Tell whether a host can be connected to now; its name is looked up anew."""
        target = _Target(url)
        self.names.forget(target.host)
        try:
            async with asyncio.timeout(_REACH_SECONDS):
                addresses = await self.names.addresses(target.host, target.port)
                _, writer = await asyncio.open_connection(addresses[0], target.port)
        except (OSError, FetchError, AddressRefused):
            return False
        writer.close()
        return True

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the network of a crawl.

        Raises:
            NotConfigured: `EXTENSIONS` does not name it.
        """
        network = crawler.get_extension(cls)
        if network is None:
            raise NotConfigured("EXTENSIONS must hold crawler.run.wiring.ConfiguredNetwork")
        return network


class _Target:
    """Host, port and path of a URL, as a request and a connection need them."""

    __slots__ = ("host", "key", "netloc", "path", "plain_path", "port", "secure")

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.secure = parts.scheme == "https"
        self.host = (parts.hostname or "").removesuffix(".")
        self.port = parts.port or (443 if self.secure else 80)
        self.netloc = parts.netloc.rpartition("@")[2].encode("ascii")
        self.plain_path = parts.path or "/"
        self.path = (self.plain_path + (f"?{parts.query}" if "?" in url else "")).encode("ascii")
        self.key = (self.secure, self.host, self.port)


class _IdleConnections:
    """Connections kept for another request to the same host; the oldest are closed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Connection, tuple[object, asyncio.TimerHandle]] = OrderedDict()
        self._of: dict[object, list[Connection]] = {}

    def take(self, key: object) -> Connection | None:
        """Return the open connection to the host that was used last."""
        while (of := self._of.get(key)) is not None:
            connection = of[-1]
            self._remove(connection)
            if connection.is_idle:
                return connection
            connection.abort()
        return None

    def put(self, key: object, connection: Connection) -> None:
        """Keep one for a while."""
        timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._drop, connection)
        self._kept[connection] = key, timer
        self._of.setdefault(key, []).append(connection)
        if len(self._kept) > _MOST_IDLE:
            self._drop(next(iter(self._kept)))

    def close(self) -> None:
        """Close all."""
        for connection in list(self._kept):
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._remove(connection)
        connection.abort()

    def _remove(self, connection: Connection) -> None:
        key, timer = self._kept.pop(connection)
        timer.cancel()
        of = self._of[key]
        of.remove(connection)
        if not of:
            del self._of[key]


def _header_lines(headers: Headers) -> Iterator[bytes]:
    """Yield a request's headers, except those written here; unsafe bytes are blanked."""
    for name, values in headers.items():
        if name.lower() in _OWN_HEADERS:
            continue
        for value in values:
            yield _UNSAFE.sub(b" ", b"%s: %s" % (name, value))
