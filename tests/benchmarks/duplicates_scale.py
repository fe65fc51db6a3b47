"""Near-duplicates among a million documents: recall, CPU, memory, and a story with thousands of copies.

    uv run python -m tests.benchmarks.duplicates_scale [zh|en] [--sizes 10000,100000,1000000] [--copies 5000]
        [--memory MB] [--look 20000]

A stream made of real articles (see `varied_news`; one document in five is a reprint with edits) goes through one
finder. At each size the process splits: the copy streams the labelled documents of `neardup/<language>/` below
BENCH_DATA (default: `../shared/data` beside the project) after everything else and scores them, then a story with very
many copies; the original goes on. Making documents is not part of their cost. Texts lie in a temporary file
(1.5 KB a document; `--folder` says where). With `--memory` the index beyond it lies in files. With `--look` only so
many documents before each size are looked up; stories before them are indexed as what they are, new, in half the time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import resource
import statistics
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from db.records.evidence import REPEATING
from pipelines.dedup import DEFAULT, THRESHOLD, Signature, method
from pipelines.dedup.index import IndexHit
from pipelines.dedup.spool import Spool
from pipelines.dedup.stream import Finder, Pair
from tests.benchmarks.labelled import FOLDER, Labels, load, score
from tests.benchmarks.varied_news import EDITS, VariedNews

from .commands import new_parser
from .data import require_data

BLOCK = 1_000
_REPRINTS = 0.2
"""Share of the documents that repeat another."""
KEYS = 1 << 32
"""Labelled documents and copies get keys from here on."""


def rss() -> float:
    """Memory of this process now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def repeated(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs that make a document a duplicate."""
    return [pair for pair in pairs if pair.kind in REPEATING]


class Filler(Finder):
    """A finder that may take documents for new stories without a look."""

    looks = True

    def _candidates(self, signature: Signature) -> list[IndexHit]:
        return super()._candidates(signature) if self.looks else []


class Counts(NamedTuple):
    """What became of the documents of the stream so far."""

    told: Counter[str]
    found: Counter[str]

    def reprints(self) -> str:
        """Share of the reprints found, of all and by edit."""
        told = sum(self.told[edit] for edit in EDITS)
        found = sum(self.found[edit] for edit in EDITS)
        by_edit = "  ".join(f"{edit} {self.found[edit] / self.told[edit]:.3f}" for edit in EDITS if self.told[edit])
        return f"reprints found {found / max(1, told):.4f} ({by_edit})"

    def others(self) -> str:
        """Share of new stories and bulletins taken for duplicates."""
        shares = (f"{self.found[kind] / max(1, self.told[kind]):.5f} of {kind}" for kind in ("new", "bulletin"))
        return f"taken for duplicates of another story: {', '.join(shares)}"


def labelled(finder: Finder, labels: Labels) -> list[str]:
    """Stream the labelled documents after all others."""
    found: list[tuple[int, int]] = []
    strangers: Counter[int] = Counter()
    spent: list[float] = []
    compared = finder.compared
    for number, document in labels.documents.items():
        start = time.process_time()
        pairs = finder.add(KEYS + number, document["title"], document["text"])
        spent.append(time.process_time() - start)
        for pair in repeated(pairs):
            if pair.earlier >= KEYS:
                found.append((pair.earlier - KEYS, number))
            else:
                strangers[number] += 1
    reached = score(labels, found)
    edit, least = reached.weakest
    return [
        f"labelled: precision {reached.precision:.4f}  recall {reached.recall:.4f}  weakest {edit} {least:.3f}"
        f"  B-cubed {reached.b_cubed:.4f}  pairs {dict(reached.pairs)}",
        f"labelled: {len(strangers)} of {len(labels.documents)} repeat some made document;"
        f" {1e3 * statistics.mean(spent):.3f} ms CPU a document,"
        f" {(finder.compared - compared) / len(spent):.2f} comparisons",
    ]


def copied(finder: Finder, news: VariedNews, copies: int) -> list[str]:
    """Stream many copies of one story: equal, edited, and in words of their own."""
    draw = random.Random(1)
    story = next(number for number in range(1 << 40, 1 << 41) if len(news.story(number).text) > 600)
    original = news.story(story)
    finder.add(KEYS * 2, original.title, original.text)
    counts = Counts(Counter(), Counter())
    spent: list[float] = []
    compared = finder.compared
    for number in range(1, copies + 1):
        edit = ("exact", *EDITS)[number % (1 + len(EDITS))]
        document = news.reprint(story, edit, draw)
        start = time.process_time()
        pairs = finder.add(KEYS * 2 + number, document.title, document.text)
        spent.append(1e3 * (time.process_time() - start))
        counts.told[edit] += 1
        counts.found[edit] += any(pair.earlier >= KEYS * 2 for pair in repeated(pairs))
    last = spent[-copies // 5 :]
    return [
        f"one story, {copies} copies: {counts.reprints()}",
        f"one story: {statistics.mean(spent):.3f} ms CPU a copy, {statistics.mean(last):.3f} for the last fifth,"
        f" {max(spent):.1f} at most, {(finder.compared - compared) / copies:.2f} comparisons",
    ]


def apart(work: Callable[..., list[str]], *given: object) -> list[str]:
    """Run a function in a copy of this process, so that what it adds to the index is gone afterwards."""
    gc.collect()
    gc.freeze()  # a collection in the copy would touch, and so copy, all memory
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with os.fdopen(writing, "w") as stream:
                json.dump(work(*given), stream)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = stream.read()
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"{work} failed, see above")
    return json.loads(answer)


def run(options: argparse.Namespace) -> None:
    """Stream documents and report at each size."""
    chosen = method()
    chosen.sign("", "")  # the tables are built once per process
    labels = load(options.language)
    originals = {
        document["cluster"]: (document["title"], document["text"])
        for document in labels.documents.values()
        if document["edit"] == "orig" and document["text"].strip()
    }
    news = VariedNews(list(originals.values()), options.language, 1)
    with Spool(options.folder) as texts:
        finder = Filler(chosen, THRESHOLD, texts, options.memory << 20 if options.memory else None)
        stream = news.stream(_REPRINTS)
        counts = Counts(Counter(), Counter())
        stories = array("Q")
        making = characters = 0.0
        blocks: list[float] = []
        gc.collect()
        gc.freeze()
        before = rss()
        for size in options.sizes:
            first = len(blocks)
            looked = size - options.look if options.look else 0
            while len(stories) < looked:
                finder.looks = False
                for one in islice(stream, min(BLOCK, looked - len(stories))):
                    if one.kind not in EDITS:
                        finder.add(len(stories), one.title, one.text)
                    stories.append(one.story)
                    characters += len(one.text)
            finder.looks = True
            while len(stories) < size:
                start = time.process_time()
                documents = list(islice(stream, min(BLOCK, size - len(stories))))
                made = time.process_time()
                found = [finder.add(len(stories) + at, one.title, one.text) for at, one in enumerate(documents)]
                blocks.append((time.process_time() - made) / len(documents))
                making += made - start
                stories.extend(one.story for one in documents)
                for one, pairs in zip(documents, found, strict=True):
                    same = [stories[pair.earlier] == one.story for pair in repeated(pairs)]
                    counts.told[one.kind] += 1
                    counts.found[one.kind] += any(same) if one.kind in EDITS else bool(same)
                    characters += len(one.text)
            seen = counts.told.total()
            grown = (rss() - before) * 1e6 / size
            last = blocks[first:][-100:]
            print(f"{options.language}, {DEFAULT}: {size} documents of {characters / size:.0f} characters")
            print(
                f"  {1e3 * statistics.median(last):.3f} ms CPU a document (median of the last {len(last)} blocks of"
                f" {BLOCK}; {1e3 * min(last):.3f} to {1e3 * max(last):.3f}), making one {1e3 * making / seen:.3f} ms,"
                f" {finder.compared / seen:.2f} comparisons"
            )
            print(
                f"  index {finder.index.nbytes / size:.0f} bytes a document in memory,"
                f" {finder.index.file_bytes / size:.0f} in files, {len(finder.index)} texts in it;"
                f" process {rss():.0f} MB, grown by {grown:.0f} bytes a document,"
                f" peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB; texts on disk"
                f" {texts.nbytes / size:.0f} bytes a document"
            )
            print(f"  {counts.reprints()}\n  {counts.others()}")
            for line in [*apart(labelled, finder, labels), *apart(copied, finder, news, options.copies)]:
                print(f"  {line}")
            sys.stdout.flush()


def main() -> int:
    """Run the benchmark from the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("language", nargs="?", default="zh", choices=["zh", "en"])
    parser.add_argument("--sizes", default="10000,100000,1000000", help="documents, ascending")
    parser.add_argument("--copies", type=int, default=5_000, help="of one story")
    parser.add_argument("--memory", type=int, help="MB that the index may take (no bound)")
    parser.add_argument("--look", type=int, default=0, help="documents before each size that are looked up (all)")
    parser.add_argument("--folder", type=Path, help="for the temporary file with the texts")
    options = parser.parse_args()
    options.sizes = sorted(int(size) for size in options.sizes.split(","))
    require_data(FOLDER / options.language)
    run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
