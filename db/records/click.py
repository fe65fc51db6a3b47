"""Results of a search that were opened, and for how long."""

from __future__ import annotations

from typing import NamedTuple


class Click(NamedTuple):
    """A result that a reader of the hits opened; it does not tell who that was.

    Attributes:
        session: random number of a browser's visit; it ends with the browser.
        query: hash of the words that were searched for.
        article_id: of the result.
        position: place among the hits, from 1.
        opened: Unix time, in whole minutes.
        seconds: time for which the article was seen.
        is_ended: whether the reader is known to have gone then; else it was seen for so long at least.
    """

    session: int
    query: int
    article_id: int
    position: int
    opened: int
    seconds: float
    is_ended: bool
