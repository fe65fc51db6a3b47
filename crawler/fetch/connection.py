"""One connection to a server: requests and responses in bounds of size and time."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from asyncio import sslproto
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from itertools import zip_longest
from typing import cast

from db.records.reasons import FailReason
from pipelines.decode.content_type import is_readable

from .body_slots import LARGE, Acquire
from .decompress import UNSAID, Bomb, Decoder, DecodingBounds
from .errors import BODY_CUT, HEADERS_DROPPED, FetchError, why
from .guard import Guard
from .http_parser import Head, HeadBounds, ParserState, ResponseParser, WireError
from .proxies import Proxy, ProxyOptions, ProxyProblem
from .tls import Trust

_MOST_OTHER_BODY = 64 * 1024
"""Bytes read of what cannot be a page (errors, redirects, pictures), so that its connection can be used again."""
_BEGINNING = 512
_LONGEST_WAIT = 300.0
_FRAMING_SHARE = 2
_LEAST_CAME = 2 << 20
"""Bytes that may come beside `_FRAMING_SHARE` times the body: chunks may hold a few bytes each, and heads be long."""
_NEXT_ADDRESS_SECONDS = 0.25
"""Seconds to wait for an IP address before the next one is tried beside it (RFC 8305, section 8)."""
_MOST_ADDRESSES = 32
"""Addresses of one name that are tried: a DNS answer must not send the crawler to hundreds of machines of others."""
_LINGER_SECONDS = 2.0
"""Seconds without a byte after which a body counts as ended that nobody needs, or whose coding says it is whole."""
_SHUTDOWN_SECONDS = 2.0
Dial = Callable[[str], Awaitable[socket.socket]]
"""Opens a socket that leads to an IP address."""


@dataclass(frozen=True, slots=True)
class FetchBounds:
    """Bounds of a response; `least_rate` is in bytes a second, over `stall` seconds.

    A stall is a time without a byte, once the first has come. With `pages_only`, only `_MOST_OTHER_BODY` bytes are read
    of what cannot be a page.
    """

    size: int = 8 << 20
    ratio: float = 200.0
    head: HeadBounds = field(default_factory=HeadBounds)
    stall: float = 20.0
    least_rate: float = 100.0
    pages_only: bool = True


@dataclass(frozen=True, slots=True)
class FetchOptions:
    """Options of every fetch; `seconds` are from the connection to the last byte.

    So many `idle` connections are kept open. They come from the local address and port (0 for any) `bind`. With
    `records`, requests and answers are handed on as sent, for an archive.
    """

    guard: Guard
    trust: Trust
    bounds: FetchBounds = field(default_factory=FetchBounds)
    seconds: float = 60.0
    cookies: bool = True
    idle: int = 512
    bind: tuple[str, int] | None = None
    records: bool = False
    proxies: ProxyOptions = field(default_factory=ProxyOptions)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """Head and body that came for a request; `end` is None if it ended by itself.

    Attributes:
        bounds: names of the bounds that it ran into.
        first_byte: time of the event loop at which it began to come.
        is_whole: all of the body came, wanted or not.
        was_paused: reading it had to wait for a slot.
    """

    head: Head
    body: bytes
    truncated: bool
    bounds: tuple[str, ...]
    first_byte: float
    end: BodyEnd | None = None
    is_whole: bool = True
    was_paused: bool = False


class BodyEnd(Enum):
    """End of a body that did not end by itself, with Scrapy's flag for it."""

    LOST = "dataloss"
    UNKNOWN = "partial"
    STOPPED = "download_stopped"


@dataclass(frozen=True, slots=True)
class Listener:
    """Callbacks for a response as it arrives; returning True stops it."""

    head: Callable[[Head], bool]
    piece: Callable[[bytes], bool]


class Connection(asyncio.Protocol):
    """A connection, for one request at a time; opened by `connect`.

    As long as it `is_silent`, the present request can be made again elsewhere. The `peer` address is None where a proxy
    alone knows; the `certificate` is in DER form, None without TLS. `rewrite` writes a request as the proxy is asked,
    if not as it is.
    """

    def __init__(self) -> None:
        self.is_idle = True
        self.is_silent = True
        self.peer: ipaddress.IPv4Address | ipaddress.IPv6Address | None = None
        self.certificate: bytes | None = None
        self.proxy: Proxy | None = None
        self.rewrite: Callable[[bytes], bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._exchange: _Exchange | None = None

    async def ask(
        self,
        request: bytes,
        bounds: FetchBounds,
        deadline: float,
        acquire: Acquire,
        *,
        expects_body: bool = True,
        listener: Listener | None = None,
        wire: list[bytes] | None = None,
    ) -> HttpResponse:
        """Send a request and wait for its response.

        Args:
            deadline: time of the event loop; the time spent waiting for a body slot does not count.
            wire: filled with the bytes of the answer as they come.

        Raises:
            FetchError: no response that can be used came.
        """
        assert self._transport is not None
        self.is_idle = False
        self.is_silent = True
        reader = ResponseParser(bounds.head, expects_body=expects_body)
        self._exchange = exchange = _Exchange(reader, bounds, deadline, self._transport, acquire, listener=listener)
        if wire is not None:
            wire.clear()  # of a connection that was closed before
            exchange.wire = wire
        self._transport.write(request if self.rewrite is None else self.rewrite(request))
        try:
            return await exchange.response
        finally:
            exchange.close()
            self._exchange = None
            if exchange.leaves_connection and not self._transport.is_closing():
                self.is_idle = True
            else:
                self.abort()

    def abort(self) -> None:
        self.is_idle = False
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.is_silent = False
        if self._exchange is None:
            self.abort()  # nobody has asked
        else:
            self._exchange.received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_idle = False
        if self._exchange is not None:
            self._exchange.lost(exc)


class _Exchange:
    def __init__(
        self,
        reader: ResponseParser,
        bounds: FetchBounds,
        deadline: float,
        transport: asyncio.Transport,
        acquire: Acquire,
        *,
        listener: Listener | None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.response: asyncio.Future[HttpResponse] = self._loop.create_future()
        self.leaves_connection = False
        self.wire: list[bytes] | None = None
        self._bounds = bounds
        self._deadline = deadline
        self._reader = reader
        self._decoder: Decoder | None = None
        self._body = bytearray()
        self._sent = 0
        self._is_page = True
        self._received_bytes = 0
        self._transport = transport
        self._acquire = acquire
        self._listener = listener
        self._is_large = False
        self._waits_since: float | None = None
        self._was_paused = False
        self._is_success = True
        self._patience = bounds.stall
        self._first = self._last = self._loop.time()
        self._since = self._last, 0
        self._timer = self._loop.call_at(min(deadline, self._last + bounds.stall), self._watch)

    def close(self) -> None:
        self._timer.cancel()

    def received(self, data: bytes) -> None:
        if self.response.done():
            return
        self._last = self._loop.time()
        if not self._received_bytes:
            self._first = self._last
        if self._reader.is_waiting:
            self._since = self._last, self._received_bytes
        self._received_bytes += len(data)
        if self.wire is not None:
            self.wire.append(data)
        try:
            pieces = self._reader.receive(data)
            if self._reader.head is not None:
                self._take(self._reader.head, pieces)
        except WireError as error:
            self._fail(FetchError(FailReason.PROTOCOL, detail=str(error)))
        except Bomb:
            self._bomb()

    def lost(self, error: Exception | None) -> None:
        if self.response.done():
            return
        if self._reader.head is None:
            reason, detail = (FailReason.LOST, "") if error is None else why(error)
            self._fail(FetchError(reason, detail=detail))
            return
        self._reader.end(cleanly=error is None)
        self._complete()

    def _take(self, head: Head, pieces: list[bytes]) -> None:
        if self._decoder is None:
            kind = b"".join(head.all(b"content-type")[:1]).lstrip().lower()
            # pages packed once more, or without a word; packed sitemaps are unpacked elsewhere, within other bounds
            unsaid = [UNSAID] if kind.startswith((b"text/html", b"application/xhtml")) else []
            bounds = DecodingBounds(self._bounds.size, self._bounds.ratio)
            self._decoder = Decoder([*unsaid, *self._reader.codings], bounds)
            self._is_success = 200 <= head.status < 300
            self._is_page = self._is_success or not self._bounds.pages_only
            if self._listener is not None and self._listener.head(head):
                self._end(truncated=True, end=BodyEnd.STOPPED)
                return
        for piece in pieces:
            self._sent += len(piece)
            is_first = not self._body
            for decoded in self._decoder.feed(piece):
                self._body += decoded
            if is_first and self._body and self._is_page and self._bounds.pages_only:
                content_type = b"".join(head.all(b"content-type")[:1]).decode("latin-1")
                self._is_page = is_readable(content_type, bytes(self._body[:_BEGINNING]))
            if self._listener is not None and self._listener.piece(piece):
                self._end(truncated=True, end=BodyEnd.STOPPED)
                return
        most = self._bounds.size if self._is_page else _MOST_OTHER_BODY
        if self._decoder.is_cut or self._sent > most or self._received_bytes > _FRAMING_SHARE * most + _LEAST_CAME:
            self._end(truncated=True, bounds=(BODY_CUT,))
        elif self._decoder.is_broken:
            self._end(truncated=True)
        elif self._reader.state is not ParserState.BODY:
            self._finish()
        elif len(self._body) > LARGE and not self._is_large:
            self._is_large = True
            if not self._acquire(self._go_on):
                self._was_paused = True
                self._waits_since = self._loop.time()
                self._transport.pause_reading()
        elif (not self._is_page or self._decoder.is_complete) and self._patience > _LINGER_SECONDS:
            self._patience = _LINGER_SECONDS
            self._timer.cancel()
            self._timer = self._loop.call_later(_LINGER_SECONDS, self._watch)

    def _go_on(self) -> None:
        if self._waits_since is None or self.response.done():
            return
        waited = self._loop.time() - self._waits_since
        self._waits_since = None
        self._deadline += waited
        self._last += waited
        self._since = self._since[0] + waited, self._since[1]
        self._transport.resume_reading()

    def _complete(self) -> None:
        """End the response on a path where a bomb is not caught yet."""
        try:
            self._finish()
        except Bomb:
            self._bomb()

    def _finish(self) -> None:
        assert self._decoder is not None
        for decoded in self._decoder.finish():
            self._body += decoded
        if self._decoder.is_cut:
            self._end(truncated=True, bounds=(BODY_CUT,))
            return
        self.leaves_connection = self._reader.is_reusable
        end = None
        if self._reader.state is not ParserState.WHOLE and not self._decoder.is_complete:
            end = BodyEnd.LOST
        elif self._reader.is_of_unknown_length:
            end = BodyEnd.UNKNOWN
        self._end(truncated=self._decoder.is_broken or end is BodyEnd.LOST, end=end)

    def _end(self, *, truncated: bool, bounds: tuple[str, ...] = (), end: BodyEnd | None = None) -> None:
        head = self._reader.head
        assert head is not None
        if not self._is_page:
            truncated, bounds = False, ()
        if head.excess:
            bounds = (*bounds, HEADERS_DROPPED)
        body, is_whole = bytes(self._body), self._reader.state is ParserState.WHOLE
        self.response.set_result(
            HttpResponse(head, body, truncated, bounds, self._first, end, is_whole, self._was_paused)
        )

    def _bomb(self) -> None:
        if self._reader.head is not None and not self._is_page:
            self._end(truncated=True)
        else:
            self._fail(FetchError(FailReason.BOMB, (FailReason.BOMB,)))

    def _fail(self, error: FetchError) -> None:
        self.response.set_exception(error)

    def _watch(self) -> None:
        if self.response.done():
            return
        now, bounds = self._loop.time(), self._bounds
        started, came_before = self._since
        if self._waits_since is not None and now < self._waits_since + _LONGEST_WAIT:
            self._timer = self._loop.call_later(bounds.stall, self._watch)
        elif now >= self._deadline:
            self._give_up(FailReason.TIMED_OUT)
        elif self._reader.is_waiting:
            self._timer = self._loop.call_at(min(self._deadline, now + bounds.stall), self._watch)
        elif now >= self._last + self._patience or (
            now >= started + bounds.stall
            and self._received_bytes - came_before < bounds.least_rate * bounds.stall
            and self._received_bytes
        ):
            self._give_up(FailReason.STALLED)
        else:
            if now >= started + bounds.stall:
                self._since = now, self._received_bytes
            due = min(self._deadline, self._last + self._patience, self._since[0] + bounds.stall)
            self._timer = self._loop.call_at(due + 0.001, self._watch)

    def _give_up(self, reason: FailReason) -> None:
        """End with the part that has come, or an error's status; else fail."""
        if self._decoder is not None and self._decoder.is_complete:
            self._complete()
        elif self._body or not self._is_success:
            self._end(truncated=True, bounds=(reason,))
        else:
            self._fail(FetchError(reason, (reason,)))


class _TlsProtocol(sslproto.SSLProtocol):
    """TLS of one connection, with a buffer of one record.

    asyncio's own buffer of 256 KiB is most of what an idle connection costs: 408 KB each, 81 KB with this one, at the
    same CPU time.
    """

    max_size = 16 << 10


async def connect(
    addresses: Sequence[str],
    dial: Dial,
    context: ssl.SSLContext | None,
    host: str,
    deadline: float,
    *,
    pause: float = _NEXT_ADDRESS_SECONDS,
) -> Connection:
    """Open a connection to the first of some addresses that answers.

    The addresses are of the host, all permitted, or its name for a proxy that resolves it. `deadline` is a time of the
    event loop; after `pause` seconds the next address is tried beside one that does not answer.

    Raises:
        OSError: none answered, or TLS failed (`ssl.SSLError`).
        TimeoutError: the deadline is over.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout_at(deadline):
        opened, address = await open_first(addresses, dial, pause)
        try:
            connection = Connection()
            if context is None:
                await loop.create_connection(lambda: connection, sock=opened)
            else:
                seconds = max(0.1, deadline - loop.time())
                await _connect_with_tls(connection, opened, context, host, handshake_seconds=seconds)
        except BaseException:
            opened.close()
            raise
    with contextlib.suppress(ValueError):  # a name: its proxy alone knows
        connection.peer = ipaddress.ip_address(address)
    if context is not None and connection._transport is not None:
        connection.certificate = connection._transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return connection


async def _connect_with_tls(
    connection: Connection, opened: socket.socket, context: ssl.SSLContext, host: str, *, handshake_seconds: float
) -> None:
    """Do what `create_connection(ssl=...)` does, with a `_TlsProtocol`."""
    loop = asyncio.get_running_loop()
    handshake: asyncio.Future[None] = loop.create_future()
    make_protocol = partial(
        _TlsProtocol,
        loop,
        connection,
        context,
        handshake,
        server_hostname=host,
        ssl_handshake_timeout=handshake_seconds,  # type: ignore[arg-type] # any number, as of create_connection
        ssl_shutdown_timeout=_SHUTDOWN_SECONDS,
    )
    transport: asyncio.Transport | None = None
    try:
        transport, _ = await loop.create_connection(make_protocol, sock=opened)
        await handshake
    except BaseException:
        handshake.cancel()  # its error may still come, and nobody would take it
        if transport is not None:
            transport.abort()
        raise


async def open_first(
    addresses: Sequence[str], dial: Dial, pause: float = _NEXT_ADDRESS_SECONDS
) -> tuple[socket.socket, str]:
    """Open a socket to the first address that answers, each tried a moment later.

    Raises:
        OSError: none answered.
    """
    waiting = _interleaved(addresses)[:_MOST_ADDRESSES]
    if len(waiting) == 1:
        return await dial(waiting[0]), waiting[0]
    attempts: dict[asyncio.Future[socket.socket], str] = {}
    problem: BaseException = OSError("no address")
    try:
        while waiting or attempts:
            if waiting:
                address = waiting.pop(0)
                attempts[asyncio.ensure_future(dial(address))] = address
            done, _ = await asyncio.wait(
                attempts, timeout=pause if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for attempt in done:
                error = attempt.exception()
                if error is None:
                    return attempt.result(), attempts.pop(attempt)
                del attempts[attempt]
                problem = error
                if isinstance(error, ProxyProblem):
                    raise error  # of no address
    finally:
        for attempt in attempts:
            attempt.cancel()
            attempt.add_done_callback(_drop)
    raise problem


def _interleaved(addresses: Sequence[str]) -> list[str]:
    """Alternate the two families, that of the first address first.

    Source: RFC 8305, section 4.

    >>> _interleaved(["2001:db8::1", "2001:db8::2", "2001:db8::3", "192.0.2.1"])
    ['2001:db8::1', '192.0.2.1', '2001:db8::2', '2001:db8::3']
    """
    first = [address for address in addresses if (":" in address) is (":" in addresses[0])]
    second = [address for address in addresses if (":" in address) is not (":" in addresses[0])]
    return [address for pair in zip_longest(first, second) for address in pair if address is not None]


def _drop(attempt: asyncio.Future[socket.socket]) -> None:
    with contextlib.suppress(OSError, asyncio.CancelledError):
        attempt.result().close()


def direct(port: int, bind: tuple[str, int] | None = None) -> Dial:
    return partial(_open, port, bind)


async def _open(port: int, bind: tuple[str, int] | None, address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # by the protocol asyncio sees that it may set TCP_NODELAY, without which a request waits for the server to
    # acknowledge the end of the TLS handshake
    opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        opened.settimeout(0.0)
        if bind is not None:
            opened.bind(bind)
        await asyncio.get_running_loop().sock_connect(opened, (address, port))
    except BaseException:
        opened.close()
        raise
    return opened
