"""How well `combined` reads sites that its networks have never seen.

    uv run python -m tests.benchmarks.held_out [CORPUS ...] [--folds 4] [--networks 4] [--epochs 30]

The pages of all corpora are dealt into folds by host, so that no site is in two of them; for each fold networks are
trained on the others. The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the
project). With the defaults it takes some five minutes on one core.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from urllib.parse import urlsplit

from pipelines.extract import combined
from pipelines.extract.learning.examples import Example, example
from pipelines.extract.learning.network import Params
from tests.benchmarks.extraction import ROOT, f1, pages

CORPORA = (
    "zhgold", "daniel", "fundus", "magic-article", "l3s-gn1", "dragnet", "wcxb-article", "magic-forum", "wcxb-other",
    "cleaneval", "readability",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A page with its gold row, its corpus (daniel by language) and the fold it belongs to."""

    corpus: str
    gold: dict[str, object]
    example: Example
    fold: int


def cases(corpora: list[str], folds: int) -> list[Case]:
    """All usable pages."""
    found = []
    for corpus in corpora:
        folder = ROOT / corpus if (ROOT / corpus).is_dir() else ROOT / "extract" / corpus
        for gold, body in pages(folder, sys.maxsize):
            made = example(body, gold)
            if made is not None and len(made.document.blocks):
                host = urlsplit(str(gold.get("url") or "")).hostname or f"{corpus} {gold['id']}"
                digest = hashlib.sha256(host.encode()).digest()
                name = f"{corpus}-{gold['lang']}" if corpus == "daniel" else corpus
                found.append(Case(name, gold, made, int.from_bytes(digest[:4], "big") % folds))
    return found


def main() -> int:
    """Print a row per corpus."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("corpora", nargs="*", default=CORPORA)
    options.add_argument("--folds", type=int, default=4)
    options.add_argument("--networks", type=int, default=Params().networks)
    options.add_argument("--epochs", type=int, default=Params().epochs)
    chosen = options.parse_args()
    if not ROOT.is_dir():
        print(f"no corpora at {ROOT}: set BENCH_DATA to the folder that holds zhgold/ and extract/", file=sys.stderr)
        return 2
    params = Params(networks=chosen.networks, epochs=chosen.epochs)
    every = cases(list(chosen.corpora), chosen.folds)
    scores: dict[str, list[float]] = defaultdict(list)
    confidences: dict[bool, list[float]] = defaultdict(list)
    for fold in range(chosen.folds):
        networks = combined.learn((case.example for case in every if case.fold != fold), 1, params)
        for case in (case for case in every if case.fold == fold):
            found = combined.extract_by(networks, case.example.document)
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
