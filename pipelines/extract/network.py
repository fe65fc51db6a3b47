"""Small feed-forward networks: from a block's features to its chance of content.

S10 weighs features linearly and binarised; here two hidden layers let them act together. Several networks vote. Second
networks look at chances alone, of a block and around it, and correct what does not fit in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decode.characters import Counts
from ..document.document import Document
from ..document.view import HEADINGS, Flags, Values, measure, number_keys, sum_blocks, sums_before
from ..models.network import DenseNetwork
from .features import FAR, Table, nearest

Matrix = NDArray[np.float32]

_SURE: Final = 0.01
"""A chance below this, or as near to 1, is believed to one network."""
_FLOOR: Final = 1e-3
"""Chances are told apart down to this one."""
_NONE: Final = -7.0
"""Log-odds of what is not there."""
_STEPS: Final = (-4, -3, -2, -1, 1, 2, 3, 4)
_REACHES: Final = np.array([[3], [8], [20]])
_LEVELS: Final = 6
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
    doubtful = ((chances > _SURE) & (chances < 1 - _SURE)).nonzero()[0]
    others = len(networks.weights[0]) - 1
    if others and len(doubtful):
        votes = _mean_vote(networks, inputs[:, doubtful], slice(1, None))
        chances[doubtful] = (chances[doubtful] + votes * others) / (others + 1)
    return chances


def _mean_vote(networks: DenseNetwork, inputs: Matrix, which: slice) -> Matrix:
    votes = 1 / (1 + np.exp(-networks.outputs(inputs, which)[:, 0, :]))
    mean: Matrix = np.add.reduce(votes, axis=0) / len(votes)
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
        view = measure(document)
        headings = np.array([tag in HEADINGS for tag in view.tags], np.bool_)
        return cls(view.nodes, view.parents, view.ends, view.groups, headings, mass)


def surroundings(layout: Layout, table: Table, chances: Matrix) -> Table:
    """Describe what is around each block: chances and `OWN`. Cost: O(nodes + blocks)."""
    size, mass, nodes, of = len(chances), layout.mass, layout.nodes, layout.groups
    order = np.arange(size)
    chance = chances.astype(np.float64)
    odds = np.log((chance + _FLOOR) / (1 - chance + _FLOOR))
    text = chance * mass
    rows: dict[str, ArrayLike] = {"odds": odds, "chance": chance}
    reach = _STEPS[-1]
    padded = np.full(size + 2 * reach, _NONE)
    padded[reach:-reach] = odds
    for by in _STEPS:
        rows[f"odds at {by}"] = padded[reach + by : reach + by + size]
    texts, masses = sums = sums_before(np.array((text, mass)))
    first, last = np.maximum(order - _REACHES, 0), np.minimum(order + _REACHES + 1, size)
    before, behind = sums[:, np.newaxis, :-1] - sums[:, first], sums[:, last] - sums[:, np.newaxis, 1:]
    means_before, means_behind = before[0] / (before[1] + 1), behind[0] / (behind[1] + 1)
    for reach, *around_reach in zip(_REACHES.flat, means_before, means_behind, strict=True):
        rows[f"mean of {reach} before"], rows[f"mean of {reach} behind"] = around_reach
    whole = texts[-1] + _FLOOR
    rows["text before"] = texts[:-1] / whole
    rows["text behind"] = 1 - texts[1:] / whole
    rows["text share"] = text / whole
    rows["page text"], rows["page share"] = np.log1p(whole), whole / (masses[-1] + 1)
    held = sum_blocks(nodes, layout.ends, text, mass)
    around = [nodes]
    while len(around) < _LEVELS:
        around.append(layout.parents[around[-1]])
    texts_held, masses_held = held[:, np.array(around)]
    means, shares = (texts_held - text) / (masses_held - mass + 1), texts_held / whole
    for level in range(_LEVELS):
        rows[f"mean of {level}"], rows[f"share of {level}"] = means[level], shares[level]
    siblings = number_keys(layout.parents[nodes] * (of.max() + 1) + of)
    for name, group in (("group", of), ("siblings", siblings)):
        group_text, group_mass = np.bincount(group, text)[group], np.bincount(group, mass)[group]
        rows[f"mean of {name}"] = (group_text - text) / (group_mass - mass + 1)
        rows[f"count of {name}"] = np.log1p(np.bincount(group))[group]
    by_group = of.argsort(kind="stable")
    former, latter = by_group[:-1], by_group[1:]
    same = of[former] == of[latter]
    odds_before, odds_behind = np.full((2, size), _NONE)
    odds_before[latter] = np.where(same, odds[former], _NONE)
    odds_behind[former] = np.where(same, odds[latter], _NONE)
    rows["odds in group before"], rows["odds in group behind"] = odds_before, odds_behind
    heading = np.maximum.accumulate(np.where(layout.headings, order, -1))
    rows["odds of heading"] = np.where(heading >= 0, odds[heading], _NONE)
    rows["since heading"] = np.log1p(order - heading)
    last, ahead = nearest(chance > 0.5)
    rows["since likely"] = np.log1p(np.minimum(order - last, FAR))
    rows["until likely"] = np.log1p(np.minimum(ahead - order, FAR))
    rows["text since likely"] = np.where(last >= 0, np.log1p(masses[:-1] - masses[np.maximum(last, 0)]), _AWAY)
    rows["text until likely"] = np.where(ahead < size, np.log1p(masses[np.minimum(ahead, size)] - masses[:-1]), _AWAY)
    for name in OWN:
        rows[name] = table.values[table.names.index(name)]
    values = np.empty((len(rows), size), np.float32)
    for row, amounts in zip(values, rows.values(), strict=True):
        row[:] = amounts
    return Table(tuple(rows), values)


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
