"""Decay of information: text thins out most sharply below the node that holds it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..document.document import Document
from ..document.view import Values, measure
from ..records import Extraction
from ..text_form import render


@dataclass(frozen=True, slots=True)
class Params:
    """Characters that a punctuation mark vouches for, and the worth of one without."""

    mark_chars: float = 40.0
    bare_share: float = 0.01
    min_chars: int = 40


def information(document: Document, params: Params) -> Values:
    """Return the characters of each block that punctuation vouches for, 0 for links.

    Cost: O(blocks).
    """
    chars = measure(document).prose
    vouched = np.minimum(chars, np.asarray(document.blocks.marks) * params.mark_chars)
    return np.asarray(vouched + params.bare_share * (chars - vouched), np.float64)


def primary(document: Document, amounts: Values) -> int:
    """Return the node below which information drops most sharply; of equals the outer.

    It lies on the way from the root into the child that keeps most information, down to where no child holds any. The
    last drop counts by the share that the node holds of its parent's. `amounts` is the information of each sub-tree.

    Cost: O(children of the nodes on the way).
    """
    view, path, best = measure(document), [0], 0
    while (best := max(view.children(best), key=lambda child: float(amounts[child]), default=0)) > 0:
        if amounts[best] <= 0:
            break
        path.append(best)
    held = np.append(amounts[path], 0.0)
    drops = -np.diff(held)
    if len(path) > 1:
        # The longest of two paragraphs must not win over both.
        drops[-1] *= held[-2] / held[-3]
    return path[int(np.argmax(drops))]


def extract(document: Document, params: Params) -> Extraction:
    """Return the text of the sub-tree at which the decay of information is greatest.

    Wrappers lose little from one to the next; between the node that holds the paragraphs and one paragraph nearly
    everything is lost.

    Cost: O(nodes + blocks).
    Source: 陈阳, 陈兴蜀, 吴麒, 基于信息量衰减幅度的网页正文提取, 2012 (S13).
    Differs: information is non-link text weighted by punctuation; the drop is measured in information, not as a ratio,
        so that the last steps inside one paragraph do not win; noise inside the sub-tree is what is mostly link.
    """
    view, values = measure(document), information(document, params)
    node = primary(document, view.sums(values))
    blocks = np.flatnonzero(view.inside(node) & ~view.linked)
    return render.answer(document, blocks.tolist(), values.tolist(), params.min_chars)
