"""Put hosts in backoff that do not answer, and give up dead ones."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace

from db.frontier import claims as table
from db.frontier import host_backoff
from db.records.host import BackoffState, DeadHost
from db.records.keys import fingerprint
from db.records.reasons import FailReason, SkipReason
from pipelines.item import Page

from .. import clock
from ..politeness.delay import RobotsRules
from ..politeness.hosts import Hosts, HostUpdate
from ..politeness.outage import Outage
from ..run.background import Background, EngineCallbacks
from ..run.exit_codes import EXIT_STOPPED
from ..run.session import Session
from ..terminal.text import some
from .pending import PendingUrls

logger = logging.getLogger(__name__)

# Chosen by hand.
_FEW = 16
_REOPEN_SECONDS = 3_600.0
_FIRST_LOOK_SECONDS, _LONGEST_LOOK_SECONDS, _SHORTEST_LOOK_SECONDS = 1.0, 15.0, 0.1
_TOGETHER_SECONDS = 2.0


class HostBackoff:
    """Brings clocks, queues and the table in line with how hosts answer.

    With `waits_on`, a network that is down is waited for without end.
    """

    def __init__(
        self,
        session: Session,
        pending: PendingUrls,
        *,
        hosts: Hosts,
        background: Background,
        engine: EngineCallbacks,
        outage: Outage,
        waits_on: bool,
    ) -> None:
        self._session = session
        self._pending = pending
        self._queues = pending.queues
        self._hosts = hosts
        self._background = background
        self._engine = engine
        self.reopen_at = 0.0
        self._outage = outage
        self._waits_on = waits_on
        self._dead: dict[SkipReason, list[tuple[str, int]]] = {}
        """Dead hosts that nobody has been told of, and how many URLs wait."""
        self._plan_reopening()

    def _plan_reopening(self) -> None:
        self.reopen_at = clock.now() + min(_REOPEN_SECONDS, self._session.config.robots_keep)

    def answered(self, page: Page) -> Page:
        queues, host_id = self._queues, page.lease.host_id
        update = self._noted(page)
        page = replace(page, ready_at=clock.now() + update.pause)
        now, pause = time.monotonic(), max(update.pause, update.backoff)
        if queues.shared is not None:
            queues.shared.join(host_id, page.address)
        queues.finished(host_id, now + pause, now)
        if not pause and len(queues.in_flight) <= _FEW:  # else a page that is stored soon wakes the engine
            asyncio.get_running_loop().call_soon(self._engine.poll)
        if page.error is FailReason.OUT_OF_HANDLES:
            self._engine.pause()
        if update.backoffs or update.dead:
            self._background.start(self._follow(update))
        return page

    # ------------------------------------------------------------ what a browser asks beside the queue

    def rules(self, host: str) -> RobotsRules | None:
        return self._hosts.rules(fingerprint(host))

    async def begin(self, host: str) -> bool:
        """Wait until no other request to a host is under way; False if it is not held."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def take() -> bool:
            if is_waiting := not turn.done():
                turn.set_result(None)
            return is_waiting

        if not self._queues.borrow(fingerprint(host), take):
            return False
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self.end(host, taken=True)
            raise
        return True

    def end(self, host: str, *, taken: bool) -> None:
        """Note that a host has answered; its clock makes up for the request."""
        if taken:
            host_id, now = fingerprint(host), time.monotonic()
            held = self._queues.hosts.get(host_id)
            since = now if held is None else max(now, held.ready_at)
            self._queues.finished(host_id, since + self._hosts.pause(host_id), now)

    # ------------------------------------------------------------ answers

    def _noted(self, page: Page) -> HostUpdate:
        lease, error = page.lease, page.error
        if error is None:
            self._outage.answered(lease.host_id, lease.url)
        elif error is not FailReason.OUT_OF_HANDLES:
            active = (key for key, host in self._queues.hosts.items() if host.queue or host.busy)
            if self._outage.failed(lease.host_id, lease.url, error, page.detail, active=active, now=time.monotonic()):
                self._background.start(self._await_network(self._cause()))
            if self._outage.suspected:
                return HostUpdate(self._hosts.pause(lease.host_id))
        return self._hosts.answered(page)

    def _cause(self) -> str:
        cause = self._outage.cause()
        if self._outage.lacks_names and self._session.config.fetch.proxies.are_given:
            cause += " (PROXY_RESOLVES=True has the proxy resolve names, without the guard against private addresses)"
        return cause

    async def _await_network(self, cause: str) -> None:
        began, pause = time.monotonic(), _FIRST_LOOK_SECONDS
        patience = self._session.config.network_patience
        looks, is_logged = 0, False
        while self._outage.is_down and not await self._is_reachable():
            looks += 1
            waited = time.monotonic() - began
            if waited >= patience and not self._waits_on:
                problem = f"{cause}; the network was down for {waited:.0f} s, and the same command goes on"
                self._background.give_up(OSError(problem), "network", EXIT_STOPPED)
                return
            if looks > 1 and not is_logged:  # what is under way may have been answered meanwhile
                limit = "" if self._waits_on else f" up to {patience:.0f} s"
                logger.warning("%s; waiting for the network%s", cause, limit)
                is_logged = True
            left = pause if self._waits_on else min(pause, patience - waited)
            await asyncio.sleep(max(left, _SHORTEST_LOOK_SECONDS))
            pause = min(2 * pause, _LONGEST_LOOK_SECONDS)
        if not self._outage.is_down:  # others are asked in another way, and answer
            return
        self._engine.forget_names()
        forgiven = self._outage.over(time.monotonic())
        for host_id in forgiven if is_logged else ():
            if self._hosts.errors.recovered(host_id, clock.now()):
                await self._session.submit(host_backoff.write_backoffs, BackoffState(host_id, 0, 0.0))
        if is_logged:
            logger.warning("the network is there again after %.0f s", time.monotonic() - began)
        self._pending.changed.set()
        self._engine.poll()

    async def _is_reachable(self) -> bool:
        return any(await asyncio.gather(*map(self._engine.reaches, self._outage.urls_to_try())))

    async def _follow(self, update: HostUpdate) -> None:
        for one in update.backoffs:
            await self._session.submit(host_backoff.write_backoffs, one)
        dropped = 0
        for host_id, reason in update.dead:
            dropped += await self._give_up(host_id, reason)
        self._pending.count -= dropped
        self._pending.changed.set()

    def holds_up_all(self) -> bool:
        return self._queues.holds_only(self._hosts.errors.waited_for())

    async def give_up_dead(self) -> int:
        """Give up dead hosts, unless something else is left; returns how many."""
        dead = self._hosts.errors.dead_hosts()
        if not dead:
            return 0
        question = (self._session.config.limits, sorted(self._hosts.errors.waited_for()))
        if await self._session.submit(host_backoff.busy_elsewhere, question):
            return 0
        for host_id, reason in dead:
            await self._give_up(host_id, reason)
        return len(dead)

    async def _give_up(self, host_id: int, reason: SkipReason) -> int:
        self._hosts.errors.forget(host_id)
        self._hosts.close(host_id, reason)
        await self._pending.release(self._queues.take_all(host_id))
        host = self._queues.hosts.get(host_id)
        if host is None:
            return 0
        host.robots_known = True
        await self._session.submit(table.skip_waiting, (self._hosts.robots_elsewhere(host_id), reason))
        run_id = self._session.resumed.run_id
        again = clock.now() + self._session.config.robots_keep
        dropped = await self._session.submit(host_backoff.close_dead_hosts, DeadHost(run_id, host_id, reason, again))
        self._session.stats[f"dropped/{reason}"] += dropped
        self._session.stats["hosts given up"] += 1
        if not self._dead:
            asyncio.get_running_loop().call_later(_TOGETHER_SECONDS, self.tell)
        self._dead.setdefault(reason, []).append((host.name, dropped))
        return dropped

    def tell(self) -> None:
        dead, self._dead = self._dead, {}
        for reason, hosts in dead.items():
            names, urls = some([name for name, _ in hosts]), sum(dropped for _, dropped in hosts)
            logger.warning("%s: %s; %d URLs are left for later", names, reason, urls)

    async def reopen(self) -> None:
        """Give dead hosts another chance after some time; nothing is leased meanwhile."""
        self._plan_reopening()
        question = (self._session.resumed.run_id, clock.now())
        reopened = await self._session.submit(host_backoff.reopen_due, question)
        held = [host for host_id in reopened if (host := self._queues.hosts.get(host_id)) is not None]
        for host in held:
            self._hosts.open(host.id)
            host.robots_known = False
            self._queues.refresh(host.id)
        self._pending.may_have_hosts = self._pending.may_have_hosts or len(reopened) > len(held)
        await self._pending.ask_robots([(host.scheme, host.name) for host in held])

    async def ask_stale_robots(self) -> None:
        held = (self._queues.hosts.get(host_id) for host_id in self._hosts.stale(clock.now()))
        await self._pending.ask_robots([(host.scheme, host.name) for host in held if host is not None])
