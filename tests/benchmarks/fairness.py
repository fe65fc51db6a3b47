"""What one slow host costs the others: fifty fast hosts alone, and beside one that takes ten seconds for every answer.

    uv run python -m tests.benchmarks.fairness [--pages 15] [--hosts 50] [--slow 10] [--runs 3]

Crawls `--pages` pages of each fast host, by turns with and without the slow one, and prints for both the median of the
seconds until the fast hosts were done, from the server's log, and the longest time for which a fast host was not asked.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from .static_site import NETWORK, Request, Serving

ROOT = Path(__file__).parents[2]
_DELAY = 1.5
_MOST_SECONDS = 600.0


def crawl(pages: int, hosts: int, slow: float) -> tuple[float, float]:
    """Seconds until the fast hosts were done, and the longest pause of one of them.

    The slow host is the first; without one, it is a fast host that is not counted.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "access.jsonl")
        with Serving(100_000 * hosts, hosts, slow=slow, log=log) as serving:
            seeds = Path(folder, "seeds.txt")
            seeds.write_text("\n".join(f"{serving.site.address(n)} stay=any" for n in range(hosts)), encoding="utf-8")
            command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"seeds={seeds}"]
            values = {
                "DATABASE_URL": f"sqlite:///{folder}/news.db",
                "ALLOW_NETWORKS": NETWORK,
                "HOST_DELAY": _DELAY,
                "MAX_PAGES_PER_HOST": pages,
            }
            settings = [part for name, value in values.items() for part in ("-s", f"{name}={value}")]
            process = subprocess.Popen([*command, *settings], cwd=ROOT, stderr=subprocess.DEVNULL)
            try:
                fast = _wait(process, serving, {serving.site.host(n) for n in range(1, hosts)}, pages)
            finally:
                process.kill()
                process.wait()
    times = defaultdict(list)
    for request in fast:
        times[request.host].append(request.start)
    pauses = (late - early for each in times.values() for early, late in pairwise(sorted(each)))
    return max(r.end for r in fast) - min(r.start for r in fast), max(pauses)


def _wait(process: subprocess.Popen[bytes], serving: Serving, hosts: set[str], pages: int) -> list[Request]:
    """Wait until the crawl has all pages of these hosts; what was asked of them."""
    for _ in range(int(_MOST_SECONDS * 10)):
        fast = [r for r in serving.requests() if r.host in hosts and r.path != "/robots.txt"]
        if len(fast) >= pages * len(hosts):
            return fast
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        raise RuntimeError(f"the crawl ended after {len(fast)} of {pages * len(hosts)} pages")
    raise RuntimeError("the crawl took too long")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=15)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--slow", type=float, default=10.0)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(arguments)
    found: dict[float, list[tuple[float, float]]] = {0.0: [], options.slow: []}
    for _ in range(options.runs):
        for slow, results in found.items():
            results.append(crawl(options.pages, options.hosts + 1, slow))
    medians = {slow: statistics.median(seconds for seconds, _ in results) for slow, results in found.items()}
    for slow, results in found.items():
        beside = f"beside one of {slow:g} s" if slow else "alone"
        print(
            f"{options.hosts} hosts {beside}: {medians[slow]:.2f} s for {options.pages} pages of each, "
            f"longest pause of a host {max(pause for _, pause in results):.2f} s"
        )
    print(f"the slow host costs the others {medians[options.slow] / medians[0.0] - 1:+.1%}")


if __name__ == "__main__":
    main()
