"""Spellings by which a search finds a word: without accents, articles, joiners.

A reader writes `Munoz`, `Duesseldorf` or `كتاب` and means `Muñoz`, `Düsseldorf` and `الكتاب`. Letters are told by their
script, not by the language of the text: names of all languages stand in texts of all others.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

_LATIN: Final = {
    "æ": "ae", "ð": "d", "þ": "th", "ı": "i", "ĸ": "k", "ŋ": "n", "œ": "oe", "ǝ": "e", "ə": "e", "ɛ": "e", "ɔ": "o",
    "ɑ": "a", "ɡ": "g", "ɣ": "g", "ɩ": "i", "ʊ": "u", "ʉ": "u", "ɵ": "o", "ʒ": "z", "ʃ": "s", "ȷ": "j", "ƿ": "w",
}  # fmt: skip
"""Letters that neither decompose nor are named after another one, as ł is ("l with stroke")."""
_CYRILLIC: Final = {"ё": "е", "ѐ": "е", "ѝ": "и", "ґ": "г"}
"""Letters of which readers leave out the mark; й, ї, ў and others are letters of their own."""
_ARABIC: Final = {
    "ٱ": "ا", "ٲ": "ا", "ٳ": "ا", "ة": "ه", "ۃ": "ه", "ہ": "ه", "ھ": "ه", "ە": "ه", "ى": "ي", "ی": "ي", "ې": "ي",
    "ک": "ك", "ڪ": "ك", "ـ": "", "٬": "", "٫": ".",
}  # fmt: skip
_OTHERS: Final = {"ʹ": "", "ʺ": "", "ʾ": "", "ʿ": "", "·": "", "״": "", "׳": "", "ँ": "ं"}
_WITH: Final = re.compile(r"LATIN SMALL (?:CAPITAL )?LETTER ([A-Z]) WITH .+")
_BLOCKS_OF_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u08d3-\u08ff\u093c\u1ab0-\u1aff"
    "\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
)
JOINERS: Final = "\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
"""Signs without a form that stand inside words, as ranges of a regular expression."""
_DROPPED: Final = re.compile(f"[{_BLOCKS_OF_MARKS}{JOINERS}]")
"""Accents, points of vowels, signs without a form; vowels of other scripts and marks that make another letter stay."""
_IS_CYRILLIC: Final = re.compile("[\u0400-\u052f]")
_IS_HEBREW: Final = re.compile("[\u05d0-\u05ea]")
_IS_ARABIC: Final = re.compile("[\u0620-\u064a\u066e-\u06d3]")
_NOT_ARABIC: Final = re.compile("[پچژگکیہےٹڈڑں\u200c]")
"""Letters of Persian, Urdu and others, which have no article and write no words into one."""
_MOST_PARTS: Final = 6
_WRITTEN_OUT: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "đ": "dj", "ə": "a"})
"""Two letters that are written for one where it is missing, beside the letter without its mark."""
_ARABIC_ARTICLE: Final = re.compile("[وف]?(?:[بك]?ال|لل)(?=..)")
_ARABIC_LETTER: Final = re.compile("و(?=...)|[بلفك](?=....)|[وف][بلك](?=....)")
_HEBREW_ARTICLE: Final = re.compile("(?:וה?|ה)(?=...)")
_HEBREW_PREFIXES: Final = tuple(
    re.compile(each)
    for each in ("[והבלמשכ](?=...)", "ו?(?:כש|מש|ש)?מ?ה(?=..)", "(?:ו(?:כש|מש|ש)?|כש|מש|ש)[בלמכ]?(?=....)")
)
"""The article alone has short words behind it; of others the rest must be long enough to be likely a word."""


class _Plain(dict[int, str]):
    def __missing__(self, code: int) -> str:
        form = self[code] = _plain_letter(chr(code))
        return form


def _plain_letter(letter: str) -> str:
    if unicodedata.category(letter) == "Nd":
        return str(unicodedata.digit(letter))
    for table in (_LATIN, _CYRILLIC, _ARABIC, _OTHERS):
        if letter in table:
            return table[letter]
    if _IS_CYRILLIC.match(letter):
        return _DROPPED.sub("", letter)
    if named := _WITH.fullmatch(unicodedata.name(letter, "")):
        return named[1].lower()
    base = unicodedata.normalize("NFC", _DROPPED.sub("", unicodedata.normalize("NFD", letter)))
    return base if base == letter else "".join(map(_plain_letter, base))


_PLAIN: Final = _Plain()
_HAS_FORMS: Final = re.compile("[\u0080-\u200f\u202a-\u2fff\u3040-\u33ff\ua000-\U0010ffff]")
"""Characters that may have a plainer form: none of ASCII, Chinese and its punctuation has."""


def plain(folded: str) -> str:
    """Return a folded text without accents and the like, with digits of ASCII.

    >>> plain("muñoz łódź đà nẵng ёлка الإسكندرية"), plain("βόλος ١٢٣ が 한 й")
    ('munoz lodz da nang елка الاسكندريه', 'βολος 123 が 한 й')
    """
    return folded.translate(_PLAIN) if _HAS_FORMS.search(folded) else folded


def plain_forms(folded: str) -> tuple[str, ...]:
    """Return a folded text without accents, and as it is written out (ue for ü).

    >>> plain_forms("düsseldorf"), plain_forms("łódź")
    (('dusseldorf', 'duesseldorf'), ('lodz',))
    """
    if not _HAS_FORMS.search(folded):
        return (folded,)
    return _different((plain(folded), plain(folded.translate(_WRITTEN_OUT))))


@lru_cache(maxsize=100_000)
def spellings(word: str) -> tuple[str, ...]:
    """Return the spellings by which a word can be asked for, the plain one first.

    Of a folded word ä, ö, ü, å and others also as two letters; of Arabic what stands behind the article and the letters
    that are written with a word; of Hebrew what stands behind its prefixes; of Persian the parts between joiners.

    >>> spellings("düsseldorf"), spellings("והממשלה"), spellings("وبالمدرسة")
    (('dusseldorf', 'duesseldorf'), ('והממשלה', 'ממשלה', 'הממשלה'), ('وبالمدرسه', 'مدرسه'))
    """
    return (word,) if word.isascii() else _different((*asked_spellings(word), *_parts(word)))


@lru_cache(maxsize=10_000)
def asked_spellings(word: str) -> tuple[str, ...]:
    """Return the spellings that a query's word is looked for in, the plain one first.

    Only what a reader who wrote the word means as well, such as the word without its article.

    >>> asked_spellings("müller"), asked_spellings("الكتاب"), asked_spellings("בירושלים")
    (('muller', 'mueller'), ('الكتاب', 'كتاب'), ('בירושלים',))
    """
    if word.isascii():
        return (word,)
    whole = plain(word)
    forms = [whole, plain(word.translate(_WRITTEN_OUT))]
    article = _HEBREW_ARTICLE if _IS_HEBREW.match(whole) else None if _NOT_ARABIC.search(word) else _ARABIC_ARTICLE
    if article is not None and (match := article.match(whole)):
        forms.append(whole[match.end() :])
    return _different(forms)


def _parts(word: str) -> Iterator[str]:
    whole = plain(word)
    if _IS_HEBREW.match(whole):
        yield from (whole[match.end() :] for prefix in _HEBREW_PREFIXES if (match := prefix.match(whole)))
    elif _IS_ARABIC.match(whole):
        if "\u200c" in word:
            parts = list(map(plain, word.split("\u200c", _MOST_PARTS)))
            yield from ("".join(parts[:end]) for end in range(1, len(parts)))
            yield from (part for part in parts if len(part) > 1)
        elif not (_NOT_ARABIC.search(word) or _ARABIC_ARTICLE.match(whole)) and (match := _ARABIC_LETTER.match(whole)):
            yield whole[match.end() :]


def _different(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, words)))
