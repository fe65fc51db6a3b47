"""Cost of keywords, summaries, classes and harm: of an article by part, and of a crawl with and without them.

    uv run python -m tests.benchmarks.describe_cost         # articles of 1,000 characters
    uv run --with-requirements ../shared/webworld/requirements.txt python -m tests.benchmarks.describe_cost
        --crawl 3 [--seed 11] [--read 30]

The articles are the newsroom's, several in a row cut to 1,000 characters; medians of CPU milliseconds, and seconds and
memory to start. `--crawl N` crawls the gazettes of the test web N times without and with descriptions, in turn: pages a
second, CPU milliseconds a page of the crawling process and of the workers, peak memory, and the medians' ratios.
`--read N` prints what stands in the last database of N articles taken evenly from it, to be read by eye.
"""

from __future__ import annotations

import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in a worker

from crawler.demo.content import load_articles
from pipelines.describe import describer
from pipelines.text.analysis import analyse
from pipelines.text.harmful.judge import judge
from pipelines.text.summary import summarise

from . import webworld
from .commands import crawl_command, new_parser
from .crawl_speed import HEADER, PLAIN, Usage, row, watch

PORT, CONTROL = 18120, 18121
CHARS = 1000
TIMES = 3


def articles() -> Iterator[tuple[str, str]]:
    """Titles and Chinese texts of `CHARS` characters."""
    for site, own in load_articles().items():
        if site != "herald":
            for place, article in enumerate(own):
                following = (own[place:] + own[:place])[:20]
                yield article.title, "\n".join(line for one in following for part in one.parts for line in part)[:CHARS]


def parts() -> str:
    """CPU milliseconds of each part of a description, and what starting costs."""
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    describer().describe("新闻", "今天的新闻。", "zh")
    lines = [f"{'start':<12} {1000 * (time.process_time() - started):7.0f} ms"]
    found: dict[str, list[float]] = {}
    for title, text in [*articles()] * TIMES:
        for name, work in works(title, text).items():
            begun = time.process_time()
            work()
            found.setdefault(name, []).append(1000 * (time.process_time() - begun))
    lines += [f"{name:<12} {median(each):7.2f} ms" for name, each in found.items()]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return "\n".join([*lines, f"{'memory':<12} {grown / 1024:7.0f} MB"])


def works(title: str, text: str) -> dict[str, Callable[[], object]]:
    """The parts of a description of an article."""
    made, cut = describer(), analyse(title, text, "zh")
    return {
        "words": lambda: analyse(title, text, "zh"),
        "keywords": lambda: made.method and made.method(cut, made.words.frequencies),
        "summary": lambda: summarise(cut, made.words.frequencies),
        "classes": lambda: made.classify(title, text),
        "harm": lambda: judge(title, text),
        "all": lambda: made.describe(title, text, "zh"),
    }


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
    usage, process = watch(crawl_command(seeds, chosen))
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
    parser = new_parser(__doc__)
    parser.add_argument("--crawl", type=int, default=0, metavar="ROUNDS")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--read", type=int, default=0, metavar="N")
    options = parser.parse_args()
    if not options.crawl:
        print(parts())
        return
    if reason := webworld.missing():
        sys.exit(f"skipped: {reason}")
    figures: dict[str, list[tuple[float, float]]] = {"plain": [], "described": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with webworld.serving(folder / "world", seed=options.seed, port=PORT, control=CONTROL, per_site=173) as world:
            seeds = world / "seeds-gazette.txt"
            print(HEADER)
            for _ in range(options.crawl):
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
