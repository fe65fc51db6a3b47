"""Publish times as pages write them, read with explicit rules.

General date parsers guess: a day without a year becomes this century's fifth year, "5月12日" becomes nothing. Each rule
here answers with the precision that was written, never more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Final

from ..word_lists import WordLists
from . import timezones
from .calendars import read_number, westernize
from .names import find_month
from .period import midnight
from .timezones import UNKNOWN, Habits

LISTS: Final = WordLists(Path(__file__).with_name("words.txt"))
_EARLIEST: Final = 1990

# A search skips to where a pattern may begin when this is a character or one of a set: what must not stand in front is
# therefore looked at behind the first characters.
_YEAR = re.compile(r"(?:19|20)\d\d")
_ISO = re.compile(
    r"((?:19|20)\d\d)(?<!\d{5})-(\d\d?)-(\d\d?)(?:[T ]\s?|T%20)(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?!\d|"
    r"\s{0,2}[AP]M\b)",
    re.IGNORECASE,
)
_LATER: Final = LISTS.words("later") | {"pm", "p"}
_EARLIER: Final = LISTS.words("earlier") | {"am", "a"}
_NOON: Final = LISTS.words("noon")
_HALVES: Final = LISTS.choices("later", "earlier", "noon", "early")
CLOCK: Final = (
    r"(?:\s?[日號号일]?\.?[\sT,，|｜·(（]{0,6}(?:(?:星期|周|週|礼拜)[一二三四五六日天]|[日月火水木金土](?:曜日)?(?=\s{0,2}[)）])|"
    r"[월화수목금토일]요일|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6})?[\s)）|｜,，-]{0,4}(?:农历[^\W\d_]{2,8}\s{1,2})?"
    rf"({_HALVES}|AM|PM)?\s{{0,3}}(\d{{1,2}})"
    r"\s?(?:[:∶]\s?(?=\d)|[时時點点시](?=\s?\d|[半整许\s,，|)）\]】]|$)\s?)(\d{1,2}|半)?"
    r"(?:\s?(?:[:∶]|分|분)\s?(\d{1,2})(?!\d))?(?:分|秒|분|초)?"
    r"(?:\s{0,2}(AM|PM|am|pm)\b)?)?"
)
"""A clock behind a date, in five groups that `read_clock` reads; empty when there is none."""
_NUMERIC = re.compile(r"((?:19|20)\d\d)(?<![\d.]\d{4})\s?([-/.年년])\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)" + CLOCK)
_COMPACT_DAY = re.compile(r"((?:19|20)\d\d)(?<!\d{5})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=[ T]\d\d?:\d\d)")
_CLOCK_FIRST = re.compile(
    r"(\d(?<![\d:]\d)\d?):(\d\d)(?::(\d\d))?\s{1,4}((?:19|20)\d\d)[-/.年](\d{1,2})[-/.月](\d{1,2})(?!\d)"
)
_BOXED = re.compile(
    r"((?:19|20)\d\d)(?<!\d{5})\s{1,4}(\d{1,2})\s?[-/月]\s?(\d{1,2})\s{1,4}(\d{1,2}):(\d\d)(?::(\d\d))?(?!\d)"
)
_HAN_DATE = re.compile(
    r"([一二三四五六七八九0]{4}|(?:19|20)\d\d)年([元一二三四五六七八九十]{1,3})月([一二三四五六七八九十]{1,3})日"
    + CLOCK
)


_MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTHS: Final = {name: number for number, month in enumerate(_MONTH_NAMES, 1) for name in LISTS[month]}
_BEFORE_YEAR: Final = MONTHS | {
    name: number for number, month in enumerate(_MONTH_NAMES, 1) for name in LISTS[f"{month} before a year"]
}
"""Some short names are words of other languages: months only where a year follows."""
_CLOCK_WEST = (
    rf"(?:(?:\s?г\.)?\s{{0,2}}[,،:·|•(–—-]?\s{{0,3}}{LISTS.pattern('before clocks')}?\s{{0,3}}"
    r"(\d{1,2})[:.h](\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(?![\d.])\s{0,2}([ap]\.?m\.?(?![a-z]))?)?"
)
NAME: Final = r"([^\s\d\x00-\x2f:-@\[-`{-\xb4\xb6-\xbf\u2010-\u206f\u3000-\u303f\uff00-\uff20،؛۔]{2,16})"
r"""Letters and the vowel signs of Indian scripts, which `\w` does not match."""
_YEAR_FIRST = re.compile(
    rf"((?:19|20)\d\d)(?<!\d{{5}})(?:[,.]?\s{{1,2}}|-){NAME}\.?(?:\s{{1,2}}|-)(\d{{1,2}})(?!\d)T?" + _CLOCK_WEST,
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(
    rf"(\d(?<!\d\d)\d?)(?:(?:{LISTS.choices('ordinals')}),?|\.|,(?=\s[^\x00-\x7f]|\s[A-Z][a-z]{{2,8}},))?\s{{0,2}}[-/]?"
    rf"(?:(?:de|of|ta['’])\s|d['’])?{NAME}\.?[,،]?\s{{0,2}}[-/]?"
    r"(?:de\s|del\s)?((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST,
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?<![^\W\d_]){NAME}\.?\s{{1,2}}(\d{{1,2}}){LISTS.pattern('english ordinals')}?[,،]?\s{{1,2}}"
    r"((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST,
    re.IGNORECASE,
)
# Of the year there are two digits.
_SHORT_NAMED = re.compile(
    rf"(\d(?<![\w./-]\d)\d?)[-\s]{NAME}\.?(?:-|,?\s?['’])(\d\d)(?![\w/-]|[.:]\d)" + _CLOCK_WEST, re.IGNORECASE
)
_SHORT_LINE = re.compile(
    rf"(?:[^\W\d_]{{2,12}}[.,]?\s)?(\d(?<!\d\d)\d?)\s{{0,2}}{NAME}\.?,?\s{{0,2}}(\d\d)(?![\w/-]|[.:]\d)" + _CLOCK_WEST,
    re.IGNORECASE,
)
_SHORT_CLOCKED = re.compile(
    rf"(\d(?<![\w./-]\d)\d?)\.?\s{NAME}\.?,?\s(\d\d),?\s(\d{{1,2}}):(\d\d)(?::(\d\d))?(?![\d:])\s?([ap]\.?m\.?(?![a-z]))?",
    re.IGNORECASE,
)
_TWO = re.compile(r"(\d(?<![\w./-]\d)\d?)([./-])(\d\d?)\2(\d\d)(?![\w/-]|\.\d)[,，]?\s{0,3}(?:(\d{1,2}):(\d\d))?")
_TWO_NUMBERS = re.compile(r"\d\D+\d\d")
"""Found in every date of a day, something else and a year of two digits."""
_SHORT_CHARS: Final = 60
_FIRST_BUDDHIST: Final = 32
_YEAR_FIRST_LANGUAGES: Final = frozenset({"", "zh", "ja", "ko", "hu"})
_DOTTED = re.compile(r"(\d(?<![\d.]\d)\d?)\.\s?(\d{1,2})\.\s?((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST, re.IGNORECASE)
_SLASHED = re.compile(r"(\d(?<![\d/-]\d)\d?)[/-](\d{1,2})[/-]((?:19|20)\d\d)(?!\d)" + _CLOCK_WEST, re.IGNORECASE)
_CLOCK_BEFORE = re.compile(
    r"(?<![\d:])(\d{1,2})[:h](\d\d)\s{0,2}([ap]\.?m\.?)?\s{0,2}([A-Z]{2,5})?[\s,،·|•–—-]{0,5}"
    r"(?:on\s|[^\W\d_](?:[^\W\d_]|\u200c){2,10}[,،]?\s{1,2})?$",
    re.IGNORECASE,
)
_JAVA = re.compile(
    r"([A-Z](?<!\w\w)[a-z]{2})\s{1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (?:([A-Z]{2,5}|(?:GMT)?[+-]\d\d:?\d\d) )?"
    r"((?:19|20)\d\d)(?!\d)"
)
_URL = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_/]?(0[1-9]|1[0-2])[-_/]?(0[1-9]|[12]\d|3[01])(?:[0-2]\d[0-5]\d(?:[0-5]\d)?)?(?!\d)"
)
_URL_LOOSE = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_/])(\d{1,2}|[a-z]{3})\2(\d{1,2})(?![\d.])")
_EASTERN = re.compile(
    r"(?<!\d)(?:(\d{1,2})\s{1,2}(1?\d|[一二三四五六七八九十]{1,2})\s?[月월]|([一二三四五六七八九十]{1,2})月\s(\d{1,2})),?\s{1,2}"
    r"((?:19|20)\d\d)(?!\d)"
)
_ORDINAL = re.compile(r"\A((?:19|20)\d\d)(?:-(\d{3})(?![\d-]))")
_MIDNIGHT = re.compile(r"(?<![\d:+-])24:00(?![\d])(?!:(?!00))")
_LEAP_SECOND = re.compile(r"(?<=[0-5]\d:[0-5]\d:)60(?!\d)")
_SHORT_OFFSET = re.compile(r"(:\d\d\s?[+-])(\d(?::?\d\d)?)\Z")
_SHORT_YEAR = re.compile(r"(?<!\d)(\d{1,2}[ -][A-Za-z]{3}[ -])(\d\d)(?= \d{1,2}:\d\d)")
_COMPACT = re.compile(
    r"((?:19|20)\d\d)(0\d|1[0-2])([0-3]\d)(?:T?(\d\d):?(\d\d):?(\d\d)?(?:\.\d{1,6})?(Z|[+-]\d\d:?\d\d)?)?"
)
_MORNING: Final = 6
_UNIX = re.compile(r"(?:/?Date\()?1[0-9]{9}(?:\d{3})?(?:\.\d{1,9})?(?:[+-]\d{4})?(?:\)/?)?")
_EPOCH = re.compile(r"(?<!\d)(1[0-9]{9})(?:\d{3})?(?!\d)")


@dataclass(frozen=True, slots=True)
class Moment:
    """A publish time; the precision is second, minute, day or guess (of the year).

    `iso` has an offset whenever it has a clock; `is_zoned` is false where that is none the page or its site told.
    """

    iso: str
    precision: str
    day: date
    is_zoned: bool = True

    @property
    def has_clock(self) -> bool:
        return "T" in self.iso

    @property
    def written(self) -> str:
        """The time as it is stored: without an offset that nobody told."""
        return self.iso if self.is_zoned or not self.has_clock else self.iso.removesuffix("+00:00")

    def utc(self, zone: tzinfo) -> str:
        """Return it in UTC for sorting; a day begins at midnight in the zone.

        >>> Moment("2024-03-12T08:30+08:00", "minute", date(2024, 3, 12)).utc(UTC)
        '2024-03-12 00:30:00'
        >>> Moment("2024-03-12", "day", date(2024, 3, 12)).utc(timezones.read_offset("+8"))
        '2024-03-11 16:00:00'
        """
        stamp = datetime.fromisoformat(self.iso)
        return str((stamp if stamp.tzinfo else stamp.replace(tzinfo=zone)).astimezone(UTC).replace(tzinfo=None))


def build_moment(
    parts: tuple[int, int, int], clock: tuple[int, int, int | None] | None, zone: tzinfo | None, now: datetime
) -> Moment | None:
    """Build a moment, without its clock if no zone is known.

    None for impossible, ancient and future ones.
    """
    year, month, day = parts
    try:
        if clock is None or zone is None:
            written_day = date(year, month, day)
            late = (now + timedelta(hours=26)).date()
            return (
                Moment(written_day.isoformat(), "day", written_day)
                if year >= _EARLIEST and written_day <= late
                else None
            )
        stamp = datetime(year, month, day, clock[0], clock[1], clock[2] or 0, tzinfo=zone)
    except ValueError:
        return None
    # A day of grace, because a zone that the page leaves out may be wrong by half a day.
    if year < _EARLIEST or stamp > now + timedelta(hours=26):
        return None
    if clock[2] is None:
        return Moment(stamp.isoformat(timespec="minutes"), "minute", stamp.date(), is_zoned=zone is not UNKNOWN)
    return Moment(stamp.isoformat(timespec="seconds"), "second", stamp.date(), is_zoned=zone is not UNKNOWN)


def read_clock(match: re.Match[str], first: int) -> tuple[int, int, int | None] | None:
    """Read hour, minute and second of the five clock groups starting at `first`."""
    half, hour, minute, second, half2 = (match.group(first + offset) for offset in range(5))
    if hour is None:
        return None
    return (
        to_24_hours(int(hour), half or half2),
        30 if minute == "半" else int(minute or 0),
        int(second) if second else None,
    )


def to_24_hours(hour: int, half: str | None) -> int:
    half = (half or "").lower()[:2].rstrip(".")
    if (half in _LATER and hour < 12) or (half in _NOON and hour < _MORNING):
        return hour + 12
    return 0 if hour == 12 and half in _EARLIER else hour


def read(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read the first date and time in the first 400 characters of `text`.

    Times more than 26 hours after `now`, when the page was fetched, are refused.
    Cost: O(characters); patterns have bounded repetitions, and without a year none of them is tried.

    >>> read("二〇二四年三月十二日", datetime(2025, 1, 1, tzinfo=UTC), Habits()).iso
    '2024-03-12'
    """
    text = normalize(text[:400], habits)
    has_year = _YEAR.search(text)
    moment = _numeric(text, now, habits.zone) if has_year else None
    if moment is None and "年" in text:
        moment = _chinese(text, now, habits.zone)
    if moment is None and has_year:
        moment = _west(text, now, habits)
    if moment is None and len(text) <= _SHORT_CHARS and _TWO_NUMBERS.search(text):
        return _two_digits(text, now, habits)
    return moment


def _numeric(text: str, now: datetime, zone: tzinfo) -> Moment | None:
    text = _COMPACT_DAY.sub(r"\1-\2-\3", text)
    match = _ISO.search(text)
    if match:
        clock = (int(match[4]), int(match[5]), int(match[6]) if match[6] else None)
        stated = timezones.read_zone(text, match.end(), zone)
        moment = build_moment((int(match[1]), int(match[2]), int(match[3])), clock, stated, now)
        if moment:
            return moment
    swapped = _CLOCK_FIRST.search(text)
    if swapped:
        second = int(swapped[3]) if swapped[3] else None
        return build_moment(
            (int(swapped[4]), int(swapped[5]), int(swapped[6])), (int(swapped[1]), int(swapped[2]), second), zone, now
        )
    boxed = _BOXED.search(text)
    if boxed:
        second = int(boxed[6]) if boxed[6] else None
        return build_moment(
            (int(boxed[1]), int(boxed[2]), int(boxed[3])), (int(boxed[4]), int(boxed[5]), second), zone, now
        )
    for match in _NUMERIC.finditer(text):
        parts = int(match[1]), int(match[3]), int(match[4])
        moment = build_moment(
            parts, read_clock(match, 5), timezones.read_zone(text, match.end(), zone), now
        ) or build_moment(parts, None, None, now)
        if moment:
            return moment
    return None


def _two_digits(text: str, now: datetime, habits: Habits) -> Moment | None:
    local = now.astimezone(habits.zone)
    named = (
        _SHORT_NAMED.search(text)
        or (_SHORT_LINE.search if habits.buddhist else _SHORT_LINE.fullmatch)(text.strip())
        or _SHORT_CLOCKED.search(text)
    )
    if named:
        month = number_of_month(named[2], habits.language)
        clock = (
            (to_24_hours(int(named[4]), named[7]), int(named[5]), int(named[6]) if named[6] else None)
            if named[4]
            else None
        )
        if not month:
            return None
        zone = timezones.read_zone(text, named.end(), habits.zone) if named[4] else habits.zone
        return build_moment((_full_year(int(named[3]), local, habits), month, int(named[1])), clock, zone, now)
    match = _TWO.search(text)
    if match is None or (match[2] == "-" and not match[5]) or (match[2] == "." and not habits.day_first):
        return None
    if len(match[3]) == 1 and not habits.buddhist:
        return None
    if match[2] == "-" and habits.language not in _YEAR_FIRST_LANGUAGES:
        return None  # "11-12-13" may begin with the day as well
    first, second, third = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "-":
        first, third = third, first
    elif not habits.day_first:
        first, second = second, first
    clock = (int(match[5]), int(match[6]), None) if match[5] else None
    return build_moment((_full_year(third, local, habits), second, first), clock, habits.zone, now)


def _full_year(digits: int, local: datetime, habits: Habits) -> int:
    if habits.buddhist and digits > _FIRST_BUDDHIST:
        return 2500 + digits - 543
    return local.year - (local.year - digits) % 100


def normalize(text: str, habits: Habits) -> str:
    text = westernize(text, habits)
    return _EASTERN.sub(_write_dotted, text) if "月" in text or "월" in text else text


def _write_dotted(eastern: re.Match[str]) -> str:
    """Write "12 三月 2024", as Western software does, in digits."""
    return f"{eastern[1] or eastern[4]}.{read_number(eastern[2] or eastern[3])}.{eastern[5]}"


def _chinese(text: str, now: datetime, zone: tzinfo) -> Moment | None:
    written = _HAN_DATE.search(text)
    if written:
        parts = read_number(written[1]), read_number(written[2]), read_number(written[3])
        return build_moment(parts, read_clock(written, 4), zone, now)
    return None


def number_of_month(name: str, language: str) -> int | None:
    return find_month(name, language) or _BEFORE_YEAR.get(name.lower())


def _west(text: str, now: datetime, habits: Habits) -> Moment | None:
    for pattern, day, name, year in ((_DAY_FIRST, 1, 2, 3), (_MONTH_FIRST, 2, 1, 3), (_YEAR_FIRST, 3, 2, 1)):
        for match in pattern.finditer(text):
            month = number_of_month(match[name], habits.language)
            parts = (int(match[year]), month or 0, int(match[day]))
            moment = _western(text, match, parts, now, habits) if month else None
            if moment:
                return moment
    dotted = _DOTTED.search(text)
    if dotted:
        first, second = int(dotted[1]), int(dotted[2])
        number, month = (first, second) if second <= 12 else (second, first)
        return _western(text, dotted, (int(dotted[3]), month, number), now, habits)
    slashed = _SLASHED.search(text)
    if slashed:
        first, second = int(slashed[1]), int(slashed[2])
        day_first = first > 12 or (habits.day_first and second <= 12)
        month, number = (second, first) if day_first else (first, second)
        return _western(text, slashed, (int(slashed[3]), month, number), now, habits)
    java = _JAVA.search(text)
    if java and java[1].lower() in MONTHS:
        zone = timezones.read_zone(java[6] or "", 0, habits.zone)
        clock = (int(java[3]), int(java[4]), int(java[5]))
        return build_moment((int(java[7]), MONTHS[java[1].lower()], int(java[2])), clock, zone, now)
    return None


def _western(
    text: str, match: re.Match[str], parts: tuple[int, int, int], now: datetime, habits: Habits
) -> Moment | None:
    """Build the moment of a date with the clock behind it (groups 4 to 7) or before."""
    if match[4] is not None:
        clock = (to_24_hours(int(match[4]), match[7]), int(match[5]), int(match[6]) if match[6] else None)
        return build_moment(parts, clock, timezones.read_zone(text, match.end(), habits.zone), now)
    before = _CLOCK_BEFORE.search(text, max(0, match.start() - 40), match.start())
    if before:
        # The zone stands behind the clock, or behind the date: "22:00, 11 July 2021 BST".
        default = timezones.read_zone(text, match.end(), habits.zone)
        zone = timezones.read_zone(before[4] or "", 0, default)
        moment = build_moment(parts, (to_24_hours(int(before[1]), before[3]), int(before[2]), None), zone, now)
        if moment:
            return moment
    return build_moment(parts, None, None, now)


def read_stamp(text: str, now: datetime, habits: Habits) -> Moment | None:
    """Read ISO 8601, RFC 2822 or Unix time, else as `read`.

    Ordinal days, 24:00 and leap seconds are allowed.

    >>> read_stamp("Thu, 01 Jan 04 19:48:21 +08:00", datetime(2025, 1, 1, tzinfo=UTC), Habits()).iso
    '2004-01-01T19:48:21+08:00'
    >>> read_stamp("2024-060T24:00 +8", datetime(2025, 1, 1, tzinfo=UTC), Habits()).iso
    '2024-03-01T00:00+08:00'
    """
    text = text.strip()[:100]
    if _UNIX.fullmatch(text):
        return read_epoch(text, now, habits)
    text = _SHORT_OFFSET.sub(r"\g<1>0\2", _LEAP_SECOND.sub("59", _ORDINAL.sub(_write_day, text)))
    begun, ends = _MIDNIGHT.subn("00:00", text, count=1)
    moment = _read_stamp(begun, now, habits)
    if not ends or moment is None:
        return moment
    following = moment.day + timedelta(days=1)
    return replace(moment, iso=moment.iso.replace(moment.day.isoformat(), following.isoformat()), day=following)


def _read_stamp(text: str, now: datetime, habits: Habits) -> Moment | None:
    compact = _COMPACT.fullmatch(text)
    if compact:
        clock = (int(compact[4]), int(compact[5]), int(compact[6]) if compact[6] else None) if compact[4] else None
        zone = timezones.read_zone(compact[7], 0, habits.zone) if compact[7] else habits.zone
        return build_moment((int(compact[1]), int(compact[2]), int(compact[3])), clock, zone, now)
    return read(_SHORT_YEAR.sub(_write_year, text, count=1), now, habits)


def _write_day(ordinal: re.Match[str]) -> str:
    day = date(int(ordinal[1]), 1, 1) + timedelta(days=int(ordinal[2]) - 1)
    return day.isoformat() if day.year == int(ordinal[1]) else ordinal[0]


def _write_year(year: re.Match[str]) -> str:
    return f"{year[1]}{'20' if int(year[2]) < 50 else '19'}{year[2]}"


def read_epoch(text: str, now: datetime, habits: Habits) -> Moment | None:
    match = _EPOCH.search(text)
    if not match:
        return None
    zone = UTC if habits.zone is UNKNOWN else habits.zone
    stamp = datetime.fromtimestamp(int(match[1]), UTC).astimezone(zone)
    return build_moment((stamp.year, stamp.month, stamp.day), (stamp.hour, stamp.minute, stamp.second), zone, now)


def read_url(url: str, now: datetime) -> Moment | None:
    """Read the day in a URL's path (/2024/03/12/, /20240312/, /t20240312_1.html)."""
    path = "/" + _original(url)[:500].partition("://")[2].partition("/")[2].partition("?")[0].lower()
    for match in _URL.finditer(path):
        moment = build_moment((int(match[1]), int(match[2]), int(match[3])), None, None, now)
        if moment:
            return moment
    for match in _URL_LOOSE.finditer(path):
        month = int(match[3]) if match[3].isdecimal() else MONTHS.get(match[3], 0)
        moment = build_moment((int(match[1]), month, int(match[4])), None, None, now)
        if moment:
            return moment
    return None


def _original(url: str) -> str:
    """Return the URL of which an archive keeps a capture."""
    captured = _CAPTURE.search(url)
    return url[captured.end() - len(captured[1]) :] if captured else url


def read_url_year(url: str) -> tuple[int, int]:
    """Return year and month of a folder in a URL; 0 where it names none.

    >>> read_url_year("http://h.cn/2012/08/a.html"), read_url_year("http://h.cn/news/2012/a"), read_url_year("http://h.cn/a")
    ((2012, 8), (2012, 0), (0, 0))
    """
    folder = _URL_YEAR.search(_original(url)[:500].partition("://")[2])
    return (int(folder[1]), int(folder[2] or 0)) if folder else (0, 0)


def read_url_span(url: str, now: datetime) -> tuple[float, float] | None:
    """Return the first and last Unix time of the day, month or year in a URL.

    Months and years count only at the end of a path, where they name an archive.

    >>> read_url_span("http://h.cn/archive/2019/", datetime(2025, 1, 1, tzinfo=UTC)) == (1546300800.0, 1577836800.0)
    True
    """
    if not any(map(url.__contains__, _CENTURIES)):
        return None
    moment = read_url(url, now)
    if moment is not None:
        return midnight(moment.day), midnight(moment.day + timedelta(days=1))
    archive = _ARCHIVE.search(_original(url))
    if archive is None:
        return None
    year, month = int(archive[1]), int(archive[2] or 0)
    last = date(year, month or 12, 1) + timedelta(days=31)
    return midnight(date(year, month or 1, 1)), midnight(last.replace(day=1))


_CENTURIES = ("19", "20")
_CAPTURE = re.compile(r"/\d{8,14}(?:[a-z]{2}_)?/(https?:/)")
_URL_YEAR = re.compile(r"/((?:19|20)\d\d)(?:[-/_]?(0?[1-9]|1[0-2]))?(?=/)")
_ARCHIVE = re.compile(r"/((?:19|20)\d\d)(?:[/-](0?[1-9]|1[0-2]))?/?$")
