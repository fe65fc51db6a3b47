"""What a site's memory gains: pages of one site in their order, each read with what the earlier ones taught.

    uv run python -m tests.benchmarks.site_memory [CORPUS ...] [--extractor rules] [--least 3] [--sites]

Only hosts with at least `--least` pages count. Every page is extracted twice, with an empty memory and with that of the
pages before it (never of later ones). Prints F1 of both, the pages that got better and worse, and CPU. The corpora are
those of `tests.benchmarks.extraction`.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from urllib.parse import urlsplit

from pipelines.parse_page import parse_page
from pipelines.site_memory.knowledge import NOTHING, learn, pack
from tests.benchmarks.data import NOW, address, corpus_folder, f1, is_other, pages, require_data

from .commands import new_parser

Row = tuple[str, float, float]


def host(gold: dict[str, object]) -> str:
    """Host of a page's address; corpora that keep no path name the host alone."""
    url = str(gold.get("url") or "")
    return urlsplit(url).netloc if "//" in url else url.partition("/")[0]


def measure(name: str, extractor: str, least: int) -> tuple[list[Row], float, int]:
    """F1 without and with memory of every page, seconds spent on learning, and the largest memory in bytes."""
    sites = defaultdict(list)
    for gold, body in pages(corpus_folder(name)):
        if host(gold) and gold.get("text") and not is_other(gold):
            sites[host(gold)].append((gold, body))
    rows: list[Row] = []
    seconds, largest = 0.0, 0
    for site, members in sites.items():
        knowledge = NOTHING
        for gold, body in members if len(members) >= least else ():
            alone, known = (
                parse_page(body, address(gold), fetched_at=NOW, extractor=extractor, site_model=memory)
                for memory in (None, pack(knowledge))
            )
            start = time.process_time()
            if known.sample is not None:
                knowledge = learn(knowledge, known.sample)
            largest = max(largest, len(pack(knowledge)))
            seconds += time.process_time() - start
            rows.append((site, f1(gold, alone.extraction.text), f1(gold, known.extraction.text)))
    return rows, seconds, largest


def main() -> int:
    """Run the corpora that are there."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*", default=["daniel", "fundus", "zhgold"])
    options.add_argument("--extractor", default="rules")
    options.add_argument("--least", type=int, default=3, help="hosts with fewer pages are left out")
    options.add_argument("--sites", action="store_true", help="a line for each site, too")
    chosen = options.parse_args()
    require_data()
    print(f"{'corpus':24}{'pages':>6}{'alone':>8}{'memory':>8}{'better':>8}{'worse':>7}{'learn us':>10}{'bytes':>7}")
    for name in chosen.corpora:
        rows, seconds, largest = measure(name, chosen.extractor, chosen.least)
        if rows:
            show(name, rows)
            print(f"{1e6 * seconds / len(rows):10.0f}{largest:7}")
        for site in sorted({row[0] for row in rows}) if chosen.sites else ():
            show("  " + site, [row for row in rows if row[0] == site])
            print()
    return 0


def show(name: str, rows: list[Row]) -> None:
    """Print one line of the table, without its end."""
    better = sum(with_it > without + 0.005 for _, without, with_it in rows)
    worse = sum(with_it < without - 0.005 for _, without, with_it in rows)
    alone, known = (statistics.mean(row[at] for row in rows) for at in (1, 2))
    print(f"{name:24}{len(rows):6}{alone:8.4f}{known:8.4f}{better:8}{worse:7}", end="")


if __name__ == "__main__":
    sys.exit(main())
