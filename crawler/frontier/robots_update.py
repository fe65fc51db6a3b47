"""Rules of hosts that have just come: from a stored robots.txt to what may be fetched from now on."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from db.frontier import claims as table
from db.records.outcome import Outcome
from db.records.url import Claim, NewUrl, State

if TYPE_CHECKING:
    from ..politeness.hosts import Hosts
    from ..response.seed_scope import Seeds
    from ..run.session import Session
    from .host_queues import Window
    from .refill import Supply


class NewRules:
    """Puts rules into force.

    Args:
        session: the open database.
        window: what is held was claimed under the old rules.
        hosts, seeds: what is known of them.
        supply: what the window is filled by.
        start: runs a coroutine in the background.
    """

    def __init__(
        self,
        session: Session,
        window: Window,
        hosts: Hosts,
        seeds: Seeds,
        *,
        supply: Supply,
        start: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._session = session
        self._window = window
        self._hosts = hosts
        self._seeds = seeds
        self._supply = supply
        self._start = start

    def came(self, claim: Claim, outcome: Outcome) -> None:
        """A robots.txt is stored: new rules for hosts, or a further hop towards them."""
        answers = [*outcome.robots, *self._late(claim, outcome)]
        self._hosts.robots_moved(claim, outcome.same_as if outcome.state == State.SKIPPED else None)
        sitemaps: list[NewUrl] = []
        for host_id, kind, text in answers:
            rules = self._hosts.set_rules(host_id, kind, text, outcome.fetched_at)
            host = self._window.hosts.get(host_id)
            if host is None:
                continue
            if host.robots_known:  # what is held was claimed under the old rules
                self._start(self._supply.give_back(self._window.take_all(host_id)))
            host.robots_known = True
            self._window.refresh(host_id)
            if kind in {"rules", "none"}:
                base = f"{claim.url.partition(':')[0]}://{host.name}/"
                priority, now = self._session.config.priority, outcome.fetched_at
                sitemaps += self._seeds.sitemaps(host.name, base, rules.sitemaps, priority=priority, now=now)
        if sitemaps:
            self._start(self._supply.add(sitemaps))

    def _late(self, claim: Claim, outcome: Outcome) -> list[tuple[int, str, str]]:
        """The same for hosts whose robots.txt redirected here while this answer was on its way."""
        if not outcome.robots:
            return []
        _, kind, text = outcome.robots[0]
        told = {host_id for host_id, _, _ in outcome.robots}
        late = [(key, kind, text) for key in self._hosts.hosts_of_robots(claim) if key not in told]
        if late:
            rows = [(key, kind, text, outcome.fetched_at) for key, kind, text in late]
            self._start(self._session.submit(table.set_robots, rows))
        return late
