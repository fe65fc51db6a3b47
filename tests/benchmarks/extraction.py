"""Extraction on real pages with gold texts: quality and CPU per page, as tables.

    uv run python -m tests.benchmarks.extraction [CORPUS ...] [--extractor rules] [--pages 400]
    uv run python -m tests.benchmarks.extraction --all             every extractor on every corpus, as Markdown
    uv run python -m tests.benchmarks.extraction --check           fail where a floor of floors.json is not reached

The corpora are those of `tests.benchmarks.data`.
Floors rise by themselves when `--check` finds more; they fall only with `--lower-floors`. Corpora have grown since the
floors were set: `--first` reads the rows of then.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from crawler.settings import EXTRACTOR as DEFAULT
from pipelines.extract import EXTRACTORS
from pipelines.parse_page import parse_page
from pipelines.records import PageKind
from tests.benchmarks.data import FIRST_ROWS, NOW, address, corpora, f1, fold, is_other, pages, require_data

from . import floors
from .commands import new_parser

ANY_KIND = frozenset(PageKind)
"""Texts are judged whatever the kind of the page: threads and shops have some, too."""
LARGE_BYTES = 177_000


def bare(body: bytes) -> float:
    """CPU milliseconds of parsing alone."""
    start = time.process_time()
    etree.fromstring(body or b"<p>", etree.HTMLParser(huge_tree=True, recover=True))
    return 1e3 * (time.process_time() - start)


@dataclass
class Measured:
    """One extractor on one corpus: F1 and CPU milliseconds page by page, of parsing alone too, and what was counted."""

    scores: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    parse: list[float] = field(default_factory=list)
    large: list[float] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def f1(self) -> float:
        """Page mean; 0 for a corpus without texts."""
        return statistics.mean(self.scores) if self.scores else 0.0

    @property
    def failed(self) -> float:
        """Share of pages under one half."""
        return statistics.mean(score < 0.5 for score in self.scores) if self.scores else 0.0


def measure(folder: Path, extractor: str, limit: int) -> Measured:
    """Run an extractor over a corpus."""
    measured = Measured()
    counts = measured.counts
    for gold, body in pages(folder, limit):
        start = time.process_time()
        page = parse_page(body, address(gold), fetched_at=NOW, extractor=extractor, kinds=ANY_KIND)
        spent = 1e3 * (time.process_time() - start)
        measured.cpu.append(spent)
        measured.parse.append(bare(body))
        if 0.6 * LARGE_BYTES < len(body) < 1.5 * LARGE_BYTES:
            measured.large.append(spent * LARGE_BYTES / len(body))
        accepted = page.kind is PageKind.ARTICLE
        if is_other(gold):
            counts["others"] += 1
            counts["rejected"] += not accepted
            continue
        counts["articles"] += 1
        counts["accepted"] += accepted
        if gold.get("text") and float(str(gold.get("coverage") or 1)) >= 0.5:
            measured.scores.append(f1(gold, page.extraction.text))
        if gold.get("title"):
            counts["titles"] += 1
            counts["title"] += fold(str(gold["title"])) == fold(page.metadata.title)
        if gold.get("published"):
            counts["dates"] += 1
            counts["date"] += str(gold["published"])[:10] == page.metadata.published_at[:10]
    return measured


def row(name: str, measured: Measured) -> str:
    """One line of the table for one extractor."""
    counts = measured.counts
    return (
        f"{name:16}{len(measured.scores):6}{measured.f1:8.4f}{measured.failed:7.3f}"
        f"{counts['accepted']:6}/{counts['articles']:<5}{counts['rejected']:4}/{counts['others']:<4}"
        f"{share(counts, 'title', 'titles'):>7}{share(counts, 'date', 'dates'):>7}"
        f"{statistics.median(measured.cpu):9.2f}{statistics.median(measured.parse):8.2f}"
        f"{(statistics.median(measured.large) if measured.large else 0):9.2f}"
    )


def compare(folders: Mapping[str, Path], limits: Mapping[str, int]) -> dict[str, dict[str, Measured]]:
    """Every extractor on every corpus: prints the Markdown table, a row as soon as it is known."""
    names = sorted(EXTRACTORS)
    print(f"| corpus | pages | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    found: dict[str, dict[str, Measured]] = {name: {} for name in names}
    for corpus, folder in folders.items():
        cells = []
        for name in names:
            one = found[name][corpus] = measure(folder, name, limits[corpus])
            cells.append(f"{one.f1:.3f}, {100 * one.failed:.1f} %, {statistics.median(one.cpu):.1f} ms")
        size = len(found[names[0]][corpus].scores)
        print(f"| {corpus} | {size} | {' | '.join(cells)} |", flush=True)
    print("\nPage-mean F1, share of pages under .5, median CPU per page with everything.")
    return found


def share(counts: Counter[str], part: str, whole: str) -> str:
    """A share as text, a dash when there is nothing to share."""
    return f"{counts[part] / counts[whole]:.3f}" if counts[whole] else "-"


def main() -> int:
    """Run the corpora that are there."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*", help="zhgold daniel fundus; all of them with --all and --check")
    options.add_argument("--extractor", default=DEFAULT, choices=sorted(EXTRACTORS))
    options.add_argument("--pages", type=int, default=100_000, help="at most so many pages per corpus")
    options.add_argument("--first", action="store_true", help="only the rows that the floors are of")
    options.add_argument("--all", action="store_true", help="every extractor on every corpus")
    options.add_argument("--check", action="store_true", help="and compare with the floors")
    options.add_argument("--lower-floors", action="store_true", help="and write what was found, lower or not")
    chosen = options.parse_args()
    if (chosen.check or chosen.lower_floors) and chosen.pages < 100_000:
        options.error("floors are those of all pages: leave out --pages")
    require_data()
    wide = chosen.all or chosen.check or chosen.lower_floors
    folders = corpora(chosen.corpora or ([] if wide else ["zhgold", "daniel", "fundus"]))
    if chosen.first:
        folders = {name: folder for name, folder in folders.items() if name in FIRST_ROWS}
    limits = {name: FIRST_ROWS[name] if chosen.first else chosen.pages for name in folders}
    if wide:
        # Without texts there is nothing to compare.
        folders = {name: folder for name, folder in folders.items() if name != "postlight-meta"}
        found = compare(folders, limits)
        if not (chosen.check or chosen.lower_floors):
            return 0
        reached = {extractor: {name: one.f1 for name, one in of.items()} for extractor, of in found.items()}
        return max(floors.check(extractor, of, lower=chosen.lower_floors) for extractor, of in reached.items())
    print(
        f"{'corpus':16}{'pages':>6}{'F1':>8}{'<.5':>7}{'articles':>12}{'others':>9}{'title':>7}{'day':>7}"
        f"{'cpu ms':>9}{'parse':>8}{'177 KB':>9}"
    )
    for name, folder in folders.items():
        print(row(name, measure(folder, chosen.extractor, limits[name])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
