"""The letters that languages of the Latin script use beside a-z.

Latin character sets hold the same letters in other places, so that a wrong reading still consists of letters. But it
mixes those of several languages: no language has ą and ů, or õ and ű.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

_SMALL: Final[Mapping[str, str]] = {
    "French": "éèàùâêîôûçëïüœæÿ",
    "German": "äöüß",
    "Spanish": "áéíóúñüªº",
    "Portuguese": "áéíóúàâêôãõçüªº",
    "Italian": "àèéìòù",
    "Catalan": "àçèéíïòóúü·",
    "Dutch": "éëèïóöüáê",
    "Swedish": "åäöé",
    "Norwegian": "æøåéèòóôä",
    "Icelandic": "áéíóúýðþæö",
    "Estonian": "äöõüšž",
    "Polish": "ąćęłńóśźż",
    "Czech": "áčďéěíňóřšťúůýž",
    "Slovak": "áäčďéíĺľňóôŕšťúýž",
    "Hungarian": "áéíóöőúüű",
    "Romanian": "ăâîşţ",
    "Romanian of today": "ăâîșț",
    "Croatian": "čćđšž",
    "Turkish": "ğışçöüâîûİ",
    "Azerbaijani": "əğışçöüİ",
    "Lithuanian": "ąčęėįšųūž",
    "Latvian": "āčēģīķļņšūž",
    "Vietnamese": "ăâđêôơưàáãảạằắẵẳặầấẫẩậèéẽẻẹềếễểệìíĩỉịòóõỏọồốỗổộờớỡởợùúũủụừứữửựỳýỹỷỵ",
    "Vietnamese, tones apart": "àáâăđèéêíóôơùúư\u0300\u0301\u0303\u0309\u0323",
}
LETTERS: Final = {name: frozenset(small + small.upper()) for name, small in _SMALL.items()}
"""By language; capitals too."""

_READ_AS: Final = ("cp1252", "cp1250", "latin-1", "iso8859-2", "cp1254", "cp1257", "mac_roman", "cp850")
_WRITTEN_IN: Final = ("cp1250", "iso8859-2", "cp1252", "cp1254", "cp1257", "mac_roman", "cp850", "cp852", "cp1258")
_LEAST_SIGNS: Final = 10
_LEAST_DIFFERENT: Final = 3
# Of the letters of a text in one language, next to all are of it; names of others are few.
_MOST_STRANGE: Final = 0.94
_LEAST_MEANT: Final = 0.98


@cache
def languages(codec: str) -> tuple[str, ...]:
    """Return the names of the languages that can be written in a character set."""
    return tuple(name for name, small in _SMALL.items() if len(small.encode(codec, "ignore")) == len(small))


def belonging(counts: Mapping[str, int], names: Iterable[str]) -> int:
    """Return how many letters are of the one language that most of them are of.

    Args:
        counts: letters outside a-z, and how often each occurs.
        names: of languages.

    >>> belonging({"é": 5, "ą": 1}, ["French", "Polish"])
    5
    """
    return max((sum(n for sign, n in counts.items() if sign in LETTERS[name]) for name in names), default=0)


def is_misread(counts: Mapping[str, int]) -> bool:
    """Return whether letters are of no language, but of one when the set in which they were read is exchanged.

    Args:
        counts: letters outside a-z, and signs that stand among letters, and how often each occurs.

    Returns:
        False where too few are there to tell, and for languages that are not known here.

    Cost: O(different signs); the many readings only for a text in which letters of several languages stand.

    >>> is_misread({"ø": 9, "ì": 7, "è": 5, "á": 9, "í": 9, "ù": 3, "š": 4, "é": 4})
    True
    """
    signs = sum(counts.values())
    if signs < _LEAST_SIGNS or belonging(counts, LETTERS) > _MOST_STRANGE * signs:
        return False
    for wrong in _READ_AS:
        for right in _WRITTEN_IN:
            if wrong == right:
                continue
            other: dict[str, int] = {}
            for sign, n in counts.items():
                meant = sign.encode(wrong, "ignore").decode(right, "ignore")
                other[meant] = other.get(meant, 0) + n
            if len(other) >= _LEAST_DIFFERENT and belonging(other, languages(right)) >= _LEAST_MEANT * signs:
                return True
    return False
