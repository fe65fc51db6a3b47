"""Write WARC/1.1 records (ISO 28500), each a gzip member. Pure.

A server's answer is written as it came, nothing decoded; one that repeats another is a `revisit` that names it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeVar
from uuid import uuid4

from db.records.outcome import ArchivePlace
from pipelines.item import WireExchange

_REQUEST: Final = "application/http; msgtype=request"
_RESPONSE: Final = "application/http; msgtype=response"
SAME_BODY: Final = "/revisit/identical-payload-digest"
"""End of the profile of records that repeat a body, behind the version of the standard."""
_PROFILES: Final = "http://netpreserve.org/warc/1.1"
_NOT_MODIFIED: Final = f"{_PROFILES}/revisit/server-not-modified"
PURPOSE: Final = "Crawl-Purpose"
"""This crawler's own field: the purpose of a request for something other than a page (robots, sitemap, feed, probe)."""
SUBREQUEST: Final = "subrequest"
"""Purpose of the requests a page made while a browser showed it."""
PROBE: Final = "probe"
_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_INTERIM: Final = re.compile(rb"HTTP/[0-9.]+[ \t]+1[0-9]{2}(?![0-9])", re.IGNORECASE)
_SECRET: Final = re.compile(rb"(?im)^proxy-authorization:[^\n]*\n")
_CODED: Final = re.compile(rb"(?i)\ncontent-encoding:[ \t]*(?:x-)?(?:gzip|deflate|br|zstd)\b")
_GZIP_HEAD: Final = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
_GZIP_TAIL: Final = struct.Struct("<II")
_STORED: Final = struct.Struct("<BHH")
"""Head of a block stored as it is (RFC 1951, 3.2.4): compressing again what a server has compressed saves nothing."""
_MOST_STORED: Final = 0xFFFF
_LEVEL: Final = 3
"""Compression level: 6 saves 3 % of the bytes and takes 60 % longer (tests/benchmarks/archives.py --levels)."""
_LEAST_SHARED: Final = 256
"""Bytes of the shortest body that is written as a reference, which takes about as many itself."""
_MOST_KNOWN: Final = 200_000
"""Bodies remembered, some 300 bytes each: as many when reading as when writing, so that every reference is resolved."""


@dataclass(frozen=True, slots=True)
class Fetch:
    url: str
    at: float
    wire: WireExchange
    address: str = ""
    purpose: str = ""
    known_at: float | None = None


@dataclass(frozen=True, slots=True)
class Original:
    url: str
    date: str
    place: ArchivePlace | None = None


R = TypeVar("R")


class Bodies(OrderedDict[bytes, R]):
    """Maps digests of bodies to the records that hold them; the oldest are forgotten."""

    def note(self, digest: bytes, record: R) -> None:
        self.setdefault(digest, record)
        if len(self) > _MOST_KNOWN:
            self.popitem(last=False)


def date_of(at: float) -> str:
    """Write a time as WARC files do.

    >>> date_of(1714521603.25)
    '2024-05-01T00:00:03.250000Z'
    """
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def head_end(message: bytes) -> int:
    """Return where the body of an HTTP message begins; its length when there is none."""
    match = _HEAD_END.search(message)
    return match.end() if match is not None else len(message)


def fetched(
    fetch: Fetch, bodies: Bodies[Original], place: ArchivePlace | None = None
) -> tuple[list[bytes], ArchivePlace | None]:
    """Make the records of a fetch, its answer or a reference, and its request.

    They will stand at `place`; `bodies` gets this one. Returns the place of the body, too.
    """
    answer, date = _final(fetch.wire.answer), date_of(fetch.at)
    begin = head_end(answer)
    body = memoryview(answer)[begin:]
    digest = hashlib.sha1(body, usedforsecurity=False).digest()
    common = {"WARC-Target-URI": fetch.url, "WARC-Date": date}
    if fetch.address:
        common["WARC-IP-Address"] = fetch.address
    about = common | {"Content-Type": _RESPONSE}
    if fetch.purpose:
        about[PURPOSE] = fetch.purpose
    if fetch.wire.cut is not None:
        about["WARC-Truncated"] = fetch.wire.cut.value
    first = None
    if _status(answer) == b"304":
        about |= {"WARC-Profile": _NOT_MODIFIED}
        first = None if fetch.known_at is None else Original(fetch.url, date_of(fetch.known_at))
    else:
        about["WARC-Payload-Digest"] = _shown(digest)
        if len(body) >= _LEAST_SHARED and fetch.wire.cut is None:
            first = bodies.get(digest)
            if first is None:
                bodies.note(digest, Original(fetch.url, date, place))
            else:
                about |= {"WARC-Profile": f"{_PROFILES}{SAME_BODY}"}
                answer = answer[:begin]
    if first is not None:
        place = first.place or place
        about |= {"WARC-Refers-To-Target-URI": first.url, "WARC-Refers-To-Date": first.date}
    kind = "revisit" if "WARC-Profile" in about else "response"
    response_id = _new_id()
    asked = common | {"Content-Type": _REQUEST, "WARC-Concurrent-To": response_id}
    request = _SECRET.sub(b"", fetch.wire.request, count=1)
    is_coded = _CODED.search(answer, 0, begin) is not None
    response = packed(kind, about, answer, record_id=response_id, plain=begin if is_coded else len(answer))
    return [response, packed("request", asked, request)], place


def converted(url: str, at: float, html: bytes, of: str = "") -> bytes:
    """Make the record of a page as a browser shows it.

    `of` is the date of the record of its answer; empty if unknown.
    """
    about = {"WARC-Target-URI": url, "WARC-Date": date_of(at), "Content-Type": "text/html; charset=utf-8"}
    if of:
        about |= {"WARC-Refers-To-Target-URI": url, "WARC-Refers-To-Date": of}
    return packed("conversion", about, html)


def described(at: float, file: str, about: Mapping[str, str]) -> bytes:
    """Make the first record of a file, with information about it."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in about.items())
    head = {"WARC-Date": date_of(at), "WARC-Filename": file, "Content-Type": "application/warc-fields"}
    return packed("warcinfo", head, lines.encode())


def packed(
    kind: str, about: Mapping[str, str], block: bytes, *, record_id: str = "", plain: int | None = None
) -> bytes:
    """Make a record, as a gzip member; it gets a new identifier if none is given.

    `plain` is the length of the uncompressed beginning of the content; None: all of it.
    """
    head = {
        "WARC-Type": kind,
        "WARC-Record-ID": record_id or _new_id(),
        **about,
        "WARC-Block-Digest": _shown(hashlib.sha1(block, usedforsecurity=False).digest()),
        "Content-Length": str(len(block)),
    }
    fields = "".join(f"{name}: {_one_line(value)}\r\n" for name, value in head.items())
    top, end = b"WARC/1.1\r\n" + fields.encode() + b"\r\n", b"\r\n\r\n"
    plain = len(block) if plain is None else plain
    first, coded = top + block[:plain], memoryview(block)[plain:]
    pack = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    pieces: list[bytes | memoryview] = [_GZIP_HEAD, pack.compress(first), pack.flush(zlib.Z_SYNC_FLUSH)]
    for at in range(0, len(coded), _MOST_STORED):
        piece = coded[at : at + _MOST_STORED]
        pieces += [_STORED.pack(0, len(piece), len(piece) ^ 0xFFFF), piece]
    last = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)  # looks back at nothing before it
    pieces += [last.compress(end), last.flush()]
    check = zlib.crc32(end, zlib.crc32(coded, zlib.crc32(first)))
    size = len(first) + len(coded) + len(end)
    return b"".join([*pieces, _GZIP_TAIL.pack(check, size & 0xFFFFFFFF)])


def _final(answer: bytes) -> bytes:
    """Drop interim answers (1xx) before the one that counts."""
    while _INTERIM.match(answer):
        end = head_end(answer)
        if end >= len(answer):
            break
        answer = answer[end:]
    return answer


def _status(answer: bytes) -> bytes:
    return answer[:64].partition(b" ")[2].lstrip()[:3]


def _one_line(value: str) -> str:
    return value.replace("\r", " ").replace("\n", " ")


def _shown(digest: bytes) -> str:
    return f"sha1:{base64.b32encode(digest).decode()}"


def _new_id() -> str:
    return f"<urn:uuid:{uuid4()}>"
