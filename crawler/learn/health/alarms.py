"""Alarms while a crawl runs: what every answer says of its host is learned beside the crawl, and written now and then.

`note` takes a few numbers from a page and returns; every two seconds a thread learns what has come since
(`crawler.health`). What was learned of a host is written when it is a window of answers old, when an alarm begins or
ends, and at the end; a process that is killed loses at most the answers since. So what a site was like is known to the
next run, and a site that changes between two runs is noticed in the second.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from db.records.keys import iso
from db.sites import health as table
from db.sites.health import AlarmChange, HealthRow, ShownAlarm
from pipelines.urls import host_key

from ... import clock
from ...run.terminal import one_line
from .answers import Answer, answer_of
from .host import Event, HostHealth
from .messages import normal_again, sentence

if TYPE_CHECKING:
    from pipelines.item import Page

    from ...run.session import Session


logger = logging.getLogger(__name__)

MOST_HOSTS = 2_000
"""Hosts whose health is held in memory (5 to 20 KB each)."""
_SECONDS = 2.0
_MOST_ROWS = 100
_EVERYWHERE = frozenset({"unreachable", "slow"})
"""What may be the fault of this machine's network when most hosts show it."""
_FEWEST_EVERYWHERE = 3


@dataclass(slots=True)
class _Host:
    """A host in memory: what is known, and what the table has not been told yet."""

    health: HostHealth
    saved: int
    name: str = ""
    news: list[AlarmChange] = field(default_factory=list)


class Alarms:
    """The health of the hosts that a run crawls.

    Args:
        session: the open database.
        window: answers that are compared with those before, `HEALTH_WINDOW`.
        most: hosts kept in memory; what was not heard of longest is written and dropped.
    """

    def __init__(self, session: Session, window: int, most: int = MOST_HOSTS) -> None:
        self._session = session
        self._window = window
        self._most = most
        self._hosts: OrderedDict[int, _Host] = OrderedDict()
        self._heard: list[tuple[int, float, Answer]] = []
        self._learning: asyncio.Future[None] | None = None
        self._one_at_a_time = asyncio.Lock()

    def note(self, page: Page) -> None:
        """A page has been stored."""
        answer = answer_of(page)
        if answer is not None:
            self._heard.append((page.lease.host_id, page.fetched_at, answer))

    async def run(self) -> None:
        """Learn what has been noted, again and again.

        Raises:
            DatabaseProblem: the database gave up.
        """
        while True:
            await asyncio.sleep(_SECONDS)
            await self._catch_up(everything=False)

    async def close(self) -> Sequence[ShownAlarm]:
        """Learn and write all that waits; returns the alarms that last.

        Raises:
            DatabaseProblem: the database gave up.
        """
        if self._learning is not None:
            await asyncio.wait([self._learning])  # whoever waited for it may have been cancelled
        await self._catch_up(everything=True)
        return await self._session.submit(table.open_alarms, None)

    async def _catch_up(self, *, everything: bool) -> None:
        async with self._one_at_a_time:
            if self._heard:
                heard, self._heard = self._heard, []  # first: others may be heard of while these are read
                await self._load({host_id for host_id, _, _ in heard})
                loop = asyncio.get_running_loop()
                self._learning = loop.run_in_executor(None, self._learn, heard)
                await asyncio.shield(self._learning)
            surplus = list(self._hosts)[: max(0, len(self._hosts) - self._most)]
            due = [key for key, host in self._hosts.items() if self._is_due(host, everything=everything)]
            wanted = list(dict.fromkeys([*due, *(key for key in surplus if self._is_changed(self._hosts[key]))]))
            for first in range(0, len(wanted), _MOST_ROWS):
                await self._save(wanted[first : first + _MOST_ROWS])
            for key in surplus:
                del self._hosts[key]

    async def _load(self, host_ids: set[int]) -> None:
        """Take over what the table knows of hosts that are new here."""
        for host_id in sorted(host_ids & self._hosts.keys()):
            self._hosts.move_to_end(host_id)
        new = sorted(host_ids - self._hosts.keys())
        states = await asyncio.gather(*(self._session.submit(table.load, host_id) for host_id in new))
        for host_id, (answers, state) in zip(new, states, strict=True):
            self._hosts[host_id] = self._host_of(answers, state)

    def _host_of(self, answers: int, state: str) -> _Host:
        health = HostHealth.unpack(state, self._window) if state else HostHealth(self._window)
        health.answers = max(answers, health.answers)
        return _Host(health, answers)

    def _learn(self, heard: list[tuple[int, float, Answer]]) -> None:
        """In a thread; what comes of it stands in the hosts, so that nothing is lost when nobody waits for the end."""
        for host_id, at, answer in heard:
            host = self._hosts[host_id]
            host.name = host.name or host_key(answer.url)
            for event in host.health.learn(answer):
                host.news.append(self._row(host_id, host, event, at))

    def _row(self, host_id: int, host: _Host, event: Event, at: float) -> AlarmChange:
        """Say it, once, and make it a row."""
        kind, name = event.finding.kind, one_line(host.name)
        if not event.raised:
            text = normal_again(event.finding, accepted=event.accepted)
            logger.info("%s: %s", name, text)
            return AlarmChange(host_id, kind, "", iso(at), text, "")
        text = sentence(event.finding)
        if kind in _EVERYWHERE:
            sick = sum(any(one.kind == kind for one in other.health.alarms) for other in self._hosts.values())
            if sick >= _FEWEST_EVERYWHERE and sick * 2 > len(self._hosts):
                text += f" (like {sick} of {len(self._hosts)} hosts: perhaps it is the network of this machine)"
        logger.warning("%s: %s", name, text)
        return AlarmChange(host_id, kind, iso(at), None, text, json.dumps(asdict(event.finding)))

    def _is_changed(self, host: _Host) -> bool:
        return bool(host.news) or host.health.answers != host.saved

    def _is_due(self, host: _Host, *, everything: bool) -> bool:
        old = host.health.answers - host.saved >= self._window
        return bool(host.news) or old or (everything and self._is_changed(host))

    async def _save(self, host_ids: Sequence[int]) -> None:
        """Write hosts; of those that another process has followed meanwhile, go on from what it wrote."""
        now = iso(clock.now())
        rows = []
        for key in host_ids:
            host = self._hosts[key]
            rows.append(HealthRow(key, host.saved, host.health.answers, host.health.pack(), now, tuple(host.news)))
        stale = await self._session.submit(table.save, rows)
        for row in rows:
            host = self._hosts[row.host_id]
            host.saved = row.answers
            del host.news[: len(row.alarms)]
            if row.host_id in stale:
                self._hosts[row.host_id] = self._host_of(*stale[row.host_id])


def lines(alarms: Sequence[ShownAlarm]) -> Iterator[str]:
    """Alarms that last, for the end of a crawl."""
    if alarms:
        yield "Alarms:"
    for alarm in alarms:
        yield f"  {one_line(alarm.host)}: {alarm.text} (since {alarm.since})"
