"""Signs of a text as hashed numbers: runs of characters and of their classes.

Advertisers write around word lists: look-alikes, emoji for words, marks between the characters. Folding undoes part of
it; runs of characters outlive the rest better than words, and the shape (Chinese, digits, letters, emoji, punctuation)
tells a posted advertisement from a headline whatever its words are. All numbers are the same one: none tells of harm.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..words import fold

Numbers = NDArray[np.float64]
Hashes = NDArray[np.int32]

MAX_CHARS: Final = 10_000
BITS: Final = 20
RUNS: Final = 3
"""Longest run of characters."""
SHAPES: Final = 5
"""Longest run of classes."""
_FEWEST: Final = 2
"""Code points of a text that has any, with the space before it."""
_BEYOND: Final = 0x20000
_DROPPED, _SPACE, _HAN, _DIGIT, _LETTER, _EMOJI, _MARK = range(7)
_CATEGORIES: Final = {"Mn": _DROPPED, "Me": _DROPPED, "Cf": _DROPPED, "Cc": _SPACE, "Zs": _SPACE, "Nd": _DIGIT}
_END: Final = "\n"
_NUMBER: Final = "0"
_STEP: Final = np.uint64(1_000_003)
_MIX: Final = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))


def features(text: str) -> Hashes:
    """Return the signs of a text: each once, numbers below 2 ** `BITS` in no order.

    Cost: O(characters), 0.2 ms for 1,000 Chinese ones; the first call builds tables (0.1 s).

    >>> features("").size
    0
    """
    return once(np.concatenate([hashes for hashes, _ in located(read(text))]), BITS)


class OwnedSigns(NamedTuple):
    """Signs of several texts, and the number of the text of each."""

    signs: Hashes
    of: Hashes


def features_of_all(texts: Sequence[str]) -> tuple[OwnedSigns, OwnedSigns]:
    """Return signs of up to 2,000 texts, and their pairs of letters, repeated.

    The signs are those of `features`.

    Cost: O(characters log characters); for 50 headlines a tenth of what as many calls of `features` cost.

    >>> found, pairs = features_of_all(("a b", ""))
    >>> len(found.signs) == len(features("a b")), len(pairs.signs)
    (True, 0)
    """
    codes = _squeeze(fold(f" {_END} ".join([text.replace(_END, " ") for text in texts])))
    is_end = codes == ord(_END)
    of = np.cumsum(is_end, dtype=np.int32)
    is_outside = is_end | (np.bincount(of, ~is_end)[of] < _FEWEST)
    classes = _classes_of(codes)
    counts = _counts(classes)
    runs = _hash_runs(codes, RUNS, 0)
    shapes = _hash_runs(classes[counts].astype(np.uint64), SHAPES, RUNS)
    keys = []
    for whose, is_no_start, hashed in ((of, is_outside, runs), (of[counts], is_outside[counts], shapes)):
        left = np.cumsum(np.bincount(whose))[whose] - np.arange(len(whose))  # to the end of the text
        left[is_no_start] = 0
        numbers = whose << BITS
        for length, hashes in enumerate(hashed, 1):
            keys.append((numbers[: len(hashes)] | hashes)[left[: len(hashes)] >= length])
    different = np.concatenate(keys)
    different.sort()
    different = different[np.concatenate(([True], different[1:] != different[:-1]))[: len(different)]]
    is_letter = (classes == _HAN) | (classes == _LETTER)
    inside = is_letter[:-1] & is_letter[1:]
    return (
        OwnedSigns(different & ((1 << BITS) - 1), different >> BITS),
        OwnedSigns(runs[1][inside], of[:-1][inside]),
    )


def once(hashes: Hashes, bits: int) -> Hashes:
    """Return each of these numbers below 2 ** `bits` once.

    >>> once(np.array([3, 1, 3]), 2).tolist()
    [1, 3]
    """
    places = np.arange(len(hashes), dtype=np.int32)
    last = np.empty(1 << bits, np.int32)
    last[hashes] = places
    different: Hashes = hashes[last[hashes] == places]
    return different


def read(text: str) -> NDArray[np.uint64]:
    """Return the folded code points of a text, `_NUMBER` for numbers, no marks."""
    codes = _squeeze(fold(text[:MAX_CHARS])[: 2 * MAX_CHARS].replace(_END, " "))
    return codes if len(codes) >= _FEWEST else codes[:0]


def _squeeze(folded: str) -> NDArray[np.uint64]:
    codes = np.frombuffer(f" {folded} ".encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    classes = _classes_of(codes)
    codes = np.where((classes == _SPACE) & (codes != ord(_END)), np.uint64(ord(" ")), codes)
    codes = np.where(classes == _DIGIT, np.uint64(ord(_NUMBER)), codes)[classes != _DROPPED]
    is_one = (codes == ord(" ")) | (codes == ord(_NUMBER))
    squeezed: NDArray[np.uint64] = codes[~(is_one & np.concatenate(([False], codes[1:] == codes[:-1])))]
    return squeezed


def located(codes: NDArray[np.uint64]) -> list[tuple[Hashes, int]]:
    """Return (hashes by place, length) of all runs; those of classes have length 0."""
    runs = [(hashes, length) for length, hashes in enumerate(_hash_runs(codes, RUNS, 0), 1)]
    classes = _classes_of(codes)
    shape = classes[_counts(classes)].astype(np.uint64)
    return runs + [(hashes, 0) for hashes in _hash_runs(shape, SHAPES, RUNS)]


def _counts(classes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Tell which characters count: of a row, three Chinese ones or two letters."""
    repeats = classes[1:] == classes[:-1]
    is_third = repeats[1:] & repeats[:-1]
    counts = np.ones(len(classes), np.bool_)
    counts[2:] &= ~(is_third & (classes[2:] == _LETTER))
    counts[3:] &= ~(is_third[1:] & is_third[:-1] & (classes[3:] == _HAN))
    return counts


def _hash_runs(codes: NDArray[np.uint64], longest: int, salt: int) -> list[Hashes]:
    runs = []
    rolling = codes[:0]
    for length in range(1, longest + 1):
        ends = codes[length - 1 :]
        rolling = rolling[: len(ends)] * _STEP + ends if length > 1 else ends
        mixed = (rolling + np.uint64(length + salt)) * _MIX[0]
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX[1]
        runs.append((mixed >> np.uint64(64 - BITS)).astype(np.int32))
    return runs


def _classes_of(codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
    return _classes()[np.minimum(codes, _BEYOND)]


@cache
def _classes() -> NDArray[np.uint8]:
    """Build the table of classes of code points; each punctuation mark is one."""
    table = np.zeros(_BEYOND + 1, np.uint8)
    for code in range(_BEYOND):
        category = unicodedata.category(chr(code))
        if category in _CATEGORIES:
            table[code] = _CATEGORIES[category]
        elif category[0] in "LM":
            table[code] = _LETTER
        elif category == "So":
            table[code] = _EMOJI
        else:
            table[code] = _MARK + code % 250
    for first, last in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF)):
        table[first : last + 1] = _HAN
    table[_BEYOND] = _HAN
    return table
