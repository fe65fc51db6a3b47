"""Room for large bodies: few at once, from their second megabyte until their pages are stored. Pure.

A body may be long and many come at once; all of them long would fill the memory. Who finds no place waits, and its
server with it, without losing what has come.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

LARGE = 1 << 20
"""Bytes of a body that needs no place."""
_MOST_BYTES = 64 << 20

Enter = Callable[[Callable[[], None]], bool]
"""`Room.enter` of one request."""


class Room:
    """Places, handed out in the order in which they are asked for.

    Args:
        size: bytes of the longest body; all bodies with a place have 64 MiB together, if not one alone has more.
    """

    def __init__(self, size: int) -> None:
        self._places = max(1, _MOST_BYTES // max(size, LARGE))
        self._inside: set[Hashable] = set()
        self._waiting: OrderedDict[Hashable, Callable[[], None]] = OrderedDict()

    def enter(self, key: Hashable, go_on: Callable[[], None]) -> bool:
        """Take a place if there is one; if not, `go_on` is called as soon as it is taken.

        Args:
            key: of the request; who has a place needs no other.
            go_on: must not raise.
        """
        if key in self._inside:
            return True
        if len(self._inside) < self._places:
            self._inside.add(key)
            return True
        self._waiting[key] = go_on
        return False

    def leave(self, key: Hashable) -> None:
        """Give a place back, or wait no longer; nothing happens to who has done neither."""
        self._waiting.pop(key, None)
        self._inside.discard(key)
        while self._waiting and len(self._inside) < self._places:
            following, go_on = self._waiting.popitem(last=False)
            self._inside.add(following)
            go_on()
