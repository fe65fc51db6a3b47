"""Pages with the story of their data written into them, to be read like any other."""

from __future__ import annotations

import re
from html import escape

from ..document.document import Document, parse
from .story import Story, find_story
from .values import read_values

_SCRIPT = re.compile(r"<script\b(?![^>]{0,300}ld\+json)[^>]{0,2000}>.*?</script\s{0,9}>", re.DOTALL | re.IGNORECASE)
_HIDDEN = re.compile(r"<(textarea|template|noscript)\b[^>]{0,2000}>.*?</\1\s{0,9}>", re.DOTALL | re.IGNORECASE)
_BODY = re.compile(r"<body\b[^>]{0,2000}>", re.IGNORECASE)


def with_data(document: Document) -> Document | None:
    """Return a page with the story that its data have, None when they have none.

    The story stands first in the body, with headline, time and names in elements and metas of its own; scripts are
    left out.

    Args:
        document: a parsed page without a text of its own.

    Cost: O(characters), about that of parsing the page again.
    """
    story = find_story(document, read_values(document))
    if story is None:
        return None
    source = _HIDDEN.sub("", _SCRIPT.sub("", document.source))
    match = _BODY.search(source)
    at = match.end() if match else 0
    written = f"{source[:at]}{_markup(document, story)}{source[at:]}"
    page = parse(written.encode("utf-8", "replace"), document.url, "text/html; charset=utf-8", document.bounds)
    page.encoding, page.content_type = document.encoding, document.content_type
    return page


def _markup(document: Document, story: Story) -> str:
    """Return a story as markup."""
    metas = [("article:published_time", story.published), ("author", story.author), ("og:image", story.image)]
    metas += [("og:title", story.title)]
    head = "".join(
        f'<meta property="{name}" content="{escape(value)}">'
        for name, value in metas
        if value and name not in document.metas
    )
    source = f'<span class="source">来源：{escape(story.source)}</span>' if story.source else ""
    return (
        f'{head}<article class="article"><h1>{escape(story.title)}</h1><div class="info">{source}</div>'
        f'<div class="article-content" itemprop="articleBody">{story.html}</div></article>'
    )
