"""Lines around headline and text, where pages put author, source and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..document.document import Document

_BELOW_HEADLINE: Final = 14
_ABOVE_HEADLINE: Final = 6
_BEHIND_TEXT: Final = 8
_LONGEST_LABEL: Final = 60
MAX_LINES: Final = 90


def find_lines(document: Document, headline_block: int, kept: Sequence[int]) -> list[int]:
    """Return the blocks around headline and text, nearest to the headline first.

    At most `MAX_LINES` distinct block numbers; the first 30 of the page when it has neither headline (-1) nor text.
    """
    count = len(document.blocks)
    first = kept[0] if kept else -1
    place = headline_block if headline_block >= 0 else first
    if place < 0:
        return list(range(min(count, 30)))
    order = list(range(place, min(count, max(place + _BELOW_HEADLINE, min(first + 3, place + 40)))))
    order += range(place - 1, max(-1, place - _ABOVE_HEADLINE), -1)
    if first >= 0:
        order += range(max(0, first - 6), first)
        last = kept[-1]
        order += range(max(first, last - 2), min(count, last + _BEHIND_TEXT))
        texts, links = document.blocks.texts, document.blocks.link_chars
        between = range(first - 1, -1, -1)
        order += [index for index in between if len(texts[index]) <= _LONGEST_LABEL and links[index] == 0][:MAX_LINES]
    return list(dict.fromkeys(order))[:MAX_LINES]


def split_fields(document: Document, index: int) -> list[str]:
    parts = document.blocks.parts[index]
    return [" ".join(text.split()) for _, text in parts if text.strip()] if parts else [document.blocks.texts[index]]
