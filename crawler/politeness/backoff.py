"""Which hosts do not answer properly, how long they are left alone, and when it is time to go without them.

Pure: time is an argument (Unix seconds), what follows is for others to write and to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from db.records.reasons import SkipReason

from .delay import BackoffPolicy


@dataclass(slots=True)
class Ailment:
    """What is wrong with a host.

    Attributes:
        failures: failed requests in a row.
        rests: rests in a row.
        until: when it may be asked again.
        since: when the last rest began.
        reason: why it is given up, if it is.
    """

    failures: int = 0
    rests: int = 0
    until: float = 0.0
    since: float = 0.0
    reason: SkipReason = SkipReason.HOST_UNREACHABLE


class Troubles:
    """The hosts that failed when they were last asked.

    Args:
        backoff: how they are treated.
        now: when the crawl began.
    """

    def __init__(self, backoff: BackoffPolicy, now: float) -> None:
        self._backoff = backoff
        self._hosts: dict[int, Ailment] = {}
        self._good_at = now

    def take_over(self, host_id: int, rests: int, until: float) -> None:
        """A host comes into our care that may have rested before."""
        if rests:
            self._hosts[host_id] = Ailment(rests=rests, until=until)

    def forget(self, host_id: int) -> None:
        """It is no longer in our care."""
        self._hosts.pop(host_id, None)

    def well(self, host_id: int, now: float) -> bool:
        """A host has answered properly; returns whether it had been resting."""
        self._good_at = max(self._good_at, now)
        before = self._hosts.pop(host_id, None)
        return before is not None and before.rests > 0

    def failed(self, host_id: int, now: float, *, took: float = 0.0, asked: float | None = None) -> Ailment:
        """A request of a host has failed.

        Args:
            host_id: which one.
            now: when.
            took: seconds until it had failed.
            asked: seconds for which the host asks to be left alone.

        Returns:
            How it stands now.
        """
        host = self._hosts.setdefault(host_id, Ailment())
        host.failures += 1
        if host.rests or host.failures >= self._backoff.failures:
            self._rest(host, now, took, asked)
            return host
        host.reason = SkipReason.HOST_UNREACHABLE if asked is None else SkipReason.HOST_BUSY
        pause = self._backoff.pause(host.failures) if asked is None else asked
        host.until = max(host.until, now + pause)
        return host

    def without_rules(self, host_id: int, now: float, *, took: float = 0.0, asked: float | None = None) -> Ailment:
        """The robots.txt of a host cannot be had: without it nothing may be asked, so it rests at once."""
        host = self._hosts.setdefault(host_id, Ailment())
        host.failures += 1
        self._rest(host, now, took, asked)
        host.reason = SkipReason.ROBOTS_UNREACHABLE
        return host

    def _rest(self, host: Ailment, now: float, took: float, asked: float | None) -> None:
        """One rest more, unless the request was under way already when the last one began."""
        if host.rests and now - took < host.since:
            if asked is not None:
                host.until = max(host.until, now + asked)
            return
        host.rests += 1
        host.since = now
        host.reason = SkipReason.HOST_UNREACHABLE if asked is None else SkipReason.HOST_BUSY
        host.until = max(host.until, now + max(self._backoff.rest_of(host.rests, took), asked or 0.0))

    def is_over(self, host: Ailment) -> bool:
        """Whether nothing more is to be expected of a host."""
        return self._backoff.is_over(host.rests)

    def is_resting(self, host_id: int) -> bool:
        """Whether a host has rested since it last answered."""
        host = self._hosts.get(host_id)
        return host is not None and host.rests > 0

    def until(self, host_ids: Iterable[int]) -> float:
        """When the last of some hosts may be asked again; 0 when they are well."""
        return max((self._hosts[key].until for key in host_ids if key in self._hosts), default=0.0)

    def ailing(self) -> set[int]:
        """Hosts that are waited for: they rest, have failed twice or asked for time."""
        return {
            key
            for key, host in self._hosts.items()
            if host.rests or host.failures > 1 or host.reason == SkipReason.HOST_BUSY
        }

    def hopeless(self) -> list[tuple[int, SkipReason]]:
        """Hosts not worth waiting for when there is nothing else to do, and why: none of them answers soon enough.

        The wait counts from the last good answer of any host, so a crawl that still gets somewhere goes on.
        """
        latest = self._good_at + self._backoff.alone
        return [(key, self._hosts[key].reason) for key in sorted(self.ailing()) if self._hosts[key].until > latest]
