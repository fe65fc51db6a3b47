"""WARC files, whole and in ranges, sound and damaged."""

from __future__ import annotations

import gzip
import mmap
import struct
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

from crawler.corpus import warc
from crawler.corpus.saved_pages import InputError
from crawler.corpus.warc import ArchivedResponse, files, response_at, responses, why_none
from crawler.corpus.warc_records import Bodies
from db.records.outcome import ArchivePlace
from pipelines.item import CutBy
from tests.crawler.crawling import command

PAGES = [f"<title>第{n}页</title><p>{'港口新闻。' * (n + 1)}\r\n\r\nWARC/1.9 is no version</p>" for n in range(12)]


def record(kind: str, number: int, content: bytes, type_: str = "application/http; msgtype=response") -> bytes:
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{number}>\r\n"
        f"WARC-Target-URI: http://a.example/{number}.html\r\nWARC-Date: 2024-05-01T00:00:{number:02}Z\r\n"
        f"Content-Type: {type_}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content + b"\r\n\r\n"


def response(number: int, *, status: int = 200) -> bytes:
    body = gzip.compress(PAGES[number].encode("gbk"), mtime=0)
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    head = f"HTTP/1.1 {status} OK\r\nContent-Type: text/html; charset=gbk\r\n"
    return record(
        "response", number, f"{head}Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunks
    )


def records() -> list[bytes]:
    asked = record("request", 90, b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request")
    saved = record("resource", 11, PAGES[11].encode(), "text/html; charset=utf-8")
    return [asked, *(response(n) for n in range(11)), saved]


def written(folder: Path, parts: list[bytes], *, packed: bool) -> Path:
    path = folder / ("a.warc.gz" if packed else "a.warc")
    path.write_bytes(b"".join(gzip.compress(part, mtime=0) if packed else part for part in parts))
    return path


def cut(path: Path, parts: int) -> tuple[list[ArchivedResponse], list[str]]:
    size, notes = path.stat().st_size, list[str]()
    ends = [size * n // parts for n in range(parts + 1)]
    found = [one for start, end in pairwise(ends) for one in responses(path, start, end, notes)]
    return found, notes


BOTH = pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])


@BOTH
def test_every_response_is_read_once_however_the_file_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    path = written(tmp_path, records(), packed=packed)
    assert list(files(tmp_path)) == list(files(path)) == [path]
    whole, notes = cut(path, 1)
    assert ([one.body for one in whole], notes) == (
        [page.encode("gbk") for page in PAGES[:11]] + [PAGES[11].encode()],
        [],
    )
    third = ("urn:uuid:3", "http://a.example/3.html", 200, "text/html; charset=gbk", PAGES[3].encode("gbk"))
    assert replace(whole[3], headers=(), offset=0, place=None) == ArchivedResponse(*third, 1714521603.0)
    assert whole[3].place == ArchivePlace(path.name, whole[3].offset)
    assert response_at(path, whole[3].offset) == whole[3]
    for parts in (2, 5, 40, 3_000):
        assert cut(path, parts) == (whole, [])
    monkeypatch.setattr(warc, "_MOST_HELD", 0)  # memory is given back behind each record
    assert cut(path, 2) == (whole, [])


@BOTH
def test_damaged_records_are_passed_over_and_told_with_their_place(tmp_path: Path, *, packed: bool) -> None:
    parts = [gzip.compress(one, mtime=0) if packed else one for one in records()]
    if packed:
        middle = len(parts[4]) // 2
        parts[4] = parts[4][:middle] + bytes(20) + parts[4][middle + 20 :]
    else:
        parts[4] = parts[4].replace(b"Content-Length: ", b"Content-Length: 9")
    at = sum(map(len, parts[:4]))
    path = tmp_path / ("a.warc.gz" if packed else "a.warc")
    path.write_bytes(b"".join(parts)[:-30])  # the last one was half written
    for count in (1, 7):
        found, notes = cut(path, count)
        assert [one.id[9:] for one in found] == ["0", "1", "2", *map(str, range(4, 11))]
        assert [note.partition(" (")[0] for note in notes] == [
            f"{path}, byte {at:,}: a record was passed over",
            f"{path}, byte {sum(map(len, parts[:-1])):,}: a record was passed over",
        ]
        assert notes[-1].endswith("(it is cut off)")


def test_file_that_is_none_says_so(tmp_path: Path) -> None:
    path, empty = tmp_path / "a.warc", tmp_path / "b.warc"
    path.write_bytes(b"no record at all")
    empty.write_bytes(b"")
    assert cut(path, 1) == ([], [f"{path} does not begin with a record"])
    assert cut(empty, 1) == ([], [f"{empty} is empty"])
    assert (why_none(path), why_none(empty)) == (f"{path} is no WARC file", f"{empty} is empty")
    with pytest.raises(InputError, match="no page at byte 3"):
        response_at(path, 3)


def test_headers_of_bodies_that_are_kept_decoded_do_not_mislead(tmp_path: Path) -> None:
    """Common Crawl and others store bodies decoded, some with the old headers."""
    stale = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n"
    chunked = stale + b"Transfer-Encoding: chunked\r\n\r\n"
    blocks = [stale + b"\r\n" + PAGES[5].encode(), chunked + PAGES[6].encode(), b"no HTTP", b"HTTP/1.1 200 OK\n\nbare"]
    path = written(tmp_path, [record("response", n, block) for n, block in enumerate(blocks)], packed=True)
    found, notes = cut(path, 1)
    assert [one.body for one in found] == [PAGES[5].encode(), PAGES[6].encode(), b"bare"]
    assert [note.partition(": ")[2] for note in notes] == ["a damaged record was passed over (the answer is not HTTP)"]


def test_record_that_repeats_another_has_its_body(tmp_path: Path) -> None:
    same = b"WARC-Payload-Digest: sha1:AAAA\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
    first = response(2).replace(b"WARC-Type", b"WARC-Payload-Digest: sha1:AAAA\r\nWARC-Type", 1)
    again = record("revisit", 7, b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=gbk\r\n\r\n")
    again = again.replace(b"WARC-Type", same + b"\r\nWARC-Type", 1)
    path = written(tmp_path, [first, again, again.replace(b"AAAA", b"BBBB")], packed=True)
    notes: list[str] = []
    found = list(responses(path, 0, path.stat().st_size, notes, Bodies()))
    assert [one.body for one in found] == [PAGES[2].encode("gbk")] * 2
    assert found[1].place == found[0].place
    assert notes[0].endswith("(it repeats a record that is not in this archive)")
    assert len(cut(path, 1)[0]) == 1  # in ranges the other record may be anywhere


def test_beginning_of_a_body_is_known_as_one(tmp_path: Path) -> None:
    named = response(1).replace(b"WARC-Type", b"WARC-Truncated: length\r\nWARC-Type", 1)
    half = record("response", 3, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf of it")
    path = written(tmp_path, [named, half, response(4)], packed=False)
    assert [one.cut for one in cut(path, 1)[0]] == [CutBy.LENGTH, CutBy.DISCONNECT, None]


@BOTH
@pytest.mark.parametrize("length", ["9" * 5_000, "9" * 16, "-1", "+5", "x"])
def test_impossible_length_costs_its_record(tmp_path: Path, length: str, *, packed: bool) -> None:
    parts = records()
    parts[4] = parts[4].replace(b"Content-Length: ", b"Content-Length: " + length.encode() + b"\r\nX-Length: ", 1)
    found, notes = cut(written(tmp_path, parts, packed=packed), 1)
    assert [one.id[9:] for one in found] == ["0", "1", "2", *map(str, range(4, 12))]
    assert packed or len(notes) == 1


@pytest.mark.parametrize(
    "date",
    [
        "0000-00-00T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "10000-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z",
        "1601-01-01T00:00:00Z",
        "yesterday",
        "",
    ],
)
def test_impossible_date_costs_nothing_but_the_date(tmp_path: Path, date: str) -> None:
    parts = [part.replace(b"WARC-Date: 2024-05-01T00:00:03Z", b"WARC-Date: " + date.encode()) for part in records()]
    found, notes = cut(written(tmp_path, parts, packed=True), 1)
    assert (len(found), notes) == (12, [])
    assert datetime.fromtimestamp(found[3].fetched_at, UTC).year == 1970


def test_pages_of_impossible_dates_are_extracted(tmp_path: Path) -> None:
    parts = [part.replace(b"WARC-Date: 2024", b"WARC-Date: 9999") for part in records()]
    done = command("extract", "--format", "jsonl", str(written(tmp_path, parts, packed=True)))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 12


def test_heads_that_share_one_end_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked = []
    member = warc._member
    monkeypatch.setattr(warc, "_member", lambda data, at: unpacked.append(found := member(data, at)) or found)
    head = zlib.compressobj(wbits=31)
    begin = head.compress(b"WARC/1.1\r\n") + head.flush(zlib.Z_FULL_FLUSH)
    end = zlib.compressobj(wbits=-15)
    shared = end.compress(bytes(40 << 20)) + end.flush()
    path = tmp_path / "a.warc.gz"
    size = len(begin) + 5
    skips = [size * after for after in reversed(range(60))]  # each passes over the others as if they were content
    heads = b"".join(begin + struct.pack("<BHH", 0, skip, skip ^ 0xFFFF) for skip in skips)
    path.write_bytes(heads + shared + bytes(8) + gzip.compress(response(1)))
    found, notes = cut(path, 1)
    assert found == []
    assert notes[-1].endswith("too much of it is damaged; what follows was not read")
    assert sum(size for *_, size in unpacked) < 400 << 20
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        unpacked.clear()
        assert warc.whole_until(data) == len(data)
        assert len(unpacked) == 1
