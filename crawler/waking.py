"""When Scrapy's engine asks the frontier again: at once when there is something new, else when its time comes.

By itself the engine asks when an item is finished, and every five seconds.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from scrapy import Request

from .outcomes import HANDLES_PAUSE, OUT_OF_HANDLES

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from .background import Background

logger = logging.getLogger(__name__)

WAKE = Request("data:,wake")
"""The sentinel that makes the engine ask; nobody fetches it."""
_SHORTEST = 0.001


class Waker:
    """Makes the engine poll.

    Args:
        crawler: whose engine.
        background: says whether the crawl is ending.
    """

    def __init__(self, crawler: Crawler, background: Background) -> None:
        self._crawler = crawler
        self._background = background
        self._timer: asyncio.TimerHandle | None = None
        self._rests_until = 0.0

    def wake(self) -> None:
        """Now."""
        if not self._background.closing and self._crawler.engine.spider is not None:
            self._crawler.engine.crawl(WAKE)

    def plan(self, pause: float | None) -> None:
        """After so many seconds, instead of when that was last said; None for no time known."""
        self.close()
        if pause is not None:
            self._timer = asyncio.get_running_loop().call_later(max(_SHORTEST, pause), self.wake)

    def close(self) -> None:
        """Nothing is planned any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def rest(self, now: float) -> None:
        """Ask nobody for a while: this machine cannot make requests."""
        if not self.rests(now):
            logger.warning(
                "no file can be opened (%s); resting for %.0f s. Raise the limit (ulimit -n) or lower "
                "CONCURRENT_REQUESTS or MAX_HOSTS",
                OUT_OF_HANDLES,
                HANDLES_PAUSE,
            )
            self._rests_until = now + HANDLES_PAUSE
            asyncio.get_running_loop().call_later(HANDLES_PAUSE, self.wake)

    def rests(self, now: float) -> bool:
        """Whether nothing may be asked for at the moment (monotonic time)."""
        return now < self._rests_until
