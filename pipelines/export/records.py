"""Records of stored rows: frozen, typed, with the names of the views.

A field's annotation tells how a database value becomes the record's (`readers`), and the type of its column in an
Arrow table (`pipelines.export.arrow`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from db.records.article import split_names, split_stories
from db.records.keys import read_time

Category: TypeAlias = str
"""A text with few different values, each kept once in a column."""


class StoredImage(NamedTuple):
    url: str
    caption: str


class StoredStory(NamedTuple):
    """A related story, as the page of an article names it."""

    url: str
    title: str


@dataclass(frozen=True, slots=True)
class StoredArticle:
    """An article, with the columns of `v_articles`.

    They are explained in `db.records.article.ArticleItem`, but lists are tuples and times in UTC are aware.
    `published_at` stays a text, as precise as its page.
    """

    id: str
    url: str
    title: str
    authors: tuple[str, ...]
    source: Category
    published_at: str | None
    published_utc: datetime | None
    language: Category
    text: str
    site: Category
    first_seen: datetime
    fetched_at: datetime | None
    duplicate_of: str | None
    similarity: float | None
    duplicate_method: Category | None
    duplicate_kind: Category | None
    similar_to: str | None
    published_precision: Category | None
    published_from: Category | None
    description: str
    tags: tuple[str, ...]
    section: Category
    quality: float
    extractor: Category
    extractor_version: Category
    text_chars: int
    updated: datetime
    relevance: float | None
    gone: datetime | None
    kind: Category
    number: int
    keywords: tuple[str, ...]
    summary: str
    classes: tuple[str, ...]
    harm: float | None
    harm_kind: Category
    text_from: Category
    related: tuple[StoredStory, ...]
    kind_probability: float | None
    html: str
    images: tuple[StoredImage, ...]


@dataclass(frozen=True, slots=True)
class MarkedArticle(StoredArticle):
    """An article with what readers have marked at a desk: `MARK_COLUMNS`."""

    starred: bool
    read_at: datetime | None
    labels: tuple[str, ...]
    note: str


MARK_COLUMNS: Final = ("starred", "read_at", "labels", "note")


@dataclass(frozen=True, slots=True)
class StoredLink:
    """A link from page to page.

    Attributes:
        target: None for a target outside of the crawl whose URL is no longer kept.
        block: place on the page: body, list, related, navigation, pagination, other ...
    """

    key: str
    source: str | None
    target: str | None
    block: Category
    source_id: str
    target_id: str


@dataclass(frozen=True, slots=True)
class StoredDuplicate:
    """Evidence that an article repeats another, or is related to it.

    Attributes:
        site: with the URL, all that remains of an article that is not kept.
        of_url: that of the earlier article, as all `of_` columns.
        similarity: 0 to 1.
        kind: same, edited, part-of, contains; quotes or template: related, but no duplicate.
    """

    key: str
    url: str | None
    site: Category | None
    title: str | None
    published_at: str | None
    published_utc: datetime | None
    of_url: str | None
    of_site: Category | None
    of_title: str | None
    of_published_at: str | None
    of_published_utc: datetime | None
    similarity: float
    method: Category
    kind: Category
    article_id: str
    of_id: str


@dataclass(frozen=True, slots=True)
class StoredSite:
    """A site that was crawled, with the columns of `v_sites`."""

    id: str
    site: Category
    articles: int
    duplicates: int
    newest_article: str | None
    newest_utc: datetime | None
    urls_done: int
    urls_waiting: int
    urls_failed: int
    urls_skipped: int
    first_seen: datetime
    fetched_at: datetime | None


def _images(value: Sequence[dict[str, str]]) -> tuple[StoredImage, ...]:
    return tuple(StoredImage(**one) for one in value)


def _stories(value: str) -> tuple[StoredStory, ...]:
    return tuple(StoredStory(**one) for one in split_stories(value))


Reader = Callable[[Any], Any]
_READERS: dict[str, Reader] = {
    "datetime": read_time,
    "datetime | None": read_time,
    "tuple[str, ...]": lambda value: tuple(split_names(value)),
    "tuple[StoredImage, ...]": _images,
    "tuple[StoredStory, ...]": _stories,
}
"""By the annotation of the field; values of other fields stay as they are."""


def annotations_of(record: Any) -> dict[str, str]:
    return {field.name: str(field.type) for field in fields(record)}


def readers(record: Any) -> dict[str, Reader]:
    """Return the functions that make a record's values, for the fields that need one."""
    return {name: _READERS[kind] for name, kind in annotations_of(record).items() if kind in _READERS}
