"""Interface of the methods that find near-duplicates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from db.records.evidence import CONTAINS, PART_OF, QUOTES, REPEATING

from ..records import Signature

CALIBRATED = 0.8
"""Similarity that means the same in any script: a pair is as likely a reprint as the default threshold demands."""
OWN_WORDING = 0.95
"""Similarity and resemblance below which a text cannot represent another; chosen by hand."""
OWN_CHARS = 200
"""Characters of its own beyond which a text cannot be represented by another; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        similarity: in [0, 1]; 1 for texts that are equal in normal form.
        kind: "same", "edited", "part-of" (the first text is part of the second), "contains" (the reverse), "quotes"
            (they share a passage), "template" (same skeleton, other facts) or "different".
        resemblance: common text over the longer text, in [0, 1]: 1 for interchangeable texts.
        fresh: about the number of characters of the first text that are not in the second.
    """

    similarity: float
    kind: str
    resemblance: float = 1.0
    fresh: int = 0

    def at(self, threshold: float) -> Comparison:
        """Apply a threshold: below it, duplicates become quotations."""
        if self.kind in REPEATING and self.similarity < threshold:
            return replace(self, kind=QUOTES)
        return self

    @property
    def standing(self) -> float:
        """Degree to which the two texts are interchangeable, in [0, 1]."""
        return min(self.similarity, self.resemblance)

    def has_own_wording(self) -> bool:
        """Tell whether the second text cannot represent the first."""
        return self.kind in {PART_OF, CONTAINS} or self.standing < OWN_WORDING or self.fresh > OWN_CHARS


@dataclass(frozen=True, slots=True)
class IndexParams:
    """Parameters of the choice of candidates.

    Chosen by hand; `python -m tests.benchmarks.duplicates` and `duplicates_scale` measure what they reach.

    Attributes:
        most_stories: stories in which one feature may stand; one that is in so many finds nothing any more.
        share: shared features, weighted by rarity, as a share of what a part of the shorter length would share with
            the new text; texts below it are not compared. 0 compares all.
        beside_best: least weight of a story to be compared, as a share of the most promising one's (of 984 articles
            behind 850,000 others none had its copy below .25).
        least_stories: stories in which a feature must stand to find something; 1: all find.
        sample_of_long: sample size of a very long text, if it is larger, see `shingles.sample_size`.
    """

    most_stories: int = 64
    least_shared: int = 2
    share: float = 0.12
    sample: int = 64
    candidates: int = 8
    stories: int = 5
    beside_best: float = 0.15
    sample_of_long: int = 0
    least_stories: int = 1


def _nothing_to_tell(_new: Any, _stored: Any, _third: Any) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class Method:
    """A method of finding near-duplicates.

    Attributes:
        form: describes how signatures were made; those of different forms cannot be compared.
        sign: (title, text) -> what the index keeps of a text.
        prepare: (title, text) -> what `compare` takes; cached for some time, because a text is compared several times.
        compare: (prepared new text, prepared stored text) -> comparison from the view of the new text.
        rest_share: (new, stored, third, all prepared) -> share of common text outside of what the third contains; 1 if
            unknown.
    """

    name: str
    form: str
    sign: Callable[[str, str], Signature]
    prepare: Callable[[str, str], Any]
    compare: Callable[[Any, Any], Comparison]
    index: IndexParams
    rest_share: Callable[[Any, Any, Any], float] = _nothing_to_tell


def calibrate(share: float, pivot: float) -> float:
    """Scale a share of common text to a similarity; `pivot` becomes `CALIBRATED`."""
    if share < pivot:
        return CALIBRATED * share / pivot
    return CALIBRATED + (1.0 - CALIBRATED) * (share - pivot) / (1.0 - pivot)
