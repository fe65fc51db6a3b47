"""Cost of each page of the web page for the server: CPU, and the wait of one reader.

    uv run python -m tests.benchmarks.page_cost news.db [--rounds 5] [--only "phrase"]

Starts `scrapy serve` on a database that `tests.benchmarks.search_speed build` has made, asks for the first page, and
then for every kind of page in turn, so many rounds. The CPU is that of the server's process with all its threads, by
the kernel's clock; SQLite works inside of it. Medians and most of the rounds.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import time
import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlencode

from .commands import new_parser
from .web_load import Served, served

COMMON, OTHER, THIRD = "中国", "发展", "经济"
_ROUNDS = 5
_WAIT_SECONDS = 90


def pages(database: Path) -> dict[str, str]:
    """Return what is asked for, by the name of its kind."""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as opened:
        newest = "SELECT id, title, url, site FROM v_articles WHERE language = 'zh-Hans' LIMIT 40"
        key, title, url, site = max(opened.execute(newest), key=lambda row: len(row[1]))
        (story,) = opened.execute("SELECT id FROM cluster WHERE size > 1 ORDER BY size DESC LIMIT 1").fetchone() or (
            key,
        )
    part = title[len(title) // 2 - 4 : len(title) // 2 + 4]
    return dict(
        [
            _search("newest stories"),
            _search("oldest stories", sort="oldest"),
            _search("rare word", "哥德堡"),
            _search("common word", COMMON),
            _search("three words", f"{COMMON} {OTHER} {THIRD}"),
            _search("headline", title[:30]),
            _search("phrase of common words", f"“{COMMON}{THIRD}”"),
            _search("rare phrase", f"“{part}”"),
            _search("phrase of one character", "“国”"),
            _search("OR", f"{COMMON} OR {OTHER}"),
            _search("OR of a phrase", f"“{COMMON}{THIRD}” OR {OTHER}"),
            _search("without a word", f"{COMMON} -{THIRD}"),
            _search("only without", f"-{COMMON}"),
            _search("title:", f"title:{COMMON}"),
            _search("author:", "author:李四"),
            _search("near:", f"near:5({COMMON} {OTHER})"),
            _search("English word", "flow"),
            _search("English phrase", '"boundary layer"'),
            _search("site:", f"{COMMON} site:{site}"),
            _search("class:", f"{COMMON} class:sport"),
            _search("a site without words", site=site),
            _search("after:", f"{COMMON} after:2025-06"),
            _search("a day", since="2025-06-10", until="2025-06-10"),
            *(_search(f"common word, {order}", COMMON, sort=order) for order in ("newest", "oldest", "reprinted")),
            _search("phrase, oldest", f"“{COMMON}{THIRD}”", sort="oldest"),
            _search("most reprinted", sort="reprinted"),
            _search("list", COMMON, view="list", limit=50),
            _search("page 50", COMMON, page=50),
            _search("related words", COMMON, expand=1),
            *(_page(f"values of {facet}", "/values", q=COMMON, facet=facet) for facet in ("site", "source", "month")),
            _page("values without words", "/values", facet="site"),
            _page("timeline", "/api/timeline", q=COMMON, by="month", stack="site"),
            _page("timeline of all", "/api/timeline"),
            _page("timeline.csv", "/timeline.csv", q=COMMON),
            _page("compare 2", "/compare", q=[COMMON, THIRD]),
            _page("compare 5", "/compare", q=[COMMON, OTHER, THIRD, "人民", "国家"]),
            _page("compare phrases", "/compare", q=[f"“{COMMON}{THIRD}”", f"“{COMMON}人民”"]),
            _page("feed of all", "/feed.atom"),
            _page("feed of a common word", "/feed.atom", q=COMMON),
            _page("feed of a phrase", "/feed.rss", q=f"“{COMMON}{THIRD}”"),
            _page("feed of a rare phrase", "/feed.json", q=f"“{part}”"),
            _page("article", f"/article/{key}"),
            _page("article of a search", f"/article/{key}", q=COMMON),
            _page("words of an article", f"/article/{key}/words"),
            _page("story", f"/story/{story}"),
            _page("API search", "/api/search", q=COMMON),
            _page("API article", f"/api/articles/{key}"),
            _page("API sites", "/api/sites"),
            _page("API crawl", "/api/crawl"),
            _page("sites", "/sites"),
            _page("a site", f"/sites/{site}"),
            _page("crawl", "/crawl"),
            _page("graph", "/graph"),
            _page("graph of a site", "/graph", site=site),
            _page("why", "/why", url=url),
            _page("settings", "/settings"),
            _page("desk", "/desk"),
            _page("export of 10,000", "/api/export", q=COMMON),
            _page("export of 10,000 by time", "/api/export", q=COMMON, order="newest"),
        ]
    )


def _page(name: str, path: str, **parameters: object) -> tuple[str, str]:
    return name, f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path


def _search(name: str, text: str = "", **parameters: object) -> tuple[str, str]:
    return _page(name, "/", **({"q": text} if text else {}), **parameters)


def cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used, with all its threads."""
    return time.clock_gettime(~pid << 3 | 2)


def ask(server: Served, path: str) -> tuple[float, float, int]:
    """Ask for a page; returns CPU and wait in milliseconds, and the status."""
    before, begun = cpu(server.pid), time.perf_counter()
    try:
        with urllib.request.urlopen(server.origin + path, timeout=_WAIT_SECONDS) as answer:
            status = answer.status
            while answer.read(1 << 16):
                pass
    except urllib.error.HTTPError as refused:
        status = refused.code
    return 1000 * (cpu(server.pid) - before), 1000 * (time.perf_counter() - begun), status


def measure(database: Path, rounds: int, only: str) -> None:
    """Print a line for each kind of page."""
    asked = {name: path for name, path in pages(database).items() if only in name}
    with served(database) as server:
        spent, waited, status = ask(server, "/?q=" + urlencode({"": COMMON})[1:])
        print(f"first request after the start: {spent:.0f} ms of CPU, {waited:.0f} ms, status {status}", flush=True)
        costs: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
        for _ in range(rounds):
            for name, path in asked.items():
                costs[name].append(ask(server, path))
        time.sleep(1)
    print(f"{'':28}{'CPU ms':>8}{'most':>8}{'wait ms':>9}{'most':>8}")
    for name, some in costs.items():
        spent_all, waits, statuses = zip(*some, strict=True)
        wrong = "" if set(statuses) == {200} else f"  {set(statuses)}"
        numbers = statistics.median(spent_all), max(spent_all), statistics.median(waits), max(waits)
        print(f"{name:28}{numbers[0]:8.1f}{numbers[1]:8.1f}{numbers[2]:9.1f}{numbers[3]:8.1f}{wrong}")


def main() -> None:
    parser: argparse.ArgumentParser = new_parser(__doc__)
    parser.add_argument("database", type=Path)
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--only", default="", help="pages whose name has this in it")
    given = parser.parse_args()
    measure(given.database.resolve(), given.rounds, given.only)


if __name__ == "__main__":
    main()
