"""Publish times as pages write them, read with explicit rules.

General date parsers guess: a day without a year becomes this century's fifth year, "5月12日" becomes nothing.
Each rule here reads one way of writing and answers with the precision that was written, never more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Final

CHINA: Final = timezone(timedelta(hours=8))
_EARLIEST: Final = 1990
_DIGITS = str.maketrans("０１２３４５６７８９：／－．　〇○零", "0123456789:/-. 000")
_HAN: Final = {sign: value for value, sign in enumerate("一二三四五六七八九", 1)} | {"0": 0, "元": 1}

_ISO = re.compile(
    r"(?<!\d)((?:19|20)\d\d)-(\d\d?)-(\d\d?)[T ]\s?(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?\s?(?!\d|"
    r"\s?[AP]M\b)(Z|[+-]\d\d:?\d\d|UTC|GMT)?",
    re.IGNORECASE,
)
_CLOCK = (
    r"(?:[日號号]?[\sT,，|｜·(（]{0,6}(?:(?:星期|周|週|礼拜)[一二三四五六日天]|(?:Mon|Tue|Wed|Thu|Fri|Sat|"
    r"Sun)[a-z]{0,6})?[\s)）]{0,4}"
    r"(上午|下午|晚上|晚间|凌晨|中午|早上|AM|PM)?\s{0,3}(\d{1,2})\s?(?:[:∶]|时|時|點|点)\s?(\d{1,2})(?:\s?(?:[:∶]|"
    r"分)\s?(\d{1,2})(?!\d))?(?:分|秒)?"
    r"\s{0,2}(AM|PM|am|pm)?)?"
)
_NUMERIC = re.compile(r"(?<![\d.])((?:19|20)\d\d)\s?([-/.年])\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})(?!\d)" + _CLOCK)
_CLOCK_FIRST = re.compile(
    r"(?<![\d:])(\d{1,2}):(\d\d)(?::(\d\d))?\s{1,4}((?:19|20)\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)"
)
_BOXED = re.compile(
    r"(?<!\d)((?:19|20)\d\d)\s{1,4}(\d{1,2})\s?[-/月]\s?(\d{1,2})\s{1,4}(\d{1,2}):(\d\d)(?::(\d\d))?(?!\d)"
)
_ROC = re.compile(r"(?:中華民國|中华民国|民國|民国)\s?(\d{2,3})\s?年\s?(\d{1,2})\s?月\s?(\d{1,2})\s?" + _CLOCK)
_HAN_DATE = re.compile(
    r"([一二三四五六七八九0]{4})年([元一二三四五六七八九十]{1,3})月([一二三四五六七八九十]{1,3})日" + _CLOCK
)
_SHORT = re.compile(
    r"(?<![\d-])(\d{1,2})\s?[-/月]\s?(\d{1,2})\s?日?\s{1,4}(\d{1,2}):(\d\d)(?!\d)|"
    r"(?<!\d)(\d{1,2})月(\d{1,2})日\s{0,3}(?:(\d{1,2}):(\d\d))?"
)
_RELATIVE = re.compile(
    r"(\d{1,3})\s?(秒|分钟|分鐘|小时|小時|天|日|周|週|个月|個月|seconds?|minutes?|mins?|hours?|days?|"
    r"weeks?)\s?(?:之?前|ago)|"
    r"(今天|今日|昨天|昨日|前天|yesterday|today|刚刚|剛剛|just now)\s{0,3}(?:(\d{1,2}):(\d\d))?",
    re.IGNORECASE,
)
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro gennaio januari stycznia января ianuarie",
            "february feb februar février fevrier febrero fevereiro febbraio februari lutego февраля",
            "march mar märz maerz mars marzo março marco maart marca марта",
            "april apr avril abril aprile kwietnia апреля",
            "may mai mayo maio maggio mei maja мая",
            "june jun juni juin junio junho giugno czerwca июня",
            "july jul juli juillet julio julho luglio lipca июля",
            "august aug août aout agosto augustus sierpnia августа",
            "september sep sept septembre septiembre setembro settembre września сентября",
            "october oct oktober okt octobre octubre outubro ottobre października октября",
            "november nov novembre noviembre novembro listopada ноября",
            "december dec dezember dez décembre decembre diciembre dezembro dicembre desember grudnia декабря",
        ),
        1,
    )
    for name in names.split()
}
_CLOCK_WEST = (
    r"(?:,?\s{1,3}(?:at|um|à|alle|o|-|–|\||kl\.?)?\s{0,3}(\d{1,2})[:.h](\d\d)(?::(\d\d))?\s{0,2}([ap]\.?m\.?)?)?"
)
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s{1,2}(?:de\s)?([^\W\d_]{3,12})\.?,?\s{1,2}(?:de\s|del\s)?((?:19|"
    r"20)\d\d)" + _CLOCK_WEST,
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?<!\w)([^\W\d_]{3,9})\.?\s{1,2}(\d{1,2})(?:st|nd|rd|th)?,?\s{1,2}((?:19|20)\d\d)" + _CLOCK_WEST, re.IGNORECASE
)
_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)" + _CLOCK_WEST)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/((?:19|20)\d\d)" + _CLOCK_WEST)
_URL = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_/]?(0[1-9]|1[0-2])[-_/]?(0[1-9]|[12]\d|3[01])(?!\d)")
_URL_LOOSE = re.compile(r"/((?:19|20)\d\d)/(\d{1,2})/(\d{1,2})(?!\d)")
_EPOCH = re.compile(r"(?<!\d)(1[0-9]{9})(?:\d{3})?(?!\d)")


@dataclass(frozen=True, slots=True)
class Moment:
    """A publish time: ISO 8601 text, its precision ("second", "minute", "day") and the calendar day."""

    iso: str
    precision: str
    day: date


def _moment(
    parts: tuple[int, int, int], clock: tuple[int, int, int | None] | None, zone: timezone | None, now: datetime
) -> Moment | None:
    """A moment from checked parts; None for impossible, ancient and future ones."""
    year, month, day = parts
    try:
        if clock is None:
            found = date(year, month, day)
            late = (now + timedelta(hours=26)).date()
            return Moment(found.isoformat(), "day", found) if year >= _EARLIEST and found <= late else None
        stamp = datetime(year, month, day, clock[0], clock[1], clock[2] or 0, tzinfo=zone or UTC)
    except ValueError:
        return None
    # A day of grace, because a zone that the page leaves out may be wrong by half a day.
    if year < _EARLIEST or stamp > now + timedelta(hours=26):
        return None
    if clock[2] is None:
        return Moment(stamp.isoformat(timespec="minutes"), "minute", stamp.date())
    return Moment(stamp.isoformat(timespec="seconds"), "second", stamp.date())


def _zone(text: str | None, default: timezone) -> timezone:
    """The zone that `text` names, else `default`."""
    if not text:
        return default
    if text.upper() in {"Z", "UTC", "GMT"}:
        return UTC
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return timezone(timedelta(minutes=min(minutes, 839) * (-1 if text[0] == "-" else 1)))


def _clock(match: re.Match[str], first: int) -> tuple[int, int, int | None] | None:
    """Hour, minute, second of the five clock groups that start at `first`."""
    half, hour, minute, second, half2 = (match.group(first + offset) for offset in range(5))
    if hour is None:
        return None
    value = int(hour)
    half = (half or half2 or "").lower()
    if half in {"下午", "晚上", "晚间", "pm"} and value < 12:
        value += 12
    if half in {"凌晨", "上午", "am"} and value == 12:
        value = 0
    return value, int(minute), None if second is None else int(second)


def _han(text: str) -> int:
    """Value of a Chinese number below 100."""
    if "十" in text:
        tens, _, units = text.partition("十")
        return (_HAN.get(tens, 1) if tens else 1) * 10 + (_HAN.get(units, 0) if units else 0)
    return _HAN.get(text, 0)


def read(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Read the first date and time that `text` holds.

    Args:
        text: a line, an attribute or a JSON value; only the first 400 characters count.
        now: when the page was fetched, with zone; base of relative times, bound of future ones.
        zone: zone assumed for a clock time written without one.

    Returns:
        The moment, or None.

    Cost: O(characters); patterns have bounded repetitions.

    >>> read("二〇二四年三月十二日", datetime(2025, 1, 1, tzinfo=UTC), CHINA).iso
    '2024-03-12'
    """
    text = text[:400].translate(_DIGITS)
    return _numeric(text, now, zone) or _chinese(text, now, zone) or _west(text, now, zone)


def _numeric(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Dates in digits, year first."""
    match = _ISO.search(text)
    if match:
        clock = (int(match[4]), int(match[5]), int(match[6]) if match[6] else None)
        found = _moment((int(match[1]), int(match[2]), int(match[3])), clock, _zone(match[7], zone), now)
        if found:
            return found
    swapped = _CLOCK_FIRST.search(text)
    if swapped:
        second = int(swapped[3]) if swapped[3] else None
        return _moment(
            (int(swapped[4]), int(swapped[5]), int(swapped[6])), (int(swapped[1]), int(swapped[2]), second), zone, now
        )
    boxed = _BOXED.search(text)
    if boxed:
        second = int(boxed[6]) if boxed[6] else None
        return _moment((int(boxed[1]), int(boxed[2]), int(boxed[3])), (int(boxed[4]), int(boxed[5]), second), zone, now)
    for match in _NUMERIC.finditer(text):
        found = _moment((int(match[1]), int(match[3]), int(match[4])), _clock(match, 5), zone, now)
        if found:
            return found
    return None


def _chinese(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Dates of the Republic's calendar or in Chinese numerals."""
    republic = _ROC.search(text)
    if republic:
        return _moment((int(republic[1]) + 1911, int(republic[2]), int(republic[3])), _clock(republic, 4), zone, now)
    han = _HAN_DATE.search(text)
    if han:
        year = int("".join(str(_HAN[sign]) for sign in han[1]))
        return _moment((year, _han(han[2]), _han(han[3])), _clock(han, 4), zone, now)
    return None


def _west(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Dates with month names or day first."""
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text):
            name, day = (match[2], match[1]) if pattern is _DAY_FIRST else (match[1], match[2])
            month = _MONTHS.get(name.lower())
            if month:
                found = _moment((int(match[3]), month, int(day)), _clock_west(match), zone, now)
                if found:
                    return found
    dotted = _DOTTED.search(text)
    if dotted:
        return _moment((int(dotted[3]), int(dotted[2]), int(dotted[1])), _clock_west(dotted), zone, now)
    slashed = _SLASHED.search(text)
    if slashed:
        first, second = int(slashed[1]), int(slashed[2])
        month, day = (second, first) if first > 12 else (first, second)
        return _moment((int(slashed[3]), month, day), _clock_west(slashed), zone, now)
    return None


def _clock_west(match: re.Match[str]) -> tuple[int, int, int | None] | None:
    """Hour, minute, second of the four clock groups that start at 4."""
    if match[4] is None:
        return None
    hour, half = int(match[4]), (match[7] or "").lower()[:1]
    if half == "p" and hour < 12:
        hour += 12
    if half == "a" and hour == 12:
        hour = 0
    return hour, int(match[5]), int(match[6]) if match[6] else None


def read_stamp(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Read a machine-made value: ISO 8601, RFC 2822 or Unix time; falls back to `read`."""
    text = text.strip()[:100]
    if _EPOCH.fullmatch(text):
        return read_epoch(text, now, zone)
    found = read(text, now, zone)
    if found is None and text[:3].isalpha() and any(sign.isdigit() for sign in text):
        try:
            stamp = parsedate_to_datetime(text)
        except (ValueError, TypeError, IndexError):
            return None
        clock = (stamp.hour, stamp.minute, stamp.second)
        offset = stamp.utcoffset()
        return _moment((stamp.year, stamp.month, stamp.day), clock, timezone(offset) if offset else zone, now)
    return found


def read_epoch(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Read Unix seconds or milliseconds as a moment in `zone`."""
    match = _EPOCH.search(text)
    if not match:
        return None
    stamp = datetime.fromtimestamp(int(match[1]), zone)
    return _moment((stamp.year, stamp.month, stamp.day), (stamp.hour, stamp.minute, stamp.second), zone, now)


def read_relative(text: str, now: datetime, zone: timezone) -> Moment | None:
    """Read "3小时前", "昨天 08:30", "05-12 10:20" (of the year that puts it in the past) against `now`."""
    text = text[:200].translate(_DIGITS)
    local = now.astimezone(zone)
    match = _RELATIVE.search(text)
    if match and match[1]:
        amount, unit = int(match[1]), match[2].lower()
        if unit[0] in "秒分s" or unit.startswith("min"):
            local -= timedelta(minutes=amount if unit[0] in "分m" else 0)
        elif unit[0] in "小h":
            local -= timedelta(hours=amount)
        else:
            local -= timedelta(days=amount * (7 if unit[0] in "周週w" else 30 if "月" in unit else 1))
            return _moment((local.year, local.month, local.day), None, zone, now)
        return _moment((local.year, local.month, local.day), (local.hour, local.minute, None), zone, now)
    if match:
        word = match[3].lower()
        back = 2 if word == "前天" else 1 if word in {"昨天", "昨日", "yesterday"} else 0
        local -= timedelta(days=back)
        clock = (int(match[4]), int(match[5]), None) if match[4] else None
        return _moment((local.year, local.month, local.day), clock, zone, now)
    match = _SHORT.search(text)
    if not match:
        return None
    month, day = int(match[1] or match[5]), int(match[2] or match[6])
    hour, minute = match[3] or match[7], match[4] or match[8]
    clock = (int(hour), int(minute), None) if hour else None
    return _moment((local.year, month, day), clock, zone, now) or _moment(
        (local.year - 1, month, day), clock, zone, now
    )


def read_url(url: str, now: datetime) -> Moment | None:
    """Read the day that a URL's path holds (/2024/03/12/, /20240312/, /t20240312_1.html)."""
    path = url[:500].partition("://")[2].partition("/")[2].partition("?")[0]
    for pattern in (_URL, _URL_LOOSE):
        for match in pattern.finditer("/" + path):
            found = _moment((int(match[1]), int(match[2]), int(match[3])), None, None, now)
            if found:
                return found
    return None
