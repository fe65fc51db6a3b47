"""Publish times as pages write them, read with explicit rules.

General date parsers guess: a day without a year becomes this century's fifth year, "5月12日" becomes nothing.
Each rule here reads one way of writing and answers with the precision that was written, never more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from . import zones
from .zones import Habits

_EARLIEST: Final = 1990
_DIGITS = str.maketrans("０１２３４５６７８９：／－．　〇○零", "0123456789:/-. 000")
_HAN: Final = {sign: value for value, sign in enumerate("一二三四五六七八九", 1)} | {"0": 0, "元": 1}

_YEAR = re.compile(r"(?:19|20)\d\d|民[國国]|年")
_ISO = re.compile(
    r"(?<!\d)((?:19|20)\d\d)-(\d\d?)-(\d\d?)(?:[T ]\s?|T%20)(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?!\d|"
    r"\s{0,2}[AP]M\b)",
    re.IGNORECASE,
)
_CLOCK = (
    r"(?:[日號号일]?\.?[\sT,，|｜·(（]{0,6}(?:(?:星期|周|週|礼拜)[一二三四五六日天]|[日月火水木金土](?:曜日)?(?=\s{0,2}[)）])|"
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6})?[\s)）|｜,，-]{0,4}"
    r"(上午|下午|晚上|晚间|凌晨|中午|早上|午前|午後|오전|오후|AM|PM)?\s{0,3}"
    r"(\d{1,2})\s?(?:[:∶]|时|時|點|点|시)\s?(\d{1,2})(?:\s?(?:[:∶]|分|분)\s?(\d{1,2})(?!\d))?(?:分|秒|분|초)?"
    r"(?:\s{0,2}(AM|PM|am|pm)\b)?)?"
)
_NUMERIC = re.compile(r"(?<![\d.])((?:19|20)\d\d)\s?([-/.年년])\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)" + _CLOCK)
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
# Followed by Han, "昨日" and "3天前" are words of a sentence.
_RELATIVE = re.compile(
    r"(\d{1,3}|an?|[一二两兩三四五六七八九十半])\s?个?個?(秒钟?|秒鐘|分钟|分鐘|小时|小時|钟头|天|日|周|週|星期|月|年|"
    r"seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)\s?"
    r"(?:(?:之?前|以前)(?=\s{0,3}(?:[^\u4e00-\u9fff\s]|$|发布|發布|发表|發表|更新|来自|來自|来源|來源|\s[\u4e00-\u9fff]))|ago)|"
    r"(今天|今日|昨天|昨日|前天|yesterday|today|刚刚|剛剛|just now)(?![\u4e00-\u9fff])[,，]?\s{0,3}(?:at\s)?"
    r"(?:(\d{1,2}):(\d\d))?",
    re.IGNORECASE,
)
MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero janeiro gennaio januari stycznia января ianuarie ocak ledna tammikuuta "
            "január ιανουαρίου січня",
            "february feb februar février fevrier febrero fevereiro febbraio februari lutego февраля februarie şubat "
            "února helmikuuta február φεβρουαρίου лютого",
            "march mar märz maerz mars marzo março marco maart marca марта martie mart března maaliskuuta maret "
            "március μαρτίου березня",
            "april apr avril abril aprile kwietnia апреля aprilie nisan dubna huhtikuuta április απριλίου квітня",
            "may mai mayo maio maggio mei maja мая mayıs května toukokuuta május μαΐου травня",
            "june jun juni juin junio junho giugno czerwca июня iunie haziran června kesäkuuta június ιουνίου червня",
            "july jul juli juillet julio julho luglio lipca июля iulie temmuz července heinäkuuta július ιουλίου липня",
            "august aug août aout agosto augustus sierpnia августа ağustos srpna elokuuta agustus augusti augusztus "
            "αυγούστου серпня",
            "september sep sept septembre septiembre setembro settembre września сентября septembrie eylül září "
            "syyskuuta szeptember σεπτεμβρίου вересня",
            "october oct oktober okt octobre octubre outubro ottobre października октября octombrie ekim října "
            "lokakuuta október οκτωβρίου жовтня",
            "november nov novembre noviembre novembro listopada ноября noiembrie kasım listopadu marraskuuta "
            "νοεμβρίου листопада",
            "december dec dezember dez décembre decembre diciembre dezembro dicembre desember grudnia декабря "
            "decembrie aralık prosince joulukuuta δεκεμβρίου грудня",
        ),
        1,
    )
    for name in names.split()
}
_CLOCK_WEST = (
    r"(?:\s{0,2}[,:·|•–—-]?\s{0,3}(?:at|um|à|alle(?: ore)?|o|ore|kl\.?|a las|às|в|saat|pukul|klo|om)?\s{0,3}"
    r"(\d{1,2})[:.h](\d\d)(?::(\d\d))?(?![\d.])\s{0,2}([ap]\.?m\.?(?![a-z]))?)?"
)
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s{0,2}[-/]?(?:de\s)?([^\W\d_]{3,12})\.?,?\s{0,2}[-/]?(?:de\s|del\s)?"
    r"((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST,
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    r"(?<!\w)([^\W\d_]{3,10})\.?\s{1,2}(\d{1,2})(?:st|nd|rd|th)?,?\s{1,2}((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST,
    re.IGNORECASE,
)
_DOTTED = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST, re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\d/-])(\d{1,2})[/-](\d{1,2})[/-]((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST, re.IGNORECASE)
_CLOCK_BEFORE = re.compile(
    r"(?<![\d:])(\d{1,2})[:h](\d\d)\s{0,2}([ap]\.?m\.?)?\s{0,2}([A-Z]{2,5})?[\s,·|•–—-]{0,5}"
    r"(?:on\s|[^\W\d_]{3,10},?\s{1,2})?$",
    re.IGNORECASE,
)
_JAVA = re.compile(
    r"(?<!\w)([A-Z][a-z]{2}) (\d{1,2}) (\d\d):(\d\d):(\d\d) ([A-Z]{2,5}|GMT[+-]\d\d:?\d\d) ((?:19|20)\d\d)(?!\d)"
)
_URL = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_/]?(0[1-9]|1[0-2])[-_/]?(0[1-9]|[12]\d|3[01])(?!\d)")
_URL_LOOSE = re.compile(r"/((?:19|20)\d\d)/(\d{1,2})/(\d{1,2})(?!\d)")
_COMPACT = re.compile(r"((?:19|20)\d\d)(0\d|1[0-2])([0-3]\d)(?:T?(\d\d):?(\d\d):?(\d\d)?Z?)?")
_DAYS: Final = (("周週星w", 7), ("月m", 30), ("年y", 365))
_EPOCH = re.compile(r"(?<!\d)(1[0-9]{9})(?:\d{3})?(?!\d)")


@dataclass(frozen=True, slots=True)
class Moment:
    """A publish time: ISO 8601 text, its precision ("second", "minute", "day") and the calendar day."""

    iso: str
    precision: str
    day: date


def _moment(
    parts: tuple[int, int, int], clock: tuple[int, int, int | None] | None, zone: tzinfo | None, now: datetime
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


def _clock(match: re.Match[str], first: int) -> tuple[int, int, int | None] | None:
    """Hour, minute, second of the five clock groups that start at `first`."""
    half, hour, minute, second, half2 = (match.group(first + offset) for offset in range(5))
    if hour is None:
        return None
    return _hour(int(hour), half or half2), int(minute), None if second is None else int(second)


def _hour(hour: int, half: str | None) -> int:
    """Hour of the day out of an hour and a half of the day."""
    half = (half or "").lower()[:2].rstrip(".")
    if half in {"下午", "晚上", "晚间", "午後", "오후", "pm", "p"} and hour < 12:
        return hour + 12
    return 0 if hour == 12 and half in {"凌晨", "上午", "午前", "오전", "am", "a"} else hour


def _han(text: str) -> int:
    """Value of a Chinese number below 100."""
    if "十" in text:
        tens, _, units = text.partition("十")
        return (_HAN.get(tens, 1) if tens else 1) * 10 + (_HAN.get(units, 0) if units else 0)
    return _HAN.get(text, 0)


def read(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read the first date and time that `text` holds.

    Args:
        text: a line, an attribute or a JSON value; only the first 400 characters count.
        now: when the page was fetched, with zone; bound of future times.
        habits: the site's zone, for a clock time written without one, and its order of day and month.

    Returns:
        The moment, or None.

    Cost: O(characters); patterns have bounded repetitions, and without a year none of them is tried.

    >>> read("二〇二四年三月十二日", datetime(2025, 1, 1, tzinfo=UTC), Habits()).iso
    '2024-03-12'
    """
    text = text[:400].translate(_DIGITS)
    if not _YEAR.search(text):
        return None
    return _numeric(text, now, habits.zone) or _chinese(text, now, habits.zone) or _west(text, now, habits)


def _numeric(text: str, now: datetime, zone: tzinfo) -> Moment | None:
    """Dates in digits, year first."""
    match = _ISO.search(text)
    if match:
        clock = (int(match[4]), int(match[5]), int(match[6]) if match[6] else None)
        stated = zones.behind(text, match.end(), zone)
        found = _moment((int(match[1]), int(match[2]), int(match[3])), clock, stated, now)
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
        found = _moment(
            (int(match[1]), int(match[3]), int(match[4])), _clock(match, 5), zones.behind(text, match.end(), zone), now
        )
        if found:
            return found
    return None


def _chinese(text: str, now: datetime, zone: tzinfo) -> Moment | None:
    """Dates of the Republic's calendar or in Chinese numerals."""
    republic = _ROC.search(text) if "民" in text else None
    if republic:
        return _moment((int(republic[1]) + 1911, int(republic[2]), int(republic[3])), _clock(republic, 4), zone, now)
    han = _HAN_DATE.search(text) if "年" in text else None
    if han:
        year = int("".join(str(_HAN[sign]) for sign in han[1]))
        return _moment((year, _han(han[2]), _han(han[3])), _clock(han, 4), zone, now)
    return None


def _west(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Dates with month names or the year last."""
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text):
            name, day = (match[2], match[1]) if pattern is _DAY_FIRST else (match[1], match[2])
            month = MONTHS.get(name.lower())
            found = _western(text, match, (int(match[3]), month, int(day)), now, habits) if month else None
            if found:
                return found
    dotted = _DOTTED.search(text)
    if dotted:
        return _western(text, dotted, (int(dotted[3]), int(dotted[2]), int(dotted[1])), now, habits)
    slashed = _SLASHED.search(text)
    if slashed:
        first, second = int(slashed[1]), int(slashed[2])
        day_first = first > 12 or (habits.day_first and second <= 12)
        month, number = (second, first) if day_first else (first, second)
        return _western(text, slashed, (int(slashed[3]), month, number), now, habits)
    java = _JAVA.search(text)
    if java and java[1].lower() in MONTHS:
        zone = zones.behind(java[6], 0, habits.zone)
        clock = (int(java[3]), int(java[4]), int(java[5]))
        return _moment((int(java[7]), MONTHS[java[1].lower()], int(java[2])), clock, zone, now)
    return None


def _western(
    text: str, match: re.Match[str], parts: tuple[int, int, int], now: datetime, habits: Habits
) -> Moment | None:
    """The moment of a date with its clock behind it (groups 4 to 7) or right before it."""
    if match[4] is not None:
        clock = (_hour(int(match[4]), match[7]), int(match[5]), int(match[6]) if match[6] else None)
        return _moment(parts, clock, zones.behind(text, match.end(), habits.zone), now)
    before = _CLOCK_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if before:
        zone = zones.behind(before[4] or "", 0, habits.zone)
        found = _moment(parts, (_hour(int(before[1]), before[3]), int(before[2]), None), zone, now)
        if found:
            return found
    return _moment(parts, None, None, now)


def read_stamp(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read a machine-made value: ISO 8601, RFC 2822 or Unix time; falls back to `read`."""
    text = text.strip()[:100]
    if _EPOCH.fullmatch(text):
        return read_epoch(text, now, habits)
    compact = _COMPACT.fullmatch(text)
    if compact:
        clock = (int(compact[4]), int(compact[5]), int(compact[6]) if compact[6] else None) if compact[4] else None
        return _moment((int(compact[1]), int(compact[2]), int(compact[3])), clock, habits.zone, now)
    return read(text, now, habits)


def read_epoch(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read Unix seconds or milliseconds as a moment in the site's zone."""
    match = _EPOCH.search(text)
    if not match:
        return None
    stamp = datetime.fromtimestamp(int(match[1]), UTC).astimezone(habits.zone)
    return _moment((stamp.year, stamp.month, stamp.day), (stamp.hour, stamp.minute, stamp.second), habits.zone, now)


def read_relative(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read "3小时前", "昨天 08:30", "05-12 10:20" (of the year that puts it in the past) against `now`."""
    text = text[:200].translate(_DIGITS)
    zone = habits.zone
    local = now.astimezone(zone)
    match = _RELATIVE.search(text)
    if match and match[1]:
        return _ago(match[1].lower(), match[2].lower(), local, now)
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


def _ago(amount: str, unit: str, local: datetime, now: datetime) -> Moment | None:
    """A moment some units before `local`; to the minute for units up to hours, to the day for longer ones."""
    half = amount == "半"
    count = 1 if amount in {"a", "an"} or half else 2 if amount in {"两", "兩"} else 0
    count = count or (int(amount) if amount.isdecimal() else _han(amount))
    if unit[0] in "秒s":
        local -= timedelta(seconds=count)
    elif unit[0] == "分" or unit.startswith("min"):
        local -= timedelta(minutes=count)
    elif unit[0] in "小钟h":
        local -= timedelta(minutes=30) if half else timedelta(hours=count)
    else:
        days = next((size for signs, size in _DAYS if unit[0] in signs), 1)
        local -= timedelta(days=days * count)
        return _moment((local.year, local.month, local.day), None, local.tzinfo, now)
    return _moment((local.year, local.month, local.day), (local.hour, local.minute, None), local.tzinfo, now)


def read_url(url: str, now: datetime) -> Moment | None:
    """Read the day that a URL's path holds (/2024/03/12/, /20240312/, /t20240312_1.html)."""
    path = url[:500].partition("://")[2].partition("/")[2].partition("?")[0]
    for pattern in (_URL, _URL_LOOSE):
        for match in pattern.finditer("/" + path):
            found = _moment((int(match[1]), int(match[2]), int(match[3])), None, None, now)
            if found:
                return found
    return None
