"""Character sets of the web before UTF-8: names, decoding, detection.

Neither declarations nor byte statistics are reliable: a declared set and the one detected (chardetng, the detector of
Firefox) are compared by how much their text looks like mojibake, and by how well it fits a language. Where the bytes
leave it open, the declaration decides. The costs below were chosen by hand.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final

import chardetng_py
import pycld2

from .mojibake import COMMON_HAN, COMMON_HANGUL, COMMON_KANJI, DOUBTFUL, count_belonging, suspicion
from .text import clean, words

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
"""A text with more errors stays as it is: each costs a call."""
_HANDLER: Final = "as browsers"
_EXTENDED: Final = frozenset({"gb18030", "euc_jp", "iso2022_jp_2"})
# Big5 as in Taiwan, where Python knows only that of Hong Kong: marks that stand between the parts of foreign names.
_TAIWAN: Final = str.maketrans("•∼､‾", "‧～﹑¯")
# GB 18030 as of 2022, where Python knows that of 2000, and the blank of GBK, which no table has.
_CHINA: Final = dict(
    zip(
        map(ord, "\ue5e5\ue7c7\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796"),
        "\u3000\u1e3f\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19",
        strict=True,
    )
) | dict(zip(map(ord, "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864"), "龴龵龶龷龸龹龺龻", strict=True))
_BEFORE_2022: Final = {ord(new): old for old, new in _CHINA.items() if new != "\u3000"}
_OLDER: Final = {
    "gbk": _BEFORE_2022,
    "gb18030": _BEFORE_2022,
    "big5hkscs": {new: old for old, new in _TAIWAN.items()},
}
"""Characters for which Python's codecs know another than browsers do."""
_NEWER: Final[Mapping[str, tuple[re.Pattern[str], Mapping[int, Any]]]] = {
    codec: (re.compile(f"[{''.join(map(chr, table))}]"), table)
    for codec, table in (("gb18030", _CHINA), ("big5hkscs", _TAIWAN))
}
"""The reverse, from codecs to browsers, with a pattern of those characters."""
_VENDORS: Final = frozenset({0x2D, *range(0x79, 0x7D)})
"""Rows of the Japanese table that vendors have filled: circled numbers, units, rare characters in names."""

_LEAST_BYTES: Final = 8
_LEAST_ZEROS: Final = 0.05
_LEAST_SHARE: Final = 0.3
_USUAL = re.compile("[\\n\\r\\t -~\\u3001-\\u30ff\\uff01-\\uff5e]")
_COMMON: Final = COMMON_HAN | COMMON_KANJI | COMMON_HANGUL

_DEFAULT: Final = "cp1252"
_ALONE = re.compile(rb"(?<![A-Za-z\x80-\xff])[\x80-\xff](?![\x40-\xff])")
"""A mark or a currency sign, which misleads the detector."""
_WIDE: Final = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_LATIN: Final = (
    "cp1252",
    "cp1250",
    "iso8859-2",
    "cp1254",
    "cp1257",
    "iso8859-13",
    "cp1258",
    "iso8859-15",
    "iso8859-16",
    "iso8859-4",
    "iso8859-3",
    "mac_roman",
)
_CYRILLIC: Final = ("cp1251", "koi8-u", "iso8859-5", "mac_cyrillic", "cp866")

_RARE: Final = {"mac_roman": 3.0, "mac_cyrillic": 3.0, "iso8859-15": 2.0}
"""Sets that hardly any page is in without declaring it."""

_CLEAR: Final = 0.2
"""A reading less suspicious by this much is right, whatever else counts."""
_UNSAID: Final = (0.05, 2.0)
"""Cost of an undeclared set, and the addition for the first byte outside ASCII."""
_FEW: Final = 4
"""Bytes outside ASCII at which the fit to a language counts half."""
_LEAST_FIT: Final = 1e6
"""Fit of some ten letters, too few to decide."""
_STRANGE: Final = 0.2
"""Cost of letters of many languages."""
_MOST_ODD: Final = 0.2
"""Highest cost of letters in places that no alphabet allows."""
# A reading for want of a better one is taken when it fits so much better, or as well and with no odd letter.
_RESCUED: Final = 0.1
_FITTING: Final = ((0.06, 1.1), (0.01, 1.0))
_LETTERS = re.compile("[\\xc0-\xd6\xd8-\xf6\xf8-\u024f]")
_OTHER_LETTERS = re.compile("[\u0370-\u0e7f]")
_RARE_HAN: Final = 0.5
"""Cost of Chinese characters and Korean syllables of which none is common."""
_EAST_ASIAN = re.compile("[\u3400-\u9fff\uac00-\ud7a3]")
_ODD = re.compile(
    "[¦¨¬¯²³¸¹‚†‡‰ˆ](?=[a-zà-öø-ÿа-џ])|[ß-öø-ÿа-џ][A-ZÀ-ÖØ-ÞЀ-Я]|¤|[A-Za-z][\u0370-\u0e7f]|[\u0370-\u0e7f][A-Za-z]"
)
_COMMAS: Final = str.maketrans("șțȘȚ", "şţŞŢ")  # the detector of languages knows Romanian by the older letters
_HIGH: Final = bytes(range(0x80, 0x100))
_FIT_CHARS: Final = 2000


def find_codec(name: str) -> str:
    """Return the Python codec of a declared name, empty for none.

    Typing errors are forgiven. The codec is that of the widest superset; a set of unknown byte order has none.

    >>> find_codec("gb_2312-80;"), find_codec("UTF8mb4"), find_codec("rot13")
    ('gb18030', 'utf-8', '')
    """
    name = name.strip().lower().strip("\"';, ").removeprefix("x-").removeprefix("x-")
    try:
        codec = codecs.lookup(name).name
        b"    ".decode(codec)
    except (LookupError, ValueError, TypeError):  # the last two: names with NUL, codecs that are no character sets
        squeezed = re.sub(r"[^a-z0-9]", "", name)
        return next((meant for start, meant in _FAMILIES if squeezed.startswith(start)), "")
    if codec.startswith("iso2022"):
        return ""
    return _SUPERSET.get(codec, "" if codec in _REFUSED else codec)


def read(data: bytes, codec: str) -> str:
    r"""Decode bytes as browsers do, whose tables are larger than Python's.

    Characters outside of the set become U+FFFD.
    Cost: O(bytes).

    >>> read(b"\x80 5", "gb18030"), read(b"\xad\xa1", "euc_jp")
    ('€ 5', '①')
    """
    text = data.decode(codec, "replace")
    if codec in _EXTENDED and 0 < text.count(_REPLACED) < _MOST_ERRORS:
        text = data.decode(codec, _HANDLER)
    if codec in _NEWER and _NEWER[codec][0].search(text):  # few texts have any, and to look for them costs a tenth
        return text.translate(_NEWER[codec][1])
    return unicodedata.normalize("NFC", text) if codec == "cp1258" else text  # tones are letters of their own there


def _extended(error: UnicodeError) -> tuple[str, int]:
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
    first = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    return bytes((first, cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)))


codecs.register_error(_HANDLER, _extended)


def write(text: str, codec: str) -> bytes:
    r"""Encode a text as browsers do in URLs' queries: the inverse of `read`.

    `codec` is "gbk" for pages that are not declared to be in GB 18030. Characters outside of the set become references.

    Cost: O(characters).
    Source: WHATWG Encoding Standard, the encoders; "percent-encode after encoding" of the URL Standard.
    Differs: duplicates in the table of Shift_JIS are written as Python does.

    >>> write("€ 5", "gbk"), write("①☃", "euc_jp")
    (b'\x80 5', b'\xad\xa1&#9731;')
    """
    text = text.translate(_OLDER.get(codec, {}))
    if codec in _NARROWER:
        return b"".join(map(_NARROWER[codec], text))
    return text.encode(codec, "xmlcharrefreplace")


def _write_gbk(character: str) -> bytes:
    """Write a character of GBK, in which browsers answer pages in GB 2312."""
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
    return character.encode("ascii", "xmlcharrefreplace")


@cache
def _vendors() -> dict[str, bytes]:
    pairs = [bytes((row | 0x80, cell)) for row in sorted(_VENDORS, reverse=True) for cell in range(0xA1, 0xFF)]
    return {read(pair, "euc_jp"): pair for pair in pairs}


_NARROWER: Final = {"gbk": _write_gbk, "big5hkscs": _write_big5, "euc_jp": _write_euc_jp}
"""Sets of which browsers write fewer characters than they read."""


def detect_utf_16(head: bytes, content_type: str = "") -> str:
    """Return "utf-16-le" or "utf-16-be" for UTF-16 without a mark, else an empty text.

    Zeros tell, or, if the header names UTF-16 and there are few, the order with more usual characters.
    """
    even, odd = head[::2].count(0), head[1::2].count(0)
    zeros = max(even, odd) > max(_LEAST_ZEROS * len(head), 5 * min(even, odd))
    if len(head) < _LEAST_BYTES or not (zeros or "utf-16" in content_type.lower()):
        return ""
    share, order = max((_usual_share(head, order), order) for order in ("utf-16-be", "utf-16-le"))
    return order if share >= _LEAST_SHARE else ""


def _usual_share(head: bytes, codec: str) -> float:
    text = head.decode(codec, "replace")
    return (len(_USUAL.findall(text)) + sum(map(_COMMON.__contains__, text))) / max(1, len(text))


def choose(sample: bytes, declared: tuple[str, ...]) -> str:
    r"""Return the best codec for bytes that are not UTF-8.

    Its reading looks least like mojibake and most like a language. In doubt it is the first of the `declared` ones (the
    more trusted come first), then that of Western Europe.

    Cost: O(bytes of the sample) for each set in question; for all Latin ones where none is declared that reads well.

    >>> choose(b"\xa0The \xa35 note", ("cp1252",)), choose(b"\xa1\xb0The note\xa1\xb1", ("gb18030",))
    ('cp1252', 'gb18030')
    """
    named = tuple(name for name in declared if name != "utf-8")
    detected = _detect(_ALONE.sub(b"", sample))
    readings = _Readings(sample, named, detected)
    best = readings.best()
    if readings[best].doubt < DOUBTFUL:
        if best in named and best != _DEFAULT:
            return best
        readings.add(_LATIN if best in _LATIN else _CYRILLIC if best in _CYRILLIC else ())
        return readings.best()
    votes = Counter[str]()  # a broken character rules its own set out for the detector: it is asked about each line
    for line in sample.splitlines():
        votes[_detect(line)] += len(line)
    readings.add((*(name for name, _ in votes.most_common(3)), *_LATIN, *_CYRILLIC))
    best_of_all = readings.best()
    return best_of_all if best_of_all in votes or readings[best_of_all].is_rescue(readings[best]) else best


class _Reading:
    def __init__(self, text: str) -> None:
        self.text = text
        self.doubt = suspicion(text)

    @cached_property
    def fit(self) -> float:
        """Likeness to its language, comparable among readings of the same bytes."""
        _, size, languages = pycld2.detect(clean(self.text, _FIT_CHARS).translate(_COMMAS), bestEffort=True)
        return float(sum(percent * score * size for _, _, percent, score in languages))

    @cached_property
    def strangeness(self) -> float:
        letters = Counter(_LETTERS.findall(self.text))
        latin, others = letters.total(), len(_OTHER_LETTERS.findall(self.text))
        strange = 1.0 - count_belonging(letters) / latin if latin else 0.0
        odd = min(_MOST_ODD, len(_ODD.findall(self.text)) / max(1, latin + others))
        han = _EAST_ASIAN.findall(self.text)
        rare = 1.0 - sum(map(_COMMON.__contains__, han)) / len(han) if han else 0.0
        return _STRANGE * strange + odd + _RARE_HAN * rare

    def is_rescue(self, other: _Reading) -> bool:
        fitting = self.fit / (other.fit or 1.0)
        return self.doubt < _RESCUED and any(self.strangeness < most and fitting >= least for most, least in _FITTING)


class _Readings(dict[str, _Reading]):
    def __init__(self, sample: bytes, named: Sequence[str], detected: str) -> None:
        super().__init__()
        self._sample = sample
        self._high = max(1, len(sample) - len(sample.translate(None, _HIGH)))
        self._ranks = (
            _RARE | {_DEFAULT: 0.75} | ({detected: 0.3} if detected in _WIDE else {}) | dict.fromkeys(named, 0.0)
        )
        if _DEFAULT in named:
            self._ranks[_DEFAULT] = 0.5
        self.add((*named, _DEFAULT, detected))

    def add(self, names: Iterable[str]) -> None:
        """Read the bytes in these sets too; the first of equal texts counts."""
        texts = {reading.text for reading in self.values()}
        for name in dict.fromkeys(names):
            text = read(self._sample, name)
            if text not in texts:
                texts.add(text)
                self[name] = _Reading(text)

    def best(self) -> str:
        unsaid = _UNSAID[0] + _UNSAID[1] / self._high
        most_doubt = min(reading.doubt for reading in self.values()) + _CLEAR + unsaid
        left = {name: reading for name, reading in self.items() if reading.doubt < most_doubt}
        if len(left) == 1:
            return next(iter(left))
        best_fit = max(reading.fit for reading in left.values())
        costs = {
            name: reading.doubt
            + reading.strangeness
            + (best_fit - reading.fit) / (best_fit + _LEAST_FIT) * self._high / (self._high + _FEW)
            + unsaid * self._ranks.get(name, 1.0)
            for name, reading in left.items()
        }
        return min(costs, key=costs.__getitem__)


def _detect(sample: bytes) -> str:
    detector = chardetng_py.EncodingDetector()
    detector.feed(sample, last=False)  # the sample may end within a character
    return find_codec(detector.guess(tld=None, allow_utf8=False)) or _DEFAULT  # it names sets that are not read, too
