"""Where the body of an HTTP/1 answer ends: after a length, after the last chunk, or with the connection. Pure.

State           how far an answer has come
Sized, UntilClose, Chunked      take bytes, return pieces of a body
"""

from __future__ import annotations

import re
from enum import Enum

_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;|$)")
_CHUNK_BEGIN = re.compile(rb"[ \t0-9A-Fa-f\r]")
_MOST_CHUNK_LINE = 4_096
_MANY_CHUNKS = 10_000
_LEAST_CHUNK = 32
"""Bytes that each of very many chunks holds on average: who sends fewer wants to keep the reader busy."""


class State(Enum):
    """How far an answer has come."""

    HEAD = "head"
    BODY = "body"
    WHOLE = "whole"
    BROKEN = "broken"


class Sized:
    """A body with a length; of lengths that contradict each other the largest, or where the connection ends."""

    def __init__(self, lengths: set[int]) -> None:
        self._lengths = lengths
        self._left = max(lengths)
        self._came = 0
        self.surplus = False
        self.state = State.BODY if self._left else State.WHOLE

    def receive(self, data: bytes) -> list[bytes]:
        """Take bytes of the connection, return those of the body."""
        if len(data) >= self._left:
            self.surplus = len(data) > self._left
            data = data[: self._left]
            self.state = State.WHOLE
        self._left -= len(data)
        self._came += len(data)
        return [data] if data else []

    def may_end(self) -> bool:
        """Whether the body is whole if the connection ends now."""
        return self._came in self._lengths

    @property
    def leaves_connection(self) -> bool:
        """Whether the next answer begins where the body ends."""
        return len(self._lengths) == 1


class UntilClose:
    """A body that ends with the connection."""

    leaves_connection = False
    surplus = False

    def __init__(self) -> None:
        self.state = State.BODY

    def receive(self, data: bytes) -> list[bytes]:
        """Take bytes of the connection, return those of the body."""
        return [data] if data else []

    def may_end(self) -> bool:
        """Whether the body is whole if the connection ends now."""
        return True


class Chunked:
    """A body in chunks, extensions and trailers passed over."""

    def __init__(self) -> None:
        self.state = State.BODY
        self.surplus = False
        self.leaves_connection = False
        self._unfinished = b""
        self._left = 0
        self._is_first = True
        self._is_plain = False
        self._chunks = 0
        self._size = 0

    def receive(self, data: bytes) -> list[bytes]:
        """Take bytes of the connection, return those of the body."""
        if self._is_plain:
            return [data]
        pieces: list[bytes] = []
        if self._unfinished:
            data, self._unfinished = self._unfinished + data, b""
        at = 0
        while at < len(data) and self.state is State.BODY:
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                continue
            stop = data.find(b"\n", at, at + _MOST_CHUNK_LINE)
            if stop < 0:
                self._unfinished_line(data[at:], pieces)
                return pieces
            line = data[at:stop].rstrip(b"\r")
            if line or self._is_first:
                found = _CHUNK_SIZE.match(line)
                if found is None:
                    self._no_chunk(data[at:], pieces)
                    return pieces
                self._is_first = False
                self._left = int(found[1], 16)
                self._chunks += 1
                self._size += self._left
                if self._chunks > _MANY_CHUNKS and self._size < _LEAST_CHUNK * self._chunks:
                    self.state = State.BROKEN
                    break
                if not self._left:
                    self._last(data[stop + 1 :])
            # else: the end of the line after the chunk before
            at = stop + 1
        return [b"".join(pieces)] if len(pieces) > 1 else pieces

    def may_end(self) -> bool:
        """Whether the body is whole if the connection ends now."""
        return self._is_plain

    def _unfinished_line(self, rest: bytes, pieces: list[bytes]) -> None:
        """A line that should be the length of a chunk has not ended yet."""
        if len(rest) >= _MOST_CHUNK_LINE or (self._is_first and not _CHUNK_BEGIN.match(rest)):
            self._no_chunk(rest, pieces)
        else:
            self._unfinished = rest

    def _no_chunk(self, rest: bytes, pieces: list[bytes]) -> None:
        """What should be a chunk is none: at the very beginning, the server forgot to make any."""
        if self._is_first:
            self._is_plain = True
            pieces.append(rest)
        else:
            self.state = State.BROKEN

    def _last(self, trailer: bytes) -> None:
        """The body is whole; the connection can be used again if the trailer is here already, with nothing after it."""
        self.state = State.WHOLE
        self.leaves_connection = trailer in {b"\r\n", b"\n"} or trailer.endswith((b"\r\n\r\n", b"\n\n"))
