"""The body as a selector of its seed names it, cleaned like any other."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..document.document import Document
from ..document.noise import is_extra
from ..document.selectors import blocks_in, nodes_of
from ..document.view import Flags, measure
from ..records import Extraction
from ..text_form import render
from . import combined

EVIDENCE: Final = "selector"
_MIN_CHARS: Final = 10
"""The shortest text, as in `combined.Params`."""


def extract(document: Document, selector: str) -> Extraction | None:
    """Return the text of the elements that a selector chooses; None if there is none.

    Links, side sections, copies, and lines of the template at its beginning and end are left out, as from a text that
    was found by itself.

    Cost: O(nodes + blocks).
    """
    nodes = nodes_of(document, selector)
    if not nodes or not len(document.blocks):
        return None
    place, view = blocks_in(document, nodes), measure(document)
    inside = place & ~view.in_any([node for node in view.side_sections if not _holds(document, node, nodes)])
    blocks = combined.tidy(document, np.flatnonzero(text_in(document, inside)).tolist())
    if int(document.blocks.chars[blocks].sum()) < _MIN_CHARS:
        return None
    return render.extraction(document, blocks, 1.0, evidence=EVIDENCE)


def text_in(document: Document, place: Flags) -> Flags:
    """Return the blocks of a place without links and lines such as "Share"."""
    text = place & ~measure(document).linked
    for block in np.flatnonzero(text):
        text[block] = not is_extra(document.blocks.texts[block])
    return text


def _holds(document: Document, side: int, nodes: list[int]) -> bool:
    """Tell whether a side section is chosen itself, or holds what is."""
    return any(side <= node < document.ends[side] for node in nodes)
