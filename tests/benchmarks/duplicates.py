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

import re
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.dedup import DEFAULT, METHODS, THRESHOLD, method
from pipelines.dedup.stream import Finder

from . import floors
from .commands import new_parser
from .data import require_data
from .duplicate_peers import peers
from .labelled import FOLDER, Labels, Score, find_pairs, load, score

MARGIN = 0.002
"""Floors lie so much below what was reached: documents come and go by single pairs, not by this many."""

VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "feature-string, frequency": ("feature-string", {"by": "frequency"}),
    "keywords, of 2 clusters": ("keywords", {"least_stories": 2}),
}
"""Methods with other parameters than the defaults."""
OURS = (*METHODS, *VARIANTS)


@dataclass
class Run:
    """What one method found, and at what cost."""

    found: list[tuple[int, int, float, str]] = field(default_factory=list)
    compared: int = 0
    seconds: float = 0.0
    index_bytes: int = 0


def ours(labels: Labels, name: str) -> Run:
    """Stream the documents through one of our methods or variants."""
    chosen = method(*VARIANTS.get(name, (name, {})))
    chosen.sign("词", "文章")  # tables and dictionaries, loaded once per process, are no part of a document's cost
    finder = Finder(chosen, THRESHOLD, [])
    run = Run()
    started = time.process_time()
    pairs = find_pairs(finder, labels.texts())
    run.seconds = time.process_time() - started
    run.found = [(pair.earlier, number, pair.similarity, pair.kind) for number, pair in pairs]
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


def main() -> int:
    """Run the methods on the languages that are there."""
    options = new_parser(__doc__)
    options.add_argument("languages", nargs="*", default=["zh", "en"])
    options.add_argument("--method", choices=[*sorted(OURS), *peers()], help="this one alone")
    options.add_argument("--edits", action="store_true", help="print the recall by kind of edit")
    options.add_argument("--out", type=Path, help="write the pairs found into this folder")
    options.add_argument("--check", action="store_true", help="the default method alone, compared with the floors")
    options.add_argument("--lower-floors", action="store_true", help="and write what was found, lower or not")
    chosen = options.parse_args()
    checking = chosen.check or chosen.lower_floors
    if checking and chosen.method not in {None, DEFAULT}:
        options.error("floors are those of the default method")
    require_data(*(FOLDER / language for language in chosen.languages))
    names = [DEFAULT] if checking else [chosen.method] if chosen.method else [*OURS, *peers()]
    reached: dict[str, float] = {}
    for language in chosen.languages:
        labels = load(language)
        print(
            f"{f'{language}, {len(labels.documents)} documents':26}{'precision':>10}{'recall':>8}  {'weakest edit':20}"
            f"{'B-cubed':>9}{'templates':>10}{'compared':>10}{'CPU ms':>10}{'bytes':>8}"
        )
        for name in names:
            run = ours(labels, name) if name in OURS else theirs(labels, name)
            one = score(labels, ((first, second) for first, second, _, _ in run.found))
            if name == DEFAULT:
                figures = {"precision": one.precision, "recall": one.recall, "weakest edit": one.weakest[1]}
                reached |= {f"{language} {what}": value for what, value in figures.items()}
            print(row(name, run, one, len(labels.documents)), flush=True)
            if chosen.edits:
                print("    " + "  ".join(f"{edit} {recall:.3f}" for edit, recall in one.by_edit.items()))
                called = "  ".join(f"{kind} {many} of {of}" for kind, (many, of) in one.wrong.items())
                print(f"    called duplicates: {called}")
            if chosen.out:
                plain = re.sub(r"\W+", "-", name)
                write(chosen.out, language if len(names) == 1 else f"{language}-{plain}", run)
    if not checking:
        return 0
    return floors.check("duplicates", reached, margin=MARGIN, lower=chosen.lower_floors)


if __name__ == "__main__":
    sys.exit(main())
