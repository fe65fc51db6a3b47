"""Categories of a container's content, by its class, id, role or tag.

Names are cut into words: `post-meta`, `postMeta` and `meta_post` mean the same. The words were collected by
hand.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

from ..word_lists import WordLists

_LISTS: Final = WordLists(Path(__file__).with_name("class_names.txt"))
CATEGORIES: Final = (*_LISTS.names, "quote", "table")
"""In the order of their bits."""
_BITS: Final[dict[str, int]] = {}
for _number, _name in enumerate(_LISTS.names):
    for _word in _LISTS[_name]:
        _BITS[_word] = _BITS.get(_word, 0) | 1 << _number
_NUMBER: Final = {category: number for number, category in enumerate(CATEGORIES)}
TAG_CATEGORIES: Final = {
    "nav": (_NUMBER["nav"],),
    "menu": (_NUMBER["nav"],),
    "header": (_NUMBER["header"],),
    "footer": (_NUMBER["footer"],),
    "address": (_NUMBER["footer"],),
    "aside": (_NUMBER["side"],),
    "form": (_NUMBER["form"],),
    "dialog": (_NUMBER["form"],),
    "figure": (_NUMBER["caption"],),
    "figcaption": (_NUMBER["caption"],),
    "article": (_NUMBER["content"],),
    "main": (_NUMBER["content"],),
    "ul": (_NUMBER["list"],),
    "ol": (_NUMBER["list"],),
    "dl": (_NUMBER["list"],),
    "blockquote": (_NUMBER["quote"],),
    "table": (_NUMBER["table"],),
}
_WORD = re.compile(r"[a-z]{1,40}[0-9]{0,2}")
_LEAST_STEM: Final = 4
_BEGINNINGS: Final = frozenset(word[:_LEAST_STEM] for word in _BITS)
_ENDINGS: Final = frozenset(word[-_LEAST_STEM:] for word in _BITS)


@lru_cache(maxsize=16384)
def find_categories(name: str) -> tuple[int, ...]:
    """Return the categories of a container's name, as places in `CATEGORIES`.

    `name` is class, id, role and the like in lower case, joined by blanks. Cost: O(characters), once per name.

    >>> [CATEGORIES[number] for number in find_categories("post-comments")]
    ['comment', 'content']
    """
    bits = 0
    for word in _WORD.findall(name):
        bits |= _bits(word)
    return _places(bits)


@lru_cache(maxsize=65536)
def _bits(word: str) -> int:
    bits = _BITS.get(word)
    return _BITS.get(word.rstrip("0123456789"), 0) or _stem(word) if bits is None else bits


@lru_cache(maxsize=1024)
def _places(bits: int) -> tuple[int, ...]:
    return tuple(number for number in range(len(_LISTS.names)) if bits >> number & 1)


def _stem(word: str) -> int:
    if len(word) < 7 or (word[:_LEAST_STEM] not in _BEGINNINGS and word[-_LEAST_STEM:] not in _ENDINGS):
        return 0
    for size in range(len(word) - 2, _LEAST_STEM - 1, -1):
        bits = _BITS.get(word[:size], 0) or _BITS.get(word[-size:], 0)
        if bits:
            return bits
    return 0
