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

SURE: Final = 0.87
"""Similarity from which no frame is suspected: that of three quarters in common."""
_NEAR = 0.4
"""Similarity from which a text shows what two others have for a frame."""
_LEAST_REST = 0.3
"""Share of common text beside the frame from which a text repeats another (all 7 false Chinese pairs that had a third
text are below, and 3 of 10,636 labelled reprints)."""
_TEMPLATE = 0.25


class Bystanders:
    """A new text and the stored ones that it was compared with: each may show a frame of two others.

    Args:
        method: how texts are compared.
        threshold: similarity from which a text is a duplicate.
        new: the new text, prepared.
        stored: the others, prepared.
    """

    def __init__(self, method: Method, threshold: float, new: Any, stored: Sequence[Any]) -> None:
        self._method = method
        self._threshold = threshold
        self._texts = [*stored, new]
        self._new = len(stored)
        self._compared: dict[tuple[int, int], Comparison] = {}

    def of_new(self) -> list[Comparison]:
        """Compare the new text with each of the others."""
        return [self._judged(self._new, place) for place in range(self._new)]

    def is_frame(self, late: int, early: int) -> bool:
        """Tell whether two stored texts, of which one was found to repeat the other, share but a frame."""
        near = (self._comparison(self._new, place) for place in (late, early))
        return (
            all(one.kind == TEMPLATE or _NEAR <= one.similarity < SURE for one in near)
            and self._judged(late, early).kind == TEMPLATE
        )

    def _judged(self, one: int, other: int) -> Comparison:
        found = self._comparison(one, other)
        if found.kind not in REPEATING or found.similarity >= SURE:
            return found
        others = [
            text
            for place, text in enumerate(self._texts)
            if place not in {one, other} and self._are_apart(place, one) and self._are_apart(place, other)
        ]
        texts = self._texts[one], self._texts[other]
        if not others or self._method.rest_share(*texts, others) >= _LEAST_REST:
            return found
        return Comparison(_TEMPLATE, TEMPLATE, found.resemblance)

    def _are_apart(self, one: int, other: int) -> bool:
        return self._comparison(one, other).similarity < SURE

    def _comparison(self, one: int, other: int) -> Comparison:
        """Compare two texts, as the new one is with the stored ones: from the view of the later."""
        late, early = max(one, other), min(one, other)
        found = self._compared.get((late, early))
        if found is None:
            found = self._method.compare(self._texts[late], self._texts[early]).at(self._threshold)
            self._compared[late, early] = found
        return found
