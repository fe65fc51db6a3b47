"""What keywords, summaries, classes and harm cost a crawl: the gazettes of the test web with and without them, in turn.

    uv run --with-requirements ../shared/webworld/requirements.txt python -m tests.benchmarks.described_crawl
        [--rounds 3] [--seed 11] [--read 30]

Prints pages a second, CPU milliseconds a page of the crawling process and of the workers, and peak memory of each
crawl, then the medians' ratios. `--read N` prints what stands in the last database of N articles taken evenly from it,
to be read by eye.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
from pathlib import Path
from statistics import median

from . import webworld
from .crawl_speed import Usage, row, watch

PLAIN = {"KEYWORDS": "", "CLASSES": "", "HARMFUL": "off"}
PORT, CONTROL = 18120, 18121


def crawl(folder: Path, seeds: Path, settings: dict[str, str]) -> tuple[Usage, int, int]:
    """Crawl the gazettes; what it used, its process, and the pages that it read."""
    database = folder / "news.db"
    database.unlink(missing_ok=True)
    chosen = {
        "DATABASE_URL": f"sqlite:///{database}",
        "ALLOW_NETWORKS": webworld.NETWORK,
        "HOST_DELAY": "0",
        **settings,
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "news", "-a", f"seeds={seeds}"]
    usage, process = watch([*command, *[part for name, value in chosen.items() for part in ("-s", f"{name}={value}")]])
    with sqlite3.connect(database) as opened:
        (pages,) = opened.execute("SELECT count(*) FROM url WHERE state = 'done'").fetchone()
    return usage, process, pages


def read(database: Path, count: int) -> str:
    """Some articles of a database, with what was found of them."""
    columns = "site, title, keywords, classes, harm_kind, summary"
    with sqlite3.connect(database) as opened:
        asked = f"SELECT {columns} FROM v_articles WHERE duplicate_of IS NULL ORDER BY id"
        found = opened.execute(asked).fetchall()
    lines = (
        f"{title} [{site}]\n  keywords: {keywords}\n  classes: {classes}{f'; {harm}!' if harm else ''}\n  {summary}"
        for site, title, keywords, classes, harm, summary in found[:: max(1, len(found) // count)][:count]
    )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--read", type=int, default=0, metavar="N")
    options = parser.parse_args()
    if reason := webworld.missing():
        sys.exit(f"skipped: {reason}")
    figures: dict[str, list[tuple[float, float]]] = {"plain": [], "described": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with webworld.serving(folder / "world", seed=options.seed, port=PORT, control=CONTROL, per_site=173) as world:
            seeds = world / "seeds-gazette.txt"
            print(f"{'':<12} {'pages/s':>8} {'CPU ms/page':>12} {'workers':>12} {'peak MB':>9} {'seconds':>7}")
            for _ in range(options.rounds):
                for kind, settings in (("plain", PLAIN), ("described", {})):
                    usage, process, pages = crawl(folder, seeds, settings)
                    print(row(kind, usage, process, pages), f"{pages:>7} pages", flush=True)
                    figures[kind].append((pages / usage.wall, 1000 * sum(usage.own.values()) / pages))
        for place, what in enumerate(("pages/s", "CPU a page")):
            before, after = (median(one[place] for one in figures[kind]) for kind in figures)
            print(f"{what}: {before:.1f} -> {after:.1f}, {after / before - 1:+.1%}")
        if options.read:
            print(read(folder / "news.db", options.read))


if __name__ == "__main__":
    main()
