"""Kinds of pages on unseen sites: articles refused, others stored, and how well chances are calibrated.

    uv run --extra train python -m tests.benchmarks.held_out --keep FOLDER
    uv run --extra train python -m tests.benchmarks.page_kinds FOLDER [--cache FILE] [--worst 20] [--train FILE]

The corpora lie under the folder that BENCH_DATA names (default: ../shared/data beside the project). Pages are dealt
into four folds by site, those of a platform by account; each is parsed as in a crawl, by a model of kinds that has
learned from the others and by networks of `combined` that have, too: the first command makes them. Addresses are those
of the corpora where they have some, and made up elsewhere, so that most of the pages that are no articles have none.
`--cache` keeps what is learned from each page, `--worst` names the articles that were refused and as many other pages
that were surest to be stored, `--train` makes the model that is shipped.
"""

from __future__ import annotations

import pickle
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from pipelines.document.document import Document
from pipelines.extract import combined
from pipelines.extract.network import StagedNetwork
from pipelines.models import files
from pipelines.parse_page import parse_page
from pipelines.records import Extraction, PageKind, ParseResult
from pipelines.training.page_kind import FOLDS, KindExample, Params, learn, learn_folds
from pipelines.training.page_kind_examples import KnownPage, examples, kind_of, site_of
from tests.benchmarks.data import NOW, address, corpora, fold_of, pages, require_data

from .commands import new_parser

UNTOLD = frozenset({"cleaneval", "cleaneval-dev", "cleanportaleval", "omnivore", "readability"})
"""Corpora that are mixed and do not tell."""
FORUMS = frozenset({"magic-forum", "harvest-forum"})
_BROAD = frozenset({"list", "other"})


@dataclass(frozen=True)
class Case:
    """A page of known kind, and what is learned from it."""

    corpus: str
    page: KnownPage
    fold: int
    examples: list[KindExample]

    @property
    def is_article(self) -> bool:
        return kind_of(self.page.row) is PageKind.ARTICLE

    @property
    def name(self) -> str:
        """Return its kind by the words of its corpus."""
        row = self.page.row
        narrow = row.get("subtype") if row.get("page_type") in _BROAD else None
        return str(narrow or row.get("page_type") or row.get("kind"))


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


def cases(readers: Sequence[StagedNetwork]) -> list[Case]:
    """Read all pages, each by networks that have not seen its fold."""
    found = []
    for corpus, row, body in rows():
        fold = fold_of(corpus, row, FOLDS)

        def read(document: Document, reader: StagedNetwork = readers[fold]) -> Extraction:
            return combined.extract_by(reader, document, combined.Params())

        page = KnownPage.of(body, {**row, "id": str(row["id"])})
        made = list(examples(page, read, NOW))
        if made:
            found.append(Case(corpus, page, fold, made))
    return found


def parse(every: Sequence[Case], readers: Sequence[StagedNetwork]) -> list[ParseResult]:
    """Parse each page by models that have not seen its fold; prints how well these are calibrated."""
    parsed: dict[int, ParseResult] = {}
    folds = np.array([case.fold for case in every for _ in case.examples])
    models = learn_folds([made for case in every for made in case.examples], folds, 1, Params())
    print(models[0][1])
    for fold, (reader, (model, _)) in enumerate(zip(readers, models, strict=True)):
        with (
            patch("pipelines.page_kind.decision.shipped", return_value=model),
            patch("pipelines.extract.combined.network", return_value=reader),
        ):
            for number, case in enumerate(every):
                if case.fold == fold:
                    parsed[number] = parse_page(case.page.body, address(dict(case.page.row)), fetched_at=NOW)
    return [parsed[number] for number in range(len(every))]


def table(every: Sequence[Case], parsed: Sequence[ParseResult]) -> None:
    """Print what was rejected by kind, and which articles were refused by corpus and language."""
    shares: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for case, page in zip(every, parsed, strict=True):
        refused = not page.is_kept
        if case.is_article:
            language = str(case.page.row.get("lang") or page.metadata.language or "?")[:2]
            platform = str(case.page.row.get("platform") or "")
            groups = [("articles refused", "all"), ("corpus", case.corpus), ("language", language)]
            for group in [*groups, ("platform", platform)] if platform else groups:
                shares[group].append(refused)
        else:
            shares["rejected", "all"].append(refused)
            shares["rejected", case.name].append(refused)
    print("| | | pages | share |\n|---|---|---|---|")
    for (group, name), values in sorted(shares.items(), key=lambda item: (item[0][0], -len(item[1]))):
        if group in {"rejected", "articles refused"} or sum(values):
            print(f"| {group} | {name} | {len(values)} | {np.mean(values):.3f} |")
    print(f"{len({site_of(case.page.row) for case in every})} sites")


def worst(every: Sequence[Case], parsed: Sequence[ParseResult], most: int) -> None:
    """Print the articles that were refused, and other pages that were stored, the surest first."""
    pairs = sorted(zip(every, parsed, strict=True), key=lambda pair: -pair[1].probability)
    for is_article in (True, False):
        shown = [pair for pair in pairs if pair[0].is_article is is_article and pair[1].is_kept is not is_article]
        for case, page in shown[:most]:
            said = page.reason or f"stored as {page.kind.word}"
            print(f"{page.probability:.3f} {case.name:12} {said:20} {case.corpus}/{case.page.row['id']}")


def main() -> int:
    """Print the tables, or train."""
    options = new_parser(__doc__)
    options.add_argument("networks", type=Path, help="folder of networks by fold, 0.json to 3.json")
    options.add_argument("--cache", type=Path, help="where examples are kept, to be read again from there")
    options.add_argument("--worst", type=int, default=0, help="how many pages to name on each side")
    options.add_argument("--train", type=Path, help="write the model of all pages there instead")
    chosen = options.parse_args()
    require_data()
    texts = [(chosen.networks / f"{fold}.json").read_text(encoding="utf-8") for fold in range(FOLDS)]
    readers = [files.loads(text, str(chosen.networks), "combined").build(StagedNetwork.of) for text in texts]
    if chosen.cache and chosen.cache.is_file():
        every = pickle.loads(chosen.cache.read_bytes())
    else:
        every = cases(readers)
        if chosen.cache:
            chosen.cache.write_bytes(pickle.dumps(every))
    if chosen.train:
        model, figures = learn([made for case in every for made in case.examples], 1, Params())
        made_by = "python -m tests.benchmarks.page_kinds FOLDER --train FILE"
        made = files.dumps("kinds", model.model(), made_by, {"pages": len(every), **figures})
        chosen.train.write_text(made, encoding="utf-8")
        return 0
    parsed = parse(every, readers)
    table(every, parsed)
    worst(every, parsed, chosen.worst)
    return 0


if __name__ == "__main__":
    sys.exit(main())
