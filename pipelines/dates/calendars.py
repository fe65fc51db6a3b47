"""Dates of other calendars and scripts, rewritten for the date parser.

What is rewritten is for reading a date only, never for showing.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from ..word_lists import WordLists
from .names import find_month, fold
from .timezones import Habits

_LISTS: Final = WordLists(Path(__file__).with_name("words.txt"))
_WRITTEN: Final = dict(zip("：／－．　〇○零−‐‑", ":/-. 000---", strict=True))
_DIGITS: Final = _WRITTEN | {
    chr(code): str(unicodedata.decimal(chr(code)))
    for code in range(0x80, 0x10000)
    if unicodedata.decimal(chr(code), None) is not None
}
_DIRECTIONS: Final = dict.fromkeys(map(chr, (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))), "")
_TO_WESTERN: Final = str.maketrans(_DIGITS | _DIRECTIONS)
_FOREIGN_DIGIT = re.compile(f"[{''.join(_DIGITS | _DIRECTIONS)}]")
_HAN: Final = {char: value for value, char in enumerate("一二三四五六七八九", 1)} | {"0": 0, "元": 1}

# East Asia
_ERAS: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "R": 2018, "H": 1988, "S": 1925}
_ERA = re.compile(
    r"(令和|平成|昭和|[RHS](?<![A-Za-z\d].))\s?(元|\d{1,2}|[一二三四五六七八九十]{1,3})(?:\s?年|"
    r"(?=\s?[./]\s?\d{1,2}\s?[./]\s?\d|\s?[()（）]))"
)
_ROC = re.compile(r"民[國国]\s?(\d{1,3}|[元一二三四五六七八九十百0]{1,6})(?:\s?年|(?=\s?[(（./-]\s?\d))")
_REPUBLIC = re.compile(r"(?<![\d./-])(1[01]\d)\s?([年./-])\s?(\d{1,2})\s?([月./-])\s?(\d{1,2})(?!\d)")
_LUNAR_WORD: Final = "[农農夏阴陰旧舊][历曆暦]|음력"
_LUNAR = re.compile(
    rf"(?:{_LUNAR_WORD})[:：]?\s{{0,2}}"
    r"(?:[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥]|\d{4}(?=\s?[年년])|[一二三四五六七八九0]{4}(?=年))?"
    r"[(（]?[鼠牛虎兔龙龍蛇马馬羊猴鸡雞狗猪豬]?[)）]?\s?[年년]?\s?"
    r"(?:[闰閏윤]?\s?(?:\d{1,2}|[正冬腊臘一二三四五六七八九十]{1,3})\s?[月월./]\s?"
    r"(?:[初廿卅]?[一二三四五六七八九十]{1,3}|\d{1,2}(?!\d))?\s?[日일]?)?"
    r"|[(（]음\s?\d{1,2}[./]\s?\d{1,2}[)）]"
)
_LUNAR_VIETNAMESE = re.compile(
    r"(?:tức\s)?(?:ngày\s)?\d{1,2}(?:[/-]| tháng )(?:\d{1,2}|[^\W\d_]{2,5})"
    r"(?:[/-]\d{4}| năm [^\W\d_]{2,6} [^\W\d_]{2,4})?\s{1,2}(?:theo )?âm lịch",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"((?:19|20)\d\d)(?<!\d{5})\s?[年년]?\s?(?:[(（\[［〔【]\s?([^()（）\[\]［］〔〕【】]{0,16}?)\s?[)）\]］〕】]|"
    r"[/／・,、]\s?([^\W_]{4,12}))\s?[年년]?\s{0,2}(?=\d{1,2}\s?[月월./-]\s?\d)"
)
"""A year with another in brackets or behind a stroke, before month and day."""
_IN_BRACKETS = re.compile(
    r"(?<!(?:19|20)\d\d年[(（\[［〔【])(?<!(?:19|20)\d\d[(（\[［〔【])(?<=[(（\[［〔【])((?:19|20)\d\d)\s?[年년]?\s?"
    r"[)）\]］〕】]\s?[年년]?\s?(?=\d{1,2}\s?[月월])"
)
"""The year of our era behind one that is not read: "主体113(2024)年"."""
_SHORT_ERA = re.compile(r"([RHS])\s?(元|\d{1,2})")
_NUMBER = re.compile(r"\d{1,4}")
_OFFSETS: Final = (0, 1911, -543, -2333, -660)
"""Years of our era, the Republic of China, the Buddha, Dangun and Japan's empire."""
_VIETNAMESE = re.compile(r"(\d{1,2}) th(?:án)?g (\d{1,2})(?:,| năm){0,2} ((?:19|20)\d\d)(?!\d)", re.IGNORECASE)

# Southern Asia
_BUDDHIST = re.compile(r"(?<!\d)25([3-9]\d)(?!\d)")
_ERA_WORD = re.compile(r"(?:[พພ]\.?\s?[ศສ]\.?|ព\.?\s?ស\.?|佛[历曆暦]|仏暦|B\.?E\.?)\s{0,2}(25[3-9]\d)(?!\d)")
_COMMON_ERA = re.compile(r"ค\.?\s?ศ\.?\s?(?=\d)")
_DOTTED_NAME = re.compile(r"[\u0e01-\u0eff]{1,3}\.\s?[\u0e01-\u0eff]{1,3}\.?")
_BETWEEN = re.compile(r"(?<=\d)\s?(?:เดือน|ខែ|ເດືອນ)|(?<=\D)(?:ឆ្នាំ|ปี)\s?(?=\d)")

_OTHER_SCRIPT = re.compile("[\u0370-\u10ff\u1780-\u17ff]")
"""A letter of Greek, Cyrillic, Hebrew, Arabic, or an Indian script."""
# Words for "year" between year and month, or year and day
_YEAR_WORD = re.compile(
    r"((?:19|20)\d\d)(?<!\d{5})(?:\.?\s?gada|\s?m\.|\s?թ\.?|\s?оны|(?:\s|\s?-\s?)?ж(?:ыл[а-я]{0,3})?\.?,?)\s{1,2}"
    r"(?:(\d{1,2})(?:\.\s|-|\s)([^\W\d_]{3,12})|(\d{1,2})[^\d]{1,12}?\sсарын\s(\d{1,2}))?"
)

# Western Asia
_FIRST_SOLAR_DAY: Final = date(1990, 3, 21)
_FIRST_SOLAR_YEAR: Final = 1369
_LAST_SOLAR_YEAR: Final = 1472
_SOLAR_LEAP_YEARS: Final = frozenset({1, 5, 9, 13, 17, 22, 26, 30})
"""Of each 33 years; true to the equinox from 1343 to 1472.

Source: K. Borkowski, The Persian calendar for 3000 years, Earth, Moon and Planets 74 (1996).
"""
_SOLAR_MONTHS: Final = {fold(name): month for month in range(1, 13) for name in _LISTS[f"solar month {month}"]}
_SOLAR_NAMED = re.compile(
    r"(\d(?<!\d\d)\d?)(?:-?م|ام)?[\s\u200c]{0,2}([^\W\d_](?:[^\W\d_]|\u200c){1,10}?)[\s\u200c]{0,2}(?:ماه)?[\s،,]{0,3}"
    r"(?:سال\s?)?(1[34]\d\d)(?!\d)"
)
_SOLAR_NUMBERS = re.compile(
    r"(?<![\d./-])(?:(1[34]\d\d)\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{1,2})|(\d{1,2})([./-])(\d{1,2})\6(1[34]\d\d))(?![\d/])T?"
)
_SOLAR_YEAR = re.compile(r"1[34]\d\d")
_ARABIC = re.compile("[\u0620-\u06d3]")
_PAIR = re.compile(
    r"([\u0620-\u06d3]{2,8}(?: [\u0620-\u06d3]{4,7})?)\s{0,2}[/(\\|-]\s{0,2}"
    r"([\u0620-\u06d3]{2,8}(?: [\u0620-\u06d3]{4,7})?)\)?"
)
"""One month in two ways: "أيار/مايو"."""
_TWO_WORDS = re.compile(r"(?:كانون|تشرين|کانوونی|کانونی|تشرینی) [\u0620-\u06d3]{4,7}")
_HEBREW_IN = re.compile(r"(?<=\d)(\s{0,2})[בל][-־]?(?!שעה)(?=[א-ת]{3})")

_MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_HALF = re.compile(rf"(:\d\d)\s{{0,2}}({_LISTS.choices('am', 'pm')})(?![^\W\d_])")
_AFTERNOON: Final = _LISTS.words("pm")


@lru_cache(maxsize=32)
def westernize(text: str, habits: Habits) -> str:
    """Rewrite the dates of a text in Western digits, years and names of months.

    Cost: O(characters), once for the last texts: each way of reading a line asks again.

    >>> westernize("2025年（令和7年）6月30日", Habits())
    '2025年6月30日'
    >>> westernize("۲۲ آذر ۱۴۰۲", Habits())
    '13 Dec 2023'
    """
    is_ascii = text.isascii()
    if not is_ascii and _FOREIGN_DIGIT.search(text):
        text = text.translate(_TO_WESTERN)
    if not is_ascii or habits.language == "ja":
        text = _east(text, is_japanese=habits.language == "ja")
    if habits.republic:
        text = _REPUBLIC.sub(lambda match: f"{int(match[1]) + 1911}{match[0][match.end(1) - match.start() :]}", text)
    is_other_script = not is_ascii and _OTHER_SCRIPT.search(text)
    if is_other_script:
        text = _west(text)
    if is_other_script or "gada" in text or " m." in text:
        text = _YEAR_WORD.sub(_year_last, text)
    if habits.buddhist or "25" in text:
        text = _ERA_WORD.sub(lambda match: str(int(match[1]) - 543), text)
        if habits.buddhist:
            text = _BUDDHIST.sub(lambda match: str(2500 + int(match[1]) - 543), text)
    if _SOLAR_YEAR.search(text):
        text = _SOLAR_NAMED.sub(_named_solar, text)
        if habits.solar:
            text = _SOLAR_NUMBERS.sub(_numbered_solar, text)
    return text


def read_number(text: str) -> int:
    """Read a number below 1000 in digits or in Chinese.

    >>> read_number("一百一十三"), read_number("一一三"), read_number("元")
    (113, 113, 1)
    """
    if text.isdecimal():
        return int(text)
    if len(text) > 1 and not {*text} - {*_HAN}:
        return int("".join(str(_HAN[char]) for char in text))
    hundreds, hundred, rest = text.rpartition("百")
    tens, ten, units = rest.rpartition("十")
    value = 100 * (_HAN.get(hundreds, 1) if hundred else 0) + 10 * (_HAN.get(tens.lstrip("0"), 1) if ten else 0)
    return value + _HAN.get(units.lstrip("0") or "0", 0)


def _east(text: str, *, is_japanese: bool) -> str:
    if "和" in text or "平成" in text or "年" in text or is_japanese:
        text = _ERA.sub(lambda match: f"{_ERAS[match[1]] + read_number(match[2])}{'年' * ('年' in match[0])}", text)
    if "民" in text:
        text = _ROC.sub(lambda match: f"{read_number(match[1]) + 1911}{'年' * ('年' in match[0])}", text)
    if "历" in text or "曆" in text or "暦" in text or "음" in text:
        text = _LUNAR.sub(" ", text)
    if "lịch" in text:
        text = _LUNAR_VIETNAMESE.sub(" ", text)
    if "年" in text or "년" in text or "月" in text:
        text = _IN_BRACKETS.sub(r"\1年", _BESIDE.sub(_one_year, text))
    if "tháng" in text or " thg " in text:
        text = _VIETNAMESE.sub(r"\1.\2.\3", text)
    return text


def _one_year(beside: re.Match[str]) -> str:
    year, other = int(beside[1]), beside[2] or beside[3] or ""
    era = _SHORT_ERA.search(other)
    numbers = [_ERAS[era[1]] + read_number(era[2])] if era else [int(number) for number in _NUMBER.findall(other)]
    agree = all(any(number + offset == year for offset in _OFFSETS) for number in numbers) or "年度" in other
    return f"{year}年" if agree and (numbers or beside[3] is None) else beside[0]


def _west(text: str) -> str:
    if _ARABIC.search(text):
        text = _TWO_WORDS.sub(_english, _PAIR.sub(_one_month, text))
    elif _DOTTED_NAME.search(text):
        text = _COMMON_ERA.sub("", _DOTTED_NAME.sub(_english, text))
    text = _BETWEEN.sub(" ", _HEBREW_IN.sub(" ", text))
    return _HALF.sub(lambda half: f"{half[1]} {'PM' if half[2] in _AFTERNOON else 'AM'}", text)


def _year_last(written: re.Match[str]) -> str:
    """Drop a word for "year"; with the day behind it (Latvian) put the year last."""
    if written[2]:
        return f"{written[2]} {written[3]} {written[1]}"
    return f"{written[1]}-{written[4]}-{written[5]}" if written[4] else f"{written[1]} "


def _english(name: re.Match[str]) -> str:
    month = find_month(name[0].replace(" ", "" if "." in name[0] else " "), "")
    return f" {_MONTHS[month - 1]} " if month else name[0]


def _one_month(pair: re.Match[str]) -> str:
    months = {find_month(name, "ar") for name in pair.groups()}
    month = months.pop()
    return f" {_MONTHS[month - 1]} " if month and not months else pair[0]


def _named_solar(written: re.Match[str]) -> str:
    month = _SOLAR_MONTHS.get(fold(written[2]), 0)
    return _from_solar(int(written[3]), month, int(written[1])) or written[0]


def _numbered_solar(written: re.Match[str]) -> str:
    """Write "1402/09/22" or "22/9/1402" in our calendar."""
    year, month, day = (written[1], written[3], written[4]) if written[1] else (written[8], written[7], written[5])
    western = _from_solar(int(year), int(month), int(day))
    return f"{western} " if western else written[0]


def _from_solar(year: int, month: int, day: int) -> str:
    if not _FIRST_SOLAR_YEAR <= year < _LAST_SOLAR_YEAR or not 1 <= month <= 12:
        return ""
    last = 31 if month <= 6 else 30 if month < 12 or year % 33 in _SOLAR_LEAP_YEARS else 29
    if not 1 <= day <= last:
        return ""
    leap_days = sum(each % 33 in _SOLAR_LEAP_YEARS for each in range(_FIRST_SOLAR_YEAR, year))
    before = 31 * (month - 1) - max(0, month - 7)
    western = _FIRST_SOLAR_DAY + timedelta(365 * (year - _FIRST_SOLAR_YEAR) + leap_days + before + day - 1)
    return f"{western.day} {_MONTHS[western.month - 1]} {western.year}"
