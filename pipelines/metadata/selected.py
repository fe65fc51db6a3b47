"""Title, time and authors as the selectors of a page's seed name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from urllib.parse import urlsplit

from ..dates import parse
from ..dates.parse import Moment
from ..dates.relative import read_relative
from ..dates.timezones import Habits, find_habits
from ..decode.text import clean
from ..document import structured_data
from ..document.document import Document
from ..document.selectors import Selectors, stamps_of, texts_of
from ..document.structured_data import find_declared
from ..records import Metadata
from .bylines import tidy_names
from .title import MAX_TITLE_CHARS, find_site_names

SELECTED = "selector"
"""`Metadata.published_from` of a time that a selector has chosen."""


def select(
    document: Document, selectors: Selectors, about: Metadata, fetched_at: datetime
) -> tuple[Metadata, list[str]]:
    """Replace what selectors find; what they do not find stays as it was found.

    Returns:
        The metadata, and the names of the selectors that found something.

    Cost: O(nodes) a selector.
    """
    found: list[str] = []
    if selectors.title and (titles := texts_of(document, selectors.title)):
        about = replace(about, title=clean(titles[0], MAX_TITLE_CHARS))
        found.append("title")
    if selectors.published:
        moment = read_time(stamps_of(document, selectors.published), document, about.language, fetched_at)
        if moment is not None:
            about = replace(
                about,
                published_at=moment.written,
                published_utc=moment.utc(_habits(document, about.language).zone),
                published_precision=moment.precision,
                published_from=SELECTED,
            )
            found.append("published")
    if selectors.author:
        sites = [*find_site_names(document, structured_data.read(document)), about.source]
        if authors := tidy_names(document, texts_of(document, selectors.author), sites):
            about = replace(about, authors=authors)
            found.append("author")
    return about, found


def read_time(stamps: Iterable[str], document: Document, language: str, now: datetime) -> Moment | None:
    """Return the first time in texts of a page that are known to tell its time."""
    habits, readers = _habits(document, language), (parse.read_stamp, read_relative)
    return next((moment for stamp in stamps for read in readers if (moment := read(stamp, now, habits))), None)


def _habits(document: Document, language: str) -> Habits:
    return find_habits(urlsplit(document.url).hostname or "", language, find_declared(document))
