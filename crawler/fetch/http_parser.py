"""A parser of HTTP/1 responses as servers really send them. Pure.

Browsers forgive much, so servers get much wrong: no reason phrase, bare line feeds, lines that are no headers, lengths
that contradict each other. One bad line must not lose a page, and what has no end must not fill the memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from urllib.parse import quote_from_bytes

_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;|$)")
_CHUNK_BEGIN = re.compile(rb"[ \t0-9A-Fa-f\r]")
_MOST_CHUNK_LINE = 4_096
_MANY_CHUNKS = 10_000
_LEAST_CHUNK = 32
"""Bytes that each of very many chunks holds on average: who sends fewer wants to keep the reader busy."""
_STATUS = re.compile(rb"HTTP/([0-9])(?:\.([0-9]))?[ \t]+([1-9][0-9]{2})(?![0-9])", re.IGNORECASE)
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_DIGITS = re.compile(rb"[0-9]{1,18}")
_CONTROL = re.compile(rb"[\0\r\n]")

_MOST_INTERIM = 100
"""Heads with status 1xx before the real one: some servers send one a second while they work on a page."""
_MOST_HEAD = 16
"""Heads are given up when they are together this many times as long as what is kept of one."""
_BODILESS = frozenset({204, 205, 304})

FRAMING = frozenset({b"content-length", b"transfer-encoding", b"connection", b"content-encoding"})
MEANING = FRAMING | {b"content-type", b"location", b"retry-after", b"x-robots-tag", b"etag", b"last-modified"}
"""Headers that are kept however many others there are: without them a page could not be read."""


class ParserState(Enum):
    HEAD = "head"
    BODY = "body"
    WHOLE = "whole"
    BROKEN = "broken"


class WireError(Exception):
    """Bytes that are not HTTP, or too many."""


@dataclass(frozen=True, slots=True)
class HeadBounds:
    """Bounds of a head; headers beyond them are dropped and counted."""

    size: int = 64 * 1024
    lines: int = 256


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of a response; `version` is (1, 1) for HTTP/1.1.

    Names of headers are lower-case, in order, and may come several times; `dropped` counts the lines that were no
    headers, or too many (`excess` of them).
    """

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    dropped: int
    excess: int
    version: tuple[int, int]

    def all(self, name: bytes) -> list[bytes]:
        return [value for header, value in self.headers if header == name]

    def tokens(self, name: bytes) -> list[str]:
        """Return the lower-case items of a comma-separated header, without parameters."""
        joined = b",".join(self.all(name)).decode("latin-1").lower()
        return [token for item in joined.split(",") if (token := item.partition(";")[0].strip(' \t"'))]


class ResponseParser:
    """Parses one response; that to a HEAD request never has a body (`expects_body`).

    Attributes:
        state: WHOLE when all of the body is there, BROKEN when it never will be.
        head: of the final response, once it is there.
        codings: names of content codings, in the order in which they were applied.
        surplus: whether bytes came that belong to no response.
    """

    def __init__(self, bounds: HeadBounds, *, expects_body: bool = True) -> None:
        self.state = ParserState.HEAD
        self.head: Head | None = None
        self.codings: list[str] = []
        self.surplus = False
        self._bounds = bounds
        self._expects_body = expects_body
        self._lines = _HeadLines(bounds)
        self._interim = 0
        self._body: Sized | Chunked | UntilClose | None = None

    def receive(self, data: bytes) -> list[bytes]:
        """Take bytes from the connection; return pieces of the body.

        Raises:
            WireError: the connection is of no use any more.
        """
        while self.state is ParserState.HEAD:
            rest = self._lines.receive(data)
            if rest is None:
                return []
            data = rest
            self._head_came()
        if self._body is None:
            self.surplus = self.surplus or bool(data)
            return []
        pieces = self._body.receive(data)
        if self._body.state is not ParserState.BODY:
            self.state = self._body.state
            self.surplus = self.surplus or self._body.surplus
        return pieces

    def end(self, *, cleanly: bool) -> None:
        """Note the end of the connection; not `cleanly` if by an error.

        Raises:
            WireError: it came before there was a response.
        """
        if self.state is ParserState.HEAD:
            raise WireError("the connection ended before an answer came")
        if self.state is ParserState.BODY:
            assert self._body is not None
            self.state = ParserState.WHOLE if cleanly and self._body.may_end() else ParserState.BROKEN

    @property
    def is_waiting(self) -> bool:
        """True before the first byte of the final response."""
        return self.state is ParserState.HEAD and self._lines.is_empty

    @property
    def is_of_unknown_length(self) -> bool:
        """True if the body ends with the connection, whole or not."""
        return isinstance(self._body, UntilClose)

    @property
    def is_reusable(self) -> bool:
        if self.state is not ParserState.WHOLE or self.head is None or self.surplus:
            return False
        if self._body is not None and not self._body.leaves_connection:
            return False
        options = self.head.tokens(b"connection")
        return "close" not in options if self.head.version >= (1, 1) else "keep-alive" in options

    def _head_came(self) -> None:
        head = self._lines.head()
        if 100 <= head.status < 200:
            self._interim += 1
            if head.status == 101 or self._interim > _MOST_INTERIM:
                raise WireError(
                    "the server wants another protocol" if head.status == 101 else "too many interim answers"
                )
            self._lines = _HeadLines(self._bounds, self._lines.seen)
            return
        self.head = head
        transfer = head.tokens(b"transfer-encoding")
        chunked = "chunked" in transfer
        # What a server calls a transfer coding besides chunked was applied after the content codings.
        self.codings = head.tokens(b"content-encoding") + [name for name in transfer if name != "chunked"]
        if head.status in _BODILESS or not self._expects_body:
            self.state = ParserState.WHOLE
            return
        self.state = ParserState.BODY
        if chunked:
            self._body = Chunked()
            return
        lengths = {
            int(item)
            for value in head.all(b"content-length")
            for item in value.replace(b" ", b"").split(b",")
            if _DIGITS.fullmatch(item)
        }
        if not lengths:
            self._body = UntilClose()
            return
        self._body = Sized(lengths)
        self.state = self._body.state


class Sized:
    """A body with a length.

    Of lengths that contradict each other the largest counts, or the one where the connection ends.
    """

    def __init__(self, lengths: set[int]) -> None:
        self._lengths = lengths
        self._left = max(lengths)
        self._received_bytes = 0
        self.surplus = False
        self.state = ParserState.BODY if self._left else ParserState.WHOLE

    def receive(self, data: bytes) -> list[bytes]:
        if len(data) >= self._left:
            self.surplus = len(data) > self._left
            data = data[: self._left]
            self.state = ParserState.WHOLE
        self._left -= len(data)
        self._received_bytes += len(data)
        return [data] if data else []

    def may_end(self) -> bool:
        return self._received_bytes in self._lengths

    @property
    def leaves_connection(self) -> bool:
        return len(self._lengths) == 1


class UntilClose:
    leaves_connection = False
    surplus = False

    def __init__(self) -> None:
        self.state = ParserState.BODY

    def receive(self, data: bytes) -> list[bytes]:
        return [data] if data else []

    def may_end(self) -> bool:
        return True


class Chunked:
    """A body in chunks; extensions and trailers are passed over."""

    def __init__(self) -> None:
        self.state = ParserState.BODY
        self.surplus = False
        self.leaves_connection = False
        self._unfinished = b""
        self._left = 0
        self._is_first = True
        self._is_plain = False
        self._chunks = 0
        self._size = 0
        self._ends_chunk = False

    def receive(self, data: bytes) -> list[bytes]:
        if self._is_plain:
            return [data]
        pieces: list[bytes] = []
        if self._unfinished:
            data, self._unfinished = self._unfinished + data, b""
        at = 0
        while at < len(data) and self.state is ParserState.BODY:
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left -= len(piece)
                self._ends_chunk = not self._left
                continue
            stop = data.find(b"\n", at, at + _MOST_CHUNK_LINE)
            if stop < 0:
                self._unfinished_line(data[at:], pieces)
                return pieces
            line = data[at:stop].rstrip(b"\r")
            if line or self._is_first:
                size_match = _CHUNK_SIZE.match(line)
                if size_match is None:
                    self._no_chunk(data[at:], pieces)
                    return pieces
                self._is_first = False
                self._left = int(size_match[1], 16)
                self._size += self._left
                if not self._left:
                    self._last(data[stop + 1 :])
            if line or not self._ends_chunk:  # an empty line ends a chunk; more of them cost as much as chunks
                self._chunks += 1
                if self._chunks > _MANY_CHUNKS and self._size < _LEAST_CHUNK * self._chunks:
                    self.state = ParserState.BROKEN
                    break
            self._ends_chunk = False
            at = stop + 1
        return [b"".join(pieces)] if len(pieces) > 1 else pieces

    def may_end(self) -> bool:
        return self._is_plain

    def _unfinished_line(self, rest: bytes, pieces: list[bytes]) -> None:
        if len(rest) >= _MOST_CHUNK_LINE or (self._is_first and not _CHUNK_BEGIN.match(rest)):
            self._no_chunk(rest, pieces)
        else:
            self._unfinished = rest

    def _no_chunk(self, rest: bytes, pieces: list[bytes]) -> None:
        """Handle a line that is no chunk size; as the first one, it begins a plain body."""
        if self._is_first:
            self._is_plain = True
            pieces.append(rest)
        else:
            self.state = ParserState.BROKEN

    def _last(self, trailer: bytes) -> None:
        """End the body; the connection can be reused if the trailer is here already."""
        self.state = ParserState.WHOLE
        self.leaves_connection = trailer in {b"\r\n", b"\n"} or trailer.endswith((b"\r\n\r\n", b"\n\n"))


class _HeadLines:
    def __init__(self, bounds: HeadBounds, seen: int = 0) -> None:
        self._bounds = bounds
        self._unfinished = b""
        self._skipping = False
        self._status: tuple[int, tuple[int, int]] | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._continues = False
        self.seen = seen
        self._kept_bytes = 0
        self._dropped = 0
        self._excess = 0

    @property
    def is_empty(self) -> bool:
        return self._status is None and not self._unfinished

    def receive(self, data: bytes) -> bytes | None:
        if self._unfinished:
            data = self._unfinished + data
            self.seen -= len(self._unfinished)
            self._unfinished = b""
        start = 0
        while (stop := data.find(b"\n", start)) >= 0:
            line = data[start : stop - 1] if data[stop - 1 : stop] == b"\r" and stop > start else data[start:stop]
            self.seen += stop + 1 - start
            start = stop + 1
            if self._skipping:
                self._skipping = False
            elif not line and self._status is not None:
                return data[start:]
            elif line:
                self._line(line)
            self._check()
        rest = data[start:]
        self.seen += len(rest)
        self._check()
        if self._status is None and len(rest) >= 5 and rest[:5].upper() != b"HTTP/":
            raise WireError("the answer is not HTTP")
        if self._skipping:
            return None
        if len(rest) <= self._bounds.size:
            self._unfinished = rest
            return None
        if self._status is None:
            raise WireError("the answer is not HTTP")
        self._skipping = True  # the rest of this line is of no interest
        self._continues = False
        self._dropped += 1
        self._excess += 1
        return None

    def head(self) -> Head:
        assert self._status is not None
        status, version = self._status
        return Head(status, tuple(self._headers), self._dropped, self._excess, version)

    def _check(self) -> None:
        if self.seen > _MOST_HEAD * self._bounds.size:
            raise WireError("the headers have no end")

    def _line(self, line: bytes) -> None:
        if self._status is None:
            match = _STATUS.match(line)
            if match is None:
                raise WireError("the answer is not HTTP")
            self._status = int(match[3]), (int(match[1]), int(match[2] or b"0"))
        elif line[:1] in {b" ", b"\t"}:
            self._fold(line)
        else:
            self._header(line)

    def _header(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        self._continues = False
        if not colon or not _NAME.fullmatch(name):
            self._dropped += 1
            return
        name = name.lower()
        is_too_much = len(self._headers) >= self._bounds.lines or self._kept_bytes + len(line) > self._bounds.size
        if is_too_much and (name not in MEANING or len(line) > self._bounds.size or self._is_flooded()):
            self._dropped += 1
            self._excess += 1
            return
        self._kept_bytes += len(line)
        self._headers.append((name, _clean(value)))
        self._continues = True

    def _is_flooded(self) -> bool:
        return len(self._headers) >= 2 * self._bounds.lines or self._kept_bytes > 2 * self._bounds.size

    def _fold(self, line: bytes) -> None:
        if not self._continues or self._kept_bytes + len(line) > self._bounds.size:
            self._dropped += 1
            return
        name, value = self._headers[-1]
        self._kept_bytes += len(line)
        self._headers[-1] = name, (value + b" " + _clean(line)).strip()


def _clean(value: bytes) -> bytes:
    value = value.strip(b" \t")
    return _CONTROL.sub(b" ", value) if _CONTROL.search(value) else value


KEPT = ("content-type", "location", "retry-after", "etag", "last-modified", "x-robots-tag")
_MOST_CHARS = 8_000
"""Above what any of them may be: an address that is too long must not be taken for a shorter one."""
_ASCII = "".join(chr(code) for code in range(33, 127))


def text(values: Iterable[bytes]) -> str:
    """Join the values of a header as text without NUL, at most 8,000 characters."""
    return b", ".join(values).decode("utf-8", "replace").replace("\0", "")[:_MOST_CHARS]


def location(values: Sequence[bytes]) -> str:
    """Return the URL that a redirect leads to, from the first of its Location headers.

    Bytes that are no UTF-8 are those of the site's own character set: they are escaped as they are.
    """
    value = values[0][: 2 * _MOST_CHARS]
    try:
        return value.decode("utf-8").replace("\0", "")[:_MOST_CHARS]
    except UnicodeDecodeError:
        return quote_from_bytes(value, safe=_ASCII)[:_MOST_CHARS]


def lines(values: Iterable[bytes]) -> str:
    """Join the values of a header, a line each; otherwise as `text`."""
    return "\n".join(text([value.replace(b"\n", b" ")]) for value in values)[:_MOST_CHARS]


READERS: Mapping[str, Callable[[Sequence[bytes]], str]] = {"location": location, "x-robots-tag": lines}
"""Headers that are not read by `text`."""
