"""Clicks on search results, and how long they were read."""

from __future__ import annotations

from typing import NamedTuple


class Click(NamedTuple):
    """A search result that somebody opened.

    Attributes:
        session: random number of a browser's visit; it ends with the browser.
        query: hash of the search terms.
        position: place among the hits, from 1.
        opened: Unix time, in whole minutes.
        seconds: time for which the article was seen.
        is_ended: the reader is known to have gone then; else it was seen at least so long.
    """

    session: int
    query: int
    article_id: int
    position: int
    opened: int
    seconds: float
    is_ended: bool
