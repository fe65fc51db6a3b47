"""Documents that are no articles of a crawl, searched in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from ..engine.statements import insert_rows
from ..records.keys import fingerprint
from ..records.search import IndexedArticle
from ..tables.articles import ArticleRow
from ..tables.urls import SiteRow, UrlRow
from . import index

_SEEN = "1970-01-01T00:00:00+00:00"
_EMPTY = {"quality": 0, "text_hash": 0, "first_seen": _SEEN, "updated": _SEEN}
_EMPTY |= dict.fromkeys(("html", "description", "tags", "section", "extractor"), "")


class SearchedDocument(NamedTuple):
    """A document with its place in its file, and what the index keeps of it."""

    number: int
    name: str
    title: str
    text: str
    language: str
    authors: str
    source: str
    site: str
    published_at: str | None
    words: str
    terms: bytes


def add(connection: Connection, documents: Sequence[SearchedDocument]) -> None:
    """Write documents as articles, each a cluster of its own; `Hit.url` is their name.

    The database has nothing else in it, and no document had one of the numbers before.
    """
    site_ids = {one.site: fingerprint(one.site) if one.site else 0 for one in documents}
    known = set(connection.execute(select(SiteRow.table().c.id)).scalars())
    sites = [(key, name, _SEEN) for name, key in site_ids.items() if name and key not in known]
    insert_rows(connection, SiteRow.table(), ("id", "name", "first_seen"), sites)
    urls = [(one.number, one.name, 0, "page", "done", 0, 0.0, 0, 0.0) for one in documents]
    columns = ("id", "url", "host_id", "kind", "state", "depth", "score", "found_in", "found_at")
    insert_rows(connection, UrlRow.table(), columns, urls)
    article_columns = ("id", "number", "cluster_id", *SearchedDocument._fields[2:7], "site_id", "published_at")
    articles = [
        (n, n, n, *one[2:7], site_ids[one.site], one.published_at, len(one.text), *_EMPTY.values())
        for n, one in ((one.number, one) for one in documents)
    ]
    insert_rows(connection, ArticleRow.table(), (*article_columns, "text_chars", *_EMPTY), articles)
    rows = [
        IndexedArticle(
            article_id=one.number,
            site_id=site_ids[one.site],
            cluster_id=one.number,
            time=time,
            day=day,
            language=one.language,
            source=one.source,
            section="",
            classes="",
            words=one.words,
            terms=one.terms,
        )
        for one in documents
        for time, day in (index.times_of(one.published_at, None, _SEEN),)
    ]
    index.insert(connection, rows)
