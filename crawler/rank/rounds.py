"""Times at which the queue is to be scored again."""

from __future__ import annotations

# Chosen by hand.
FEWEST_PAGES = 16
GROWTH = 0.04
MOST_PAGES = 5000


class Rounds:
    """Counts fetched pages from one round of scoring to the next.

    A round is due when the fetched pages have grown by the share `growth`, at the latest after `every_pages`: so the
    cost of the rounds for each page stays the same while a crawl grows.

    Raises:
        ValueError: no page, or a share that is not above 0.
    """

    def __init__(self, every_pages: int = MOST_PAGES, growth: float = GROWTH) -> None:
        if every_pages < 1 or not growth > 0:
            raise ValueError(f"a round every {every_pages} pages or {growth} of growth; both are above 0")
        self._every = every_pages
        self._growth = growth
        self._last = 0

    def due(self, pages: int) -> bool:
        pause = min(self._every, max(FEWEST_PAGES, self._growth * self._last))
        return pages > self._last and (pages - self._last >= pause or not self._last)

    def begin(self, pages: int) -> None:
        self._last = pages
