"""Ranks by partitions beside those of one process, on a database with a generated web.

    uv run python -m tests.benchmarks.batch_rank [--pages 300000] [--links 3000000] [--partitions 8] [--workers 2]

The web is that of `link_analysis`. `scrapy rank --by site` and `scrapy batch rank` score it, each as a command of its
own; told are CPU seconds of all its processes and the memory of the largest one. Ends with 1 when a score differs by
1e-9 or more, or the output does with other partitions.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Table

from db.engine.database import open_for_crawl
from db.engine.statements import insert_rows
from db.tables.urls import HostRow, LinkRow, UrlRow
from tests.benchmarks.link_analysis import Web

from .commands import new_parser

_CLOSE = 1e-9


def write(database_url: str, web: Web) -> None:
    """Write a web into a new database."""
    columns = ("id", "url", "host_id", "kind", "state", "depth", "score", "found_in", "found_at", "fetched_at")
    read = set(np.concatenate([sources for sources, *_ in web.fetched()]).tolist())
    with closing(open_for_crawl(database_url)) as database:

        def insert(table: Table, names: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
            database.write(lambda connection: insert_rows(connection, table, names, rows))

        for ids, hosts, sites in web.known():
            found = set(zip(hosts.tolist(), sites.tolist(), strict=True))
            insert(HostRow.table(), ("id", "site_id", "name", "scheme"), [(h, s, f"h{h}", "http") for h, s in found])
            pages = zip(ids.tolist(), hosts.tolist(), strict=True)
            states = {True: ("done", 2.0), False: ("pending", None)}
            rows = [(key, h, *states[key in read]) for key, h in pages]
            insert(
                UrlRow.table(),
                columns,
                [(k, f"http://h{h}/{k}", h, "page", s, 1, 0.5, 1, 1.0, t) for k, h, s, t in rows],
            )
        for sources, counts, targets, _ in web.fetched():
            links = set(zip(np.repeat(sources, counts).tolist(), targets.tolist(), strict=True))
            insert(LinkRow.table(), ("source", "target", "block"), [(*link, 0) for link in sorted(links)])


_TELL = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stderr.write(f" {used.ru_utime + used.ru_stime} {used.ru_maxrss}")
"""


class Watched(NamedTuple):
    """A command's output, CPU seconds of its processes, megabytes of the largest, seconds."""

    output: bytes
    cpu: float
    peak_mb: float
    seconds: float


def watched(*arguments: str) -> Watched:
    """Run a command in a process that knows nothing of others."""
    run = "import resource, subprocess, sys, time; t = time.time(); subprocess.run(sys.argv[1:], check=True); "
    tell = (
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); sys.stderr.write(f'{u.ru_utime + u.ru_stime} {u.ru_maxrss}')"
    )
    begun = time.perf_counter()
    command = [sys.executable, "-c", run + tell, sys.executable, "-m", "scrapy", *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    cpu, kilobytes = done.stderr.split()[-2:]
    return Watched(done.stdout, float(cpu), float(kilobytes) / 1024, time.perf_counter() - begun)


def main() -> None:
    """Print a line for each command."""
    parser = new_parser(__doc__)
    for name, usual in (("pages", 300_000), ("links", 3_000_000), ("partitions", 8), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database, output = f"sqlite:///{folder}/web.db", Path(folder) / "ranks.jsonl"
        write(database, Web(options.pages, options.links))
        alone = watched(
            "rank", "--by", "site", "--all", "--top", "100000", "--format", "jsonl", "-s", f"DATABASE_URL={database}"
        )
        told = {"one process": alone}
        digests = set()
        for partitions in (options.partitions, 2 * options.partitions):
            arguments = ["--workers", str(options.workers), "--partitions", str(partitions), "--output", str(output)]
            told[f"{partitions} partitions"] = watched("batch", "rank", database, *arguments)
            digests.add(hashlib.sha256(output.read_bytes()).hexdigest())
        with output.open() as lines:
            found = {row["url"]: row["score"] for row in map(json.loads, lines)}
    expected = [row for row in map(json.loads, alone.output.splitlines()) if row["record"] == "page"]
    apart = max(abs(found[row["url"]] - row["score"]) for row in expected)
    for what, one in told.items():
        print(f"{what}: {one.cpu:.1f} s CPU, {one.seconds:.1f} s, {one.peak_mb:.0f} MB the largest process")
    print(f"{len(found):,} pages; scores differ by {apart:.1e} at most among the best {len(expected):,}")
    print("the same with other partitions" if len(digests) == 1 else "DIFFERENT with other partitions")
    sys.exit(apart >= _CLOSE or len(digests) > 1)


if __name__ == "__main__":
    main()
