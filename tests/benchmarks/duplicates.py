"""Near-duplicate detection on labelled articles, our methods beside others: quality, and CPU per document.

    uv run --group peers python -m tests.benchmarks.duplicates             a table of all methods
    uv run python -m tests.benchmarks.duplicates zh --method combined --edits --out FOLDER
    uv run python -m tests.benchmarks.duplicates --check                   fail where a floor is not reached

Reads `neardup/<language>/` below the folder in BENCH_DATA (default: ../shared/data beside the project), see
`labelled`. Documents go through a method in order of arrival; every pair counts, so a story with three copies has
three. "Weakest edit" is the least recall by kind of edit; --edits prints all, and how many of the documents that only
look like others (boilerplate in common, quotations, bulletins) are called duplicates. With --out the pairs found are
written to `<FOLDER>/<language>.tsv` (of several methods: `<language>-<method>.tsv`). The peers group brings MinHash,
and the fast cutter of Chinese words.

Floors for the default method stand in floors.json. They rise by themselves when `--check` finds more; they fall only
with `--lower-floors`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from db.records.evidence import REPEATING
from pipelines.dedup import DEFAULT, METHODS, THRESHOLD, method
from pipelines.dedup.stream import Finder

from .duplicate_peers import peers
from .labelled import Labels, Score, load, missing, score

FLOORS = Path(__file__).with_name("floors.json")
MARGIN = 0.002
"""Floors lie so much below what was reached: documents come and go by single pairs, not by this many."""


@dataclass
class Run:
    """What one method found, and at what cost."""

    found: list[tuple[int, int, float, str]] = field(default_factory=list)
    compared: int = 0
    seconds: float = 0.0
    index_bytes: int = 0


def ours(labels: Labels, name: str, threshold: float) -> Run:
    """Stream the documents through one of our methods."""
    chosen = method(name)
    chosen.sign("词", "文章")  # tables and dictionaries, loaded once per process, are no part of a document's cost
    finder = Finder(chosen, threshold, [])
    run = Run()
    started = time.process_time()
    pairs = [
        (number, pair)
        for number, document in labels.documents.items()
        for pair in finder.add(number, document["title"], document["text"])
        if pair.kind in REPEATING
    ]
    run.seconds = time.process_time() - started
    run.found = [
        (pair.earlier, number, pair.similarity, pair.kind) for number, pair in pairs if pair.link not in finder.revoked
    ]
    run.compared, run.index_bytes = finder.compared, finder.index.nbytes
    return run


def theirs(labels: Labels, name: str) -> Run:
    """Let another method have the documents."""
    find = peers()[name]
    find(["文章"])
    started = time.process_time()
    pairs, compared = find(document["text"] for document in labels.documents.values())
    seconds = time.process_time() - started
    numbers = list(labels.documents)
    return Run([(numbers[first], numbers[second], 1.0, "") for first, second in pairs], compared, seconds)


def row(name: str, run: Run, reached: Score, documents: int) -> str:
    """One line of the table."""
    edit, least = reached.weakest
    share = run.compared / max(1, documents * (documents - 1) // 2)
    return (
        f"{name:26}{reached.precision:10.4f}{reached.recall:8.4f}  {f'{edit} {least:.3f}':20}{reached.b_cubed:9.4f}"
        f"{reached.pairs['template']:10}{share:10.3%}{1e3 * run.seconds / max(1, documents):10.3f}"
        f"{run.index_bytes / max(1, documents):8.0f}"
    )


def write(folder: Path, name: str, run: Run) -> None:
    """Write the pairs found."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{first}\t{second}\t{share:.4f}\t{kind}\n" for first, second, share, kind in run.found]
    (folder / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")


def check(found: Mapping[str, Score], *, lower: bool) -> int:
    """Compare with the floors, and write those that rose (all, with `lower`); returns the exit code."""
    floors: dict[str, dict[str, float]] = json.loads(FLOORS.read_text("utf-8")) if FLOORS.is_file() else {}
    ground = floors.setdefault("duplicates", {})
    missed = 0
    for language, one in found.items():
        for what, value in (("precision", one.precision), ("recall", one.recall), ("weakest edit", one.weakest[1])):
            name = f"{language} {what}"
            safe = int(1000 * (value - MARGIN)) / 1000
            floor = ground.setdefault(name, safe)
            if value < floor:
                missed += not lower
                print(f"{name}: {value:.4f}, floor {floor}", file=sys.stderr)
            if safe > floor or lower:
                ground[name] = safe
    FLOORS.write_text(json.dumps(floors, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if missed else 0


def main() -> int:
    """Run the methods on the languages that are there."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("languages", nargs="*", default=["zh", "en"])
    options.add_argument("--method", choices=[*sorted(METHODS), *peers()], help="this one alone")
    options.add_argument("--threshold", type=float, default=THRESHOLD, help="of our methods")
    options.add_argument("--edits", action="store_true", help="print the recall by kind of edit")
    options.add_argument("--out", type=Path, help="write the pairs found into this folder")
    options.add_argument("--check", action="store_true", help="the default method alone, compared with the floors")
    options.add_argument("--lower-floors", action="store_true", help="and write what was found, lower or not")
    chosen = options.parse_args()
    checking = chosen.check or chosen.lower_floors
    if checking and (chosen.threshold != THRESHOLD or chosen.method not in {None, DEFAULT}):
        options.error("floors are those of the default method and threshold")
    if missing(chosen.languages):
        return 2
    names = [DEFAULT] if checking else [chosen.method] if chosen.method else [*METHODS, *peers()]
    reached: dict[str, Score] = {}
    for language in chosen.languages:
        labels = load(language)
        print(
            f"{f'{language}, {len(labels.documents)} documents':26}{'precision':>10}{'recall':>8}  {'weakest edit':20}"
            f"{'B-cubed':>9}{'templates':>10}{'compared':>10}{'CPU ms':>10}{'bytes':>8}"
        )
        for name in names:
            run = ours(labels, name, chosen.threshold) if name in METHODS else theirs(labels, name)
            one = score(labels, ((first, second) for first, second, _, _ in run.found))
            if name == DEFAULT:
                reached[language] = one
            print(row(name, run, one, len(labels.documents)), flush=True)
            if chosen.edits:
                print("    " + "  ".join(f"{edit} {recall:.3f}" for edit, recall in one.by_edit.items()))
                called = "  ".join(f"{kind} {many} of {of}" for kind, (many, of) in one.wrong.items())
                print(f"    called duplicates: {called}")
            if chosen.out:
                plain = re.sub(r"\W+", "-", name)
                write(chosen.out, language if len(names) == 1 else f"{language}-{plain}", run)
    return check(reached, lower=chosen.lower_floors) if checking else 0


if __name__ == "__main__":
    sys.exit(main())
