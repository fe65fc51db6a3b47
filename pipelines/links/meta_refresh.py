"""Redirects by a meta refresh element."""

from __future__ import annotations

import re
from typing import Final

from ..document.document import REFRESH, Document

_MOST_SECONDS: Final = 15
"""After a longer pause readers are shown the page again, not another."""
_MOST_TEXT: Final = 300
_MOST_LINKS: Final = 3
_SENT = re.compile(r"\s*([0-9]{1,4})(?:\.[0-9]{0,9})?\s*[;,\s]\s*(?:url\s*=\s*)?([\"']?)([^\n]*)", re.IGNORECASE)


def find_target(document: Document) -> str:
    """Return the canonical URL to which a page's meta refresh redirects, or empty.

    It may be the page's own (a wall that only sets a cookie); slow ones and those of pages with content do not count.

    Source: HTML Standard, section 4.2.5.3, state Refresh.
    Differs: a page of more than a few words or links is a page.
    """
    stated = document.metas.get(REFRESH)
    if not stated or len(document.links) > _MOST_LINKS or (len(document.T) and document.T[0] > _MOST_TEXT):
        return ""
    sent = _SENT.match(stated[0])
    if sent is None or int(sent[1]) > _MOST_SECONDS:
        return ""
    written = sent[3].partition(sent[2])[0] if sent[2] else sent[3]
    return (written.strip() and document.resolve(written)) or ""
