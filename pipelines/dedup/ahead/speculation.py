"""Guess which signatures and comparisons a stream will need.

A wrong guess only costs time. Each function sees one band of the hashes of all documents: recurring lines first, then
shared features.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..boilerplate import BoilerplateParams, TextLines, removable
from ..shape import IndexParams
from ..shingles import sample_size

Documents = npt.NDArray[np.int64]
_LINES = BoilerplateParams()
NEVER = np.iinfo(np.int64).max

_EARLIEST = 12  # documents with a feature that later ones with it may be compared with
_RARE = 2  # documents up to which a feature counts in full, as in the index


class KnownLines(NamedTuple):
    """Recurring lines (`TextLines.slots`), and the first document without each."""

    slots: npt.NDArray[np.uint64]
    since: Documents

    def sorted(self) -> KnownLines:
        order = np.argsort(self.slots)
        return KnownLines(self.slots[order], self.since[order])

    def of(self, slots: npt.NDArray[np.uint64]) -> Documents:
        if not len(self.slots):
            return np.full(len(slots), NEVER)
        places = np.minimum(np.searchsorted(self.slots, slots), len(self.slots) - 1)
        return np.where(self.slots[places] == slots, self.since[places], NEVER)

    def left_out(self, lines: TextLines, number: int) -> tuple[int, ...]:
        since = self.of(np.array(lines.slots, np.uint64))
        return removable(lines.lengths, np.flatnonzero(since <= number).tolist())


def known_lines(
    slots: npt.NDArray[np.uint64],
    documents: Documents,
    stories: npt.NDArray[np.uint32],
    params: BoilerplateParams = _LINES,
) -> KnownLines:
    """Guess since when lines are left out: after they occurred in several stories."""
    order = np.lexsort((documents, stories, slots))
    first = order[_begins(slots[order], stories[order])]  # a line's first time in each story
    first = first[np.lexsort((documents[first], slots[first]))]
    begins = np.flatnonzero(_begins(slots[first]))
    ends = np.append(begins[1:], len(first))
    at = begins + params.stories - 1
    at = at[at < ends]
    return KnownLines(slots[first[at]], documents[first[at]] + 1)


def _begins(*columns: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    differs = np.ones(len(columns[0]), np.bool_)
    if len(differs):
        differs[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return differs


class Pairs(NamedTuple):
    """Documents that share features; `weight` is these, weighted by rarity."""

    later: Documents
    earlier: Documents
    shared: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float64]

    def at(self, rows: npt.NDArray[Any]) -> Pairs:
        return Pairs(self.later[rows], self.earlier[rows], self.shared[rows], self.weight[rows])


def sharing(features: npt.NDArray[np.uint32], documents: Documents, exact: npt.NDArray[np.int64]) -> Pairs:
    """Find the ordered pairs of documents that share features.

    For a feature of many documents only with the earliest few; of equal texts (`exact`) only the first is compared.
    """
    order = np.lexsort((documents, exact, features))
    firsts = order[_begins(features[order], exact[order])]
    firsts = firsts[np.lexsort((documents[firsts], features[firsts]))]
    of = documents[firsts]
    start = _starts(_begins(features[firsts]))
    rank = np.arange(len(of)) - start
    weight = np.minimum(1.0, _RARE / np.maximum(rank, 1))
    later, earlier, weights = [], [], []
    for place in range(_EARLIEST):
        rows = np.flatnonzero(rank > place)
        later.append(of[rows])
        earlier.append(of[start[rows] + place])
        weights.append(weight[rows])
    together = np.concatenate(weights)
    return summed([Pairs(np.concatenate(later), np.concatenate(earlier), np.ones(len(together), np.int64), together)])


def summed(bands: list[Pairs]) -> Pairs:
    later, earlier, shared, weight = (np.concatenate(column) for column in zip(*bands, strict=True))
    order = np.lexsort((earlier, later))
    begins = np.flatnonzero(_begins(later[order], earlier[order]))
    if not len(begins):
        return Pairs(later, earlier, shared, weight)
    sums = np.add.reduceat(shared[order], begins), np.add.reduceat(weight[order], begins)
    return Pairs(later[order[begins]], earlier[order[begins]], *sums)


def _starts(begins: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    firsts = np.flatnonzero(begins)
    return np.repeat(firsts, np.diff(np.append(firsts, len(begins))))


def likely(pairs: Pairs, lengths: npt.NDArray[np.int64], have: npt.NDArray[np.int64], params: IndexParams) -> Pairs:
    short = np.minimum(lengths[pairs.later], lengths[pairs.earlier])
    long = np.maximum(lengths[pairs.later], lengths[pairs.earlier])
    of_later = have[pairs.later]
    shared = sample_size(long, params.sample, params.sample_of_long) * (short / np.maximum(long, 1))
    expected = np.minimum(of_later, np.minimum(shared, short))
    enough = pairs.shared >= np.minimum(params.least_shared, of_later)
    enough &= pairs.shared >= params.share * expected
    promising = pairs.at(enough)
    order = np.lexsort((promising.earlier, -promising.weight, promising.later))
    place = np.arange(len(order)) - _starts(_begins(promising.later[order]))
    best = np.sort(order[place < params.candidates])
    return promising.at(best)
