"""Suspect the network of this machine when no host answers any more. Pure.

A host that does not answer is put in backoff, and dead after some; when none does, it is not their fault.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

from db.records.reasons import FailReason

_FEWEST, _ENOUGH = 3, 20
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
}
"""Failures that may be the network's; after any other a host has answered something."""
_OURS = frozenset({FailReason.NO_DNS, FailReason.NETWORK_UNREACHABLE})
"""Those that say nothing of the host, so that one host is enough when there is no other."""


class Outage:
    """The hosts that have not answered since any did.

    Attributes:
        suspected: nothing is to be asked until it is known whether the network is there.
    """

    def __init__(self) -> None:
        self.suspected = False
        self._silent: dict[int, tuple[FailReason, str]] = {}
        self._good: OrderedDict[int, str] = OrderedDict()
        self._mute_until = 0.0

    def answered(self, host_id: int, url: str) -> None:
        """Note that a host said something when it was asked for a URL."""
        self._silent.clear()
        self._good[host_id] = url
        self._good.move_to_end(host_id)
        if len(self._good) > _MOST_GOOD:
            self._good.popitem(last=False)

    def failed(self, host_id: int, url: str, reason: FailReason, *, active: Iterable[int], now: float) -> bool:
        """Note that a host said nothing; returns whether the network is suspected now.

        Args:
            host_id: which one.
            url: what it was asked for.
            reason: why.
            active: hosts that are being asked, or will be.
            now: uptime.
        """
        if reason not in _CAUSES:
            self.answered(host_id, url)
            return False
        self._silent[host_id] = reason, url
        fewest = 1 if _OURS.issuperset(why for why, _ in self._silent.values()) else _FEWEST
        if self.suspected or now < self._mute_until or len(self._silent) < fewest:
            return False
        self.suspected = len(self._silent) >= _ENOUGH or self._silent.keys() >= set(active)
        return self.suspected

    def witnesses(self) -> Sequence[str]:
        """Return URLs of hosts to try: that answered last, then some that did not."""
        return [*reversed(self._good.values()), *[url for _, url in self._silent.values()][-_MOST_GOOD:]]

    def over(self, now: float) -> Sequence[int]:
        """Note that the network is there; returns the hosts that were silent."""
        silent = list(self._silent)
        self._silent.clear()
        self.suspected = False
        self._mute_until = now + _MUTE_SECONDS
        return silent

    def cause(self) -> str:
        """Say in some words what is the matter."""
        causes = Counter(_CAUSES[reason] for reason, _ in self._silent.values())
        return f"none of the last {len(self._silent)} hosts answers: {causes.most_common(1)[0][0]}"
