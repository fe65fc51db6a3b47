"""Robots directives of a page: robots metas, X-Robots-Tag header, rel of links."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from ..document.document import Document

AGENT: Final = "newscrawler"

_ENDS: Final = "unavailable_after"
_VALUED: Final = frozenset({_ENDS, "max-snippet", "max-image-preview", "max-video-preview"})
_CLOSED: Final = frozenset({"nofollow", "sponsored", "ugc"})
_BETWEEN: Final = re.compile(r"[,;\s]+")
_MOST_CHARS: Final = 2_000
_MOST_DATE_CHARS: Final = 60


def read_directives(document: Document, robots_header: str, fetched_at: datetime) -> tuple[bool, bool]:
    """Return (noindex, nofollow) by robots metas and X-Robots-Tag headers, one a line.

    Directives for other agents do not count; an `unavailable_after` before `fetched_at` means noindex.
    """
    words: set[str] = set()
    for name in ("robots", AGENT):
        for value in document.metas.get(name, ()):
            words.update(_words([value.lower()[:_MOST_CHARS]], fetched_at))
    for line in robots_header.lower()[:_MOST_CHARS].split("\n"):
        words.update(_words(_for_us(line), fetched_at))
    return bool(words & {"noindex", "none"}), bool(words & {"nofollow", "none"})


def is_nofollow(rel: str) -> bool:
    """Tell whether `rel` disclaims a link (nofollow, sponsored, ugc)."""
    return not _CLOSED.isdisjoint(_BETWEEN.split(rel.lower()))


def _for_us(line: str) -> Iterator[str]:
    """Yield the parts of a header for every agent or for us.

    >>> list(_for_us("googlebot: noindex, nofollow, newscrawler: noindex"))
    [' noindex']
    """
    agent = ""
    for part in line.split(","):
        before, colon, rest = part.partition(":")
        directive = part
        name = before.strip()
        if colon and name not in _VALUED and not any(map(str.isspace, name)):  # else it is a time of the day
            agent, directive = name, rest
        if agent in {"", AGENT, "*"}:
            yield directive


def _words(parts: Iterable[str], fetched_at: datetime) -> Iterator[str]:
    text = ",".join(parts)
    place = text.find(_ENDS)
    if place >= 0:
        stated = text[place + len(_ENDS) :].lstrip(" \t:=")[:_MOST_DATE_CHARS]
        if _has_come(stated, fetched_at):
            yield "noindex"
    yield from _BETWEEN.split(text)


def _has_come(stated: str, now: datetime) -> bool:
    first, _, second = stated.partition(",")
    for text in (f"{first},{second.partition(',')[0]}", first):
        moment = _moment(text.strip())
        if moment is not None:
            return moment < now
    return False


def _moment(text: str) -> datetime | None:
    """Read a time of RFC 822, RFC 850 or ISO 8601; UTC when it names no zone."""
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, TypeError, OverflowError, IndexError):
            return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
