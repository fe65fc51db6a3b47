"""One clock for all hosts at one IP address (`SAME_IP_DELAY`). Pure.

Time is an argument, in seconds of the same clock that `HostQueues.pop` is given.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Machine:
    hosts: set[int] = field(default_factory=set)
    under_way: Counter[int] = field(default_factory=Counter)
    ready_at: float = 0.0


class SharedClocks:
    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._address: dict[int, str] = {}
        self._machines: dict[str, _Machine] = {}

    def join(self, host_id: int, address: str) -> None:
        """Note the IP address of a host; the first one stays, because names move."""
        if address and host_id not in self._address:
            self._address[host_id] = address
            self._machines.setdefault(address, _Machine()).hosts.add(host_id)

    def leave(self, host_id: int) -> None:
        address = self._address.pop(host_id, None)
        if address is None:
            return
        machine = self._machines[address]
        machine.hosts.discard(host_id)
        del machine.under_way[host_id]
        if not machine.hosts:
            del self._machines[address]

    def free_at(self, host_id: int) -> float:
        """Time at which its IP address may be asked: infinity while it is, 0 if unknown."""
        machine = self._machines.get(self._address.get(host_id, ""))
        if machine is None:
            return 0.0
        return math.inf if machine.under_way else machine.ready_at

    def took(self, host_id: int) -> None:
        machine = self._machines.get(self._address.get(host_id, ""))
        if machine is not None:
            machine.under_way[host_id] += 1

    def finished(self, host_id: int, now: float) -> Iterable[int]:
        """Note the end of a request; returns all hosts that wait for the IP address."""
        machine = self._machines.get(self._address.get(host_id, ""))
        if machine is None:
            return ()
        machine.under_way[host_id] -= 1
        if machine.under_way[host_id] <= 0:  # below 0: it had begun before the address was known
            del machine.under_way[host_id]
        machine.ready_at = max(machine.ready_at, now + self._delay)
        return tuple(machine.hosts)
