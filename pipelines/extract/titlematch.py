"""Correlation with the title: the body is thin in links and speaks of the title."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..document.document import Document
from ..document.tokens import terms
from ..document.view import Flags, Values, measure
from ..records import Extraction
from ..text_form import render

CONTAINERS: Final = frozenset({"table", "td", "div", "article", "section", "main"})
"""Elements that may hold the text; the last three are younger than the paper."""
_CUT = re.compile(r"[_\-|–—｜]")


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the title extractor.

    Attributes:
        link_share: p = z / y, the most link text of a container.
        mark_density: m = x / y, least punctuation marks per character.
        overlap: s, least weighted overlap with the title's terms.
        least_chars: y, least characters of a container.
    """

    link_share: float = 0.2
    mark_density: float = 0.01
    overlap: float = 0.5
    least_chars: int = 50
    min_chars: int = 40


def overlaps(document: Document) -> Values:
    """Count how often each sub-tree says each of the title's terms, on average.

    Links do not count. The title ends at its first `_`, `-` or `|`.
    Cost: O(nodes + characters).
    """
    title = set(terms(_CUT.split(document.title.strip("_-|–—｜ "), 1)[0]))
    view, hits = measure(document), np.zeros(len(document.blocks))
    if title:
        for index in np.flatnonzero(~view.linked):
            counts = Counter(terms(document.blocks.texts[index]))
            hits[index] = sum(counts[term] for term in title)
    return view.sums(hits) / max(len(title), 1)


def extract(document: Document, params: Params) -> Extraction:
    """Return the text of the richest container that passes the three tests.

    Cost: O(nodes + characters).
    Source: 网页主题信息提取 (S19): p = z / y, m = x / y with x punctuation marks (标点符号总数), s overlap with the
        title; it prints p 0.03, m 0.1, s 1.
    Differs: p, m and s are wider, as calibrated on pages of today; the paper does not say on which side of m text
        lies, here it has at least so many marks; terms are pairs of characters for Chinese; of several
        containers that pass, the one with most text outside links is taken; when none speaks of the title the other two
        tests decide, and when none passes these the innermost one that speaks of the title.
    """
    view, chars, links = measure(document), document.T, document.LT
    overlap = overlaps(document)
    holds: Flags = np.array([tag in CONTAINERS for tag in document.tags]) & (chars >= params.least_chars)
    thin = holds & (links <= params.link_share * chars) & (document.Sb >= params.mark_density * chars)
    spoken = overlap >= params.overlap
    passing = np.flatnonzero(thin & spoken)
    if not len(passing):
        passing = np.flatnonzero(thin)
    if not len(passing):
        passing = np.flatnonzero(holds & spoken)[-1:]
    if not len(passing):
        return render.answer(document, [], (), params.min_chars)
    best = int(passing[np.argmax((chars - links)[passing])])
    blocks = np.flatnonzero(view.inside(best) & ~view.linked)
    return render.answer(document, blocks.tolist(), view.prose.tolist(), params.min_chars)
