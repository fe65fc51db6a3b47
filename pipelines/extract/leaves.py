"""Three features of leaves: they are long, hold marks and outweigh their markup."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from lxml import etree

from ..document.document import Document
from ..document.view import Flags, measure
from ..records import Extraction
from ..text_form import render

_SENTENCE_MARKS = re.compile("[，。,.]")


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the leaves extractor.

    Attributes:
        least_chars: characters of a candidate.
        least_marks: sentence marks (，。 and their Western twins) of a candidate.
        least_density: characters of a candidate's element over the characters of its source.
        least_siblings: candidates under one parent from which its other leaves are kept too.
    """

    least_chars: int = 30
    least_marks: int = 2
    least_density: float = 0.2
    least_siblings: int = 2
    min_chars: int = 40


def candidates(document: Document, params: Params) -> Flags:
    """Flag the leaves above all three thresholds. Cost: O(characters of the page)."""
    blocks = document.blocks
    flags = (np.asarray(blocks.chars) >= params.least_chars) & ~measure(document).linked
    dense: dict[int, bool] = {}
    for index in map(int, np.flatnonzero(flags)):
        node = blocks.nodes[index]
        if len(_SENTENCE_MARKS.findall(blocks.texts[index])) < params.least_marks:
            flags[index] = False
            continue
        if node not in dense:
            source = etree.tostring(document.elements[node], encoding="unicode", with_tail=False)
            dense[node] = float(document.T[node]) / len(source) >= params.least_density
        flags[index] = dense[node]
    return flags


def extract(document: Document, params: Params) -> Extraction:
    """Return the candidate leaves, and all leaves of parents with several candidates.

    So sub-headings and short paragraphs are kept, which fail the thresholds.

    Cost: O(characters of the page).
    Source: 孔胜, 王宇, 一种基于正文特征的新闻网页抽取方法 (S17).
    Differs: a leaf is a block, so inline elements do not cut sentences; the parent of lines between `<br>` is the node
        that they stand in; what is mostly link is no leaf.
    """
    flags, view = candidates(document, params), measure(document)
    parents = view.holders
    counts = np.bincount(parents[flags], minlength=len(document.tags))
    text_mask = flags | ((counts[parents] >= params.least_siblings) & ~view.linked)
    return render.answer(document, np.flatnonzero(text_mask).tolist(), view.prose.tolist(), params.min_chars)
