"""How fast the whole crawl is: a local server of generated pages, the real command, CPU of the processes by themselves.

    uv run python -m tests.benchmarks.crawl_speed [--pages 10000] [--hosts 50] [--database URL] [--no-descriptions]
        [--curve] [--alone] [--links 60] [--paragraphs 8] [--filler 50]

Pages of about 50 KB with 60 links each, over hosts that are addresses of loopback. Beside it, in the same run, a Scrapy
spider that fetches the same pages and does nothing else. Prints pages a second, CPU milliseconds a page of the crawling
process and of the workers, and the most memory that all took together: pages that several share counted once, and
("summed") as often as they are shared. Articles are described (keywords, summary, classes, harm), as by default, but
with `--no-descriptions`. Quote ratios: absolute times are those of the machine. `--curve` shows how they change from
the first tenth of the pages to the last: whether a crawl gets slower or grows ("others MB": all other processes, shared
pages as often as they are). `--links`, `--paragraphs` and `--filler` say how large the pages are; a hundred thousand
small ones (`--alone --pages 100000 --links 10 --paragraphs 1 --filler 0`) show what grows with a crawl.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .commands import PROJECT, crawl_command, new_parser
from .static_site import NETWORK, Serving, Shape, Site

TICKS = os.sysconf("SC_CLK_TCK")
_LOOKS_A_MEMORY = 10
PLAIN = {"KEYWORDS": "", "CLASSES": "", "HARMFUL": "off"}
HEADER = f"{'':<12} {'pages/s':>8} {'CPU ms/page':>12} {'workers':>12} {'peak MB':>9} {'summed':>9} {'seconds':>7}"
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class Moment:
    """A crawl at one time: pages, seconds, CPU seconds (own, workers'), MB (own, others'), open files, threads."""

    pages: int
    seconds: float
    own: float
    workers: float
    mb: float
    others_mb: float
    files: int
    threads: int


@dataclass
class Usage:
    """CPU seconds of a command and of its processes, and peak memory of all in MB, shared pages once.

    Attributes:
        cpu: of all processes, as the system adds it up when they have ended.
        own: by process identifier; but for the command's own process, as last seen.
    """

    wall: float = 0.0
    cpu: float = 0.0
    own: dict[int, float] = field(default_factory=dict)
    peak_mb: float = 0.0
    peak_summed_mb: float = 0.0
    output: str = ""
    moments: list[Moment] = field(default_factory=list)


def watch(command: list[str]) -> tuple[Usage, int]:
    """Run a command and account for its processes until it ends."""
    usage = Usage()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # processes that outlive the one that started them are ours
    before = children_cpu()
    started = time.monotonic()
    with tempfile.NamedTemporaryFile() as output:
        process = subprocess.Popen(command, cwd=PROJECT, stdout=output, stderr=subprocess.STDOUT)
        for look in itertools.count():
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                usage.own[process.pid] = account(process.pid)[0]
                process.wait()
                break
            members = family(process.pid)
            summed = 0.0
            for pid in members:
                cpu, resident = account(pid)
                usage.own[pid] = max(cpu, usage.own.get(pid, 0.0))
                summed += resident
            usage.peak_summed_mb = max(usage.peak_summed_mb, summed)
            if look % _LOOKS_A_MEMORY == 0:
                usage.peak_mb = max(usage.peak_mb, sum(map(proportional, members)))
            pages = pages_done(Path(output.name))
            if pages and (not usage.moments or usage.moments[-1].pages < pages):
                usage.moments.append(moment(usage, process.pid, pages, time.monotonic() - started, summed))
            time.sleep(0.1)
        usage.output = Path(output.name).read_text("utf-8", "replace")
    usage.wall = time.monotonic() - started
    for pid in usage.own:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
    usage.cpu = children_cpu() - before
    return usage, process.pid


def children_cpu() -> float:
    """CPU seconds of all processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pages_done(output: Path) -> int:
    """How many pages the last progress line speaks of."""
    with output.open("rb") as file:
        file.seek(max(0, output.stat().st_size - 1_000))
        found = re.findall(rb"\| (\d+) done \|", file.read())
    return int(found[-1]) if found else 0


def moment(usage: Usage, pid: int, pages: int, seconds: float, summed: float) -> Moment:
    """The state of the crawling process now."""
    own = usage.own[pid]
    threads, files = (len(list(Path(f"/proc/{pid}/{kind}").iterdir())) for kind in ("task", "fd"))
    mb = account(pid)[1]
    return Moment(pages, seconds, own, sum(usage.own.values()) - own, mb, summed - mb, files, threads)


def curve(moments: list[Moment]) -> str:
    """The first moment in each tenth of the pages, with what a page cost since the one before."""
    most = moments[-1].pages
    picked = [next(m for m in moments if m.pages >= most * n / 10) for n in range(1, 11)]
    memory = f"{'MB':>6} {'others MB':>10} {'files':>6} {'threads':>8}"
    lines = [f"{'pages':>8} {'pages/s':>8} {'CPU ms/page':>12} {'workers':>9} {memory}"]
    for a, b in itertools.pairwise([moments[0], *picked]):
        n = max(1, b.pages - a.pages)
        rate, own, workers = n / (b.seconds - a.seconds or 1), 1000 * (b.own - a.own) / n, b.workers - a.workers
        costs = f"{b.pages:>8} {rate:>8.0f} {own:>12.2f} {1000 * workers / n:>9.2f}"
        lines.append(f"{costs} {b.mb:>6.0f} {b.others_mb:>10.0f} {b.files:>6} {b.threads:>8}")
    return "\n".join(lines)


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    members = [pid]
    for member in members:
        with suppress(OSError):
            for thread in Path(f"/proc/{member}/task").glob("*/children"):  # a process is the child of a thread
                members += map(int, thread.read_text().split())
    return members


def account(pid: int) -> tuple[float, float]:
    """CPU seconds and resident MB of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS, int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def proportional(pid: int) -> float:
    """MB of a process, of pages that it shares its part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def row(name: str, usage: Usage, pid: int, pages: int) -> str:
    """One line of the table."""
    own = usage.own.get(pid, 0.0)
    return (
        f"{name:<12} {pages / usage.wall:8.0f} {1000 * own / pages:12.2f} {1000 * (usage.cpu - own) / pages:12.2f} "
        f"{usage.peak_mb:9.0f} {usage.peak_summed_mb:9.0f} {usage.wall:7.1f}"
    )


def write_urls(site: Site, folder: Path) -> tuple[Path, Path]:
    """Write the files that name all pages, for programs which follow no links, and the first one, for ours."""
    urls, seeds = folder / "urls.txt", folder / "seeds.txt"
    urls.write_text("\n".join(map(site.address, range(site.pages))))
    seeds.write_text(site.address(0) + " stay=any\n")
    return urls, seeds


def fetch_command(urls: Path) -> list[str]:
    """Return the command that downloads these and does nothing else."""
    return [sys.executable, "-m", "tests.benchmarks.peer_crawls", "fetch", str(urls)]


def settings_of(database: str, pages: int) -> dict[str, str]:
    """Return the settings of a crawl of so many generated pages."""
    return {"DATABASE_URL": database, "ALLOW_NETWORKS": NETWORK, "HOST_DELAY": "0", "MAX_PAGES": str(pages)}


def main() -> None:
    """Measure and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--database", default="", help="DATABASE_URL to write to; a SQLite file by default")
    parser.add_argument("--no-descriptions", action="store_true", help="articles are not described")
    parser.add_argument("--curve", action="store_true", help="show the costs over the length of the crawl")
    parser.add_argument("--alone", action="store_true", help="nothing is fetched by Scrapy beside it")
    for name in ("links", "paragraphs", "filler"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Shape(), name), help="of a page")
    options = parser.parse_args()
    shape = Shape(options.links, options.paragraphs, options.filler)
    with tempfile.TemporaryDirectory() as folder, Serving(options.pages, options.hosts, shape=shape) as serving:
        urls, seeds = write_urls(serving.site, Path(folder))
        print(HEADER)
        if not options.alone:
            for _ in range(2):  # the first round renders the pages
                usage, pid = watch(fetch_command(urls))
            print(row("fetch only", usage, pid, options.pages))
        database = options.database or f"sqlite:///{folder}/news.db"
        settings = settings_of(database, options.pages) | {"PROGRESS_SECONDS": "2"}
        settings |= PLAIN if options.no_descriptions else {}
        usage, pid = watch(crawl_command(seeds, settings))
        print(row("plain" if options.no_descriptions else "described", usage, pid, options.pages))
        if options.curve:
            print(curve(usage.moments))
        print(usage.output.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
