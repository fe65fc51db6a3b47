"""Cost of a large frontier: starting on it, leasing from it, adding to it, memory of the crawl.

    uv run python -m tests.benchmarks.frontier_size [--urls 1000000] [--hosts 2000] [--seconds 15]
        [--database URL] [--folder DIR]

Fills an empty database with URLs that wait, through the functions that a crawl uses, then measures, first with 10,000
URLs and then with as many as were asked for, in the same run: read the second column against the first. `--database`
names a Postgres server to make databases on ("postgres" starts one); the default is SQLite in a temporary folder. On
Postgres the tables are vacuumed after filling, as its own housekeeping would have done soon.

The command's first request is that of the real `scrapy crawl news`, from the start of the process until the web server
sees it; a start on an empty database stands beside it, because most of that time is Python's. Half of the links on the
pages lead to URLs that the frontier has, half to new ones. Absolute times are those of the machine.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scrapy.settings import Settings
from sqlalchemy import Connection, create_engine, delete, text

from crawler.options.config import Config
from crawler.rank.priority import Priority
from crawler.response.new_urls import new_url
from crawler.run.session import Session
from db.engine.database import open_for_reading, parse_url
from db.engine.statements import insert_rows
from db.frontier import claims as table
from db.frontier import counts, leases
from db.frontier.insert import add_urls
from db.queries.status import status
from db.records.keys import fingerprint
from db.records.lease import LeaseRequest
from db.records.outcome import Edges, Outcome
from db.records.reasons import PageReason
from db.records.run import Limits
from db.records.url import Lease, NewUrl, State
from db.tables.urls import UrlRow
from pipelines.links.scope import host_identity, identify
from pipelines.records import BlockKind
from tests.benchmarks.static_site import NETWORK, PAGE_LINKS, Serving, Site
from tests.db.stores import real_judge, store_of
from tests.postgres import Postgres, empty_database

from .commands import PROJECT, crawl_command, new_parser

SMALL = 10_000
_BATCH = 5_000
_STARTS = 3
_ROUNDS = 200
_LEASED_HOSTS, _LEASED_URLS = 50, 64
_PATIENCE_SECONDS = 600.0


@dataclass
class Measured:
    """What one size of the frontier costs: name -> value with unit, in the order of the table."""

    urls: int
    values: dict[str, str] = field(default_factory=dict)


# ---------------------------------------------------------------- inside the process


async def fill(session: Session, site: Site, urls: int) -> None:
    """Add pages that wait, and say that their hosts have no robots.txt.

    The first of each host as a crawl does; of the others the rows alone, in the order of their keys, which are hashes:
    so each batch is written to few places of the file.
    """
    now, first = time.time(), min(urls, site.hosts)
    await session.submit(add_urls, (now, _new_urls(session, site, range(first))))
    keys = np.fromiter((fingerprint(site.address(n)) for n in range(first, urls)), np.int64, urls - first)
    order = np.argsort(keys)
    like = {new.depth: new for new in _new_urls(session, site, range(7))}
    hosts = [host_identity(site.host(n))[0] for n in range(site.hosts)]
    for part in np.split(order, range(_BATCH, len(order), _BATCH)):
        rows = []
        for key, n in zip(keys[part].tolist(), (part + first).tolist(), strict=True):
            new = like[_depth(n)]
            others = (new.seed_id, new.kind, State.PENDING, new.depth, new.score, new.score_parts, new.found_in)
            rows.append((key, site.address(n), hosts[n % site.hosts], *others, now + n * 1e-6))
        await session.submit(_insert, rows)
    await session.submit(table.set_robots, [(host_id, "none", "", now) for host_id in hosts])


def _depth(number: int) -> int:
    return 1 + number % 7 % 5


_COLUMNS = ("id", "url", "host_id", "seed_id", "kind", "state", "depth", "score", "score_parts", "found_in", "found_at")


def _insert(connection: Connection, batches: Sequence[Sequence[tuple[Any, ...]]]) -> list[None]:
    """Insert rows of `_COLUMNS`, and count them."""
    for rows in batches:
        insert_rows(connection, UrlRow.table(), _COLUMNS, rows)
        counts.add(connection, ((row[2], None, "", row[6]) for row in rows))
    return [None for _ in batches]


def _new_urls(session: Session, site: Site, numbers: Sequence[int]) -> list[NewUrl]:
    """Pages as URLs of the frontier, at depths from 1 to 5."""
    priority, seed = Priority("breadth", {}), session.resumed.seeds[0].id
    now = time.time()
    return [
        new_url(
            identify(site.address(n)),
            priority=priority,
            depth=_depth(n),
            found_in=BlockKind.LIST,
            now=now,
            seed_id=seed,
        )
        for n in numbers
    ]


async def starts(settings: Settings, seeds: Path) -> tuple[float, float]:
    """Median seconds of a run's beginning (database, run, seeds) and of its end."""
    begun, ended = [], []
    for _ in range(_STARTS):
        started = time.monotonic()
        session = await Session.begin(Config.from_settings(settings), str(seeds))
        begun.append(time.monotonic() - started)
        started = time.monotonic()
        await _end(session)
        ended.append(time.monotonic() - started)
    return statistics.median(begun), statistics.median(ended)


def status_seconds(database_url: str) -> float:
    """Median seconds of what `scrapy status` reads, on a connection of its own each time."""
    took = []
    for _ in range(_STARTS):
        started = time.monotonic()
        with closing(open_for_reading(database_url)) as database:
            database.read(lambda connection: status(connection, time.time()))
        took.append(time.monotonic() - started)
    return statistics.median(took)


async def _end(session: Session) -> None:
    await session.release_all()
    await session.end("measured", 3)
    await session.close()


async def leases_and_inserts(settings: Settings, seeds: Path, site: Site, urls: int) -> tuple[float, float]:
    """Median milliseconds of CPU of a lease, and of storing a page (without article) that has 60 links to new URLs.

    On Postgres of this process alone. Everything is put back after each round, so that the frontier keeps its size.
    """
    rng = random.Random(1)
    session = await Session.begin(Config.from_settings(settings), str(seeds))
    run_id = session.resumed.run_id
    store = store_of(run_id, real_judge())
    owned = await session.submit(leases.take_hosts, (run_id, site.hosts))
    leased, stored = [], []
    for i in range(_ROUNDS):
        hosts = rng.sample([host.id for host in owned], min(_LEASED_HOSTS, len(owned)))
        wants = {key: _LEASED_URLS // len(hosts) + (n < _LEASED_URLS % len(hosts)) for n, key in enumerate(hosts)}
        started = time.process_time()
        leased_urls = await session.submit(table.lease, _request(run_id, wants))
        leased.append(time.process_time() - started)
        new_urls = _new_urls(session, site, range(2 * urls + i * PAGE_LINKS, 2 * urls + (i + 1) * PAGE_LINKS))
        outcome = _page(leased_urls.urls[0], new_urls)
        started = time.process_time()
        await session.submit(store.store, outcome)
        stored.append(time.process_time() - started)
        await session.submit(table.release, (run_id, leased_urls.urls[1:]))
        await session.submit(_forget, [new.id for new in new_urls])
    await _end(session)
    return 1000 * statistics.median(leased), 1000 * statistics.median(stored)


def _request(run_id: int, wants: dict[int, int]) -> LeaseRequest:
    """A wish that nothing forbids."""
    return LeaseRequest(
        run_id=run_id,
        wants=wants,
        robots_only=frozenset(),
        disallow_reason=lambda _host, _url: None,
        closed=lambda _host: None,
        limits=Limits(),
        now=time.time(),
    )


def _page(lease: Lease, new_urls: list[NewUrl]) -> Outcome:
    """A page that is no article and has links."""
    return Outcome(
        lease,
        State.DONE,
        PageReason.LIST,
        counted=True,
        http_status=200,
        fetched_at=time.time(),
        new_urls=new_urls,
        links=Edges([new.id for new in new_urls], bytes([BlockKind.LIST]) * len(new_urls)),
    )


def _forget(connection: Connection, batches: Sequence[Sequence[int]]) -> list[None]:
    """Delete URLs."""
    for ids in batches:
        connection.execute(delete(UrlRow.table()).where(UrlRow.table().c.id.in_(ids)))
    return [None for _ in batches]


# ---------------------------------------------------------------- the real command


@dataclass(frozen=True, slots=True)
class Command:
    """A crawl that was stopped after a while: seconds to its first request and to its end, peak MB, pages answered."""

    first_request: float
    stop: float
    peak_mb: float
    pages: int


def crawl(database_url: str, seeds: Path, serving: Serving, seconds: float) -> Command:
    """Run `scrapy crawl news` for some seconds after its first request, then stop it with Ctrl-C."""
    settings = {"DATABASE_URL": database_url, "ALLOW_NETWORKS": NETWORK, "HOST_DELAY": "0"}
    before = len(serving.requests())
    log = seeds.with_name("crawl.log")
    started = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            crawl_command(seeds, settings),
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        while len(serving.requests()) == before:
            if process.poll() is not None or time.monotonic() > started + _PATIENCE_SECONDS:
                raise RuntimeError(f"the crawl made no request: {log.read_text()[-500:]}")
            time.sleep(0.01)
        first = serving.requests()[before].start
        time.sleep(seconds)
        peak = _peak_mb(process.pid)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(_PATIENCE_SECONDS)
        stop = time.monotonic() - asked
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    answered = {r.path for r in serving.requests()[before:] if r.path.startswith("/p/") and r.start < asked}
    return Command(first - started, stop, peak, len(answered))


def _peak_mb(pid: int) -> float:
    """The most memory that a process has had resident."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


# ---------------------------------------------------------------- all of it


def measure(urls: int, hosts: int, seconds: float, databases: Sequence[str], folder: Path) -> Measured:
    """Fill the first of two empty databases, measure on it, and start the command on the second, too."""
    filled, empty = databases
    measured = Measured(urls)
    values = measured.values
    settings = Settings()
    settings.setmodule("crawler.settings")
    settings.setdict({"DATABASE_URL": filled, "ALLOW_NETWORKS": NETWORK, "LEASE_SECONDS": 86_400.0})
    with Serving(2 * urls, hosts, log=folder / f"requests-{urls}.jsonl") as serving:
        seeds = folder / "seeds.txt"
        seeds.write_text(f"{serving.site.address(0)} stay=any\n")
        started = time.monotonic()
        asyncio.run(_fill(settings, seeds, serving.site, urls))
        took = time.monotonic() - started
        values["filling, s"] = f"{took:.1f}"
        values["  microseconds a URL"] = f"{1e6 * took / urls:.0f}"
        values["database, MB"] = f"{_housekeeping(filled):.0f}"
        begun, ended = asyncio.run(starts(settings, seeds))
        values["a run's beginning, s"] = f"{begun:.2f}"
        values["a run's end, s"] = f"{ended:.2f}"
        values["status, s"] = f"{status_seconds(filled):.3f}"
        lease, insert = asyncio.run(leases_and_inserts(settings, seeds, serving.site, urls))
        values[f"lease of {_LEASED_URLS} over {min(hosts, _LEASED_HOSTS)} hosts, CPU ms"] = f"{lease:.2f}"
        values[f"page with {PAGE_LINKS} new URLs, CPU ms"] = f"{insert:.2f}"
        on_nothing, on_all = [], []
        for i in range(1, _STARTS + 1):
            on_nothing.append(crawl(empty, seeds, serving, 0.0).first_request)
            command = crawl(filled, seeds, serving, seconds if i == _STARTS else 0.0)
            on_all.append(command.first_request)
        first = statistics.median(on_all)
        values["command to first request, s"] = f"{first:.2f}"
        values["  more than on an empty database, s"] = f"{first - statistics.median(on_nothing):.2f}"
        values[f"peak memory in {seconds:g} s, MB"] = f"{command.peak_mb:.0f}"
        values["  pages answered"] = str(command.pages)
        values["Ctrl-C to end, s"] = f"{command.stop:.2f}"
    return measured


async def _fill(settings: Settings, seeds: Path, site: Site, urls: int) -> None:
    session = await Session.begin(Config.from_settings(settings), str(seeds))
    await fill(session, site, urls)
    await _end(session)


def _housekeeping(database_url: str) -> float:
    """Let the database tidy up as it would by itself; returns its size in MB."""
    url = parse_url(database_url)
    if url.get_backend_name() == "sqlite":
        return sum(path.stat().st_size for path in Path(str(url.database)).parent.glob("*.db*")) / 2**20
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("VACUUM ANALYZE"))
        size = connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one()
    engine.dispose()
    return int(size) / 2**20


@contextmanager
def two_databases(server: str, folder: Path) -> Iterator[list[str]]:
    """URLs of two empty databases: on a Postgres server, or SQLite files in folders of their own."""
    with ExitStack() as stack:
        if server:
            names = [f"size_{os.getpid()}_{name}" for name in ("filled", "empty")]
            yield [stack.enter_context(empty_database(server, name)) for name in names]
        else:
            folders = [stack.enter_context(tempfile.TemporaryDirectory(dir=folder)) for _ in range(2)]
            yield [f"sqlite:///{inner}/news.db" for inner in folders]


def main() -> None:
    """Measure and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--seconds", type=float, default=15.0, help="how long the real crawl runs")
    parser.add_argument("--database", default="", metavar="URL", help='a Postgres server, or "postgres" to start one')
    parser.add_argument("--folder", type=Path, help="where temporary files go")
    options = parser.parse_args()
    if options.database.startswith("sqlite"):
        parser.error("SQLite files are temporary: name their folder in --folder")
    columns = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything started is ended
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="size-", dir=options.folder)))
        server = stack.enter_context(Postgres()).url if options.database == "postgres" else options.database
        for urls in sorted({SMALL, options.urls}):
            with two_databases(server, folder) as databases:
                columns.append(measure(urls, options.hosts, options.seconds, databases, folder))
    print(f"{f'URLs waiting, {options.hosts} hosts':<40}{''.join(f'{c.urls:>12,}' for c in columns)}")
    for name in columns[0].values:
        print(f"{name:<40}{''.join(f'{c.values[name]:>12}' for c in columns)}")


if __name__ == "__main__":
    main()
