"""Know the hosts of a run: robots rules, errors, and when they may be asked."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from db.frontier.leases import OwnedHost
from db.records.host import BackoffState
from db.records.reasons import FailReason, Reason, SkipReason
from db.records.url import Kind, Lease
from pipelines.item import Page

from .backoff import HostErrors
from .delay import BackoffPolicy, DelayPolicy, RobotsRules, Speed, is_cut_off, retry_after, retry_pause
from .robots import parse

_REASONS = {"unreachable": SkipReason.ROBOTS_UNREACHABLE, "refused": FailReason.ADDRESS_REFUSED}
_ASK_AGAIN_SECONDS = 3_600.0
_LONG_RULES = 50_000
_MOST_RULE_CHARS = 5_000_000
_NEW = Speed()


@dataclass(frozen=True, slots=True)
class HostUpdate:
    """Consequences of an answer for the hosts concerned.

    Attributes:
        pause: seconds for which its host is not to be asked; kept over a restart.
        backoff: the same, for want of good answers; the next crawl tries again at once.
        backoffs: hosts in backoff from now on, or out of it.
    """

    pause: float
    backoff: float = 0.0
    backoffs: Sequence[BackoffState] = ()
    dead: Sequence[tuple[int, SkipReason]] = ()


class Hosts:
    """Robots rules and errors of the hosts a run owns; all times are Unix seconds."""

    def __init__(
        self, delay: DelayPolicy, backoff: BackoffPolicy, agent: str, *, keep_seconds: float, now: float
    ) -> None:
        self._delay = delay
        self._agent = agent
        self._keep_seconds = keep_seconds
        self.errors = HostErrors(backoff, now)
        self._rules: dict[int, RobotsRules] = {}
        self._chars: dict[int, int] = {}
        self._all_chars = 0
        self._speeds: dict[int, Speed] = {}
        self._stale: list[tuple[float, int]] = []
        self._stale_at: dict[int, float] = {}
        self._robots_for: dict[int, set[int]] = {}

    def take_over(self, host: OwnedHost, now: float) -> bool:
        self.errors.take_over(host.id, host.backoffs, host.backoff_until)
        if host.dead_reason:
            self.close(host.id, SkipReason(host.dead_reason))
            return True
        fresh = host.robots_at is not None and now - host.robots_at < self._keep_seconds
        if host.robots == "unknown" or host.robots_at is None or not fresh:
            return False
        self.set_rules(host.id, host.robots, host.robots_text or "", host.robots_at)
        return True

    def forget(self, host_id: int) -> None:
        for memory in (self._rules, self._speeds, self._stale_at):
            memory.pop(host_id, None)
        self._reserve(host_id, 0)
        self.errors.forget(host_id)

    # ------------------------------------------------------------ rules

    def set_rules(self, host_id: int, kind: str, text: str, at: float) -> RobotsRules:
        """Put rules into force that came at a time; kinds as in `Outcome.robots`."""
        rules_text, reason = (text if kind == "rules" else ""), _REASONS.get(kind)
        rules = RobotsRules(rules_text, self._agent, reason, most_delay=self._delay.most_crawl_delay)
        if not self._reserve(host_id, rules.chars):
            rules = RobotsRules("", self._agent, SkipReason.ROBOTS_TOO_MANY)
        self._rules[host_id] = rules
        self._fresh_until(host_id, at + self._keep_seconds)
        return rules

    async def parse_ahead(self, text: str) -> None:
        """Parse long rules in a thread: a megabyte takes a tenth of a second."""
        if len(text) > _LONG_RULES:
            await asyncio.to_thread(parse, text, self._agent)

    def _reserve(self, host_id: int, chars: int) -> bool:
        others = self._all_chars - self._chars.pop(host_id, 0)
        fits = others + chars <= _MOST_RULE_CHARS
        if fits and chars:
            self._chars[host_id] = chars
        self._all_chars = others + self._chars.get(host_id, 0)
        return fits

    def _fresh_until(self, host_id: int, at: float) -> None:
        self._stale_at[host_id] = at
        heapq.heappush(self._stale, (at, host_id))

    def stale(self, now: float) -> list[int]:
        """Return the hosts whose robots.txt is too old; each once, then again in an hour."""
        stale_hosts = []
        while self._stale and self._stale[0][0] <= now:
            at, host_id = heapq.heappop(self._stale)
            if self._stale_at.get(host_id) == at:
                stale_hosts.append(host_id)
                self._fresh_until(host_id, now + min(_ASK_AGAIN_SECONDS, self._keep_seconds))
        return stale_hosts

    def close(self, host_id: int, reason: SkipReason) -> None:
        self._rules[host_id] = RobotsRules("", self._agent, reason)
        self._reserve(host_id, 0)
        self._stale_at.pop(host_id, None)

    def open(self, host_id: int) -> None:
        """Have a host asked for its rules again. Not while URLs of it are being leased."""
        self._rules.pop(host_id, None)
        self._reserve(host_id, 0)
        self.errors.forget(host_id)

    def pause(self, host_id: int) -> float:
        """Seconds between two requests to a host that answers well."""
        return self._delay.between(self._rules.get(host_id), self._speeds.get(host_id, _NEW))

    def disallow_reason(self, host_id: int, url: str) -> Reason | None:
        """Return why a URL must not be fetched; called from the database thread."""
        return self._rules[host_id].disallow_reason(url)

    def rules(self, host_id: int) -> RobotsRules | None:
        return self._rules.get(host_id)

    def cached_reason(self, host_id: int, url: str) -> Reason | None:
        """Return the same as far as is known: the host may be another run's by now."""
        rules = self._rules.get(host_id)
        return None if rules is None else rules.disallow_reason(url)

    def closed(self, host_id: int) -> Reason | None:
        return self._rules[host_id].reason

    def is_closed(self, host_id: int) -> bool:
        rules = self._rules.get(host_id)
        return rules is not None and rules.reason is not None

    # ------------------------------------------------------------ answers

    def answered(self, page: Page) -> HostUpdate:
        host_id, now = page.lease.host_id, page.fetched_at
        ours = {FailReason.OUT_OF_HANDLES, FailReason.NO_PROXY, FailReason.ADDRESS_REFUSED}
        if page.lacks_https or page.error in ours or (page.error is FailReason.BOMB and page.lease.kind != Kind.ROBOTS):
            return HostUpdate(self.pause(host_id), page.wait)
        if not (page.error or page.status == 429 or page.status >= 500 or is_lost_robots(page)):
            self._speeds[host_id] = self._delay.observe(self._speeds.get(host_id, _NEW), page.seconds)
            over = [BackoffState(host_id, 0, 0.0)] if self.errors.recovered(host_id, now) else []
            return HostUpdate(self.pause(host_id), backoffs=over)
        asked = None
        if page.status in {429, 503}:
            asked = retry_after(page.headers.get("retry-after", ""), now)
            asked = retry_pause(page.lease.tries + 1) if asked is None else asked
        waiting = self.without_rules(page.lease)
        errors = {key: self.errors.without_rules(key, now, took=page.seconds, asked=asked) for key in waiting}
        if host_id not in errors:
            errors[host_id] = self.errors.failed(host_id, now, took=page.seconds, asked=asked)
        dead = [(key, one.reason) for key, one in errors.items() if self.errors.is_dead(one)]
        for key, reason in dead:  # at once: the outcome of this very page depends on it
            self.close(key, reason)
            self.errors.forget(key)
        error, pause = errors[host_id], max(self.pause(host_id), asked or 0.0)
        backoff = max(0.0, error.until - now)
        return HostUpdate(
            pause if error.backoffs else max(pause, backoff),
            backoff,
            [BackoffState(key, one.backoffs, one.until) for key, one in errors.items() if one.backoffs],
            dead,
        )

    # ------------------------------------------------------------ whose robots.txt

    def hosts_of_robots(self, lease: Lease) -> tuple[int, ...]:
        hosts = {lease.host_id} if lease.kind == Kind.ROBOTS and lease.url.endswith("/robots.txt") else set()
        return tuple(sorted(hosts | self._robots_for.get(lease.id, set())))

    def without_rules(self, lease: Lease) -> tuple[int, ...]:
        """Those of them that have no rules yet, not even old ones."""
        return tuple(key for key in self.hosts_of_robots(lease) if key not in self._rules)

    def robots_again(self, lease: Lease) -> float | None:
        """Return when to ask for a robots.txt again; None when nobody waits for it."""
        waiting = self.without_rules(lease)
        return self.errors.until(waiting) if waiting else None

    def robots_moved(self, lease: Lease, target: int | None) -> None:
        """Note an answered robots.txt; the target of its redirect is for the same hosts."""
        hosts = self.hosts_of_robots(lease)
        self._robots_for.pop(lease.id, None)
        if target is not None:
            self._robots_for.setdefault(target, set()).update(hosts)

    def robots_elsewhere(self, host_id: int) -> list[int]:
        """Forget and return robots.txt URLs elsewhere that only this host waited for."""
        targets = [target for target, hosts in self._robots_for.items() if hosts <= {host_id}]
        for target in targets:
            del self._robots_for[target]
        return targets


def is_lost_robots(page: Page) -> bool:
    return page.lease.kind == Kind.ROBOTS and is_cut_off(page)
