"""Dates of other calendars and scripts, rewritten for the date parser.

Thai years count from the Buddha's death, Japanese ones from an emperor's accession, Taiwan's from its republic; Arabic,
Persian and Indian digits are digits. What is rewritten is for reading a date only, never for showing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WRITTEN: Final = (
    "０１２３４５６７８９：／－．　〇○零−‐‑٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯๐๑๒๓๔๕๖๗๘๙",
    "0123456789:/-. 000---" + "0123456789" * 5,
)
_DIGITS: Final = str.maketrans(*_WRITTEN)
_FOREIGN_DIGIT = re.compile(f"[{_WRITTEN[0]}]")
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925}
_ERA = re.compile(r"(令和|平成|昭和)\s?(元|\d{1,2})\s?年")
_REPUBLIC = re.compile(r"(?<![\d./-])(1[01]\d)\s?([年./-])\s?(\d{1,2})\s?([月./-])\s?(\d{1,2})(?!\d)")
_VIETNAMESE = re.compile(r"(\d{1,2}) tháng (\d{1,2})(?:,| năm){0,2} ((?:19|20)\d\d)(?!\d)", re.IGNORECASE)
_BUDDHIST = re.compile(r"(?<!\d)25([3-9]\d)(?!\d)")
_MONTHS: Final = (
    "Jan มกราคม ม.ค. जनवरी", "Feb กุมภาพันธ์ ก.พ. फ़रवरी फरवरी", "Mar มีนาคม มี.ค. मार्च", "Apr เมษายน เม.ย. अप्रैल",
    "May พฤษภาคม พ.ค. मई", "Jun มิถุนายน มิ.ย. जून", "Jul กรกฎาคม ก.ค. जुलाई", "Aug สิงหาคม ส.ค. अगस्त",
    "Sep กันยายน ก.ย. सितंबर सितम्बर", "Oct ตุลาคม ต.ค. अक्टूबर अक्तूबर", "Nov พฤศจิกายน พ.ย. नवंबर नवम्बर",
    "Dec ธันวาคม ธ.ค. दिसंबर दिसम्बर",
)  # fmt: skip
"""Names with vowel signs, which are no letters to a regular expression."""
_ENGLISH: Final = {name: names.split()[0] for names in _MONTHS for name in names.split()[1:]}
_MONTH = re.compile("|".join(sorted(map(re.escape, _ENGLISH), key=len, reverse=True)))
_WITH_VOWELS = re.compile("[\u0900-\u097f\u0e01-\u0e5b]")


@lru_cache(maxsize=32)
def westernize(text: str, *, republic: bool = False, buddhist: bool = False) -> str:
    """Rewrite the dates of a text in Western digits, years and names of months.

    Args:
        text: a line.
        republic: a bare year of three digits counts from 1911, as in Taiwan.
        buddhist: years of this century are written 2543 to 2599, as in Thailand.

    Returns:
        The text with its dates rewritten; all else as it was, but for digits and full-width characters.

    Cost: O(characters), once for the last texts: each way of reading a line asks for it again.

    >>> westernize("令和7年6月30日")
    '2025年6月30日'
    """
    is_ascii = text.isascii()
    if not is_ascii:
        if _FOREIGN_DIGIT.search(text):
            text = text.translate(_DIGITS)
        if "和" in text or "平成" in text:
            text = _ERA.sub(_emperor, text)
    if republic:
        text = _REPUBLIC.sub(lambda match: f"{int(match[1]) + 1911}{match[0][match.end(1) - match.start() :]}", text)
    if buddhist:
        text = _BUDDHIST.sub(lambda match: str(2500 + int(match[1]) - 543), text)
    if not is_ascii:
        if "tháng" in text:
            text = _VIETNAMESE.sub(r"\1.\2.\3", text)
        if _WITH_VOWELS.search(text):
            text = _MONTH.sub(lambda match: f" {_ENGLISH[match[0]]} ", text)
    return text


def _emperor(match: re.Match[str]) -> str:
    year = 1 if match[2] == "元" else int(match[2])
    return f"{_ERAS[match[1]] + year}年"
