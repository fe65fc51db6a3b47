"""A proxy on loopback for tests: HTTP (CONNECT, and pages by URL) or SOCKS5, which can be stopped and started again."""

from __future__ import annotations

import base64
import contextlib
import select
import socket
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

USER, PASSWORD = "reader", "open:ses@me/%密"
WRITTEN = "reader:open%3Ases%40me%2F%25%E5%AF%86"
"""The same as they stand in an address."""
RESOLVED: dict[str, str] = {}
"""Addresses of names that a proxy is given."""


class ProxyServer:
    """Serves on a free port of 127.0.0.1; `asked` tells what it was asked for, as `host:port` or URL.

    Args:
        kind: `http` or `socks5`.
        login: whether it asks for `USER` and `PASSWORD`.
        refuse: told the host and port of a connection; an answer other than 0 is given instead: a status, or a reply.
        speak: takes the place of all that, with the socket of a connection.
    """

    def __init__(
        self,
        kind: str,
        *,
        login: bool = False,
        refuse: Callable[[str, int], int] = lambda _host, _port: 0,
        speak: Callable[[socket.socket], object] | None = None,
    ) -> None:
        self.kind = kind
        self.login = login
        self.asked: list[str] = []
        self.connections = 0
        self._refuse = refuse
        self._speak = speak or (self._http if kind == "http" else self._socks5)
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._run()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def address(self) -> str:
        """Where it is, without user and password."""
        return f"{self.kind}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Where it is, with all that it asks for."""
        return self.address.replace("//", f"//{WRITTEN}@" if self.login else "//")

    def stop(self) -> None:
        """Die: no new connections, and an end to all there are."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in list(self._open):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def start(self) -> None:
        """Serve again, at the same port."""
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self._run()

    def _run(self) -> None:
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                opened, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.add(opened)
            threading.Thread(target=self._serve, args=(opened,), daemon=True).start()

    def _serve(self, opened: socket.socket) -> None:
        try:
            self._speak(opened)
        except (OSError, EOFError):
            pass
        finally:
            self._open.discard(opened)
            opened.close()

    # ------------------------------------------------------------ HTTP

    def _http(self, opened: socket.socket) -> None:
        while head := _head(opened):
            lines = head.decode("latin-1").split("\r\n")
            method, target, _ = lines[0].split(" ")
            given = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if self.login and given.get("proxy-authorization") != f"Basic {basic}":
                opened.sendall(b"HTTP/1.1 407 No\r\nContent-Length: 4\r\nProxy-Authenticate: Basic\r\n\r\nnone")
                return
            if method == "CONNECT":
                self.asked.append(target)
                host, _, port = target.rpartition(":")
                if status := self._refuse(host, int(port)):
                    opened.sendall(b"HTTP/1.1 %d Refused\r\nContent-Length: 0\r\n\r\n" % status)
                    return
                try:
                    far = _connect(host.strip("[]"), int(port))
                except OSError:
                    opened.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                    return
                with far:
                    for part in (b"HTTP/1.1 200 OK\r\nX: y", b"\r\n\r", b"\n"):  # as a network may deliver it
                        opened.sendall(part)
                    self._relay(opened, far)
                return
            if not target.startswith("http:"):
                opened.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                return
            self.asked.append(target)
            parts = urlsplit(target)
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            kept = "\r\n".join(line for line in lines[1:-2] if not line.lower().startswith("proxy-"))
            with _connect(parts.hostname or "", parts.port or 80) as far:
                far.sendall(f"{method} {path} HTTP/1.1\r\n{kept}\r\nConnection: close\r\n\r\n".encode("latin-1"))
                self._relay(opened, far)
            return

    # ------------------------------------------------------------ SOCKS5

    def _socks5(self, opened: socket.socket) -> None:
        version, count = _exactly(opened, 2)
        if version != 5:
            return
        methods = _exactly(opened, count)
        wanted = 2 if self.login else 0
        opened.sendall(bytes([5, wanted if wanted in methods else 255]))
        if wanted not in methods:
            return
        if self.login:
            user = _exactly(opened, _exactly(opened, 2)[1]).decode()
            password = _exactly(opened, _exactly(opened, 1)[0]).decode()
            opened.sendall(bytes([1, (user, password) != (USER, PASSWORD)]))
            if (user, password) != (USER, PASSWORD):
                return
        kind = _exactly(opened, 4)[3]
        if kind == 3:
            host = _exactly(opened, _exactly(opened, 1)[0]).decode()
        else:
            host = socket.inet_ntop(
                *((socket.AF_INET, _exactly(opened, 4)) if kind == 1 else (socket.AF_INET6, _exactly(opened, 16)))
            )
        port = int.from_bytes(_exactly(opened, 2), "big")
        self.asked.append(f"{host}:{port}")
        if reply := self._refuse(host, port):
            opened.sendall(bytes([5, reply, 0, 1, 127, 0, 0, 1, 0, 0]))
            return
        try:
            far = _connect(host, port)
        except OSError:
            opened.sendall(bytes([5, 5, 0, 1, 127, 0, 0, 1, 0, 0]))
            return
        with far:
            opened.sendall(bytes([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
            self._relay(opened, far)

    def _relay(self, near: socket.socket, far: socket.socket) -> None:
        """Pass on what comes from either side, until one has ended."""
        other = {near: far, far: near}
        while True:
            for one in select.select([near, far], [], [])[0]:
                if not (data := one.recv(1 << 16)):
                    return
                other[one].sendall(data)


def _connect(host: str, port: int) -> socket.socket:
    local = host == "localhost" or host.endswith(".localhost")
    return socket.create_connection(("127.0.0.1" if local else RESOLVED.get(host, host), port))


def _head(opened: socket.socket) -> bytes:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        came = opened.recv(1)
        if not came:
            return b""
        head += came
    return head


def _exactly(opened: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        came = opened.recv(length - len(data))
        if not came:
            raise EOFError
        data += came
    return data
