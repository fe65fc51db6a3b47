"""Traditional and simplified Chinese characters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import opencc

HAN: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0x20000, 0x2A6DF), (0x2A700, 0x323AF))


@cache
def simplified() -> Mapping[int, int]:
    """Map code points of traditional characters to simplified ones.

    Cost: 0.1 s at the first call.
    Differs: goes character by character, not by phrases: exact enough for comparison, and ten times faster.
    """
    characters = [chr(code) for first, last in HAN for code in range(first, last + 1)]
    converted = opencc.OpenCC("t2s").convert("\n".join(characters)).split("\n")
    return {ord(old): ord(new) for old, new in zip(characters, converted, strict=True) if old != new and len(new) == 1}


def simplify(text: str) -> str:
    """Return a text in simplified characters, for comparing words.

    Cost: O(characters); the first call with Chinese builds the table (0.1 s).

    >>> simplify("熱門新聞")
    '热门新闻'
    """
    return text if text.isascii() else text.translate(simplified())
