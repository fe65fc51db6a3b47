"""How well `combined` reads sites that its networks have never seen.

    uv run python -m tests.benchmarks.held_out [CORPUS ...] [--first] [--folds 4] [--networks 4] [--epochs 30]

The pages of all corpora are dealt into folds by site, so that no site is in two of them; for each fold networks are
trained on the others. The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the
project). `--first` reads the rows that docs/extraction.md has the figures of; they take some five minutes on one core.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.extract import combined
from pipelines.extract.learning.combined import Params, learn
from pipelines.extract.learning.examples import Example, example
from tests.benchmarks.extraction import FIRST_ROWS, ROOT, corpora, f1, fold_of, pages


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
        for gold, body in pages(folder, limits.get(corpus, sys.maxsize)):
            made = example(body, gold)
            if made is not None and len(made.document.blocks):
                name = f"{corpus}-{gold['lang']}" if corpus == "daniel" else corpus
                found.append(Case(name, gold, made, fold_of(corpus, gold, folds)))
    return found


def main() -> int:
    """Print a row per corpus."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpora", nargs="*", default=list(FIRST_ROWS))
    options.add_argument("--first", action="store_true", help="only the rows that the documented figures are of")
    options.add_argument("--folds", type=int, default=4)
    options.add_argument("--networks", type=int, default=Params().networks)
    options.add_argument("--epochs", type=int, default=Params().epochs)
    chosen = options.parse_args()
    if not ROOT.is_dir():
        print(f"no corpora at {ROOT}: set BENCH_DATA to the folder that holds zhgold/ and extract/", file=sys.stderr)
        return 2
    params = Params(networks=chosen.networks, epochs=chosen.epochs)
    every = cases(chosen.corpora, FIRST_ROWS if chosen.first else {}, chosen.folds)
    scores: dict[str, list[float]] = defaultdict(list)
    confidences: dict[bool, list[float]] = defaultdict(list)
    for fold in range(chosen.folds):
        networks = learn((case.example for case in every if case.fold != fold), 1, params)
        for case in (case for case in every if case.fold == fold):
            found = combined.extract_by(networks, case.example.document, combined.Params())
            confidences[case.example.article].append(found.confidence)
            if case.example.article:
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
