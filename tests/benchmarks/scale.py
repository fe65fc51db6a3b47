"""Real crawls beside simulated ones, and what the simulation says of crawls that are too large to be tried.

    uv run python -m tests.benchmarks.scale --check [--pages 10000,100000] [--only NAME ...] [--results FILE]
    uv run python -m tests.benchmarks.scale --agree 100000    # the two models beside each other
    uv run python -m tests.benchmarks.scale --bytes 2000      # bytes a page by table, and what a usual page costs
    uv run python -m tests.benchmarks.scale                   # 10^6 to 10^10 pages: machines, days, money

`--check` crawls a web of generated pages on loopback as each of KINDS says, one after the other, between two short
crawls that tell what a page costs on this machine at this time. The simulation gets those costs, and nothing of the
crawl that it foretells but how much of the cores other programs left. Every crawl is a line of `--results`; one that is
there is not done again, so a check that was broken off goes on. Costs that a short crawl cannot show stand in INPUTS.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from sqlalchemy import create_engine

from db.engine.database import parse_url
from tests.postgres import Postgres, empty_database

from .commands import PROJECT, crawl_command, new_parser
from .crawl_model import Costs, Layout, Prediction, Web, estimate, grouped, heavy_tailed, simulate
from .crawl_speed import account, family
from .static_site import NETWORK, Serving, Shape, Site

CORES = os.cpu_count() or 1
CALIBRATION_PAGES = 2_000
POLL_SECONDS = 0.25
BAR = 0.10
"""The greatest error of a prediction."""
LEAST = {"STORE_HTML": "none", "KEYWORDS": "", "CLASSES": "none", "HARMFUL": "off"}
"""Stages that cost the workers time and nobody else anything."""
SLOW_PAGES = 150
GROWTH_PAGES = 50_000
"""Crawls from this size on tell the growth for larger ones."""
MOST_SHARE = 0.7
"""A crawl in which pages hardly share transactions tells nothing of what these cost."""
EARLY, LATE = 0.25, 0.97
"""Between these shares of its pages a short crawl is measured."""
LIGHT = Shape(links=10, paragraphs=1, filler=0)
"""Pages of 2 KB, so that many of them can be had: the simulation is told what each costs anyway."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that was measured elsewhere or assumed: put better figures in here.

    Attributes:
        fetch_share: of the crawling process's time for a page, what passes before its answer (docs/performance.md:
            37 % fetching, and a part of Scrapy's engine).
        rank: seconds of a round of ranking for each page that was fetched (`link_analysis`).
        score: seconds for each score that a round changes (`rescoring`).
        inbox: seconds of a database for a link to another shard, at either end; assumed.
        growth: share by which storing a page grows with each e-fold of the stored ones (docs/performance.md; what
            `--check` finds in long crawls goes before it).
        own: CPU seconds of the crawling process for a usual page on Postgres, in quiet (`crawl_speed`).
        sqlite: what it takes more on SQLite (`crawl_speed`).
        workers: of the workers: 4.7 ms to read a page (`crawl_speed`) and 6 to describe an article (docs/text.md).
        database: of the database server (`--bytes`: 0.6 times those of the crawling process).
        efficiency: pages/s of two cores, by what their CPU seconds alone would allow (`crawl_speed`: 204 of 241).
        delay, latency: seconds between two requests to a host, and for which it takes to answer; assumed.
        new_links: links of a page that are new, and so are sent to another shard if they are of one; assumed.
        disk_bytes: of a page on Postgres (`--bytes`), with 21 KB for a real page itself (docs/performance.md).
        duplicate_bytes: of an article in the index of each process (`duplicates_scale`) ...
        duplicate_gb: ... of which so much is in memory (`MEMORY_MB`), the rest on disk.
        rank_bytes: of a page and its 60 links in memory, in the process that ranks (README).
        inbox_bytes: of a link on its way to another shard; assumed.
        core_hour, core_gb: dollars for a core, and the memory that comes with it; assumed.
        gb_month, traffic_tb: dollars for a GB on a fast disk, and for a TB between machines; assumed.
    """

    fetch_share: float = 0.45
    rank: float = 5e-6
    score: float = 14e-6
    inbox: float = 20e-6
    growth: float = 0.03
    own: float = 0.0024
    sqlite: float = 0.0005
    workers: float = 0.0107
    database: float = 0.0015
    efficiency: float = 0.85
    delay: float = 1.0
    latency: float = 0.3
    new_links: int = 10
    disk_bytes: int = 63_000
    duplicate_bytes: int = 500
    duplicate_gb: float = 0.256
    rank_bytes: int = 60 + 60 * 13
    inbox_bytes: int = 150
    core_hour: float = 0.03
    core_gb: float = 4.0
    gb_month: float = 0.08
    traffic_tb: float = 10.0

    def costs(self) -> Costs:
        """Those of a usual page on Postgres."""
        fetch = self.fetch_share * self.own
        return Costs(
            fetch=fetch,
            store=self.own - fetch,
            parse=self.workers,
            database=self.database,
            rank=self.rank,
            score=self.score,
            inbox=self.inbox,
            growth=self.growth,
            efficiency=self.efficiency,
        )


INPUTS = Inputs()


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of crawl that is tried.

    Attributes:
        name: of it.
        hosts, skew, delay, latency: the web, see `Shape` and `Web`.
        processes: crawling processes; more than none are on Postgres.
        shards: Postgres databases; none is SQLite.
    """

    name: str
    hosts: int = 50
    skew: float = 0.0
    delay: float = 0.0
    latency: float = 0.0
    processes: int = 1
    shards: int = 0

    @property
    def workers(self) -> int:
        """Workers of each process."""
        return max(1, CORES // self.processes)

    def layout(self, cores: float) -> Layout:
        """The layout of the simulation; cores are those that other programs left."""
        return Layout(max(1, self.shards), self.processes, self.workers, cores=cores)


CALIBRATIONS = (Kind("without delays"), Kind("each page alone", hosts=5, delay=0.5))
KINDS = (
    Kind("one process"),
    Kind("500 hosts", hosts=500),
    Kind("skewed hosts, 0.2 s", hosts=500, skew=0.5, delay=0.2),
    Kind("50 hosts, 0.5 s", delay=0.5),
    Kind("answers in 0.1 s", hosts=20, latency=0.1),
    Kind("Postgres", shards=1),
    Kind("Postgres, two", processes=2, shards=1),
    Kind("Postgres, two, 0.2 s", hosts=200, skew=0.5, delay=0.2, processes=2, shards=1),
    Kind("two shards", processes=2, shards=2),
)


@dataclass(slots=True)
class Moment:
    """A crawl at one time.

    Attributes:
        seconds: since its beginning.
        pages: that were asked for.
        cpu: CPU seconds by kind of process.
        others: CPU seconds of all other programs.
    """

    seconds: float
    pages: int
    cpu: dict[str, float]
    others: float = 0.0


@dataclass
class Crawled:
    """A real crawl.

    Attributes:
        pages: that were stored.
        seconds: from the command to its end.
        queued: URLs that waited, on average; of one process only.
        moments: how it went; the last one is the end.
    """

    pages: int
    seconds: float
    queued: float = math.nan
    moments: list[Moment] = field(default_factory=list)

    @property
    def busy(self) -> Counter[str]:
        """CPU seconds by kind of process."""
        return Counter(self.moments[-1].cpu)

    @property
    def others(self) -> float:
        """Cores that other programs took."""
        return self.moments[-1].others / self.seconds


def busy_seconds() -> float:
    """CPU seconds that all programs of this machine have taken."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    idle = fields[3] + fields[4]
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK")


@contextmanager
def databases(kind: Kind, folder: Path, server: str) -> Iterator[str]:
    """The `DATABASE_URL` of a crawl: a file, or new databases on a server."""
    with ExitStack() as stack:
        names = [f"scale_{os.getpid()}_{number}" for number in range(kind.shards)]
        urls = [stack.enter_context(empty_database(server, name)) for name in names]
        yield ",".join(urls) or f"sqlite:///{folder}/news.db"


def crawl(
    kind: Kind,
    pages: int,
    postgres: Postgres | None,
    *,
    shape: Shape = LIGHT,
    settings: Mapping[str, str] = LEAST,
    look: Callable[[str], None] = lambda _: None,
) -> Crawled:
    """Crawl for real.

    Args:
        kind: of crawl.
        pages: of the web.
        postgres: the server, where databases are needed.
        shape: of the pages.
        settings: of the crawl.
        look: is called with the database before that is deleted.

    Raises:
        RuntimeError: a command failed, or pages are missing.
    """
    shape = replace(shape, skew=kind.skew)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="scale-")))
        log = folder / "requests.jsonl"
        serving = stack.enter_context(Serving(pages, kind.hosts, latency=kind.latency, log=log, shape=shape))
        url = stack.enter_context(databases(kind, folder, postgres.url if postgres else ""))
        (folder / "seeds.txt").write_text(f"{serving.site.address(0)} stay=any\n")
        settings = {
            **settings,
            "DATABASE_URL": url,
            "ALLOW_NETWORKS": NETWORK,
            "HOST_DELAY": f"{kind.delay:g}",
            "WORKERS": str(kind.workers),
        }
        command = crawl_command(folder / "seeds.txt", settings)
        output = stack.enter_context((folder / "output.txt").open("wb"))
        started = time.monotonic()
        commands = [
            subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            for _ in range(kind.processes)
        ]
        try:
            beside = {"serve": serving.pid, **({"database": postgres.pid} if postgres and kind.shards else {})}
            moments = list(_watched(commands, beside, log, started))
        finally:
            for process in commands:
                process.kill()
                process.wait()
        seconds = time.monotonic() - started
        if any(process.returncode for process in commands) or moments[-1].pages < pages:
            said = (folder / "output.txt").read_text("utf-8", "replace")[-2_000:]
            raise RuntimeError(f"{kind.name}: {moments[-1].pages} of {pages} pages\n{said}")
        queued = waiting(url) / seconds if kind.processes == 1 else math.nan
        look(url)
    return Crawled(pages, seconds, queued, moments)


def waiting(url: str) -> float:
    """The URLs that waited in a crawl, times the seconds for which they did, from the curve that it keeps."""
    engine = create_engine(parse_url(url))
    with engine.connect() as connection:
        samples = connection.exec_driver_sql(
            "SELECT at, queued FROM run_sample WHERE queued IS NOT NULL ORDER BY at"
        ).all()
    engine.dispose()
    if not samples:
        return math.nan
    at, queued = np.array(samples, dtype=float).T
    return float(((queued[1:] + queued[:-1]) / 2 * np.diff(at)).sum())


def _watched(
    commands: list[subprocess.Popen[bytes]], beside: dict[str, int], log: Path, started: float
) -> Iterator[Moment]:
    """Moments of a crawl until all commands have ended; the first, every hundredth page and the last."""
    spent: dict[tuple[str, int], float] = {}
    pages = read = shown = 0
    first = {kind: sum(account(pid)[0] for pid in family(root)) for kind, root in beside.items()}
    own = {process.pid for process in commands}
    before = busy_seconds()
    while True:
        ended = all(process.poll() is not None for process in commands)
        for kind, root in [*beside.items(), *(("workers", pid) for pid in own)]:
            for pid in family(root):
                key = ("own" if pid in own else kind, pid)
                spent[key] = max(account(pid)[0], spent.get(key, 0.0))
        with log.open("rb") as lines:
            lines.seek(read)
            new = lines.read()
        read += len(new)
        pages += new.count(b'"/p/')
        if ended or pages >= shown:
            shown = pages + max(1, pages // 50)
            cpu: Counter[str] = Counter()
            for (kind, _), seconds in spent.items():
                cpu[kind] += seconds
            cpu.subtract(first)
            others = max(0.0, busy_seconds() - before - cpu.total())
            yield Moment(time.monotonic() - started, pages, dict(cpu), others)
        if ended:
            return
        time.sleep(POLL_SECONDS)


def slopes(crawled: Crawled) -> dict[str, float]:
    """CPU seconds of a page by kind of process, pages a second and cores of others, between EARLY and LATE."""
    early = next(moment for moment in crawled.moments if moment.pages >= EARLY * crawled.pages)
    late = [moment for moment in crawled.moments if moment.pages <= LATE * crawled.pages][-1]
    pages = late.pages - early.pages
    slope = {
        kind: (late.cpu.get(kind, 0.0) - early.cpu.get(kind, 0.0)) / pages
        for kind in ("own", "workers", "database", "serve")
    }
    seconds = late.seconds - early.seconds
    return {**slope, "rate": pages / seconds, "others": (late.others - early.others) / seconds}


def costs_of(fast: Crawled, slow: Crawled, kind: Kind) -> Costs:
    """Work out the costs from two short crawls.

    In the first nothing has to wait but for the processor, and pages share transactions; in the second each page has
    one of its own. What the second costs more for a page is the price of a transaction. What the slopes leave is that
    of starting.

    Args:
        fast: without delays.
        slow: of few hosts with a delay.
        kind: of the first.
    """
    slope, alone, last = slopes(fast), slopes(slow), fast.moments[-1]
    share = min(1.0, 1 / (slope["rate"] * Layout().commit_seconds))
    of_transaction = {
        name: max(0.0, (alone[name] - slope[name]) / (1 - share)) if share < MOST_SHARE else 0.0
        for name in ("own", "database")
    }
    fetch = INPUTS.fetch_share * slope["own"]
    return Costs(
        start=max(0.0, last.cpu["own"] - slope["own"] * fast.pages - fetch * kind.hosts),
        worker_start=max(0.0, last.cpu["workers"] - slope["workers"] * fast.pages),
        database_start=max(0.0, last.cpu.get("database", 0.0) - slope["database"] * fast.pages),
        fetch=fetch,
        store=max(0.0, slope["own"] - fetch - share * of_transaction["own"]),
        parse=slope["workers"],
        database=max(0.0, slope["database"] - share * of_transaction["database"]),
        transaction=of_transaction["own"],
        commit=of_transaction["database"],
        serve=slope["serve"],
        rank=INPUTS.rank,
        score=INPUTS.score,
        inbox=INPUTS.inbox,
        growth=INPUTS.growth,
    )


def mean(one: Costs, other: Costs) -> Costs:
    """The mean of two calibrations."""
    return Costs(**{name: (value + asdict(other)[name]) / 2 for name, value in asdict(one).items()})


def web_of(kind: Kind, pages: int) -> Web:
    """The web of a kind as the simulation has it: the same page on the same host."""
    site = Site(pages, kind.hosts, (), replace(LIGHT, skew=kind.skew))
    host_of = np.fromiter((site.place(number) for number in range(pages)), np.int64, pages)
    return Web(np.bincount(host_of, minlength=kind.hosts), kind.delay, kind.latency, LIGHT.links, host_of)


# ---------------------------------------------------------------- bytes


def table_bytes(url: str) -> dict[str, int]:
    """Bytes of each table with its indexes; on Postgres also of the write-ahead log until now."""
    engine = create_engine(parse_url(url))
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            rows = connection.exec_driver_sql(
                "SELECT coalesce(tbl_name, 'sqlite_schema'), sum(pgsize) FROM dbstat "
                "LEFT JOIN sqlite_master USING (name) GROUP BY 1"
            ).all()
        else:
            rows = connection.exec_driver_sql(
                "SELECT relname, pg_total_relation_size(relid) FROM pg_stat_user_tables "
                "UNION ALL SELECT 'write-ahead log', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
            ).all()
    engine.dispose()
    return {name: int(size) for name, size in rows}


def weigh(pages: int) -> str:
    """Crawl usual pages on both databases: bytes a page by table, and what a page costs there."""
    found: dict[str, dict[str, int]] = {}
    lines = []
    kinds = Kind("SQLite"), Kind("Postgres", shards=1)
    with Postgres() as postgres:
        for kind in kinds:
            before = table_bytes(postgres.url)["write-ahead log"]

            def look(url: str, name: str = kind.name, before: int = before) -> None:
                found[name] = table_bytes(url)
                if "write-ahead log" in found[name]:
                    found[name]["write-ahead log"] -= before

            crawled = crawl(kind, pages, postgres, shape=Shape(), settings={}, look=look)
            slope = slopes(crawled)
            lines.append(f"{kind.name}: CPU seconds a page " + ", ".join(f"{k} {v:.4f}" for k, v in slope.items()))
    lines += ["", "| bytes a page | SQLite | Postgres |", "|---|---|---|"]
    sizes = {name: [found[kind.name].get(name, 0) / pages for kind in kinds] for name in found["Postgres"]}
    sizes |= {name: [size / pages, 0.0] for name, size in found["SQLite"].items() if name not in sizes}
    for name, (sqlite, server) in sorted(sizes.items(), key=lambda item: -item[1][1]):
        if max(sqlite, server) >= 50:
            lines.append(f"| `{name}` | {sqlite:,.0f} | {server:,.0f} |")
    return "\n".join(lines)


# ---------------------------------------------------------------- reality beside prediction


@dataclass(frozen=True, slots=True)
class Row:
    """A crawl that was tried, and what the simulation said of it; a line of the file of results.

    Attributes:
        kind, pages: of the crawl.
        seconds, busy: of the real one, with CPU seconds by kind of process.
        others: cores that other programs took meanwhile.
        growth: by which storing a page grew with each e-fold of pages.
        told_seconds, told_busy: of the simulated one.
        queued, told_queued: URLs that waited, on average; of several processes only the latter is known.
        costs: which the simulation was given.
    """

    kind: str
    pages: int
    seconds: float
    busy: dict[str, float]
    others: float
    growth: float
    told_seconds: float
    told_busy: dict[str, float]
    queued: float
    told_queued: float
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Share by which the prediction is too long."""
        return self.told_seconds / self.seconds - 1

    def __str__(self) -> str:
        cpu, told = (1000 * sum(busy.values()) / self.pages for busy in (self.busy, self.told_busy))
        used = sum(self.busy.values()) / self.seconds / CORES
        told_used = sum(self.told_busy.values()) / self.told_seconds / CORES
        queued = "-" if math.isnan(self.queued) else f"{self.queued:,.0f}"
        return (
            f"| {self.kind} | {self.pages:,} | {self.pages / self.seconds:.1f} | {self.pages / self.told_seconds:.1f} "
            f"| {self.seconds:.1f} | {self.told_seconds:.1f} | {100 * self.error:+.1f} % | {cpu:.2f} | {told:.2f} "
            f"| {100 * used:.0f} % | {100 * told_used:.0f} % | {queued} | {self.told_queued:,.0f} "
            f"| {self.others:.2f} |"
        )


HEAD = """| crawl | pages | pages/s | said | seconds | said | error | CPU ms a page | said | cores in use | said \
| URLs that wait | said | cores of others |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


def grown(crawled: Crawled, costs: Costs) -> float:
    """By which share storing a page grew with each e-fold of pages; the workers say how fast the machine was."""
    moments = [moment for moment in crawled.moments if moment.pages >= CALIBRATION_PAGES]
    if crawled.pages < GROWTH_PAGES:
        return math.nan
    steps = [
        (b.pages - a.pages, b.cpu["own"] - a.cpu["own"], b.cpu["workers"] - a.cpu["workers"], b.pages)
        for a, b in itertools.pairwise(moments)
        if b.pages > a.pages and b.cpu["workers"] > a.cpu["workers"]
    ]
    pages, own, workers, at = np.array(steps).T
    ratio = own / workers * costs.parse
    slope, level = np.polyfit(np.log(at / CALIBRATION_PAGES), ratio, 1, w=np.sqrt(pages))
    return float(slope / (level - costs.fetch))


def check(kinds: Sequence[Kind], sizes: Sequence[int], results: Path) -> list[Row]:
    """Try what is not in the file of results yet; returns all rows of the kinds and sizes."""
    rows = {(row.kind, row.pages): row for row in read(results)}
    wanted = [(kind, pages) for pages in sizes for kind in kinds]
    with ExitStack() as stack:
        postgres = stack.enter_context(Postgres()) if any(kind.shards for kind in kinds) else None
        for kind, pages in wanted:
            if (kind.name, pages) in rows:
                continue
            first = calibrate(kind, postgres, CALIBRATION_PAGES)
            told = simulate(first, web_of(kind, pages), kind.layout(CORES))
            print(
                f"{time.strftime('%H:%M:%S')} {kind.name}, {pages:,} pages: {told.seconds:.0f} s are expected",
                flush=True,
            )
            crawled = crawl(kind, pages, postgres)
            costs = mean(first, calibrate(kind, postgres, CALIBRATION_PAGES))
            smaller = [row.growth for row in rows.values() if GROWTH_PAGES <= row.pages < pages]
            costs = replace(costs, growth=float(np.median(smaller)) if smaller else INPUTS.growth)
            told = simulate(costs, web_of(kind, pages), kind.layout(max(0.05, CORES - crawled.others)))
            row = Row(
                kind.name,
                pages,
                crawled.seconds,
                dict(crawled.busy),
                crawled.others,
                grown(crawled, costs),
                told.seconds,
                dict(told.busy),
                crawled.queued,
                told.queued,
                asdict(costs),
            )
            rows[kind.name, pages] = row
            with results.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
            print(row, flush=True)
    return [rows[kind.name, pages] for kind, pages in wanted]


def calibrate(kind: Kind, postgres: Postgres | None, pages: int) -> Costs:
    """Measure the costs now, by short crawls on the same sort of database.

    How much of the cores such a crawl can use (disks and locks make it wait, too) is what makes the first of them, when
    it is simulated, as fast as it was.
    """
    fast, slow = (replace(each, shards=min(1, kind.shards)) for each in CALIBRATIONS)
    crawled = crawl(fast, pages, postgres)
    costs = costs_of(crawled, crawl(slow, SLOW_PAGES, postgres), fast)
    slope = slopes(crawled)
    told = simulate(costs, web_of(fast, pages), fast.layout(max(0.05, CORES - slope["others"])))
    rate = (EARLY - LATE) * pages / (told.reached[round(100 * EARLY) - 1] - told.reached[round(100 * LATE) - 1])
    return replace(costs, efficiency=slope["rate"] / rate)


def read(results: Path) -> list[Row]:
    """The rows of a file."""
    return [Row(**json.loads(line)) for line in results.read_text().splitlines()] if results.exists() else []


# ---------------------------------------------------------------- further out


@dataclass(frozen=True, slots=True)
class Plan:
    """A crawl that nobody has tried.

    Attributes:
        pages, hosts: of the web.
        layout: by whom it is crawled.
        skew: of the hosts.
        most: pages of a host at most (`MAX_PAGES_PER_HOST`); 0 for all.
    """

    pages: int
    hosts: int
    layout: Layout
    skew: float = 0.8
    most: int = 0

    def __str__(self) -> str:
        layout = self.layout
        if layout.database_cores:
            where = f"{layout.machines} x {layout.cores:.0f} cores, {layout.processes} processes; " + (
                f"{layout.shards} x Postgres on {layout.database_cores:.0f}"
            )
        else:
            where = f"one of {layout.cores:.0f} cores, {layout.processes} process{'es' * (layout.processes > 1)}"
        return where + (f"; {self.most:,} a host" if self.most else "")

    def estimate(self) -> Prediction:
        """The crawl in steps."""
        sizes, counts = grouped(self.pages, self.hosts, self.skew)
        if self.most:
            sizes = np.minimum(sizes, self.most)
        costs = INPUTS.costs()
        if not self.layout.database_cores:
            costs = replace(costs, database=0.0, store=costs.store + INPUTS.sqlite)
        web = Web(sizes, INPUTS.delay, INPUTS.latency, INPUTS.new_links)
        return estimate(costs, web, self.layout, each=counts)


def big(machines: int, shards: int, database_cores: int = 8) -> Layout:
    """Machines of 8 cores, each with two processes of three workers, and a database server for each shard."""
    return Layout(shards, 2 * machines, 3, machines, cores=8.0, database_cores=database_cores, requests=256)


PLANS = (
    Plan(10**6, 10**3, Layout()),
    Plan(10**6, 10**3, Layout(), most=10_000),
    Plan(10**7, 10**4, Layout(requests=256)),
    Plan(10**7, 10**4, big(1, 1)),
    Plan(10**7, 10**4, big(1, 1), most=100_000),
    Plan(10**8, 10**5, big(1, 1)),
    Plan(10**8, 10**5, big(4, 4, 4)),
    Plan(10**8, 10**5, big(4, 4, 4), most=500_000),
    Plan(10**10, 3 * 10**6, big(12, 24)),
    Plan(10**10, 3 * 10**6, big(12, 24), most=2_000_000),
    Plan(10**10, 3 * 10**6, big(50, 100), most=2_000_000),
    Plan(10**10, 3 * 10**6, Layout(1_000, 1_000, 2, 125, 8.0, 1.0), most=2_000_000),
)
AGREEMENTS = (
    ("cores", 200, 0.0, 0.0, Layout()),
    ("politeness", 200, 0.0, 1.0, Layout()),
    ("skewed hosts", 2_000, 0.8, 1.0, Layout()),
    ("answers in 1 s", 2_000, 0.5, 0.0, Layout()),
    ("hosts held, 500", 2_000, 0.5, 1.0, Layout(most_hosts=500)),
    ("two processes, Postgres", 2_000, 0.5, 0.2, Layout(1, 2, 1)),
    ("four machines and shards", 2_000, 0.8, 0.2, big(4, 4)),
)
"""Name, hosts, skew, delay and layout of webs on which both models are tried."""


def agree(pages: int) -> str:
    """Both models beside each other, as a table."""
    lines = ["| hosts | hours by events | by steps | | half of it | by steps | |", "|---|---|---|---|---|---|---|"]
    costs = INPUTS.costs()
    for name, hosts, skew, delay, layout in AGREEMENTS:
        web = Web(heavy_tailed(pages, hosts, skew), delay, 1.0 if name.startswith("answers") else 0.0, INPUTS.new_links)
        exact, stepped = simulate(costs, web, layout), estimate(costs, web, layout)
        cells = [
            f"{events / 3_600:.3g} | {steps / 3_600:.3g} | {100 * (steps / events - 1):+.1f} %"
            for events, steps in [(exact.seconds, stepped.seconds), (exact.reached[49], stepped.reached[49])]
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def plan() -> str:
    """Show what the simulation says of larger crawls, as a table."""
    lines = [
        "| pages | hosts | machines | pages/s, first tenth | days to 90 % | 99 % | all | held up by | TB on disk "
        "| GB a process | $ machines | $ disk | $ traffic |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in PLANS:
        told, layout = each.estimate(), each.layout
        days = [seconds / 86_400 for seconds in (told.reached[89], told.reached[98], told.seconds)]
        cores = layout.machines * layout.cores + layout.shards * layout.database_cores
        # the index is in every process, the graph in one of each shard; memory is bought with cores
        billions = told.pages / layout.shards / 1e9
        index = min(billions * INPUTS.duplicate_bytes, INPUTS.duplicate_gb)
        graph = billions * INPUTS.rank_bytes
        cores = max(cores, (index * layout.processes + graph * layout.shards) / INPUTS.core_gb)
        on_disk = max(0.0, billions * INPUTS.duplicate_bytes - index) * layout.processes / 1e3
        disk = told.pages * INPUTS.disk_bytes / 1e12 + on_disk
        traffic = told.pages * INPUTS.new_links * (1 - 1 / layout.shards) * INPUTS.inbox_bytes / 1e12
        bound = ", ".join(f"{name} {100 * share:.0f} %" for name, share in told.bound.most_common(2) if share >= 0.01)
        money = [
            days[1] * 24 * cores * INPUTS.core_hour,
            disk * 1000 * INPUTS.gb_month * max(1, days[1] / 30),
            traffic * INPUTS.traffic_tb,
        ]
        cells = [told.pages / 10 / told.reached[9], *days, disk, index + graph, *money]
        rate, *rest = [f"{cell:,.0f}" if cell >= 10 else f"{cell:.2g}" for cell in cells]
        lines.append(
            f"| {told.pages:,} | {each.hosts:,} | {each} | {rate} | {' | '.join(rest[:3])} | {bound} "
            f"| {' | '.join(rest[3:])} |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, or foretell."""
    parser = new_parser(__doc__)
    parser.add_argument("--check", action="store_true", help="hold the simulation against real crawls")
    parser.add_argument("--pages", default="10000", help="sizes of the crawls, separated by commas")
    parser.add_argument("--only", action="append", choices=[kind.name for kind in KINDS], help="kinds of crawls")
    parser.add_argument("--results", type=Path, default=Path("scale.jsonl"), help="file of what was tried already")
    parser.add_argument("--agree", type=int, metavar="PAGES", help="hold steps of time against single requests")
    parser.add_argument("--bytes", type=int, metavar="PAGES", help="crawl so many usual pages: bytes by table")
    options = parser.parse_args(arguments)
    if options.bytes:
        print(weigh(options.bytes))
        return 0
    if options.agree:
        print(agree(options.agree))
        return 0
    if not options.check:
        print(plan())
        return 0
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", options.pages):
        parser.error(f"--pages is {options.pages!r}; it takes numbers separated by commas, such as 10000,100000")
    kinds = [kind for kind in KINDS if not options.only or kind.name in options.only]
    try:
        rows = check(kinds, [int(size) for size in options.pages.split(",")], options.results)
    except RuntimeError as problem:
        parser.error(str(problem))
    print(HEAD, *rows, sep="\n")
    return int(any(abs(row.error) > BAR for row in rows))


if __name__ == "__main__":
    sys.exit(main())
