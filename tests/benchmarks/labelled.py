"""Labelled near-duplicates, and how pairs found among them are scored.

A folder holds `docs.jsonl.gz`, documents in order of arrival: id, cluster, edit, title, text, `also` (clusters quoted
or joined in) and `tmpl` (series of bulletins); `pairs.tsv`: two ids and 1 for duplicates or 0 for ignored; and
`grey.json`: pairs of clusters that nobody decided. Any other pair is no duplicate. Pairs of one series are counted
apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from db.records.evidence import REPEATING
from pipelines.dedup.stream import Finder, Pair

from .data import DATA, read_rows

FOLDER = DATA / "neardup"
NO_REPRINTS = {"en": {(1268, 1760), (1417, 1760)}}
"""Pairs that are labelled as reprints and tell of contracts of different companies, for other sums: left out."""
NEGATIVE = "neg_"
"""What the edits of documents begin with that only look like duplicates."""


@dataclass(frozen=True)
class Labels:
    """What is known of a data set."""

    documents: dict[int, dict[str, Any]]
    pairs: dict[tuple[int, int], int]
    grey: set[tuple[str, str]]

    def texts(self) -> Iterator[tuple[int, str, str]]:
        """Yield number, title and text of the documents in order of arrival."""
        for number, document in self.documents.items():
            yield number, document["title"], document["text"]

    def kind(self, first: int, second: int) -> str:
        """Judge a pair found: "hit", "false", "ignored" or "template"."""
        label = self.pairs.get((min(first, second), max(first, second)))
        if label is not None:
            return "hit" if label else "ignored"
        a, b = self.documents[first], self.documents[second]
        if a["tmpl"] is not None and a["tmpl"] == b["tmpl"]:
            return "template"
        if b["cluster"] in a["also"] or a["cluster"] in b["also"] or set(a["also"]) & set(b["also"]):
            return "ignored"
        ours, theirs = (a["cluster"], *a["also"]), (b["cluster"], *b["also"])
        return "ignored" if any((x, y) in self.grey for x in ours for y in theirs) else "false"


@dataclass(frozen=True)
class Score:
    """How well pairs fit the labels; shares in [0, 1].

    Attributes:
        pairs: how many of each kind, see `Labels.kind`.
        b_cubed: F1 of the clusters that follow from the pairs.
        caught: share of the later copies that were found to repeat something.
        by_edit: recall of the pairs of documents with an edit, by its name.
        wrong: documents made to look like others without repeating them, by how, that are in a pair all the same, and
            how many there are; pairs that nobody decided do not count.
    """

    precision: float
    recall: float
    b_cubed: float
    caught: float
    by_edit: dict[str, float]
    wrong: dict[str, tuple[int, int]]
    pairs: Counter[str]

    @property
    def weakest(self) -> tuple[str, float]:
        """The edit with the least recall."""
        return min(self.by_edit.items(), key=lambda item: item[1])


def load(language: str) -> Labels:
    """Read a labelled data set."""
    folder = FOLDER / language
    documents = {document["id"]: document for document in read_rows(folder / "docs.jsonl.gz")}
    pairs = {}
    for line in (folder / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        first, second, label = line.split("\t")[:3]
        pairs[min(int(first), int(second)), max(int(first), int(second))] = int(label)
    pairs |= dict.fromkeys(NO_REPRINTS.get(language, ()), 0)
    grey = {tuple(pair) for pair in json.loads((folder / "grey.json").read_text(encoding="utf-8"))}
    return Labels(documents, pairs, grey | {(second, first) for first, second in grey})


def find_pairs(finder: Finder, texts: Iterable[tuple[int, str, str]]) -> list[tuple[int, Pair]]:
    """Stream texts (key, title, text) and return the pairs of duplicates, without those that were revoked."""
    pairs = [
        (key, pair) for key, title, text in texts for pair in finder.add(key, title, text) if pair.kind in REPEATING
    ]
    return [(key, pair) for key, pair in pairs if pair.link not in finder.revoked]


def score(labels: Labels, found: Iterable[tuple[int, int]]) -> Score:
    """Score pairs of documents."""
    seen = {(min(pair), max(pair)) for pair in found if pair[0] != pair[1]}
    kinds = {pair: labels.kind(*pair) for pair in seen}
    counts = Counter(kinds.values())
    positives = {pair for pair, label in labels.pairs.items() if label}
    hits = seen & positives
    order = {number: place for place, number in enumerate(labels.documents)}
    later = {max(pair, key=order.__getitem__) for pair in positives}
    caught = {max(pair, key=order.__getitem__) for pair in hits}
    edits: Counter[str] = Counter()
    reached: Counter[str] = Counter()
    for pair in positives:
        for number in pair:
            edit = labels.documents[number]["edit"]
            edits[edit] += edit != "orig"
            reached[edit] += pair in hits
    merged = {number for pair, kind in kinds.items() if kind in {"false", "template"} for number in pair}
    negatives: Counter[str] = Counter()
    called: Counter[str] = Counter()
    for number, document in labels.documents.items():
        if document["edit"].startswith(NEGATIVE):
            negatives[document["edit"]] += 1
            called[document["edit"]] += number in merged
    return Score(
        counts["hit"] / max(1, counts["hit"] + counts["false"]),
        len(hits) / max(1, len(positives)),
        _b_cubed(labels, (pair for pair, kind in kinds.items() if kind in {"hit", "false"})),
        len(caught) / max(1, len(later)),
        {edit: reached[edit] / many for edit, many in sorted(edits.items()) if many},
        {edit.removeprefix(NEGATIVE): (called[edit], many) for edit, many in sorted(negatives.items())},
        counts,
    )


def _b_cubed(labels: Labels, links: Iterable[tuple[int, int]]) -> float:
    """F1 of the clusters that links make, document by document; bulletins do not count."""
    parent = {number: number for number in labels.documents}

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = number = parent[parent[number]]
        return number

    for first, second in links:
        parent[root(first)] = root(second)
    cells: Counter[tuple[int, str]] = Counter()
    for number, document in labels.documents.items():
        if document["tmpl"] is None:
            cells[root(number), document["cluster"]] += 1
    ours: Counter[int] = Counter()
    theirs: Counter[str] = Counter()
    for (cluster, truth), size in cells.items():
        ours[cluster] += size
        theirs[truth] += size
    many = max(1, cells.total())
    precision = sum(size * size / ours[cluster] for (cluster, _), size in cells.items()) / many
    recall = sum(size * size / theirs[truth] for (_, truth), size in cells.items()) / many
    return 2 * precision * recall / max(1e-9, precision + recall)
