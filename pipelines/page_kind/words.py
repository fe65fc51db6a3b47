"""Words of a page that tell its kind.

They are those of its title, headings, buttons, fields, short lines and text, and what its containers are called.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from ..document.document import Document
from ..document.tokens import terms
from ..records import Extraction

OF_TEXT: Final = "x:"
"""Mark of the words of the text."""
_TEXT_CHARS: Final = 3000
_MOST_NAMES: Final = 400
_MOST_LINES: Final = 400
_LINE_CHARS: Final = 24
_TITLE_CHARS: Final = 200
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption"})
_NAME_WORD = re.compile(r"[a-z]{2,20}")
_ATTRIBUTES: Final = ("name", "placeholder", "value", "title")
_TYPE = re.compile(r'"@type"\s{0,3}:\s{0,3}\[?\s{0,3}"(?:https?://schema\.org/)?(\w{2,40})"')
_DIGITS = re.compile(r"\d+")


@lru_cache(maxsize=16384)
def _name_words(name: str) -> tuple[str, ...]:
    return tuple(f"c:{word}" for word in _NAME_WORD.findall(name))


def words(document: Document, extraction: Extraction) -> set[str]:
    """Return the words of a page, each marked by the place where it stands."""
    found: set[str] = set()
    for name in list(dict.fromkeys(document.names))[:_MOST_NAMES]:
        found.update(_name_words(name))
    blocks, tags = document.blocks, document.tags
    for text, node in zip(blocks.texts[:_MOST_LINES], blocks.nodes, strict=False):
        if len(text) <= _LINE_CHARS:
            found.add(f"s:{_DIGITS.sub('0', text.lower())}")
        if tags[node] in _HEADINGS:
            found.update(f"h:{word}" for word in terms(text[:_TITLE_CHARS]))
    found.update(f"t:{word}" for word in terms(document.title[:_TITLE_CHARS]))
    for node, tag in enumerate(tags):
        if tag in {"input", "textarea", "select", "button"}:
            element = document.elements[node]
            kind = str(element.get("type", tag)).lower()
            if kind == "hidden":
                continue
            found.add(f"i:{kind[:20]}")
            for key in _ATTRIBUTES:
                value = element.get(key)
                if value:
                    found.update(f"b:{word}" for word in terms(str(value)[:60]))
            if tag == "button":
                found.update(f"b:{word}" for word in terms("".join(map(str, element.itertext()))[:60]))
    for value in document.metas.get("og:type", ())[:3]:
        found.add(f"o:{value[:30].lower()}")
    for text in document.json_ld:
        found.update(f"j:{kind.lower()}" for kind in _TYPE.findall(text))
    found.update(f"{OF_TEXT}{word}" for word in terms(extraction.text[:_TEXT_CHARS]))
    return found
