"""Likeness to headings: long blocks, and those that speak of title or headings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..document.document import Document
from ..document.tokens import cosine, terms
from ..document.view import HEADINGS, Flags, measure
from ..records import Extraction
from ..text_form import render

MAX_TOPICS: Final = 50
"""Most headings that blocks are compared with."""


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the headings extractor.

    Attributes:
        least_chars: Lmin; a long block has more characters than this outside links,
        link_chars: k; and more than k for each of its links.
        likeness: cosine with the title or a sub-heading from which a short block is useful.
        reach: how many blocks away from a long one such a block may stand.
    """

    least_chars: int = 30
    link_chars: float = 20.0
    likeness: float = 0.3
    reach: int = 3
    min_chars: int = 40

    def __post_init__(self) -> None:
        if self.reach < 0:
            raise ValueError(f"reach is {self.reach}; it takes 0 or more blocks")


def long_blocks(document: Document, params: Params) -> Flags:
    """Flag blocks with length > k x links and > Lmin. Cost: O(blocks + links)."""
    count = len(document.blocks)
    chars = measure(document).plain
    # A link at the very end of a page may name the block behind the last one.
    links = np.bincount(np.array([link[4] for link in document.links], np.int64), minlength=count)[:count]
    marks = np.asarray(document.blocks.marks)
    flags: Flags = (chars > params.link_chars * links) & (chars > params.least_chars) & (marks > 0)
    return flags


def topics(document: Document, long: Flags) -> list[Counter[str]]:
    """Return term vectors of the title and of headings that a long block follows.

    Headings are at most `MAX_TOPICS`; those over lists of links are left out. Cost: O(blocks).
    """
    blocks, vectors = document.blocks, [Counter(terms(document.title))]
    heads = [index for index, node in enumerate(blocks.nodes) if document.tags[node] in HEADINGS]
    for index, following in zip(heads, [*heads[1:], len(blocks)], strict=False):
        if len(vectors) <= MAX_TOPICS and long[index + 1 : min(index + 3, following)].any():
            vectors.append(Counter(terms(blocks.texts[index])))
    return vectors


def extract(document: Document, params: Params) -> Extraction:
    """Return long blocks, and short ones among them that are like a heading.

    Length alone loses sub-headings and one-line paragraphs. They repeat words of the headings, adverts do not.

    Cost: O(characters).
    Source: 王利, 刘宗田 et al., 基于内容相似度的网页正文提取, 2010 (S16).
    Differs: terms are pairs of characters for Chinese; a long block has a punctuation mark; headings without text below
        them are no sub-headings; blocks that are useful by likeness stand near a long one and are no links.
    """
    blocks, view = document.blocks, measure(document)
    long = long_blocks(document, params)
    useful = long.copy()
    near = np.convolve(long, np.ones(2 * params.reach + 1))[params.reach :][: len(blocks)] > 0
    heads = topics(document, long)
    for index in np.flatnonzero(near & ~long & ~view.linked):
        vector = Counter(terms(blocks.texts[index]))
        useful[index] = any(cosine(vector, head) >= params.likeness for head in heads)
    return render.answer(document, np.flatnonzero(useful).tolist(), view.prose.tolist(), params.min_chars)
