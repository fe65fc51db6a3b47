"""Weighted block features: content by the weighted mean of what features say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ..decode.characters import Counts
from ..document.document import Document
from ..document.view import Flags, Values, measure
from ..models.files import load
from ..records import Extraction
from ..text_form import render

CONTAINERS: Final = frozenset({"table", "p", "tr", "div"})
"""Elements whose text is one block in the paper."""


class Preset(StrEnum):
    LEARNED = "learned"
    """The model of `scrapy train blocks`."""
    WUQI2011 = "wuqi2011"
    """Supports, weights and threshold as printed in the paper."""


@dataclass(frozen=True, slots=True)
class Params:
    preset: Preset = Preset.LEARNED
    min_chars: int = 40


class View:
    """Columns of a page's blocks; nothing is counted inside the tags `without`."""

    __slots__ = ("chars", "count", "document", "home", "left", "links", "marked", "marks", "near", "nodes", "own")

    def __init__(self, document: Document, without: Collection[str] = ()) -> None:
        blocks, page = document.blocks, measure(document)
        self.document = document
        self.count = len(document.tags)
        self.nodes = page.nodes
        self.left = ~_inside(document, without)
        left = self.left[self.nodes]
        self.chars = np.asarray(blocks.chars, np.float64) * left
        self.links = np.asarray(blocks.link_chars, np.float64) * left
        self.marks = np.asarray(blocks.marks, np.float64) * left
        self.marked = np.where(self.marks > 0, page.prose, 0)
        self.home = page.holders
        near: list[int] = []
        for node, (tag, parent) in enumerate(zip(document.tags, document.parents, strict=True)):
            near.append(node if tag in CONTAINERS or parent < 0 else near[parent])
        # Nearest container of each node, and of each block.
        self.near: Counts = np.array(near, np.int64)
        self.own: Counts = self.near[self.nodes]

    def gathered(self, places: ArrayLike, values: ArrayLike | None = None) -> Values:
        where = np.asarray(places, np.int64)
        return np.asarray(np.bincount(where, weights=values, minlength=self.count)[self.own], np.float64)

    def tagged(self, *tags: str) -> Values:
        tagged = (node for node, tag in enumerate(self.document.tags) if tag in tags and self.left[node])
        return self.gathered([self.near[node] for node in tagged])

    def spaces(self) -> Values:
        places: list[int] = []
        elements = self.document.elements
        texts: Any = elements[0].xpath("//text()[contains(., '\xa0')]") if elements else []
        if texts:
            numbers: dict[object, int] = {element: node for node, element in enumerate(elements)}
            for text in texts:
                around = text.getparent()
                node = numbers.get(around.getparent() if text.is_tail else around, -1)
                if node >= 0 and self.left[node]:
                    places += [self.near[node]] * text.count("\xa0")
        return self.gathered(places)

    def neighbours(self) -> Values:
        """Count characters of prose in the two blocks before and the two behind."""
        padded = np.pad(self.marked, 2)
        return np.asarray(padded[:-4] + padded[1:-3] + padded[3:-1] + padded[4:], np.float64)

    def home_share(self) -> Values:
        """Share of the page's prose that stands with a block in one node."""
        return np.asarray(measure(self.document).sums(self.marked)[self.home] / max(self.marked.sum(), 1), np.float64)

    def home_links(self) -> Values:
        return np.asarray(self.document.LT[self.home] / np.maximum(self.document.T[self.home], 1), np.float64)

    def place(self) -> Values:
        return np.asarray((np.cumsum(self.marked) - self.marked) / max(self.marked.sum(), 1), np.float64)


FEATURES: Final[Mapping[str, Callable[[View], Values]]] = {
    "chars": lambda view: view.gathered(view.own, view.chars),
    "marks": lambda view: view.gathered(view.own, view.marks),
    "spaces": View.spaces,
    "bold": lambda view: view.tagged("b", "strong"),
    "breaks": lambda view: view.tagged("br"),
    "link_share": lambda view: view.links / np.maximum(view.chars, 1),
    "line_chars": lambda view: np.asarray(measure(view.document).plain, np.float64),
    "line_marks": lambda view: view.marks,
    "neighbours": View.neighbours,
    "home_share": View.home_share,
    "home_links": View.home_links,
    "place": View.place,
}
"""Name -> a number per block: the paper's five, of the block's container; then ours, of the line."""

EDGES: Final[Mapping[str, tuple[float, ...]]] = {
    "chars": (10, 14),
    "marks": (1,),
    "spaces": (1,),
    "bold": (1,),
    "breaks": (1,),
    "link_share": (0.05, 0.2, 0.5),
    "line_chars": (5, 14, 40, 100),
    "line_marks": (1, 3),
    "neighbours": (1, 40, 120, 300),
    "home_share": (0.05, 0.2, 0.5, 0.8),
    "home_links": (0.05, 0.15, 0.3, 0.6),
    "place": (0.02, 0.9, 0.98),
}
"""Edges of the bins of each feature: the paper's five as in the paper, the others chosen by hand.

`scrapy train blocks` found supports, weights and threshold of the shipped model; its file names the corpora, the size
of the swarm and the seed.
"""


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature of a model.

    Attributes:
        edges: ascending; bin k holds the values from edge k-1 up to, not including, edge k.
        support: P(S|t) of each bin, one more than edges.
        weight: d, 0 or more.
    """

    name: str
    edges: tuple[float, ...]
    support: tuple[float, ...]
    weight: float

    def __post_init__(self) -> None:
        if self.name not in FEATURES:
            raise ValueError(f"unknown feature {self.name!r}; known: {', '.join(FEATURES)}")
        if len(self.support) != len(self.edges) + 1:
            raise ValueError(f"feature {self.name!r} has {len(self.edges)} edges and {len(self.support)} supports")


@dataclass(frozen=True, slots=True)
class WeightedModel:
    """Features and threshold; what is inside the tags `without` is taken out."""

    features: tuple[Feature, ...]
    threshold: float
    without: tuple[str, ...] = ()

    @classmethod
    def from_mapping(cls, model: Mapping[str, Any]) -> WeightedModel:
        rows = model["features"]
        return cls(
            tuple(Feature(row["name"], tuple(row["edges"]), tuple(row["support"]), row["weight"]) for row in rows),
            model["threshold"],
        )


WUQI2011: Final = WeightedModel(
    (
        Feature("chars", (10, 14), (0.060, 0.546, 0.795), 1.4571),
        Feature("marks", (1,), (0.274, 0.944), 2.6976),
        Feature("spaces", (1,), (0.375, 0.827), 1.9782),
        Feature("bold", (1,), (0.295, 0.948), 2.6838),
        Feature("breaks", (1,), (0.434, 0.875), 0.8203),
    ),
    0.2922,
    without=("form",),  # the paper takes out script, style and iframe as well: none of them has blocks
)


def _inside(document: Document, tags: Collection[str]) -> Flags:
    """Flag the nodes that are, or are in, an element of these tags."""
    flags = np.zeros(len(document.tags), np.bool_)
    for node, tag in enumerate(document.tags):
        if tag in tags:
            flags[node : document.ends[node]] = True
    return flags


def bins(document: Document, edges: Mapping[str, Sequence[float]], without: Collection[str] = ()) -> Counts:
    """Return the bins that features fall into: a row per feature, a column per block.

    Cost: O(features x nodes).
    """
    if not len(document.blocks):
        return np.zeros((len(edges), 0), np.int64)
    view = View(document, without)
    return np.array([np.searchsorted(edge, FEATURES[name](view), side="right") for name, edge in edges.items()])


def scores(document: Document, model: WeightedModel) -> Values:
    """Score every block in [0, 1]: sum of d_i P(S|t_i) over sum of d_i.

    All are 0 when all weights are; so are those of blocks that the model takes out. Cost: O(features x nodes).
    """
    total = sum(feature.weight for feature in model.features)
    columns = bins(document, {feature.name: feature.edges for feature in model.features}, model.without)
    points = np.zeros(len(document.blocks))
    for feature, column in zip(model.features, columns, strict=True):
        points += feature.weight * np.array(feature.support)[column]
    if model.without:
        points[_inside(document, model.without)[measure(document).nodes]] = 0.0
    return points / total if total > 0 else points


def extract(document: Document, params: Params) -> Extraction:
    """Return the blocks that score above the model's threshold.

    The support of a feature is counted (the share of content among blocks like this), its weight is learned.

    Raises:
        ModelError: the learned model is missing or damaged.

    Cost: O(features x nodes).
    Source: 吴麒, 陈兴蜀, 谭骏, 基于权值优化的网页正文内容提取算法, 2011 (S10).
    Differs: with the preset `wuqi2011` `<strong>` counts as `<b>`; the learned model has seven more features, mostly of
        links and neighbours, and keeps forms.
    """
    model = WUQI2011 if params.preset is Preset.WUQI2011 else load("blocks", WeightedModel.from_mapping)
    return extract_by(document, model, params.min_chars)


def extract_by(document: Document, model: WeightedModel, min_chars: int = Params().min_chars) -> Extraction:
    """Return the blocks that score above the threshold of a model."""
    margins = scores(document, model) - model.threshold
    return render.answer(document, np.flatnonzero(margins > 0).tolist(), margins.tolist(), min_chars)
