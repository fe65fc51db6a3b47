"""A long crawl of several hostile test webs at once: do memory and open files stay flat, does it ever stand still?

    uv run python -m tests.benchmarks.soak [--pages 200000] [--seeds 21 22 23 24 25] [--per-site 2000] [--minutes 60]
        [--set NAME=VALUE ...] [--folder DIR]

Serves the worlds of all seeds (honest sites, traps, broken servers and bombs mixed), crawls them with one `scrapy crawl
news`, and looks at its processes every two seconds. Ends by itself: the crawl stops after so many pages, and is stopped
after so many minutes. Needs what `hazards.py` needs. The exit code is 1 when the processes grow by more than a tenth
over the last half of the pages, when open files do, or when no page was fetched for ten seconds.
"""

from __future__ import annotations

import itertools
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from .commands import PROJECT, new_parser
from .webworld import crawl_command, missing, serving

_EVERY_SECONDS = 2.0
_MOST_GROWTH = 0.1
_MOST_STALL_SECONDS = 10.0
_PORT, _CONTROL, _STEP = 8480, 8600, 10
_END_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Sample:
    """What the crawl's processes needed at a moment: Unix time, megabytes of each kind, open files of the crawler."""

    at: float
    crawler: float
    workers: float
    files: int


def look(root: psutil.Process) -> Sample | None:
    """The crawling process (the largest of those that are no worker), the sum of all others, open files."""
    sizes: list[tuple[float, psutil.Process]] = []
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.Error):
            sizes.append((process.memory_info().rss / 2**20, process))
    crawler = next((p for _, p in sizes if _is_crawler(p)), None)
    if crawler is None:
        return None
    own = next(size for size, process in sizes if process is crawler)
    with suppress(psutil.Error):
        return Sample(time.time(), own, sum(size for size, _ in sizes) - own, crawler.num_fds())
    return None


def _is_crawler(process: psutil.Process) -> bool:
    """Whether this is the process of `scrapy crawl` itself, and neither its launcher nor a worker."""
    with suppress(psutil.Error):
        line = process.cmdline()
        return "python" in Path(line[0]).name and any(part.endswith("/scrapy") for part in line)
    return False


def fetched(database: Path) -> list[float]:
    """When pages were fetched, in order (Unix times)."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        rows = connection.execute("SELECT fetched_at FROM url WHERE fetched_at IS NOT NULL ORDER BY fetched_at")
        return [at for (at,) in rows]


def crawl(command: list[str], pages: int, minutes: float, log: Path) -> tuple[list[Sample], int]:
    """Run the crawl to its end; returns what was seen of it and its exit code."""
    samples: list[Sample] = []
    deadline = time.monotonic() + 60 * minutes
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "-s", f"MAX_PAGES={pages}"], cwd=PROJECT, stdout=out, stderr=out, start_new_session=True
        )
        root = psutil.Process(process.pid)
        while process.poll() is None:
            sample = look(root)
            if sample is not None:
                samples.append(sample)
            if time.monotonic() > deadline:
                for one in [root, *root.children(recursive=True)]:
                    if _is_crawler(one):
                        one.send_signal(signal.SIGINT)
                process.wait(_END_SECONDS)
                break
            time.sleep(_EVERY_SECONDS)
    return samples, process.returncode


def report(samples: list[Sample], times: list[float], code: int) -> bool:
    """Print the course of the crawl; returns whether it was flat."""
    # the end is no stall: the last pages of slow servers are waited for
    busy = times[: int(0.98 * len(times))]
    stall, since = max(((b - a, a) for a, b in itertools.pairwise(busy)), default=(0.0, 0.0))
    print(f"{len(times)} pages in {times[-1] - times[0]:.0f} s, {len(times) / (times[-1] - times[0]):.0f} pages/s")
    print(f"exit code {code}; longest time without a page {stall:.1f} s, {since - times[0]:.0f} s after the first")
    print(f"{'pages':>8} {'crawler MB':>11} {'others MB':>10} {'files':>6}")
    marks = []
    for tenth in range(1, 11):
        last = times[int(len(times) * tenth / 10) - 1]
        first = times[int(len(times) * (tenth - 1) / 10)]
        seen = [one for one in samples if first <= one.at <= last]
        if not seen:
            continue
        row = Sample(last, max(s.crawler for s in seen), max(s.workers for s in seen), max(s.files for s in seen))
        marks.append(row)
        print(f"{len(times) * tenth // 10:8} {row.crawler:11.0f} {row.workers:10.0f} {row.files:6}")
    half = marks[len(marks) // 2 :]
    growth = {
        "memory of the crawler": half[-1].crawler / half[0].crawler - 1,
        "memory of the others": half[-1].workers / half[0].workers - 1,
        "open files": half[-1].files / half[0].files - 1,
    }
    for name, value in growth.items():
        print(f"{name} over the last half: {value:+.1%}")
    return max(growth.values()) <= _MOST_GROWTH and stall <= _MOST_STALL_SECONDS


def main() -> int:
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[21, 22, 23, 24, 25])
    parser.add_argument("--per-site", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    parser.add_argument("--folder", type=Path, help="where the database and the logs stay")
    given = parser.parse_args()
    if why := missing():
        print(f"skipped: {why}")
        return 0
    folder = (given.folder or Path(tempfile.mkdtemp(prefix="soak-"))).resolve()
    print(f"results in {folder}", flush=True)
    with ExitStack() as stack:
        lines: list[str] = []
        for number, seed in enumerate(given.seeds):
            ports = {"port": _PORT + _STEP * number, "control": _CONTROL + _STEP * number}
            world = serving(folder / f"world-{seed}", seed=seed, per_site=given.per_site, **ports)
            lines += (stack.enter_context(world) / "seeds.txt").read_text(encoding="utf-8").splitlines()
        seeds = folder / "seeds.txt"
        seeds.write_text("\n".join(lines) + "\n", encoding="utf-8")
        database = folder / "articles.db"
        command = [part.format(seeds=seeds, db=database) for part in crawl_command(given.settings)]
        samples, code = crawl(command, given.pages, given.minutes, folder / "crawl.log")
    return int(not report(samples, fetched(database), code))


if __name__ == "__main__":
    sys.exit(main())
