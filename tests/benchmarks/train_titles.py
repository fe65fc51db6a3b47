"""Make the network that chooses headlines anew from the corpora under BENCH_DATA.

    uv run python -m tests.benchmarks.train_titles [CORPUS ...] [--check] [--output FILE]

The network learns from every page whose headline is known and among the candidates; the shipped one weighs them only
where no heading repeats the page's title. `--check` writes nothing: it trains four networks, each without one fold of
the sites, and says how often the headline is right on the pages of that fold.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipelines.document import structured_data
from pipelines.document.document import Document, parse
from pipelines.document.noise import is_stamp
from pipelines.extract import DEFAULT
from pipelines.extract import extractor as find_extractor
from pipelines.metadata import title, title_ranking
from pipelines.models.network import DenseNetwork
from tests.benchmarks.data import address, corpora, fold, fold_of, is_other, pages

from . import choice
from .choice import Matrix, learn, network_of

CORPORA = (
    "andy-news", "big9", "chaos", "daniel", "dragnet", "evan", "fundus", "l3s-gn1", "magic-forum", "omnivore",
    "postlight-meta", "wcxb-article", "xmu", "zhgold",
)  # fmt: skip
"""Those whose golds are headlines as readers see them."""
FOLDS, NETWORKS, EPOCHS = 4, 2, 30
TIMES = 3
"""So often is a page seen where the rules say nothing, each of the others once."""
_LEAST_PART = 12
"""Characters of a line that a gold may begin or end with: some golds hold the lines above and below the headline."""


@dataclass(frozen=True)
class Example:
    """A page: its candidates as rows, which of them are right, and what the rules say."""

    corpus: str
    fold: int
    gold: str
    texts: tuple[str, ...]
    rows: Matrix
    ruled: str | None

    def target(self) -> Matrix | None:
        """1 for each right candidate; None where there is none, or the gold is only a date."""
        keys, want = [fold(text) for text in self.texts], fold(self.gold)
        right = [key == want for key in keys]
        if not any(right):
            ends = [len(key) >= _LEAST_PART and (want.startswith(key) or want.endswith(key)) for key in keys]
            longest = max((len(key) for key, is_end in zip(keys, ends, strict=True) if is_end), default=0)
            right = [is_end and len(key) == longest for key, is_end in zip(keys, ends, strict=True)]
        return np.array(right, np.float64) if any(right) and not is_stamp(self.gold) else None


def example(corpus: str, gold: dict[str, object], document: Document, first: int) -> Example:
    """Describe what may be the headline of a page whose text starts at block `first`."""
    data = structured_data.read(document)
    site = title.fold_sites(document, data, title.find_site_names(document, data))
    lines = title.find_candidate_lines(document, first)
    candidates, rows = title.weigh(document, data, lines, first, site)
    ruled = title.find_repeated(document, data, lines, first, site)
    texts = tuple(one.text for one in candidates)
    number = fold_of(corpus, gold, FOLDS)
    return Example(corpus, number, str(gold["title"]), texts, rows, ruled.text if ruled else None)


def examples(names: Sequence[str]) -> Iterator[Example]:
    """All pages of the corpora with a known headline."""
    run = find_extractor(DEFAULT)
    for corpus, folder in corpora(names).items():
        for gold, body in pages(folder):
            if gold.get("title") and not gold.get("suspect") and not is_other(gold):
                document = parse(body, address(gold))
                kept = run(document).blocks
                yield example(corpus, gold, document, kept[0] if kept else -1)


def learn_from(every: Sequence[Example]) -> DenseNetwork:
    """The network that learned from some pages."""
    rows = np.concatenate([one.rows for one in every if len(one.texts)])
    targets = [(one, target) for one in every if (target := one.target()) is not None]
    repeated = [(one.rows, target) for one, target in targets for _ in range(TIMES if one.ruled is None else 1)]
    return network_of(learn(rows, repeated, NETWORKS, EPOCHS))


def answer(network: DenseNetwork, one: Example) -> str:
    """The headline by the rules, or by the network where they have none."""
    if one.ruled is not None or not one.texts:
        return one.ruled or ""
    return one.texts[title_ranking.choose(one.rows, network)]


def check(every: Sequence[Example]) -> None:
    """Print for each corpus how often headlines are right, on folds not learned from."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0] * 4)
    for number in range(FOLDS):
        network = learn_from([one for one in every if one.fold != number])
        for one in (one for one in every if one.fold == number):
            right = fold(answer(network, one)) == fold(one.gold)
            weighed = one.ruled is None
            for at, value in enumerate((1, right, weighed, weighed and right)):
                counts[one.corpus][at] += value
    print("| corpus | pages | right | weighed | of these right |\n|---|---|---|---|---|")
    for corpus, (size, right, weighed, of_these) in counts.items():
        print(f"| {corpus} | {size} | {right / size:.3f} | {weighed} | {of_these} |")


def main() -> int:
    """Train and write the network, or check it."""
    return choice.run(__doc__, "title", "train_titles", CORPORA, examples=examples, check=check, learn_from=learn_from)


if __name__ == "__main__":
    sys.exit(main())
