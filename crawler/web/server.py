"""Serving the web page until it is stopped."""

from __future__ import annotations

import asyncio
import errno
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
"""With it the server, which keeps one processor busy at most, takes a tenth of what a crawl beside it would have."""
_MOST_HEAD = 256 << 10
"""Bytes of a request's line and headers: a query of ten thousand Chinese characters is a URL of 90 KB."""
_MOST_AT_ONCE = 500
_MOST_SECONDS = 60
"""For a request and its answer: a client that sends or reads slower than that has its connection closed."""
_LAST_SECONDS = 3
_KEEP_SECONDS = 15
_NOT_ASCII = re.compile(rb"[\x80-\xff]")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address.

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
    """Answer requests until Ctrl-C or SIGTERM.

    What is being answered then gets a few seconds.

    Args:
        app: what answers.
        listening: see `listen`.
        ready: called when requests are answered.
    """
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
        limit_concurrency=_MOST_AT_ONCE,
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

    Linux shares processors between sessions first and looks at priorities within each: a session that is the server's
    own, as under systemd, is lowered whole. That of a terminal is not, for it has other work to do later.
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
    """Connection of uvicorn with a bound on its time.

    A whole request, and a reader who takes the answer, are waited for no longer than `_MOST_SECONDS`.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests, also with letters in URLs that should be escaped.

        `curl 'http://localhost:8080/?q=新闻'` sends them.
        """
        if self.conn.their_state is h11.IDLE and not data.isascii():
            line, end, rest = data.partition(b"\r\n")
            data = _NOT_ASCII.sub(lambda found: b"%%%02X" % found[0][0], line) + end + rest
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._begin()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; a request whose body it is goes no further."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            super().send_400_response(msg)
        else:
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def _begin(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(_MOST_SECONDS, self.transport.abort)


class _Server(uvicorn.Server):
    """uvicorn's, which says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            self._ready()
