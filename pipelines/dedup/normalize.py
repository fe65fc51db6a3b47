"""Normalisation of texts for comparison: one table look-up per character."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..decode.scripts import HAN, simplified

Codes = npt.NDArray[np.uint32]
"""A text as an array of code points."""

MAX_CHARS = 1_000_000
"""Characters that take part in a comparison; what follows is ignored, so that a page costs a bounded time."""

_TABLE_SIZE = 0x33480  # past the last CJK plane; above are only private use, tags and variation selectors
_SPACE = 0x20
_MARK = 0xFFFFFFFE  # the character may compose with others: the whole text needs real NFKC first
_EXPANDS = 0xFFFFFFFF  # the same for a character that NFKC makes several of
_MAX_EXPANSION = 4  # longer compatibility forms (one code point for a whole phrase) become separators
_MAX_MARKS = 8  # combining marks in a row; reordering longer runs is quadratic
_JOINERS = "'’‘`´ʼ＇·"  # dropped without leaving a word boundary
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x312F),  # radicals, kana, bopomofo
    (0x3190, 0xA4CF),  # kanbun to Yi
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B2FF),
    (0x20000, _TABLE_SIZE - 1),
)

VERSION = f"Unicode {unicodedata.unidata_version}, OpenCC {version('opencc')}"
"""Versions that the normal form depends on: with others some characters become others."""

WORD = 1
"""Kind of a character of a script that puts spaces between words, and of digits."""
UNSPACED = 2
"""Kind of a character of a script without spaces (Chinese, Japanese, Thai ...)."""


class Tables(NamedTuple):
    """Replacement (0 = dropped) and kind (0 = a space) of each code point."""

    target: Codes
    kind: npt.NDArray[np.uint8]


@cache
def build_tables() -> Tables:
    """Build the character tables, once per process: 0.3 s CPU and 1 MB.

    Code points past the end behave as the last entry, which is dropped.
    """
    target = np.arange(_TABLE_SIZE, dtype=np.uint32)
    plain = np.zeros(_TABLE_SIZE, np.bool_)  # letters that are their own normal form: half of the table
    for first, last in (*HAN, (0xAC00, 0xD7A3)):
        plain[first : last + 1] = True
    for code in np.flatnonzero(~plain).tolist():
        target[code] = _target(chr(code))
    target[-1] = 0
    step = np.arange(_TABLE_SIZE, dtype=np.uint32)
    step[list(simplified())] = list(simplified().values())
    within = target < _TABLE_SIZE
    target[within] = step[target[within]]
    kind = np.zeros(_TABLE_SIZE, np.uint8)
    kind[1:] = WORD
    for first, last in _UNSPACED:
        kind[first : last + 1] = UNSPACED
    kind[_SPACE] = 0
    return Tables(target, kind)


def _target(character: str) -> int:
    category = unicodedata.category(character)
    selector = 0xFE00 <= ord(character) <= 0xFE0F
    if selector or character in _JOINERS or (category[0] == "C" and not character.isspace()):
        return 0
    composed = unicodedata.normalize("NFKC", character)
    if len(composed) > 1:
        if not any(unicodedata.category(each)[0] in "LNM" for each in composed):
            return _SPACE  # dots of an ellipsis, some brackets: common, and not worth a second pass
        return _EXPANDS if len(composed) <= _MAX_EXPANSION else _SPACE
    if unicodedata.combining(composed) or 0x1160 <= ord(character) <= 0x11FF:
        return _MARK
    lowered = composed.lower()[0]
    if unicodedata.category(lowered)[0] not in "LNM":
        return _SPACE
    return ord(lowered)


def encode(text: str) -> Codes:
    """Return the code points of a text, lone surrogates included. O(length)."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def normalize(text: str) -> str:
    """Bring a text to the form in which it is compared; never shown to anybody.

    Compatibility forms (NFKC), case, traditional characters, punctuation, spaces and control characters do not make
    another article. Only words of scripts with spaces stay apart, by one space.

    Cost:    O(length), 0.03 (English) to 0.07 ms (Chinese) per 1,000 characters.
    Differs: traditional to simplified goes character by character, not by phrases: exact enough for comparison, and
             ten times faster.
    """
    return normalize_codes(text).tobytes().decode("utf-32-le")


def normalize_codes(text: str) -> Codes:
    target, kind = build_tables()
    codes = encode(text[:MAX_CHARS])
    mapped: Codes = target.take(codes, mode="clip")
    if mapped.size and mapped.max() >= _MARK:
        codes = _composed(codes, mapped)
        mapped = target.take(codes, mode="clip")
        # A mark that composes with nothing stands for itself, but European accents are dropped.
        accents = (codes >= 0x300) & (codes < 0x370)
        mapped = np.where(mapped >= _MARK, np.where(accents, np.uint32(0), codes), mapped)
    if mapped.size and not mapped.min():
        mapped = mapped[mapped != 0]
    keep = mapped != _SPACE
    letters = keep.nonzero()[0]
    if letters.size == mapped.size:
        return mapped
    gaps = (letters[1:] - letters[:-1] > 1).nonzero()[0]  # a space is left where one or more stood between two words
    before, after = letters.take(gaps), letters.take(gaps + 1)
    words = kind.take(mapped.take(before), mode="clip") & kind.take(mapped.take(after), mode="clip") == WORD
    keep[before.compress(words) + 1] = True
    normalized: Codes = mapped.compress(keep)
    return normalized


def _composed(codes: Codes, mapped: Codes) -> Codes:
    marks = mapped == _MARK
    run = marks.copy()
    for back in range(1, _MAX_MARKS + 1):
        run[back:] &= marks[:-back]
        run[:back] = False
    plain = np.where(mapped == _SPACE, np.uint32(_SPACE), codes)[(mapped != 0) & ~run]
    return encode(unicodedata.normalize("NFKC", plain.tobytes().decode("utf-32-le"))[:MAX_CHARS])


def exact_hash(normalized: str) -> int:
    """Return a stable signed 64-bit hash of a text, 0 for an empty one."""
    if not normalized:
        return 0
    digest = hashlib.blake2b(normalized.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) or 1
