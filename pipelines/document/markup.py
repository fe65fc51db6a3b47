"""Text pieces of a page's markup, and the places of the document's blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from typing import Final

import numpy as np

from ..decode.characters import Counts
from .document import Document

WINDOW_CHARS: Final = 3000
"""Distance behind the previous block within which one is looked for; a line that is not found moves nothing."""
_KEY_CHARS: Final = 16
_NAMES: Final = ("script", "style", "noscript", "template", "svg", "textarea", "select", "title")
_UNREAD = re.compile(rf"<(?:!--|({'|'.join(_NAMES)})(?![\w-]))", re.IGNORECASE)
_ENDS: Final = {name: re.compile(rf"</{name}(?![\w-])", re.IGNORECASE) for name in _NAMES}
_COMMENT_END = re.compile("-->")
_TAG = re.compile(r"[a-zA-Z/!?]")


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Texts between tags, without white space, with source lines and tags before each."""

    texts: tuple[str, ...]
    lines: Counts
    tags: Counts


def cut_pieces(source: str) -> Pieces:
    """Cut markup into texts outside tags, comments, scripts. Cost: O(characters)."""
    texts: list[str] = []
    lines: list[int] = []
    tags: list[int] = []
    count = line = 0
    for part in f">{_visible(source)}".split("<"):
        tag, end, text = part.partition(">")
        if not end or (tag and not _TAG.match(tag)):
            # A character of the text, not the beginning of a tag.
            tag, text = "", part
        count += bool(tag)
        line += tag.count("\n")
        squeezed = "".join((unescape(text) if "&" in text else text).split())
        if squeezed:
            texts.append(squeezed)
            lines.append(line + text.count("\n", 0, len(text) - len(text.lstrip())))
            tags.append(count)
        line += text.count("\n")
    return Pieces(tuple(texts), np.array(lines, np.int64), np.array(tags, np.int64))


def _visible(source: str) -> str:
    visible: list[str] = []
    at = 0
    while opening := _UNREAD.search(source, at):
        name = opening[1]
        end = (_ENDS[name.lower()] if name else _COMMENT_END).search(source, opening.end())
        visible.append(source[at : opening.start()])
        # The end of an element is a tag, that of a comment is nothing.
        at = len(source) if end is None else end.start() if name else end.end()
        visible.append("\n" * source.count("\n", opening.start(), at))
    visible.append(source[at:])
    return "".join(visible)


def find_places(document: Document, pieces: Pieces) -> Counts:
    """Find the piece in which each block of `document` begins, ascending.

    A block that is not found (the parser changed its text) is taken to stand where the previous one ends.
    Cost: O(characters).
    """
    stream = "".join(pieces.texts)
    starts = np.cumsum([0, *map(len, pieces.texts)])
    at = 0
    begins: list[int] = []
    for text in document.blocks.texts:
        squeezed = "".join(text.split())
        here = stream.find(squeezed[:_KEY_CHARS], at, at + WINDOW_CHARS)
        if here >= 0:
            at = here + len(squeezed)
        begins.append(here if here >= 0 else at)
    numbers: Counts = np.clip(np.searchsorted(starts, begins, side="right") - 1, 0, max(len(pieces.texts) - 1, 0))
    return numbers
