"""HTTP as servers send it: what a browser would show is read, and nothing that has no end is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.http_parser import HeadBounds, ParserState, ResponseParser, WireError
from tests.table import each_row

BOUNDS = HeadBounds()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
BODY = "<html><body><p>正文</p></body></html>".encode()
SIZED = HEAD + b"Content-Length: %d\r\n" % len(BODY)
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
MANY = b"".join(b"X-%d: v\r\n" % n for n in range(400))


def read(*parts: bytes, bounds: HeadBounds = BOUNDS, cleanly: bool = True) -> tuple[ResponseParser, bytes]:
    """Read an answer that comes in these parts and then ends."""
    reader = ResponseParser(bounds)
    body = b"".join(piece for part in parts for piece in reader.receive(part))
    if reader.state in {ParserState.HEAD, ParserState.BODY}:
        reader.end(cleanly=cleanly)
    return reader, body


def split(data: bytes, length: int) -> list[bytes]:
    return [data[at : at + length] for at in range(0, len(data), length)]


WHOLE = {
    "as it should be": SIZED + b"\r\n" + BODY,
    "no reason phrase": SIZED.replace(b" OK", b"") + b"\r\n" + BODY,
    "lower case": SIZED.lower() + b"\r\n" + BODY,
    "no minor version": SIZED.replace(b"HTTP/1.1", b"HTTP/2") + b"\r\n" + BODY,
    "line feeds only": SIZED.replace(b"\r", b"") + b"\n" + BODY,
    "empty lines before": b"\r\n\r\n" + SIZED + b"\r\n" + BODY,
    "12 KB header": SIZED + b"X-Big: " + b"a" * 12_000 + b"\r\n\r\n" + BODY,
    "200 KB header": SIZED + b"X-Huge: " + b"a" * 200_000 + b"\r\n\r\n" + BODY,
    "400 headers": MANY.join([HEAD, b"Content-Length: %d\r\n\r\n" % len(BODY)]) + BODY,
    "no headers at all": b"HTTP/1.1 200 OK\r\n\r\n" + BODY,
    "lines that are none": SIZED + b"no colon here\r\nX-Nul: a\xff\xfe\0b\r\n: empty\r\nA B: c\r\n\r\n" + BODY,
    "folded": SIZED + b"X-Long: a\r\n  b\r\n\tc\r\n\r\n" + BODY,
    "folded at the start": b"HTTP/1.1 200 OK\r\n folded\r\n" + SIZED.partition(b"\r\n")[2] + b"\r\n" + BODY,
    "blank before the colon": SIZED.replace(b"Length:", b"Length :") + b"\r\n" + BODY,
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\n\r\n" + BODY,
    "interim": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x.css>\r\n\r\n"
    + SIZED
    + b"\r\n"
    + BODY,
    "length said twice": SIZED + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY,
    "lengths in one": HEAD + b"Content-Length: %d, %d\r\n\r\n" % (len(BODY), len(BODY)) + BODY,
    "lengths that differ": SIZED + b"Content-Length: 5\r\n\r\n" + BODY,
    "larger length that differs": SIZED + b"Content-Length: 9999\r\n\r\n" + BODY,
    "length that is none": HEAD + b"Content-Length: -1\r\n\r\n" + BODY,
    "chunks": CHUNKED + b"5\r\n" + BODY[:5] + b"\r\n%X\r\n" % len(BODY[5:]) + BODY[5:] + b"\r\n0\r\n\r\n",
    "chunk extensions": CHUNKED + b'%x ;ext="a"\r\n' % len(BODY) + BODY + b"\r\n000;x\r\nTrailer: x\r\n\r\n",
    "chunks with line feeds": CHUNKED + b"%x\n" % len(BODY) + BODY + b"\n0\n\n",
    "no end after the last chunk": CHUNKED + b"%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n",
    "an empty line too many": CHUNKED + b"%x\r\n" % len(BODY) + BODY + b"\r\n\r\n\r\n0\r\n\r\n",
    "chunks and a length": SIZED + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n",
    "chunked, it says": CHUNKED + BODY,
}
BROKEN = {
    "length": SIZED + b"\r\n" + BODY[:-3],
    "chunk": CHUNKED + b"FF\r\n" + BODY,
    "no last chunk": CHUNKED + b"%x\r\n" % len(BODY) + BODY + b"\r\n",
    "blank lines between chunks": CHUNKED + b"%x\r\n" % len(BODY) + BODY + b"\r\n" * 500_000 + b"0\r\n\r\n",
    "no chunk": CHUNKED + b"%x\r\n" % len(BODY) + BODY + b"\r\nzz\r\n",
}


@each_row("name", WHOLE)
@each_row("length", [1 << 30, 7])
def test_odd_answers_are_whole(name: str, length: int) -> None:
    reader, body = read(*split(WHOLE[name], length))
    assert reader.head is not None
    assert (reader.state, reader.head.status, body) == (ParserState.WHOLE, 200, BODY)


@each_row("name", BROKEN)
def test_bodies_that_stop_before_their_end_are_not_whole(name: str) -> None:
    reader, body = read(BROKEN[name])
    assert reader.state is ParserState.BROKEN
    assert body
    assert not reader.is_reusable


def test_body_without_length_is_whole_unless_the_connection_fails() -> None:
    data = HEAD + b"\r\n" + BODY
    assert read(data)[0].state is ParserState.WHOLE
    assert read(data, cleanly=False)[0].state is ParserState.BROKEN


@each_row(
    "data",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n",
        b"<html>",
        b"SSH-2.0-OpenSSH_9\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 2000\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 100 \r\n\r\n" * 20,
        HEAD + b"X: y\r\n" * 400_000,
        b"H" * 100_000,
        b"HTTP" + b"x" * 100_000,
        HEAD + b"x" * 3_000_000,
    ],
)
def test_answers_without_http_or_end_are_given_up(data: bytes) -> None:
    with pytest.raises(WireError):
        read(*split(data, 60_000) or [b""])


def test_headers_beyond_the_bounds_are_dropped_and_counted_but_not_those_that_matter() -> None:
    wanted = b"Content-Type: text/html\r\nLocation: /x\r\nX-Last: 1\r\nContent-Length: 0\r\n\r\n"
    reader, _ = read(b"HTTP/1.1 302\r\n" + MANY + b"broken\r\n" + wanted, bounds=HeadBounds(size=64 << 10, lines=10))
    assert reader.head is not None
    assert reader.head.all(b"location") == [b"/x"]
    assert reader.head.all(b"content-type") == [b"text/html"]
    assert (reader.head.excess, reader.head.dropped, len(reader.head.headers)) == (391, 392, 13)
    flood, _ = read(HEAD + b"Location: /y\r\n" * 3_000 + b"\r\n", bounds=HeadBounds(size=4 << 10, lines=10))
    assert flood.head is not None
    assert len(flood.head.headers) < 25


def test_values_cannot_end_a_line() -> None:
    reader, _ = read(HEAD + b"X-A: a\rb\0c \r\n\r\n")
    assert reader.head is not None
    assert reader.head.all(b"x-a") == [b"a b c"]


@each_row(
    ("data", "reusable"),
    [
        (SIZED + b"\r\n" + BODY, True),
        (SIZED + b"Connection: close\r\n\r\n" + BODY, False),
        (SIZED.replace(b"1.1", b"1.0") + b"\r\n" + BODY, False),
        (SIZED.replace(b"1.1", b"1.0") + b"Connection: Keep-Alive\r\n\r\n" + BODY, True),
        (SIZED + b"\r\n" + BODY + b"more", False),
        (SIZED + b"Content-Length: 5\r\n\r\n" + BODY, False),
        (b"HTTP/1.1 304\r\n\r\n", True),
        (CHUNKED + b"1\r\nx\r\n0\r\n\r\n", True),
        (CHUNKED + b"1\r\nx\r\n0\r\n", False),
    ],
)
def test_connection_is_used_again_only_when_nothing_is_in_doubt(data: bytes, *, reusable: bool) -> None:
    assert read(data)[0].is_reusable is reusable


def test_codings_of_both_kinds() -> None:
    reader, _ = read(HEAD + b"Content-Encoding: br , GZIP\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
    assert reader.codings == ["br", "gzip", "gzip"]
    odd = b'Content-Encoding: "gzip", br;q=1\r\nTransfer-Encoding: "chunked"; x\r\n\r\n'
    reader, body = read(HEAD + odd + b"1\r\nx\r\n0\r\n")
    assert (reader.codings, body) == (["gzip", "br"], b"x")


@given(st.binary(max_size=400), st.integers(1, 50))
def test_noise_is_an_answer_or_an_error(noise: bytes, length: int) -> None:
    for data in (noise, b"HTTP/1.1 200 OK\r\n" + noise, CHUNKED + noise):
        try:
            reader, body = read(*split(data, length) or [b""])
        except WireError:
            continue
        assert reader.state in {ParserState.WHOLE, ParserState.BROKEN}
        assert len(body) <= len(data)
