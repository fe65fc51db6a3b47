"""Body-memory slots: large bodies are received a few at a time. Pure.

A body needs a slot from its second megabyte until its page is stored: many long ones at once would fill the memory.
Over the limit, reading from the socket is paused until a slot is free; nothing that has come is lost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

LARGE = 1 << 20
"""Bytes up to which a body needs no slot."""
_MOST_BYTES = 64 << 20

Acquire = Callable[[Callable[[], None]], bool]


class BodySlots:
    """Slots in the order of asking, as many as bodies of `size` bytes fit into 64 MiB."""

    def __init__(self, size: int) -> None:
        self._slots = max(1, _MOST_BYTES // max(size, LARGE))
        self._holders: set[Hashable] = set()
        self._waiting: OrderedDict[Hashable, Callable[[], None]] = OrderedDict()

    def acquire(self, key: Hashable, go_on: Callable[[], None]) -> bool:
        """Take a slot, or have `go_on`, which must not raise, called when one is free."""
        if key in self._holders:
            return True
        if len(self._holders) < self._slots:
            self._holders.add(key)
            return True
        self._waiting[key] = go_on
        return False

    def release(self, key: Hashable) -> None:
        """Free a slot, or stop waiting for one; does nothing for an unknown key."""
        self._waiting.pop(key, None)
        self._holders.discard(key)
        while self._waiting and len(self._holders) < self._slots:
            following, go_on = self._waiting.popitem(last=False)
            self._holders.add(following)
            go_on()
