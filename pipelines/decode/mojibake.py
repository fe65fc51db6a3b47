"""Whether a text was read in a wrong character set on its way here (文字化け, "mojibake").

Servers and editorial systems convert texts wrongly before anyone fetches them, so right bytes may hold a wrong text. A
wrong reading leaves what no language has: replacement characters, signs of no use, Chinese of nothing but rare signs,
small Cyrillic letters before capitals, accented letters in long runs or followed by the wrong half of a UTF-8 sequence.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .charset import COMMON_CYRILLIC, COMMON_GREEK, COMMON_HAN, COMMON_HANGUL, COMMON_KANJI, is_misread

DOUBTFUL: Final = 0.3
"""From this suspicion on a text is doubtful: real texts stay far below it, wrong readings far above."""

_SAMPLE_CHARS: Final = 20_000
_BEYOND: Final = 0x10000
(
    _NEUTRAL,
    _HAN,
    _COMMON_HAN,
    _COMMON_KANJI,
    _KANA,
    _HANGUL,
    _COMMON_HANGUL,
    _CYRILLIC,
    _COMMON_CYRILLIC,
    _GREEK,
    _COMMON_GREEK,
    _LATIN,
    _OTHER,
    _WRONG,
) = range(14)
_FEW: Final = 8
"""So many signs weigh half of what many would."""
_LETTERS_PER_SIGN: Final = 400
_WRONG_WEIGHT: Final = 2.5
_LEAST_SIGNS: Final = 12
_PLAIN: Final = 4
_GREEK_LETTERS: Final = 0.25
_BROKEN_SHARE: Final = 0.12
_SWAPPED_SHARE: Final = 0.003
# What the commonest signs of a script are of all of it in wrong readings, at most, and in right ones, at least.
_HAN_SHARES: Final = (0.14, 0.3)
_NAME_SHARES: Final = (0.06, 0.13)
_STANDARD_SHARES: Final = (0.8, 0.93)
"""Names and terms are made of rarer signs, but of such as are in use."""
_KANJI_SHARES: Final = (0.14, 0.28)
_HANGUL_SHARES: Final = (0.15, 0.35)
_CYRILLIC_SHARES: Final = (0.45, 0.6)
_GREEK_SHARES: Final = (0.45, 0.6)
_JAPANESE: Final = 0.2
"""Kana among Han from which a text is Japanese."""

_HIGH: Final = "\\x80-\\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
# A UTF-8 sequence in the set of Western Europe; runs in which no language writes accents.
_AS_LATIN = re.compile(f"[Â-Û][{_HIGH}]|[à-ï][{_HIGH}]{{2}}|[ð-ô][{_HIGH}]{{3}}|ï¿½")
_LATIN_RUN = re.compile("[\\xa1-\u024f]{4,}")
# What no word of an alphabet holds: a sign inside it, a capital behind a small letter, letters of two alphabets.
# A set of signs stands first, because a search skips to those; what each choice demands of it comes behind.
_BROKEN_WORD = re.compile(
    "[\xa1-\u052f‚„†‡‰‹›•™€\ufb01\ufb02](?:"
    "(?<=[\xc0-\u052f])[¡-©«-±´-¶¸»-¿‚-…†‡ˆ‰‹‘“•™€\xa0\xad\ufffd](?=\\w)|(?<=[¡-©¬-¶¸¹¼-¿†‡ˆ‰•™€])(?=[\xc0-\u052f])|"
    "(?<=[a-z][¡-¿×÷‚„†‡ˆ‰‹›™\ufb01\ufb02])(?=[a-z])|(?<=[a-z][À-ÖØ-ÞŒŠŽŸ]))"
)
_AMONG_LETTERS = re.compile("[\xa1-\u024f](?:(?=[a-z])|(?<=[a-z].))")
_SWAPPED = re.compile("[ß-öø-ÿά-ώа-џґў][À-ÖØ-ÞΆ-ΏΑ-ΫЀ-ЯҐЎ]")
_CAPITALISED = re.compile("[À-ÖØ-ÞΆ-ΏΑ-ΫЀ-ЯҐ][ß-öø-ÿά-ώа-џґ]")
_TWO_ALPHABETS = re.compile("[A-Za-zÀ-ɏ][Ͱ-ԯ]|[Ͱ-ԯ][A-Za-zÀ-ɏ]|[Ͱ-Ͽ][Ѐ-ԯ]|[Ѐ-ԯ][Ͱ-Ͽ]")
_HAN_IN_WORD = re.compile("(?<=[a-z])[\u3400-\u9fff](?=[a-z])")
_FAMOUS = re.compile("锟斤拷|锟斤|斤拷|烫烫烫|屯屯屯|锘锘|锘挎")


def _table() -> NDArray[np.uint8]:
    """The class of every code point of the basic plane."""
    table = np.full(_BEYOND + 1, _OTHER, np.uint8)
    for first, last, kind in (
        (0x0000, 0x00C0, _NEUTRAL), (0x02B0, 0x0370, _NEUTRAL), (0x2000, 0x2800, _NEUTRAL), (0x3000, 0x3040, _NEUTRAL),
        (0xFE00, 0xFE70, _NEUTRAL), (0xFF00, 0xFF61, _NEUTRAL), (0xFFA0, 0xFFF0, _NEUTRAL), (0x0080, 0x00A0, _WRONG),
        (0xE000, 0xF900, _WRONG), (0xFF61, 0xFFA0, _WRONG), (0x2500, 0x25A0, _WRONG), (0xFFF0, 0x10000, _WRONG),
        (0x00C0, 0x0250, _LATIN), (0x1E00, 0x1F00, _LATIN), (0x0370, 0x0400, _GREEK),
        (0x0400, 0x0530, _CYRILLIC), (0x3041, 0x3100, _KANA), (0xAC00, 0xD7B0, _HANGUL), (0x3400, 0xA000, _HAN),
        (0xF900, 0xFB00, _HAN),
    ):  # fmt: skip
        table[first:last] = kind
    table[[ord(sign) for sign in "¤¦¨¬¯¶¸¹¼½¾³"]] = _LATIN
    for signs, kind in (
        (COMMON_HANGUL, _COMMON_HANGUL),
        (COMMON_KANJI, _COMMON_KANJI),
        (COMMON_HAN, _COMMON_HAN),
        (COMMON_CYRILLIC, _COMMON_CYRILLIC),
        (COMMON_GREEK, _COMMON_GREEK),
    ):
        table[[ord(sign) for sign in signs]] = kind
    table[_BEYOND] = _NEUTRAL
    return table


_TABLE: Final = _table()


def suspicion(text: str) -> float:
    """Return how much a text looks as if it had been read in a wrong character set.

    Args:
        text: of any language; a headline is enough if it holds a dozen signs outside ASCII.

    Returns:
        0 for a text of some language (and for ASCII alone), 1 for one that nobody can read.

    Cost: O(characters) of the first 20,000, some 10 ns each.

    >>> suspicion("河口大桥昨日完成最后一段桥面的浇筑，工程进入收尾阶段。")
    0.0
    >>> suspicion("DÃ©putÃ©s et sÃ©nateurs dÃ©noncent un arrÃªtÃ© prÃ©fectoral") > DOUBTFUL
    True
    """
    text = text[:_SAMPLE_CHARS]
    if text.isascii():
        return 0.0
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    counts: list[int] = np.bincount(_TABLE[np.minimum(codes, _BEYOND)], minlength=_WRONG + 1).tolist()
    signs = sum(counts[_HAN:])
    plain = len(text) - signs
    bad = _WRONG_WEIGHT * counts[_WRONG] + _east_asian(counts, text)
    cyrillic, greek = counts[_CYRILLIC] + counts[_COMMON_CYRILLIC], counts[_GREEK] + counts[_COMMON_GREEK]
    if cyrillic >= _LEAST_SIGNS:
        bad += cyrillic * _wrongness(counts[_COMMON_CYRILLIC] / cyrillic, _CYRILLIC_SHARES)
    if greek >= _LEAST_SIGNS and greek > _GREEK_LETTERS * plain:  # fewer are signs of formulas
        bad += greek * _wrongness(counts[_COMMON_GREEK] / greek, _GREEK_SHARES)
    if counts[_LATIN] + cyrillic + greek or plain > _PLAIN * signs:
        bad += _broken_words(text, counts[_LATIN], cyrillic + greek)
    return min(1.0, bad / (signs + _FEW + plain / _LETTERS_PER_SIGN))


def _broken_words(text: str, latin: int, others: int) -> float:
    """How many of the letters outside ASCII stand as no alphabet lets them."""
    bad, letters = 0.0, latin + others
    swapped = len(_SWAPPED.findall(text))
    if swapped >= 2 and swapped > _SWAPPED_SHARE * letters and swapped > 0.5 * len(_CAPITALISED.findall(text)):
        bad += letters
    if is_misread(Counter(_AMONG_LETTERS.findall(text))):
        bad += letters
    for pattern in (_AS_LATIN, _LATIN_RUN):
        bad += sum(map(len, pattern.findall(text)))
    broken = len(_BROKEN_WORD.findall(text)) + (len(_TWO_ALPHABETS.findall(text)) if others else 0)
    return bad + (2 * broken if broken > _BROKEN_SHARE * letters else 0)


def _east_asian(counts: list[int], text: str) -> float:
    """How many of the Chinese, Japanese and Korean signs are none that a text consists of."""
    common, kanji, kana = counts[_COMMON_HAN], counts[_COMMON_KANJI], counts[_KANA]
    han = counts[_HAN] + common + kanji
    bad = 0.0
    if han:
        bad += sum(map(len, _FAMOUS.findall(text))) + 2 * len(_HAN_IN_WORD.findall(text))
    if han >= _LEAST_SIGNS:
        if kana >= _JAPANESE * han:
            bad += (han + kana) * _wrongness((common + kanji) / han, _KANJI_SHARES)
        else:
            rare = _wrongness(common / han, _HAN_SHARES)
            if rare:
                standard = 1.0 - _wrongness(_standard_share(text), _STANDARD_SHARES)
                rare = max(rare * (1.0 - standard), _wrongness(common / han, _NAME_SHARES))
            bad += han * rare
    hangul = counts[_HANGUL] + counts[_COMMON_HANGUL]
    if hangul >= _LEAST_SIGNS:
        bad += hangul * _wrongness(counts[_COMMON_HANGUL] / hangul, _HANGUL_SHARES)
    return bad


def _standard_share(text: str) -> float:
    """How many of the Chinese signs belong to the one standard list of current signs that has most of them."""
    han = [sign for sign in text if "\u3400" <= sign <= "\u9fff"]
    return max(sum(map(signs.__contains__, han)) for signs in _standards()) / max(1, len(han))


@cache
def _standards() -> tuple[frozenset[str], ...]:
    """The signs in use in China, Taiwan and Japan: the first level of each standard."""
    levels = (("gb2312", 0xB0, 0xD8, 0xA1), ("big5", 0xA4, 0xC7, 0x40), ("euc_jp", 0xB0, 0xD0, 0xA1))
    return tuple(
        frozenset(
            "".join(
                bytes((row, cell)).decode(name, "ignore") for row in range(first, last) for cell in range(low, 0xFF)
            )
        )
        for name, first, last, low in levels
    )


def _wrongness(share: float, shares: tuple[float, float]) -> float:
    """Where a share lies between that of a right reading (0) and that of a wrong one (1)."""
    wrong, right = shares
    return min(1.0, max(0.0, (right - share) / (right - wrong)))
