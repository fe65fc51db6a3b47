"""Readers of the web page beside a running crawl: their errors and waiting times, and what they cost the crawl.

    uv run python -m tests.benchmarks.web_load [--rounds 3] [--readers 50] [--pause 1] [--before 2000] [--pages 4000]

Each round crawls the same pages of the local server of `tests.benchmarks.crawl_speed` twice, once without and once with
`scrapy serve` on the same database and its readers, in turns which comes first. Both go on with a copy of a database
that has `--before` pages already, so that there is something to read from the beginning. A reader asks for one page
after the other (searches, articles, stories, dashboard, sites, graph, API, feed), and rests up to twice `--pause`
seconds between two; 0 never rests. The readers' own process has the lowest priority: they would be on other machines.

    uv run python -m tests.benchmarks.web_load --database news.db [--readers 50] [--pause 0] [--seconds 20]

reads a database that nobody writes: waiting times of each kind of page.

    uv run python -m tests.benchmarks.web_load --database news.db --burst 100 [--half-sent 520]

asks for so many long queries at once, each on a connection of its own, as readers do who all come at one time, and
counts the answers by status; then sends so many requests without their ends while one reader asks for a page a second.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import httpx

from .commands import PROJECT, crawl_command, new_parser
from .crawl_speed import Usage, watch
from .static_site import NETWORK, Serving

_START_SECONDS = 60
_SAMPLED = 400
_SLOWER = 0.05
_WORDS = (
    "新闻",
    "港口 航运",
    "中国",
    "“第一”",
    "the city",
    "harbour ferry",
    "市场 经济",
    "天气",
    "记者",
    "大学 研究",
    "bus",
)


def paths(database: Path) -> dict[str, list[str]]:
    """Return what readers ask for, by kind of page."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        newest = "SELECT id, title, url FROM v_articles LIMIT ?"
        articles = opened.execute(newest, (_SAMPLED,)).fetchall()
        stories = opened.execute("SELECT id FROM cluster WHERE size > 1 LIMIT ?", (_SAMPLED,)).fetchall()
        sites = opened.execute("SELECT name FROM site LIMIT ?", (_SAMPLED,)).fetchall()
    words = [*_WORDS, *(title[k : k + 2] for _, title, _ in articles[::4] for k in (0, 4) if title[k : k + 2].strip())]
    queries = [quote(word) for word in dict.fromkeys(words)]
    return {
        "search": [f"/?q={query}" for query in queries],
        "newest": ["/", "/?page=2", "/?since=30d"],
        "site's": [f"/?q={queries[n % len(queries)]}&site={quote(name)}" for n, (name,) in enumerate(sites[:50])],
        "article": [f"/article/{key}" for key, _, _ in articles],
        "story": [f"/story/{key}" for (key,) in stories] or ["/"],
        "crawl": ["/crawl"],
        "sites": ["/sites"],
        "site": [f"/sites/{quote(name)}" for (name,) in sites],
        "graph": ["/graph"],
        "why": [f"/why?url={quote(url, safe='')}" for _, _, url in articles],
        "settings": ["/settings"],
        "API": [f"/api/search?q={query}" for query in queries],
        "feed": [f"/feed.atom?q={query}" for query in queries],
    }


class Served(NamedTuple):
    """A server: its origin, and its process."""

    origin: str
    pid: int


@contextmanager
def served(database: Path) -> Iterator[Served]:
    """Run `scrapy serve` on a SQLite file."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "scrapy", "serve", "--port", str(port), "-s", f"DATABASE_URL=sqlite:///{database}"]
    # a session of its own, as it is when somebody starts it in another terminal
    process = subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    origin = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            with suppress(OSError):
                urllib.request.urlopen(f"{origin}/static/style.css", timeout=5).close()
                break
            time.sleep(0.1)
        else:
            raise SystemExit(f"{' '.join(command)} did not start")
        yield Served(origin, process.pid)
    finally:
        process.terminate()
        process.wait(20)


@dataclass
class Found:
    """What readers saw: waits in seconds and largest answer in bytes by kind of page; errors."""

    waits: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    sizes: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Add what others saw."""
        for kind, waits in other.waits.items():
            self.waits[kind] += waits
            self.sizes[kind] = max(self.sizes.get(kind, 0), other.sizes[kind])
        self.errors += other.errors


@dataclass(frozen=True)
class Readers:
    """Readers of a server: what they ask for by kind of page, and their mean rest in seconds."""

    origin: str
    asked: dict[str, list[str]]
    count: int
    pause: float


async def read(readers: Readers, stop: Event) -> Found:
    """Let readers read until they are told to stop."""
    found = Found()
    pause, asked = readers.pause, readers.asked
    limits = httpx.Limits(max_connections=readers.count, max_keepalive_connections=readers.count)

    async def one(number: int, client: httpx.AsyncClient) -> None:
        choose = random.Random(number)
        await asyncio.sleep(choose.random() * pause)
        while not stop.is_set():
            kind = choose.choice(list(asked))
            path = choose.choice(asked[kind])
            begun = time.monotonic()
            try:
                answer = await client.get(path)
            except httpx.HTTPError as error:
                found.errors.append(f"{path}: {error!r}")
                continue
            found.waits[kind].append(time.monotonic() - begun)
            found.sizes[kind] = max(found.sizes.get(kind, 0), len(answer.content))
            if answer.status_code != 200:
                found.errors.append(f"{path}: {answer.status_code}")
            await asyncio.sleep(choose.random() * 2 * pause)

    async with httpx.AsyncClient(base_url=readers.origin, timeout=60, limits=limits, trust_env=False) as client:
        await asyncio.gather(*(one(number, client) for number in range(readers.count)))
    found.waits = dict(found.waits)
    return found


def child(readers: Readers, stop: Event, results: Any) -> None:
    """Read in a process of the lowest priority."""
    os.nice(19)
    results.put(asyncio.run(read(readers, stop)))


@contextmanager
def reading(readers: Readers, found: Found) -> Iterator[None]:
    """Let readers read in a process of their own as long as the block lasts; adds to what was found."""
    context = multiprocessing.get_context("spawn")
    stop, results = context.Event(), context.Queue()
    process = context.Process(target=child, args=(readers, stop, results))
    process.start()
    try:
        yield
    finally:
        stop.set()
        found.add(results.get(timeout=90))
        process.join()


def table(found: Found, seconds: float) -> None:
    """Print the waiting times."""
    everything = [wait for waits in found.waits.values() for wait in waits]
    print(f"{'':10}{'answers':>9}{'p50 ms':>9}{'p95 ms':>9}{'most ms':>9}{'KB':>7}")
    for kind, waits in [*sorted(found.waits.items()), ("all", everything)]:
        ordered = sorted(waits)
        p50, p95 = (1000 * ordered[int(len(ordered) * part)] for part in (0.5, 0.95))
        size = found.sizes.get(kind, 0) / 1024
        print(f"{kind:10}{len(ordered):>9}{p50:>9.1f}{p95:>9.1f}{1000 * ordered[-1]:>9.1f}{size:>7.0f}")
    print(f"{len(everything) / seconds:.0f} answers a second, {len(found.errors)} errors")
    for error in found.errors[:10]:
        print(f"  {error}")


def crawl(folder: Path, seeds: Path, pages: int) -> Usage:
    """Crawl until so many pages are done; returns the time and the CPU that it took."""
    settings = {
        "DATABASE_URL": f"sqlite:///{folder}/news.db",
        "ALLOW_NETWORKS": NETWORK,
        "HOST_DELAY": "0",
        "MAX_PAGES": str(pages),
        "LOG_LEVEL": "ERROR",
    }
    usage, _ = watch(crawl_command(seeds, settings))
    with sqlite3.connect(f"file:{folder}/news.db?mode=ro", uri=True) as opened:
        (done,) = opened.execute("SELECT count(*) FROM url WHERE state = 'done' AND kind = 'page'").fetchone()
    if done < pages * 0.98:
        raise SystemExit(f"the crawl has {done} of {pages} pages\n{usage.output[-2000:]}")
    return usage


def beside_a_crawl(options: argparse.Namespace) -> bool:
    """Measure crawls without and with readers, in pairs; returns whether the bars hold."""
    found, slower, dearer, reading_seconds = Found(), [], [], 0.0
    pages = options.before + options.pages
    with tempfile.TemporaryDirectory() as place, Serving(pages, 50) as serving:
        folder = Path(place)
        seeds = folder / "seeds.txt"
        seeds.write_text(serving.site.address(0) + " stay=any\n")
        (folder / "before").mkdir()
        crawl(folder / "before", seeds, options.before)
        crawl(copied(folder, "warm"), seeds, pages)  # renders the pages
        asked = paths(folder / "before" / "news.db")
        for number in range(options.rounds):
            usages: dict[bool, Usage] = {}
            for with_readers in (False, True) if number % 2 == 0 else (True, False):
                here = copied(folder, f"{number}-{with_readers}")
                if with_readers:
                    with served(here / "news.db") as server:
                        readers = Readers(server.origin, asked, options.readers, options.pause)
                        with reading(readers, found):
                            usages[with_readers] = crawl(here, seeds, pages)
                    reading_seconds += usages[with_readers].wall
                else:
                    usages[with_readers] = crawl(here, seeds, pages)
                shutil.rmtree(here)
            slower.append(usages[True].wall / usages[False].wall - 1)
            dearer.append(usages[True].cpu / usages[False].cpu - 1)
            rates = [f"{options.pages / usages[one].wall:.0f}" for one in (False, True)]
            print(f"round {number + 1}: {rates[0]} pages/s without, {rates[1]} with: {slower[-1]:+.1%}", flush=True)
            rates = [f"{options.pages / usages[one].cpu:.1f}" for one in (False, True)]
            print(f"  pages per second of its CPU: {rates[0]} and {rates[1]}, CPU {dearer[-1]:+.1%}", flush=True)
    table(found, reading_seconds)
    median = statistics.median(slower)
    print(f"the crawl takes {median:+.1%} time with {options.readers} readers (median of {options.rounds} pairs)")
    print(f"and {statistics.median(dearer):+.1%} CPU")
    return not found.errors and median <= _SLOWER


def copied(folder: Path, name: str) -> Path:
    """Copy the database that crawls go on with."""
    (folder / name).mkdir()
    shutil.copyfile(folder / "before" / "news.db", folder / name / "news.db")
    return folder / name


def alone(options: argparse.Namespace) -> bool:
    """Measure the reading of a database that nobody writes."""
    found = Found()
    database = options.database.resolve()
    asked = paths(database)
    with served(database) as server, reading(Readers(server.origin, asked, options.readers, options.pause), found):
        time.sleep(options.seconds)
    table(found, options.seconds)
    return not found.errors


def burst(options: argparse.Namespace) -> bool:
    """Measure many readers at once, and one beside requests that never end."""
    with sqlite3.connect(f"file:{options.database.resolve()}?mode=ro", uri=True) as opened:
        texts = [text for (text,) in opened.execute("SELECT text FROM article WHERE length(text) > 300 LIMIT 400")]
    with served(options.database.resolve()) as server:
        address = urlsplit(server.origin).hostname, urlsplit(server.origin).port
        statuses, waits = asyncio.run(_at_once(address, texts, options.burst))
        print(f"{options.burst} readers at once: {dict(sorted(statuses.items()))}, the last after {max(waits):.1f} s")
        begun = time.monotonic()
        after = asyncio.run(_ask(address, "/", 90))
        print(f"a reader after them: {after} after {time.monotonic() - begun:.1f} s")
        if options.half_sent:
            print(f"beside {options.half_sent} half-sent requests: {asyncio.run(_beside(address, options.half_sent))}")
    return after == "200"


async def _at_once(address: Any, texts: Sequence[str], count: int) -> tuple[Counter[str], list[float]]:
    """Ask for `count` queries at once; returns how many had which status, and the waits."""
    begun = time.monotonic()
    waits: list[float] = []

    async def one(number: int) -> str:
        words = " ".join(re.findall(r"\w\w", texts[number % len(texts)])[:60])
        found = await _ask(address, f"/?q={quote(words)}", 90)
        waits.append(time.monotonic() - begun)
        return found

    return Counter(await asyncio.gather(*map(one, range(count)))), waits


async def _ask(address: Any, path: str, seconds: float) -> str:
    """Ask for a page; returns the status, or "closed" when there was none."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
            answer = await reader.read()
            writer.close()
    except OSError:
        return "closed"
    return answer[9:12].decode() or "closed"


async def _beside(address: Any, count: int) -> Counter[str]:
    """Count the statuses of a page a second, beside requests that are sent by half."""
    slow = [await asyncio.open_connection(*address) for _ in range(count)]
    for _, writer in slow:
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    found: Counter[str] = Counter()
    for _ in range(70):
        found[await _ask(address, "/", 20)] += 1
        await asyncio.sleep(1)
    for _, writer in slow:
        writer.transport.abort()
    return found


def main() -> int:
    """Measure and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds between two pages of a reader (1)")
    parser.add_argument("--before", type=int, default=2_000, help="pages that are there from the beginning")
    parser.add_argument("--pages", type=int, default=4_000, help="pages of each crawl")
    parser.add_argument("--database", type=Path, help="read this file instead, without a crawl")
    parser.add_argument("--seconds", type=float, default=20.0, help="of reading it")
    parser.add_argument("--burst", type=int, default=0, metavar="N", help="ask that file N long queries at once")
    parser.add_argument("--half-sent", type=int, default=0, metavar="N", help="and N requests that never end")
    options = parser.parse_args()
    if options.burst:
        return int(not burst(options))
    return int(not (alone if options.database else beside_a_crawl)(options))


if __name__ == "__main__":
    sys.exit(main())
