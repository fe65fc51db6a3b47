"""Boilerplate lines of a site, and frames shared by texts of one kind.

Share bars, copyright and the like make short articles of one site alike, and one article on two sites different. A line
that occurred verbatim in several *different* stories is left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

from db.records.evidence import REPEATING, SURE, TEMPLATE

from .shape import Comparison, Method

_MOST_LINES = 1_000  # a text of more is a list, and would cost time
_FULL = 255
_SLOT_BITS = 32
_SLOT = (1 << _SLOT_BITS) - 1
_HALVES: Final = bytes(count // 2 for count in range(_FULL + 1))
_SPREAD = 0x9E3779B1  # odd: makes a second slot of a hash

_TEMPLATE = 0.25  # similarity of texts that share only a frame; chosen by hand: below every threshold


@dataclass(frozen=True, slots=True)
class FrameParams:
    """Parameters of frames.

    `sure` was fitted with `python -m tests.benchmarks.frames --folds`; `least_rest` was then lowered from .5 on all
    labelled documents (docs/duplicates.md). The others were chosen by hand.

    Attributes:
        sure: similarity from which no frame is suspected.
        near: similarity to two others from which a text can reveal their frame.
        least_rest: share of common text outside the frame from which a text repeats another.
    """

    sure: float = SURE
    near: float = 0.4
    least_rest: float = 0.45
    most: int = 4


@dataclass(frozen=True, slots=True)
class BoilerplateParams:
    """Bounds of boilerplate lines, chosen by hand; `slots` is a power of 2."""

    stories: int = 4
    least_chars: int = 4
    most_chars: int = 300
    rest_chars: int = 50
    slots: int = 1 << 20


class TextLines(NamedTuple):
    """Lines of a text; their slots hold two counters each, 0 for lines not counted."""

    slots: Sequence[int]
    lengths: Sequence[int]


_NO_LINES = TextLines((), ())


class BoilerplateLines:
    """Counts of lines, learned from a stream of stories.

    Each line has two of many small counters, and the smaller one is its count. When the table has counted a quarter as
    many lines as it has counters, all counts are halved: lines that recur every day remain, others are forgotten.

    Memory: one byte a slot, 1 MB.
    Source: the counters are the count-min sketch of G. Cormode and S. Muthukrishnan, An improved data stream summary,
            2005, with two rows in one table.
    """

    def __init__(self, params: BoilerplateParams = BoilerplateParams()) -> None:
        self._params = params
        self._counts = bytearray(params.slots)
        self._taken = 0

    def without(self, text: str, site: str = "") -> str:
        """Remove known lines of the same site, unless too little would remain."""
        return leave_out(text, self.left_out(self.lines_of(text, site)))

    def learn(self, text: str, site: str = "") -> None:
        self.count(self.lines_of(text, site))

    def left_out(self, lines: TextLines) -> tuple[int, ...]:
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
        counts, different = self._counts, set(lines.slots)
        different.discard(0)
        for slots in different:
            for slot in (slots >> _SLOT_BITS, slots & _SLOT):
                if counts[slot] < _FULL:
                    counts[slot] += 1
        self._taken += len(different)
        if self._taken >= self._params.slots // 4:
            self._taken = 0
            self._counts = bytearray(counts.translate(_HALVES))

    def lines_of(self, text: str, site: str = "") -> TextLines:
        return _cut(text, site, self._params.least_chars, self._params.most_chars, self._params.slots - 1)


@lru_cache(32)  # a new text is looked at, then learned
def _cut(text: str, site: str, least: int, most: int, mask: int) -> TextLines:
    lines = text.split("\n", _MOST_LINES)
    if len(lines) > _MOST_LINES:
        return _NO_LINES
    salt = crc32(site.encode("utf-8", "surrogatepass"))
    slots = []
    for line in map(str.strip, lines):
        if least <= len(line) <= most:
            value = crc32(line.encode("utf-8", "surrogatepass"), salt)
            slots.append((value & mask or 1) << _SLOT_BITS | ((value * _SPREAD >> 16) & mask or 1))
        else:
            slots.append(0)
    return TextLines(slots, [*map(len, lines)])


def removable(
    lengths: Sequence[int], places: Sequence[int], params: BoilerplateParams = BoilerplateParams()
) -> tuple[int, ...]:
    """Return the numbers of known lines; none if too little would remain."""
    if not places or len(lengths) == 1:
        return ()
    rest = sum(lengths) + len(lengths) - 1 - sum(lengths[place] + 1 for place in places)
    return tuple(places) if rest >= params.rest_chars else ()


def leave_out(text: str, places: Collection[int]) -> str:
    if not places:
        return text
    return "\n".join(line for place, line in enumerate(text.split("\n")) if place not in places)


AS_FITTED: Final = FrameParams()


class Bystanders:
    """A new text and stored ones, each of which may reveal a frame of two others.

    All are prepared, the most promising first; `stories` tells each one's story, and whether it represents it.
    """

    def __init__(
        self,
        method: Method,
        threshold: float,
        new: Any,
        stored: Sequence[Any],
        stories: Sequence[tuple[int, bool]],
        *,
        params: FrameParams = AS_FITTED,
    ) -> None:
        self._params = params
        self._method = method
        self._threshold = threshold
        self._texts = [*stored, new]
        self._new = len(stored)
        self._stories = stories
        self._compared: dict[tuple[int, int], Comparison] = {}
        self._frames: dict[tuple[int, int], bool] = {}
        self._tied: set[int] = set()

    def of_new(self) -> list[Comparison]:
        """Compare the new text with each of the others.

        If it shares more than a frame with one text of a story, it also repeats others of it that it resembles.
        """
        comparisons = [self._comparison(self._new, place) for place in range(self._new)]
        repeating = [place for place, one in enumerate(comparisons) if one.kind in REPEATING]
        repeating.sort(key=lambda place: (not self._stories[place][1], -comparisons[place].similarity))
        for place in repeating:
            if self._stories[place][0] not in self._tied and self._are_tied(self._new, place):
                self._tied.add(self._stories[place][0])
        for place in repeating:
            if self._stories[place][0] not in self._tied:
                comparisons[place] = Comparison(_TEMPLATE, TEMPLATE, comparisons[place].resemblance)
        return comparisons

    def is_frame(self, late: int, early: int) -> bool:
        """Tell whether two stored texts that were taken for duplicates only share a frame.

        The new text shows this if it contains as much of the frame and repeats neither.
        """
        pair = late, early
        for place in pair:
            one = self._comparison(self._new, place)
            if self._stories[place][0] in self._tied or (one.similarity < self._params.near and one.kind != TEMPLATE):
                return False
        return self._share_frame(late, early) and not any(
            all(self._are_tied(place, text) for text in pair) for place in self._beside(late, early)
        )

    def _are_tied(self, one: int, other: int) -> bool:
        return self._comparison(one, other).kind in REPEATING and not self._share_frame(one, other)

    def _share_frame(self, one: int, other: int) -> bool:
        pair = max(one, other), min(one, other)
        is_shared = self._frames.get(pair)
        if is_shared is None:
            is_shared = False
            if self._comparison(one, other).similarity < self._params.sure:
                texts = [
                    self._texts[place]
                    for place in self._beside(one, other)
                    if max(self._comparison(place, text).similarity for text in pair) < self._params.sure
                ]
                late, early = (self._texts[text] for text in pair)
                is_shared = any(
                    self._method.rest_share(late, early, third) < self._params.least_rest for third in texts
                )
            self._frames[pair] = is_shared
        return is_shared

    def _beside(self, one: int, other: int) -> list[int]:
        nearest = (self._new, *range(min(self._new, self._params.most)))
        return [place for place in nearest if place not in {one, other}]

    def _comparison(self, one: int, other: int) -> Comparison:
        late, early = max(one, other), min(one, other)
        comparison = self._compared.get((late, early))
        if comparison is None:
            comparison = self._method.compare(self._texts[late], self._texts[early]).at(self._threshold)
            self._compared[late, early] = comparison
        return comparison
