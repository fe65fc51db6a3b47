"""The DevTools protocol over two pipes: commands, their answers, and events.

Source: https://chromedevtools.github.io/devtools-protocol/; messages are JSON, each ended by a zero byte
(`--remote-debugging-pipe`). A session is a target (a page, a frame of another process, a worker) of the one connection.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from typing import Any

Answer = dict[str, Any]
Listener = Callable[[str, Answer, str], None]
"""Takes an event: its method, its parameters, and the session it came by."""

_LONGEST_MESSAGE = 64 << 20
"""Bytes; a longer message is dropped unread, and the page runs into its time limit."""


class DevToolsError(Exception):
    """The browser answered a command with an error."""


class TargetGone(DevToolsError):
    """The page, its process or the whole browser ended before it answered."""


class DevTools(asyncio.Protocol):
    """The connection to one browser; `open` makes it, `gone` is set when it is closed."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self._write: asyncio.WriteTransport | None = None
        self._read: asyncio.BaseTransport | None = None
        self._last = 0
        self._waiting: dict[int, tuple[str, asyncio.Future[Answer]]] = {}
        self._listeners: dict[str, Listener] = {}
        self._ended: set[str] = set()
        self._parts: list[bytes] = []
        self._size = 0

    @classmethod
    async def open(cls, read_from: int, write_to: int) -> DevTools:
        loop = asyncio.get_running_loop()
        tools = cls()
        tools._read, _ = await loop.connect_read_pipe(lambda: tools, os.fdopen(read_from, "rb", 0))
        tools._write, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(write_to, "wb", 0))
        return tools

    def listen(self, session: str, listener: Listener) -> None:
        """Hand the events of a session ("" is the browser's own) to a listener."""
        self._listeners[session] = listener

    def end(self, session: str) -> None:
        """Fail all pending and later commands of a session."""
        self._listeners.pop(session, None)
        self._ended.add(session)
        for number, (of, future) in list(self._waiting.items()):
            if of == session:
                del self._waiting[number]
                _fail(future, "its process ended")

    def forget(self, session: str) -> None:
        self.end(session)
        self._ended.discard(session)

    def send(self, method: str, session: str = "", **parameters: object) -> asyncio.Future[Answer]:
        """Send a command; its result, `DevToolsError` or `TargetGone` need not be awaited."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        future.add_done_callback(_take_exception)
        if self._write is None or self.gone.is_set() or session in self._ended:
            _fail(future, method)
            return future
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._waiting[self._last] = session, future
        self._write.write(json.dumps(message).encode() + b"\0")
        return future

    def close(self) -> None:
        for transport in (self._read, self._write):
            if transport is not None:
                transport.close()

    def data_received(self, data: bytes) -> None:
        *whole, rest = data.split(b"\0")
        for part in whole:
            self._parts.append(part)
            message, fits = b"".join(self._parts), self._size + len(part) <= _LONGEST_MESSAGE
            self._parts, self._size = [], 0
            if fits:
                self._take(json.loads(message))
        self._size += len(rest)
        if self._size <= _LONGEST_MESSAGE:
            self._parts.append(rest)
        else:
            self._parts = []

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        for _, future in self._waiting.values():
            _fail(future, "the browser ended")
        self._waiting.clear()

    def _take(self, message: Answer) -> None:
        if "id" in message:
            _, future = self._waiting.pop(message["id"], ("", None))
            if future is None or future.done():
                return
            if "error" in message:
                future.set_exception(DevToolsError(str(message["error"].get("message"))))
            else:
                future.set_result(message.get("result", {}))
            return
        session = message.get("sessionId", "")
        listener = self._listeners.get(session)
        if listener is not None:
            listener(message["method"], message.get("params", {}), session)


def _fail(future: asyncio.Future[Answer], why: str) -> None:
    if not future.done():
        future.set_exception(TargetGone(why))


def _take_exception(future: asyncio.Future[Answer]) -> None:
    """Take the exception of a command that nobody awaited, or asyncio would report it."""
    if not future.cancelled():
        future.exception()
