"""`scrapy serve` in a process of its own, and requests to it byte by byte."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path

from tests.crawler.crawling import Finished, Running, start
from tests.waiting import wait_for

_START_SECONDS = 30
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/")


@dataclass
class Server:
    """A running server. `stop` ends it as SIGTERM does."""

    running: Running
    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> Finished:
        self.running.send(signal.SIGTERM)
        return self.running.finish()


@contextmanager
def serving(folder: Path, database: Path | str, *options: str) -> Iterator[Server]:
    """Serve a database at a free port; the server has to end well and without a traceback."""
    running = start(folder, "serve", "--port", "0", "--database", str(database), *options)
    server = Server(running, 0)
    try:
        out = running.log.with_suffix(".out")
        wait_for(lambda: _ADDRESS.search(_text(out)) or not running.process.is_alive(), "the server did not start")
        said = _ADDRESS.search(_text(out))
        assert said, _text(running.log.with_suffix(".err"))
        server.port = int(said[1])
        yield server
    finally:
        ended = server.stop()
    assert ended.returncode == 0
    assert "Traceback" not in ended.stderr


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


@dataclass(frozen=True)
class Answer:
    """An answer; status 0 is none: the connection was closed."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def ask(server: Server, request: bytes, *, method: str = "GET", timeout: float = 10) -> Answer:
    """Send bytes as they are and read one answer."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=timeout) as connection:
        with suppress(OSError):  # it may have answered and closed before it read all
            connection.sendall(request)
        response = HTTPResponse(connection, method=method)
        try:
            response.begin()
            body = response.read()
        except (OSError, ValueError):
            return Answer(0, {}, b"")
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, body)


def get(server: Server, path: str, *headers: str, method: str = "GET", host: str = "") -> Answer:
    """Ask for a path, which may hold anything but a blank and a line break."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{server.port}'}", "Connection: close", *headers]
    return ask(server, "\r\n".join([*lines, "", ""]).encode("latin-1"), method=method)
