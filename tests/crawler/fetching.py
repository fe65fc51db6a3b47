"""Fetch with the crawler's own download handler, in this process: no crawl, no reactor."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace, TracebackType
from typing import Any, Self

from scrapy import Request
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager

from crawler.fetch.handler import GuardedHandler, Network
from crawler.options.config import fetch_options

TIMEOUT = 30.0


def settings(**values: Any) -> Settings:
    """The project's settings, loopback open, and some others."""
    made = Settings()
    made.setmodule("crawler.settings")
    for name, value in {"ALLOW_NETWORKS": ["127.0.0.0/8", "::1"], **values}.items():
        made.set(name, value)
    return made


def crawler(idle: int | None = None, bounds: Mapping[str, Any] | None = None, **values: Any) -> Any:
    """Stand-in for a crawler: settings, signals, and the network among the extensions.

    Args:
        idle: hosts for which there is room.
        bounds: fields of `FetchBounds`.
        values: settings.
    """
    made = SimpleNamespace(settings=settings(**values), spider=None)
    made.signals = SignalManager(made)
    options = fetch_options(made.settings)
    options = replace(options, bounds=replace(options.bounds, **(bounds or {})))
    network = Network.from_options(options if idle is None else replace(options, idle=idle))
    made.get_extension = {Network: network}.get
    return made


def handler(**values: Any) -> GuardedHandler:
    """A handler of its own."""
    return GuardedHandler.from_crawler(crawler(**values))


async def fetch_all(urls: Sequence[str | Request], **values: Any) -> list[Response | Exception]:
    """Fetch one after the other with one handler."""
    own = handler(**values)
    results: list[Response | Exception] = []
    try:
        for url in urls:
            try:
                request = url if isinstance(url, Request) else Request(url)
                async with asyncio.timeout(TIMEOUT):
                    results.append(await own.download_request(request))
            except Exception as error:  # noqa: BLE001 - a result like others
                results.append(error)
    finally:
        await own.close()
    return results


def fetch(*urls: str | Request, **values: Any) -> list[Response | Exception]:
    """Fetch one after the other with one handler."""
    return asyncio.run(fetch_all(urls, **values))


class RawServer:
    """Speaks to every connection as the test says; `port`, `connections` and `requests` tell what happened.

    Args:
        speak: called with the socket and the bytes of each request; returning True keeps the connection.
        wrap: makes another socket of the one accepted (TLS).
        address: where to listen.
    """

    def __init__(
        self,
        speak: Callable[[socket.socket, bytes], object],
        *,
        wrap: Callable[[socket.socket], socket.socket] | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self.connections = 0
        self.requests: list[bytes] = []
        outer = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                outer.connections += 1
                try:
                    connection = wrap(self.request) if wrap else self.request
                    connection.settimeout(TIMEOUT)
                    while asked := _read_head(connection):
                        outer.requests.append(asked)
                        if not speak(connection, asked):
                            break
                    connection.close()
                except OSError:
                    pass  # the crawler went away, or wanted no TLS like this

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True
            request_queue_size = 128

            def get_request(self) -> tuple[socket.socket, Any]:
                return super().get_request()

        self._server = Server((address, 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def url(self, path: str = "/", *, scheme: str = "http", host: str = "127.0.0.1") -> str:
        """An address on it."""
        return f"{scheme}://{host}:{self.port}{path}"


def _read_head(connection: socket.socket) -> bytes:
    asked = b""
    while b"\r\n\r\n" not in asked:
        came = connection.recv(65536)
        if not came:
            return b""
        asked += came
    return asked


def answering(*answers: bytes) -> Callable[[socket.socket, bytes], bool]:
    """Give these answers one after the other, the last one for ever, and close after each."""
    left = list(answers)

    def speak(connection: socket.socket, _asked: bytes) -> bool:
        connection.sendall(left.pop(0) if len(left) > 1 else left[0])
        return False

    return speak


def keeping(*answers: bytes) -> Callable[[socket.socket, bytes], bool]:
    """Give these answers over one connection, the last one for ever."""
    speak = answering(*answers)

    def keep(connection: socket.socket, asked: bytes) -> bool:
        speak(connection, asked)
        return True

    return keep
