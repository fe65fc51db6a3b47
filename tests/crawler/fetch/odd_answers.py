"""Answers of servers that are not as the standards want them, and what is to be read of each."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass

import brotli

BODY = b"<html><body><p>" + "网页的一段文字，够长才能看出是不是全都到了。".encode() * 40 + b"</p></body></html>"
PACKED = gzip.compress(BODY)
OK = b"HTTP/1.1 200 OK\r\n"
HTML = b"Content-Type: text/html\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
GZIP = b"Content-Encoding: gzip\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
STALL = 1.0
"""Seconds without a byte that the test allows."""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer.

    Attributes:
        name: of the case.
        sent: bytes to send, and seconds to wait between them.
        body: the body that is to be read; None if the answer is of no use.
        status: the status that is to be read.
        waits: the server leaves the connection open, without a word.
        cut: the body is only a beginning.
    """

    name: str
    sent: tuple[bytes | float, ...]
    body: bytes | None = BODY
    status: int = 200
    waits: bool = False
    cut: bool = False


def _page(name: str, *sent: bytes | float, **more: object) -> Case:
    return Case(name, sent, **more)  # type: ignore[arg-type]


def _chunk(data: bytes, size: bytes = b"%x") -> bytes:
    return size % len(data) + b"\r\n" + data + b"\r\n"


def _redirect(name: str, *sent: bytes | float, status: int = 302, **more: object) -> Case:
    head = b"HTTP/1.1 %d Found\r\nLocation: /there\r\n" % status
    return Case(name, (head + b"".join(sent[:1]), *sent[1:]), status=status, **more)  # type: ignore[arg-type]


CASES = (
    # the status line
    _page("no reason", b"HTTP/1.1 200\r\n" + HTML + LENGTH + b"\r\n" + BODY),
    _page("small letters", b"http/1.1 200 ok\r\n" + HTML + LENGTH + b"\r\n" + BODY),
    _page("version 1.0", b"HTTP/1.0 200 OK\r\n" + HTML + b"\r\n" + BODY),
    _page("version 2 in words", b"HTTP/2 200\r\n" + HTML + LENGTH + b"\r\n" + BODY),
    _page("two blanks", b"HTTP/1.1  200  OK\r\n" + HTML + LENGTH + b"\r\n" + BODY),
    _page("reason in Chinese", b"HTTP/1.1 200 " + "成功".encode("gb18030") + b"\r\n" + HTML + LENGTH + b"\r\n" + BODY),
    _page("empty lines before", b"\r\n\r\n" + OK + HTML + LENGTH + b"\r\n" + BODY),
    _page("status out of range", b"HTTP/1.1 999 Denied\r\n" + HTML + LENGTH + b"\r\n" + BODY, status=999),
    # heads
    _page("bare line feeds", (OK + HTML + LENGTH + b"\r\n").replace(b"\r\n", b"\n") + BODY),
    _page("line that is no header", OK + b"no header here\r\n" + HTML + LENGTH + b"\r\n" + BODY),
    _page("blank before the colon", OK + b"Content-Length : %d\r\n" % len(BODY) + b"\r\n" + BODY, waits=True),
    _page("no blank after the colon", OK + b"Content-Length:%d\r\n\r\n" % len(BODY) + BODY, waits=True),
    _page("folded header", OK + b"X-Long: a\r\n b\r\n\tc\r\n" + LENGTH + b"\r\n" + BODY, waits=True),
    _page("bytes beyond ASCII", OK + b"X-Title: \xc4\xe3\xff\x80\r\n" + LENGTH + b"\r\n" + BODY, waits=True),
    _page("NUL in a header", OK + b"X-Odd: a\0b\r\n" + LENGTH + b"\r\n" + BODY, waits=True),
    _page("header without a name", OK + b": nothing\r\n" + LENGTH + b"\r\n" + BODY, waits=True),
    _page("header of 100 KB", OK + b"X-Long: " + b"x" * 100_000 + b"\r\n" + LENGTH + b"\r\n" + BODY, waits=True),
    _page("a thousand cookies", OK + b"Set-Cookie: a=b\r\n" * 1_000 + LENGTH + b"\r\n" + BODY, waits=True),
    _page("head byte by byte", *[bytes([one]) for one in OK + LENGTH + b"\r\n"], BODY, waits=True),
    _page("no headers at all", OK + b"\r\n" + BODY),
    # interim answers
    _page("100", b"HTTP/1.1 100 Continue\r\n\r\n" + OK + LENGTH + b"\r\n" + BODY, waits=True),
    _page("103", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.05, OK + LENGTH + b"\r\n" + BODY, waits=True),
    _page("20 interim answers", b"HTTP/1.1 102 Processing\r\n\r\n" * 20 + OK + LENGTH + b"\r\n" + BODY, waits=True),
    _page("silence after 102", b"HTTP/1.1 102 Processing\r\n\r\n", 1.5 * STALL, OK + LENGTH + b"\r\n" + BODY),
    _page("interim answers without end", *[b"HTTP/1.1 102 Processing\r\n\r\n" * 50] * 4, body=None, waits=True),
    # lengths
    _page("length twice", OK + LENGTH * 2 + b"\r\n" + BODY, waits=True),
    _page("length as a list", OK + LENGTH.replace(b"\r\n", b", %d\r\n" % len(BODY)) + b"\r\n" + BODY, waits=True),
    _page("two lengths", OK + LENGTH + b"Content-Length: 99999\r\n\r\n" + BODY),
    _page("length that is no number", OK + b"Content-Length: many\r\n\r\n" + BODY),
    _page("length below zero", OK + b"Content-Length: -1\r\n\r\n" + BODY),
    _page("length too short", OK + b"Content-Length: 100\r\n\r\n" + BODY, body=BODY[:100]),
    _page("length too long", OK + b"Content-Length: 99999\r\n\r\n" + BODY, cut=True),
    _page("length and chunks", OK + CHUNKED + b"Content-Length: 9\r\n\r\n" + _chunk(BODY) + b"0\r\n\r\n", waits=True),
    # chunks
    _page("chunks", OK + CHUNKED + b"\r\n" + _chunk(BODY[:99]) + _chunk(BODY[99:]) + b"0\r\n\r\n", waits=True),
    _page("chunks with bare line feeds", OK + CHUNKED + b"\r\n" + b"%x\n" % len(BODY) + BODY + b"\n0\n\n", waits=True),
    _page("chunk sizes with blanks", OK + CHUNKED + b"\r\n" + _chunk(BODY, b"  %X  ") + b"0\r\n\r\n", waits=True),
    _page("chunk sizes with zeros", OK + CHUNKED + b"\r\n" + _chunk(BODY, b"0000%x;a=b") + b"0\r\n\r\n", waits=True),
    _page("trailers", OK + CHUNKED + b"\r\n" + _chunk(BODY) + b"0\r\nX-Sum: 1\r\n\r\n", waits=True),
    _page("no last line after chunks", OK + CHUNKED + b"\r\n" + _chunk(BODY) + b"0\r\n", waits=True),
    _page("no last chunk", OK + CHUNKED + b"\r\n" + _chunk(BODY), cut=True),
    _page("chunked, but it is not", OK + CHUNKED + b"\r\n" + BODY),
    _page("chunked in capitals", OK + b"TRANSFER-ENCODING: Chunked\r\n\r\n" + _chunk(BODY) + b"0\r\n\r\n", waits=True),
    _page("chunked twice", OK + CHUNKED * 2 + b"\r\n" + _chunk(BODY) + b"0\r\n\r\n", waits=True),
    _page("identity", OK + b"Transfer-Encoding: identity\r\n" + LENGTH + b"\r\n" + BODY, waits=True),
    # codings
    _page("gzip", OK + GZIP + b"Content-Length: %d\r\n\r\n" % len(PACKED) + PACKED, waits=True),
    _page("gzip that is none", OK + GZIP + LENGTH + b"\r\n" + BODY, waits=True),
    _page("gzip twice, said once", OK + HTML + GZIP + b"\r\n" + gzip.compress(PACKED)),
    _page("gzip unsaid", OK + HTML + b"\r\n" + PACKED),
    _page("gzip in chunks of one byte", OK + GZIP + CHUNKED + b"\r\n" + b"".join(_chunk(bytes([b])) for b in PACKED)),
    _page("gzip, rubbish after it", OK + GZIP + b"\r\n" + PACKED + b"\0\0rubbish"),
    _page("gzip, no last chunk", OK + GZIP + CHUNKED + b"\r\n" + _chunk(PACKED)),
    _page("gzip, length too long, closed", OK + GZIP + b"Content-Length: 99999\r\n\r\n" + PACKED),
    _page("gzip, length too long", OK + GZIP + b"Content-Length: 99999\r\n\r\n" + PACKED, waits=True),
    _page("gzip without its trailer", OK + GZIP + b"Content-Length: %d\r\n\r\n" % (len(PACKED) - 8) + PACKED[:-8]),
    _page("gzip with half a trailer", OK + GZIP + b"\r\n" + PACKED[:-5]),
    _page("gzip with a wrong sum", OK + GZIP + b"\r\n" + PACKED[:-8] + b"\1\2\3\4" + PACKED[-4:]),
    _page(
        "gzip with a wrong sum, in chunks",
        OK + GZIP + CHUNKED + b"\r\n" + _chunk(PACKED[:-8] + bytes(8)) + b"0\r\n\r\n",
    ),
    _page(
        "gzip cut", OK + GZIP + b"\r\n" + PACKED[:-20], body=zlib.decompressobj(31).decompress(PACKED[:-20]), cut=True
    ),
    _page("gzip as transfer coding", OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + _chunk(PACKED) + b"0\r\n\r\n"),
    _page("deflate", OK + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(BODY)),
    _page("deflate with a wrong sum", OK + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(BODY)[:-4] + b"1234"),
    _page("deflate without head", OK + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(BODY)[2:-4]),
    _page("br", OK + b"Content-Encoding: br\r\n\r\n" + brotli.compress(BODY)),
    _page("br said to be gzip", OK + b"Content-Encoding: gzip, br\r\n\r\n" + brotli.compress(PACKED)),
    _page("unknown coding", OK + b"Content-Encoding: utf-8\r\n" + LENGTH + b"\r\n" + BODY),
    # what has no body, or one that never comes
    _page("304 with a length", b"HTTP/1.1 304 Not Modified\r\n" + LENGTH + b"\r\n", body=b"", status=304, waits=True),
    _page("204 with a body", b"HTTP/1.1 204 No Content\r\n" + LENGTH + b"\r\n" + BODY, body=b"", status=204),
    _redirect("redirect without a length", b"\r\n", body=b""),
    _redirect("redirect without a length, open", b"\r\n", body=b"", waits=True),
    _redirect("redirect whose body never comes", b"Content-Length: 500\r\n\r\n", body=b"", waits=True),
    _redirect("redirect whose chunks never come", CHUNKED + b"\r\n", body=b"", waits=True),
    _redirect("redirect whose body is lost", b"Content-Length: 500\r\n\r\n", body=b"", status=301),
    _redirect("redirect that calls nothing gzip", GZIP + b"Content-Length: 0\r\n\r\n", body=b"", waits=True),
    _page(
        "404 whose body never comes", b"HTTP/1.1 404 No\r\nContent-Length: 9\r\n\r\n", body=b"", status=404, waits=True
    ),
    _page(
        "503 whose body stops",
        b"HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nbusy",
        body=b"busy",
        status=503,
        waits=True,
    ),
    _page("page whose body never comes", OK + LENGTH + b"\r\n", body=None, waits=True),
    _page("page whose body stops", OK + LENGTH + b"\r\n" + BODY[:99], body=BODY[:99], waits=True, cut=True),
    # time
    _page("first byte late", 1.5 * STALL, OK + LENGTH + b"\r\n" + BODY, waits=True),
    _page("body after a pause", OK + LENGTH + b"\r\n", 0.5 * STALL, BODY[:99], 0.5 * STALL, BODY[99:], waits=True),
    _page("never a byte", body=None, waits=True),
    # no HTTP
    _page("SSH", b"SSH-2.0-OpenSSH_9\r\n", body=None),
    _page("nothing at all", body=None),
    _page("page without a head", BODY, body=None),
    _page("101", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", body=None),
)
"""All that are known, each tried as the first answer on a connection."""
