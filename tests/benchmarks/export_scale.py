"""Exports of many articles: seconds and memory of each format, on SQLite and Postgres.

    uv run python -m tests.benchmarks.export_scale [--articles 10000,120000]

The articles are made up (1,500 characters and as many of HTML, a title, ten links each) and written past the page
transaction. Memory is the peak of the command's process; that of the smallest number of articles tells what grows.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection

from db.articles import apply, plan
from db.engine.database import open_for_crawl
from db.engine.statements import insert_rows
from db.frontier.insert import add_urls
from db.tables.urls import LinkRow
from pipelines.search.terms import index_terms
from tests.db.frontier_rows import NOW, article, new_url
from tests.postgres import Postgres, empty_database

SITES = 200
BLOCK = 2_000
EXPORTS = ("articles jsonl", "articles csv", "articles parquet", "articles markdown", "links jsonl", "links parquet")


def fill(url: str, articles: int) -> None:
    """Write so many articles."""
    draw = random.Random(1)
    signs = [chr(0x4E00 + n) for n in range(3_000)]
    with closing(open_for_crawl(url)) as database:
        for first in range(0, articles, BLOCK):

            def work(connection: Connection, first: int = first) -> None:
                urls = [new_url(f"http://s{n % SITES}.example/{n}") for n in range(first, min(first + BLOCK, articles))]
                add_urls(connection, [(NOW, urls)])
                made = []
                for one in urls:
                    text = "".join(draw.choices(signs, k=1500))
                    html = f"<p>{text}</p>"
                    made.append(article(one.url, text, title=text[:20], html=html, published_at="2025-03-01"))
                apply.insert(
                    connection, [(plan.Insert(one), number) for number, one in enumerate(made, first + 1)], index_terms
                )
                keys = [one.id for one in urls]
                links = [(key, keys[(at + n) % len(keys)], n % 7) for at, key in enumerate(keys) for n in range(1, 11)]
                insert_rows(connection, LinkRow.table(), ("source", "target", "block"), links)

            database.write(work)


def measure(url: str, what: str, form: str, folder: Path) -> str:
    """Run one export; returns a line with rows, seconds and memory."""
    target = folder / f"out.{form}" if (what, form) != ("articles", "markdown") else folder / "out.md"
    command = [sys.executable, "-m", "scrapy", "export", what, "--format", form, "--output", str(target)]
    began = time.perf_counter()
    process = subprocess.Popen([*command, "-s", f"DATABASE_URL={url}"], stderr=subprocess.PIPE, text=True)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    assert process.stderr is not None
    said = process.stderr.read().split(";")[0].strip()
    size = target.stat().st_size / 1e6
    target.unlink()
    assert status == 0, said
    spent = usage.ru_utime + usage.ru_stime
    return f"{said}, {form}: {seconds:.1f} s ({spent:.1f} s CPU), {usage.ru_maxrss / 1e3:.0f} MB, file {size:.0f} MB"


def main() -> None:
    """Print a line for each export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", default="10000,120000")
    sizes = [int(one) for one in parser.parse_args().articles.split(",")]
    with tempfile.TemporaryDirectory() as place, Postgres("fsync=off") as server:
        folder = Path(place)
        for size in sizes:
            with empty_database(server.url, "exported") as postgres:
                for url in (f"sqlite:///{folder}/{size}.db", postgres):
                    print(url.partition(":")[0])
                    fill(url, size)
                    for export in EXPORTS:
                        print("  ", measure(url, *export.split(), folder), flush=True)


if __name__ == "__main__":
    main()
