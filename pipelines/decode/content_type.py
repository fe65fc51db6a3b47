"""Content types worth reading to their end, and names of saved pages."""

from __future__ import annotations

from typing import Final

PAGE_SUFFIXES: Final = (".html", ".htm", ".xhtml", ".shtml", ".html.gz", ".htm.gz", ".xhtml.gz", ".shtml.gz")
_TYPES = ("text/", "html", "xml", "application/octet-stream", "application/rss", "application/atom", "gzip")
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body", b"<?xml", b"<!--")
_MOST_BEGINNING = 512


def is_readable(content_type: str, body: bytes) -> bool:
    """Tell whether an answer may be a page, a feed or a sitemap.

    Its first bytes count too: pages are sent under the oddest types.
    """
    said = content_type.lower()
    if not said or any(kind in said for kind in _TYPES):
        return True
    return body[:_MOST_BEGINNING].removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith(_MARKUP)
