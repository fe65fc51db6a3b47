"""The download handler: all responses come by it, from checked IP addresses only.

It is written on asyncio and `crawler.fetch.http_parser` instead of on Scrapy's own handler, because that one loses a
page for one bad header line, decodes without knowing when to stop, and cannot be told which certificates to believe.
"""

from __future__ import annotations

import asyncio
import errno
import re
import sys
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from ssl import DER_cert_to_PEM_cert
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from pydispatch.dispatcher import getReceivers
from scrapy import signals
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured, NotSupported, ResponseDataLossError, StopDownload
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes
from scrapy.utils.python import to_unicode
from twisted.internet.ssl import Certificate
from twisted.python.failure import Failure

from db.records.reasons import FailReason
from pipelines.item import CutBy, WireExchange

from .. import clock
from .body_slots import BodySlots
from .connection import BodyEnd, Connection, FetchOptions, HttpResponse, Listener, connect, direct
from .cookies import SiteCookies
from .decompress import ACCEPT_ENCODING
from .dns import DnsCache
from .errors import FetchError
from .guard import AddressRefused
from .proxies import Proxies, Route
from .tls import Trust
from .tunnel import Dialer, ProxyTarget

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.http.request import CookiesT

    from .http_parser import Head


TRUNCATED = "truncated"
"""Flag of a response of which only the beginning came."""
NEW_COOKIE = "new cookie"
"""Flag of a response that set a cookie which another request would carry."""
SENT_COOKIES = "sent_cookies"
"""Key of the Cookie header that was sent, in a request's `meta`."""
BOUND = "bound: "
"""Beginning of the flags that name a bound which the response ran into."""

_ACCEPT_ENCODING = b"Accept-Encoding: " + ACCEPT_ENCODING.encode()
_IDLE_SECONDS = 30.0
_REACH_SECONDS = 5.0
_MOST_DIGITS = 19
_UNSAFE = re.compile(rb"[\0\r\n]")
_FRAMING = frozenset({b"connection", b"content-length", b"transfer-encoding", b"proxy-authorization"})
"""Headers of a request that this module writes itself."""
SPOKEN_FOR = frozenset({b"content-encoding", b"transfer-encoding", b"connection"})
"""Headers of a response that no longer hold for its decoded body."""
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
"""Methods whose requests say that they have no body."""
_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
"""Methods of requests that may be sent again over another connection (RFC 9110, 9.2.2)."""
_HEARD = (signals.headers_received, signals.bytes_received)
_UNSAID: Any = object()
_NO_HEADERS: Mapping[str, bytes] = {}


class GuardedHandler(BaseDownloadHandler):
    """Scrapy's handler for http and https.

    Raises `AddressRefused`, `FetchError` and `OSError`s.

    A response's flags tell whether it is `TRUNCATED`, set a `NEW_COOKIE`, and which bounds it ran into, beside Scrapy's
    own (`dataloss`, `partial`, `download_stopped`). Its body is decoded. To the requests of the frontier, which have a
    lease, only pages are read whole. `meta["lookup_seconds"]` is the time spent looking up the name and on dead
    proxies, which is not the host's. `meta["proxy"]` names proxies, or `none`; see `crawler.fetch.proxies`.
    """

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._network = Network.of(crawler)
        self._bounds = self._network.options.bounds
        self._seconds = self._network.options.seconds

    async def download_request(self, request: Request) -> Response:
        slots, lease = self._network.slots, request.meta.get("lease")
        bounds = self._bounds
        if lease is None or "download_maxsize" in request.meta:
            most = request.meta.get("download_maxsize", bounds.size) or sys.maxsize
            bounds = replace(bounds, size=most, pages_only=lease is not None)
        target = _Target(request.url, request.meta.get("bindaddress") or self._network.options.bind)
        route = self._network.route(target, request.meta.get("proxy", _UNSAID), request.headers)
        key = request if lease is None else lease.id
        started = asyncio.get_running_loop().time()
        request.meta["lookup_seconds"] = 0.0
        stopped: list[StopDownload] = []
        written = self._written(request, target)
        wire: list[bytes] | None = [] if self._network.options.records else None
        ask = partial(
            Connection.ask,
            request=written,
            bounds=bounds,
            acquire=partial(slots.acquire, key),
            expects_body=request.method != "HEAD",
            listener=self._listener(request, stopped),
            wire=wire,
        )
        try:
            response, connection = await self._ask(request, target, route, ask)
            if response.was_paused and response.end is BodyEnd.LOST and request.method in _REPEATABLE:
                # the server did not wait for the slot, which is there now
                response, connection = await self._ask(request, target, route, ask)
        finally:
            if lease is None:  # else the body is kept until its page is stored
                slots.release(key)
        request.meta["download_latency"] = response.first_byte - started - request.meta["lookup_seconds"]
        if wire is not None:
            request.meta["wire"] = WireExchange(written, b"".join(wire), _why_cut(response))
        if response.end is BodyEnd.LOST and request.meta.get("download_fail_on_dataloss"):
            raise ResponseDataLossError(request.url)
        page = self._response(request, target, response, connection)
        if stopped and stopped[0].fail:
            stopped[0].response = page
            raise stopped[0]
        return page

    async def close(self) -> None:
        self._network.idle.close()
        self._network.names.close()

    async def _ask(
        self, request: Request, target: _Target, route: Route, ask: Callable[..., Awaitable[HttpResponse]]
    ) -> tuple[HttpResponse, Connection]:
        network, loop = self._network, asyncio.get_running_loop()
        deadline = loop.time() + (request.meta.get("download_timeout") or self._seconds)
        reuse = request.method in _REPEATABLE
        key = (*target.key, route) if route else target.key
        while True:
            idle = network.idle.take(key) if reuse else None
            connection = idle
            if connection is None:
                connection, waited = await self._connect(request, target, route, deadline)
                deadline += waited
            began = loop.time()
            try:
                response = await ask(connection, deadline=deadline)
            except FetchError as error:
                if idle is not None and idle.is_silent and error.reason is FailReason.LOST:
                    continue  # the server had closed it, as it may at any time
                if connection.proxy is None:
                    raise
                if not await network.dialer.is_to_blame(error, connection, target.port, began) or not reuse:
                    raise
            else:
                if idle is not None and response.head.status == 408 and not idle.is_idle:
                    continue  # the server's farewell to a connection that was idle for too long
                if connection.proxy is None:
                    break
                if not await network.dialer.has_cut(response, connection, target.port, began) or not reuse:
                    break
            connection.abort()
            deadline += loop.time() - began  # lost with a proxy that has died
            request.meta["lookup_seconds"] += loop.time() - began
        if connection.is_idle:
            network.idle.put(key, connection)
        return response, connection

    async def _connect(
        self, request: Request, target: _Target, route: Route, deadline: float
    ) -> tuple[Connection, float]:
        """Open a connection; also return the seconds that were not the host's."""
        network, loop = self._network, asyncio.get_running_loop()
        began = loop.time()
        try:
            addresses = await network.addresses(target, route)
        finally:
            waited = loop.time() - began
            request.meta["lookup_seconds"] += waited
        try:
            if route:
                seconds = deadline - began
                fresh, lost = await network.dialer.connect(target.for_proxies(), addresses, route, seconds)
                request.meta["lookup_seconds"] += lost
                waited += lost
            else:
                until = min(deadline + waited, loop.time() + self._bounds.stall)
                context = network.trust.context(target.host) if target.secure else None
                fresh = await connect(addresses, direct(target.port, target.bind), context, target.host, until)
        except OSError as error:
            if error.errno in {errno.EMFILE, errno.ENFILE}:
                network.idle.close()  # what is only kept for later must not be in the way
            raise
        if fresh.peer is not None:
            network.names.prefer(target.host, str(fresh.peer))
        return fresh, waited

    def _written(self, request: Request, target: _Target) -> bytes:
        lines = [b"%s %s HTTP/1.1" % (request.method.encode(), target.path), b"Host: " + target.netloc]
        names: set[bytes] = set()
        for name, values in request.headers.items():
            lower = name.lower()
            if lower in _FRAMING:
                continue
            names.add(lower)
            for value in values:
                lines.append(_UNSAFE.sub(b" ", b"%s: %s" % (name, value)))
        if b"host" in names:
            del lines[1]  # ours
        if b"accept-encoding" not in names:
            lines.append(_ACCEPT_ENCODING)
        if b"cookie" not in names and (cookies := self._cookies(request, target)):
            lines.append(b"Cookie: " + cookies.encode("latin-1", "replace"))
            request.meta[SENT_COOKIES] = cookies
        if request.body or request.method in _WITH_BODY:
            lines.append(b"Content-Length: %d" % len(request.body))
        return b"\r\n".join([*lines, b"", request.body])

    def _cookies(self, request: Request, target: _Target) -> str:
        """Return the cookies that go along, after keeping those of the request itself."""
        if self._network.cookies is None or request.meta.get("dont_merge_cookies"):
            return ""
        now = clock.now()
        if request.cookies:
            self._network.cookies.keep(
                target.host, target.plain_path, _cookie_lines(request.cookies), secure=target.secure, now=now
            )
        return self._network.cookies.header(target.host, target.plain_path, secure=target.secure, now=now)

    def _listener(self, request: Request, stopped: list[StopDownload]) -> Listener | None:
        if not any(getReceivers(self.crawler, signal) for signal in _HEARD):
            return None

        def tell(signal: object, **what: Any) -> bool:
            results = self.crawler.signals.send_catch_log(signal, request=request, spider=self.crawler.spider, **what)
            problems = (one.value for _, one in results if isinstance(one, Failure))
            stopped.extend(one for one in problems if isinstance(one, StopDownload))
            return bool(stopped)

        def head(response_head: Head) -> bool:
            length = b"0" if request.method == "HEAD" else b"".join(response_head.all(b"content-length")[:1])
            return tell(
                signals.headers_received,
                headers=_headers(response_head),
                body_length=int(length) if length.isdigit() and len(length) < _MOST_DIGITS else None,
            )

        return Listener(head, lambda piece: tell(signals.bytes_received, data=piece))

    def _response(self, request: Request, target: _Target, response: HttpResponse, connection: Connection) -> Response:
        flags = [BOUND + name for name in response.bounds]
        if response.truncated:
            flags.append(TRUNCATED)
        if response.end is not None:
            flags.append(response.end.value)
        headers = _headers(response.head)
        if self._network.cookies is not None and not request.meta.get("dont_merge_cookies"):
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
            certificate=_certificate(connection.certificate),
            ip_address=connection.peer,
            protocol="HTTP/{}.{}".format(*response.head.version),
        )


@dataclass(frozen=True, slots=True)
class Network:
    """Scrapy extension with what the handlers for http and https share."""

    options: FetchOptions
    names: DnsCache
    trust: Trust
    cookies: SiteCookies | None
    idle: _IdleConnections
    slots: BodySlots
    proxies: Proxies
    dialer: Dialer

    @classmethod
    def from_options(cls, options: FetchOptions) -> Self:
        names, proxies = DnsCache(options.guard), Proxies(options.proxies, options.bounds.stall)
        return cls(
            options=options,
            names=names,
            trust=options.trust,
            cookies=SiteCookies() if options.cookies else None,
            idle=_IdleConnections(options.idle),
            slots=BodySlots(options.bounds.size),
            proxies=proxies,
            dialer=Dialer(names, proxies, options.trust.context, stall=options.bounds.stall),
        )

    def route(self, target: _Target, named: Any = _UNSAID, headers: Mapping[str, bytes] = _NO_HEADERS) -> Route:
        """Return the proxies through which a host is asked; empty for none.

        Args:
            named: the request's `meta["proxy"]`, if it has one.
            headers: of the request, where Scrapy's own middleware puts user and password.

        Raises:
            NotSupported: `named` is no proxy.
        """
        if named is _UNSAID:
            if not self.proxies.are_general:
                return ()
            return self.proxies.general(target.host, target.port, secure=target.secure)
        try:
            return self.proxies.named(named, headers.get("Proxy-Authorization") or b"")
        except ValueError as error:
            raise NotSupported(f'meta["proxy"]: {error}') from None

    async def addresses(self, target: _Target, route: Route) -> Sequence[str]:
        """Return the permitted IP addresses of a host; its name where a proxy resolves it.

        Raises:
            AddressRefused: none is permitted.
            FetchError: DNS does not know it.
        """
        if route and self.proxies.resolves:
            return self.names.unresolved(target.host, target.port)
        return await self.names.addresses(target.host, target.port)

    def cookies_of(self, url: str) -> str:
        if self.cookies is None:
            return ""
        target = _Target(url, None)
        return self.cookies.header(target.host, target.plain_path, secure=target.secure, now=clock.now())

    async def reaches(self, url: str, named: str = "") -> bool:
        """Tell whether a host can be connected to now; its name is looked up anew."""
        target = _Target(url, self.options.bind)
        self.names.forget(target.host)
        try:
            async with asyncio.timeout(_REACH_SECONDS):
                route = self.route(target, named or _UNSAID)
                addresses = await self.addresses(target, route)
                if route:
                    return await self.dialer.reaches(target.for_proxies(), addresses, route)
                _, writer = await asyncio.open_connection(addresses[0], target.port, local_addr=target.bind)
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
    __slots__ = ("bind", "host", "key", "netloc", "path", "plain_path", "port", "secure")

    def __init__(self, url: str, bind: str | tuple[str, int] | None) -> None:
        parts = urlsplit(url)
        self.secure = parts.scheme == "https"
        self.host = (parts.hostname or "").removesuffix(".")
        self.port = parts.port or (443 if self.secure else 80)
        self.netloc = parts.netloc.rpartition("@")[2].encode("ascii")
        self.plain_path = parts.path or "/"
        self.path = (self.plain_path + (f"?{parts.query}" if "?" in url.partition("#")[0] else "")).encode("ascii")
        self.bind = (bind, 0) if isinstance(bind, str) else bind
        self.key = (self.secure, self.host, self.port, self.bind)

    def for_proxies(self) -> ProxyTarget:
        return ProxyTarget(self.host, self.port, b"" if self.secure else b"http://" + self.netloc, self.bind)


class _IdleConnections:
    """Connections kept for another request to the same host, the newest `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._connections: OrderedDict[Connection, tuple[object, asyncio.TimerHandle]] = OrderedDict()
        self._by_key: dict[object, list[Connection]] = {}

    def take(self, key: object) -> Connection | None:
        while (of := self._by_key.get(key)) is not None:
            connection = of[-1]
            self._remove(connection)
            if connection.is_idle:
                return connection
            connection.abort()
        return None

    def put(self, key: object, connection: Connection) -> None:
        timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._drop, connection)
        self._connections[connection] = key, timer
        self._by_key.setdefault(key, []).append(connection)
        if len(self._connections) > self._most:
            self._drop(next(iter(self._connections)))

    def close(self) -> None:
        for connection in list(self._connections):
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._remove(connection)
        connection.abort()

    def _remove(self, connection: Connection) -> None:
        key, timer = self._connections.pop(connection)
        timer.cancel()
        of = self._by_key[key]
        of.remove(connection)
        if not of:
            del self._by_key[key]


def _why_cut(response: HttpResponse) -> CutBy | None:
    if response.is_whole:
        return None
    if {FailReason.TIMED_OUT, FailReason.STALLED} & set(response.bounds):
        return CutBy.TIME
    return CutBy.DISCONNECT if response.end is BodyEnd.LOST else CutBy.LENGTH


def _headers(head: Head) -> Headers:
    return Headers([header for header in head.headers if header[0] not in SPOKEN_FOR])


def _cookie_lines(cookies: CookiesT) -> list[str]:
    if isinstance(cookies, dict):
        cookies = [{"name": name, "value": value} for name, value in cookies.items()]
    lines = []
    for cookie in cookies:
        fields = {name: to_unicode(value) if isinstance(value, bytes) else str(value) for name, value in cookie.items()}
        pair = f"{fields.pop('name', '')}={fields.pop('value', '')}"
        secure = ["Secure"] * (fields.pop("secure", "False") == "True")
        lines.append("; ".join([pair, *(f"{name}={value}" for name, value in fields.items()), *secure]))
    return lines


@lru_cache(256)
def _certificate(der: bytes | None) -> Certificate | None:
    return None if der is None else Certificate.loadPEM(DER_cert_to_PEM_cert(der).encode())
