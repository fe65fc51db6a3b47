"""Giving every queued URL a new score while pages are leased and stored: how long it takes, how long those wait.

    uv run python -m tests.benchmarks.rescoring [--urls 1000000] [--hosts 200] [--links 60] [--database URL]
        [--folder DIR]

Fills an empty database with URLs that wait, as pages with `--links` links each would have brought them, then scores all
of them anew through the writer that a crawl uses, one batch after the other, in the order of hosts. Meanwhile another
thread leases pages and stores what they link to, one after the other. `--database` names a Postgres server to make a
database on ("postgres" starts one); there that thread has a writer of its own, as another process would. The default is
SQLite in a temporary folder.

    uv run python -m tests.benchmarks.rescoring --signals SIGNAL ... [--pages 1000 10000 100000]

Instead: CPU seconds of a round of the process that ranks, with the preset `news` alone and with each signal besides, on
random webs of so many pages, seven tenths of them read, with ten links each on hosts of about fifty pages.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crawler.rank.finds import Finds
from crawler.rank.priority import Priority
from crawler.rank.ranking import Ranking
from db.engine.database import Database, open_for_crawl
from db.engine.writer import Writer
from db.frontier import claims as frontier
from db.frontier import leases, runs
from db.frontier.insert import add_urls
from db.frontier.scores import ScoreBatch, set_scores
from db.records.keys import fingerprint
from db.records.lease import LeaseRequest
from db.records.outcome import Edges, Outcome
from db.records.run import Limits, RunStart
from db.records.url import Lease, NewUrl, State
from pipelines.records import BlockKind
from tests.db.stores import store_of
from tests.postgres import Postgres, empty_database

from .commands import new_parser

_BATCH = 5_000
_PARTS = json.dumps({"depth": 0.25, "block": 0.6, "pagerank": 0.123456, "siterank": 0.444444, "freshness": 0.0})
_LINKS = 10
_INSIDE = 0.9
"""Share of links inside a host."""
_PAUSE_SECONDS = 0.005


def new_url(number: int, host: int) -> NewUrl:
    """A page that waits."""
    name = f"h{host}.example"
    url = f"http://{name}/news/2025/{number}/article-{number}.html"
    site = fingerprint(name)
    parts = '{"depth": 0.25}'
    return NewUrl(
        fingerprint(url), url, "page", site, name, site, name, 3, 0.25, parts, BlockKind.LIST, anchor="标题标题标题"
    )


def fill(writer: Writer, urls: int, hosts: int, links: int) -> None:
    """Each host's URLs come some dozens at a time, as from its pages."""
    rng = np.random.default_rng(1)
    of_page = rng.integers(0, hosts, urls // links + 1).tolist()
    now = time.time() - urls / 1000
    for first in range(0, urls, _BATCH):
        found = [new_url(n, of_page[n // links]) for n in range(first, min(urls, first + _BATCH))]
        writer.submit(add_urls, (now + first / 1000, found)).result()


def new_scores(database: Database) -> ScoreBatch:
    """A score for each URL that waits, in the order of hosts and of finding."""
    with database.engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT id, host_id, found_at FROM url WHERE state = 'pending'").all()
    ids, hosts = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    order = np.lexsort((np.array([row[2] for row in rows]), hosts))
    values = np.random.default_rng(2).random(len(rows))
    return ScoreBatch(ids[order], values, [_PARTS] * len(rows), keep=BlockKind.PART)


@dataclass
class Crawl:
    """Leases and stores pages, one at a time, until it is stopped; keeps how long each had to wait, in seconds."""

    writer: Writer
    run_id: int
    hosts: Sequence[int]
    links: int
    leases: list[float] = field(default_factory=list)
    pages: list[float] = field(default_factory=list)
    empty: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """The thread."""
        store = store_of(self.run_id)
        number = 10**9
        while not self.stop.is_set():
            host = self.hosts[len(self.leases) % len(self.hosts)]
            leased_urls = self._wait(self.leases, self.writer.submit(frontier.lease, self._request(host)))
            self.empty += not leased_urls.urls
            for lease in leased_urls.urls:
                found = [new_url(number + n, len(self.pages) % len(self.hosts)) for n in range(self.links)]
                number += self.links
                self._wait(self.pages, self.writer.submit(store.store, _outcome(lease, found)))
            time.sleep(_PAUSE_SECONDS)

    def _request(self, host: int) -> LeaseRequest:
        return LeaseRequest(
            self.run_id, {host: 1}, frozenset(), lambda _h, _u: "", lambda _h: "", Limits(), time.time()
        )

    @staticmethod
    def _wait(waits: list[float], future: Future) -> object:
        started = time.monotonic()
        result = future.result()
        waits.append(time.monotonic() - started)
        return result


def _outcome(lease: Lease, found: list[NewUrl]) -> Outcome:
    """A page that is no article and has links."""
    links = Edges([new.id for new in found], bytes([BlockKind.LIST]) * len(found))
    return Outcome(
        lease,
        State.DONE,
        "list page",
        counted=True,
        http_status=200,
        fetched_at=time.time(),
        new_urls=found,
        links=links,
    )


def start(writer: Writer) -> int:
    """A run, which lives as long as this takes."""
    begin = RunStart("", "here", os.getpid(), "", "{}", time.time(), 86_400.0, Limits(), (), lambda _: None)
    return writer.submit(runs.start_run, begin).result().run_id


def measure(database_url: str, urls: int, hosts: int, links: int) -> None:
    """Fill, score anew, print."""
    with ExitStack() as stack:
        databases = [open_for_crawl(database_url)]
        if not databases[0].is_sqlite:
            databases.append(open_for_crawl(database_url))
        writers = [Writer(database, patience_seconds=60, waiting=print) for database in databases]
        for writer, database in zip(writers, databases, strict=True):
            stack.callback(database.close)
            stack.callback(writer.close)
        started = time.monotonic()
        fill(writers[0], urls, hosts, links)
        if not databases[0].is_sqlite:  # as its own housekeeping would have done meanwhile
            with databases[0].engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM ANALYZE")
        print(f"{urls:,} URLs wait on {hosts} hosts; filling took {time.monotonic() - started:.0f} s")
        run_id = start(writers[-1])
        owned = writers[-1].submit(leases.take_hosts, (run_id, hosts)).result()
        crawl = Crawl(writers[-1], run_id, [host.id for host in owned], links)
        scores = new_scores(databases[0])
        thread = threading.Thread(target=crawl.run)
        thread.start()
        time.sleep(1)
        before = len(crawl.pages)
        started = time.monotonic()
        took, changed = [], 0
        for batch in scores.batches():
            at = time.monotonic()
            changed += writers[0].submit(set_scores, batch).result()
            took.append(time.monotonic() - at)
        seconds = time.monotonic() - started
        crawl.stop.set()
        thread.join()
    print(f"{changed:,} scored anew in {seconds:.1f} s, {1e6 * seconds / len(scores.ids):.1f} microseconds each")
    print(f"  a batch: median {1000 * statistics.median(took):.0f} ms, longest {1000 * max(took):.0f} ms")
    for name, waits in (("pages", crawl.pages[before:]), ("leases", crawl.leases[before:])):
        median, longest = statistics.median(waits), max(waits)
        print(f"  {len(waits)} {name} meanwhile: median {1000 * median:.0f} ms, longest {1000 * longest:.0f} ms")
    if crawl.empty:
        print(f"  {crawl.empty} leases got nothing, because what they wanted was being written")


def random_ranking(pages: int, priority: Priority) -> Ranking:
    """A web in which few pages are linked to often."""
    rng = np.random.default_rng(1)
    ranking = Ranking(priority)
    ids = np.arange(pages, dtype=np.int64)
    hosts = 1 + ids // 50
    finds = Finds(
        depths=rng.integers(1, 6, pages).astype(np.int32),
        blocks=rng.integers(0, BlockKind.FOOTER, pages).astype(np.uint8),
        dated=np.zeros(pages),
        segments=np.full(pages, 2, np.uint8),
        today=20_000.0,
    )
    ranking.add_urls(ids, hosts, 1 + hosts // 3, finds, np.ones(pages, np.bool_))
    read = int(0.7 * pages)
    sources = np.repeat(ids[:read], _LINKS)
    anywhere = (pages * rng.random(len(sources)) ** 3).astype(np.int64)
    inside = np.minimum(sources // 50 * 50 + rng.integers(0, 50, len(sources)), pages - 1)
    targets = np.where(rng.random(len(sources)) < _INSIDE, inside, anywhere)
    blocks = rng.integers(0, BlockKind.FOOTER, len(sources)).astype(np.uint8)
    ranking.add_links(ids[:read], np.full(read, _LINKS, np.int32), targets, blocks)
    return ranking


def measure_rounds(signals: Sequence[str], sizes: Sequence[int]) -> None:
    print(f"{'CPU seconds of a round':<40}" + "".join(f"{pages:>12,}" for pages in sizes))
    alone: list[float] = []
    for signal in ("", *signals):
        took = []
        for place, pages in enumerate(sizes):
            ranking = random_ranking(pages, Priority("news", {signal: 0.3} if signal else {}))
            started = time.process_time()
            ranking.rescore(20_000.0)
            took.append(time.process_time() - started)
            if signal:
                took[-1] -= alone[place]
        alone = alone or took
        print(f"{'+ ' + signal if signal else 'news':<40}" + "".join(f"{seconds:12.2f}" for seconds in took))


def main() -> None:
    """Measure and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--links", type=int, default=60)
    parser.add_argument("--database", default="", metavar="URL", help='a Postgres server, or "postgres" to start one')
    parser.add_argument("--folder", type=Path, help="where temporary files go")
    parser.add_argument("--signals", nargs="+", default=[], metavar="SIGNAL", help="measure rounds with these instead")
    parser.add_argument("--pages", nargs="+", type=int, default=[1_000, 10_000, 100_000], help="with --signals")
    options = parser.parse_args()
    if options.signals:
        measure_rounds(options.signals, options.pages)
        return
    with ExitStack() as stack:
        if options.database:
            server = stack.enter_context(Postgres()).url if options.database == "postgres" else options.database
            url = stack.enter_context(empty_database(server, f"rescoring_{os.getpid()}"))
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="rescoring-", dir=options.folder))
            url = f"sqlite:///{folder}/news.db"
        measure(url, options.urls, options.hosts, options.links)


if __name__ == "__main__":
    main()
