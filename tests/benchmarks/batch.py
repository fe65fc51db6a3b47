"""Batches over stored pages: CPU a page and efficiency by workers, the same output after kills, bounded memory.

    uv run python -m tests.benchmarks.batch [--pages 10000] [--workers 1,2,4] [--many 0] [--kills 3]

Pages of about 50 KB with 60 links each stand in the table `page` of a SQLite file; the real command extracts them with
each number of workers. Pages a second are those from the first partition that is done to the last (beside it, of the
whole command); efficiency is that over the first number's. MB are summed over processes, what they share as often.
Then the command is run with the second number while a Dask worker, a process that reads pages and the whole command are
killed in turn, as often as was asked for. `--many` pages (100,000, say) are extracted by the second number of workers,
for the memory. The exit code is 1 when an output is not the same byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crawler.corpus.sources import StoredSource
from db.engine.database import open_for_crawl
from db.records.url import State
from db.tables.articles import PageRow
from db.tables.urls import UrlRow
from pipelines.decode import zstd
from pipelines.links.scope import identify

from .commands import new_parser
from .crawl_speed import Usage, family, watch
from .static_site import Site

_BATCH = 500
_WAIT_SECONDS = 0.05


def fill(path: Path, pages: int) -> None:
    """Make a database with so many stored pages."""
    site = Site(pages, 50, (8_000,))
    database = open_for_crawl(f"sqlite:///{path}")
    try:
        for first in range(0, pages, _BATCH):
            urls, bodies = [], []
            for number in range(first, min(first + _BATCH, pages)):
                target = identify(site.address(number))
                known = {"id": target.id, "url": target.url, "host_id": target.host_id, "kind": "page"}
                urls.append(known | {"state": State.DONE, "depth": 1, "score": 0.0, "found_in": 1, "found_at": 1.0})
                about = {"url_id": target.id, "fetched_at": 1.7e9, "content_type": "text/html", "encoding": "zstd"}
                bodies.append(about | {"body": zstd.compress(site.page(number))})
            with database.engine.begin() as connection:
                connection.execute(UrlRow.table().insert(), urls)
                connection.execute(PageRow.table().insert(), bodies)
    finally:
        database.close()


def arguments(database: Path, output: Path, workers: int) -> list[str]:
    """The command line."""
    command = [sys.executable, "-m", "scrapy", "batch", "extract", str(database), "--output", str(output)]
    return [*command, "--workers", str(workers)]


def digest(output: Path) -> str:
    """Digest of an output."""
    with output.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def run(database: Path, output: Path, workers: int) -> tuple[Usage, float]:
    """Run the command to its end; returns the partitions a second while all workers were at work.

    From the first partition that was done to the last: what it takes to start is not a matter of the pages.
    """
    times: list[float] = []
    running = threading.Event()
    parts = output.with_name(f"{output.name}.parts")

    def count() -> None:
        while not running.wait(_WAIT_SECONDS):
            done = len(list(parts.glob("*.part")))
            times.extend([time.monotonic()] * (done - len(times)))

    counter = threading.Thread(target=count)
    counter.start()
    try:
        usage, _ = watch(arguments(database, output, workers))
    finally:
        running.set()
        counter.join()
    if not output.exists():
        raise SystemExit(usage.output)
    return usage, (len(times) - 1) / (times[-1] - times[0])


def run_with_kills(database: Path, output: Path, workers: int, kills: int) -> list[str]:
    """Run the command, kill something of it in turn, and go on; returns what was killed."""
    killed: list[str] = []
    parts = output.with_name(f"{output.name}.parts")
    while not output.exists():
        log = output.with_suffix(".log")
        with log.open("w") as out:
            process = subprocess.Popen(arguments(database, output, workers), stdout=out, stderr=out)
            began = len(list(parts.glob("*.part")))
            while process.poll() is None:
                time.sleep(_WAIT_SECONDS)
                now = len(list(parts.glob("*.part")))
                if len(killed) < kills and now >= began + 3:
                    began = now
                    killed.append(_kill(process, ("worker", "reader", "command")[len(killed) % 3]))
        if process.returncode not in (0, -signal.SIGKILL):
            raise SystemExit(log.read_text())
    return killed


def _kill(process: subprocess.Popen[bytes], what: str) -> str:
    """Kill a process of the command, or all of it."""
    names = {pid: _command_line(pid) for pid in family(process.pid)}
    kind = {"worker": "spawn_main", "reader": "forkserver"}.get(what, "")
    if what == "command":
        process.send_signal(signal.SIGKILL)
    elif found := [pid for pid, name in names.items() if kind in name]:
        with suppress(ProcessLookupError):
            os.kill(found[-1], signal.SIGKILL)
    return what


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    return ""


def main(given: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--many", type=int, default=0)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args(given)
    counts = [int(count) for count in options.workers.split(",")]
    second = counts[min(1, len(counts) - 1)]
    digests = set()
    with tempfile.TemporaryDirectory(prefix="batch-") as name:
        folder = Path(name)
        database, output = folder / "pages.db", folder / "out.jsonl"
        fill(database, options.pages)
        print(f"{options.pages:,} stored pages")
        print(f"{'workers':>8} {'pages/s':>8} {'with start':>11} {'efficiency':>11} {'CPU ms/page':>12} {'MB':>6}")
        rates = []
        cut = StoredSource(str(database)).cut(0, folder)
        for count in counts:
            usage, rate = run(database, output, count)
            rates.append(rate * options.pages / len(cut))
            digests.add(digest(output))
            output.unlink()
            cpu = 1_000 * sum(usage.own.values()) / options.pages
            speeds = f"{rates[-1]:>8.0f} {options.pages / usage.wall:>11.0f} {rates[-1] / rates[0]:>11.2f}"
            print(f"{count:>8} {speeds} {cpu:>12.2f} {usage.peak_mb:>6.0f}")
        if options.kills:
            killed = run_with_kills(database, output, second, options.kills)
            digests.add(digest(output))
            print(f"killed: {', '.join(killed)}")
        print(f"outputs: {', '.join(sorted(digests))}")
        if options.many:
            database.unlink()
            fill(database, options.many)
            usage, _ = run(database, folder / "many.jsonl", second)
            print(f"{options.many:,} pages, {second} workers: {usage.wall:.0f} s, {usage.peak_mb:.0f} MB")
    return int(len(digests) != 1)


if __name__ == "__main__":
    sys.exit(main())
