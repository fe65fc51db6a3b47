"""Boilerplate lines, which stand in several stories of a site.

Extraction leaves some lines of a site around an article: share bars, copyright, "related", the editor's name. They make
short articles of one site alike, and the same article on two sites different. A line that has been seen, letter by
letter, in several *different* stories is left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

_MOST_LINES = 1_000  # a text of more is a list, and would cost time
_FULL = 255
_SLOT_BITS = 32
_SLOT = (1 << _SLOT_BITS) - 1
_HALVES: Final = bytes(count // 2 for count in range(_FULL + 1))
_SPREAD = 0x9E3779B1  # odd: makes a second slot of a hash


@dataclass(frozen=True, slots=True)
class BoilerplateParams:
    """Parameters of boilerplate lines.

    Attributes:
        stories: different stories in which it stands.
        least_chars, most_chars: its length.
        rest_chars: characters that must be left of a text; a shorter rest does not identify a story.
        slots: size of the table of counts, a power of 2.
    """

    stories: int = 4
    least_chars: int = 4
    most_chars: int = 300
    rest_chars: int = 50
    slots: int = 1 << 20


class TextLines(NamedTuple):
    """Lines of a text as they are counted.

    Attributes:
        slots: the two counters of each line, in one number; 0 of one that is too short or too long to be counted.
        lengths: characters of each.
    """

    slots: Sequence[int]
    lengths: Sequence[int]


_NO_LINES = TextLines((), ())


class BoilerplateLines:
    """Counts of lines, learned from stories as they come.

    Each line has two of many small counters; the smaller of the two is its count, so that two lines that share one
    counter are not mistaken for each other. When the table has taken a quarter as many lines as it has counters, all
    counts are halved: lines of every day stay known, others are forgotten.

    Args:
        params: what makes a line boilerplate.

    Memory: one byte a slot, 1 MB.
    Source: the counters are the count-min sketch of G. Cormode and S. Muthukrishnan, An improved data stream summary,
            2005, with two rows in one table.
    """

    def __init__(self, params: BoilerplateParams = BoilerplateParams()) -> None:
        """Start with nothing known."""
        self._params = params
        self._counts = bytearray(params.slots)
        self._taken = 0
        self._last: tuple[str, str, TextLines] = "", "", TextLines([0], [0])

    def without(self, text: str, site: str = "") -> str:
        """Remove the lines of a text that are known as boilerplate.

        Args:
            text: as it was extracted, lines apart.
            site: only what was learned under the same name counts.
        Returns: the text itself when nothing is known of it, or when too little would be left.
        Cost:    O(length), 1 microsecond a line.
        """
        return leave_out(text, self.left_out(self.lines_of(text, site)))

    def learn(self, text: str, site: str = "") -> None:
        """Count the lines of a story that is no copy of a learned one."""
        self.count(self.lines_of(text, site))

    def left_out(self, lines: TextLines) -> tuple[int, ...]:
        """Return the places of the lines that `without` removes."""
        counts, stories = self._counts, self._params.stories
        return removable(
            lines.lengths,
            [
                place
                for place, slots in enumerate(lines.slots)
                if counts[slots >> _SLOT_BITS] >= stories and counts[slots & _SLOT] >= stories
            ],
            self._params,
        )

    def count(self, lines: TextLines) -> None:
        """Count some lines once each, see `learn`."""
        counts, found = self._counts, set(lines.slots)
        found.discard(0)
        for slots in found:
            for slot in (slots >> _SLOT_BITS, slots & _SLOT):
                if counts[slot] < _FULL:
                    counts[slot] += 1
        self._taken += len(found)
        if self._taken >= self._params.slots // 4:
            self._taken = 0
            self._counts = bytearray(counts.translate(_HALVES))

    def lines_of(self, text: str, site: str = "") -> TextLines:
        """Return the lines of a text as they are counted; none of a text of very many."""
        if self._last[:2] == (text, site):  # looked at, then learned
            return self._last[2]
        lines = text.split("\n", _MOST_LINES)
        if len(lines) > _MOST_LINES:
            return _NO_LINES
        least, most, mask = self._params.least_chars, self._params.most_chars, self._params.slots - 1
        salt = crc32(site.encode("utf-8", "surrogatepass"))
        slots = []
        for line in map(str.strip, lines):
            if least <= len(line) <= most:
                value = crc32(line.encode("utf-8", "surrogatepass"), salt)
                slots.append((value & mask or 1) << _SLOT_BITS | ((value * _SPREAD >> 16) & mask or 1))
            else:
                slots.append(0)
        found = TextLines(slots, [len(line) for line in lines])
        self._last = text, site, found
        return found


def removable(
    lengths: Sequence[int], known: Sequence[int], params: BoilerplateParams = BoilerplateParams()
) -> tuple[int, ...]:
    """Return the places of known lines; none when too little would be left.

    Args:
        lengths: characters of all lines.
        known: places of those that are known.
        params: how much has to be left.
    """
    if not known or len(lengths) == 1:
        return ()
    rest = sum(lengths) + len(lengths) - 1 - sum(lengths[place] + 1 for place in known)
    return tuple(known) if rest >= params.rest_chars else ()


def leave_out(text: str, places: Collection[int]) -> str:
    """Remove the lines at some places of a text."""
    if not places:
        return text
    return "\n".join(line for place, line in enumerate(text.split("\n")) if place not in places)
