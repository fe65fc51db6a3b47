"""Sampled shingles: hashes that a text shares with texts that repeat it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .normalize import UNSPACED, WORD, build_tables, encode

H = TypeVar("H", np.uint32, np.uint64)
Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

MOST_CHARS = 100_000
"""Characters of a normalised text that are sampled and compared; the rest only counts for its exact hash."""

_USUAL_CHARS, _CHARS_A_HASH = 1_500, 24
"""Length up to which all samples have one size, and characters for each further hash; chosen by hand."""

_BASE = 0x9E3779B97F4A7C15  # odd, therefore invertible modulo 2^64
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)


@dataclass(frozen=True, slots=True)
class ShingleParams:
    """Lengths of shingles by script, and hashes kept of usual and of very long texts."""

    unspaced_chars: int = 8
    word_chars: int = 20
    most: int = 64
    most_of_long: int = 128


@cache
def _powers() -> tuple[Hashes, Hashes]:
    powers = []
    for base in (_BASE, pow(_BASE, -1, 1 << 64)):
        column = np.full(MOST_CHARS, base, np.uint64)
        column[0] = 1
        powers.append(np.cumprod(column, dtype=np.uint64))
    return powers[0], powers[1]


def _mixed(values: Hashes) -> Hashes:
    mixed = values >> _SHIFT_1
    mixed ^= values
    mixed *= _MIX_1
    mixed ^= mixed >> _SHIFT_2
    mixed *= _MIX_2
    mixed ^= mixed >> _SHIFT_3
    return mixed


class Sums:
    """Prefix sums of the compared part of a text, whose differences hash any window.

    Source: R. Karp and M. Rabin, Efficient randomized pattern-matching algorithms, 1987, modulo 2^64.
    """

    __slots__ = ("_most_are_words", "_others", "_sums", "full", "text", "unspaced")

    def __init__(self, normalized: str) -> None:
        self.full = normalized
        self.text = normalized[:MOST_CHARS]
        codes = encode(self.text)
        size = codes.size
        kind = build_tables().kind.take(codes, mode="clip")
        is_word = kind == WORD
        self._most_are_words = 2 * np.count_nonzero(is_word) > size
        self._others = (~is_word if self._most_are_words else is_word).nonzero()[0]
        self.unspaced = int(np.count_nonzero(kind == UNSPACED)) / max(1, size)
        self._sums = np.zeros(size + 1, np.uint64)
        np.cumsum(codes * _powers()[0][:size], out=self._sums[1:])

    def windows(self, unspaced_chars: int, word_chars: int) -> tuple[Places, Places, Hashes]:
        """Hash the window that starts at each character: starts, ends and hashes.

        A text shorter than one window is one window. Hashes are not evenly spread in their low bits.
        """
        sums, size = self._sums, len(self.text)
        starts = np.arange(size)
        most, others = (word_chars, unspaced_chars) if self._most_are_words else (unspaced_chars, word_chars)
        ends = np.arange(most, most + size)
        ends[self._others] = self._others + others
        hashes = (sums.take(ends, mode="clip") - sums[:-1]) * _powers()[1][:size]
        if ends[max(0, size - max(unspaced_chars, word_chars)) :].max(initial=0) > size:
            starts = (ends <= size).nonzero()[0]
            ends, hashes = ends.take(starts), hashes.take(starts)
        if size and not starts.size:
            return np.zeros(1, np.int64), np.full(1, size), sums[-1:]
        return starts, ends, hashes


def sample_size(chars: npt.ArrayLike, usual: int, of_long: int) -> npt.NDArray[np.int64]:
    """Compute how many hashes are kept of texts of given lengths.

    Long texts keep more: with 64 of three thousand, hardly two would fall into an excerpt of a few hundred characters.
    """
    more = (np.asarray(chars, np.int64) - _USUAL_CHARS) // _CHARS_A_HASH
    return np.minimum(np.maximum(usual + more, usual), max(usual, of_long))


def sample(text: Sums, params: ShingleParams = ShingleParams()) -> bytes:
    """Choose the shingles by which a text can be found.

    The smallest hashes are kept, 32 bits each, little-endian, ascending, the same in every process. A passage therefore
    gives the same sample wherever it stands, and two texts share about as large a part of their samples as of their
    text.

    Cost:    O(length), about 0.03 ms per 1,000 characters.
    Source:  A. Broder, On the resemblance and containment of documents, 1997, section 4 (the s smallest fingerprints).
    Differs: shingles of characters instead of words.
    """
    hashes = text.windows(params.unspaced_chars, params.word_chars)[2]
    most = int(sample_size(len(text.text), params.most, params.most_of_long))
    few = _smallest(_mixed(hashes), most)
    return _distinct(few.astype("<u4")).tobytes()  # the smallest differ in their low bits as any hashes do


def _smallest(hashes: Hashes, most: int) -> Hashes:
    if hashes.size > 4 * most:
        bound = np.uint64((1 << 64) // hashes.size * 2 * most)
        few = _distinct(hashes.compress(hashes < bound))  # evenly spread: about twice as many as are wanted
        if few.size >= most:
            return few[:most]
    return _distinct(hashes)[:most]


def _distinct(values: npt.NDArray[H]) -> npt.NDArray[H]:
    values.sort()
    differ = values[1:] != values[:-1]
    return values if differ.all() else values[np.concatenate(([True], differ))]
