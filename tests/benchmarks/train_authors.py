"""Make the network that chooses authors anew from the corpora under BENCH_DATA.

    uv run python -m tests.benchmarks.train_authors [CORPUS ...] [--check] [--output FILE]

The network learns from every page whose authors are known: of all that may name them the candidates with the highest
F1 are right, or nobody where the page names none. `daniel` notes no authors: of its Chinese pages those are learned
from on which a label such as 记者 stands beside just one candidate, or only one signs the text; that one is right.
`--check` writes nothing: it trains four networks, each without one fold of the sites, and tells the mean F1 on the
pages of that fold.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pipelines.document import structured_data
from pipelines.document.document import parse
from pipelines.extract import DEFAULT
from pipelines.extract import extractor as find_extractor
from pipelines.metadata import bylines, person_names
from pipelines.metadata.author_ranking import AuthorCandidate, choose
from pipelines.metadata.lines import find_lines
from pipelines.metadata.source import find_source
from pipelines.metadata.title import find_headline, find_site_names
from pipelines.models.network import DenseNetwork
from tests.benchmarks.data import address, corpora, fold_of, is_other, pages
from tests.benchmarks.metadata import names

from . import choice
from .choice import Matrix, learn, network_of

CORPORA = (
    "andy-news", "daniel", "fundus", "omnivore", "platforms", "postlight-meta", "wcxb-article", "xmu", "zhgold",
)  # fmt: skip
NOBODY_IS_KNOWN = frozenset({"platforms", "zhgold"})
"""In these a page without authors names none; in the others nobody may have noted them."""
LABELLED: Final = "daniel"
CHINESE = frozenset({"daniel", "platforms", "xmu", "zhgold"})
FOLDS, NETWORKS, EPOCHS, DECAY = 4, 4, 30, 5e-2
TIMES = 2
"""So often is a page of the Chinese corpora seen, which are few."""
_LEAST_F1: Final = 0.5


@dataclass(frozen=True)
class Example:
    """A page: its candidates and their rows, of which the last is for nobody; empty `wanted` for nobody."""

    corpus: str
    fold: int
    wanted: set[str]
    candidates: Sequence[AuthorCandidate]
    rows: Matrix
    stated: Sequence[str]
    """Names that are believed without asking the network."""

    def f1(self, number: int) -> float:
        """F1 of a candidate's names; 0 of nobody's."""
        return self.f1_of(self.candidates[number].names) if number < len(self.candidates) else 0.0

    def f1_of(self, found: Sequence[str]) -> float:
        """F1 of some names."""
        got = names(found)
        return 2 * len(self.wanted & got) / (len(self.wanted) + len(got)) if self.wanted | got else 0.0

    def target(self) -> Matrix:
        """1 for each right row."""
        scores = np.array([self.f1(number) for number in range(len(self.rows))])
        best = scores.max()
        return (scores == best).astype(np.float64) if best >= _LEAST_F1 else np.eye(len(scores))[-1]


def examples(chosen: Sequence[str]) -> Iterator[Example]:
    """All pages of the corpora that say something of their authors."""
    run = find_extractor(DEFAULT)
    for corpus, folder in corpora(chosen).items():
        for gold, body in pages(folder):
            wanted = names(gold.get("authors"))
            is_labelled = corpus == LABELLED and str(gold.get("lang")).startswith("zh")
            is_known = wanted or is_labelled or (corpus in NOBODY_IS_KNOWN and gold.get("kind") != "not_article")
            if not is_known or gold.get("suspect") or is_other(gold):
                continue
            document = parse(body, address(gold))
            kept = run(document).blocks
            data = structured_data.read(document)
            sites = find_site_names(document, data)
            headline = find_headline(document, data, kept[0] if kept else -1, sites)
            near = find_lines(document, headline.block, kept)
            sites = [*sites, find_source(document, near, kept)]
            candidates, rows = bylines.weigh(document, data, near, kept, sites)
            if is_labelled:
                texts = document.blocks.texts
                sure = [
                    one
                    for one in candidates
                    if one.block >= 0 and ("signed" in one.sources or person_names.has_label(texts[one.block]))
                ]
                if len(sure) != 1:
                    continue
                wanted = names(sure[0].names)
            stated = bylines.find_stated(document, data, near, kept, sites)
            yield Example(corpus, fold_of(corpus, gold, FOLDS), wanted, candidates, rows, stated)


def learn_from(every: Sequence[Example]) -> DenseNetwork:
    """The network that learned from some pages."""
    data = [(one.rows, one.target()) for one in every for _ in range(TIMES if one.corpus in CHINESE else 1)]
    return network_of(learn(np.concatenate([rows for rows, _ in data]), data, NETWORKS, EPOCHS, DECAY))


def check(every: Sequence[Example]) -> None:
    """Print for each corpus the mean F1 of authors, on folds not learned from."""
    scores: dict[str, list[float]] = defaultdict(list)
    best: dict[str, list[float]] = defaultdict(list)
    invented: dict[str, int] = defaultdict(int)
    for number in range(FOLDS):
        network = learn_from([one for one in every if one.fold != number])
        for one in (one for one in every if one.fold == number):
            chosen = choose(one.rows, network)
            if one.wanted:
                scores[one.corpus].append(one.f1_of(one.stated) if one.stated else one.f1(chosen))
                best[one.corpus].append(max(map(one.f1, range(len(one.rows)))))
            else:
                invented[one.corpus] += chosen < len(one.candidates)
    print("| corpus | pages | F1 | of the best candidates | invented |\n|---|---|---|---|---|")
    for corpus, values in scores.items():
        shares = f"{np.mean(values):.3f} | {np.mean(best[corpus]):.3f}"
        print(f"| {corpus} | {len(values)} | {shares} | {invented[corpus]} |")


def main() -> int:
    """Train and write the network, or check it."""
    return choice.run(
        __doc__, "authors", "train_authors", CORPORA, examples=examples, check=check, learn_from=learn_from
    )


if __name__ == "__main__":
    sys.exit(main())
