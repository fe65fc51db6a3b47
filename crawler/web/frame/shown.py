"""Values as people read them on a page, made harmless."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote_plus, unquote_plus, urlsplit

from markupsafe import Markup

from ...terminal.text import visible

_SCHEMES = ("http://", "https://")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MOST_URL = 4_000
_SPACE = re.compile(r"[\s\x00-\x20]")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_MARKS = r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"({_MARKS}{{4}}){_MARKS}+")
"""More marks on one letter than any language uses, which would overflow the line."""
_BROKEN = re.compile(r"%[0-9A-F]?$")
_FOLDERS = re.compile(r"(?:(?<=sqlite:///)|(?<![\w:/\\.]))(?:[A-Za-z]:)?[\\/](?:[^\\/:;,'\"\n]+[\\/])+")
_STEP = 1024
_UNITS = ("B", "KB", "MB", "GB", "TB")


def harmless(value: Any) -> Any:
    """Escape characters in plain text that would affect the text around it.

    Every expression in the templates passes through here (Jinja's `finalize`) before HTML escaping.
    """
    if value is None:
        return ""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return visible(value if value.isascii() else _STACKED.sub(r"\1", value))


def web_url(url: str | None) -> str | None:
    """Return a URL if it is safe to link to: http or https with a host.

    >>> web_url("https://example.org/a"), web_url("javascript:alert(1)"), web_url("https:")
    ('https://example.org/a', None, None)
    """
    if not url or len(url) > _MOST_URL or not url.lower().startswith(_SCHEMES) or _SPACE.search(url):
        return None
    try:
        return url if urlsplit(url).hostname else None
    except ValueError:
        return None


def moment(time: str | None, language: str) -> str:
    """Format an ISO time for readers, as precisely as it is given.

    >>> moment("2024-03-12T08:30+08:00", "en"), moment("2024-03-12T08:30+08:00", "zh"), moment("2024-03-12", "en")
    ('12 March 2024, 08:30 UTC+8', '2024年3月12日 08:30（UTC+8）', '12 March 2024')
    """
    match = _TIME.fullmatch(time or "")
    if match is None:
        return time or ""
    year, month, day, hour, minute, second, zone = match.groups()
    if not 1 <= int(month) <= len(_MONTHS):
        return time or ""
    date = f"{year}年{int(month)}月{int(day)}日" if language == "zh" else f"{int(day)} {_MONTHS[int(month) - 1]} {year}"
    if hour is None:
        return date
    clock = f"{hour}:{minute}" + (f":{second}" if second and second != "00" else "")
    where = _zone(zone)
    if language == "zh":
        return f"{date} {clock}" + (f"（{where}）" if where else "")
    return f"{date}, {clock}" + (f" {where}" if where else "")


def day(time: str | None, language: str) -> str:
    return moment((time or "")[:10], language)


def _zone(offset: str | None) -> str:
    """Return a zone in short: `UTC+8`.

    >>> _zone("+08:00"), _zone("Z"), _zone("-03:30"), _zone(None)
    ('UTC+8', 'UTC', 'UTC-3:30', '')
    """
    if offset is None:
        return ""
    if offset in {"Z", "+00:00", "-00:00"}:
        return "UTC"
    hours, minutes = int(offset[1:3]), offset[4:]
    return f"UTC{offset[0]}{hours}" + (f":{minutes}" if minutes != "00" else "")


def from_unix(seconds: float | None) -> str | None:
    """Return a time of the frontier as ISO text to the minute."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")


def number(value: float | None, digits: int = 0) -> str:
    """Return a number with separators.

    >>> number(1234567), number(0.1234, 2), number(None)
    ('1,234,567', '0.12', '–')
    """
    return "–" if value is None else f"{value:,.{digits}f}"


def size(count: float) -> str:
    """Format a number of bytes.

    >>> size(512), size(1536), size(3 << 30)
    ('512 B', '1.5 KB', '3.0 GB')
    """
    for unit in _UNITS:
        if count < _STEP or unit == _UNITS[-1]:
            return f"{count:.0f} {unit}" if unit == _UNITS[0] else f"{count:.1f} {unit}"
        count /= _STEP
    raise AssertionError


def is_language(code: str) -> bool:
    """Tell whether a string is allowed in the attribute `lang`."""
    return _LANGUAGE.fullmatch(code) is not None


def short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def beginning(text: str, most: int) -> str:
    """Return the longest beginning that takes at most `most` characters in a URL.

    >>> beginning("harbour", 20), beginning("港口新闻", 20)
    ('harbour', '港口')
    """
    if len(text) <= most and len(quote_plus(text, errors="replace")) <= most:
        return text
    quoted = quote_plus(text[:most], errors="replace")[:most]
    return unquote_plus(_BROKEN.sub("", quoted), errors="ignore")


def without_folders(text: str) -> str:
    """Remove the folders from file paths in a text.

    >>> without_folders("/srv/me/news.db is a folder"), without_folders("sqlite:////srv/a/b.db, https://a.example/b/c")
    ('news.db is a folder', 'sqlite:///b.db, https://a.example/b/c')
    """
    return _FOLDERS.sub("", text)


def paragraphs(text: str) -> Iterator[str]:
    return (line for line in map(str.strip, text.split("\n")) if line)
