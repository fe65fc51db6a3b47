"""Feeds of the articles that fulfil a query, the last stored first.

They come as Atom, RSS 2.0 and JSON Feed 1.1, with the same entries. Whether anything can have changed is known before
the search: the number of what the index got last is in the ETag.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Final

from starlette.responses import Response

from db.engine.database import ReadConnection
from db.records.article import split_names
from db.records.keys import read_time
from db.records.search import FoundArticle
from db.search import find
from pipelines.decode.text import clean
from pipelines.search.query import asks_for_marks
from pipelines.search.records import MARKS, SearchQuery
from pipelines.search.stored import StandingQuery

from ..frame.shown import is_language, short, web_url
from ..frame.visit import BadRequest, Visit
from . import search

PATHS: Final[Mapping[str, str]] = {
    "/feed.atom": "application/atom+xml",
    "/feed.rss": "application/rss+xml",
    "/feed.json": "application/feed+json",
}
"""Feeds with their types."""
_FORM: Final = 1
"""Of the feeds, for their ETag: counts up when they say the same otherwise."""
_MOST_ENTRIES = 100
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_AGAIN_SECONDS: Final = 3_600
"""Conditions such as `7d` move with the clock: so often a feed is made anew though nothing came."""


@dataclass(frozen=True, slots=True)
class _FeedEntry:
    """An entry of the feed; its texts contain no characters that XML forbids."""

    id: int
    url: str | None
    title: str
    summary: str
    authors: Sequence[str]
    section: str
    language: str
    published: datetime | None
    updated: datetime


@dataclass(frozen=True, slots=True)
class _Feed:
    """A feed as every form has it.

    `base` is this server's origin, `here` and `page` are paths there.
    """

    title: str
    number: str
    base: str
    here: str
    page: str
    updated: datetime
    entries: Sequence[_FeedEntry]


def show(visit: Visit) -> Response:
    """Answer as Atom."""
    return _answer(visit, "/feed.atom", lambda feed: _xml(visit, "feed.xml", feed))


def show_rss(visit: Visit) -> Response:
    """Answer as RSS 2.0."""
    return _answer(visit, "/feed.rss", lambda feed: _xml(visit, "feed_rss.xml", feed))


def show_json(visit: Visit) -> Response:
    """Answer as JSON Feed 1.1."""
    return _answer(visit, "/feed.json", lambda feed: _json(visit, feed))


def _answer(visit: Visit, path: str, written: Callable[[_Feed], str]) -> Response:
    limit = visit.whole("limit", 50, 1, _MOST_ENTRIES)
    query = search.query_of(visit)
    now = time.time()
    base = str(visit.request.base_url).rstrip("/")
    state = [_FORM, visit.read(find.last_indexed), int(now // _AGAIN_SECONDS), base, visit.here(path), _marks(query)]
    told = json.dumps([*state, visit.language.code]).encode()
    tag = f'W/"{hashlib.blake2b(told, digest_size=12).hexdigest()}"'
    headers = {"Cache-Control": "private, no-cache", "ETag": tag, "Vary": "Cookie, Accept-Language"}
    if tag in (each.strip() for each in visit.request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    articles = _found(visit, query, limit, now)
    entries = list(_entries(articles))
    newest = max((entry.updated for entry in entries), default=_NEVER)
    here = visit.here(path)
    feed = _Feed(
        title=clean(" ".join(filter(None, (query.text, *_conditions(query))))),
        number=hashlib.blake2b(visit.here("/feed.atom").encode(), digest_size=8).hexdigest(),
        base=base,
        here=here,
        page=visit.here("/", limit=None),
        updated=newest,
        entries=entries,
    )
    headers["Last-Modified"] = format_datetime(newest, usegmt=True)
    body = written(feed).encode("utf-8", "backslashreplace")
    return Response(body, 200, headers, f"{PATHS[path]}; charset=utf-8")


def _conditions(query: SearchQuery) -> Iterator[str]:
    for name in search.FILTERS:
        value = getattr(query, name)
        yield name if value and name in MARKS else value


def _marks(query: SearchQuery) -> int:
    """Return the number of the marks if a query asks for some: they make another feed."""
    try:
        return query.marked.number if query.marked is not None and asks_for_marks(query) else 0
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None


def _found(visit: Visit, query: SearchQuery, limit: int, now: float) -> list[tuple[FoundArticle, str]]:
    """Return articles with their snippets."""
    try:
        standing = StandingQuery(query)

        def read(connection: ReadConnection) -> list[tuple[FoundArticle, str]]:
            ids = standing.newest(connection, limit, now)
            articles = find.shown(connection, ids)
            return [(articles[key], standing.snippet(articles[key])) for key in ids if key in articles]

        return visit.read(read)
    except ValueError as wrong:
        raise BadRequest(str(wrong)) from None


def _entries(articles: Sequence[tuple[FoundArticle, str]]) -> Iterator[_FeedEntry]:
    for one, snippet in articles:
        yield _FeedEntry(
            id=one.id,
            url=web_url(one.url),
            title=clean(one.title) or one.site,
            summary=clean(snippet),
            authors=[clean(name) for name in split_names(one.authors) if clean(name)] or [one.site],
            section=clean(one.section),
            language=one.language if is_language(one.language) else "",
            published=read_time(one.published_utc),
            updated=_moment(one.first_seen),
        )


def _xml(visit: Visit, template: str, feed: _Feed) -> str:
    return visit.site.templates.get_template(template).render(t=visit.language, feed=feed, rfc822=_rfc822)


def _json(visit: Visit, feed: _Feed) -> str:
    items = []
    for entry in feed.entries:
        item: dict[str, Any] = {
            "id": f"urn:newscrawler:article:{entry.id}",
            "url": entry.url or f"{feed.base}/article/{entry.id}",
            "title": entry.title,
            "content_text": entry.summary,
            "authors": [{"name": name} for name in entry.authors],
            "date_published": (entry.published or entry.updated).isoformat(timespec="seconds"),
        }
        if entry.section:
            item["tags"] = [entry.section]
        if entry.language:
            item["language"] = entry.language
        items.append(item)
    whole = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": ": ".join(filter(None, (visit.language("site.name"), short(feed.title, 200)))),
        "home_page_url": feed.base + feed.page,
        "feed_url": feed.base + feed.here,
        "items": items,
    }
    return json.dumps(whole, ensure_ascii=False)


def _rfc822(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def _moment(time_text: str) -> datetime:
    return (read_time(time_text) or _NEVER).replace(microsecond=0)
