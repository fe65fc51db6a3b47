"""Verification of a candidate: how much of one text stands in the other, and is what differs another story?"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from .normalize import UNSPACED, encode, tables
from .shingles import Hashes, windows

SAME = "same"
EDITED = "edited"
PART_OF = "part-of"
CONTAINS = "contains"
DIFFERENT = "different"
KINDS = (SAME, EDITED, PART_OF, CONTAINS, DIFFERENT)

CALIBRATED = 0.8
"""Similarity at which, in any script, a pair is as likely a reprint as the default threshold demands."""

_NUMBER = re.compile(r"[0-9]+")
_BEFORE, _AFTER = 2, 2  # characters around a number that say what it counts


@dataclass(frozen=True, slots=True)
class VerifyParams:
    """How two texts are compared. Defaults were fitted on labelled reprints in Chinese and English.

    Attributes:
        unspaced_chars: shortest common run that counts, in scripts without spaces.
        word_chars: the same in scripts with spaces.
        unspaced_pivot: share of common text that becomes a similarity of `CALIBRATED`, in scripts without spaces.
        word_pivot: the same in scripts with spaces, where unrelated texts have more in common.
        least: similarity below which two texts are "different", whatever the caller's threshold.
        length_ratio: shorter over longer length from which a near-duplicate is "edited", not a part.
        lcs_ratio: shorter over longer length from which the LCS counts: a long text holds any short one in scraps.
        lcs_share: share of common runs from which the LCS is worth its cost.
        block_chars: longest text that goes through the LCS in one piece.
        max_chars: only so many characters of each text are compared.
        conflicts: numbers in equal surroundings that must disagree to make a bulletin of another day.
        conflict_share: share of the numbers in equal surroundings that must disagree.
        doubtful: similarity below which one conflict is enough,
        doubtful_share: and this is the share.
    """

    unspaced_chars: int = 6
    word_chars: int = 14
    unspaced_pivot: float = 0.62
    word_pivot: float = 0.74
    least: float = 0.5
    length_ratio: float = 0.7
    lcs_ratio: float = 0.5
    lcs_share: float = 0.3
    block_chars: int = 2_000
    max_chars: int = 100_000
    conflicts: int = 2
    conflict_share: float = 0.35
    doubtful: float = 0.87
    doubtful_share: float = 0.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one comparison.

    Attributes:
        similarity: in [0, 1]; 1 for equal texts, or when every run of the shorter one is in the other.
        kind: "same", "edited", "part-of" (the first text is a part of the second), "contains" or "different".
    """

    similarity: float
    kind: str


class _Text:
    """A normalised text with what every comparison needs of it."""

    def __init__(self, text: str, params: VerifyParams) -> None:
        self.text = text[: params.max_chars]
        codes = encode(self.text)
        self.starts, self.ends, self.hashes = windows(codes, params.unspaced_chars, params.word_chars)
        unspaced = int(np.count_nonzero(tables().kind.take(codes, mode="clip") == UNSPACED))
        self.unspaced = unspaced / max(1, codes.size)
        self._sorted: Hashes | None = None
        self._slots: dict[str, set[str]] | None = None

    def sorted(self) -> Hashes:
        if self._sorted is None:
            self._sorted = np.sort(self.hashes)
        return self._sorted

    def slots(self) -> dict[str, set[str]]:
        """Numbers by the characters around them, in which other numbers are masked."""
        if self._slots is None:
            slots: defaultdict[str, set[str]] = defaultdict(set)
            masked = " " * _BEFORE + _NUMBER.sub("0", self.text) + " " * _AFTER
            place = -1
            for number in _NUMBER.findall(self.text):
                place = masked.index("0", place + 1)
                slots[masked[place - _BEFORE : place + 1 + _AFTER]].add(number)
            self._slots = slots
        return self._slots


class Comparison:
    """Compares one normalised text with others; what only depends on the one is computed once.

    Two measures see different edits. *Coverage*, the share of the shorter text in runs of some characters that the
    longer has too, does not mind moved paragraphs, added boilerplate or cuts. The longest common subsequence (*LCS*)
    over the shorter length does not mind scattered changes of single characters, and is only asked for when coverage
    left a doubt. The share of common text is the coverage, or the mean of both where that is more.

    Daily bulletins (weather, markets, results) share most of their text and are different stories. They give
    themselves away by their numbers: when a good part of the numbers that stand in equal surroundings disagree, the
    texts are different, however much they share.

    Cost:    O(length): 0.1 ms at 1,000 characters; the LCS runs in blocks beyond `block_chars`, each against the
             stretch of the other text where its common runs lie.
    Source:  LCS: bit-parallel, H. Hyyrö, Bit-parallel LCS-length computation revisited, 2004 (in RapidFuzz).
    Differs: the LCS is a second opinion here, because alone it misses moved paragraphs and accepts bulletins.
    """

    def __init__(self, text: str, params: VerifyParams = VerifyParams()) -> None:
        """Prepare the normalised text that is compared with others."""
        self._params = params
        self._full = text
        self._one = _Text(text, params)

    def __call__(self, other: str) -> Verdict:
        """Compare the text with another normalised one. Empty texts are different from everything."""
        if not self._full or not other:
            return Verdict(0.0, DIFFERENT)
        if self._full == other:
            return Verdict(1.0, SAME)
        params = self._params
        two = _Text(other, params)
        first = (len(self._full), self._full) <= (len(other), other)  # equal lengths: an order that both sides share
        short, long = (self._one, two) if first else (two, self._one)
        ratio = min(len(self._full), len(other)) / max(len(self._full), len(other))
        similarity = self._similarity(short, long, ratio)
        if similarity >= params.least and _numbers_disagree(short.slots(), long.slots(), similarity, params):
            return Verdict(min(similarity, params.least / 2), DIFFERENT)
        if similarity < params.least:
            return Verdict(similarity, DIFFERENT)
        if ratio >= params.length_ratio:
            return Verdict(similarity, EDITED)
        return Verdict(similarity, PART_OF if len(self._full) < len(other) else CONTAINS)

    def _similarity(self, short: _Text, long: _Text, ratio: float) -> float:
        """The share of common text, calibrated to mean the same in every script."""
        params = self._params
        pivot = params.word_pivot + (params.unspaced_pivot - params.word_pivot) * short.unspaced
        found = _found(short, long)
        share = _coverage(short, found)
        if ratio >= params.lcs_ratio and params.lcs_share <= share < 1.0:
            share = max(share, (share + _lcs_share(short, long, found, share, params)) / 2)
        if share < pivot:
            return CALIBRATED * share / pivot
        return CALIBRATED + (1.0 - CALIBRATED) * (share - pivot) / (1.0 - pivot)


def compare(a: str, b: str, params: VerifyParams = VerifyParams()) -> Verdict:
    """Compare two normalised texts.

    Args:    a, b: texts from `normalize`.
    Returns: the verdict from the view of `a`; with a and b exchanged, "part-of" and "contains" are too, and the
        similarity stays.
    Cost:    as `Comparison`.
    """
    return Comparison(a, params)(b)


def _found(short: _Text, long: _Text) -> npt.NDArray[np.bool_]:
    """Which windows of the short text the long one has."""
    there = long.sorted()
    if not there.size:
        return np.zeros(short.hashes.size, np.bool_)
    return np.equal(there.take(np.searchsorted(there, short.hashes), mode="clip"), short.hashes)


def _coverage(short: _Text, found: npt.NDArray[np.bool_]) -> float:
    """Share of the characters that lie in one of these windows."""
    size = len(short.text)
    steps = np.bincount(short.starts[found], minlength=size + 1) - np.bincount(short.ends[found], minlength=size + 1)
    return int(np.count_nonzero(np.cumsum(steps[:-1]))) / size


def _lcs_share(short: _Text, long: _Text, found: npt.NDArray[np.bool_], least: float, params: VerifyParams) -> float:
    """Length of the LCS over that of the short text, block by block when long; 0 when it is below `least`."""
    size = len(short.text)
    if size <= params.block_chars:
        return LCSseq.similarity(short.text, long.text, score_cutoff=ceil(least * size)) / size
    starts = short.starts[found]
    order = np.argsort(long.hashes, kind="stable")
    shift = long.starts[order.take(np.searchsorted(long.sorted(), short.hashes[found]), mode="clip")] - starts
    common = 0
    for start in range(0, size, params.block_chars):
        first, last = np.searchsorted(starts, (start, start + params.block_chars))
        if first < last:
            there = start + int(np.median(shift[first:last]))
            margin = params.block_chars // 4
            stretch = long.text[max(0, there - margin) : max(0, there + params.block_chars + margin)]
            common += LCSseq.similarity(short.text[start : start + params.block_chars], stretch)
    return min(1.0, common / size)


def _numbers_disagree(
    first: dict[str, set[str]], second: dict[str, set[str]], similarity: float, params: VerifyParams
) -> bool:
    """Do the texts have other numbers in the same places, as daily bulletins do?"""
    places = conflicts = 0
    for slot, numbers in first.items():
        others = second.get(slot)
        if others:
            common = min(len(numbers), len(others))
            places += common
            conflicts += common - len(numbers & others)
    if similarity < params.doubtful and conflicts >= max(1.0, params.doubtful_share * places):
        return True
    return conflicts >= max(params.conflicts, params.conflict_share * places)
