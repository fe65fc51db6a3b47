"""Clicks on search results, and how long they were read."""

from __future__ import annotations

from typing import NamedTuple


class Click(NamedTuple):
    """A search result that somebody opened.

    Attributes:
        session: random number of a browser's visit; it ends with the browser.
        query: hash of the search terms.
        position: from 1.
        opened: Unix time, in whole minutes.
        is_ended: the reader left after `seconds`; else the article was seen for that long at least.
    """

    session: int
    query: int
    article_id: int
    position: int
    opened: int
    seconds: float
    is_ended: bool
