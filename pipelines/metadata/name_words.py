"""Words of pages, languages and places; no name is made of them alone.

The lists in `words/` are in small letters and simplified characters.

Source: message catalogues of Django, django-allauth, Wagtail, Mezzanine and django CMS (BSD and MIT licences), jieba's
dictionary (MIT), names of territories and cities of Unicode's CLDR, and additions by hand; frequent given names and
surnames were taken out of all.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from ..decode.scripts import simplify

_FOLDER: Final = Path(__file__).with_name("words")
_BREAK = re.compile(r"[^\w\u0300-\u036f\u0590-\u0eff]+|[\d_]+")
"""Between words; vowel signs of the scripts from Hebrew to Lao belong to them."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LONGEST: Final = 12
_LEAST_JOINED: Final = 4
"""From this length a run may contain words of one character."""


@cache
def _load(name: str) -> frozenset[str]:
    return frozenset((_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines())


def is_made_of_words(name: str) -> bool:
    """Tell whether a name is a place or consists of common words.

    >>> [is_made_of_words(text) for text in ("Related Articles", "活動列表", "Seoul", "Lee Page", "文彦博")]
    [True, True, True, False, False]
    """
    folded = simplify(name).casefold()
    if folded in _load("places"):
        return True
    words = [word for word in _BREAK.split(folded) if word]
    return all(map(_is_word, words))


def is_chinese_word(text: str) -> bool:
    """Tell whether a Chinese text is a dictionary word, not a name.

    >>> is_chinese_word("時間"), is_chinese_word("金杰远")
    (True, False)
    """
    return simplify(text) in _load("chinese")


@lru_cache(maxsize=4096)
def _is_word(word: str) -> bool:
    """Tell whether a folded word, or all parts of a run without blanks, are words."""
    if len(word) == 1 or word in _load("interface") or word in _load("english"):
        return True
    return _UNSPACED.search(word) is not None and _is_joined(word)


def _is_joined(run: str) -> bool:
    words, least = _load("interface"), 1 if len(run) >= _LEAST_JOINED else 2
    ends = {0}
    for start in range(len(run)):
        if start in ends:
            ends.update(
                end for end in range(start + least, min(len(run), start + _LONGEST) + 1) if run[start:end] in words
            )
    return len(run) in ends
