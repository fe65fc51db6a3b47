"""Sampled shingles: a few hashes that a text shares with every text that repeats a good part of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from .normalize import WORD, Codes, encode, tables

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

_BASE = 0x9E3779B97F4A7C15  # odd, therefore invertible modulo 2^64
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB


@dataclass(frozen=True, slots=True)
class ShingleParams:
    """How shingles are cut and sampled.

    Attributes:
        unspaced_chars: length of a shingle that starts in a script without spaces.
        word_chars: length of a shingle that starts in a script with spaces.
        most: hashes kept of one text at most.
        text_chars: only this many characters of the normalised text are sampled.
    """

    unspaced_chars: int = 8
    word_chars: int = 20
    most: int = 64
    text_chars: int = 200_000


@cache
def _powers(size: int) -> tuple[Hashes, Hashes]:
    """The powers of the base and of its inverse modulo 2^64."""
    inverse = pow(_BASE, -1, 1 << 64)
    powers = []
    for base in (_BASE, inverse):
        column = np.full(size, base, np.uint64)
        column[0] = 1
        powers.append(np.cumprod(column, dtype=np.uint64))
    return powers[0], powers[1]


def _mixed(values: Hashes) -> Hashes:
    """Finaliser of a 64-bit hash: every input bit moves every output bit (splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_MIX_1)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_MIX_2)
    return values ^ (values >> np.uint64(31))


@cache
def _character_hashes() -> Hashes:
    """A 64-bit hash per code point."""
    return _mixed(np.arange(tables().kind.size, dtype=np.uint64) * np.uint64(_BASE) + np.uint64(_BASE))


def windows(codes: Codes, unspaced_chars: int, word_chars: int) -> tuple[Places, Places, Hashes]:
    """Hash the window that starts at each character; its length depends on the script of that character.

    Returns: starts, ends and hashes of the windows that fit into the text; a text shorter than one window is one
        window.
    Cost:    O(length), about 0.02 ms per 1,000 characters.
    """
    size = codes.size
    if not size:
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros(0, np.uint64)
    powers, inverses = _powers(1 << max(12, (size + 1).bit_length()))
    sums = np.zeros(size + 1, np.uint64)
    np.cumsum(_character_hashes().take(codes, mode="clip") * powers[:size], out=sums[1:])
    ends = np.where(tables().kind.take(codes, mode="clip") == WORD, word_chars, unspaced_chars)
    starts = np.arange(size)
    ends += starts
    fits = ends <= size
    starts, ends = starts[fits], ends[fits]
    if not starts.size:
        starts, ends = np.zeros(1, np.int64), np.full(1, size)
    return starts, ends, _mixed((sums.take(ends) - sums.take(starts)) * inverses.take(starts))


def sample(normalized: str, params: ShingleParams = ShingleParams()) -> tuple[int, ...]:
    """Choose the shingles by which a text is found again.

    The hash of a shingle alone decides whether it is taken: the smallest hashes of a text are kept. So a passage gives
    the same sample wherever it stands, and two texts share about as many sampled shingles as they share text.

    Args:    normalized: text from `normalize`.
    Returns: signed 64-bit hashes, ascending, without repeats; the same in every process. Empty for an empty text.
    Cost:    O(length), about 0.06 ms per 1,000 characters.
    Source:  A. Broder, On the resemblance and containment of documents, 1997, section 4 (the s smallest fingerprints).
    Differs: shingles of characters instead of words.
    """
    codes = encode(normalized[: params.text_chars])
    hashes = windows(codes, params.unspaced_chars, params.word_chars)[2]
    return tuple(np.sort(_smallest(hashes, params.most).view(np.int64)).tolist())


def _smallest(hashes: Hashes, most: int) -> Hashes:
    """The smallest distinct hashes."""
    if hashes.size > 4 * most:
        few = np.unique(np.partition(hashes, 2 * most)[: 2 * most])
        if few.size >= most:
            return few[:most]
    return np.unique(hashes)[:most]
