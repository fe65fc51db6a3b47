"""Read WARC files (ISO 28500, 1.0 and 1.1), whole or in ranges of bytes.

Damaged records are skipped. In a gzipped file each record begins a member, in a plain one it follows an empty line. So
a range can be read without the bytes before it, and reading goes on behind a damaged record.
"""

from __future__ import annotations

import base64
import binascii
import mmap
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Final

from db.records.outcome import ArchivePlace, StoredPage
from pipelines.decode.zstd import UnpackError, decompress
from pipelines.item import CutBy
from pipelines.urls import canonicalize

from ..fetch.decompress import UNSAID, Bomb, Decoder, DecodingBounds
from ..fetch.http_parser import Chunked, HeadBounds, ParserState, ResponseParser, WireError
from .saved_pages import InputError, SavedPage
from .warc_records import PURPOSE, SAME_BODY, Bodies, head_end

SUFFIXES: Final = (".warc", ".warc.gz")
OPEN: Final = ".open"
"""Suffix of a file that is still being written."""
_MEMBER: Final = b"\x1f\x8b\x08"
_VERSION: Final = b"WARC/"
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*(\d{1,15})(?!\d)")
_END: Final = b"\r\n\r\n"
_HEAD: Final = re.compile(rb"\r\n\r\nWARC/\d\.\d\r\n(?i:warc|content)-[a-zA-Z-]+:")
_FOLD: Final = re.compile(r"\r\n[ \t]+")
_MOST_HEAD: Final = 64 << 10
_PIECE: Final = 64 << 10
_SAMPLE: Final = 512
_GZIP: Final = 16 + zlib.MAX_WBITS
_NO_TIME: Final = 1.0
_LAST_TIME: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()
_MOST_RECORD: Final = 64 << 20
"""Bytes of a record, unpacked; a longer one is skipped."""
_MOST_AT_ONCE: Final = 1 << 20
_MOST_DEFLATED: Final = 1032
"""Most bytes that one byte of deflate can become."""
_MOST_SPOILT: Final = 4 * _MOST_RECORD
_MOST_SPOILT_SHARE: Final = 16
"""Bound of the bytes unpacked from damaged records, per byte of the file; `_MOST_SPOILT` is the least bound. Heads that
share one end each unpack it.
"""
_MOST_HELD: Final = 32 << 20
"""Bytes of a file kept in memory behind the present record."""
_HTTP: Final = "application/http"
_ANSWERS: Final = frozenset({"response", "resource", "revisit"})
_MOST_SHOWN: Final = 64
"""Documents of browsers that wait for the answers they were made from, which come right behind them."""
_RATIO: Final = 200.0
"""As `FetchBounds.ratio`: whoever fetched the archive has let it through."""


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """An HTTP response of an archive, its body decoded.

    Attributes:
        fetched_at: Unix time.
        headers: lower-case names and values, as they came.
        address: IP address that answered; empty if unknown.
        purpose: of a request for something other than a page, as this crawler's archives have it.
        dom: the document that a browser made of it, in archives of this crawler.
        cut: why the body is only a beginning; None for a whole one.
        place: where the body is: in another record when this one repeats it; None for no body.
    """

    id: str
    url: str
    status: int
    content_type: str
    body: bytes
    fetched_at: float
    headers: tuple[tuple[bytes, bytes], ...] = ()
    address: str = ""
    purpose: str = ""
    dom: bytes = b""
    cut: CutBy | None = None
    offset: int = 0
    place: ArchivePlace | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    fields: Mapping[str, str]
    block: bytes

    def uri(self, name: str) -> str:
        return self.fields.get(name, "").strip("<>")


class NoAnswer(ValueError):
    """Raised when a record holds no readable answer; the text says why."""


def files(path: Path) -> Sequence[Path]:
    """Return a WARC file, or those of a folder sorted by path; nothing otherwise."""
    if path.is_dir():
        return sorted(one for one in path.rglob("*") if one.name.lower().endswith(SUFFIXES) and one.is_file())
    return [path] if path.name.lower().endswith(SUFFIXES) and path.is_file() else []


def why_none(path: Path) -> str:
    """Say why a file is not a WARC file; empty if it is one. Raises `OSError`."""
    with path.open("rb") as file:
        beginning = file.read(_SAMPLE)
    if not beginning:
        return f"{path} is empty"
    return "" if beginning.startswith(_VERSION) or _begins_record(beginning, 0) else f"{path} is no WARC file"


def responses(
    path: Path, start: int, end: int, notes: list[str], bodies: Bodies[ArchivePlace] | None = None
) -> Iterator[ArchivedResponse]:
    """Yield the responses of records that begin in a range of a file's bytes.

    Args:
        notes: gets a sentence for each damaged record, with its place.
        bodies: places of bodies that later records repeat, shared by several files; without it such records are
            skipped.

    Cost: records before the range are not read; in a plain file their heads are.
    """
    shown: dict[tuple[str, str], bytes] = {}
    for at, data in _records(path, start, end, notes):
        for record in _parsed(data):
            kind = record.fields.get("warc-type")
            if kind == "conversion" and len(shown) < _MOST_SHOWN:
                shown[record.uri("warc-refers-to-target-uri"), record.fields.get("warc-refers-to-date", "")] = (
                    record.block
                )
            if kind not in _ANSWERS or (kind == "revisit" and bodies is None):
                continue
            try:
                place = None if kind == "revisit" else ArchivePlace(path.name, at)
                answer = replace(_answer(record), offset=at, place=place)
                if kind == "revisit" and record.fields.get("warc-profile", "").endswith(SAME_BODY):
                    assert bodies is not None
                    answer = _repeated(answer, record, bodies)
                elif bodies is not None and (digest := _digest(record)):
                    bodies.note(digest, ArchivePlace(str(path), at))
                of = record.uri("warc-target-uri"), record.fields.get("warc-date", "")
                yield replace(answer, dom=shown.pop(of)) if of in shown else answer
            except (OSError, NoAnswer) as error:
                notes.append(f"{path}, byte {at:,}: a damaged record was passed over ({error})")


def response_at(path: Path, offset: int) -> ArchivedResponse:
    """Read the response of one record; raises `InputError` with a sentence."""
    notes: list[str] = []
    try:
        response = next(responses(path, offset, offset + 1, notes), None)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if response is None:
        raise InputError(notes[0] if notes else f"{path} has no page at byte {offset:,}")
    return response


def stored_bytes(stored: StoredPage, folder: str, most_bytes: int) -> bytes:
    """Return a page from the database or its archive; raises `InputError` if damaged."""
    if stored.body or stored.archived is None:
        return unpacked(stored.body, most_bytes)
    name = stored.archived.file
    if not folder:
        raise InputError(f"it is in the archive {name}; name its folder in STORE_WARC")
    path = Path(folder) / name
    # the file has another name as long as it is written
    body = response_at(path if path.exists() else Path(f"{path}{OPEN}"), stored.archived.offset).body
    if len(body) > most_bytes:
        raise InputError(f"longer than {most_bytes} bytes")
    return body


def unpacked(packed: bytes, most_bytes: int) -> bytes:
    """Unpack a body or document that a database holds; raises `InputError` if damaged."""
    try:
        # a crawl with a higher DOWNLOAD_MAXSIZE may have let it through
        return decompress(packed, max(most_bytes, _MOST_RECORD))
    except UnpackError as problem:
        raise InputError(f"could not be unpacked ({problem})") from None


def whole_until(data: mmap.mmap) -> int:
    """Return where the last whole record of a gzipped file ends; 0 if there is none.

    The search begins at the end. If a page's content looks like too many damaged records, the file is read from its
    beginning instead, which is less work then.
    """
    at, spoilt, most = len(data), 0, _most_spoilt(data)
    while spoilt <= most and (at := data.rfind(_MEMBER, 0, at)) >= 0:
        if _begins_record(data, at):
            _, behind, problem, size = _member(data, at)
            if not problem:
                return behind
            spoilt += size
    end = 0
    while spoilt > most and data[end : end + len(_MEMBER)] == _MEMBER:
        _, behind, problem, _ = _member(data, end)
        if problem:
            break
        end = behind
    return end


def _parsed(data: bytes) -> Iterator[_Record]:
    """Yield the records of a gzip member: one, or all of a file gzipped as a whole."""
    at = 0
    while data.startswith(_VERSION, at):
        head = data.find(_END, at, at + _MOST_HEAD)
        length = _LENGTH.search(data[at:head]) if head >= 0 else None
        if length is None:
            return
        lines = _FOLD.sub(" ", data[at:head].decode("utf-8", "replace")).split("\r\n")[1:]
        fields: dict[str, str] = {}
        for line in lines:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip().lower(), value.strip())
        begin = head + len(_END)
        at = begin + int(length[1])
        yield _Record(fields, data[begin:at])
        at += len(_END)


def _answer(record: _Record) -> ArchivedResponse:
    fields = record.fields
    try:
        fetched_at = datetime.fromisoformat(fields.get("warc-date", "").replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        fetched_at = _NO_TIME
    if not _NO_TIME <= fetched_at < _LAST_TIME:
        fetched_at = _NO_TIME
    url = record.uri("warc-target-uri")
    cut = fields.get("warc-truncated")
    answer = ArchivedResponse(
        id=record.uri("warc-record-id"),
        url=canonicalize(url) or url,
        status=200,
        content_type=fields.get("content-type", ""),
        body=record.block,
        fetched_at=fetched_at,
        address=fields.get("warc-ip-address", ""),
        purpose=fields.get(PURPOSE.lower(), ""),
        cut=None if not cut else CutBy(cut) if cut in set(CutBy) else CutBy.UNSPECIFIED,
    )
    is_http = answer.content_type.replace(" ", "").lower().startswith(_HTTP)
    return _decoded(answer) if is_http or fields["warc-type"] != "resource" else answer


def _decoded(answer: ArchivedResponse) -> ArchivedResponse:
    """Read the HTTP message in a record.

    The length of the record counts: where an archive keeps bodies decoded, the headers may still tell the length and
    coding they had.
    """
    begin = head_end(answer.body)
    parser = ResponseParser(HeadBounds())
    try:
        parser.receive(answer.body[:begin])
        if parser.head is None:
            raise NoAnswer("its content is no HTTP answer")
        pieces, cut = [answer.body[begin:]], answer.cut
        if "chunked" in parser.head.tokens(b"transfer-encoding"):
            chunked = Chunked()
            pieces = chunked.receive(pieces[0])
            if chunked.state is not ParserState.WHOLE and not chunked.may_end():
                cut = cut or CutBy.DISCONNECT
        content_type = b"".join(parser.head.all(b"content-type")[:1]).decode("latin-1")
        unsaid = [UNSAID] if content_type.lstrip().lower().startswith(("text/html", "application/xhtml")) else []
        decoder = Decoder([*unsaid, *parser.codings], DecodingBounds(_MOST_RECORD, _RATIO))
        decoded = [one for piece in pieces for one in decoder.feed(piece)]
        body = b"".join([*decoded, *decoder.finish()])
    except (WireError, Bomb) as error:
        raise NoAnswer(str(error)) from None
    if decoder.is_broken:
        cut = cut or CutBy.UNSPECIFIED
    return replace(
        answer,
        status=parser.head.status,
        content_type=content_type,
        body=body,
        headers=parser.head.headers,
        cut=cut,
    )


def _repeated(answer: ArchivedResponse, record: _Record, bodies: Bodies[ArchivePlace]) -> ArchivedResponse:
    place = bodies.get(_digest(record))
    if place is None:
        raise NoAnswer("it repeats a record that is not in this archive")
    try:
        original = response_at(Path(place.file), place.offset)
    except InputError as error:
        raise NoAnswer(str(error)) from None
    return replace(answer, body=original.body, cut=original.cut, place=original.place)


def _digest(record: _Record) -> bytes:
    name, _, shown = record.fields.get("warc-payload-digest", "").partition(":")
    with suppress(binascii.Error, ValueError):
        if name.lower() == "sha1":
            return base64.b32decode(shown.upper())
    return shown.encode()


def _records(path: Path, start: int, end: int, notes: list[str]) -> Iterator[tuple[int, bytes]]:
    if path.stat().st_size == 0:
        notes.append(f"{path} is empty")
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        is_packed = data[: len(_MEMBER)] == _MEMBER
        following, whole = (_next_member, _member) if is_packed else (_next_head, _plain)
        at = following(data, start)
        if start == 0 and at != 0:
            notes.append(f"{path} does not begin with a record")
        held = start - start % mmap.ALLOCATIONGRANULARITY
        spoilt = 0
        while 0 <= at < end:
            if at - held > _MOST_HELD:
                held = _release(data, held, at)
            record, behind, problem, size = whole(data, at)
            if problem:
                notes.append(f"{path}, byte {at:,}: a record was passed over ({problem})")
                spoilt += size
                if spoilt > _most_spoilt(data):
                    notes.append(f"{path}, byte {at:,}: too much of it is damaged; what follows was not read")
                    return
                behind = following(data, at + 1)
            else:
                yield at, record
                behind = following(data, behind)
            at = behind


def _release(data: mmap.mmap, held: int, at: int) -> int:
    """Release the memory of the file before a place; return where it is still held."""
    until = at - at % mmap.ALLOCATIONGRANULARITY
    if hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED, held, until - held)
    return until


def _next_member(data: mmap.mmap, at: int) -> int:
    """Return where the next gzip member with a record begins; -1 if there is none."""
    while (at := data.find(_MEMBER, at)) >= 0:
        if _begins_record(data, at):
            return at
        at += 1
    return -1


def _begins_record(data: mmap.mmap | bytes, at: int) -> bool:
    with suppress(zlib.error):
        return zlib.decompressobj(_GZIP).decompress(data[at : at + _SAMPLE], len(_VERSION)) == _VERSION
    return False


def _most_spoilt(data: mmap.mmap) -> int:
    return max(_MOST_SPOILT, _MOST_SPOILT_SHARE * len(data))


def _member(data: mmap.mmap, at: int) -> tuple[bytes, int, str, int]:
    """Unpack a member; return it, its end, its problem, and the bytes unpacked."""
    unpack = zlib.decompressobj(_GZIP)
    pieces: list[bytes] = []
    size, behind, packed = 0, at, b""
    try:
        while not unpack.eof:
            packed = unpack.unconsumed_tail or data[behind : (behind := behind + _PIECE)]
            if not packed:
                return b"", behind, "it is cut off", size
            pieces.append(unpack.decompress(packed, _MOST_AT_ONCE))
            size += len(pieces[-1])
            if size > _MOST_RECORD:
                problem = f"longer than {_MOST_RECORD >> 20} MB; a file packed as a whole has to be unpacked"
                return b"", behind, problem, size
    except zlib.error as error:
        return b"", behind, str(error), size + min(_MOST_AT_ONCE, _MOST_DEFLATED * len(packed))
    return b"".join(pieces), min(behind, len(data)) - len(unpack.unused_data), "", size


def _next_head(data: mmap.mmap, at: int) -> int:
    if at == 0 and data[: len(_VERSION)] == _VERSION:
        return 0
    match = _HEAD.search(data, max(0, at - len(_END)))
    return -1 if match is None else match.start() + len(_END)


def _plain(data: mmap.mmap, at: int) -> tuple[bytes, int, str, int]:
    """Return a plain record as `_member` returns one."""
    head = data.find(_END, at, at + _MOST_HEAD)
    length = _LENGTH.search(data[at:head]) if head >= 0 else None
    if length is None:
        return b"", at, "its head has no length", 0
    end = head + len(_END) + int(length[1])
    if end > len(data):
        return b"", at, "it is cut off", 0
    if end + len(_END) < len(data) and data[end : end + len(_END)] != _END:
        return b"", at, "its length is wrong", 0
    return data[at:end], end + len(_END), "", 0


def pages_of_archives(paths: Sequence[Path], notes: list[str]) -> Iterator[SavedPage]:
    """Yield the pages of WARC files that were answered with 200; note damaged records.

    The files are read from end to end, so a record that repeats another's body finds it, and a browser's document its
    answer, which ranges of bytes cannot.
    """
    bodies: Bodies[ArchivePlace] = Bodies()
    for path in paths:
        for one in responses(path, 0, path.stat().st_size, notes, bodies):
            if one.status == HTTPStatus.OK and not one.purpose:
                problem = "" if one.cut is None else f"only the beginning is there ({one.cut})"
                at = one.fetched_at
                yield SavedPage(one.url, str(path), one.url, None, one.body, one.content_type, at, problem, one.dom)
