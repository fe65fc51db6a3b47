"""Take over hosts that no run holds, drop idle ones, share with other runs."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import partial

from db.frontier import leases
from db.frontier.leases import Handover, News, OwnedHost
from db.frontier.seeds import seeds_of_hosts
from db.records.keys import fingerprint

from .. import clock
from ..fetch.dns import look_up
from ..learn.learning import Learning
from ..politeness.delay import LONGEST_PAUSE
from ..politeness.hosts import Hosts
from ..response.seed_scope import SeedScope
from ..run.session import Session
from .host_queues import HostQueue
from .pending import PendingUrls


class HeldHosts:
    """The hosts of this run; `surplus` of them should go to runs that have fewer."""

    def __init__(
        self, session: Session, pending: PendingUrls, *, hosts: Hosts, seeds: SeedScope, learning: Learning
    ) -> None:
        self.surplus = 0
        self._session = session
        self._pending = pending
        self._queues = pending.queues
        self._hosts = hosts
        self._seeds = seeds
        self._learning = learning
        self._run_id = session.resumed.run_id
        self._share: int | None = None
        self._reconnects = session.line.reconnects

    @property
    def is_shared(self) -> bool:
        return self._share is not None

    @property
    def may_have_orphans(self) -> bool:
        """Answers to lease requests may have been lost with the connection."""
        return self._session.line.reconnects > self._reconnects

    def with_work(self) -> int:
        return len(self._queues.hosts) - len(self._queues.idle_hosts())

    def room(self) -> int:
        """Hosts that may still be taken: other runs want some, too."""
        room = self._queues.room_for_hosts
        return room if self._share is None else min(room, max(0, max(1, self._share) - self.with_work()))

    def heard(self, news: News) -> None:
        self._share = news.share
        self.surplus = news.surplus
        self._pending.may_have_hosts = True
        for host_id in news.notified:
            self._queues.refresh(host_id)

    async def take(self, room: int) -> None:
        pending, shared = self._pending, self._queues.shared
        pending.may_have_hosts = False
        hosts = await self._session.submit(leases.take_hosts, (self._run_id, room))
        pending.may_have_hosts = pending.may_have_hosts or len(hosts) >= room
        if not hosts:
            return
        await self._learning.take_hosts(hosts)
        if self._seeds.have_proxies:
            names = {host.id: host.name for host in hosts}
            askers = await self._session.read(partial(seeds_of_hosts, ids=sorted(names)))
            self._seeds.note_askers({names[key]: seed_id for key, seed_id in askers.items()})
        if shared is not None:
            for name, address in (await look_up([host.name for host in hosts])).items():
                shared.join(fingerprint(name), address)
        without_rules = []
        for host in hosts:
            await self._hosts.parse_ahead(host.robots_text or "")
            if not self._hold(host):
                without_rules.append((host.scheme, host.name))
        await pending.ask_robots(without_rules)

    def _hold(self, host: OwnedHost) -> bool:
        now = clock.now()
        robots_known = self._hosts.take_over(host, now)
        pause = min(LONGEST_PAUSE, max(0.0, host.ready_at - now, host.backoff_until - now))
        if host.ready_at:
            # its last request may have come from a machine whose clock differs, or from a process killed on the way
            pause = max(pause, self._hosts.pause(host.id))
        self._queues.add_host(
            HostQueue(host.id, host.name, host.scheme, ready_at=time.monotonic() + pause, robots_known=robots_known)
        )
        return robots_known

    async def drop_idle(self) -> None:
        due = self._pending.hosts_due()
        idle = [host_id for host_id in self._queues.idle_hosts() if host_id not in due]
        still_held: set[int] = set()
        if idle:
            await self._learning.write_hosts(idle)  # first: another run may take them over at once
            request = (self._run_id, self._session.config.limits, idle)
            still_held = await self._session.submit(leases.drop_hosts, request)
        for host_id in still_held:
            self._queues.refresh(host_id)
        await self._forget(set(idle) - still_held)
        self._pending.may_have_hosts = len(still_held) < len(idle)  # else not until some host has nothing left to do

    async def hand_over(self) -> None:
        queues, now, monotonic = self._queues, clock.now(), time.monotonic()
        hosts = [h for h in queues.hosts.values() if h.robots_known and not h.busy and (h.queue or not h.dry)]
        hosts.sort(key=lambda host: len(host.queue))
        given = [(host.id, now + max(0.0, host.ready_at - monotonic)) for host in hosts[: self.surplus]]
        self.surplus = 0
        leased_urls = [lease for host_id, _ in given for lease in queues.take_all(host_id)]
        await self._forget([host_id for host_id, _ in given])
        if given:
            await self._session.submit(leases.hand_over, Handover(self._run_id, given, leased_urls))
            self._pending.count += len(leased_urls)

    async def _forget(self, host_ids: Collection[int]) -> None:
        for host_id in host_ids:
            self._queues.remove_host(host_id)
            self._hosts.forget(host_id)
        await self._learning.let_go(host_ids)

    async def return_orphans(self) -> None:
        """Put back orphaned leases: those in the table that the run knows nothing of."""
        self._reconnects = self._session.line.reconnects
        leased = (self._run_id, set(self._queues.leased_ids()), set(self._queues.hosts))
        await self._session.submit(leases.return_orphans, leased)
        self._pending.may_have_hosts = True
        self._queues.refresh_all()  # answers to stores and notifications may have been lost as well

    async def wake_all(self) -> None:
        await self._session.submit(leases.wake_hosts, None)
        await self.return_orphans()
        if not self._queues.room_for_hosts:
            await self.drop_idle()
        self._pending.may_have_hosts = True
        self._queues.refresh_all()
        waited_for = self._hosts.errors.waited_for()
        unknown = [h for h in self._queues.hosts.values() if not h.robots_known and h.id not in waited_for]
        await self._pending.ask_robots([(host.scheme, host.name) for host in unknown])
