"""Times relative to the fetch of a page, and days without a year.

A word such as "yesterday" occurs in any sentence; it is a time when a clock follows, or when the line has nothing else.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from db.records.article import GUESS

from .calendars import read_number
from .names import find_month, find_weekday
from .parse import CLOCK, LISTS, MONTHS, NAME, Moment, build_moment, normalize, read_clock, to_24_hours
from .timezones import UNKNOWN, Habits, read_zone

_any = LISTS.pattern
_NUMBER = rf"(\d{{1,3}}|{LISTS.choices('numbers')})"
_UNITS: Final = {
    "seconds": 1, "minutes": 60, "hours": 3600, "days": 86400, "weeks": 7 * 86400, "months": 30 * 86400,
    "years": 365 * 86400,
}  # fmt: skip
_SECONDS: Final = {unit: seconds for name, seconds in _UNITS.items() for unit in LISTS[name]}
_UNIT = f"({LISTS.choices(*_UNITS)})"
_END = rf"(?=\s{{0,3}}(?:[^\u4e00-\u9fff\s]|$|{LISTS.choices('behind chinese times')}|\s[\u4e00-\u9fff]))"
_BEHIND = re.compile(
    rf"{_NUMBER}\s?个?個?{_UNIT}\s?(?:(?:(?:之?前|以前){_END}|전(?!\w))|{_any('behind amounts')}\b)", re.IGNORECASE
)
"""If Han follows, "3天前" belongs to a sentence."""
_BEFORE = re.compile(rf"\b{_any('before amounts')}\s{_NUMBER}\s?{_UNIT}(?!\w)", re.IGNORECASE)
_DAYS: Final = ("today", "yesterday", "two days ago", "three days ago")
_BACK: Final = {word: days for days, name in enumerate(_DAYS) for word in LISTS[name]}
_NOW: Final = LISTS.words("now")
_LANGUAGE: Final = {"hier": "fr"}
"""Words with another meaning in another language: German "Sie sind hier"."""
_DAY = re.compile(
    rf"(?<!\w){_any(*_DAYS)}(?![\w'’-])|{_any('chinese days')}(?![\u4e00-\u9fff])|"
    rf"{_any('chinese days before clocks')}(?={_any('halves behind days')}?\s?\d)",
    re.IGNORECASE,
)
_TOLD = re.compile("前|전|" + LISTS.choices("behind amounts", "before amounts", *_DAYS))
_CLOCK_WEST = re.compile(
    rf"[,，]?\s{{0,3}}(?:{_any('clocks behind days')}\s)?(\d{{1,2}})[:.h](\d\d)\s?([ap]\.?m\.?(?![a-z]))?",
    re.IGNORECASE,
)
_CLOCK_EAST = re.compile(CLOCK)
# The year is left out.
_SHORT = re.compile(
    r"(\d(?<![\d年./-]\d)\d?)(?:\s?月\s?(\d{1,2})(?=\s?[日號号]|\s{1,4}\d{1,2}:\d\d)|\s?[-/]\s?(\d{1,2})(?=\s{1,4}\d{1,2}:\d\d))"
    + CLOCK
)
_NAMED = re.compile(
    rf"((?:[^\W\d_]{{2,12}}[.,:]{{0,2}}\s){{0,3}})(?:{NAME}\.?\s(\d{{1,2}})(?:st|nd|rd|th)?|(\d{{1,2}})(?:st|nd|rd|th|\.)?\s(?:(?:of|de)\s)?{NAME})\.?"
    r"(?:,?\s(?:at\s)?(\d{1,2}):(\d\d)(?:\s?([ap]\.?m\.?))?(?:\s\(?(?-i:[A-Z]{2,4})\)?)?)?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)|年|년|[历曆暦]")
_NEAR_CHARS: Final = 12
_MOST_YEARS: Final = 12
"""Within so many years every day but 29 February falls on each day of the week."""
_MONTH_FIRST: Final = frozenset({"zh", "ja", "ko"})
_LABELS: Final = LISTS.words("before days")
_EASTERN_DAY = re.compile(
    r"(?:星期|礼拜|禮拜|周|週)([一二三四五六日天])|([月火水木金土日])曜|[(（]([月火水木金土日월화수목금토일])[)）]|([월화수목금토일])요일"
)
_EASTERN_DAYS: Final = ("一月월", "二火화", "三水수", "四木목", "五金금", "六土토", "日天일")
_WORD = re.compile(NAME)
_THAI_THE: Final = "ที่"
"""Between the day of the week and the day of the month."""
_DIGIT = re.compile(r"\d")
_LINE_CHARS: Final = 60


def read_relative(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read "3小时前", "昨天 08:30" or "05-12 10:20" in 200 characters of `text`.

    Cost: O(characters).
    """
    text = normalize(text[:200], habits)
    is_told = _TOLD.search(text.lower())
    if not is_told and not _DIGIT.search(text):
        return None
    local = now.astimezone(habits.zone)
    if is_told:
        match = _BEHIND.search(text) or _BEFORE.search(text)
        if match:
            return _ago(match[1].lower(), match[2].lower(), now.astimezone(_counted_in(habits)), now)
        word = _DAY.search(text)
        if word and (not habits.language or _LANGUAGE.get(word[0].lower(), habits.language) == habits.language):
            return _on_day(text, word, local, now, habits)
    return _no_year(text, local, now, habits)


def set_year(guess: Moment, year: int, now: datetime, habits: Habits) -> Moment | None:
    """Return a guess in a known year; None when there is no such day.

    >>> now = datetime.fromisoformat("2026-06-01T04:00+00:00")
    >>> set_year(read_relative("05-12 10:20", now, Habits()), 2019, now, Habits()).iso
    '2019-05-12T10:20+00:00'
    """
    parts = (year, guess.day.month, guess.day.day)
    if not guess.has_clock:
        return build_moment(parts, None, None, now)
    stamp = datetime.fromisoformat(guess.iso)
    has_second = guess.iso[16] == ":"
    return build_moment(parts, (stamp.hour, stamp.minute, stamp.second if has_second else None), habits.zone, now)


def _counted_in(habits: Habits) -> tzinfo:
    """Return a zone for times that are counted back from the request."""
    return UTC if habits.zone is UNKNOWN else habits.zone


def _on_day(text: str, word: re.Match[str], local: datetime, now: datetime, habits: Habits) -> Moment | None:
    if word[0].lower() in _NOW:
        return build_moment(
            (local.year, local.month, local.day), (local.hour, local.minute, None), _counted_in(habits), now
        )
    local -= timedelta(days=_BACK[word[0].lower()])
    parts = (local.year, local.month, local.day)
    west = _CLOCK_WEST.match(text, word.end())
    if west:
        return build_moment(parts, (to_24_hours(int(west[1]), west[3]), int(west[2]), None), habits.zone, now)
    east = _CLOCK_EAST.match(text, word.end())
    clock = read_clock(east, 1) if east else None
    if clock is None and not "\u4e00" <= word[0][0] <= "\u9fff" and len(text) > len(word[0]) + 20:
        return None
    return build_moment(parts, clock, habits.zone, now)


def _no_year(text: str, local: datetime, now: datetime, habits: Habits) -> Moment | None:
    """Read month and day in the latest past year that fits the weekday.

    Beside another year, which could not be read, nothing is guessed.
    """
    match = _SHORT.search(text)
    if match:
        if _YEAR.search(text, max(0, match.start() - _NEAR_CHARS), match.end() + _NEAR_CHARS):
            return None
        month, day, clock = int(match[1]), int(match[2] or match[3]), read_clock(match, 4)
        if match[3] and habits.day_first and habits.language not in _MONTH_FIRST:
            month, day = day, month
    else:
        match = _NAMED.fullmatch(text.strip()) if len(text) <= _LINE_CHARS else None
        named_month = _month(match[2] or match[5], habits.language) if match and _may_lead(match[1], habits) else None
        if match is None or named_month is None:
            return None
        month, day = named_month, int(match[3] or match[4])
        clock = (to_24_hours(int(match[6]), match[8]), int(match[7]), None) if match[6] else None
    zone = read_zone(match.string, match.end(match.lastindex or 0), habits.zone)
    weekday = find_named_weekday(text, habits.language)
    for year in range(local.year, local.year - _MOST_YEARS, -1):
        moment = build_moment((year, month, day), clock, zone, now)
        if moment and weekday in {None, moment.day.weekday()}:
            return replace(moment, precision=GUESS)
    return None


def _may_lead(words: str, habits: Habits) -> bool:
    return all(
        word.lower() in _LABELS or find_weekday(word, habits.language) is not None for word in _WORD.findall(words)
    )


def _month(name: str, language: str) -> int | None:
    return MONTHS.get(name.lower()) or (find_month(name, language) if language else None)


def find_named_weekday(text: str, language: str) -> int | None:
    """Return the day of the week in a line, Monday as 0, or None.

    >>> find_named_weekday("Updated Fri 15 Mar", "en"), find_named_weekday("3月15日（金）", "ja")
    (4, 4)
    """
    eastern = _EASTERN_DAY.search(text)
    if eastern:
        name = eastern.group(eastern.lastindex or 0)
        return next(number for number, names in enumerate(_EASTERN_DAYS) if name in names)
    weekdays = (find_weekday(word.removesuffix(_THAI_THE), language) for word in _WORD.findall(text))
    return next((number for number in weekdays if number is not None), None)


def _ago(amount: str, unit: str, local: datetime, now: datetime) -> Moment | None:
    count = (
        0.5
        if amount == "半"
        else float(amount if amount.isdecimal() else (read_number(amount.replace("两", "二")) or 1))
    )
    seconds = _SECONDS[unit]
    local -= timedelta(seconds=seconds * count)
    clock = (local.hour, local.minute, None) if seconds < _SECONDS["天"] else None
    return build_moment((local.year, local.month, local.day), clock, local.tzinfo, now)
