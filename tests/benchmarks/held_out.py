"""How well `combined` reads sites that its networks have never seen.

    uv run --extra train python -m tests.benchmarks.held_out [CORPUS ...] [--first] [--folds 4] [--keep FOLDER]

The pages of all corpora are dealt into folds by site, so that no site is in two of them; for each fold networks are
trained on the others; pages whose gold looks wrong are left out. The corpora lie under the folder that BENCH_DATA names
(default: ../shared/data beside the project). All their rows take some ten minutes of one core; `--first` reads those
that there were at first. `--keep` writes the networks of each fold to a folder, as models.
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipelines.extract import combined
from pipelines.models import files
from pipelines.training.examples import Example, example
from pipelines.training.extraction import Params, TrainingPage, train
from tests.benchmarks.data import FIRST_ROWS, TRAINED_ON, corpora, f1, fold_of, pages, require_data

from .commands import new_parser


@dataclass(frozen=True)
class Case:
    """A page with its gold row, its corpus (daniel by language) and the fold it belongs to."""

    corpus: str
    gold: dict[str, object]
    example: Example
    fold: int


def cases(names: Sequence[str], limits: Mapping[str, int], folds: int) -> list[Case]:
    """All usable pages, of a corpus with a limit its first ones."""
    found = []
    for corpus, folder in corpora(names).items():
        for gold, body in pages(folder, limits.get(corpus)):
            made = example(body, gold)
            if made is not None and len(made.document.blocks):
                # All pages stay in memory, but for what no text is made of.
                made.document.elements.clear()
                made.document.source = ""
                name = f"{corpus}-{gold['lang']}" if corpus == "daniel" else corpus
                found.append(Case(name, gold, made, fold_of(corpus, gold, folds)))
    return found


def main() -> int:
    """Print a row per corpus."""
    options = new_parser(__doc__)
    options.add_argument("corpora", nargs="*", default=list(TRAINED_ON))
    options.add_argument("--first", action="store_true", help="only the rows that the documented figures are of")
    options.add_argument("--folds", type=int, default=4)
    options.add_argument("--keep", type=Path, help="a folder for the networks of each fold")
    chosen = options.parse_args()
    require_data()
    every = cases(chosen.corpora, FIRST_ROWS if chosen.first else {}, chosen.folds)
    known = [TrainingPage.of(case.example) for case in every]
    scores: dict[str, list[float]] = defaultdict(list)
    confidences: dict[bool, list[float]] = defaultdict(list)
    for fold in range(chosen.folds):
        others = [page for case, page in zip(every, known, strict=True) if case.fold != fold]
        networks = train(others, 1, Params())
        if chosen.keep:
            made = files.dumps("combined", networks.model(), "tests.benchmarks.held_out", {"pages": len(every)})
            (chosen.keep / f"{fold}.json").write_text(made, encoding="utf-8")
        for case in (case for case in every if case.fold == fold):
            found = combined.extract_by(networks, case.example.document, combined.Params())
            confidences[case.example.article].append(found.confidence)
            if case.example.article and case.gold.get("text"):
                scores[case.corpus].append(f1(case.gold, found.text))
    print("| corpus | pages | F1 | under .5 |\n|---|---|---|---|")
    for corpus, values in scores.items():
        failed = statistics.mean(value < 0.5 for value in values)
        print(f"| {corpus} | {len(values)} | {statistics.mean(values):.4f} | {failed:.3f} |")
    for article, values in sorted(confidences.items(), reverse=True):
        print(f"confidence of {'articles' if article else 'other pages'}: median {statistics.median(values):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
