"""Small feed-forward networks: from a block's features to its chance of content.

S10 weighs features linearly and binarised; here two hidden layers let them act together. Several networks vote. Second
networks look at chances alone, of a block and around it, and correct what does not fit in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..decode.characters import Counts
from ..document.document import Document, sum_sub_trees
from ..document.view import Flags, Values, measure
from ..models.network import DenseNetwork
from .features import Table

Matrix = NDArray[np.float32]

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SURE: Final = 0.01
"""A chance below this, or as near to 1, is believed to one network."""
_FLOOR: Final = 1e-3
"""Chances are told apart down to this one."""
_NONE: Final = -7.0
"""Log-odds of what is not there."""
_STEPS: Final = (-4, -3, -2, -1, 1, 2, 3, 4)
_REACHES: Final = (3, 8, 20)
_LEVELS: Final = 6
_FAR: Final = 200
_AWAY: Final = 9.0
OWN: Final = ("mass", "links", "marks", "is heading", "is p", "is li", "place", "times on page")
"""Features that the second networks see, too."""


def predict(networks: DenseNetwork, values: Matrix) -> Matrix:
    """Return the mean of the networks' votes, in [0, 1], one per column of `values`.

    Where the first network is sure, the others are not asked.
    Cost: O(networks x weights x blocks in doubt + weights x blocks).
    """
    inputs = networks.standardise(values)
    chances = _mean_vote(networks, inputs, slice(0, 1))
    doubtful = np.flatnonzero((chances > _SURE) & (chances < 1 - _SURE))
    others = len(networks.weights[0]) - 1
    if others and len(doubtful):
        votes = _mean_vote(networks, inputs[:, doubtful], slice(1, None))
        chances[doubtful] = (chances[doubtful] + votes * others) / (others + 1)
    return chances


def _mean_vote(networks: DenseNetwork, inputs: Matrix, which: slice) -> Matrix:
    mean: Matrix = (1 / (1 + np.exp(-networks.outputs(inputs, which)[:, 0, :]))).mean(axis=0)
    return mean


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the blocks of a page stand.

    A sub-tree is the range `[node, ends[node])`; blocks of one group are alike by tags and names of node and parent.
    """

    nodes: Counts
    parents: Counts
    ends: Counts
    groups: Counts
    headings: Flags
    mass: Values

    @classmethod
    def of(cls, document: Document, mass: Values) -> Layout:
        view, tags, nodes = measure(document), document.tags, document.blocks.nodes
        return cls(
            view.nodes,
            view.parents,
            view.ends,
            view.groups,
            np.fromiter((tags[node] in _HEADINGS for node in nodes), np.bool_, len(nodes)),
            mass,
        )


def surroundings(layout: Layout, table: Table, chances: Matrix) -> Table:
    """Describe what is around each block: chances and `OWN`. Cost: O(nodes + blocks)."""
    size, mass, nodes, of = len(chances), layout.mass, layout.nodes, layout.groups
    order = np.arange(size)
    chance = chances.astype(np.float64)
    odds = np.log((chance + _FLOOR) / (1 - chance + _FLOOR))
    text = chance * mass
    rows: dict[str, Values] = {"odds": odds, "chance": chance}
    reach = _STEPS[-1]
    padded = np.concatenate((np.full(reach, _NONE), odds, np.full(reach, _NONE)))
    for by in _STEPS:
        rows[f"odds at {by}"] = padded[reach + by : reach + by + size]
    texts, masses = (np.concatenate(([0.0], np.cumsum(values))) for values in (text, mass))
    for reach in _REACHES:
        first, last = np.maximum(order - reach, 0), np.minimum(order + reach + 1, size)
        rows[f"mean of {reach} before"] = (texts[:-1] - texts[first]) / (masses[:-1] - masses[first] + 1)
        rows[f"mean of {reach} behind"] = (texts[last] - texts[1:]) / (masses[last] - masses[1:] + 1)
    whole = texts[-1] + _FLOOR
    rows["text before"] = texts[:-1] / whole
    rows["text behind"] = 1 - texts[1:] / whole
    rows["text share"] = text / whole
    rows["page text"] = np.full(size, np.log1p(whole))
    rows["page share"] = np.full(size, whole / (masses[-1] + 1))
    count = len(layout.ends)
    held, sizes = (sum_sub_trees(np.bincount(nodes, values, count), layout.ends) for values in (text, mass))
    at = nodes
    for level in range(_LEVELS):
        rows[f"mean of {level}"] = (held[at] - text) / (sizes[at] - mass + 1)
        rows[f"share of {level}"] = held[at] / whole
        at = layout.parents[at]
    _, siblings = np.unique(layout.parents[nodes] * (of.max() + 1) + of, return_inverse=True)
    for name, group in (("group", of), ("siblings", siblings)):
        rows[f"mean of {name}"] = (np.bincount(group, text)[group] - text) / (
            np.bincount(group, mass)[group] - mass + 1
        )
        rows[f"count of {name}"] = np.log1p(np.bincount(group))[group]
    by_group = np.argsort(of, kind="stable")
    same = np.diff(of[by_group]) == 0
    for name, into, out_of in (
        ("before", slice(1, None), slice(None, -1)),
        ("behind", slice(None, -1), slice(1, None)),
    ):
        next_odds = np.full(size, _NONE)
        next_odds[by_group[into]] = np.where(same, odds[by_group[out_of]], _NONE)
        rows[f"odds in group {name}"] = next_odds
    heading = np.maximum.accumulate(np.where(layout.headings, order, -1))
    rows["odds of heading"] = np.where(heading >= 0, odds[heading], _NONE)
    rows["since heading"] = np.log1p(order - heading)
    likely = chance > 0.5
    last = np.concatenate(([-_FAR], np.maximum.accumulate(np.where(likely, order, -_FAR))[:-1]))
    ahead = np.minimum.accumulate(np.where(likely, order, size + _FAR)[::-1])[::-1]
    ahead = np.concatenate((ahead[1:], [size + _FAR]))
    rows["since likely"] = np.log1p(np.minimum(order - last, _FAR))
    rows["until likely"] = np.log1p(np.minimum(ahead - order, _FAR))
    rows["text since likely"] = np.where(last >= 0, np.log1p(masses[:-1] - masses[np.maximum(last, 0)]), _AWAY)
    rows["text until likely"] = np.where(ahead < size, np.log1p(masses[np.minimum(ahead, size)] - masses[:-1]), _AWAY)
    for name in OWN:
        rows[name] = table.values[table.names.index(name)]
    return Table(tuple(rows), np.array(list(rows.values()), np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class StagedNetwork:
    """Networks that see a block's features, and others that see their chances alone.

    The `odds` tell what words in names of containers say of content, `line_odds` what terms of lines say.
    """

    odds: Mapping[str, float]
    line_odds: Mapping[str, float]
    first: DenseNetwork
    second: DenseNetwork

    def predict(self, table: Table, layout: Layout) -> Values:
        """Chance of each block, in [0, 1]. Cost: O(networks x weights x blocks + nodes)."""
        around = surroundings(layout, table, predict(self.first, table.values))
        chances: Values = predict(self.second, around.values).astype(np.float64)
        return chances

    def model(self) -> dict[str, object]:
        return {
            "odds": dict(self.odds),
            "line_odds": dict(self.line_odds),
            "first": self.first.model(),
            "second": self.second.model(),
        }

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> StagedNetwork:
        return cls(model["odds"], model["line_odds"], DenseNetwork.of(model["first"]), DenseNetwork.of(model["second"]))
