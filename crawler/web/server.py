"""Serving the web page until it is stopped."""

from __future__ import annotations

import asyncio
import errno
import math
import os
import re
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

_BACKLOG = 512
_NICER = 10
"""Niceness: the server, which uses at most one core, then takes a tenth of what a crawl beside it would get."""
_MOST_HEAD = 256 << 10
"""Bytes of a request's line and headers: a query of ten thousand Chinese characters makes a URL of 90 KB."""
_MOST_AT_ONCE = 500
"""Connections; beyond it a new one replaces the one that has waited longest without a complete request."""
_MOST_HALF_SENT = 64
"""Connections of one client without a complete request; browsers open a handful."""
_HEAD_SECONDS = 10
"""Limit for a request's line and headers."""
_UNREAD_SECONDS = 1
"""Limit for its first byte, before it counts as incomplete: in a burst of connections a whole one may be unread."""
_MOST_SECONDS = 60
"""Limit for its body and the answer; slower clients are disconnected."""
_LAST_SECONDS = 3
_KEEP_SECONDS = 8
_FULL_TEXT = b"Too many readers at once; come again in a few seconds.\n"
_FULL = b"".join(
    (
        b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n",
        b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n" % len(_FULL_TEXT),
        _FULL_TEXT,
    )
)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket.

    Raises:
        OSError: the address is not of this machine, or the port is in use; the text says what to do.
    """
    elsewhere = OSError(f"{host!r} is no address of this machine; name another one with --host")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise elsewhere from None
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise elsewhere from None
        why = (error.strerror or "it cannot be used").lower()
        raise OSError(f"{host} port {port} cannot be listened on ({why}); name another one with --port") from None
    return listening


def serve(app: ASGIApp, listening: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
    """Answer requests until Ctrl-C or SIGTERM; open ones then get a few seconds."""
    give_way()
    config = uvicorn.Config(
        app,
        loop="asyncio",
        http=ReaderConnection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEEP_SECONDS,
        timeout_graceful_shutdown=_LAST_SECONDS,
        h11_max_incomplete_event_size=_MOST_HEAD,
    )
    # uvicorn raises the signal that stopped it once more: Ctrl-C and SIGTERM then end this in one way
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            _Server(config, ready).run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, before)
        listening.close()


def give_way() -> None:
    """Lower the priority of this process below that of a crawl on the same machine.

    Linux first shares the processors between sessions and then applies priorities within each. So a session of the
    server's own, as under systemd, is lowered as a whole; that of a terminal is not, since it serves other work too.
    """
    if not hasattr(os, "nice"):
        return
    os.nice(_NICER)
    if os.getsid(0) in {os.getpid(), os.getppid()}:  # the parent is `uv run`, or a shell with a terminal
        try:
            os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
        except OSError:
            with suppress(OSError):
                Path("/proc/self/autogroup").write_text(str(_NICER), encoding="ascii")


class ReaderConnection(H11Protocol):
    """A connection of uvicorn with limits on its time and number.

    A client that opens many incomplete requests loses the oldest ones, so that complete requests always find room.
    """

    _deadline: asyncio.TimerHandle | None = None
    _head_since = math.inf
    """Since when the head of the next request is awaited; infinite while a request is answered."""
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Await the first request, if need be in place of the oldest incomplete one."""
        super().connection_made(transport)
        self._await_head()
        readers = (one for one in self.connections if isinstance(one, ReaderConnection))
        others = [one for one in readers if one is not self and one._is_half_sent()]
        same_client = [one for one in others if (one.client or "")[:1] == (self.client or "")[:1]]
        crowd = (
            same_client
            if len(same_client) >= _MOST_HALF_SENT
            else others
            if len(self.connections) > _MOST_AT_ONCE
            else []
        )
        if crowd:
            oldest = min(crowd, key=lambda one: one._head_since)
            oldest._head_since = math.inf
            oldest.transport.abort()
        self._is_refused = not crowd and len(self.connections) > _MOST_AT_ONCE

    def data_received(self, data: bytes) -> None:
        """Receive data; unescaped letters in URLs, as curl sends them, are escaped."""
        if self._is_refused:
            self.transport.write(_FULL)
            self.transport.close()
            return
        if self.conn.their_state is h11.IDLE and not data.isascii():
            line, end, rest = data.partition(b"\r\n")
            data = _NOT_ASCII.sub(lambda found: b"%%%02X" % found[0][0], line) + end + rest
        if self._head_since < math.inf and not self.conn.trailing_data[0]:
            self._await_head()  # as long from its first byte on
        super().data_received(data)
        self._take_stock()

    def on_response_complete(self) -> None:
        self._await_head()
        super().on_response_complete()
        self._take_stock()

    def send_400_response(self, msg: str) -> None:
        """Reject invalid HTTP; a request whose body it belongs to is aborted."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def _is_half_sent(self) -> bool:
        waited = self.loop.time() - self._head_since
        return waited >= _UNREAD_SECONDS or (waited >= 0 and bool(self.conn.trailing_data[0]))

    def _await_head(self) -> None:
        self._head_since = self.loop.time()
        self._limit(_HEAD_SECONDS)

    def _take_stock(self) -> None:
        if self._head_since < math.inf and self.conn.their_state is not h11.IDLE:
            self._head_since = math.inf
            self._limit(_MOST_SECONDS)

    def _limit(self, seconds: float) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()
