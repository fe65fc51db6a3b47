"""One clock for all hosts at one address: a hundred names of one machine are asked like one host (`SAME_IP_DELAY`).

Pure: time is an argument, in seconds of the same clock that `Window.pop` is given.
"""

from __future__ import annotations

import asyncio
import math
import socket
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Machine:
    """Hosts at one address."""

    hosts: set[int] = field(default_factory=set)
    under_way: Counter[int] = field(default_factory=Counter)
    ready_at: float = 0.0


class SharedClocks:
    """The clocks of addresses.

    Args:
        delay: seconds between two requests to one address, of which one is under way at a time.
    """

    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._address: dict[int, str] = {}
        self._machines: dict[str, _Machine] = {}

    def join(self, host_id: int, address: str) -> None:
        """A host is at an address; what was known of it first stays, because names move among their own machines."""
        if address and host_id not in self._address:
            self._address[host_id] = address
            self._machines.setdefault(address, _Machine()).hosts.add(host_id)

    def leave(self, host_id: int) -> None:
        """A host is asked no longer."""
        address = self._address.pop(host_id, None)
        if address is None:
            return
        machine = self._machines[address]
        machine.hosts.discard(host_id)
        del machine.under_way[host_id]
        if not machine.hosts:
            del self._machines[address]

    def free_at(self, host_id: int) -> float:
        """When the address of a host may be asked: infinity while it is being asked, 0 when nothing is known of it."""
        machine = self._machines.get(self._address.get(host_id, ""))
        if machine is None:
            return 0.0
        return math.inf if machine.under_way else machine.ready_at

    def took(self, host_id: int) -> None:
        """A request to a host is under way."""
        machine = self._machines.get(self._address.get(host_id, ""))
        if machine is not None:
            machine.under_way[host_id] += 1

    def finished(self, host_id: int, now: float) -> Iterable[int]:
        """It has ended; returns all hosts at the address, which wait for that."""
        machine = self._machines.get(self._address.get(host_id, ""))
        if machine is None:
            return ()
        machine.under_way[host_id] -= 1
        if machine.under_way[host_id] <= 0:  # below 0: it had begun before the address was known
            del machine.under_way[host_id]
        machine.ready_at = max(machine.ready_at, now + self._delay)
        return tuple(machine.hosts)


# ---- Which address hosts are at, asked before they are: see `crawler.politeness.ip_clock`.


_SECONDS = 3.0


async def look_up(names: Sequence[str]) -> dict[str, str]:
    """Addresses of hosts (with or without port); those that cannot be told within some seconds are left out."""
    tasks = {name: asyncio.ensure_future(_look_up(name)) for name in dict.fromkeys(names)}
    if tasks:
        await asyncio.wait(tasks.values(), timeout=_SECONDS)
    for task in tasks.values():
        task.cancel()
    return {name: task.result() for name, task in tasks.items() if task.done() and not task.cancelled()}


async def _look_up(name: str) -> str:
    """The first address in the order of their text, so that all names of one machine give the same."""
    host = name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ""
    return min((str(entry[4][0]) for entry in found), default="")
