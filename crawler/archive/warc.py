"""Read WARC files (ISO 28500), whole or in ranges of bytes.

Damaged records are passed over. A record begins a member of its own in a gzipped file, and behind an empty line in a
plain one; so a range can be read without what stands before it, and the next record be found behind a damaged one.
"""

from __future__ import annotations

import mmap
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.urls import canonicalize

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

SUFFIXES: Final = (".warc", ".warc.gz")
_MEMBER: Final = b"\x1f\x8b\x08"
_VERSION: Final = b"WARC/"
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*(\d+)")
_END: Final = b"\r\n\r\n"
_HEAD: Final = re.compile(rb"\r\n\r\nWARC/\d\.\d\r\n(?i:warc|content)-[a-zA-Z-]+:")
_MOST_HEAD: Final = 64 << 10
_PIECE: Final = 64 << 10
_SAMPLE: Final = 512
_GZIP: Final = 16 + zlib.MAX_WBITS
_NO_TIME: Final = 1.0
_MOST_RECORD: Final = 64 << 20
"""Bytes of a record, unpacked; a longer one is passed over."""


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """An HTTP response.

    Attributes:
        id: of its record.
        url, status, content_type, body: as it was; the body is decoded.
        fetched_at: Unix time.
    """

    id: str
    url: str
    status: int
    content_type: str
    body: bytes
    fetched_at: float


def files(path: Path) -> Sequence[Path]:
    """Return a WARC file, or those in a folder sorted by path; none for anything else."""
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.name.lower().endswith(SUFFIXES) and one.is_file())
    return [path] if path.name.lower().endswith(SUFFIXES) and path.is_file() else []


def responses(path: Path, start: int, end: int, notes: list[str]) -> Iterator[ArchivedResponse]:
    """Yield the responses of records that begin in a range of a file's bytes.

    Args:
        path: of the file.
        start: of the range.
        end: of the range.
        notes: get a sentence for each damaged record, with where it begins.

    Cost: the records before the range are not read; of a plain file their heads are.
    """
    from fastwarc.warc import ArchiveIterator, WarcRecordType  # noqa: PLC0415 - an extra

    wanted = WarcRecordType.response | WarcRecordType.resource
    for at, data in _records(path, start, end, notes):
        try:
            for record in ArchiveIterator(BytesIO(data), record_types=wanted, auto_decode="all"):
                yield _response(record)
        except (OSError, ValueError) as error:
            notes.append(f"{path}, byte {at:,}: a damaged record was passed over ({error})")


def _response(record: WarcRecord) -> ArchivedResponse:
    """Make a response of a record."""
    about = record.headers
    http = record.http_headers
    body = record.reader.read()
    try:
        seen = datetime.fromisoformat((about.get("WARC-Date") or "").replace("Z", "+00:00")).timestamp()
    except ValueError:
        seen = _NO_TIME
    url = (about.get("WARC-Target-URI") or "").strip("<>")
    return ArchivedResponse(
        id=(about.get("WARC-Record-ID") or "").strip("<>"),
        url=canonicalize(url) or url,
        status=200 if http is None else http.status_code or 0,
        content_type=(about if http is None else http).get("Content-Type") or "",
        body=body,
        fetched_at=seen,
    )


def _records(path: Path, start: int, end: int, notes: list[str]) -> Iterator[tuple[int, bytes]]:
    """Yield the records that begin in a range, unpacked, each with where it begins."""
    if path.stat().st_size == 0:
        notes.append(f"{path} is empty")
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_packed = data[: len(_MEMBER)] == _MEMBER
        following, whole = (_next_member, _member) if is_packed else (_next_head, _plain)
        at = following(data, start)
        if start == 0 and at != 0:
            notes.append(f"{path} does not begin with a record")
        while 0 <= at < end:
            record, behind, problem = whole(data, at)
            if problem:
                notes.append(f"{path}, byte {at:,}: a record was passed over ({problem})")
                behind = following(data, at + 1)
            else:
                yield at, record
                behind = following(data, behind)
            at = behind


def _next_member(data: mmap.mmap, at: int) -> int:
    """Return where the next gzip member begins that holds a record; -1: nowhere."""
    while (at := data.find(_MEMBER, at)) >= 0:
        with suppress(zlib.error):
            if zlib.decompressobj(_GZIP).decompress(data[at : at + _SAMPLE], len(_VERSION)) == _VERSION:
                return at
        at += 1
    return -1


def _member(data: mmap.mmap, at: int) -> tuple[bytes, int, str]:
    """Unpack a member; returns it, where it ends, and what is wrong with it."""
    unpack = zlib.decompressobj(_GZIP)
    pieces, size, behind = [], 0, at
    try:
        while not unpack.eof:
            packed = data[behind : behind + _PIECE]
            if not packed:
                return b"", behind, "it is cut off"
            pieces.append(unpack.decompress(packed, _MOST_RECORD - size + 1))
            size += len(pieces[-1])
            if size > _MOST_RECORD:
                return b"", behind, f"longer than {_MOST_RECORD >> 20} MB; a file packed as a whole has to be unpacked"
            behind += len(packed) - len(unpack.unused_data)
    except zlib.error as error:
        return b"", behind, str(error)
    return b"".join(pieces), behind, ""


def _next_head(data: mmap.mmap, at: int) -> int:
    """Return where the next plain record begins; -1: nowhere."""
    if at == 0 and data[: len(_VERSION)] == _VERSION:
        return 0
    found = _HEAD.search(data, max(0, at - len(_END)))
    return -1 if found is None else found.start() + len(_END)


def _plain(data: mmap.mmap, at: int) -> tuple[bytes, int, str]:
    """Return a plain record, the place behind it, and what is wrong with it."""
    head = data.find(_END, at, at + _MOST_HEAD)
    length = _LENGTH.search(data[at:head]) if head >= 0 else None
    if length is None:
        return b"", at, "its head has no length"
    end = head + len(_END) + int(length[1])
    if end > len(data):
        return b"", at, "it is cut off"
    if end + len(_END) < len(data) and data[end : end + len(_END)] != _END:
        return b"", at, "its length is wrong"
    return data[at:end], end + len(_END), ""
