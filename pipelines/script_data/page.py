"""Pages with the story of their data written into them, to be read like any other.

The thresholds were chosen by hand.
"""

from __future__ import annotations

import json
from html import escape
from typing import Final

from lxml import etree

from ..decode.text import squeeze
from ..document import structured_data
from ..document.document import Document, parse
from ..document.shell import has_state
from .fields import TAG
from .story import Story, find_story
from .values import read_values

_STATING: Final = frozenset({"meta", "link", "base"})
_LEAST_STATED: Final = 400
"""Least characters of an `articleBody` that is a whole text."""
PLAIN: Final = "css:.article-content.plain"
"""Where `with_data` writes a body that came without markup."""
MORE: Final = 3
"""Data must hold this many times the characters of the visible text."""
_PROBES: Final = 6
_SPREAD: Final = 3
"""In data a text takes at most this many times its characters, markup included."""
_SNIPPET: Final = 12
_SNIPPETS: Final = 20
_SHARED: Final = 0.2
"""Least share of snippets in common with another wording of the same text."""


def carries_another(document: Document, text: str) -> bool:
    """Tell whether the data of a page may hold another text than the extracted one.

    Cost: O(characters of JSON-LD and of states), a small constant.
    """
    body = structured_data.read(document).body
    if len(body) >= _LEAST_STATED:
        return len(body) > MORE * len(text) or is_apart(text, body)
    states = [
        script
        for script in document.scripts
        if len(script) > _LEAST_STATED and (script[:1] in {"{", "["} or has_state(script))
    ]
    return bool(states) and not any(_holds(script, text) for script in states)


def _holds(script: str, text: str) -> bool:
    """Tell whether a script holds one long text, not many beginnings."""
    lines = [line for line in text.splitlines() if len(line) > 2 * _SNIPPET]
    probes = [line[len(line) // 2 :][:_SNIPPET] for line in lines[:: max(1, len(lines) // _PROBES)]]
    places = [max(script.find(probe), script.find(json.dumps(probe)[1:-1])) for probe in probes]
    first_places = [place for place in places if place >= 0]
    return 2 * len(first_places) > len(probes) and max(first_places) - min(first_places) < _SPREAD * (
        len(text) + _LEAST_STATED
    )


def is_apart(text: str, other: str) -> bool:
    squeezed, others = squeeze(text), squeeze(other)
    places = range(0, max(1, len(squeezed) - _SNIPPET), max(_SNIPPET, len(squeezed) // _SNIPPETS))
    return sum(squeezed[at : at + _SNIPPET] in others for at in places) < _SHARED * len(places)


def with_data(document: Document) -> Document | None:
    """Return a page with the story of its data written in; None when they have none.

    The story stands first in the body, with headline, time and names; scripts are left out.
    Cost: O(characters), about that of parsing the page again.
    """
    story = find_story(document, read_values(document))
    if story is None:
        return None
    # A message without a title is named by its first line: it stands in the text, and the page may give all as title.
    is_line = squeeze(TAG.sub("", story.html[:_LEAST_STATED])).startswith(squeeze(story.title))
    named = f'<meta property="og:title" content="{escape(story.title)}">' if is_line else ""
    heading = "" if is_line else f"<h1>{escape(story.title)}</h1>"
    written = (
        f'<html lang="{escape(document.language)}"><head>{named}{_head(document)}</head>'
        f"<body>{_markup(document, story, heading)}"
    )
    page = parse(written.encode("utf-8", "replace"), document.url, "text/html; charset=utf-8", document.bounds)
    page.encoding, page.content_type = document.encoding, document.content_type
    return page


def _head(document: Document) -> str:
    stated = (
        etree.tostring(document.elements[node], encoding="unicode", method="html", with_tail=False)
        for node, tag in enumerate(document.tags)
        if tag in _STATING
    )
    data = (
        f'<script type="application/ld+json">{one.replace("</", chr(60) + chr(92) + "/")}</script>'
        for one in document.json_ld
    )
    return "".join((f"<title>{escape(document.title)}</title>", *stated, *data))


def _markup(document: Document, story: Story, heading: str) -> str:
    metas = [("article:published_time", story.published), ("author", story.author), ("og:image", story.image)]
    metas += [("og:title", story.title)]
    head = "".join(
        f'<meta property="{name}" content="{escape(value)}">'
        for name, value in metas
        if value and name not in document.metas
    )
    source = f'<span class="source">来源：{escape(story.source)}</span>' if story.source else ""
    return (
        f'{head}<article class="article">{heading}<div class="info">{source}</div>'
        f'<div class="article-content{" plain" * story.is_plain}" itemprop="articleBody">{story.html}</div></article>'
    )
