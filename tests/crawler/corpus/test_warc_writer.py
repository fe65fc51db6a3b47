"""WARC files as they are written: records, several files, kills, full disks."""

from __future__ import annotations

import asyncio
import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.corpus.warc import ArchivedResponse, files, response_at, responses
from crawler.corpus.warc_records import Bodies, Fetch
from crawler.corpus.warc_writer import Archive, ArchiveError
from db.records.outcome import ArchivePlace
from pipelines.item import CutBy, WireExchange

ROOT = Path(__file__).parents[3]
AT = 1_714_521_600.25
BODY = "<p>港口新闻。</p>".encode() * 40
REQUEST = b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nProxy-Authorization: Basic c2VjcmV0\r\nA: b\r\n\r\n"


def answer(body: bytes = BODY, head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n") -> bytes:
    packed = gzip.compress(body, mtime=0)
    coded = head + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    return coded + b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)


def fetch(path: str, wire: bytes | None = None, seconds: float = 0.0, **more: object) -> Fetch:
    cut = more.pop("cut", None)
    exchange = WireExchange(REQUEST, answer() if wire is None else wire, cut)  # type: ignore[arg-type]
    return Fetch(f"http://a.example{path}", AT + seconds, exchange, "192.0.2.7", **more)  # type: ignore[arg-type]


def write(folder: Path, fetches: Sequence[Fetch], most_bytes: int = 1 << 30) -> list[ArchivePlace]:
    async def all_of_them() -> list[ArchivePlace]:
        archive = Archive(folder, {"software": "test"}, most_bytes)
        places = [await archive.keep(one) for one in fetches]
        await archive.conversion("http://a.example/shown", b"<p>shown", AT, AT)
        await archive.close()
        return places

    return asyncio.run(all_of_them())


def checked(path: Path) -> list[dict[str, str]]:
    """Fields of all records, as another library reads them and checks the digests."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            content = record.content_stream().read() if record.rec_type == "request" else record.raw_stream.read()
            fields = dict(record.rec_headers.headers)
            if record.http_headers is not None:
                fields["http"] = record.http_headers.to_str()
            found.append(fields | {"content": content.decode("latin-1")})
    return found


def read(path: Path) -> list[ArchivedResponse]:
    notes: list[str] = []
    found = list(responses(path, 0, path.stat().st_size, notes, Bodies()))
    assert notes == []
    return found


def test_request_and_answer_are_kept_as_they_went_over_the_wire(tmp_path: Path) -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    places = write(tmp_path, [fetch("/1", interim + answer(), purpose="sitemap"), fetch("/2", answer(BODY * 2))])
    [path] = files(tmp_path)
    about, first, request, second, _, shown = checked(path)
    assert (about["WARC-Type"], about["content"], about["WARC-Filename"]) == (
        "warcinfo",
        "software: test\r\n",
        path.name,
    )
    assert first["WARC-Date"] == "2024-05-01T00:00:00.250000Z"
    assert [first[name] for name in ("WARC-Target-URI", "WARC-IP-Address", "Crawl-Purpose")] == [
        "http://a.example/1",
        "192.0.2.7",
        "sitemap",
    ]
    assert first["content"].encode("latin-1") == answer().partition(b"\r\n\r\n")[2]
    assert request["WARC-Concurrent-To"] == first["WARC-Record-ID"]
    assert "A: b" in request["http"]
    assert "secret" not in gzip.decompress(path.read_bytes()).decode("latin-1").lower() + request["http"]
    assert "Proxy-Authorization" not in request["http"]
    assert "Crawl-Purpose" not in second
    assert (shown["WARC-Type"], shown["content"]) == ("conversion", "<p>shown")
    assert [response_at(path, place.offset).body for place in places] == [BODY, BODY * 2]
    assert [(one.url[-2:], one.body, one.fetched_at) for one in read(path)] == [("/1", BODY, AT), ("/2", BODY * 2, AT)]


def test_repeated_answer_names_the_first(tmp_path: Path) -> None:
    not_modified = b"HTTP/1.1 304 Not Modified\r\nETag: 1\r\n\r\n"
    short = b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"
    body = BODY + bytes(range(256)) * 2  # short ones are written again: a reference is as long
    long = answer(body)
    half = fetch("/5", long, cut=CutBy.TIME)
    old = {"known_at": AT - 9}
    fetches = [
        fetch("/1", long),
        fetch("/2", long, seconds=1),
        fetch("/1", not_modified, 2, **old),
        fetch("/3", short),
        fetch("/4", short),
    ]
    places = write(tmp_path, [*fetches, half])
    [path] = files(tmp_path)
    found = [one for one in checked(path) if one["WARC-Type"] in {"response", "revisit"}]
    assert [one["WARC-Type"] for one in found] == ["response", "revisit", "revisit", "response", "response", "response"]
    same, unchanged, truncated = found[1], found[2], found[5]
    assert same["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert (same["WARC-Refers-To-Target-URI"], same["WARC-Refers-To-Date"]) == (
        "http://a.example/1",
        found[0]["WARC-Date"],
    )
    assert (same["content"], same["WARC-Payload-Digest"]) == ("", found[0]["WARC-Payload-Digest"])
    assert unchanged["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    assert unchanged["WARC-Refers-To-Date"] == "2024-04-30T23:59:51.250000Z"
    assert truncated["WARC-Truncated"] == "time"
    assert places[1] == places[0]  # of the body
    assert [(one.status, one.body) for one in read(path)][:3] == [(200, body), (200, body), (304, b"")]


def test_new_file_is_begun_when_one_is_full(tmp_path: Path) -> None:
    places = write(tmp_path, [fetch(f"/{n}", answer(os.urandom(400))) for n in range(6)], most_bytes=2_000)
    found = files(tmp_path)
    assert len({place.file for place in places}) > 2
    assert {place.file for place in places} <= {path.name for path in found}
    assert [one.url[-1] for path in found for one in read(path)] == list("012345")
    assert [checked(path)[0]["WARC-Type"] for path in found] == ["warcinfo"] * len(found)


def test_archive_of_nothing_leaves_no_file(tmp_path: Path) -> None:
    asyncio.run(Archive(tmp_path / "new", {}).close())
    assert list((tmp_path / "new").iterdir()) == []


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.crawler.corpus.test_warc_writer import answer, fetch
from crawler.corpus.warc_writer import Archive
import os

async def write():
    archive = Archive(Path(sys.argv[1]), {})
    n = 0
    while True:
        await archive.keep(fetch(f"/{n}", answer(os.urandom(200_000))))
        print(n, flush=True)
        n += 1
asyncio.run(write())
"""


def test_killed_writer_leaves_whole_records_and_the_next_one_cuts_the_last(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(20):
            process.stdout.readline()
        [path] = tmp_path.glob("*.open")
        living = Archive(tmp_path, {})  # leaves a file alone that is being written
        asyncio.run(living.close())
        assert path.exists()
        process.send_signal(signal.SIGKILL)
        told = 20 + len(process.stdout.read().splitlines())
    with path.open("ab") as file:  # as if it had come so far with the next record
        file.write(path.read_bytes()[:300])
    assert write(tmp_path, []) == []
    assert not path.exists()
    mended = path.with_name(path.name.removesuffix(".open"))
    assert [one.url for one in read(mended)][:told] == [f"http://a.example/{n}" for n in range(told)]
    assert all(one["WARC-Type"] for one in checked(mended))


FULL = """
import asyncio, resource, signal, sys
from pathlib import Path
from tests.crawler.corpus.test_warc_writer import answer, fetch
from crawler.corpus.warc_writer import Archive, ArchiveError
import os

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

async def write():
    archive = Archive(Path(sys.argv[1]), {})
    try:
        for n in range(100):
            await archive.keep(fetch(f"/{n}", answer(os.urandom(9_000))))
    except ArchiveError as error:
        print(error)
    await archive.close()
asyncio.run(write())
"""


def test_file_ends_with_a_whole_record_when_nothing_more_can_be_written(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"the archive in {tmp_path} cannot be written (File too large); nothing is lost")
    [path] = files(tmp_path)
    assert len(read(path)) == (len(checked(path)) - 1) // 2 == 10


def test_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArchiveError, match="cannot be written"):
        Archive(tmp_path / "file", {})


def test_empty_file_of_a_process_that_has_just_begun_is_left_alone(tmp_path: Path) -> None:
    young, old = tmp_path / "a.warc.gz.open", tmp_path / "b.warc.gz.open"
    for path in (young, old):
        path.touch()
    os.utime(old, (time.time() - 3600,) * 2)
    asyncio.run(Archive(tmp_path, {}).close())
    assert (young.exists(), old.exists()) == (True, False)
