"""Publish time of an article, and the source that states it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from db.records.article import GUESS

from ..dates import parse
from ..dates.parse import Moment
from ..dates.relative import set_year
from ..dates.timezones import UNKNOWN, Habits
from ..document.document import Document
from ..document.structured_data import Structured, find_meta
from .visible_time import LineNumbers, read_visible

_PUBLISHED: Final = (
    "article:published_time", "og:published_time", "datepublished", "pubdate", "publishdate", "publish_date",
    "og:release_date", "published_time", "article:published", "date", "dc.date", "dc.date.issued",
    "dcterms.created", "dcterms.date", "dcterms.issued", "parsely-pub-date", "sailthru.date",
    "cxenseparse:recs:publishtime", "weibo: article:create_at", "publication_date", "article_date_original",
    "pub_date", "publishtime", "createdate", "dc.date.created", "citation_publication_date", "bt:pubdate",
    "article:create_at", "release_date", "published", "og:article:published_time", "originalpublicationdate",
    "article.published", "ptime", "publish-date", "rnews:datepublished",
)  # fmt: skip
# Written when the page was rendered or last changed: used when there is nothing better.
_LATE: Final = re.compile(
    r"apub:time|dateupdate|(?:article:|og:)?(?:modified|updated)_?(?:time)?|last[-_]?(?:modified|updated)|date\.?modified|"
    r"dc(?:terms)?\.(?:date\.)?modified"
)
# Any other name that says so, however it is spelt; many of these tell when an editor last saved the article.
_NAME: Final = re.compile(
    r"(?:publish(?:ed)?|publication|pub|posted|post|issued?|releas(?:ed?)?|creat(?:ed?|ion)|display|"
    r"content|news|citation|online|article|story|document|entry|iso|(?<![a-z])p)"
    r"[-_.: ]?(?:date|time|datetime|at|on)(?![a-z]*(?:modif|upd))|"
    r"(?:date|time|first|article|meta)[-_.: ]?(?:publi(?:shed|cation|sh)|issued|posted|created|submitted)|"
    r"(?:^|[.:_])(?:created|issued|available)$|"
    r"(?:prism|eprints|citation|page|online|dc(?:terms)?)[-_.:](?:\w{1,12}[-_.:])?date"
)
_NO: Final = re.compile(
    r"modif|updat|expir|revis|valid|start|end[-_.:]?(?:date|time)|copyright|until|unpublish|event|last"
)
_SERVED_WITHIN: Final = timedelta(minutes=3)
# In scripts the value is looked for first, because few numbers are times, and then the name in front of it.
_SCRIPT_VALUE = re.compile(r"1\d{9}(?:\d{3})?(?!\d)|20\d\d[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d(?::\d\d)?[^\"']{0,8}")
_SCRIPT_NAME = re.compile(
    r"""(?<![\w.])(?:window\.)?["']?(?:ct|publish_?time|oriCreateTime|create_?time|pub_?date|"""
    r"""publication_?date|pub_?time|datePublished|publishedAt|"""
    r"""publish_?date)["']?\s{0,4}[:=]\s{0,4}(?:\w{1,20}\s?\?[^;:]{1,60}:\s{0,4})?["']?$""",
    re.IGNORECASE,
)
_BEFORE_VALUE: Final = frozenset("\"':= ")
_MAX_VALUES: Final = 2000
_NAME_CHARS: Final = 80
"""A condition may stand between: ct = xml ? getXmlValue('ori_create_time.DATA') : '1759817591'."""


def find_published(
    document: Document, structured: Structured, lines: LineNumbers, now: datetime, habits: Habits
) -> tuple[Moment | None, str]:
    """Return the publish time and its source: json-ld, meta, visible, script or url.

    A time stated for machines is believed when it has a clock, unless the page was served at that time; a bare day is
    refined by the visible line of the same day, a clock without a zone by that of the same minute. Then come `<time>`
    elements, inline scripts, the URL, times of change, and last a visible day without a year, which is guessed. Times
    later than `now` are refused.

    Cost: O(characters of the lines); of the inline scripts only when everything visible lacks a clock.
    """
    stated, origin = _stated(document, structured, now, habits)
    is_trusted = stated is not None and _has_clock(stated) and not _is_doubtful(stated, now, habits)
    is_settled = stated is not None and is_trusted and stated.is_zoned
    visible, is_relative = (None, False) if is_settled else read_visible(document, lines, now, habits)
    if is_relative and (told := _told(document, lines.kept, now, habits)):
        visible, is_relative = told, False
    if stated and is_trusted and not _tells_zone(visible, stated):
        return _zoned(document, stated, now, habits), origin
    if visible and visible.precision == GUESS:
        return _surer(document, structured, lines.kept, now, habits, guess=visible)
    exact = visible if visible and visible.precision != "day" else None
    if stated:
        is_better = exact and (is_trusted or _is_better(exact, stated, now))
        return (_with_zone_of(stated, exact), "visible") if exact and is_better else (stated, origin)
    page = _of_page(document, structured, lines, now, habits) if visible else None
    if exact and not page:
        return _zoned(document, exact, now, habits), "visible"
    # Behind a time that the page states of itself nothing else is asked.
    others = [("json-ld", page)] if page else _others(document, structured, lines.kept, now, habits)
    day = None if is_relative else visible
    for source, moment in others:
        if page or day is None or moment.day == day.day:
            return moment, source
    return (visible, "visible") if visible else _late(document, structured, now, habits)


def _of_page(
    document: Document, structured: Structured, lines: LineNumbers, now: datetime, habits: Habits
) -> Moment | None:
    """Return the time that the page states of itself, if none stands above the text.

    A time inside the text or behind it may be that of an embedded post.
    """
    page = parse.read_stamp(structured.page_published, now, habits) if structured.page_published else None
    if page is None or _is_served(page, now) or not lines.kept:
        return None
    above = LineNumbers([index for index in lines.near if index < lines.kept[0]], lines.kept)
    return page if above.near and read_visible(document, above, now, habits)[0] is None else None


def _surer(
    document: Document, structured: Structured, kept: Sequence[int], now: datetime, habits: Habits, *, guess: Moment
) -> tuple[Moment | None, str]:
    """Return a time that is stated with its year, else the guess.

    Title and URL may know the year of the guess; if the URL names another month, the guess is discarded.
    """
    stated, origin = _stated(document, structured, now, habits)
    if stated is None or _is_served(stated, now):
        origin, stated = next(_others(document, structured, kept, now, habits), ("", None))
    if stated is None:
        stated, origin = _late(document, structured, now, habits)
    if stated:
        visible = set_year(guess, stated.day.year, now, habits)
        return (visible, "visible") if visible and _is_better(visible, stated, now) else (stated, origin)
    titled = parse.read(document.title, now, habits)
    if titled and (titled.day.month, titled.day.day) == (guess.day.month, guess.day.day):
        return set_year(guess, titled.day.year, now, habits), "visible"
    year, month = parse.read_url_year(document.url)
    if month not in {0, guess.day.month}:
        return None, ""
    visible = set_year(guess, year, now, habits) if year else guess
    return (visible if visible is None or month else replace(visible, precision=GUESS)), "visible" if visible else ""


def _is_better(visible: Moment, stated: Moment, now: datetime) -> bool:
    if _is_served(stated, now):
        return True
    if not _has_clock(stated):
        return visible.day == stated.day
    return stated.iso[:16] == visible.iso[:16] and stated.iso[-6:] != visible.iso[-6:]


def _tells_zone(visible: Moment | None, stated: Moment) -> bool:
    if visible is None or not visible.is_zoned or visible.precision == GUESS:
        return False
    return visible.iso[:16] == stated.iso[:16]


def _with_zone_of(stated: Moment, visible: Moment) -> Moment:
    """Return a time without a zone in that of the midnight stated for its day."""
    zone = stated.iso[-6:]
    if visible.is_zoned or not stated.has_clock or not stated.is_zoned or zone == "+00:00":
        return visible
    return replace(visible, iso=f"{visible.iso[:-6]}{zone}", is_zoned=True)


def _has_clock(moment: Moment) -> bool:
    return moment.has_clock and "T00:00" not in moment.iso


def _is_doubtful(moment: Moment, now: datetime, habits: Habits) -> bool:
    return _is_served(moment, now) or (habits.zone is not UNKNOWN and moment.iso.endswith("+00:00"))


def _is_served(moment: Moment, now: datetime) -> bool:
    """Tell whether a time is that of the request: the page was rendered for it."""
    return moment.has_clock and abs(now - datetime.fromisoformat(moment.iso)) < _SERVED_WITHIN


def _stated(document: Document, structured: Structured, now: datetime, habits: Habits) -> tuple[Moment | None, str]:
    day: tuple[Moment | None, str] = (None, "")
    values = [(structured.published, "json-ld")] if structured.published else []
    values += [(find_meta(document, name), "meta") for name in _PUBLISHED if name in document.metas]
    for value, origin in values:
        moment = parse.read_stamp(value, now, habits) if value else None
        if moment and moment.precision != "day" and "T00:00" not in moment.iso:
            if day[0] is None or day[0].day == moment.day:
                return moment, origin
        elif moment and day[0] is None:
            day = moment, origin
    return day


def _zoned(document: Document, found: Moment, now: datetime, habits: Habits) -> Moment:
    """Return a time with the zone that the page states for the same minute."""
    if found.is_zoned or not found.has_clock:
        return found  # a site that shows its own clock and calls it UTC for machines is commoner than one abroad
    clock = found.iso[10:16]
    values = [value for _, value in document.times[:8]]
    values += [find_meta(document, name) for name in document.metas if _NAME.search(name) and not _NO.search(name)]
    for value in values:
        if clock in value:
            moment = parse.read_stamp(value, now, habits)
            if moment and moment.is_zoned and moment.iso[:16] == found.iso[:16]:
                return moment
    return found


def _told(document: Document, kept: Sequence[int], now: datetime, habits: Habits) -> Moment | None:
    """Return the time of an element that shows it as "3 hours ago"."""
    return next((moment for moment in _elements(document, kept, now, habits) if moment.has_clock), None)


def _elements(document: Document, kept: Sequence[int], now: datetime, habits: Habits) -> Iterator[Moment]:
    """Yield the times of elements up to the end of the text.

    Behind it stand those of other articles.
    """
    last = kept[-1] + 1 if kept else len(document.blocks)
    end = document.blocks.starts[last] if last < len(document.blocks) else len(document.tags)
    for node, value in document.times[:5]:
        moment = parse.read_stamp(value, now, habits) if node <= end else None
        if moment:
            yield moment


def _others(
    document: Document, structured: Structured, kept: Sequence[int], now: datetime, habits: Habits
) -> Iterator[tuple[str, Moment]]:
    yield from (("visible", moment) for moment in _elements(document, kept, now, habits))
    values = [(structured.page_published, "json-ld")] if structured.page_published else []
    values += [
        (find_meta(document, name), "meta") for name in document.metas if _NAME.search(name) and not _NO.search(name)
    ]
    for value, origin in values:
        stated = parse.read_stamp(value, now, habits)
        if stated and not _is_served(stated, now):
            yield origin, stated
    scripted = _scripted(document, now, habits)
    if scripted:
        yield "script", scripted


def _late(document: Document, structured: Structured, now: datetime, habits: Habits) -> tuple[Moment | None, str]:
    """Return the day in the URL, or a time of change on that day (or on any)."""
    day = parse.read_url(document.url, now)
    values = [(structured.modified, "json-ld")]
    values += [(find_meta(document, name), "meta") for name in document.metas if _LATE.fullmatch(name)]
    for value, origin in values:
        moment = parse.read_stamp(value, now, habits) if value else None
        if moment and not _is_served(moment, now) and (day is None or day.day == moment.day):
            return moment, origin
    return day, "url" if day else ""


def _scripted(document: Document, now: datetime, habits: Habits) -> Moment | None:
    for text in document.scripts:
        for match in islice(_SCRIPT_VALUE.finditer(text), _MAX_VALUES):
            start = match.start()
            if text[start - 1 : start] in _BEFORE_VALUE and _SCRIPT_NAME.search(
                text, max(0, start - _NAME_CHARS), start
            ):
                moment = parse.read_stamp(match[0], now, habits)
                if moment:
                    return moment
    return None
