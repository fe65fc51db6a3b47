"""What follows when hosts do not answer: rests are written down, the hopeless are let go, robots.txt is renewed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

from db.frontier import claims as table
from db.frontier import host_backoff
from db.records.host import GivenUp
from db.records.reasons import SkipReason
from db.records.url import Claim

from .. import clock
from ..politeness.hosts import Hosts, Verdict
from ..run.session import Session
from .host_queues import HostQueue, Window

logger = logging.getLogger(__name__)


class Resting:
    """Brings the table in line with the troubles of hosts.

    Args:
        session: the open database.
        window: URLs held in memory.
        hosts: what is known of the hosts.
        totals: where dropped URLs are counted.
        give_back: returns URLs unfetched.
    """

    def __init__(
        self,
        session: Session,
        window: Window,
        hosts: Hosts,
        *,
        totals: Counter[str],
        give_back: Callable[[Sequence[Claim]], Awaitable[None]],
    ) -> None:
        self._session = session
        self._window = window
        self._hosts = hosts
        self._totals = totals
        self._give_back = give_back

    async def follow(self, verdict: Verdict) -> int:
        """Write what a verdict says of hosts; returns how many URLs wait no longer."""
        for one in verdict.rests:
            await self._session.submit(host_backoff.rest, one)
        dropped = 0
        for host_id, reason in verdict.lost:
            dropped += await self._let_go(host_id, reason)
        return dropped

    def may_be_hopeless(self) -> bool:
        """Whether nothing is held but URLs of hosts that rest."""
        return self._window.holds_only(self._hosts.troubles.ailing())

    async def let_go_hopeless(self) -> int:
        """Nothing is under way: give up hosts in trouble, unless something else is left; returns how many."""
        hopeless = self._hosts.troubles.hopeless()
        if not hopeless:
            return 0
        question = (self._session.config.limits, sorted(self._hosts.troubles.ailing()))
        if await self._session.submit(host_backoff.busy_elsewhere, question):
            return 0
        for host_id, reason in hopeless:
            await self._let_go(host_id, reason)
        return len(hopeless)

    async def _let_go(self, host_id: int, reason: SkipReason) -> int:
        """Wait for a host no longer; returns how many URLs are skipped for that."""
        self._hosts.troubles.forget(host_id)
        self._hosts.close(host_id, reason)
        await self._give_back(self._window.take_all(host_id))
        host = self._window.hosts.get(host_id)
        if host is None:
            return 0
        host.robots_known = True
        await self._session.submit(table.skip_waiting, (self._hosts.robots_elsewhere(host_id), reason))
        run_id = self._session.resumed.run_id
        again = clock.now() + self._session.config.robots_keep
        dropped = await self._session.submit(host_backoff.give_up, GivenUp(run_id, host_id, reason, again))
        self._totals[f"dropped/{reason}"] += dropped
        self._totals["hosts given up"] += 1
        logger.warning("%s: %s; %d URLs of it are left for later", host.name, reason, dropped)
        return dropped

    async def reopen(self) -> tuple[list[HostQueue], int]:
        """Give hosts another chance that were given up long ago; returns those held, and how many there are in all."""
        question = (self._session.resumed.run_id, clock.now())
        reopened = await self._session.submit(host_backoff.reopen_due, question)
        held = [host for host_id in reopened if (host := self._window.hosts.get(host_id)) is not None]
        for host in held:
            self._hosts.open(host.id)
            host.robots_known = False
            self._window.refresh(host.id)
        return held, len(reopened)

    def stale(self) -> list[tuple[str, str]]:
        """Scheme and name of hosts whose robots.txt is due again."""
        held = (self._window.hosts.get(host_id) for host_id in self._hosts.stale(clock.now()))
        return [(host.scheme, host.name) for host in held if host is not None]
