"""Comparisons by a share of common matter, for methods that use keywords."""

from __future__ import annotations

from db.records.evidence import CONTAINS, DIFFERENT, EDITED, PART_OF

from .lcs import CALIBRATED
from .shape import Comparison

LEAST = 0.5
"""Similarity below which two texts are "different", whatever the caller's threshold."""


def compare_shares(share: float, pivot: float, length: int, other: int, length_ratio: float) -> Comparison:
    """Judge two texts that are not equal.

    Args:
        share: what they have in common, in [0, 1].
        pivot: the share, in (0, 1), from which the method calls them near-duplicates; it becomes `CALIBRATED`.
        length: characters of the new text.
        other: characters of the stored one.
        length_ratio: shorter over longer length from which near-duplicates are "edited", not part and whole.
    """
    if share < pivot:
        similarity = CALIBRATED * share / pivot
    else:
        similarity = CALIBRATED + (1.0 - CALIBRATED) * (share - pivot) / (1.0 - pivot)
    if similarity < LEAST:
        return Comparison(similarity, DIFFERENT)
    if min(length, other) >= length_ratio * max(length, other):
        return Comparison(similarity, EDITED)
    return Comparison(similarity, PART_OF if length < other else CONTAINS)
