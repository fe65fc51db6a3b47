"""Evidence of how two texts are related; kinds are named from the later one."""

from __future__ import annotations

from typing import Final, NamedTuple

SAME: Final = "same"
EDITED: Final = "edited"
PART_OF: Final = "part-of"
CONTAINS: Final = "contains"
QUOTES: Final = "quotes"
TEMPLATE: Final = "template"
DIFFERENT: Final = "different"
"""Not related: never stored."""

REPEATING = frozenset({SAME, EDITED, PART_OF, CONTAINS})
"""Kinds that make a text a duplicate."""
RELATED = frozenset({QUOTES, TEMPLATE})
"""Kinds that are worth keeping and make no duplicate: a passage of the other text, a bulletin of another day."""

SURE: Final = 0.96
"""Similarity from which no shared frame is suspected (fitted on halves of the labelled data, docs/duplicates.md)."""

_MIRRORED: Final = {PART_OF: CONTAINS, CONTAINS: PART_OF}


def mirrored(kind: str) -> str:
    """Return the kind that results when the two texts change places.

    >>> mirrored("part-of"), mirrored("edited")
    ('contains', 'edited')
    """
    return _MIRRORED.get(kind, kind)


class Evidence(NamedTuple):
    """One article repeats another, or is related to it: a row of `duplicate`."""

    article_id: int
    of_id: int
    similarity: float
    method: str
    kind: str
    own: int

    def turned(self, own: int) -> Evidence:
        return self._replace(article_id=self.of_id, of_id=self.article_id, kind=mirrored(self.kind), own=own)
