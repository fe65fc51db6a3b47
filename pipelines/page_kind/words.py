"""Words of a page that tell its kind, marked by their places."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import compress
from string import ascii_lowercase
from typing import Final, NamedTuple, cast

from ..document.document import Document
from ..document.structured_data import find_types
from ..document.tokens import terms
from ..records import Extraction

_TEXT_CHARS: Final = 2000
_MOST_NAMES: Final = 400
_MOST_LINES: Final = 400
_LINE_CHARS: Final = 24
_TITLE_CHARS: Final = 200
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption"})
_FIELDS: Final = frozenset({"input", "textarea", "select", "button"})
_NAME_CHARS: Final = 20
_NAME_WORD = re.compile(rf"[a-z]{{2,{_NAME_CHARS}}}")
_LETTERS: Final = bytes(byte if chr(byte) in ascii_lowercase else 32 for byte in range(256))
"""Turns every byte of a name that is no letter into a blank."""
_ATTRIBUTES: Final = ("name", "placeholder", "value", "title")
_DIGITS = re.compile(r"\d+")


class Words(NamedTuple):
    """Words of a page: of its title, headings and so on by place, and of its text.

    Those of the text may be repeated: to drop repeats costs more than to look all up.
    """

    site: Collection[str] = ()
    text: Collection[str] = ()


def words(document: Document, extraction: Extraction) -> Words:
    """Words of a page and of its text. Cost: O(nodes + characters read)."""
    # Lines are joined before they are cut: one call of a regular expression costs as much as a hundred characters.
    names = " ".join(list(dict.fromkeys(document.names))[:_MOST_NAMES])
    cut = set(names.encode("utf-8", "replace").translate(_LETTERS).decode().split())
    marked = {f"c:{word}" for word in cut if 1 < len(word) <= _NAME_CHARS}
    marked.update(f"c:{part}" for word in cut if len(word) > _NAME_CHARS for part in _NAME_WORD.findall(word))
    blocks, tags = document.blocks, document.tags
    texts = blocks.texts[:_MOST_LINES]
    digits = blocks.digits.tolist()
    marked.update(
        f"s:{text.lower()}"
        for text, count in zip(texts, digits, strict=False)
        if len(text) <= _LINE_CHARS and not count
    )
    numbered = "\n".join(
        [text for text, count in zip(texts, digits, strict=False) if count and len(text) <= _LINE_CHARS]
    )
    if numbered:
        marked.update(f"s:{line}" for line in _DIGITS.sub("0", numbered.lower()).split("\n"))
    headings = [text[:_TITLE_CHARS] for text, node in zip(texts, blocks.nodes, strict=False) if tags[node] in _HEADINGS]
    marked.update(f"h:{word}" for word in terms("\n".join(headings)))
    marked.update(f"t:{word}" for word in terms(document.title[:_TITLE_CHARS]))
    buttons: list[str] = []
    for node in compress(range(len(tags)), map(_FIELDS.__contains__, tags)):
        element = document.elements[node]
        stated = dict(cast("list[tuple[str, str]]", element.items()))
        kind = stated.get("type", tags[node]).lower()
        if kind == "hidden":
            continue
        marked.add(f"i:{kind[:20]}")
        buttons.extend([stated[key][:60] for key in _ATTRIBUTES if key in stated])
        if tags[node] == "button":
            text = "".join(map(str, element.itertext())) if len(element) else element.text
            buttons.append((text or "")[:60])
    marked.update(f"b:{word}" for word in terms("\n".join(buttons)))
    for value in document.metas.get("og:type", ())[:3]:
        marked.add(f"o:{value[:30].lower()}")
    marked.update(f"j:{name}" for name in find_types(document))
    return Words(marked, terms(extraction.text[:_TEXT_CHARS]))
