"""Gather page samples while a crawl runs, and learn site models from them.

Samples wait until there are four and a quarter of those learned: a settled site costs few writes, and a process
that is killed loses no more than the samples that waited.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from db.sites.memory import Memory, TrainingBatch
from pipelines.records import PageSample
from pipelines.site_memory.knowledge import learn_batch, pack, unpack

from ..run.session import Session

MOST_HOSTS = 2_000
"""Hosts whose models are held in this process (a few KB each)."""
# Chosen by hand.
_FEWEST = 4
_MOST = 64
_MOST_WAITING = 16_000
"""Samples of all hosts together that wait, of 1 to 10 KB each."""
_SHARE = 4


class _Site:
    """The stored model of a host, packed, and samples that are not in it yet."""

    __slots__ = ("model", "pages", "saving", "waiting")

    def __init__(self, model: bytes) -> None:
        self.model = model
        self.pages = unpack(model).seen
        self.waiting: list[PageSample] = []
        self.saving = False

    @property
    def is_due(self) -> bool:
        return not self.saving and len(self.waiting) >= min(max(_FEWEST, self.pages // _SHARE), _MOST)


class SiteMemory:
    """Models of a run's hosts; beyond `most`, those not asked for longest are dropped."""

    def __init__(
        self, session: Session, start: Callable[[Coroutine[Any, Any, None]], None], most: int = MOST_HOSTS
    ) -> None:
        self._session = session
        self._start = start
        self._most = most
        self._table = Memory(_learn)
        self._sites: OrderedDict[int, _Site] = OrderedDict()
        self._waiting = 0
        self._flushing = False

    async def of(self, host_id: int) -> bytes:
        """Return the packed model of a host, at its first page from the database."""
        site = self._sites.get(host_id)
        if site is None:
            model = await self._session.submit(self._table.load, host_id)
            site = self._sites.setdefault(host_id, _Site(model))
            self._forget()
        self._sites.move_to_end(host_id)
        return site.model

    def note(self, host_id: int, sample: PageSample) -> None:
        site = self._sites.get(host_id)
        forgotten = site is None  # while its page was under way
        site = site or _Site(b"")
        site.waiting.append(sample)
        self._waiting += 1
        if site.is_due or forgotten:
            self._start(self._save(host_id, site))
        elif self._waiting > _MOST_WAITING and not self._flushing:
            self._flushing = True
            self._start(self._flush())

    async def close(self) -> None:
        while any(site.saving for site in self._sites.values()):
            await asyncio.sleep(0.01)  # what was cancelled just now gives back its samples
        await self._flush()

    async def _flush(self) -> None:
        try:
            left = [(host_id, site) for host_id, site in self._sites.items() if site.waiting and not site.saving]
            await asyncio.gather(*(self._save(host_id, site) for host_id, site in left))
        finally:
            self._flushing = False

    def _forget(self) -> None:
        while len(self._sites) > self._most:
            host_id, site = self._sites.popitem(last=False)
            if site.waiting:
                self._start(self._save(host_id, site))

    async def _save(self, host_id: int, site: _Site) -> None:
        """A batch of unknown fate waits again: to learn it twice does no harm."""
        batch, site.waiting, site.saving = site.waiting, [], True
        self._waiting -= len(batch)
        try:
            site.model = await self._session.gather(self._table.save, TrainingBatch(host_id, batch))
            site.pages += len(batch)
        except BaseException:
            site.waiting = batch + site.waiting
            self._waiting += len(batch)
            raise
        finally:
            site.saving = False


def _learn(packed: bytes, batch: Sequence[PageSample]) -> tuple[bytes, int]:
    model = learn_batch(unpack(packed), batch)
    return pack(model), model.seen
