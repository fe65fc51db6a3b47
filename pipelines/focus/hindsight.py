"""Weights of parts of a judgement, learnt from pages fetched since it was made.

What was known of a page while it waited stands beside what it turned out to be, so nothing that only its own text or
links told is taken for foresight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .judge import Vector

_USUAL_WORTH: Final = 0.5
"""Correlation with relevance that is expected of the usual weights."""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of learning weights.

    `caution` is the number of pages that speak for the usual weights; `rounds` the fewest that brought pages to learn
    from (a crawl of few would keep what it learnt from few pages, which lost a fourth of the articles of whole
    sections).
    """

    caution: float = 500.0
    rounds: int = 8
    pages: int = 20_000


DEFAULTS = Params()


class Hindsight:
    def __init__(self, usual: Vector, params: Params = DEFAULTS) -> None:
        self._usual = usual
        self._params = params
        self._rounds = 0
        self._waited, self._known = self._nothing()
        self._pages, self._table = self._nothing()

    def weights(self, fetched: npt.NDArray[np.bool_], relevance: Vector) -> Vector:
        """Return the weights that the pages fetched since the rounds before speak for.

        A ridge regression of relevance, drawn to the usual weights as far as these have told of it; only proportions
        count.
        """
        come = fetched[self._waited]
        self._rounds += bool(come.any())
        still_kept = fetched[self._pages]
        self._pages = np.concatenate((self._pages[still_kept], self._waited[come]))
        self._table = np.concatenate((self._table[still_kept], self._known[come]))
        self._waited, self._known = self._nothing()
        if self._rounds < self._params.rounds:
            return self._usual
        turned = relevance[self._pages]
        deviation = float(turned.std())
        if deviation < 1e-6:
            return self._usual
        turned = (turned - turned.mean()) / deviation
        above = (self._table - self._table.mean(0)).astype(np.float64)
        usual = self._usual / self._usual.sum()
        foreseen, doubt = above @ usual, self._params.caution * float(usual @ usual)
        worth = float(foreseen @ turned + doubt * _USUAL_WORTH) / float(foreseen @ foreseen + doubt)
        squares = above.T @ above + self._params.caution * np.eye(len(usual))
        wanted = above.T @ turned + self._params.caution * max(0.0, worth) * usual
        return np.linalg.solve(squares, wanted).astype(np.float32)

    def note(self, pages: npt.NDArray[np.int64], scores: Vector, table: Vector) -> None:
        """Note what is known (a row per page) of waiting pages; of too many the best."""
        if len(pages) > self._params.pages:
            pages = pages[np.argpartition(-scores[pages], self._params.pages)[: self._params.pages]]
        self._waited, self._known = pages, table[pages]

    def _nothing(self) -> tuple[npt.NDArray[np.int64], Vector]:
        return np.zeros(0, np.int64), np.zeros((0, len(self._usual)), np.float32)
