"""Keeping the window filled: which hosts this run holds, which URLs it claims, and when nothing is left.

The other half of the frontier's memory: `crawler.frontier.host_queues` hands out, this brings in. One request to the
database is under way at a time, and not more often than needed: claims for many hosts share a transaction.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence, Set
from typing import Any

from db.frontier import claims as table
from db.frontier import leases
from db.frontier.insert import add_urls
from db.frontier.leases import Handover, News, OwnedHost
from db.records.keys import fingerprint
from db.records.lease import ClaimRequest
from db.records.url import Claim, Kind, NewUrl
from pipelines.records import BlockKind

from .. import clock
from ..learn.traps.crawl import TrapRegistry
from ..politeness.delay import LONGEST_PAUSE
from ..politeness.hosts import Hosts, Verdict
from ..politeness.ip_clock import look_up
from ..response.new_urls import new_url
from ..response.seed_scope import Seeds
from ..run.session import Session
from .host_backoff import Resting
from .host_queues import HostQueue, Window
from .watch import Watch

_LOOK_AGAIN_SECONDS = 1.0
_LONGEST_NAP_SECONDS = 5.0
_LONGEST_REST_SECONDS = 60.0
_REFILL_SECONDS = 0.1
_REOPEN_SECONDS = 3_600.0


class Supply:
    """Claims URLs and hosts for a window, and gives them back.

    Args:
        session: the open database.
        window: what is to be kept filled.
        hosts, seeds: what is known of them.
        totals: where dropped URLs are counted.
        in_flight: identifiers of claims that have left the window and are not stored yet.
        start: runs a coroutine in the background.
        finish: called when nothing is left to be fetched, before the crawl ends; says whether there is more after all.
        traps: what is known of traps, when they are looked for.
        wake: makes the engine poll; called when there is something to hand out.
        watch: what queues URLs again, when the crawl is to go on for ever.

    Attributes:
        queued: URLs waiting in the database, as far as this process knows.
        exhausted: nothing is left within the limits.
    """

    def __init__(
        self,
        session: Session,
        window: Window,
        hosts: Hosts,
        seeds: Seeds,
        *,
        totals: Counter[str],
        in_flight: Set[int],
        start: Callable[[Coroutine[Any, Any, None]], None],
        wake: Callable[[], None],
        finish: Callable[[], Awaitable[bool]],
        traps: TrapRegistry | None,
        watch: Watch | None = None,
    ) -> None:
        self._session = session
        self._window = window
        self._hosts = hosts
        self._seeds = seeds
        self._resting = Resting(session, window, hosts, totals=totals, give_back=self.give_back)
        self._totals = totals
        self._in_flight = in_flight
        self._start = start
        self._wake = wake
        self._finish_crawl = finish
        self._traps = traps
        self._watch = watch
        self.queued = session.queued
        self.exhausted = False
        self._due: list[tuple[float, int]] = []
        self._soonest: dict[int, float] = {}
        self._busy = False
        self._closed = False
        self._refilled_at = 0.0
        self._reopen_at = clock.now() + min(_REOPEN_SECONDS, session.config.robots_keep)
        self._may_have_hosts = True
        self._may_have_strays = False
        self._share: int | None = None
        self._surplus = 0
        self._timer: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """Ask for nothing more."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()

    # ------------------------------------------------------------ what others tell

    def later(self, due: float, host_id: int) -> None:
        """A URL of a host may be fetched at a time (Unix seconds). When it comes, the table tells the next."""
        if due < self._soonest.get(host_id, math.inf):
            self._soonest[host_id] = due
            heapq.heappush(self._due, (due, host_id))

    def next_due(self) -> float | None:
        """When the next URL that waits for its time may be fetched."""
        return self._due[0][0] if self._due and not self._busy else None  # busy: the engine is woken afterwards

    def found(self, best: dict[int, float], hosts: Set[int]) -> None:
        """Hosts may have new work, with URLs of this score at best."""
        for host_id in hosts:
            if host_id in self._window.hosts:
                self._window.refresh(host_id, best.get(host_id, -math.inf))
            else:
                self._may_have_hosts = True

    def more(self, urls: int, hosts: Set[int]) -> None:
        """So many more URLs of hosts wait (fewer, when it is negative) than were waiting before."""
        self.queued += urls
        self.found({}, hosts)
        self.top_up()
        self._wake()

    def heard(self, news: News) -> None:
        """The run's lease has been renewed, and this is how the other runs are doing."""
        self._share = news.share
        self._may_have_hosts = True
        for host_id in news.knocked:
            self._window.refresh(host_id)
        self._surplus = news.surplus
        stale = self._resting.stale()
        if stale:
            self._start(self.add([self._robots_of(scheme, name) for scheme, name in stale]))
        self.top_up()
        self._wake()

    def reconnected(self) -> None:
        """The connection had been lost: answers to claims may have been, too."""
        self._may_have_strays = True

    @property
    def is_shared(self) -> bool:
        """Whether other runs are at work on the same database."""
        return self._share is not None

    def hosts_with_work(self) -> int:
        """How many hosts this run has something to do for."""
        return len(self._window.hosts) - len(self._window.idle_hosts())

    # ------------------------------------------------------------ filling

    def top_up(self) -> None:
        """Ask the database for more when some host's queue runs low or hosts are free. One request at a time."""
        if self._busy or self._closed:
            return
        window, now = self._window, clock.now()
        while self._due and self._due[0][0] <= now:
            due, host_id = heapq.heappop(self._due)
            if self._soonest.get(host_id) == due:  # else it was refreshed earlier
                del self._soonest[host_id]
            window.refresh(host_id)
        if self._may_have_strays:
            self._begin(self._return_strays())
        elif self._surplus:
            self._begin(self._hand_over())
        elif now >= self._reopen_at:
            self._begin(self._reopen())
        elif self._may_have_hosts and (room := self._room()):
            self._begin(self._take_hosts(room))
        elif self._may_have_hosts and not window.room_for_hosts and window.idle_hosts():
            self._begin(self._drop_idle_hosts())
        elif not window.is_starving() and (rest := self._refilled_at + _REFILL_SECONDS - time.monotonic()) > 0:
            if self._timer is None:  # more wishes may come until then: they share a transaction
                self._timer = asyncio.get_running_loop().call_later(rest, self._rested)
        elif wants := window.wants():
            self._begin(self._refill(wants))
        elif not self._in_flight and not self.exhausted and self._resting.may_be_hopeless():
            self._begin(self._look_around())

    async def follow(self, verdict: Verdict) -> None:
        """Hosts rest, are well again or are given up."""
        self.queued -= await self._resting.follow(verdict)
        self.top_up()

    def _rested(self) -> None:
        self._timer = None
        self.top_up()

    def _room(self) -> int:
        """How many more hosts this run may hold: its memory is bounded, and others want some, too."""
        room = self._window.room_for_hosts
        return room if self._share is None else min(room, max(0, max(1, self._share) - self.hosts_with_work()))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._busy = True
        self._start(self._finish(work))

    async def _finish(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self._busy = False
        self._wake()

    async def _refill(self, wants: dict[int, int]) -> None:
        """Claim URLs and queue them."""
        window = self._window
        self._refilled_at = time.monotonic()
        request = ClaimRequest(
            run_id=self._session.resumed.run_id,
            wants=wants,
            robots_only=frozenset(key for key in wants if not window.hosts[key].robots_known),
            objection=self._hosts.objection,
            closed=self._hosts.closed,
            limits=self._session.config.limits,
            now=clock.now(),
            trap=self._trap,
        )
        claims = await self._session.submit(table.claim, request)
        self._seeds.learn(claims.seeds)
        for host_id, due in claims.dry.items():
            window.mark_dry(host_id)
            if due is not None:
                self.later(due, host_id)
        self._totals.update({f"dropped/{reason}": n for reason, n in claims.skipped.items()})
        surplus = window.push(claims.urls, time.monotonic())
        self.queued -= len(claims.urls) + claims.skipped.total()
        await self.give_back(surplus)

    def _trap(self, claim: Claim) -> str:
        """Return the kind of trap that a URL belongs to, empty for none. Called from the database thread."""
        return "" if self._traps is None else self._traps.disallow_reason(claim)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        """Return URLs unfetched."""
        if claims:
            self.queued += len(claims)
            await self._session.submit(table.give_back, (self._session.resumed.run_id, claims))

    async def _return_strays(self) -> None:
        """Put back what the table says is leased to this run although the run knows nothing of it."""
        self._may_have_strays = False
        known = {*self._in_flight, *self._window.claim_ids()}
        question = (self._session.resumed.run_id, known, set(self._window.hosts))
        await self._session.submit(leases.return_strays, question)
        self._may_have_hosts = True
        self._refresh_all()  # answers to stores and life signs (knocks) may have been lost as well

    # ------------------------------------------------------------ hosts

    async def _take_hosts(self, room: int) -> None:
        """Take over hosts that nobody holds, and ask for their robots.txt."""
        self._may_have_hosts = False
        hosts = await self._session.submit(leases.take_hosts, (self._session.resumed.run_id, room))
        self._may_have_hosts = self._may_have_hosts or len(hosts) >= room
        if self._traps is not None and hosts:
            await self._traps.take(hosts)
        shared = self._window.shared
        if shared is not None and hosts:
            for name, address in (await look_up([host.name for host in hosts])).items():
                shared.join(fingerprint(name), address)
        robots = []
        for host in hosts:
            await self._hosts.foreread(host.robots_text or "")
            if (new := self._take_over(host)) is not None:
                robots.append(new)
        if robots:
            await self.add(robots)

    def _take_over(self, host: OwnedHost) -> NewUrl | None:
        """Hold a new host; returns its robots.txt if that must be fetched first."""
        now = clock.now()
        known = self._hosts.take_over(host, now)
        pause = min(LONGEST_PAUSE, max(0.0, host.ready_at - now, host.rests_until - now))
        if host.ready_at:
            # its last request may have come from a machine whose clock differs, or from a process killed on the way
            pause = max(pause, self._hosts.pause(host.id))
        self._window.add_host(
            HostQueue(host.id, host.name, host.scheme, ready_at=time.monotonic() + pause, robots_known=known)
        )
        return None if known else self._robots_of(host.scheme, host.name)

    def _robots_of(self, scheme: str, name: str) -> NewUrl:
        """The robots.txt of a host, to be fetched (again)."""
        return new_url(
            f"{scheme}://{name}/robots.txt",
            Kind.ROBOTS,
            priority=self._session.config.priority,
            depth=0,
            found_in=BlockKind.OTHER,
            now=clock.now(),
            seed_id=None,
            again=True,
        )

    async def add(self, new_urls: Sequence[NewUrl]) -> None:
        """Add URLs that no page named."""
        stored = await self._session.submit(add_urls, (clock.now(), new_urls))
        self.queued += stored.queued
        best: dict[int, float] = {}
        for new in new_urls:
            best[new.host_id] = max(new.score, best.get(new.host_id, new.score))
        self.found(best, stored.hosts)
        self.top_up()

    async def _reopen(self) -> None:
        """Look after hosts that were given up long ago. Alone: meanwhile nothing is claimed."""
        self._reopen_at = clock.now() + min(_REOPEN_SECONDS, self._session.config.robots_keep)
        held, count = await self._resting.reopen()
        self._may_have_hosts = self._may_have_hosts or count > len(held)
        if held:
            await self.add([self._robots_of(host.scheme, host.name) for host in held])

    async def _drop_idle_hosts(self) -> None:
        """Make room for hosts that have work."""
        due = {host_id for _, host_id in self._due}
        idle = [host_id for host_id in self._window.idle_hosts() if host_id not in due]
        question = (self._session.resumed.run_id, self._session.config.limits, idle)
        if self._traps is not None:
            await self._traps.write(idle)  # first: another run may take them over at once
        kept = await self._session.submit(leases.drop_hosts, question) if idle else set()
        for host_id in kept:
            self._window.refresh(host_id)
        await self._forget(set(idle) - kept)
        self._may_have_hosts = len(kept) < len(idle)  # else not until some host has nothing left to do

    async def _forget(self, host_ids: Collection[int]) -> None:
        """Hold hosts no longer."""
        for host_id in host_ids:
            self._window.remove_host(host_id)
            self._hosts.forget(host_id)
        if self._traps is not None and host_ids:
            await self._traps.let_go(host_ids)

    async def _hand_over(self) -> None:
        """Let some hosts go, so that runs that have fewer may take them: those of which least is queued here."""
        window, now, monotonic = self._window, clock.now(), time.monotonic()
        hosts = [h for h in window.hosts.values() if h.robots_known and not h.busy and (h.queue or not h.dry)]
        hosts.sort(key=lambda host: len(host.queue))
        given = [(host.id, now + max(0.0, host.ready_at - monotonic)) for host in hosts[: self._surplus]]
        self._surplus = 0
        claims = [claim for host_id, _ in given for claim in window.take_all(host_id)]
        await self._forget([host_id for host_id, _ in given])
        if given:
            await self._session.submit(leases.hand_over, Handover(self._session.resumed.run_id, given, claims))
            self.queued += len(claims)

    # ------------------------------------------------------------ the end?

    async def _look_around(self) -> None:
        """Nothing queued, nothing under way: is anything left within the limits, and when is it due?"""
        self._refilled_at = time.monotonic()
        left = await self._session.submit(table.waiting, self._session.config.limits)
        if left.within == 0:
            more = await self._finish_crawl()
            if self._watch is None or self._watch.spent:
                self.exhausted = not more
            elif not more:
                alone = self._session.database.is_sqlite
                await self._watch.rest(_LONGEST_REST_SECONDS if alone else _LONGEST_NAP_SECONDS)
            return
        if self._watch is None and await self._resting.let_go_hopeless():
            return
        due, latest = left.next_due, clock.now() + LONGEST_PAUSE
        if due is not None and due > latest:  # nothing waits that long: the clock has been set back since
            await self._session.submit(table.bring_forward, latest)
        pause = due - clock.now() if due is not None else _LOOK_AGAIN_SECONDS
        if pause < 0:  # due, but of a host that another run holds
            pause = _LOOK_AGAIN_SECONDS
        await asyncio.sleep(min(max(pause, 0.2), _LONGEST_NAP_SECONDS))
        await self._session.submit(leases.wake_hosts, None)
        await self._return_strays()
        if not self._window.room_for_hosts:
            await self._drop_idle_hosts()
        self._may_have_hosts = True
        self._refresh_all()
        ailing = self._hosts.troubles.ailing()  # they are waited for
        unknown = [h for h in self._window.hosts.values() if not h.robots_known and h.id not in ailing]
        if unknown:
            await self.add([self._robots_of(host.scheme, host.name) for host in unknown])

    def _refresh_all(self) -> None:
        for host_id in self._window.hosts:
            self._window.refresh(host_id)
