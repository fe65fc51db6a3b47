"""Time zones written behind a clock, and the zone of a site that writes none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from ..decode.text import words

CHINA: Final = timezone(timedelta(hours=8))
UNKNOWN: Final = timezone(timedelta(), "unknown")
"""The zone of a clock when neither page nor site tell one: it is kept without a zone, and sorted as if in UTC."""


def _fixed(hours: float) -> timezone:
    return timezone(timedelta(hours=hours))


_BRITAIN, _CENTRAL, _EASTERN = ZoneInfo("Europe/London"), ZoneInfo("Europe/Berlin"), ZoneInfo("Europe/Athens")
_MOSCOW, _ISTANBUL = ZoneInfo("Europe/Moscow"), ZoneInfo("Europe/Istanbul")  # whose offsets were others before 2015
_NAMES: Final[dict[str, tzinfo]] = {
    **dict.fromkeys(("Z", "UTC", "GMT", "WET"), UTC),
    **dict.fromkeys(("CET", "WAT", "MEZ", "BST", "WEST"), _fixed(1)),
    **dict.fromkeys(("CEST", "MESZ", "EET", "SAST", "CAT"), _fixed(2)),
    **dict.fromkeys(("EEST", "EAT", "TRT"), _fixed(3)),
    "MSK": _MOSCOW,
    **dict.fromkeys(("HKT", "SGT", "MYT", "PHT", "AWST", "WITA", "北京时间", "北京時間"), CHINA),
    **dict.fromkeys(("JST", "KST", "WIT"), _fixed(9)),
    "GST": _fixed(4), "PKT": _fixed(5), "IST": _fixed(5.5), "NPT": _fixed(5.75), "ICT": _fixed(7), "WIB": _fixed(7),
    "AEST": _fixed(10), "AEDT": _fixed(11), "ACST": _fixed(9.5), "NZST": _fixed(12), "NZDT": _fixed(13),
    "BRT": _fixed(-3), "ART": _fixed(-3), "NDT": _fixed(-2.5), "NST": _fixed(-3.5), "ADT": _fixed(-3),
    "AST": _fixed(-4), "EDT": _fixed(-4), "EST": _fixed(-5), "CDT": _fixed(-5), "CST": _fixed(-6), "MDT": _fixed(-6),
    "MST": _fixed(-7), "PDT": _fixed(-7), "PST": _fixed(-8), "AKDT": _fixed(-8), "AKST": _fixed(-9),
    "HST": _fixed(-10), "ET": ZoneInfo("America/New_York"), "CT": ZoneInfo("America/Chicago"),
    "MT": ZoneInfo("America/Denver"), "PT": ZoneInfo("America/Los_Angeles"),
}  # fmt: skip
_COUNTRIES: Final[dict[str, tzinfo]] = {
    suffix: zone
    for zone, suffixes in (
        (CHINA, "cn tw hk mo sg my ph"),
        (_fixed(9), "jp kr"),
        (_fixed(7), "th vn id la kh"),
        (_fixed(5.5), "in lk"),
        (ZoneInfo("Asia/Karachi"), "pk"),
        (ZoneInfo("Asia/Dhaka"), "bd"),
        (_fixed(4), "ae om ge"),
        (ZoneInfo("Asia/Yerevan"), "am"),
        (ZoneInfo("Asia/Baku"), "az"),
        (_fixed(4.5), "af"),
        (_fixed(5.75), "np"),
        (_fixed(6.5), "mm"),
        (_fixed(3), "sa kw qa ke ye bh et"),
        (ZoneInfo("Asia/Baghdad"), "iq"),
        (_MOSCOW, "ru"),
        (_ISTANBUL, "tr"),
        (ZoneInfo("Europe/Minsk"), "by"),
        (ZoneInfo("Asia/Damascus"), "sy"),
        (ZoneInfo("Asia/Amman"), "jo"),
        (ZoneInfo("Asia/Tehran"), "ir"),
        (ZoneInfo("Asia/Jerusalem"), "il"),
        (ZoneInfo("Asia/Beirut"), "lb"),
        (ZoneInfo("Africa/Cairo"), "eg"),
        (ZoneInfo("Africa/Casablanca"), "ma"),
        (_fixed(2), "za"),
        (_fixed(1), "ng dz"),
        (ZoneInfo("Africa/Tunis"), "tn"),
        (ZoneInfo("America/Sao_Paulo"), "br"),
        (ZoneInfo("America/Montevideo"), "uy"),
        (ZoneInfo("America/Asuncion"), "py"),
        (ZoneInfo("America/Argentina/Buenos_Aires"), "ar"),
        (_BRITAIN, "uk ie pt"),
        (_CENTRAL, "de at ch li fr it es nl be lu pl cz sk hu se no dk si hr rs ba mk al"),
        (_EASTERN, "fi gr ro bg ee lv lt ua cy md"),
    )
    for suffix in suffixes.split()
}
_LANGUAGES: Final[dict[str, tzinfo]] = {
    language: zone
    for zone, languages in (
        (CHINA, "zh"),
        (_fixed(9), "ja ko"),
        (_fixed(7), "vi th id lo km"),
        (_fixed(5.5), "hi ta te ml kn mr gu or as"),
        (_fixed(4.5), "ps"),
        (_fixed(5.75), "ne"),
        (_fixed(6.5), "my"),
        (ZoneInfo("Asia/Tehran"), "fa"),
        (ZoneInfo("Asia/Jerusalem"), "he iw"),
        (_fixed(6), "bn"),
        (_MOSCOW, "ru"),
        (_ISTANBUL, "tr"),
        (_CENTRAL, "de it pl nl sv da no cs hu"),
        (_EASTERN, "fi el ro bg uk"),
    )
    for language in languages.split()
}
# The day stands first all over the world, except where English is American.
_MONTH_FIRST: Final = words("en")
_DAY_FIRST_COUNTRIES: Final = words("uk ie au nz in za ng ke sg my hk pk lk")
_SOLAR: Final = words("ir af fa ps")
"""Countries and languages whose year begins in spring: Iran and Afghanistan."""
_FIRST_OFFSET, _LAST_OFFSET = -12 * 60, 14 * 60
"""In minutes: zones from Baker Island to Kiribati."""
_BEHIND: Final = re.compile(
    r"\s{0,3}(?:Uhr\s{0,2})?[(（,]?\s?(?:(?:UTC|GMT)\s?([+-]\d{1,2}(?::?\d\d)?)|([+-]\d\d:?\d\d|[+-]\d00|[+-]\d\d(?=\s|$))(?!\d)|"
    r"(Eastern|Central|Mountain|Pacific)(?=(?:\s(?:Standard|Daylight))?(?:\sTime)?\b)|"
    r"(北京时间|北京時間|[A-Z]{1,5})(?![A-Za-z]))"
)
_CLOCK_BEFORE: Final = re.compile(r"[^T\d:](\d{1,2}):(\d\d)$")
_CLOCK_CHARS: Final = 6


@dataclass(frozen=True, slots=True)
class Habits:
    """Zone of a site's clocks, its order of day and month, its calendar and language."""

    zone: tzinfo = UNKNOWN
    day_first: bool = False
    republic: bool = False
    buddhist: bool = False
    solar: bool = False
    language: str = ""


def find_habits(host: str, language: str, declared: str = "") -> Habits:
    """Return the habits of a site: its country decides, then its language.

    `declared` is the language as the page declares it, with its region ("en-GB"). The zone is `UNKNOWN` and the month
    first when nothing is known.

    >>> find_habits("news.example.de", "de").day_first
    True
    """
    country, code = host.rpartition(".")[2], language.partition("-")[0]
    zone = _COUNTRIES.get(country) or _LANGUAGES.get(code) or UNKNOWN
    region = declared[-2:].lower() if len(declared) == 5 else ""
    day_first = (
        (code not in _MONTH_FIRST and bool(code))
        or country in _DAY_FIRST_COUNTRIES
        or region in _DAY_FIRST_COUNTRIES | {"gb"}
    )
    republic = country == "tw" or (code == "zh" and region == "tw")
    return Habits(
        zone,
        day_first,
        republic,
        buddhist=country == "th" or code == "th",
        solar=country in _SOLAR or code in _SOLAR,
        language=code,
    )


def read_zone(text: str, place: int, default: tzinfo | None) -> tzinfo | None:
    """Return the zone at `place` of `text`, behind a clock, or `default`.

    `default` also decides what an ambiguous name means. None for an offset that no place has.
    """
    match = _BEHIND.match(text, place)
    if not match:
        return default
    digits = match[1] or match[2]
    if digits:
        begun = _CLOCK_BEFORE.search(text, max(0, place - _CLOCK_CHARS), place) if digits[0] == "-" else None
        if begun and f"{begun[1]:0>2}:{begun[2]}" < digits[1:]:
            return default  # "10:00-12:00" are two clocks
        return read_offset(digits)
    if match[3]:
        return _NAMES[match[3][0].upper() + "T"]
    if match[4] == "CST" and default is CHINA:
        return CHINA
    return _NAMES.get(match[4], default)


def read_offset(digits: str) -> timezone | None:
    """Return the zone of an offset (+08:00, +800, +8); None when no place has it.

    >>> read_offset("+14:00").utcoffset(None), read_offset("+15:00")
    (datetime.timedelta(seconds=50400), None)
    """
    hours, _, minutes = digits[1:].partition(":")
    if len(hours) > 2:
        hours, minutes = hours[:-2], hours[-2:]
    total = (int(hours) * 60 + int(minutes or 0)) * (-1 if digits[0] == "-" else 1)
    return timezone(timedelta(minutes=total)) if _FIRST_OFFSET <= total <= _LAST_OFFSET else None
