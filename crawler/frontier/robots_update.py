"""Put the rules of a stored robots.txt into force."""

from __future__ import annotations

import logging

from db.frontier import claims as table
from db.records.outcome import Outcome
from db.records.reasons import SkipReason
from db.records.url import Lease, NewUrl, State
from pipelines.links.scope import identify
from pipelines.records import BlockKind
from pipelines.urls import host_key

from .. import clock
from ..politeness.hosts import Hosts
from ..response.new_urls import new_url
from ..response.seed_scope import SeedScope
from ..run.background import Background
from ..run.session import Session
from .pending import PendingUrls

logger = logging.getLogger(__name__)


class RobotsUpdate:
    def __init__(
        self, session: Session, pending: PendingUrls, *, hosts: Hosts, seeds: SeedScope, background: Background
    ) -> None:
        self._session = session
        self._pending = pending
        self._hosts = hosts
        self._seeds = seeds
        self._background = background

    def stored(self, lease: Lease, outcome: Outcome) -> None:
        answers = [*outcome.robots, *self._late(lease, outcome)]
        if outcome.reason is SkipReason.NO_HTTPS:
            logger.warning("%s: https cannot be had (%s), http is used", host_key(lease.url), outcome.detail)
            self._pending.start_adding(self._plain(host_key(lease.url)))
        self._hosts.robots_moved(lease, outcome.same_as if outcome.state == State.SKIPPED else None)
        sitemaps: list[NewUrl] = []
        for host_id, kind, text in answers:
            rules = self._hosts.set_rules(host_id, kind, text, outcome.fetched_at)
            host = self._pending.queues.hosts.get(host_id)
            if host is None:
                continue
            if host.robots_known:  # what is queued was leased under the old rules
                self._pending.reconsider(host_id)
            host.robots_known = True
            self._pending.queues.refresh(host_id)
            if kind in {"rules", "none"}:
                base = f"{lease.url.partition(':')[0]}://{host.name}/"
                priority, now = self._session.config.priority, outcome.fetched_at
                sitemaps += self._seeds.sitemaps(host.name, base, rules.sitemaps, priority=priority, now=now)
        if sitemaps:
            self._pending.add_soon(sitemaps)

    async def _plain(self, host: str) -> None:
        priority, now = self._session.config.priority, clock.now()
        seeds = self._seeds.lacks_https(host)
        await self._session.submit(table.skip_waiting, ([seed.id for seed in seeds], SkipReason.NO_HTTPS))
        self._pending.adjust(-len(seeds))
        urls = [(seed.id, identify(f"http{seed.url.removeprefix('https')}")) for seed in seeds]
        await self._pending.add(
            [
                new_url(target, priority=priority, depth=0, found_in=BlockKind.SEED, now=now, seed_id=seed_id)
                for seed_id, target in urls
            ]
        )

    def _late(self, lease: Lease, outcome: Outcome) -> list[tuple[int, str, str]]:
        if not outcome.robots:
            return []
        _, kind, text = outcome.robots[0]
        updated = {host_id for host_id, _, _ in outcome.robots}
        late = [(key, kind, text) for key in self._hosts.hosts_of_robots(lease) if key not in updated]
        if late:
            rows = [(key, kind, text, outcome.fetched_at) for key, kind, text in late]
            self._background.start(self._session.submit(table.set_robots, rows))
        return late
