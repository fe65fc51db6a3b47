"""A crawl of sites whose pages show their text by script, from their home pages alone, compared with the truth.

    uv run python -m tests.benchmarks.rendered_sites [--port 8610] [--latency .01] [--delay .2]

The sites lie beside the project, or in the folder that JS_SITES names: `server.py` serves them and notes each request,
`server.py truth` says what their articles are. Printed are the articles found, how alike their texts are, titles and
times, rows that are none, the requests to what robots.txt shuts, the least time between two requests to a host, CPU
seconds of a rendered page and memory of the browser, each beside its bar.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .commands import PROJECT, crawl_command, new_parser

SITES = Path(os.environ.get("JS_SITES") or PROJECT / "../shared/jsweb").resolve()
LOOK_SECONDS = 0.25
START_SECONDS = 20
TICKS = os.sysconf("SC_CLK_TCK")
SHUT = ("/bff/story/private", "/account/")
"""Paths that the robots.txt files of the sites shut."""


@dataclass
class Processes:
    """Of a browser, as looked at from time to time.

    Attributes:
        seconds: CPU of each, when it was last seen.
        memory: bytes of all at most, shared ones counted in part.
    """

    seconds: dict[int, float] = field(default_factory=dict)
    memory: int = 0

    def look(self, crawl: int) -> None:
        """Look at all processes of the browser that a crawl has started."""
        memory = 0
        for pid in _descendants(crawl):
            if not _is_browser(pid):
                continue
            try:
                times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                self.seconds[pid] = (int(times[11]) + int(times[12])) / TICKS
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                memory += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
            except (OSError, IndexError):
                continue
        self.memory = max(self.memory, memory)

    def left(self) -> int:
        """How many of those seen are still there."""
        return sum(_is_browser(pid) for pid in self.seconds)


def _descendants(root: int) -> list[int]:
    """All processes that a process has started, and those that they have."""
    of: dict[int, list[int]] = defaultdict(list)
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            of[int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])].append(int(name))
        except (OSError, IndexError):
            continue
    found = [root]
    for pid in found:
        found += of[pid]
    return found[1:]


def _is_browser(pid: int) -> bool:
    try:
        return b"headless" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def likeness(one: str, other: str) -> float:
    """F1 of the characters of two texts, white space aside."""
    a, b = Counter("".join(one.split())), Counter("".join(other.split()))
    return 2 * (a & b).total() / max(1, a.total() + b.total())


def compare(database: Path, truth: dict[str, Any]) -> dict[str, float]:
    """What was stored, beside the truth."""
    query = "SELECT u.url, a.title, a.text, a.published_at, a.text_from FROM article a JOIN url u ON u.id = a.id"
    with sqlite3.connect(database) as connection:
        rows = {row[0]: row[1:] for row in connection.execute(query)}
    both = [(rows[url], one) for url, one in truth.items() if url in rows]
    for url, one in truth.items():
        if url not in rows:
            print(f"  not found: {url} ({one['found_by']})")
        elif (alike := likeness(rows[url][1], one["text"])) < 0.98:
            print(f"  {url}: F1 {alike:.3f}, text from {rows[url][3]}")
    for url in rows.keys() - truth.keys():
        print(f"  no article: {url}")
    print("  texts from", dict(Counter(row[3] for row in rows.values())))
    return {
        "articles": len(both),
        "F1": sum(likeness(row[1], one["text"]) for row, one in both) / max(1, len(both)),
        "titles": sum(_plain(row[0]) == _plain(one["title"]) for row, one in both) / max(1, len(both)),
        "times": sum((row[2] or "")[:16] == one["published"][:16] for row, one in both) / max(1, len(both)),
        "others": len(rows.keys() - truth.keys()),
    }


def _plain(title: str) -> str:
    return "".join(title.split())


def requests(access: Path) -> tuple[int, int, dict[str, float]]:
    """Requests in all, those to what robots.txt shuts, and the least seconds between two to a host."""
    times, shut, count = defaultdict(list), 0, 0
    for line in access.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        count += 1
        shut += row["path"].startswith(SHUT)
        times[row["site"]].append(row["t"])
    gaps = {
        site: min((b - a for a, b in zip(sorted(at), sorted(at)[1:], strict=False)), default=0.0)
        for site, at in times.items()
    }
    return count, shut, gaps


def crawl(folder: Path, seeds: Path, delay: float) -> tuple[Path, Processes, float]:
    """Crawl, and look at the browser meanwhile; returns the database, the browser, and seconds."""
    database = folder / "news.db"
    settings = {
        "ALLOW_NETWORKS": "127.0.61.0/24",
        "HOST_DELAY": delay,
        "RENDER": "auto",
        "DATABASE_URL": f"sqlite:///{database}",
    }
    processes, began = Processes(), time.monotonic()
    with (folder / "crawl.log").open("wb") as log:
        crawling = subprocess.Popen(crawl_command(seeds, settings), cwd=PROJECT, stdout=log, stderr=log)
        while crawling.poll() is None:
            processes.look(crawling.pid)
            time.sleep(LOOK_SECONDS)
    print((folder / "crawl.log").read_text(encoding="utf-8")[-300:].strip().splitlines()[-1])
    return database, processes, time.monotonic() - began


def main() -> int:
    """Serve, crawl, compare."""
    parser = new_parser(__doc__)
    parser.add_argument("--port", type=int, default=8610)
    parser.add_argument("--latency", type=float, default=0.01)
    parser.add_argument("--delay", type=float, default=0.2)
    options = parser.parse_args()
    if not (SITES / "server.py").is_file():
        print(f"skipped: there are no sites at {SITES}; name their folder in JS_SITES")
        return 0
    script, port = [sys.executable, str(SITES / "server.py")], ["--port", str(options.port)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = json.loads(subprocess.check_output([*script, "truth", *port]))
        seeds, access = folder / "seeds.txt", folder / "access.jsonl"
        seeds.write_bytes(subprocess.check_output([*script, "seeds", *port]))
        serve = [*script, *port, "--access", str(access), "--latency", str(options.latency)]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None
            server.stdout.readline()
            database, browser, seconds = crawl(folder, seeds, options.delay)
        finally:
            server.terminate()
            server.wait(START_SECONDS)
        time.sleep(1)
        left = browser.left()
        found = compare(database, truth)
        with sqlite3.connect(database) as connection:
            rendered = connection.execute("SELECT coalesce(sum(tries), 0) FROM render_gain").fetchone()[0]
        count, shut, gaps = requests(access)
    print(f"articles       {found['articles']} of {len(truth)} (bar 46 of 48), others {found['others']:g} (bar 0)")
    print(f"texts          F1 {found['F1']:.3f} (bar .98)")
    print(f"titles, times  {found['titles']:.3f}, {found['times']:.3f} (bar .95)")
    print(f"requests       {count}, shut by robots.txt {shut} (bar 0)")
    print(f"between two    {min(gaps.values()):.3f} s at least; an answer takes {options.latency} s")
    if rendered:
        print(f"rendered       {rendered} pages, {sum(browser.seconds.values()) / rendered:.3f} s CPU each (bar .25)")
    print(f"memory         {browser.memory / 1e6:.0f} MB (bar 350); browser processes left {left} (bar 0)")
    print(f"seconds        {seconds:.1f}")
    is_good = found["articles"] >= 0.95 * len(truth) and not found["others"] and found["F1"] >= 0.98 and not shut
    return 0 if is_good and not left else 1


if __name__ == "__main__":
    raise SystemExit(main())
