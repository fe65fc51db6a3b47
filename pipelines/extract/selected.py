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
_LEAST_SHARE: Final = 0.3
"""Where less than this share of the elements' text looks like an article's, all of it is taken."""
_MIN_CHARS: Final = 10
"""The shortest text, as in `combined.Params`."""


def extract(document: Document, selector: str) -> Extraction | None:
    """Return the text of the elements that a selector chooses; None if there is none.

    What is certainly no text is left out, as from one that was found by itself: links, adverts, captions, copies,
    lines of the template at the beginning and the end.

    Cost: that of `combined.extract`, and O(nodes).
    """
    nodes = nodes_of(document, selector)
    if not nodes or not len(document.blocks):
        return None
    place, sizes = blocks_in(document, nodes), np.asarray(document.blocks.chars)
    text = text_in(document, place)
    everything, blocks = np.flatnonzero(text).tolist(), combined.choose_within(document, text)
    if int(sizes[blocks].sum()) < _LEAST_SHARE * int(sizes[everything].sum()):
        blocks = everything
    if int(sizes[blocks].sum()) < _MIN_CHARS:
        return None
    return render.extraction(document, blocks, 1.0, evidence=EVIDENCE)


def whole(document: Document, selector: str) -> Extraction | None:
    """Return all text of the elements that a selector chooses; None if there is none.

    Cost: O(nodes).
    """
    blocks = np.flatnonzero(blocks_in(document, nodes_of(document, selector))).tolist()
    return render.extraction(document, blocks, 1.0) if blocks else None


def text_in(document: Document, place: Flags) -> Flags:
    """Return the blocks of a place without links and lines such as "Share"."""
    text = place & ~measure(document).linked
    for block in np.flatnonzero(text):
        text[block] = not is_extra(document.blocks.texts[block])
    return text
