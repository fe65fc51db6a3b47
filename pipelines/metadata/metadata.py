"""Metadata of an article, each field from its own module."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from ..dates.timezones import find_habits
from ..decode.text import clean
from ..document import structured_data
from ..document.document import Document
from ..document.structured_data import find_declared, find_meta
from ..records import Extraction, Metadata
from .bylines import find_authors
from .images import find_images
from .language import detect
from .lines import find_lines
from .pagination import find_pages
from .published import find_published
from .source import find_source
from .tags import find_keywords, find_section
from .title import find_headline, find_site_names
from .visible_time import LineNumbers

MAX_SUMMARY_CHARS: Final = 1000


def extract(document: Document, extraction: Extraction, fetched_at: datetime) -> Metadata:
    """Return title, authors, source, time, language, summary and the rest.

    Each field asks its sources in order of trust: structured data, meta elements, then visible lines between headline
    and text. Impossible values (a time after `fetched_at`, the site's name as author) are ignored.

    Raises:
        ValueError: `fetched_at` has no zone.

    Cost: O(blocks + links + characters of metadata); inline scripts are read only when nothing else has the time.
    """
    if fetched_at.tzinfo is None:
        raise ValueError(f"fetched_at {fetched_at!r} has no time zone")
    data = structured_data.read(document)
    text_blocks = extraction.blocks
    first = text_blocks[0] if text_blocks else -1
    sites = find_site_names(document, data)
    title = find_headline(document, data, first, sites)
    declared = find_declared(document)
    language = detect(extraction.text or " ".join(document.blocks.texts[:200]) or title.text, declared)
    near = find_lines(document, title.block, text_blocks)
    habits = find_habits(urlsplit(document.url).hostname or "", language, declared)
    moment, origin = find_published(document, data, LineNumbers(near, text_blocks), fetched_at, habits)
    publisher = find_source(document, near, text_blocks)
    authors = find_authors(document, data, near, text_blocks, [*sites, publisher])
    place = find_pages(document)
    return Metadata(
        title=title.text,
        authors=authors,
        source=publisher,
        published_at=moment.written if moment else "",
        published_utc=moment.utc(habits.zone) if moment else "",
        published_precision=moment.precision if moment else "",
        published_from=origin,
        language=language,
        summary=clean(
            find_meta(document, "og:description", "description", "twitter:description") or data.description,
            MAX_SUMMARY_CHARS,
        ),
        keywords=find_keywords(document, data, extraction, title.text, [*sites, publisher]),
        section=find_section(document, data, first, title.text, [*sites, publisher]),
        images=find_images(document, data, text_blocks, title, authors),
        canonical=_canonical(document),
        next_page=place.next,
        previous_page=place.previous,
        page_number=place.number,
    )


def extract_head(document: Document, found: Metadata) -> Metadata:
    """Return the metadata of a page without an article.

    Language and canonical URL are those of `found`, its metadata read as an article's.
    Cost: O(blocks), with a small constant.
    """
    data = structured_data.read(document)
    title = find_headline(document, data, -1, find_site_names(document, data))
    return Metadata(title=title.text, language=found.language, canonical=found.canonical)


def _canonical(document: Document) -> str:
    for rel, href, _, _ in document.relations:
        if "canonical" in rel.split():
            return document.resolve(href) or ""
    value = find_meta(document, "og:url")
    return (document.resolve(value) or "") if value else ""
