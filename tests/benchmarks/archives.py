"""WARC files: CPU and bytes a page, beside libraries; a crawl and its archive.

    uv run --with fastwarc python -m tests.benchmarks.archives [--pages 10000] [--folder DIR] [--levels]
    uv run python -m tests.benchmarks.archives --round-trip    # a demo crawl, archived and read in again

The pages are those of the extraction benchmark (`BENCH_DATA`, or files in `--folder`), again and again with a comment
that makes each another; three of four come gzipped, as from most servers, and chunked. A library that is not installed
is left out. At the end `warcio check` looks at every digest.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from crawler.corpus import warc
from crawler.corpus import warc_records as records
from crawler.corpus.warc_records import Bodies, Fetch
from crawler.corpus.warc_writer import Archive
from pipelines.item import WireExchange

from .commands import crawl_command, new_parser
from .data import DATA

FOLDER = DATA / "extract"
SUFFIXES = (".html", ".htm", ".html.gz")
REQUEST = b"GET /%d.html HTTP/1.1\r\nHost: news.example\r\nUser-Agent: newscrawler/0.1\r\nAccept: text/html\r\n\r\n"
NOW = 1_714_521_600.0


def bodies(folder: Path, most: int = 2_000) -> list[bytes]:
    """Read pages, evenly spread over the folder."""
    paths = sorted(path for path in folder.rglob("*") if path.name.endswith(SUFFIXES))
    found = [path.read_bytes() for path in paths[:: max(1, len(paths) // most)]]
    return [gzip.decompress(one) if one[:2] == b"\x1f\x8b" else one for one in found]


def fetches(pages: list[bytes], count: int) -> Iterator[Fetch]:
    """Yield answers as they come from servers."""
    for n in range(count):
        body = b"%s<!-- %d -->" % (pages[n % len(pages)], n)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: nginx\r\n"
        if n % 4:
            packed = gzip.compress(body, 6, mtime=0)
            coded = b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
            answer = head + coded + b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
        else:
            answer = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
        yield Fetch(f"http://news.example/{n}.html", NOW + n / 7, WireExchange(REQUEST % n, answer), "192.0.2.1")


def ours(given: list[Fetch], folder: Path) -> float:
    """Write with the crawl's own archive; returns bytes a page."""

    async def write() -> None:
        archive = Archive(folder, {"software": "benchmark"})
        for one in given:
            await archive.keep(one)
        await archive.close()

    asyncio.run(write())
    return sum(path.stat().st_size for path in folder.iterdir()) / len(given)


def with_warcio(given: list[Fetch], folder: Path) -> float:
    """Write with warcio."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    path = folder / "warcio.warc.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="WARC/1.1")
        for one in given:
            head, _, body = one.wire.answer.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            fields = [tuple(line.split(": ", 1)) for line in lines[1:]]
            said = StatusAndHeaders(lines[0].partition(" ")[2], fields, protocol="HTTP/1.1")
            dated = {"WARC-Date": records.date_of(one.at), "WARC-IP-Address": one.address}
            answer = writer.create_warc_record(
                one.url, "response", io.BytesIO(body), http_headers=said, warc_headers_dict=dated
            )
            lines = one.wire.request.decode().strip().split("\r\n")
            asked = StatusAndHeaders(
                lines[0].partition(" ")[2],
                [tuple(line.split(": ", 1)) for line in lines[1:]],
                protocol="GET",
                is_http_request=True,
            )
            request = writer.create_warc_record(one.url, "request", http_headers=asked, warc_headers_dict=dated)
            writer.write_request_response_pair(request, answer)
            file.flush()
    return path.stat().st_size / len(given)


def with_fastwarc(given: list[Fetch], folder: Path) -> float:
    """Write with FastWARC."""
    from fastwarc.stream_io import GzipWriter
    from fastwarc.warc import WarcRecord, WarcRecordType

    path = folder / "fastwarc.warc.gz"
    with path.open("wb") as file:
        for one in given:
            for kind, block in ((WarcRecordType.response, one.wire.answer), (WarcRecordType.request, one.wire.request)):
                record = WarcRecord()
                record.init_headers(kind)
                record.headers["WARC-Target-URI"] = one.url
                record.headers["WARC-Date"] = records.date_of(one.at)
                record.set_bytes_content(block)
                packed = GzipWriter(file)
                record.write(packed, checksum_data=True)
                packed.close()
            file.flush()
    return path.stat().st_size / len(given)


def cost(work: Callable[[], float]) -> tuple[float, float]:
    """Return what some work returns, and its CPU seconds over all threads."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def read(folder: Path) -> float:
    """Read all answers decoded, with the crawl's own reader; returns how many."""
    known: Bodies[object] = Bodies()
    notes: list[str] = []
    count = sum(len(list(warc.responses(path, 0, path.stat().st_size, notes, known))) for path in warc.files(folder))
    assert notes == []
    return count


def is_clean(folder: Path) -> bool:
    """Tell whether warcio finds every digest right."""
    command = "from warcio.cli import main; main()"
    paths = [str(path) for path in warc.files(folder)]
    return subprocess.run([sys.executable, "-c", command, "check", *paths], check=False).returncode == 0


ASKED = {
    "articles": "SELECT url, title, text, authors, published_at, kind, duplicate_of, similarity FROM v_articles",
    "evidence of duplicates": "SELECT article_id, of_id, method, round(similarity, 6) FROM duplicate",
    "links": "SELECT source, target, block FROM link",
    "pages": "SELECT id, state, http_status, page_kind FROM url WHERE kind = 'page' AND visits > 0",
}


def round_trip() -> None:
    """Crawl the demo, read its archive into another database, and compare."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, seeds, more in (("a", "demo", {"STORE_WARC": folder / "warc"}), ("b", f"warc:{folder}/warc", {})):
            settings = {"DATABASE_URL": f"sqlite:///{folder}/{name}.db", "HOST_DELAY": 0, **more}
            subprocess.run(crawl_command(seeds, settings), check=True, stderr=subprocess.DEVNULL)
        for what, sql in ASKED.items():
            with sqlite3.connect(folder / "a.db") as first, sqlite3.connect(folder / "b.db") as second:
                before, after = (set(database.execute(sql)) for database in (first, second))
            print(f"{what}: {len(before)}, lost {len(before - after)}, new {len(after - before)}")


def main() -> None:
    """Print a line for each way."""
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--levels", action="store_true", help="compare levels of compression instead")
    parser.add_argument("--round-trip", action="store_true", help="compare a crawl with its archive instead")
    options = parser.parse_args()
    if options.round_trip:
        round_trip()
        return
    given = list(fetches(bodies(options.folder), options.pages))
    sent = sum(len(one.wire.answer) + len(one.wire.request) for one in given) / len(given)
    print(f"{len(given)} pages, {sent:,.0f} bytes each over the wire")
    if options.levels:
        for level in (1, 3, 4, 6, 9):
            began, size = time.process_time(), 0
            for one in given:
                pack = zlib.compressobj(level, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
                size += len(pack.compress(one.wire.answer) + pack.flush())
            spent = 1e3 * (time.process_time() - began) / len(given)
            print(f"level {level}: {spent:.3f} ms, {size / len(given):,.0f} bytes")
        return
    for name, write in (("own writer", ours), ("warcio", with_warcio), ("fastwarc", with_fastwarc)):
        if name != "own writer" and find_spec(name) is None:
            print(f"{name} is not installed")
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            size, seconds = cost(lambda write=write, folder=folder: write(given, folder))
            print(f"{name}: {1e3 * seconds / len(given):.3f} ms CPU and {size:,.0f} bytes a page")
            if name == "own writer":
                count, seconds = cost(lambda folder=folder: read(folder))
                assert count == len(given)
                print(f"  read by the own reader: {1e3 * seconds / len(given):.3f} ms CPU a page")
                if find_spec("warcio") is not None:
                    print(f"  warcio check: {'clean' if is_clean(folder) else 'NOT CLEAN'}")


if __name__ == "__main__":
    main()
