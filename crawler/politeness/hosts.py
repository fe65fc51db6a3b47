"""What a run knows of its hosts and seeds: robots rules, how they answer, and where each seed's crawl may go."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from db.frontier.leases import OwnedHost
from db.records.host import Rest
from db.records.reasons import FailReason, Reason, SkipReason
from db.records.url import Claim, Kind
from pipelines.stages import Page

from ..response.outcome import is_lost
from .backoff import Troubles
from .delay import BackoffPolicy, DelayPolicy, Rules, Speed, retry_after, retry_pause
from .robots import parse

_REASONS = {"unreachable": SkipReason.ROBOTS_UNREACHABLE, "refused": FailReason.ADDRESS_REFUSED}
_ASK_AGAIN_SECONDS = 3_600.0
_LONG_RULES = 50_000
_MOST_RULE_CHARS = 5_000_000
_NEW = Speed()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means for the hosts concerned.

    Attributes:
        pause: seconds for which its host is not to be asked; kept over a restart.
        rest: the same, for want of good answers; the next crawl tries again at once.
        rests: how hosts rest from now on, or that they are well again.
        lost: hosts that are given up, and why.
    """

    pause: float
    rest: float = 0.0
    rests: Sequence[Rest] = ()
    lost: Sequence[tuple[int, SkipReason]] = ()


class Hosts:
    """Robots rules and health of the hosts a run owns.

    Args:
        delay: pauses between requests that go well.
        backoff: what is done after those that do not.
        agent: the product token that robots.txt knows us by.
        keep_seconds: how long a robots.txt counts before it is fetched again.
        now: when the crawl began (Unix seconds, as everywhere here).
    """

    def __init__(
        self, delay: DelayPolicy, backoff: BackoffPolicy, agent: str, *, keep_seconds: float, now: float
    ) -> None:
        self._delay = delay
        self._agent = agent
        self._keep_seconds = keep_seconds
        self.troubles = Troubles(backoff, now)
        self._rules: dict[int, Rules] = {}
        self._chars: dict[int, int] = {}
        self._all_chars = 0
        self._speeds: dict[int, Speed] = {}
        self._stale: list[tuple[float, int]] = []
        self._stale_at: dict[int, float] = {}
        self._robots_for: dict[int, set[int]] = {}

    def take_over(self, host: OwnedHost, now: float) -> bool:
        """Learn what the table knows of a host; returns whether its rules are known and fresh."""
        self.troubles.take_over(host.id, host.trouble, host.rests_until)
        if host.given_up:
            self.close(host.id, SkipReason(host.given_up))
            return True
        fresh = host.robots_at is not None and now - host.robots_at < self._keep_seconds
        if host.robots == "unknown" or host.robots_at is None or not fresh:
            return False
        self.set_rules(host.id, host.robots, host.robots_text or "", host.robots_at)
        return True

    def forget(self, host_id: int) -> None:
        """The host is owned no longer."""
        for known in (self._rules, self._speeds, self._stale_at):
            known.pop(host_id, None)
        self._makes_room(host_id, 0)
        self.troubles.forget(host_id)

    # ------------------------------------------------------------ rules

    def set_rules(self, host_id: int, kind: str, text: str, at: float) -> Rules:
        """New rules, in the words of `Outcome.robots`, and when they came."""
        known, reason = (text if kind == "rules" else ""), _REASONS.get(kind)
        rules = Rules(known, self._agent, reason, most_delay=self._delay.most_crawl_delay)
        if not self._makes_room(host_id, rules.chars):
            rules = Rules("", self._agent, SkipReason.ROBOTS_TOO_MANY)
        self._rules[host_id] = rules
        self._fresh_until(host_id, at + self._keep_seconds)
        return rules

    async def foreread(self, text: str) -> None:
        """Read long rules in a thread, so that `set_rules` takes no time: a megabyte takes a tenth of a second."""
        if len(text) > _LONG_RULES:
            await asyncio.to_thread(parse, text, self._agent)

    def _makes_room(self, host_id: int, chars: int) -> bool:
        """Whether there is memory for rules of a host beside those of all others; it then holds so much."""
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
        """Hosts whose robots.txt is to be fetched again; each is named once, then again in an hour."""
        found = []
        while self._stale and self._stale[0][0] <= now:
            at, host_id = heapq.heappop(self._stale)
            if self._stale_at.get(host_id) == at:
                found.append(host_id)
                self._fresh_until(host_id, now + min(_ASK_AGAIN_SECONDS, self._keep_seconds))
        return found

    def close(self, host_id: int, reason: SkipReason) -> None:
        """Nothing of a host is to be fetched from now on."""
        self._rules[host_id] = Rules("", self._agent, reason)
        self._makes_room(host_id, 0)
        self._stale_at.pop(host_id, None)

    def open(self, host_id: int) -> None:
        """It is to be asked for its rules again. Not while URLs of it are being claimed."""
        self._rules.pop(host_id, None)
        self._makes_room(host_id, 0)
        self.troubles.forget(host_id)

    def pause(self, host_id: int) -> float:
        """Seconds between two requests to a host that answers well."""
        return self._delay.between(self._rules.get(host_id), self._speeds.get(host_id, _NEW))

    def objection(self, host_id: int, url: str) -> Reason | None:
        """Why a URL must not be fetched, None when it may. Called from the database thread."""
        return self._rules[host_id].objection(url)

    def foreseen(self, host_id: int, url: str) -> Reason | None:
        """The objection that is known now: another run may have taken the host over meanwhile, and its rules."""
        rules = self._rules.get(host_id)
        return None if rules is None else rules.objection(url)

    def closed(self, host_id: int) -> Reason | None:
        """Why nothing of a host may be fetched, None when something may. Called from the database thread."""
        return self._rules[host_id].reason

    def is_closed(self, host_id: int) -> bool:
        """Whether nothing of a host may be fetched, as far as is known."""
        rules = self._rules.get(host_id)
        return rules is not None and rules.reason is not None

    # ------------------------------------------------------------ answers

    def answered(self, page: Page) -> Verdict:
        """Note how a request went."""
        host_id, now = page.claim.host_id, page.fetched_at
        ours = {FailReason.OUT_OF_HANDLES, FailReason.ADDRESS_REFUSED}
        if page.error in ours or (page.error is FailReason.BOMB and page.claim.kind != Kind.ROBOTS):
            return Verdict(self.pause(host_id))
        if not (page.error or page.status == 429 or page.status >= 500 or is_lost_robots(page)):
            self._speeds[host_id] = self._delay.observe(self._speeds.get(host_id, _NEW), page.seconds)
            cured = [Rest(host_id, 0, 0.0)] if self.troubles.well(host_id, now) else []
            return Verdict(self.pause(host_id), rests=cured)
        asked = None
        if page.status in {429, 503}:
            asked = retry_after(page.headers.get("retry-after", ""), now)
            asked = retry_pause(page.claim.tries + 1) if asked is None else asked
        waiting = self.without_rules(page.claim)
        ill = {key: self.troubles.without_rules(key, now, took=page.seconds, asked=asked) for key in waiting}
        if host_id not in ill:
            ill[host_id] = self.troubles.failed(host_id, now, took=page.seconds, asked=asked)
        lost = [(key, one.reason) for key, one in ill.items() if self.troubles.is_over(one)]
        for key, reason in lost:  # at once: the outcome of this very page depends on it
            self.close(key, reason)
            self.troubles.forget(key)
        own, pause = ill[host_id], max(self.pause(host_id), asked or 0.0)
        rest = max(0.0, own.until - now)
        return Verdict(
            pause if own.rests else max(pause, rest),
            rest,
            [Rest(key, one.rests, one.until) for key, one in ill.items() if one.rests],
            lost,
        )

    # ------------------------------------------------------------ whose robots.txt

    def hosts_of_robots(self, claim: Claim) -> tuple[int, ...]:
        """The hosts whose rules a robots.txt is: its own, and those whose robots.txt redirected to it."""
        own = {claim.host_id} if claim.kind == Kind.ROBOTS and claim.url.endswith("/robots.txt") else set()
        return tuple(sorted(own | self._robots_for.get(claim.id, set())))

    def without_rules(self, claim: Claim) -> tuple[int, ...]:
        """Those of them that have no rules yet, old ones neither."""
        return tuple(key for key in self.hosts_of_robots(claim) if key not in self._rules)

    def robots_again(self, claim: Claim) -> float | None:
        """When a robots.txt that could not be had is asked for again; None when nobody waits for it."""
        waiting = self.without_rules(claim)
        return self.troubles.until(waiting) if waiting else None

    def robots_moved(self, claim: Claim, target: int | None) -> None:
        """A robots.txt has been answered: from now on, or after a redirect, its target speaks for the same hosts."""
        hosts = self.hosts_of_robots(claim)
        self._robots_for.pop(claim.id, None)
        if target is not None:
            self._robots_for.setdefault(target, set()).update(hosts)

    def robots_elsewhere(self, host_id: int) -> list[int]:
        """Robots.txts on other hosts that only a given host has been waiting for; they are forgotten."""
        targets = [target for target, hosts in self._robots_for.items() if hosts <= {host_id}]
        for target in targets:
            del self._robots_for[target]
        return targets


def is_lost_robots(page: Page) -> bool:
    """Whether of a robots.txt only the beginning came, because the connection was lost."""
    return page.claim.kind == Kind.ROBOTS and is_lost(page, 1)
