"""Terms of a text without a dictionary: character pairs for Chinese, else words."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np

_PAIRED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_WORD = re.compile(r"[^\W_]+")
_LONG_RUN = 16
_BLANKS = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)).ljust(256)
"""Turns what is no letter or digit of ASCII into a blank."""
_RUN = re.compile(
    r"([\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+)|"
    r"[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)


def terms(text: str) -> list[str]:
    """Return the terms of `text` in their order, in lower case, repeated ones too.

    Scripts without blanks give each pair of neighbouring characters; a single character between others is a term.
    Cost: O(characters).

    >>> terms("河口大桥 opens 2024")
    ['河口', '口大', '大桥', 'opens', '2024']
    """
    text = text.lower()
    if text.isascii():
        return text.encode().translate(_BLANKS).decode().split()
    if not _PAIRED.search(text):
        return _WORD.findall(text)
    cut: list[str] = []
    for match in _RUN.finditer(text):
        run = match[0]
        if match[1] and len(run) > 1:
            cut += character_pairs(run)
        else:
            cut.append(run)
    return cut


def character_pairs(run: str) -> list[str]:
    """Return each pair of neighbouring characters, none of which has the code 0.

    Cost: O(characters), a third of cutting a long run one by one.

    >>> character_pairs("河口大桥")
    ['河口', '口大', '大桥']
    """
    if len(run) < _LONG_RUN:
        return [run[at : at + 2] for at in range(len(run) - 1)]
    # numpy's strings are code points in a row: neighbours overlap
    pairs: list[str] = np.ndarray((len(run) - 1,), "<U2", run.encode("utf-32-le"), strides=(4,)).tolist()
    return pairs


def cosine(first: Counter[str], second: Counter[str]) -> float:
    """Return the cosine of two term-frequency vectors; 0 when one of them is empty.

    Cost: O(terms).

    >>> round(cosine(Counter(["a", "b"]), Counter(["b"])), 3)
    0.707
    """
    if len(first) > len(second):
        first, second = second, first
    product = sum(count * second[term] for term, count in first.items() if term in second)
    if not product:
        return 0.0
    norms = sum(count * count for count in first.values()) * sum(count * count for count in second.values())
    return min(product / math.sqrt(norms), 1.0)
