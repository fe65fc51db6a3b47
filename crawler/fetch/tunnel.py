"""Connections through proxies: by CONNECT, by SOCKS5, or to ask for pages by URL.

A proxy is given the IP address that was checked, so the guard holds; with `PROXY_RESOLVES` alone it is given the name.
What a proxy says of a host is the host's failure; what is wrong with the proxy itself is a `ProxyProblem`.
"""

# Own handshakes, not python-socks (3.2.1, Apache-2.0): it sends the checked IP address as well, but does not tell
# enough of what failed. Of 27 answers of proxies, most of them those of tests/crawler/fetch/test_proxies.py, 11 can be
# told apart by error class and code. 10 are one error without a code (closed, not a proxy, wrong or missing password,
# unknown reply), 3 time-outs leave open whether the proxy or the host is silent, 2 passwords beyond ASCII cannot be
# sent, and an opened connection (status 201) is an error. It reads an answer to CONNECT in one piece.

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from db.records.reasons import FailReason

from .connection import BodyEnd, Connection, FetchBounds, HttpResponse, connect, direct, open_first
from .dns import DnsCache
from .errors import FetchError, why
from .guard import is_address
from .proxies import Proxies, Proxy, ProxyFault, ProxyKind, ProxyProblem, Route

logger = logging.getLogger(__name__)

_PING_SECONDS: Final = 5.0
"""Seconds for a proxy to show that it is there, after a connection through it was lost."""
_NEXT_ADDRESS_SECONDS: Final = 1.0
"""As for direct connections, but longer: a connection through a proxy takes several round trips."""
_STATUS = re.compile(rb"HTTP/1\.[0-9] ([1-5][0-9][0-9])(?: ([^\r\n]*))?\r?\n")
_HEAD_ENDS = re.compile(rb"\r?\n\r?\n")
_LONGEST_HEAD: Final = 64 << 10
_NO_HANDLES = frozenset({errno.EMFILE, errno.ENFILE})
_MAY_BE_PROXYS = frozenset({FailReason.LOST, FailReason.TIMED_OUT, FailReason.STALLED})
"""Failures of an exchange that may also be caused by the death of its proxy."""

_WANTS_LOGIN, _UNAUTHORIZED, _GATEWAY_TIMEOUT = 407, 401, 504
_NOT_IMPLEMENTED = frozenset({501, 505})
"""Statuses of what is no proxy, or one that opens no connections."""
_VERSION, _CONNECT, _NO_METHOD = 5, 1, 0xFF
_ANONYMOUS, _PASSWORD, _PASSWORD_VERSION = 0, 2, 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REPLIES: Final = {
    1: (FailReason.NO_ROUTE, "general failure"),
    3: (FailReason.NO_ROUTE, "network unreachable"),
    4: (FailReason.NO_ROUTE, "host unreachable"),
    5: (FailReason.CONNECTION_REFUSED, "connection refused"),
    6: (FailReason.TIMED_OUT, "TTL expired"),
    8: (FailReason.NO_ROUTE, "no such kind of address"),
}
_NOT_ALLOWED, _NO_COMMAND, _NO_KIND = 2, 7, 8


@dataclass(frozen=True, slots=True)
class ProxyTarget:
    """A host to connect to through proxies, from the local address `bind`.

    `origin` is the beginning of the URL by which a proxy is asked for an http page; empty for https.
    """

    host: str
    port: int
    origin: bytes
    bind: tuple[str, int] | None


class Dialer:
    """Connects to hosts through proxies; they, and then TLS, may take `stall` seconds."""

    def __init__(
        self, names: DnsCache, proxies: Proxies, context: Callable[[str], ssl.SSLContext], *, stall: float
    ) -> None:
        self._names = names
        self._proxies = proxies
        self._context = context
        self._stall = stall

    async def connect(
        self, target: ProxyTarget, addresses: Sequence[str], route: Route, seconds: float
    ) -> tuple[Connection, float]:
        """Open a connection through the first proxy of a route that serves.

        The addresses are of the host, permitted, or its name for proxies that resolve it; `seconds` is the limit of one
        attempt. The seconds that were lost with proxies that do not serve are returned, too.

        Raises:
            ProxyProblem: none serves.
            OSError: one does, and the host cannot be reached.
        """
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while True:
            tried = loop.time()
            proxy = self._proxies.usable(route, target.port, tried)
            try:
                connection = await self._connect(target, addresses, proxy, min(seconds, self._stall))
            except ProxyProblem as problem:
                self._failed(problem, tried)
            else:
                return connection, tried - begun

    async def has_cut(self, response: HttpResponse, connection: Connection, port: int, since: float) -> bool:
        """Tell whether an answer was cut off, or written, by its proxy."""
        proxy = connection.proxy
        if proxy is not None and connection.rewrite is not None:
            if response.head.status == _WANTS_LOGIN:
                self._failed(_wants_login(proxy, "407"), since)
                return True
            self._answers(proxy)
            self._proxies.opened(proxy, port)
        if response.end is BodyEnd.LOST or _MAY_BE_PROXYS.intersection(response.bounds):
            return await self.is_to_blame(FetchError(FailReason.LOST), connection, port, since)
        return False

    async def is_to_blame(self, error: FetchError, connection: Connection, port: int, since: float) -> bool:
        """Tell whether an exchange failed because its proxy has died, which then rests."""
        proxy = connection.proxy
        if proxy is None:
            return False
        try:
            is_new = connection.rewrite is not None and not self._proxies.has_opened(proxy, port)
            if is_new and error.reason is FailReason.PROTOCOL:
                raise ProxyProblem(proxy, ProxyFault.GARBAGE)
            if error.reason in _MAY_BE_PROXYS and not self._proxies.rests(proxy, since):
                await self._ping(proxy)
        except ProxyProblem as problem:
            self._failed(problem, since)
        return self._proxies.rests(proxy, since)

    async def reaches(self, target: ProxyTarget, addresses: Sequence[str], route: Route) -> bool:
        """Tell whether a host can be connected to, or a proxy that rests serves."""
        for proxy in route:
            rested = proxy is not None and self._proxies.rests(proxy)
            try:
                connection = await self._connect(target, addresses, proxy, self._stall)
            except ProxyProblem:
                continue
            except OSError:
                if proxy is not None and rested:  # it serves, and cannot reach the host
                    self._answers(proxy)
                    return True
                continue
            try:
                if connection.rewrite is None or await self._answers_by_url(connection, target):
                    return True
            finally:
                connection.abort()
        return False

    async def _answers_by_url(self, connection: Connection, target: ProxyTarget) -> bool:
        """Tell whether a proxy asked by URL answers; a connection alone does not show it."""
        began = asyncio.get_running_loop().time()
        request = b"HEAD /robots.txt HTTP/1.1\r\nHost: %s\r\n\r\n" % target.origin.partition(b"//")[2]
        until = began + self._stall
        try:
            response = await connection.ask(request, FetchBounds(), until, lambda _: True, expects_body=False)
        except FetchError:
            return False
        return not await self.has_cut(response, connection, target.port, began)

    def _failed(self, problem: ProxyProblem, tried: float) -> None:
        if rest := self._proxies.failed(problem, tried, asyncio.get_running_loop().time()):
            logger.warning("the proxy %s; %s; it rests for %.0f s", problem.detail, problem.cure, rest)

    def _answers(self, proxy: Proxy) -> None:
        if rested := self._proxies.answered(proxy, asyncio.get_running_loop().time()):
            logger.warning("the proxy %s serves again after %.0f s", proxy, rested)

    async def _connect(
        self, target: ProxyTarget, addresses: Sequence[str], proxy: Proxy | None, seconds: float
    ) -> Connection:
        loop = asyncio.get_running_loop()
        context = None if target.origin else self._context(target.host)
        if proxy is None:
            addresses = await self._names.addresses(target.host, target.port)
            dial = direct(target.port, target.bind)
            return await connect(addresses, dial, context, target.host, loop.time() + seconds)
        at = await self._addresses_of(proxy)
        until = loop.time() + seconds
        try:
            if proxy.kind is ProxyKind.HTTP and target.origin and not is_address(addresses[0]):
                dial = partial(self._reach, proxy, at, target.bind, until)
                connection = await connect(addresses, dial, None, target.host, until + seconds)
                connection.rewrite = partial(_by_url, target.origin, proxy.basic)
            else:
                dial = partial(self._dial, proxy, at, target, until)
                until += seconds  # for TLS
                connection = await connect(addresses, dial, context, target.host, until, pause=_NEXT_ADDRESS_SECONDS)
                self._proxies.opened(proxy, target.port)
        except ProxyProblem:
            raise
        except OSError as error:
            if why(error)[0] in _MAY_BE_PROXYS:  # it waits for the host, or has died
                await self._ping(proxy)
            raise
        connection.proxy = proxy
        return connection

    async def _addresses_of(self, proxy: Proxy) -> Sequence[str]:
        """Return the IP addresses of a proxy, which need not be public."""
        try:
            return await self._names.resolve(proxy.host)
        except FetchError as error:
            raise ProxyProblem(proxy, ProxyFault.NO_NAME, str(error)) from None

    async def _reach(
        self, proxy: Proxy, at: Sequence[str], bind: tuple[str, int] | None, until: float, _address: str = ""
    ) -> socket.socket:
        try:
            async with asyncio.timeout_at(until):
                return (await open_first(at, direct(proxy.port, bind)))[0]
        except TimeoutError:
            raise ProxyProblem(proxy, ProxyFault.UNREACHABLE, "timed out") from None
        except OSError as error:
            if error.errno in _NO_HANDLES:
                raise
            detail = os.strerror(error.errno).lower() if error.errno else ""
            raise ProxyProblem(proxy, ProxyFault.UNREACHABLE, detail) from None

    async def _dial(
        self, proxy: Proxy, at: Sequence[str], target: ProxyTarget, until: float, address: str
    ) -> socket.socket:
        opened = await self._reach(proxy, at, target.bind, until)
        wire = _Wire(opened, until)
        try:
            if proxy.kind is ProxyKind.SOCKS5:
                await _greet(wire, proxy)
                self._answers(proxy)
                await self._ask_socks(wire, proxy, address, target.port)
            else:
                await self._ask_http(wire, proxy, address, target.port)
        except BaseException:
            opened.close()
            raise
        return opened

    async def _ask_http(self, wire: _Wire, proxy: Proxy, address: str, port: int) -> None:
        place = b"%s:%d" % (f"[{address}]".encode() if ":" in address else address.encode("idna"), port)
        login = b"Proxy-Authorization: %s\r\n" % proxy.basic if proxy.basic else b""
        await wire.send(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (place, place, login))
        match = _STATUS.match(await wire.head())
        if match is None:
            raise ProxyProblem(proxy, ProxyFault.GARBAGE)
        status, detail = int(match[1]), b" ".join(match.groups(b"")).decode("latin-1").strip()
        if status in {_WANTS_LOGIN, _UNAUTHORIZED}:
            raise _wants_login(proxy, detail)
        self._answers(proxy)
        if status >= 500 and status not in _NOT_IMPLEMENTED:
            reason = FailReason.TIMED_OUT if status == _GATEWAY_TIMEOUT else FailReason.NO_ROUTE
            raise FetchError(reason, detail=f"the proxy says {status}")
        if not 200 <= status < 300:
            self._refused(proxy, port, detail)

    async def _ask_socks(self, wire: _Wire, proxy: Proxy, address: str, port: int) -> None:
        await wire.send(bytes([_VERSION, _CONNECT, 0]) + _place(address) + port.to_bytes(2, "big"))
        version, reply, _, kind = await wire.exactly(4)
        if version != _VERSION or reply == _NO_COMMAND:
            raise ProxyProblem(proxy, ProxyFault.GARBAGE)
        if reply == _NOT_ALLOWED:
            self._refused(proxy, port, "not allowed by its rules")
        if reply == _NO_KIND and not is_address(address):
            raise ProxyProblem(proxy, ProxyFault.NO_NAMES)
        if reply:
            reason, detail = _REPLIES.get(reply, (FailReason.NO_ROUTE, f"reply {reply}"))
            raise FetchError(reason, detail=f"the proxy says {detail}")
        length = {_IPV4: 4, _IPV6: 16}.get(kind) or (await wire.exactly(1))[0]
        await wire.exactly(length + 2)

    def _refused(self, proxy: Proxy, port: int, detail: str) -> None:
        if self._proxies.has_opened(proxy, port):
            raise FetchError(FailReason.REFUSED_BY_PROXY, detail=detail)
        raise ProxyProblem(proxy, ProxyFault.NO_TUNNEL, f"port {port}: {detail}", port)

    async def _ping(self, proxy: Proxy) -> None:
        until = asyncio.get_running_loop().time() + min(_PING_SECONDS, self._stall)
        opened = await self._reach(proxy, await self._addresses_of(proxy), None, until)
        wire = _Wire(opened, until)
        try:
            if proxy.kind is ProxyKind.SOCKS5:
                await _greet(wire, proxy)
            else:
                await wire.send(b"OPTIONS * HTTP/1.1\r\nHost: %s\r\n\r\n" % str(proxy).partition("//")[2].encode())
                await wire.exactly(1)
        except TimeoutError:
            raise ProxyProblem(proxy, ProxyFault.SILENT) from None
        except ProxyProblem:
            raise
        except OSError:
            raise ProxyProblem(proxy, ProxyFault.CLOSED) from None
        finally:
            opened.close()


class _Wire:
    """A socket with a deadline; `is_silent` until the first byte comes."""

    def __init__(self, opened: socket.socket, until: float) -> None:
        self._socket = opened
        self._until = until
        self._loop = asyncio.get_running_loop()
        self.is_silent = True

    async def send(self, data: bytes) -> None:
        async with asyncio.timeout_at(self._until):
            await self._loop.sock_sendall(self._socket, data)

    async def _receive(self, most: int) -> bytes:
        try:
            async with asyncio.timeout_at(self._until):
                data = await self._loop.sock_recv(self._socket, most)
        except ConnectionError:
            data = b""
        if not data:
            raise FetchError(FailReason.LOST)
        self.is_silent = False
        return data

    async def exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            data += await self._receive(length - len(data))
        return data

    async def head(self) -> bytes:
        """Receive an HTTP head, as far as it comes; bytes of another protocol end it."""
        data = b""
        while _HEAD_ENDS.search(data) is None and len(data) < _LONGEST_HEAD and b"HTTP/1.".startswith(data[:7]):
            try:
                data += await self._receive(_LONGEST_HEAD)
            except FetchError:
                if self.is_silent:
                    raise
                break
        return data


async def _greet(wire: _Wire, proxy: Proxy) -> None:
    methods = [_ANONYMOUS, _PASSWORD] if proxy.basic else [_ANONYMOUS]
    fault = ProxyFault.CLOSED
    try:
        await wire.send(bytes([_VERSION, len(methods), *methods]))
        version, method = await wire.exactly(2)
        if version != _VERSION or method not in {*methods, _NO_METHOD}:
            raise ProxyProblem(proxy, ProxyFault.GARBAGE)
        if method == _NO_METHOD:
            raise _wants_login(proxy)
        if method == _PASSWORD:
            fault = ProxyFault.LOGIN  # also of those that close without a word
            user, password = proxy.user.encode(), proxy.password.encode()
            await wire.send(bytes([_PASSWORD_VERSION, len(user)]) + user + bytes([len(password)]) + password)
            if (await wire.exactly(2))[1]:
                raise ProxyProblem(proxy, ProxyFault.LOGIN)
    except TimeoutError:
        raise ProxyProblem(proxy, ProxyFault.SILENT) from None
    except ProxyProblem:
        raise
    except OSError:
        raise ProxyProblem(proxy, fault) from None


def _wants_login(proxy: Proxy, detail: str = "") -> ProxyProblem:
    return ProxyProblem(proxy, ProxyFault.LOGIN if proxy.basic else ProxyFault.NO_LOGIN, detail)


def _place(address: str) -> bytes:
    if not is_address(address):
        name = address.encode("idna")
        return bytes([_NAME, len(name)]) + name
    parsed = ipaddress.ip_address(address)
    return bytes([_IPV4 if parsed.version == 4 else _IPV6]) + parsed.packed


def _by_url(origin: bytes, login: bytes, request: bytes) -> bytes:
    """Rewrite a request for a proxy that is asked by URL (RFC 9112, 3.2.2)."""
    line, end, rest = request.partition(b"\r\n")
    method, _, path = line.partition(b" ")
    added = b"Proxy-Authorization: %s\r\n" % login if login else b""
    return b"%s %s%s%s%s%s" % (method, origin, path, end, added, rest) if path else request
