"""Count the errors of hosts, put them in backoff, and tell when a host is dead.

Pure: time is an argument (Unix seconds).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from db.records.reasons import SkipReason

from .delay import BackoffPolicy


@dataclass(slots=True)
class HostError:
    """Errors of a host since its last good answer; times are Unix seconds."""

    failures: int = 0
    backoffs: int = 0
    until: float = 0.0
    since: float = 0.0
    reason: SkipReason = SkipReason.HOST_UNREACHABLE


class HostErrors:
    def __init__(self, policy: BackoffPolicy, now: float) -> None:
        self._policy = policy
        self._hosts: dict[int, HostError] = {}
        self._good_at = now

    def take_over(self, host_id: int, backoffs: int, until: float) -> None:
        if backoffs:
            self._hosts[host_id] = HostError(backoffs=backoffs, until=until)

    def forget(self, host_id: int) -> None:
        self._hosts.pop(host_id, None)

    def recovered(self, host_id: int, now: float) -> bool:
        self._good_at = max(self._good_at, now)
        before = self._hosts.pop(host_id, None)
        return before is not None and before.backoffs > 0

    def failed(self, host_id: int, now: float, *, took: float = 0.0, asked: float | None = None) -> HostError:
        """Note a failed request: seconds it `took`, seconds of rest `asked` by the host."""
        host = self._hosts.setdefault(host_id, HostError())
        host.failures += 1
        if host.backoffs or host.failures >= self._policy.failures:
            self._back_off(host, now, took, asked)
            return host
        host.reason = SkipReason.HOST_UNREACHABLE if asked is None else SkipReason.HOST_BUSY
        pause = self._policy.pause(host.failures) if asked is None else asked
        host.until = max(host.until, now + pause)
        return host

    def without_rules(self, host_id: int, now: float, *, took: float = 0.0, asked: float | None = None) -> HostError:
        host = self._hosts.setdefault(host_id, HostError())
        host.failures += 1
        self._back_off(host, now, took, asked)
        host.reason = SkipReason.ROBOTS_UNREACHABLE
        return host

    def _back_off(self, host: HostError, now: float, took: float, asked: float | None) -> None:
        if host.backoffs and now - took < host.since:
            if asked is not None:
                host.until = max(host.until, now + asked)
            return
        host.backoffs += 1
        host.since = now
        host.reason = SkipReason.HOST_UNREACHABLE if asked is None else SkipReason.HOST_BUSY
        host.until = max(host.until, now + max(self._policy.backoff(host.backoffs, took), asked or 0.0))

    def is_dead(self, host: HostError) -> bool:
        return self._policy.is_dead(host.backoffs)

    def is_in_backoff(self, host_id: int) -> bool:
        host = self._hosts.get(host_id)
        return host is not None and host.backoffs > 0

    def until(self, host_ids: Iterable[int]) -> float:
        """Return when the last of some hosts may be asked again; 0 when they answer."""
        return max((self._hosts[key].until for key in host_ids if key in self._hosts), default=0.0)

    def waited_for(self) -> set[int]:
        """Return the hosts in backoff, and those that have failed twice or asked for time."""
        return {
            key
            for key, host in self._hosts.items()
            if host.backoffs or host.failures > 1 or host.reason == SkipReason.HOST_BUSY
        }

    def dead_hosts(self) -> list[tuple[int, SkipReason]]:
        """Return the hosts, with reasons, that are not worth waiting for alone.

        The time counts from the last good answer of any host, so a crawl that still gets somewhere goes on.
        """
        latest = self._good_at + self._policy.alone
        return [(key, self._hosts[key].reason) for key in sorted(self.waited_for()) if self._hosts[key].until > latest]
