"""Character sets of the web before UTF-8: names, decoding, detection.

Declarations lie and byte statistics waver, so neither decides alone: a declared set and the one detected (chardetng,
the detector of Firefox) are compared by how much the text they give looks like mojibake.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final

import chardetng_py

from .mojibake import COMMON_HAN, COMMON_HANGUL, DOUBTFUL, suspicion
from .text import words

# A declared name stands for its widest superset, as in browsers.
_SUPERSET: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "cp950": "big5hkscs",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-13": "cp1257",
    "iso8859-8": "cp1255",
    "koi8-r": "koi8-u",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "euc_jis_2004": "euc_jp",
    "tis-620": "cp874",
    "iso8859-11": "cp874",
    "utf-8-sig": "utf-8",
    "cesu-8": "utf-8",
}
# What a page cannot be declared to be in: the byte order is not known, or it is no character set of pages at all.
_REFUSED: Final = words(
    "utf-7 utf-16 utf-32 utf-16-le utf-16-be utf-32-le utf-32-be hz idna punycode unicode_escape raw_unicode_escape "
    "unicode-escape raw-unicode-escape undefined mbcs oem"
)
# Names that only browsers know, and what typing errors leave of the common ones.
_FAMILIES: Final = (
    ("gb", "gb18030"),
    ("cn", "gb18030"),
    ("big5", "big5hkscs"),
    ("utf", "utf-8"),
    ("unicode", "utf-8"),
    ("sjis", "cp932"),
    ("shiftjis", "cp932"),
    ("windows31j", "cp932"),
    ("eucjp", "euc_jp"),
    ("euckr", "cp949"),
    ("ksc", "cp949"),
    ("windows949", "cp949"),
    ("windows874", "cp874"),
    ("koi8", "koi8-u"),
    ("win1251", "cp1251"),
)


_REPLACED: Final = "\ufffd"
_MOST_ERRORS: Final = 5_000
"""A text with more errors is left as it is: each costs a call."""
_HANDLER: Final = "as browsers"
_EXTENDED: Final = frozenset({"gb18030", "euc_jp", "iso2022_jp_2"})
# Big5 as in Taiwan, where Python knows only that of Hong Kong: marks that stand between the parts of foreign names.
_TAIWAN: Final = str.maketrans("•∼､‾", "‧～﹑¯")
_HONG_KONG: Final = str.maketrans("‧～﹑¯", "•∼､‾")
_VENDORS: Final = frozenset({0x2D, *range(0x79, 0x7D)})
"""Rows of the Japanese table that vendors have filled: circled numbers, units, rare characters in names."""

_LEAST_BYTES: Final = 8
_LEAST_ZEROS: Final = 0.05
_LEAST_SHARE: Final = 0.3
_USUAL = re.compile("[\\n\\r\\t -~\\u3001-\\u30ff\\uff01-\\uff5e]")
_COMMON: Final = COMMON_HAN | COMMON_HANGUL

_DEFAULT: Final = "cp1252"
"""Declared by servers that know nothing."""
_ALONE = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff](?![\x40-\xff])")
"""A mark or a currency, which says nothing of a language but misleads the detector."""
_FEW: Final = 4
"""Different bytes outside ASCII too few for a detector."""
_ASCII: Final = bytes(range(0x80))
_WIDE: Final = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_LATIN: Final = ("cp1250", "iso8859-2", "cp1254", "cp1257", "cp1258")


def find_codec(name: str) -> str:
    """Return the Python codec that a declared name means.

    Args:
        name: as declared; typos of the common families are read as meant.

    Returns:
        Name of the widest superset, empty for what is no character set or cannot be one of an undeclared byte order.

    >>> find_codec("gb_2312-80;"), find_codec("UTF8mb4"), find_codec("rot13")
    ('gb18030', 'utf-8', '')
    """
    name = name.strip().lower().strip("\"';, ").removeprefix("x-").removeprefix("x-")
    try:
        found = codecs.lookup(name).name
        b"    ".decode(found)
    except (LookupError, ValueError, TypeError):  # the last two: names with NUL, codecs that are no character sets
        squeezed = re.sub(r"[^a-z0-9]", "", name)
        return next((meant for start, meant in _FAMILIES if squeezed.startswith(start)), "")
    if found.startswith("iso2022"):
        return ""
    return _SUPERSET.get(found, "" if found in _REFUSED else found)


def read(data: bytes, codec: str) -> str:
    r"""Decode bytes as browsers do, who know more than Python's codecs.

    Args:
        data: any bytes.
        codec: a Python codec.

    Returns:
        The text; what the set does not hold is U+FFFD.

    Cost: O(bytes).

    >>> read(b"\x80 5", "gb18030"), read(b"\xad\xa1", "euc_jp")
    ('€ 5', '①')
    """
    text = data.decode(codec, "replace")
    if codec == "big5hkscs":
        text = text.translate(_TAIWAN)
    elif codec == "cp1258":  # tones are letters of their own there
        text = unicodedata.normalize("NFC", text)
    if codec in _EXTENDED and 0 < text.count(_REPLACED) < _MOST_ERRORS:
        text = data.decode(codec, _HANDLER)
    return text


def _extended(error: UnicodeError) -> tuple[str, int]:
    """Decode characters that browsers know and a codec does not."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if error.encoding == "gb18030":
        return ("€", error.start + 1) if pair[:1] == b"\x80" else (_REPLACED, error.end)
    row, cell = (byte & 0x7F for byte in pair) if len(pair) == 2 else (0, 0)
    if row in _VENDORS and 0x21 <= cell <= 0x7E:
        return _shifted(row, cell).decode("cp932", "replace"), error.start + 2
    return _REPLACED, error.end


def _shifted(row: int, cell: int) -> bytes:
    """Write a place of the Japanese table as Shift_JIS does."""
    first = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    return bytes((first, cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)))


codecs.register_error(_HANDLER, _extended)


def write(text: str, codec: str) -> bytes:
    r"""Encode a text as browsers do in URLs' queries: the inverse of `read`.

    Args:
        text: any.
        codec: a Python codec of pages; "gbk" for pages that are not declared to be in GB 18030.

    Returns:
        The bytes; what the set does not hold is a character reference.

    Cost: O(characters).
    Source: WHATWG Encoding Standard, the encoders; "percent-encode after encoding" of the URL Standard.
    Differs: duplicates in the table of Shift_JIS are written as Python does.

    >>> write("€ 5", "gbk"), write("①☃", "euc_jp")
    (b'\x80 5', b'\xad\xa1&#9731;')
    """
    if codec == "big5hkscs":
        text = text.translate(_HONG_KONG)
    if codec in _NARROWER:
        return b"".join(map(_NARROWER[codec], text))
    return text.encode(codec, "xmlcharrefreplace")


def _write_gbk(character: str) -> bytes:
    """Write a character of GBK, which is what pages in GB 2312 are sent back in."""
    if character == "€":
        return b"\x80"
    written = character.encode("gb18030", "xmlcharrefreplace")
    return written if len(written) < 4 else _refer(character)


def _write_big5(character: str) -> bytes:
    """Write a character of Big5 without the rows that only Hong Kong knows."""
    written = character.encode("big5hkscs", "xmlcharrefreplace")
    return written if written.isascii() or written[0] >= 0xA1 else _refer(character)


def _write_euc_jp(character: str) -> bytes:
    """Write a character of the first Japanese table, with the rows of vendors."""
    written = _vendors().get(character) or character.encode("euc_jp", "xmlcharrefreplace")
    return written if written[0] != 0x8F else _refer(character)


def _refer(character: str) -> bytes:
    """Write a character as a reference."""
    return character.encode("ascii", "xmlcharrefreplace")


@cache
def _vendors() -> dict[str, bytes]:
    """Return the characters of the vendors' rows as EUC-JP writes them."""
    pairs = [bytes((row | 0x80, cell)) for row in sorted(_VENDORS, reverse=True) for cell in range(0xA1, 0xFF)]
    return {read(pair, "euc_jp"): pair for pair in pairs}


_NARROWER: Final = {"gbk": _write_gbk, "big5hkscs": _write_big5, "euc_jp": _write_euc_jp}
"""Sets of which browsers write fewer characters than they read."""


def detect_utf_16(head: bytes, content_type: str = "") -> str:
    """Return the byte order of UTF-16 without a mark by its zeros, or empty.

    Where the header names UTF-16 and there are few zeros, as in a text without markup, the order counts in which the
    text reads like one.

    Args:
        head: the first bytes of a page, without byte order mark.
        content_type: the value of the HTTP header.

    Returns:
        "utf-16-le", "utf-16-be" or an empty string.

    Cost: O(bytes).
    """
    even, odd = head[::2].count(0), head[1::2].count(0)
    zeros = max(even, odd) > max(_LEAST_ZEROS * len(head), 5 * min(even, odd))
    if len(head) < _LEAST_BYTES or not (zeros or "utf-16" in content_type.lower()):
        return ""
    share, order = max((_usual_share(head, order), order) for order in ("utf-16-be", "utf-16-le"))
    return order if share >= _LEAST_SHARE else ""


def _usual_share(head: bytes, codec: str) -> float:
    """Return the share of usual characters in a reading."""
    text = head.decode(codec, "replace")
    return (len(_USUAL.findall(text)) + sum(map(_COMMON.__contains__, text))) / max(1, len(text))


def choose(sample: bytes, declared: tuple[str, ...]) -> str:
    """Return the codec in which bytes, which are not UTF-8, are best read.

    Args:
        sample: bytes, some of them outside ASCII.
        declared: codecs that the page and its server name, the more trusted first.

    Returns:
        The codec whose reading is least suspect of being mojibake. Among equals a declared one, unless it is the
        default of servers or the detector names a set of multi-byte characters.

    Cost: O(bytes of the sample); again for its lines and the Latin sets when every reading is doubtful.
    """
    letters = _ALONE.sub(b"", sample)
    detected = _detect(letters)
    few = len(set(letters.translate(None, _ASCII))) < _FEW
    trusted = [name for name in declared if name != "utf-8" and (few or name != _DEFAULT)]
    if few:
        names = (*trusted, _DEFAULT, detected)
    else:
        names = (detected, *trusted, _DEFAULT) if detected in _WIDE else (*trusted, detected, _DEFAULT)
    best, doubt = _least_doubtful(sample, names)
    if doubt < DOUBTFUL:
        return best
    votes = Counter[str]()  # a broken character rules its own set out for the detector: it is asked about each line
    for line in sample.splitlines():
        votes[_detect(line)] += len(line)
    return _least_doubtful(sample, (best, *(name for name, _ in votes.most_common(3)), *_LATIN))[0]


def _least_doubtful(sample: bytes, names: Iterable[str]) -> tuple[str, float]:
    """Return the codec whose text is least suspect of mojibake, and its suspicion."""
    doubts = {name: suspicion(read(sample, name)) for name in dict.fromkeys(names)}
    best = min(doubts, key=doubts.__getitem__)
    return best, doubts[best]


def _detect(sample: bytes) -> str:
    """Return the codec that the detector names."""
    detector = chardetng_py.EncodingDetector()
    detector.feed(sample, last=False)  # the sample may end within a character
    return find_codec(detector.guess(tld=None, allow_utf8=False)) or _DEFAULT  # it names sets that are not read, too
