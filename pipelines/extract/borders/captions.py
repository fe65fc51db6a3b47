"""Captions and credits: they belong to the pictures, not to the text."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from ...document.document import Document
from ...document.noise import is_caption_name
from ...document.view import Values

_LEAST_REST: Final = 0.7
"""Least share of a text that is left; on four folds 34 of 47 texts that change are nearer to those known."""


def drop_captions(document: Document, kept: list[int], mass: Values) -> list[int]:
    """Return the blocks of `kept` without those named after captions beside a picture.

    Cost: O(blocks kept x log images).
    """
    if not document.images:
        return kept
    tags, names, parents, ends = document.tags, document.names, document.parents, document.ends
    pictures = [node for node, _, _ in document.images]
    blocks = document.blocks

    def is_caption(block: int) -> bool:
        node = blocks.nodes[block]
        for place in (blocks.starts[block], node, parents[node]):
            if place > 0 and (tags[place] == "figcaption" or (names[place] and is_caption_name(names[place]))):
                box = parents[min(place, node)]
                at = bisect_left(pictures, box)
                return at < len(pictures) and pictures[at] < ends[box]
        return False

    rest = [block for block in kept if not is_caption(block)]
    return rest if float(mass[rest].sum()) >= _LEAST_REST * float(mass[kept].sum()) else kept
