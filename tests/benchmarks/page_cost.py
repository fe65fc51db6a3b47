"""What each page of the web page costs the server: CPU, and the wait of one reader.

    uv run python -m tests.benchmarks.page_cost news.db [--rounds 5] [--only "phrase"]

Starts `scrapy serve` on a database that `tests.benchmarks.search_speed build` has made, asks for the first page, and then
for every kind of page in turn, so many rounds. The CPU is that of the server's process with all its threads, by the
kernel's clock; SQLite works inside of it. Medians and most of the rounds.
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
        (story,) = opened.execute("SELECT id FROM cluster WHERE size > 1 ORDER BY size DESC LIMIT 1").fetchone() or (key,)
    part = title[len(title) // 2 - 4 : len(title) // 2 + 4]
    found: dict[str, str] = {}

    def ask(name: str, path: str, **parameters: object) -> None:
        found[name] = f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path

    def search(name: str, text: str = "", **parameters: object) -> None:
        ask(name, "/", **({"q": text} if text else {}), **parameters)

    search("newest stories")
    search("oldest stories", sort="oldest")
    search("rare word", "哥德堡")
    search("common word", COMMON)
    search("three words", f"{COMMON} {OTHER} {THIRD}")
    search("headline", title[:30])
    search("phrase of common words", f"“{COMMON}{THIRD}”")
    search("rare phrase", f"“{part}”")
    search("phrase of one character", "“国”")
    search("OR", f"{COMMON} OR {OTHER}")
    search("OR of a phrase", f"“{COMMON}{THIRD}” OR {OTHER}")
    search("without a word", f"{COMMON} -{THIRD}")
    search("only without", f"-{COMMON}")
    search("title:", f"title:{COMMON}")
    search("author:", "author:李四")
    search("near:", f"near:5({COMMON} {OTHER})")
    search("English word", "flow")
    search("English phrase", '"boundary layer"')
    search("site:", f"{COMMON} site:{site}")
    search("class:", f"{COMMON} class:sport")
    search("a site without words", site=site)
    search("after:", f"{COMMON} after:2025-06")
    search("a day", since="2025-06-10", until="2025-06-10")
    for order in ("newest", "oldest", "reprinted"):
        search(f"common word, {order}", COMMON, sort=order)
    search("phrase, oldest", f"“{COMMON}{THIRD}”", sort="oldest")
    search("most reprinted", sort="reprinted")
    search("list", COMMON, view="list", limit=50)
    search("page 50", COMMON, page=50)
    search("related words", COMMON, expand=1)
    for facet in ("site", "source", "month"):
        ask(f"values of {facet}", "/values", q=COMMON, facet=facet)
    ask("values without words", "/values", facet="site")
    ask("timeline", "/api/timeline", q=COMMON, by="month", stack="site")
    ask("timeline of all", "/api/timeline")
    ask("timeline.csv", "/timeline.csv", q=COMMON)
    ask("compare 2", "/compare", q=[COMMON, THIRD])
    ask("compare 5", "/compare", q=[COMMON, OTHER, THIRD, "人民", "国家"])
    ask("compare phrases", "/compare", q=[f"“{COMMON}{THIRD}”", f"“{COMMON}人民”"])
    ask("feed of all", "/feed.atom")
    ask("feed of a common word", "/feed.atom", q=COMMON)
    ask("feed of a phrase", "/feed.rss", q=f"“{COMMON}{THIRD}”")
    ask("feed of a rare phrase", "/feed.json", q=f"“{part}”")
    ask("article", f"/article/{key}")
    ask("article of a search", f"/article/{key}", q=COMMON)
    ask("words of an article", f"/article/{key}/words")
    ask("story", f"/story/{story}")
    ask("API search", "/api/search", q=COMMON)
    ask("API article", f"/api/articles/{key}")
    ask("API sites", "/api/sites")
    ask("API crawl", "/api/crawl")
    ask("sites", "/sites")
    ask("a site", f"/sites/{site}")
    ask("crawl", "/crawl")
    ask("graph", "/graph")
    ask("graph of a site", "/graph", site=site)
    ask("why", "/why", url=url)
    ask("settings", "/settings")
    ask("desk", "/desk")
    ask("export of 10,000", "/api/export", q=COMMON)
    ask("export of 10,000 by time", "/api/export", q=COMMON, order="newest")
    return found


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
