"""Suspect the network of this machine when no host answers any more. Pure.

A host that does not answer is put in backoff, and dead after some; when none does, it is not their fault.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

from db.records.reasons import FailReason, label

# Chosen by hand.
_FEWEST, _ENOUGH = 3, 20
"""Silent hosts from which on, if no other is asked, or in any case, the network is suspected."""
_MOST_GOOD = 3
_MUTE_SECONDS = 30.0
_CAUSES = {
    FailReason.NO_HOST: "no name is known to DNS",
    FailReason.NO_DNS: "DNS does not answer",
    FailReason.NETWORK_UNREACHABLE: "there is no way into the network",
    FailReason.NO_ROUTE: "there is no way into the network",
    FailReason.CONNECTION_REFUSED: "all connections are refused, as by a firewall or proxy",
    FailReason.TIMED_OUT: "nothing comes back",
    FailReason.LOST: "all connections are lost",
    FailReason.NO_PROXY: "no proxy serves",
}
"""Failures that may be the network's; after any other a host has answered something."""
_OURS = frozenset({FailReason.NO_DNS, FailReason.NETWORK_UNREACHABLE, FailReason.NO_PROXY})
"""Those that say nothing of the host, so that one host is enough when there is no other."""


class Outage:
    """Hosts that have not answered since any did; seeds may name proxies of their own."""

    def __init__(self, *, has_seed_proxies: bool = False) -> None:
        self.is_down = False
        self._has_ways = has_seed_proxies
        self._silent: dict[int, tuple[FailReason, str, str]] = {}
        self._good: OrderedDict[int, str] = OrderedDict()
        self._mute_until = 0.0

    @property
    def suspected(self) -> bool:
        """Nothing may be asked until it is known whether the network is there.

        Proxies of some seeds that do not serve do not stop the others.
        """
        reasons = {reason for reason, *_ in self._silent.values()}
        return self.is_down and not (self._has_ways and reasons == {FailReason.NO_PROXY})

    def answered(self, host_id: int, url: str) -> None:
        self.is_down = self.suspected  # else others do answer
        self._silent.clear()
        self._good[host_id] = url
        self._good.move_to_end(host_id)
        if len(self._good) > _MOST_GOOD:
            self._good.popitem(last=False)

    def failed(
        self, host_id: int, url: str, reason: FailReason, detail: str = "", *, active: Iterable[int], now: float
    ) -> bool:
        """Note that a host was silent; returns whether the network is suspected now.

        `active` are the hosts that are being asked or will be, `now` is uptime in seconds.
        """
        if reason not in _CAUSES:
            self.answered(host_id, url)
            return False
        self._silent[host_id] = reason, url, detail
        fewest = 1 if _OURS.issuperset(why for why, *_ in self._silent.values()) else _FEWEST
        if self.is_down or now < self._mute_until or len(self._silent) < fewest:
            return False
        self.is_down = len(self._silent) >= _ENOUGH or self._silent.keys() >= set(active)
        return self.is_down

    def urls_to_try(self) -> Sequence[str]:
        """Return URLs of hosts to try: those that answered last, then some that did not.

        When proxies do not serve, only URLs that go through them.
        """
        silent = list(self._silent.values())
        proxied = [url for reason, url, _ in silent if reason is FailReason.NO_PROXY]
        return proxied[-_MOST_GOOD:] or [*reversed(self._good.values()), *[url for _, url, _ in silent][-_MOST_GOOD:]]

    def over(self, now: float) -> Sequence[int]:
        silent = list(self._silent)
        self._silent.clear()
        self.is_down = False
        self._mute_until = now + _MUTE_SECONDS
        return silent

    @property
    def lacks_names(self) -> bool:
        reasons = {reason for reason, *_ in self._silent.values()}
        return bool(reasons) and reasons <= {FailReason.NO_HOST, FailReason.NO_DNS}

    def cause(self) -> str:
        for reason, _, detail in self._silent.values():
            if reason is FailReason.NO_PROXY:
                return label(reason, detail)
        causes = Counter(_CAUSES[reason] for reason, *_ in self._silent.values())
        return "".join(
            f"none of the last {len(self._silent)} hosts answers: {cause}" for cause, _ in causes.most_common(1)
        )
