"""The publish time of an article, and which witness states it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from . import dates
from .dates import Moment
from .document import Document
from .structured import Structured, meta
from .zones import Habits

_PUBLISHED: Final = (
    "article:published_time", "og:published_time", "datepublished", "pubdate", "publishdate", "publish_date",
    "og:release_date", "published_time", "article:published", "date", "dc.date", "dc.date.issued",
    "dcterms.created", "dcterms.date", "dcterms.issued", "parsely-pub-date", "sailthru.date",
    "cxenseparse:recs:publishtime", "weibo: article:create_at", "publication_date", "article_date_original",
    "pub_date", "publishtime", "createdate", "dc.date.created", "citation_publication_date", "bt:pubdate",
    "article:create_at", "release_date", "published", "og:article:published_time", "originalpublicationdate",
    "article.published", "ptime", "publish-date", "rnews:datepublished",
)  # fmt: skip
# Written when the page was rendered or last changed: heard when nothing better speaks.
_LATE: Final = ("apub:time", "dateupdate", "article:modified_time", "og:updated_time", "lastmodified")
_TIME_WORD = re.compile(r"发布|發布|发表|發表|时间|時間|日期|上稿|建立|刊登|published|posted|来源|來源", re.IGNORECASE)
_STATED_TIME = re.compile(
    r"(?:发布|發布|发表|發表)(?:时间|時間|日期|于|於|：|:)|(?:时间|時間|日期)\s?[:：]|published|posted|"
    r"veröffentlicht|publié|publicado|pubblicato|опубликован",
    re.IGNORECASE,
)
_UPDATED = re.compile(
    r"更新|修改|updated|modified|截至|截止|成文|aktualisiert|mis à jour|actualizado|aggiornato|обновлен", re.IGNORECASE
)
# What every way of writing a moment holds; the cheaper test first, because most lines hold none.
_ANY_SIGN = re.compile(r"[\d〇零○年前昨今刚剛]|(?:day|ago|now)\b")
_SIGN = re.compile(
    r"\d{4}|\d\s?[:：月/.-]\s?\d|[〇零○一二三]年|年.{1,3}月|[前昨今刚剛民]|\bago\b|day\b|now\b",
    re.IGNORECASE,
)
# In scripts the value is looked for first, because few numbers are times, and then the name in front of it.
_SCRIPT_VALUE = re.compile(r"1\d{9}(?:\d{3})?(?!\d)|20\d\d[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d(?::\d\d)?[^\"']{0,8}")
_SCRIPT_NAME = re.compile(
    r"""(?<![\w.])["']?(?:ct|publish_?time|oriCreateTime|create_?time|pub_?date|pub_?time|datePublished|publishedAt|"""
    r"""publish_?date)["']?\s{0,4}[:=]\s{0,4}["']?$""",
    re.IGNORECASE,
)
_BEFORE_VALUE: Final = frozenset("\"':= ")
_MAX_VALUES: Final = 2000
_NAME_CHARS: Final = 40
_MAX_LINE_CHARS: Final = 300
_BOX_CHARS: Final = 24


def published(
    document: Document, structured: Structured, near: Sequence[int], now: datetime, habits: Habits
) -> tuple[Moment | None, str]:
    """Return the publish time and the witness it comes from.

    A time stated for machines is believed when it has a clock; a bare day is refined by the visible line of the same
    day. Without either, times of `<time>` elements, of inline scripts and of the URL are asked, in this order.

    Args:
        document: a parsed page.
        structured: its JSON-LD.
        near: lines around headline and text, nearest first.
        now: when the page was fetched; later times are refused.
        habits: how the site writes times.

    Returns:
        The moment and "json-ld", "meta", "visible", "script" or "url"; (None, "") when nothing speaks.

    Cost: O(characters of `near`); of the inline scripts only when everything visible lacks a clock.
    """
    stated, origin = _stated(document, structured, now, habits)
    if stated and stated.precision != "day" and "T00:00" not in stated.iso:
        return stated, origin
    seen = _visible(document, near, now, habits)
    if stated:
        finer = seen and seen.precision != "day" and seen.day == stated.day
        return (seen, "visible") if finer else (stated, origin)
    if seen and seen.precision != "day":
        return _zoned(document, seen, now, habits), "visible"
    for witness, moment in _others(document, now, habits):
        if seen is None or moment.day == seen.day:
            return moment, witness
    if seen:
        return seen, "visible"
    found = dates.read_url(document.url, now)
    return found, "url" if found else ""


def _stated(document: Document, structured: Structured, now: datetime, habits: Habits) -> tuple[Moment | None, str]:
    """What JSON-LD or the meta elements state: the first that has a clock, else the first day."""
    day: tuple[Moment | None, str] = (None, "")
    values = [(structured.published, "json-ld")] if structured.published else []
    values += [(meta(document, name), "meta") for name in _PUBLISHED if name in document.metas]
    for value, origin in values:
        found = dates.read_stamp(value, now, habits) if value else None
        if found and found.precision != "day" and "T00:00" not in found.iso:
            if day[0] is None or day[0].day == found.day:
                return found, origin
        elif found and day[0] is None:
            day = found, origin
    return day


def _visible(document: Document, near: Sequence[int], now: datetime, habits: Habits) -> Moment | None:
    """The best time among the lines near the headline: labelled before bare, with a clock before a day."""
    best: Moment | None = None
    best_rank = 0.0
    blocks = document.blocks
    for position, index in enumerate(near):
        text = blocks.texts[index]
        if len(text) > _MAX_LINE_CHARS or not _ANY_SIGN.search(text) or not _SIGN.search(text):
            continue
        moment, relative = _in_line(document, index, now, habits)
        if moment is None:
            continue
        rank = 10.0 - min(0.3 * position, 5.0) - min(len(text), 200) / 40 + (2.5 if moment.precision != "day" else 0)
        label = _STATED_TIME.search(text)
        rank += 4.0 if label else 1.5 if _TIME_WORD.search(text) else 0
        rank -= 2.0 if _UPDATED.search(text) and not label else 0
        rank -= 3.0 if relative else 0
        rank -= 3.0 if blocks.link_chars[index] * 2 > blocks.chars[index] else 0
        if rank > best_rank:
            best, best_rank = moment, rank
    return best


def _in_line(document: Document, index: int, now: datetime, habits: Habits) -> tuple[Moment | None, bool]:
    """The time that one line holds, and whether it is told relative to now."""
    texts = document.blocks.texts
    text = texts[index]
    label = _STATED_TIME.search(text) if _UPDATED.search(text) else None
    # "Updated ... Published ...": the labelled one of the two.
    found = (dates.read(text[label.start() :], now, habits) if label else None) or dates.read(text, now, habits)
    prose = len(text) >= 60 or text[-1] in "。！？；…”"
    relative = None if found or prose else dates.read_relative(text, now, habits)
    moment = found or relative
    if (moment is None or moment.precision == "day") and len(text) <= _BOX_CHARS:
        # A date may be drawn as several boxes: year, day, clock.
        boxes = [texts[at] for at in range(index, min(index + 3, len(texts))) if len(texts[at]) <= _BOX_CHARS]
        joined = dates.read(" ".join(boxes), now, habits) if len(boxes) > 1 else None
        if joined and (moment is None or joined.precision != "day"):
            return joined, False
    return moment, relative is not None


def _zoned(document: Document, seen: Moment, now: datetime, habits: Habits) -> Moment:
    """The same minute as a `<time>` element states it, which also knows zone and second."""
    if habits.zone is not UTC:
        return seen  # a site that shows its own clock and calls it UTC for machines is commoner than one abroad
    clock = seen.iso[10:16]
    for _, value in document.times[:8]:
        if clock in value:
            found = dates.read_stamp(value, now, habits)
            if found and found.iso[:16] == seen.iso[:16]:
                return found
    return seen


def _others(document: Document, now: datetime, habits: Habits) -> Iterator[tuple[str, Moment]]:
    """Witnesses that are only asked when headline and head say nothing exact."""
    for _, value in document.times[:5]:
        found = dates.read_stamp(value, now, habits)
        if found:
            yield "visible", found
    for name in _LATE:
        found = dates.read_stamp(meta(document, name), now, habits) if name in document.metas else None
        if found:
            yield "meta", found
    scripted = _scripted(document, now, habits)
    if scripted:
        yield "script", scripted


def _scripted(document: Document, now: datetime, habits: Habits) -> Moment | None:
    """A publish time in a variable of an inline script."""
    for text in document.scripts:
        for match in islice(_SCRIPT_VALUE.finditer(text), _MAX_VALUES):
            start = match.start()
            if text[start - 1 : start] in _BEFORE_VALUE and _SCRIPT_NAME.search(
                text, max(0, start - _NAME_CHARS), start
            ):
                found = dates.read_stamp(match[0], now, habits)
                if found:
                    return found
    return None
