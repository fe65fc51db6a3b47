"""Queue URLs again when their next visit is due (`-a mode=watch`)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from db.frontier import revisits
from db.records.visit import Due, Woken

from .. import clock
from ..run.session import Session
from .pending import PendingUrls

_SHORTEST_SECONDS = 1.0
"""URLs that become due within so long are queued together."""
_LONGEST_SECONDS = 60.0
"""Other programs may have marked URLs, or other processes stored some."""


class Watch:
    def __init__(self, session: Session, pending: PendingUrls) -> None:
        self._session = session
        self._pending = pending
        self._next: float | None = None
        self._earlier = asyncio.Event()
        self._stirred = asyncio.Event()
        self.spent = False

    def note(self, next_visit: float | None) -> None:
        if next_visit is not None and (self._next is None or next_visit < self._next):
            self._next = next_visit
            self._earlier.set()

    async def keep(self) -> None:
        while True:
            woken = await self._wake() if self._session.leads else Woken(0, frozenset(), None)
            looked = clock.now()
            self._next = woken.next_due
            if woken.urls:
                self._pending.adjust(woken.urls, woken.hosts)
                self._stirred.set()
            elif self._next is not None and self._next <= looked:  # due, and not queued: it lies beyond a limit
                self._next = looked + _LONGEST_SECONDS
            await asyncio.sleep(_SHORTEST_SECONDS)
            while (pause := self._due(looked) - clock.now()) > 0:
                self._earlier.clear()
                await _happens(self._earlier, pause)

    def _due(self, looked: float) -> float:
        latest = looked + _LONGEST_SECONDS
        return latest if self._next is None else min(latest, self._next)

    async def _wake(self) -> Woken:
        woken = await self._session.submit(revisits.wake_due, Due(clock.now(), self._session.config.limits))
        if self.spent != woken.spent:
            self.spent = woken.spent
            self._stirred.set()
        return woken

    async def rest(self, seconds: float) -> None:
        self._stirred.clear()
        await _happens(self._stirred, seconds)


async def _happens(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
