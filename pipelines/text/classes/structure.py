"""Structure and keywords: pages of a class have like trees and like first words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np

from ...document.document import Document
from ...models.arrays import pack, unpack
from ..words import MAX_CHARS, fold
from . import svm
from .classifier import Classifier, Steps, Training
from .vectors import TAG_WEIGHTS, Numbers, Terms, Text, Vector, as_terms, count_words, words_of

NAME: Final = "structure"
_MOST_EDGES: Final = 300
_MOST_BLOCKS: Final = 400
_ROUNDS: Final = 8


class Decision(StrEnum):
    SVM = "svm"
    NEAREST = "nearest"


@dataclass(frozen=True, slots=True)
class Params:
    """Clusters of a class, and what decides over the likenesses to their cores.

    Attributes:
        cost: bound of the multipliers of the support vector machine.
        edges: with the nearest core, weight of trees beside keywords.
        sharpness: with the nearest core, how much the nearest counts before the others.
    """

    by: Decision = Decision.SVM
    cores: int = 3
    cost: float = 10.0
    edges: float = 0.2
    sharpness: float = 25.0


def place(document: Document, title: str, text: str) -> Text:
    """Return the text of a page with edges, headings, and words by depth and order.

    Nodes of the tree are elements and their attributes. A word weighs more the higher it stands in the tree and the
    earlier in the page.
    """
    tags = document.tags
    edges = Counter(f"{tags[parent]}>{tag}" for parent, tag in zip(document.parents, tags, strict=True) if parent >= 0)
    for tag, element in zip(tags, document.elements, strict=True):
        edges.update(f"{tag}>@{name!s}" for name in element.keys())  # noqa: SIM118 - no mapping
    depths: defaultdict[str, float] = defaultdict(float)
    marked: list[tuple[str, str]] = []
    blocks = document.blocks
    size = min(len(blocks), _MOST_BLOCKS)
    for order in range(size):
        node = blocks.nodes[order]
        weight = _weight(document.depths[node], order / size)
        for word in set(words_of(fold(blocks.texts[order][:MAX_CHARS]))):
            depths[word] = max(depths[word], weight)
        if (tag := tags[blocks.starts[order]]) in TAG_WEIGHTS or (tag := tags[node]) in TAG_WEIGHTS:
            marked.append((tag, blocks.texts[order]))
    return Text(title, text, tuple(marked), dict(edges.most_common(_MOST_EDGES)), dict(depths))


def count_placed(text: Text) -> Terms:
    """Count words by depth and order in the page, without one by order in the text."""
    counts = count_words(text)
    if text.depths:
        return as_terms({word: count * text.depths.get(word, 1.0) for word, count in counts.items()})
    return as_terms({word: n * _weight(0, order / len(counts)) for order, (word, n) in enumerate(counts.items())})


def _weight(depth: int, order: float) -> float:
    return (1 + 1 / (1 + depth)) * (2 - order)


def likeness(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return the share of tree edges that two pages have in common, in [0, 1].

    >>> likeness({"body>p": 3, "body>h1": 1}, {"body>p": 3})
    0.75
    """
    both = sum(min(count, second[edge]) for edge, count in first.items() if edge in second)
    return both / max(sum(first.values()), sum(second.values()), 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Cores:
    """Clusters of the pages of each class: words and trees, a column per core."""

    words: Numbers
    edges: Sequence[Mapping[str, float]]
    classes: Sequence[int]
    count: int
    params: Params
    planes: Numbers
    """Weights of the likenesses in words, of those in trees, and bias (rows) for each class; of no row if the nearest
    core decides."""

    def likenesses(self, text: Text, vector: Vector) -> tuple[Numbers, Numbers]:
        """Return how like each core a page is in words and in its tree, each in [0, 1]."""
        words = vector.values @ self.words[vector.columns]
        if not text.edges or not any(self.edges):
            return words, np.zeros(len(words))
        return words, np.array([likeness(text.edges, edges) for edges in self.edges])

    def scores(self, text: Text, vector: Vector) -> Numbers:
        if not len(vector.columns):
            return np.zeros(self.count)
        words, trees = self.likenesses(text, vector)
        if len(self.planes):
            planes: Numbers = np.concatenate((words, trees, [1.0])) @ self.planes
            return planes
        near = words if not text.edges else (1 - self.params.edges) * words + self.params.edges * trees
        best = np.full(self.count, -1.0)
        np.maximum.at(best, np.array(self.classes), near)
        grown = np.exp(self.params.sharpness * (best - best.max())) * (best >= 0)
        shares: Numbers = grown / grown.sum()
        return shares

    def model(self) -> dict[str, object]:
        return {
            "words": Steps.of(self.words).model(),
            "edges": [{edge: round(mean, 3) for edge, mean in edges.items()} for edges in self.edges],
            "classes": list(self.classes),
            "params": [self.params.edges, self.params.sharpness],
            "planes": pack(self.planes.astype(np.float32)),
        }


def fit(training: Training, params: Params) -> Classifier:
    """Cluster the pages of each class around cores; learn planes over the likenesses.

    Raises:
        ValueError: cores or cost is not positive.

    Source: S25 (trees of elements and attributes, shares of common edges, keywords by depth and order, clusters with
    cores, support vector machine).
    Differs: the pages are HTML instead of XML. The numbers of the paper are lost: the weight of depth and order is
    ours. Each class has clusters of its own, and its machine is linear over the likenesses to all cores in words and
    in trees. A page of a model that learned from pages of one class each gets one class. With `by` nearest there is no
    machine: a class is as near as its nearest core. Where a text comes without its page the order of its words is all
    there is, and the trees say nothing.
    """
    if params.cores < 1 or params.cost <= 0:
        raise ValueError(f"cores is {params.cores}, cost {params.cost}; cores takes 1 or more, cost more than 0")
    matrix = training.matrix()
    means: list[Numbers] = []
    trees: list[dict[str, float]] = []
    classes: list[int] = []
    for number in range(training.wanted.shape[1]):
        rows = np.flatnonzero(training.wanted[:, number])
        for members in _cluster(matrix[rows], params.cores):
            mean = np.asarray(matrix[rows[members]].mean(axis=0)).ravel()
            means.append(mean / max(float(np.sqrt(mean @ mean)), 1e-12))
            total = Counter[str]()
            for row in rows[members]:
                total.update(training.texts[row].edges)
            trees.append({edge: count / len(members) for edge, count in total.most_common(_MOST_EDGES)})
            classes.append(number)
    words = Steps.of(np.stack(means, axis=1)).values()
    cores = _Cores(words, trees, classes, training.wanted.shape[1], params, np.zeros((0, 0)))
    if params.by is Decision.NEAREST:
        return cores
    near = [cores.likenesses(text, one) for text, one in zip(training.texts, training.vectors, strict=True)]
    planes, bias = svm.learn_planes(np.array([np.concatenate(pair) for pair in near]), training.wanted, params.cost)
    return replace(cores, planes=np.concatenate((planes, bias[None])))


def _cluster(matrix: Any, cores: int) -> list[Any]:
    """Return the rows of each cluster, by spherical k-means from distant rows."""
    count = matrix.shape[0]
    if count <= 2 * cores:
        return [np.arange(count)] if count else []
    seeds = [int(np.argmax(np.asarray(matrix @ np.asarray(matrix.mean(axis=0)).ravel())))]
    near = np.asarray((matrix @ matrix[seeds[0]].T).todense()).ravel()
    while len(seeds) < cores:
        seeds.append(int(np.argmin(near)))
        near = np.maximum(near, np.asarray((matrix @ matrix[seeds[-1]].T).todense()).ravel())
    means = np.asarray(matrix[seeds].todense()).T
    cluster_of = np.zeros(count, np.intp)
    for _ in range(_ROUNDS):
        cluster_of = np.asarray(matrix @ means).argmax(axis=1)
        for core in range(means.shape[1]):
            if (cluster_of == core).any():
                mean = np.asarray(matrix[cluster_of == core].mean(axis=0)).ravel()
                means[:, core] = mean / max(float(np.sqrt(mean @ mean)), 1e-12)
    return [rows for core in range(cores) if len(rows := np.flatnonzero(cluster_of == core))]


def load(model: Mapping[str, Any], terms: int, classes: int) -> Classifier:
    edges, sharpness = model["params"]
    planes = unpack(model["planes"]).astype(np.float64)
    owners = [int(owner) for owner in model["classes"]]
    if not owners or min(owners) < 0 or max(owners) >= classes or len(model["edges"]) != len(owners):
        raise ValueError("its cores are of classes that it does not have")
    if planes.shape not in {(0, 0), (2 * len(owners) + 1, classes)}:
        raise ValueError("its planes are not over the likenesses to its cores")
    return _Cores(
        Steps.load(model["words"], terms).values(),
        list(model["edges"]),
        owners,
        classes,
        Params(edges=edges, sharpness=sharpness),
        planes,
    )
