"""Ours beside other programs, in one run: crawls of the same pages, and extraction alone from saved pages.

    uv run --group peers [--with crawlee] python -m tests.benchmarks.peers [--pages 1600] [--hosts 50] [--saved 300]
        [--rounds 3]

Crawls are of the generated pages of `tests.benchmarks.static_site`, 50 KB each. Scrapy follows links from one page
(`tests.benchmarks.peer_crawls`), as ours does, or is given all URLs, as crawlee is, and looks for no links. CPU is that
of all processes, with the start; memory is the most that the tree took at a time, shared pages once. crawlee is in no
group, because it brings pydantic, and where that is installed every command of Scrapy loads it.

Extraction is measured on pages of all corpora under BENCH_DATA, one page by all programs before the next; the others
get text that is decoded already. F1 is the mean over the articles whose text is known, by shingles of four words.

Rounds alternate: in each, all programs run one after another, every other one backwards. The figures are medians.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from lxml import etree

from pipelines.describe import DEFAULT as DESCRIBE
from pipelines.describe import DescribeOptions, describe
from pipelines.document.document import parse
from pipelines.extract import extractor
from pipelines.metadata import metadata
from pipelines.parse_page import read_page
from pipelines.site_memory.knowledge import NOTHING, pack

from . import data
from .commands import crawl_command, new_parser
from .crawl_speed import PLAIN, fetch_command, settings_of, watch, write_urls
from .peer_crawls import EXTRACTORS
from .static_site import Serving

STOCK = "Scrapy + trafilatura"
PEERS = {
    STOCK: ("scrapy", "trafilatura"),
    "Scrapy + readability-lxml": ("scrapy", "readability"),
    "Scrapy + newspaper4k": ("scrapy", "newspaper"),
    "Scrapy + trafilatura, given all URLs": ("scrapy-given", "trafilatura"),
    "crawlee + trafilatura, given all URLs": ("crawlee", "trafilatura"),
}
CRAWLED = {
    "CPU ms a page": ".1f",
    "of the crawling process": ".1f",
    "ms a page": ".1f",
    "articles": ",.0f",
    "MB": ".0f",
}
BARE, METADATA = "parsing by lxml", "trafilatura with metadata"
SAVED = {"CPU ms, median page": ".1f", "mean": ".1f", "F1": ".3f"}

Rounds = dict[str, list[dict[str, float]]]
"""The figures of each program, a round each."""


def table(rounds: Mapping[str, list[dict[str, float]]], columns: Mapping[str, str], bases: Iterable[str]) -> str:
    """Medians as Markdown, with the CPU of each as a share of that of the `bases` in the same round."""
    cpu = next(iter(columns))
    heads = ["", *columns, *(f"/ {base}" for base in bases)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, own in rounds.items():
        cells = [name]
        for column, form in columns.items():
            cells.append(format(statistics.median(one[column] for one in own), form) if column in own[0] else "-")
        for base in bases:
            ratios = [one[cpu] / other[cpu] for one, other in zip(own, rounds[base], strict=True)]
            cells.append(f"{statistics.median(ratios):.2f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def run_rounds(runs: Mapping[str, Callable[[], dict[str, float]]], count: int) -> Rounds:
    """Run all of them so many times, every other time backwards."""
    found: Rounds = {name: [] for name in runs}
    for number in range(count):
        for name in list(runs)[:: 1 if number % 2 == 0 else -1]:
            found[name].append(runs[name]())
            print(f"round {number + 1}: {name}: {found[name][-1]}", file=sys.stderr)
    return found


def crawl(command: list[str], pages: int, database: Path | None) -> dict[str, float]:
    """Run a crawl and return what it took a page, and how many articles its database has."""
    usage, pid = watch(command)
    made = {
        "CPU ms a page": 1000 * usage.cpu / pages,
        "of the crawling process": 1000 * usage.own[pid] / pages,
        "ms a page": 1000 * usage.wall / pages,
        "MB": usage.peak_mb,
    }
    if database:
        with closing(sqlite3.connect(database)) as opened:
            (made["articles"],) = opened.execute("SELECT count(*) FROM article WHERE text <> ''").fetchone()
        if not made["articles"]:
            sys.exit(f"no article was found by {' '.join(command)}\n{usage.output[-2000:]}")
        database.unlink()
    return made


def crawls(options: argparse.Namespace) -> Rounds:
    """Crawl the generated pages with all programs."""
    with tempfile.TemporaryDirectory() as name, Serving(options.pages, options.hosts) as serving:
        folder = Path(name)
        urls, seeds = write_urls(serving.site, folder)
        database = folder / "articles.db"
        runs = {"fetch only": partial(crawl, fetch_command(urls), options.pages, None)}
        for title, (program, extracts) in PEERS.items():
            if find_spec(program.partition("-")[0]) and find_spec(extracts):
                module = [sys.executable, "-m", "tests.benchmarks.peer_crawls"]
                command = [*module, program, str(urls), str(database), extracts]
                runs[title] = partial(crawl, command, options.pages, database)
            else:
                print(f"{title}: not installed", file=sys.stderr)
        settings = settings_of(f"sqlite:///{database}", options.pages)
        for title, chosen in (("ours without descriptions", settings | PLAIN), ("ours", settings)):
            runs[title] = partial(crawl, crawl_command(seeds, chosen), options.pages, database)
        watch(fetch_command(urls))  # renders the pages
        return run_rounds(runs, options.rounds)


def bare(body: bytes) -> None:
    etree.fromstring(body or b"<p>", etree.HTMLParser(huge_tree=True, recover=True))


def parse_ours(body: bytes, url: str) -> None:
    parse(body, url)


def text_and_metadata(body: bytes, url: str) -> str:
    document = parse(body, url)
    found = extractor("combined")(document)
    metadata.extract(document, found, data.NOW)
    return found.text


def everything(body: bytes, url: str, options: DescribeOptions | None) -> None:
    document, page, _ = read_page(parse(body, url), fetched_at=data.NOW, site_model=pack(NOTHING))
    if page.is_leaf:
        describe(options, page.metadata.title, page.extraction.text, page.metadata.language, document)


def extractors() -> dict[str, Callable[[bytes, str, str], str | None]]:
    """All programs that can be imported: functions of a page's bytes, URL and decoded text that return its main text.

    Ours return none where they leave it out of pages that are no articles.
    """
    found: dict[str, Callable[[bytes, str, str], str | None]] = {
        BARE: lambda body, url, text: bare(body),
        "ours, decoding and parsing": lambda body, url, text: parse_ours(body, url),
        "ours, text and metadata": lambda body, url, text: text_and_metadata(body, url),
        "ours without descriptions": lambda body, url, text: everything(body, url, None),
        "ours": lambda body, url, text: everything(body, url, DESCRIBE),
    }
    names = {METADATA: "trafilatura", "readability-lxml": "readability", "newspaper4k": "newspaper"}
    for name, module in names.items():
        if find_spec(module):
            found[name] = lambda body, url, text, run=EXTRACTORS[module]: run(text, url, None).text
    with suppress(ImportError):
        from trafilatura import extract

        found["trafilatura, text alone"] = lambda body, url, text: extract(text, url=url)
    with suppress(ImportError):
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse, text alone"] = lambda body, url, text: extract_plain_text(text, main_content=True)
    return found


def saved(options: argparse.Namespace) -> Rounds:
    """Extract from saved pages with all programs, one page after another."""
    rows = [(folder, row) for folder in data.corpora([]).values() for row in data.read_rows(folder / "gold.jsonl")]
    rows = rows[:: -(-len(rows) // options.saved)]
    pages = [(row, data.address(row), data.page_body(folder, row)) for folder, row in rows]
    programs = extractors()
    logging.disable(logging.CRITICAL)  # they say much about broken markup
    gc.freeze()  # as in a worker process (`pipelines.worker`), for all alike
    gc.set_threshold(20_000, 20, 50)
    found: Rounds = {name: [] for name in programs}
    for number in range(options.rounds + 1):
        spent, scores = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
        for place, (row, url, body) in enumerate(pages):
            text = parse(body, url).source
            for name in list(programs)[:: 1 if (number + place) % 2 == 0 else -1]:
                start = time.process_time()
                try:
                    main_text = programs[name](body, url, text) or ""
                except Exception:  # noqa: BLE001 - a program that fails has cost what it has cost
                    main_text = ""
                spent[name].append(1000 * (time.process_time() - start))
                if row.get("text") and not data.is_other(row):
                    scores[name].append(data.f1(row, main_text))
        for name, own in found.items() if number else ():  # the first round loads what is loaded at first use
            own.append({"CPU ms, median page": statistics.median(spent[name]), "mean": statistics.mean(spent[name])})
            if any(scores[name]):
                own[-1]["F1"] = statistics.mean(scores[name])
    print(f"{len(pages)} saved pages, {sum(len(body) for *_, body in pages) / len(pages):,.0f} bytes each\n")
    return found


def main() -> None:
    """Measure and print."""
    parser = new_parser(__doc__)
    parser.add_argument("--pages", type=int, default=1600, help="generated pages to crawl; 0: no crawls")
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--saved", type=int, default=300, help="saved pages to extract from; 0: none")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    # Else every start would compile all modules anew, which takes most of the time of a start and says nothing.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if options.pages:
        rounds = crawls(options)
        print(table(rounds, CRAWLED, [base for base in ("fetch only", STOCK) if base in rounds]), "\n", flush=True)
    if options.saved and not data.DATA.is_dir():
        print(f"extraction alone is skipped: there is no {data.DATA}, set BENCH_DATA to the folder of the data")
    elif options.saved:
        rounds = saved(options)
        print(table(rounds, SAVED, [base for base in (BARE, METADATA) if base in rounds]))


if __name__ == "__main__":
    main()
