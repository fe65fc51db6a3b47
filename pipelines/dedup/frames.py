"""Frames: phrasing that texts of one kind have in common, and that makes none of them a reprint of another.

Programme pages, show notes under every podcast, receptions and ceremonies with other names share most of their words.
Two of them look like an edited reprint. A third shows it: what all three hold is a frame, and it proves nothing; beside
it a reprint has most of its words in common with its original, and another programme next to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from db.records.evidence import REPEATING, TEMPLATE

from .shape import Comparison, Method

SURE: Final = 0.9
"""Similarity from which no frame is suspected: that of four fifths in common."""
_NEAR = 0.4
"""Similarity from which a text shows what two others have for a frame."""
_LEAST_REST = 0.3
"""Share of common text beside the frame from which a text repeats another (all 7 false Chinese pairs that had a third
text are below, and 3 of 10,636 labelled reprints)."""
_TEMPLATE = 0.25
_MOST = 4  # stored texts that are asked for a frame, the most promising


class Bystanders:
    """A new text and the stored ones that it was compared with: each may show a frame of two others.

    Args:
        method: how texts are compared.
        threshold: similarity from which a text is a duplicate.
        new: the new text, prepared.
        stored: the others, prepared, the most promising first.
        stories: the story of each: texts of one are tied by repeating one another.
    """

    def __init__(
        self, method: Method, threshold: float, new: Any, stored: Sequence[Any], stories: Sequence[int]
    ) -> None:
        self._method = method
        self._threshold = threshold
        self._texts = [*stored, new]
        self._new = len(stored)
        self._stories = stories
        self._compared: dict[tuple[int, int], Comparison] = {}
        self._frames: dict[tuple[int, int], bool] = {}

    def of_new(self) -> list[Comparison]:
        """Compare the new text with each of the others.

        Who is tied to one of a story by more than a frame repeats what it repeats of that story.
        """
        found = [self._comparison(self._new, place) for place in range(self._new)]
        repeating = [place for place, one in enumerate(found) if one.kind in REPEATING]
        repeating.sort(key=lambda place: -found[place].similarity)
        tied: set[int] = set()
        for place in repeating:
            if self._stories[place] not in tied and self._are_tied(self._new, place):
                tied.add(self._stories[place])
        for place in repeating:
            if self._stories[place] not in tied:
                found[place] = Comparison(_TEMPLATE, TEMPLATE, found[place].resemblance)
        return found

    def is_frame(self, late: int, early: int) -> bool:
        """Tell whether two stored texts, of which one was found to repeat the other, share but a frame.

        The new text shows it, which has as much of it, and repeats neither.
        """
        pair = late, early
        for place in pair:
            one = self._comparison(self._new, place)
            if self._are_tied(self._new, place) or (one.similarity < _NEAR and one.kind != TEMPLATE):
                return False
        return self._share_frame(late, early) and not any(
            all(self._are_tied(place, text) for text in pair) for place in self._beside(late, early)
        )

    def _are_tied(self, one: int, other: int) -> bool:
        return self._comparison(one, other).kind in REPEATING and not self._share_frame(one, other)

    def _share_frame(self, one: int, other: int) -> bool:
        """Tell whether all that two texts of some likeness share may be a frame."""
        pair = max(one, other), min(one, other)
        found = self._frames.get(pair)
        if found is None:
            found = False
            if self._comparison(one, other).similarity < SURE:
                texts = [
                    self._texts[place]
                    for place in self._beside(one, other)
                    if max(self._comparison(place, text).similarity for text in pair) < SURE
                ]
                rest = self._method.rest_share(*(self._texts[text] for text in pair), texts) if texts else 1.0
                found = rest < _LEAST_REST
            self._frames[pair] = found
        return found

    def _beside(self, one: int, other: int) -> list[int]:
        nearest = (self._new, *range(min(self._new, _MOST)))
        return [place for place in nearest if place not in {one, other}]

    def _comparison(self, one: int, other: int) -> Comparison:
        """Compare two texts, as the new one is with the stored ones: from the view of the later."""
        late, early = max(one, other), min(one, other)
        found = self._compared.get((late, early))
        if found is None:
            found = self._method.compare(self._texts[late], self._texts[early]).at(self._threshold)
            self._compared[late, early] = found
        return found
