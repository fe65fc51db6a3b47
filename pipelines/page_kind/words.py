"""Words of a page that tell its kind.

They are those of its title, headings, buttons, fields, short lines and text, and what its containers are called.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from ..document.document import Document
from ..document.tokens import terms
from ..records import Extraction

_TEXT_CHARS: Final = 2000
_MOST_NAMES: Final = 400
_MOST_LINES: Final = 400
_LINE_CHARS: Final = 24
_TITLE_CHARS: Final = 200
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption"})
_NAME_WORD = re.compile(r"[a-z]{2,20}")
_ATTRIBUTES: Final = ("name", "placeholder", "value", "title")
_TYPE = re.compile(r'"@type"\s{0,3}:\s{0,3}\[?\s{0,3}"(?:https?://schema\.org/)?(\w{2,40})"')
_DIGITS = re.compile(r"\d+")


class Words(NamedTuple):
    """Words of a page.

    Attributes:
        site: of title, headings, buttons, fields, short lines and containers, each marked by its place.
        text: of the beginning of the text.
    """

    site: frozenset[str] = frozenset()
    text: frozenset[str] = frozenset()


@lru_cache(maxsize=16384)
def _name_words(name: str) -> tuple[str, ...]:
    """Return the marked words of a container's name."""
    return tuple(f"c:{word}" for word in _NAME_WORD.findall(name))


def words(document: Document, extraction: Extraction) -> Words:
    """Return the words of a page and of its text.

    Cost: O(nodes + characters of short lines and of the beginning of the text).
    """
    found: set[str] = set()
    for name in list(dict.fromkeys(document.names))[:_MOST_NAMES]:
        found.update(_name_words(name))
    blocks, tags = document.blocks, document.tags
    digits = blocks.digits.tolist()
    for text, node, count in zip(blocks.texts[:_MOST_LINES], blocks.nodes, digits, strict=False):
        if len(text) <= _LINE_CHARS:
            line = text.lower()
            found.add(f"s:{_DIGITS.sub('0', line) if count else line}")
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
    return Words(frozenset(found), frozenset(terms(extraction.text[:_TEXT_CHARS])))
