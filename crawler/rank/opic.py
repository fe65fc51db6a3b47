"""OPIC: importance of pages computed while they are fetched, by cash they hand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from pipelines.records import BlockKind

from .graph import LinkGraph
from .surfer import Values, uniform


@dataclass(frozen=True, slots=True)
class Params:
    """Options of handing cash on.

    Attributes:
        values: weight of a link by the kind of its block, above 0; 1 each in the paper.
        root_value: weight of each page's link to the root, above 0; 1 in the paper.
        first_rows: the root hands out its cash after so many fetched pages for the first time, at least 1,
        growth: and then whenever they have grown by this part, at least 0.

    Raises:
        ValueError: a value outside of these bounds.
    """

    values: Mapping[BlockKind, float] = field(default_factory=lambda: dict.fromkeys(BlockKind, 1.0))
    root_value: float = 1.0
    first_rows: int = 64
    growth: float = 1 / 32

    def __post_init__(self) -> None:
        wrong = [kind.name for kind in BlockKind if not 0 < self.values.get(kind, 0.0) < np.inf]
        if wrong:
            raise ValueError(f"the value of {', '.join(wrong)} is missing or wrong; each kind has one above 0")
        if not 0 < self.root_value < np.inf:
            raise ValueError(f"root_value is {self.root_value!r}; it is above 0")
        if self.first_rows < 1 or not 0 <= self.growth < np.inf:
            raise ValueError(f"first_rows is {self.first_rows!r} and growth {self.growth!r}; at least 1 and 0")


DEFAULTS = Params()


class Opic:
    """Online importance of pages: each fetched page is processed once.

    All cash sums to 1. A fetched page writes down what it holds (its history) and hands it on: to the pages it links
    to, and to the virtual root, to which every page links and which links to every page. Pages without links give
    everything to the root. The root, which starts with all of it, deals out what it holds to all known pages alike
    before the first page and from time to time after. A waiting page that holds much should be fetched next.

    Source: S08; S. Abiteboul, M. Preda, G. Cobena, Adaptive on-line page importance computation, WWW 2003, sections 3
    and 4 (cash, history, virtual root).
    Differs: the root has no score; it is visited at fixed numbers of fetched pages, so that the result does not depend
    on how many pages come at a time; a page is fetched once, so pages that wait have no history, and are judged by
    their cash.
    """

    __slots__ = ("_cash", "_graph", "_history", "_params", "_root", "_rows", "_values", "_visit")

    def __init__(self, graph: LinkGraph, params: Params = DEFAULTS) -> None:
        self._graph = graph
        self._params = params
        self._values = np.array([params.values[kind] for kind in BlockKind])
        self._cash: Values = np.zeros(0)
        self._history: Values = np.zeros(0)
        self._root = 1.0
        self._rows = 0
        self._visit = 0
        """Row before which the root is visited next."""

    @property
    def rows(self) -> int:
        return self._rows

    @property
    def cash(self) -> Values:
        self._grow()
        return self._cash

    @property
    def history(self) -> Values:
        """Cash that each page has handed on."""
        self._grow()
        return self._history

    @property
    def root(self) -> float:
        """Cash that the virtual root holds; with that of all pages 1."""
        return self._root

    def observe(self, rows: int) -> None:
        """Process fetched pages in order, up to the graph's first `rows` rows.

        Pages processed before are skipped. The result is the same in one call or many, as long as the graph has the
        same pages.

        Raises:
            ValueError: the graph has fewer rows.
        Cost: O(links of the new pages), about 0.3 microseconds each, and a pass over all pages at each visit of the
        root, of which there are about 32 while the fetched pages grow to 2.7 times as many.
        """
        if rows > self._graph.rows:
            raise ValueError(f"rows is {rows}; the graph has {self._graph.rows}")
        self._grow()
        for first, last in self._stretches(rows):
            self._hand_on(first, last)
        self._rows = max(self._rows, rows)

    def score(self) -> Values:
        """Score pages by their share of all cash ever handed on or held; at first equally."""
        total: Values = self.history + self.cash
        if not total.any():
            return uniform(len(total))
        total /= total.sum()
        return total

    def _grow(self) -> None:
        more = len(self._graph) - len(self._cash)
        if more:
            self._cash = np.concatenate((self._cash, np.zeros(more)))
            self._history = np.concatenate((self._history, np.zeros(more)))

    def _stretches(self, rows: int) -> Iterator[tuple[int, int]]:
        """Cut the new rows at the visits of the root, and pay these out."""
        first = self._rows
        while first < rows:
            if first == self._visit:
                self._cash += self._root / len(self._cash)
                self._root = 0.0
                self._visit += max(self._params.first_rows, int(first * self._params.growth))
            last = min(rows, self._visit)
            yield first, last
            first = last

    def _hand_on(self, first: int, last: int) -> None:
        """Have fetched pages hand on, in order, what they hold and what earlier ones gave.

        That is a triangular system of equations, so the whole stretch is solved at once, exactly.
        """
        graph, size = self._graph, last - first
        pages = graph.fetched[first:last]
        starts = (graph.starts[first : last + 1] - graph.starts[first]).astype(np.int32)
        links = slice(int(graph.starts[first]), int(graph.starts[last]))
        targets, weights = graph.targets[links], self._values[graph.blocks[links]]
        sources = np.repeat(np.arange(size, dtype=np.int32), np.diff(starts))
        to_pages = np.bincount(sources, weights=weights, minlength=size)
        to_root = np.where(to_pages > 0, self._params.root_value, 1.0)
        shares = weights / (to_pages + to_root)[sources]
        turns = graph.row_of[targets] - first  # of targets in this stretch: when it is their turn
        later = np.flatnonzero((turns > sources) & (turns < size))
        held = self._cash[pages]
        if len(later):
            from scipy.sparse.linalg import spsolve_triangular  # noqa: PLC0415 - as in `hits`

            flows = sparse.csc_array((-shares[later], (turns[later], sources[later])), shape=(size, size))
            held = spsolve_triangular(flows + sparse.eye_array(size, format="csc"), held, unit_diagonal=True)
        links_matrix = sparse.csc_array((shares, targets, starts), shape=(len(graph), size))
        self._cash += links_matrix @ held
        self._cash[pages] -= held
        self._history[pages] += held
        self._root += float(held @ (to_root / (to_pages + to_root)))
