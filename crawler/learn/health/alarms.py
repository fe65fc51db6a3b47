"""Alarms while a crawl runs: hosts are learned and written now and then.

A process that is killed loses the answers of a window at most.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from db.records.host import ShownAlarm
from db.records.keys import iso
from db.sites import health as table
from db.sites.health import AlarmChange, HealthRow
from pipelines.urls import host_key

from ... import clock
from ...terminal.text import one_line, some
from .answers import HostAnswer, answer_of
from .host import Finding, HealthMonitor
from .messages import normal_again, sentence

if TYPE_CHECKING:
    from pipelines.item import Page

    from ...run.session import Session


logger = logging.getLogger(__name__)

MOST_HOSTS = 2_000
"""Hosts whose health is held in memory (5 to 20 KB each)."""
_SECONDS = 2.0
_MOST_ROWS = 100
_FEWEST_TOGETHER = 3
"""Hosts with one kind of alarm, beyond which they share a line."""
_FEWEST_EVERYWHERE = 3
"""Hosts that do not answer, and are more than half of all, before this machine's network is suspected."""


@dataclass(slots=True)
class _Host:
    monitor: HealthMonitor
    unsaved: int = 0
    news: list[AlarmChange] = field(default_factory=list)


class Alarms:
    """The health of the hosts that a run crawls, `most` of them in memory.

    `window` answers are compared with those before (`HEALTH_WINDOW`).
    """

    def __init__(self, session: Session, window: int, most: int = MOST_HOSTS) -> None:
        self._session = session
        self._window = window
        self._most = most
        self._hosts: OrderedDict[int, _Host] = OrderedDict()
        self._heard: list[tuple[int, float, HostAnswer]] = []
        self._one_at_a_time = asyncio.Lock()

    def note(self, page: Page) -> None:
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
            await self._catch_up(self._window)

    async def let_go(self, host_ids: Collection[int]) -> None:
        await self._catch_up(self._window, host_ids)

    async def close(self) -> Sequence[ShownAlarm]:
        await self._catch_up(1)
        return await self._session.submit(table.shown_alarms, 0)

    async def _catch_up(self, every: int, gone: Collection[int] = ()) -> None:
        async with self._one_at_a_time:
            while new := sorted({host_id for host_id, _, _ in self._heard} - self._hosts.keys()):
                states = await asyncio.gather(*(self._session.submit(table.load, host_id) for host_id in new))
                for host_id, state in zip(new, states, strict=True):
                    self._hosts[host_id] = _Host(HealthMonitor(self._window, state))
            heard, self._heard = self._heard, []
            news: dict[tuple[str, bool], list[tuple[str, str]]] = {}
            for host_id, at, answer in heard:
                for finding, text in self._learn(host_id, at, answer):
                    news.setdefault((finding.kind, bool(finding.ended)), []).append((host_key(answer.url), text))
            _tell(news)
            going = {*gone, *list(self._hosts)[: max(0, len(self._hosts) - self._most)]} & self._hosts.keys()
            hosts = self._hosts.items()
            due = [key for key, host in hosts if host.news or host.unsaved >= (1 if key in going else every)]
            for first in range(0, len(due), _MOST_ROWS):
                await self._save(due[first : first + _MOST_ROWS])
            for key in going:
                del self._hosts[key]

    def _learn(self, host_id: int, at: float, answer: HostAnswer) -> Iterator[tuple[Finding, str]]:
        host = self._hosts[host_id]
        self._hosts.move_to_end(host_id)
        host.unsaved += 1
        for finding in host.monitor.learn(answer):
            text = normal_again(finding) if finding.ended else self._text(finding)
            since, until = ("", iso(at)) if finding.ended else (iso(at), None)
            host.news.append(AlarmChange(host_id, finding.kind, since, until, text, json.dumps(asdict(finding))))
            yield finding, text

    def _text(self, finding: Finding) -> str:
        active = [host.monitor.state.active.values() for host in self._hosts.values()]
        sick = sum(any(one.kind == finding.kind for one in alarms) for alarms in active)
        if finding.kind not in {"unreachable", "slow"} or sick < max(_FEWEST_EVERYWHERE, len(active) // 2 + 1):
            return sentence(finding)
        hint = f"like {sick} of {len(active)} hosts: perhaps it is the network of this machine"
        return f"{sentence(finding)} ({hint})"

    async def _save(self, host_ids: Sequence[int]) -> None:
        hosts, now = [self._hosts[key] for key in host_ids], iso(clock.now())
        await self._session.submit(
            table.save,
            [
                HealthRow(key, host.monitor.state.answers, host.monitor.pack(), now, tuple(host.news))
                for key, host in zip(host_ids, hosts, strict=True)
            ],
        )
        for host in hosts:
            host.unsaved, host.news = 0, []


def _tell(news: Mapping[tuple[str, bool], Sequence[tuple[str, str]]]) -> None:
    for (_, ended), hosts in news.items():
        names, text = some([one_line(name) for name, _ in hosts]), hosts[0][1]
        logger.log(logging.INFO if ended else logging.WARNING, "%s: %s", names, text)


def lines(alarms: Sequence[ShownAlarm]) -> Iterator[str]:
    if alarms:
        yield "Alarms:"
    kinds: dict[str, list[ShownAlarm]] = {}
    for alarm in alarms:
        kinds.setdefault(alarm.kind, []).append(alarm)
    for same in kinds.values():
        together = [same] if len(same) > _FEWEST_TOGETHER else [[alarm] for alarm in same]
        for some_alarms in together:
            names, since = some([one_line(alarm.host) for alarm in some_alarms]), min(a.since for a in some_alarms)
            yield f"  {names}: {some_alarms[0].text} (since {since})"
