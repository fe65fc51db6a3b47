"""Documents that are no articles of a crawl, searched in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection

from ..engine.statements import insert_rows
from ..records.search import IndexedArticle
from ..tables.articles import ArticleRow
from ..tables.urls import UrlRow
from . import index

_SEEN = "1970-01-01T00:00:00+00:00"
_EMPTY = {"site_id": 0, "language": "", "authors": "", "source": "", "first_seen": _SEEN, "updated": _SEEN}
_EMPTY |= dict.fromkeys(("html", "description", "tags", "section", "extractor"), "")
_EMPTY |= dict.fromkeys(("quality", "text_hash"), 0)


class SearchedDocument(NamedTuple):
    """A document with its place in its file, and what the index keeps of it."""

    number: int
    name: str
    title: str
    text: str
    words: str
    terms: bytes


def add(connection: Connection, documents: Sequence[SearchedDocument]) -> None:
    """Write documents as articles, each a cluster of its own; `Hit.url` is their name.

    The database has nothing else in it, and no document had one of the numbers before.
    """
    urls = [(one.number, one.name, 0, "page", "done", 0, 0.0, 0, 0.0) for one in documents]
    columns = ("id", "url", "host_id", "kind", "state", "depth", "score", "found_in", "found_at")
    insert_rows(connection, UrlRow.table(), columns, urls)
    article_columns = ("id", "number", "cluster_id", "title", "text", "text_chars")
    articles = [(n, n, n, one.title, one.text, len(one.text), *_EMPTY.values()) for one in documents for n in (one[0],)]
    insert_rows(connection, ArticleRow.table(), (*article_columns, *_EMPTY), articles)
    rows = [IndexedArticle(one.number, 0, one.number, 0, 0, "", "", "", "", one.words, one.terms) for one in documents]
    index.insert(connection, rows)
