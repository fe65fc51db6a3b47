"""Kinds of pages on unseen sites: articles lost, others kept, and how well chances are calibrated.

    uv run --extra train python -m tests.benchmarks.held_out --keep FOLDER
    uv run --extra train python -m tests.benchmarks.page_kinds FOLDER [--train FILE]

The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the project). Pages are dealt
into four folds by site; each is judged by a model that has learned from the others, on texts found by networks of
`combined` that have, too: the first command makes them. Addresses are those of the corpora where they have some, and
made up elsewhere, so that most of the pages that are no articles have none. `--train` makes the model that is shipped.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipelines.document.document import Document, parse
from pipelines.extract import combined
from pipelines.extract.network import StagedNetwork
from pipelines.metadata import metadata
from pipelines.models import files
from pipelines.page_kind.decision import refuse
from pipelines.page_kind.features import describe_url
from pipelines.records import Extraction, PageKind
from pipelines.training.page_kind import FOLDS, KindExample, Params, learn
from pipelines.training.page_kind_examples import KnownPage, examples, kind_of
from tests.benchmarks.data import NOW, address, corpora, fold_of, pages, require_data

from .commands import new_parser

UNTOLD = frozenset({"cleaneval", "cleaneval-dev", "cleanportaleval", "omnivore", "readability"})
"""Corpora that are mixed and do not tell."""
FORUMS = frozenset({"magic-forum", "harvest-forum"})


@dataclass(frozen=True)
class Case:
    """A page of known kind, with what rules say of it."""

    corpus: str
    name: str
    language: str
    fold: int
    address: str
    is_refused: bool
    examples: list[KindExample]

    @property
    def example(self) -> KindExample:
        """Return the page as it is."""
        return self.examples[0]


def known(corpus: str, gold: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gold row with its kind, which most corpora have once for all."""
    if gold.get("subtype") or gold.get("page_type") or gold.get("kind") == "article":
        return dict(gold)
    return {**gold, "kind": "forum" if corpus in FORUMS else "article"}


def rows() -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """Yield corpus, gold row and page of all pages of known kinds."""
    for corpus, folder in corpora([]).items():
        if corpus not in UNTOLD:
            for gold, body in pages(folder):
                row = known(corpus, gold)
                if not row.get("suspect") and kind_of(row) is not None:
                    yield corpus, row, body


def cases(folder: Path) -> list[Case]:
    """Read all pages, each by networks that have not seen its fold."""
    texts = [(folder / f"{fold}.json").read_text(encoding="utf-8") for fold in range(FOLDS)]
    readers = [files.loads(text, str(folder), "combined").build(StagedNetwork.of) for text in texts]
    found = []
    for corpus, row, body in rows():
        fold = fold_of(corpus, row, FOLDS)

        def read(document: Document, reader: StagedNetwork = readers[fold]) -> Extraction:
            return combined.extract_by(reader, document, combined.Params())

        made = list(examples(KnownPage.of(body, {**row, "id": str(row["id"])}), read, NOW))
        if made:
            document = parse(body, address(row))
            text = read(document)
            meta = metadata.extract(document, text, NOW)
            name = str(row.get("subtype") or row.get("page_type") or row.get("kind"))
            refused = not text.text or bool(refuse(document, text, meta))
            language = str(row.get("lang") or meta.language or "?")[:2]
            found.append(Case(corpus, name, language, fold, address(row), refused, made))
    return found


def judge(every: Sequence[Case]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the probability of an article for each page, and whether it is taken for one."""
    chances, taken = np.zeros(len(every)), np.zeros(len(every), np.bool_)
    for fold in range(FOLDS):
        model, _ = learn([made for case in every if case.fold != fold for made in case.examples], 1, Params())
        for number, case in enumerate(every):
            if case.fold == fold:
                told = model.predict(case.example.values, case.example.words, describe_url(case.address))
                chances[number] = told[0]
                taken[number] = model.is_article(told) and not case.is_refused
    return chances, taken


def table(every: Sequence[Case], taken: Sequence[bool]) -> None:
    """Print what was rejected by kind, and which articles were lost by corpus and language."""
    shares: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case, is_taken in zip(every, taken, strict=True):
        if case.example.kind is PageKind.ARTICLE:
            for group in (("articles lost", "all"), ("corpus", case.corpus), ("language", case.language)):
                shares[group].append(not is_taken)
        else:
            shares["rejected", "all"].append(not is_taken)
            shares["rejected", case.name].append(not is_taken)
    print("| | | pages | share |\n|---|---|---|---|")
    for (group, name), values in sorted(shares.items(), key=lambda item: (item[0][0], -len(item[1]))):
        if group in {"rejected", "articles lost"} or sum(values):
            print(f"| {group} | {name} | {len(values)} | {np.mean(values):.3f} |")


def reliability(every: Sequence[Case], chances: np.ndarray[Any, Any]) -> None:
    """Print how many pages of each chance are articles."""
    article = np.array([case.example.kind is PageKind.ARTICLE for case in every])
    bins = np.minimum((chances * 10).astype(int), 9)
    print("\n| chance | pages | mean chance | articles |\n|---|---|---|---|")
    for at in range(10):
        inside = bins == at
        if inside.any():
            print(f"| {at / 10:.1f} | {inside.sum()} | {chances[inside].mean():.3f} | {article[inside].mean():.3f} |")
    off = sum(abs(chances[bins == at].mean() - article[bins == at].mean()) * (bins == at).mean() for at in set(bins))
    print(f"expected calibration error {off:.4f}")


def main() -> int:
    """Print the tables, or train."""
    options = new_parser(__doc__)
    options.add_argument("networks", type=Path, help="folder of networks by fold, 0.json to 3.json")
    options.add_argument("--train", type=Path, help="write the model of all pages there instead")
    chosen = options.parse_args()
    require_data()
    every = cases(chosen.networks)
    if chosen.train:
        model, figures = learn([made for case in every for made in case.examples], 1, Params())
        made_by = "python -m tests.benchmarks.page_kinds FOLDER --train FILE"
        made = files.dumps("kinds", model.model(), made_by, {"pages": len(every), **figures})
        chosen.train.write_text(made, encoding="utf-8")
        return 0
    chances, taken = judge(every)
    table(every, taken.tolist())
    reliability(every, chances)
    print(f"{len({case.example.site for case in every})} sites")
    return 0


if __name__ == "__main__":
    sys.exit(main())
