"""Content codings undone as the bytes come in: gzip, deflate, brotli, zstd. Pure.

Codings may be nested. The first bytes decide rather than the server's word: plain text that is said to be gzip stays as
it is. A body that swells beyond measure is a bomb and is given up at once; one that ends before its time is truncated.
Checksums behind the data are not verified, as in browsers: servers leave them out or get them wrong.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "gzip, deflate, br, zstd"

UNSAID = "unsaid"
"""Coding that is undone if the bytes show one, though the server names none."""
_KNOWN = {name: name for name in ("gzip", "deflate", "br", "zstd", UNSAID)} | {"x-gzip": "gzip"}
MOST_LAYERS = 3
_MOST_MEMBERS = 256
"""gzip members or zstd frames one after the other; each costs a new decoder."""
_PIECE = 256 * 1024
_BITE = 4 * 1024
_HARMLESS = 1 << 20
"""Decoded bytes that no ratio makes a bomb."""
_ENOUGH_TO_JUDGE = 32
_WINDOW_LOG = 23
"""zstd may look back 8 MiB (RFC 9659)."""

_MOST_GZIP_HEAD = 128 * 1024
"""Bytes before the data: twice the longest extra field."""

_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_ERRORS = (zlib.error, brotli.error, zstd.ZstdError, EOFError, MemoryError)


class Bomb(Exception):
    """Decoded, a body is many times as long as what was sent."""


@dataclass(frozen=True, slots=True)
class DecodingBounds:
    """Bounds of a decoded body: it is cut at `size` bytes.

    More than `ratio` decoded bytes for each byte sent, over the first megabyte, are a bomb.
    """

    size: int
    ratio: float


class Decoder:
    """Undoes the content codings of one body.

    It `is_cut` when it is longer than the bounds allow, `is_broken` when the coded bytes are wrong or ended too early,
    which is known for sure after `finish`.
    """

    def __init__(self, codings: Sequence[str], bounds: DecodingBounds) -> None:
        """Prepare for a body, with the codings in the order in which they were applied.

        Raises:
            Bomb: there are more codings on each other than anybody honest applies.
        """
        names = [_KNOWN[name] for name in codings if name in _KNOWN]
        if len(names) - names.count(UNSAID) > MOST_LAYERS:
            raise Bomb(f"{len(names)} codings on each other")
        self.is_cut = False
        self.is_broken = False
        self._layers = [_Layer(name, bounds) for name in reversed(names)]
        self._left = bounds.size

    @property
    def is_complete(self) -> bool:
        """True if the coded bytes themselves say that all of them are here."""
        coded = [layer for layer in self._layers if not layer.is_plain]
        return bool(coded) and all(layer.is_complete for layer in coded)

    def feed(self, data: bytes) -> list[bytes]:
        """Decode bytes; return nothing more once the body `is_cut` or `is_broken`.

        Raises:
            Bomb: decoded, the body is many times as long as what came.
        """
        return self._take([data] if data else [], last=False)

    def finish(self) -> list[bytes]:
        """Return the bytes that were held back, now that no more will come.

        Raises:
            Bomb: see `feed`.
        """
        pieces = self._take([], last=True)
        self.is_broken = self.is_broken or any(layer.is_broken for layer in self._layers)
        return pieces

    def _take(self, data: list[bytes], *, last: bool) -> list[bytes]:
        if self.is_cut or self.is_broken:
            return []
        pieces: Iterator[bytes] = iter(data)
        for layer in self._layers:
            pieces = layer.run(pieces, last=last)
        taken: list[bytes] = []
        for piece in pieces:
            if len(piece) > self._left:
                piece = piece[: self._left]  # noqa: PLW2901
                self.is_cut = True
            self._left -= len(piece)
            taken.append(piece)
            if self.is_cut:
                break
        self.is_cut = self.is_cut or any(layer.is_cut for layer in self._layers)
        self.is_broken = self.is_broken or any(layer.is_wrong for layer in self._layers)
        return taken


class _Method(Protocol):
    def decode(self, data: bytes) -> Iterator[bytes]:
        """Take bytes, return pieces of bounded length."""

    @property
    def is_whole(self) -> bool:
        """True if all data of the member came."""

    @property
    def is_over(self) -> bool:
        """True if the member has ended."""

    @property
    def rest(self) -> bytes:
        """Bytes after the end of the member."""


class _Layer:
    """One content coding, recognised by its first bytes; `is_plain` if there is none."""

    def __init__(self, name: str, bounds: DecodingBounds) -> None:
        self.is_wrong = False
        self.is_cut = False
        self._name = name
        self._bounds = bounds
        self._buffered = b""
        self._make: Callable[[], _Method] | None = None
        self._method: _Method | None = None
        self.is_plain = False
        self._members = 0
        self._coded_bytes = 0
        self._decoded_bytes = 0

    @property
    def is_broken(self) -> bool:
        return self.is_wrong or (self._method is not None and not self._method.is_whole)

    @property
    def is_complete(self) -> bool:
        return not self.is_wrong and self._method is not None and self._method.is_whole

    def run(self, pieces: Iterator[bytes], *, last: bool) -> Iterator[bytes]:
        for piece in pieces:
            if self.is_plain:
                yield piece
                continue
            # In small bites: what is not used yet must not count as what made the output.
            for at in range(0, len(piece), _BITE):
                yield from self._feed(piece[at : at + _BITE])
                if self.is_wrong or self.is_cut:
                    return
        if last and self._buffered:
            yield from self._start()

    def _feed(self, data: bytes) -> Iterator[bytes]:
        self._coded_bytes += len(data)
        if self.is_plain:
            yield data
        elif self._method is None:
            self._buffered += data
            if len(self._buffered) >= _ENOUGH_TO_JUDGE:
                yield from self._start()
        else:
            yield from self._decode(data)

    def _start(self) -> Iterator[bytes]:
        data, self._buffered = self._buffered, b""
        self._make = _method_for(self._name, data)
        if self._make is None:
            self.is_plain = True
            yield data
            return
        self._method = self._make()
        yield from self._decode(data)

    def _decode(self, data: bytes) -> Iterator[bytes]:
        assert self._method is not None
        assert self._make is not None
        while True:
            if self._method.is_over:
                data = self._method.rest + data
                # Another member may follow; anything else after the end is passed over, as browsers do.
                if self._name == "br" or not data.startswith((_GZIP, _ZSTD)) or self._members >= _MOST_MEMBERS:
                    return
                self._members += 1
                self._method = self._make()
            yield from self._bounded(self._method, data)
            if self.is_wrong or self.is_cut or not self._method.is_over:
                return
            data = b""

    def _bounded(self, method: _Method, data: bytes) -> Iterator[bytes]:
        pieces = method.decode(data)
        while True:
            try:
                piece = next(pieces, None)
            except _ERRORS:
                self.is_wrong = True
                return
            if piece is None:
                return
            self._decoded_bytes += len(piece)
            if self._decoded_bytes > _HARMLESS and self._decoded_bytes > self._bounds.ratio * self._coded_bytes:
                raise Bomb(f"{self._decoded_bytes} bytes of {self._coded_bytes}")
            yield piece
            if self._decoded_bytes > self._bounds.size:
                self.is_cut = True
                return


class _Deflate:
    """Deflated data between a header and a checksum that is not verified.

    `head` returns the header's length if it is all there, None if not; it raises `zlib.error` if it is wrong.
    """

    def __init__(self, head: Callable[[bytes], int | None], trailer: int) -> None:
        self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
        self._head: Callable[[bytes], int | None] | None = head
        self._buffered = b""
        self._trailer = trailer
        self._after = b""

    def decode(self, data: bytes) -> Iterator[bytes]:
        if self._head is not None:
            self._buffered += data
            length = self._head(self._buffered)
            if length is None:
                return
            data, self._buffered, self._head = self._buffered[length:], b"", None
        if not self._inner.eof:
            yield from self._inflate(data)
            data = self._inner.unused_data
        if self._inner.eof:
            self._after += data

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data or self._inner.unconsumed_tail:
            piece = self._inner.decompress(
                self._inner.unconsumed_tail + data if data else self._inner.unconsumed_tail, _PIECE
            )
            data = b""
            if piece:
                yield piece
            if self._inner.eof or (not piece and not self._inner.unconsumed_tail):
                return

    @property
    def is_whole(self) -> bool:
        return self._inner.eof

    @property
    def is_over(self) -> bool:
        return self._inner.eof and len(self._after) >= self._trailer

    @property
    def rest(self) -> bytes:
        return self._after[self._trailer :]


def _no_head(_: bytes) -> int | None:
    return 0


def _zlib_head(data: bytes) -> int | None:
    if data[1:2] and data[1] & 0x20:
        raise zlib.error("a dictionary that nobody has")
    return 2 if len(data) >= 2 else None


def _gzip_head(data: bytes) -> int | None:
    """Return the length of a gzip header (RFC 1952, 2.3) once it is all there."""
    if len(data) > _MOST_GZIP_HEAD or data[3:4] > b"\x1f":
        raise zlib.error("no gzip header")
    if len(data) < 10:
        return None
    flags, at = data[3], 10
    if flags & 4:  # an extra field
        if len(data) < 12:
            return None
        at += 2 + int.from_bytes(data[10:12], "little")
    for named in (8, 16):  # the name of a file, a comment
        if flags & named:
            stop = data.find(b"\0", at)
            if stop < 0:
                return None
            at = stop + 1
    at += flags & 2  # a checksum of the header, of two bytes
    return at if len(data) >= at else None


class _Zstd:
    def __init__(self) -> None:
        self._inner = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW_LOG})

    def decode(self, data: bytes) -> Iterator[bytes]:
        while not self._inner.eof:
            piece = self._inner.decompress(data, _PIECE)
            data = b""
            if piece:
                yield piece
            elif self._inner.needs_input:
                return

    @property
    def is_whole(self) -> bool:
        return self._inner.eof

    @property
    def is_over(self) -> bool:
        return self._inner.eof

    @property
    def rest(self) -> bytes:
        return self._inner.unused_data


class _Brotli:
    """Brotli; it says nothing of what follows its end."""

    rest = b""

    def __init__(self) -> None:
        self._inner = brotli.Decompressor()

    def decode(self, data: bytes) -> Iterator[bytes]:
        while not self._inner.is_finished():
            piece = self._inner.process(data, output_buffer_limit=_PIECE)
            data = b""
            if piece:
                yield piece
            if self._inner.can_accept_more_data():
                return

    @property
    def is_whole(self) -> bool:
        return bool(self._inner.is_finished())

    @property
    def is_over(self) -> bool:
        return self.is_whole


def _method_for(name: str, head: bytes) -> Callable[[], _Method] | None:
    """Choose a decoder by the first bytes, else by name; None if they are plain."""
    if head.startswith(_GZIP):
        return lambda: _Deflate(_gzip_head, 8)
    if head.startswith(_ZSTD):
        return _Zstd
    if _is_zlib(head) and name not in {"br", UNSAID}:
        return lambda: _Deflate(_zlib_head, 4)
    if name in {"gzip", "zstd", UNSAID} or _looks_plain(head):
        return None
    return _Brotli if name == "br" else lambda: _Deflate(_no_head, 0)


def _is_zlib(head: bytes) -> bool:
    return len(head) > 1 and head[0] & 0x0F == 8 and head[0] >> 4 <= 7 and (head[0] << 8 | head[1]) % 31 == 0


def _looks_plain(head: bytes) -> bool:
    """Tell whether bytes begin a text: coded bytes are full of control characters."""
    start = head[:256]
    if any(byte < 32 and byte not in (9, 10, 12, 13) for byte in start):
        return False
    if start.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"{", b"[")):
        return True
    try:
        start.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(start) - 3 and len(start) >= _ENOUGH_TO_JUDGE  # cut within a character
    return True
