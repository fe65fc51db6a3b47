"""Pages with the story of their data written into them, to be read like any other."""

from __future__ import annotations

import re
from html import escape
from typing import Final

from ..decode.text import squeeze
from ..document import structured_data
from ..document.document import Document, parse
from ..document.shell import has_state
from .story import Story, find_story
from .values import read_values

_SCRIPT = re.compile(r"<script\b(?![^>]{0,300}ld\+json)[^>]{0,2000}>.*?</script\s{0,9}>", re.DOTALL | re.IGNORECASE)
_HIDDEN = re.compile(r"<(textarea|template|noscript)\b[^>]{0,2000}>.*?</\1\s{0,9}>", re.DOTALL | re.IGNORECASE)
_BODY = re.compile(r"<body\b[^>]{0,2000}>", re.IGNORECASE)

_LEAST_STATED: Final = 400
"""Characters of an `articleBody` that is a whole text."""
_SNIPPET: Final = 12
_SNIPPETS: Final = 20
_SHARED: Final = 0.2
"""Share of its snippets that a text has at least in common with another wording of itself."""


def carries_another(document: Document, text: str) -> bool:
    """Tell whether the data of a page may hold another text than it shows.

    Args:
        document: a parsed page.
        text: what an extractor found.

    Cost: O(characters of JSON-LD and of states), a small constant.
    """
    body = structured_data.read(document).body
    if len(body) >= _LEAST_STATED:
        return is_apart(text, body)
    line = max(text.splitlines(), key=len, default="")
    probe = line[len(line) // 2 :][:_SNIPPET]
    states = [
        script
        for script in document.scripts
        if len(script) > _LEAST_STATED and (script[:1] == "{" or has_state(script))
    ]
    return bool(states) and not any(probe in script for script in states)


def is_apart(text: str, other: str) -> bool:
    """Tell whether hardly anything of a text stands in another one."""
    own, others = squeeze(text), squeeze(other)
    places = range(0, max(1, len(own) - _SNIPPET), max(_SNIPPET, len(own) // _SNIPPETS))
    return sum(own[at : at + _SNIPPET] in others for at in places) < _SHARED * len(places)


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
