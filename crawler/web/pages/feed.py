"""An Atom feed of the articles that match a query, newest first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

from starlette.responses import Response

from db.records.article import split_names
from db.records.keys import read_time
from pipelines.decode.text import clean
from pipelines.search.records import Hit, text_of

from ..frame.shown import is_language, web_url
from ..frame.visit import Visit
from . import search

_MOST_ENTRIES = 100
_NEWEST_FIRST: Final = {"freshness": 1e6}
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


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
    published: str | None
    updated: str


def show(visit: Visit) -> Response:
    limit = visit.whole("limit", 50, 1, _MOST_ENTRIES)
    query = replace(search.query_of(visit), limit=limit, sort="")
    options = visit.site.options.search
    options = replace(options, weights={**options.weights, **_NEWEST_FIRST})
    result = search.find(visit, query, options)
    hits = result.hits[: result.total]
    newest = max((_moment(hit.first_seen) for hit in hits), default=_NEVER)
    asked = visit.here()
    body = visit.site.templates.get_template("feed.xml").render(
        t=visit.language,
        title=clean(" ".join(filter(None, (query.text, *(getattr(query, name) for name in search.FILTERS))))),
        number=hashlib.blake2b(asked.encode(), digest_size=8).hexdigest(),
        base=str(visit.request.base_url).rstrip("/"),
        here=asked,
        page=visit.here("/"),
        updated=newest.isoformat(),
        entries=list(_entries(hits)),
    )
    response = visit.answer(body, "application/atom+xml; charset=utf-8")
    response.headers["Last-Modified"] = format_datetime(newest, usegmt=True)
    return response


def _entries(hits: Sequence[Hit]) -> Iterator[_FeedEntry]:
    for hit in hits:
        published = read_time(hit.published_utc)
        yield _FeedEntry(
            id=hit.id,
            url=web_url(hit.url),
            title=clean(text_of(hit.title)) or hit.site,
            summary=clean(text_of(hit.snippet)),
            authors=[clean(name) for name in split_names(hit.authors) if clean(name)] or [hit.site],
            section=clean(hit.section),
            language=hit.language if is_language(hit.language) else "",
            published=None if published is None else published.isoformat(timespec="seconds"),
            updated=_moment(hit.first_seen).isoformat(),
        )


def _moment(time: str) -> datetime:
    return (read_time(time) or _NEVER).replace(microsecond=0)
