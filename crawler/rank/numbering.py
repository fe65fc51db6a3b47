"""Growing arrays, and numbers 0, 1, 2 ... for 64-bit identifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

Ids = NDArray[np.int64]
Numbers = NDArray[np.int32]

_SMALLEST = 16
_PIECE = 1 << 17
"""Identifiers looked at together: their temporary arrays stay in the processor's cache."""
_MIXER = np.uint64(0x9E3779B97F4A7C15)


class Column:
    """An array that grows at its end, in amortised constant time."""

    __slots__ = ("_room", "_size")

    def __init__(self, dtype: DTypeLike, first: ArrayLike = ()) -> None:
        self._room: NDArray[Any] = np.empty(_SMALLEST, dtype)
        self._size = 0
        self.extend(np.asarray(first, dtype))

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The values, without a copy; to be asked for again after the column has grown."""
        return self._room[: self._size]

    def extend(self, values: NDArray[Any]) -> None:
        size = self._size + len(values)
        if size > len(self._room):
            room = np.empty(max(size, 2 * len(self._room)), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._room[self._size : size] = values
        self._size = size


class Numbering:
    """Identifier -> number, in the order in which identifiers become known.

    A table with open addressing and linear probing in one array of numbers, at most half full; the identifiers stand in
    a second array, by number. Whole arrays are looked up at a time.

    Cost: 8 bytes an identifier, and 8 to 16 for the table; about 0.1 microseconds a look-up.
    """

    __slots__ = ("_ids", "_slots")

    def __init__(self, first: ArrayLike = ()) -> None:
        self._ids = Column(np.int64)
        self._slots: Numbers = np.full(_SMALLEST, -1, np.int32)
        self.add(np.asarray(first, np.int64))

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> Ids:
        return self._ids.values

    def find(self, ids: Ids) -> Numbers:
        """Numbers of identifiers; -1 for unknown ones."""
        numbers: Numbers = np.full(len(ids), -1, np.int32)
        if len(self):
            for first in range(0, len(ids), _PIECE):
                self._find(ids[first : first + _PIECE], numbers[first : first + _PIECE])
        return numbers

    def add(self, ids: Ids) -> Numbers:
        """Numbers of identifiers; unknown ones get the next numbers, in their order here.

        >>> Numbering([70, 50]).add(np.array([50, 90, 70, 60])).tolist()
        [1, 2, 0, 3]
        """
        numbers: Numbers = np.empty(len(ids), np.int32)
        for first in range(0, len(ids), _PIECE):
            piece = ids[first : first + _PIECE]
            of_piece = self.find(piece)
            new = np.flatnonzero(of_piece < 0)
            if len(new):
                fresh, at, which = np.unique(piece[new], return_index=True, return_inverse=True)
                order = np.argsort(at)
                number = np.empty(len(fresh), np.int32)
                number[order] = np.arange(len(self), len(self) + len(fresh), dtype=np.int32)
                self._ids.extend(fresh[order])
                self._place(len(self) - len(fresh))
                of_piece[new] = number[which]
            numbers[first : first + _PIECE] = of_piece
        return numbers

    def _home(self, ids: Ids) -> NDArray[np.int64]:
        """Return the slot where the search begins: the upper bits of a product."""
        shift = np.uint64(65 - len(self._slots).bit_length())
        return ((ids.view(np.uint64) * _MIXER) >> shift).astype(np.int64)

    def _find(self, ids: Ids, numbers: Numbers) -> None:
        at, rest, stored = self._home(ids), np.arange(len(ids)), self.ids
        while len(rest):
            held = self._slots[at]
            same = stored[held] == ids[rest]  # an empty slot, -1, compares the last identifier; that is undone here
            same &= held >= 0
            numbers[rest[same]] = held[same]
            on = np.flatnonzero((held >= 0) & ~same)
            rest, at = rest[on], (at[on] + 1) & (len(self._slots) - 1)

    def _place(self, first: int) -> None:
        size = len(self._slots)
        while size < 2 * len(self):
            size *= 2
        if size > len(self._slots):
            self._slots, first = np.full(size, -1, np.int32), 0
        numbers = np.arange(first, len(self), dtype=np.int32)
        at = self._home(self.ids[first:])
        while len(numbers):
            free = self._slots[at] < 0
            self._slots[at[free]] = numbers[free]  # of several that want a slot one gets it
            on = np.flatnonzero(self._slots[at] != numbers)
            numbers, at = numbers[on], (at[on] + 1) & (size - 1)
