"""Rules on top of the density of text: the body is the node worth most prose.

Blocks get values, the walk goes from the densest node up to the ancestor of the highest value, and lines of the
template are removed. The numbers below were chosen by hand, with the corpora zhgold and daniel in view; `uv run python
-m tests.benchmarks.extraction --all` prints the scores that they reach.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..decode.text import squeeze
from ..document.document import Document
from ..document.noise import is_copyright, is_info, is_label, is_reply, is_tail
from ..document.view import Flags, Values, measure
from ..records import Extraction
from ..text_form import render
from .density import scores

_MOST_PROSE: Final = 800
"""Greatest value of a block of prose, which is its characters outside links."""
_LINK_COST: Final = (6.0, 0.4)
"""Cost of a link, and of each of its characters."""
_OTHER_COST: Final = 3.0
"""Cost of a short block that is neither prose nor link."""
_SIDE_LINK_COST: Final = 4.0
_SIDE_COST: Final = 2.0
"""Cost of a link, and of any other block, in a side section."""
_ABOVE_HEADLINE: Final = 0.2
"""Share of its value that prose above the headline keeps."""
_PASSED_LINK: Final = 0.94
"""Factor on the value of prose for each link between it and the headline, down to `_FAR_BELOW`."""
_FAR_BELOW: Final = 0.05
_KEYWORDS_CHARS: Final = 2000
_KEYWORDS_MARKS: Final = 500
"""A block this long with less than one mark in so many characters is a heap of keywords, not prose."""
_SIDE_PROSE: Final = 0.35
"""Blocks under a label such as "Related" are a side section if they hold less of the remaining prose than this."""
_IMPRINT_PROSE: Final = 0.3
_IMPRINT_CHARS: Final = 200
"""A line like an imprint that is longer and holds more of the prose is part of the text."""
_CONTAINED: Final = 400
"""A container of the headline with more characters than this is no side section, whatever its name."""
_TEASERS: Final = 3
_TEASER_TAGS: Final = 25
"""So many pairs of linked headline and summary, each within so many tags, are a list of other articles."""
_RICHEST: Final = 0.5
"""Share of the value of the richest node that the chosen node must have."""
_DATE = re.compile(r"\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}")
_MORE = re.compile(r"(?:详细|详情|全文|更多|more|阅读)\s?[\]】）)>»…]{0,3}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Params:
    """Characters outside links from which a block is prose, with a mark and without."""

    sentence_chars: int = 14
    line_chars: int = 40
    min_chars: int = 40


def extract(document: Document, params: Params) -> Extraction:
    """Return the main text of a page by density and rules set by hand.

    Cost: O(nodes + characters).
    Source: starts from the densest node of S11, see `density.scores`.
    Differs: all that follows is ours.
    """
    rules = _Rules(document, params)
    return render.answer(document, rules.body(), rules.values.tolist(), params.min_chars)


class _Rules:
    def __init__(self, document: Document, params: Params) -> None:
        self.document, self.view = document, measure(document)
        self.linked = self.view.linked
        chars, marks = self.view.plain, np.asarray(document.blocks.marks)
        self.prose: Flags = (
            ~self.linked
            & (((marks >= 1) & (chars >= params.sentence_chars)) | (chars >= params.line_chars))
            & ((chars < _KEYWORDS_CHARS) | (marks * _KEYWORDS_MARKS > chars))
        )
        title = self.view.headline
        self.title = title if title >= 0 and not self.linked[title] else -1  # a linked one leads to another article
        self.noise = self._noise()
        self.values = self._values()

    def _values(self) -> Values:
        cost, char_cost = _LINK_COST
        others = np.where(self.linked, -cost - char_cost * self.view.links, -_OTHER_COST)
        values = np.where(self.prose, np.minimum(self.view.plain, _MOST_PROSE), others)
        values[self.noise] = np.where(self.linked[self.noise], -_SIDE_LINK_COST, -_SIDE_COST)
        if self.title < 0 or values[self.title :].max(initial=0) <= 0:
            return values
        # The text follows its headline; links in between say that other things have begun.
        passed = np.cumsum(self.linked)
        passed = np.maximum(passed - passed[self.title], 0)
        nearness = np.maximum(_PASSED_LINK**passed, _FAR_BELOW)
        nearness[: self.title] = _ABOVE_HEADLINE
        return np.where(values > 0, values * nearness, values)

    def _noise(self) -> Flags:
        document = self.document
        side = [node for node in self.view.side_sections if not self._is_body(node)]
        noise = self.view.in_any(side) | self._teasers()
        prose = np.where(self.prose & ~noise, self.view.plain, 0)
        total = max(int(prose.sum()), 1)
        after = prose.sum() - np.cumsum(prose)
        for index, line in enumerate(document.blocks.texts):
            if noise[index]:
                continue
            if is_copyright(line) and (prose[index] < _IMPRINT_PROSE * total or len(line) < _IMPRINT_CHARS):
                noise[index] = True
            elif is_label(line):
                first, last = self.view.section(index)
                if after[index] - after[last - 1] < _SIDE_PROSE * total:
                    noise[first:last] = True
            elif len(line) <= 60 and is_reply(line) and after[index] < total:
                noise[index:] = True
        return noise

    def _is_body(self, node: int) -> bool:
        document = self.document
        headline = self.view.nodes[self.title] if self.title >= 0 else -1
        if node <= headline < document.ends[node] and document.tags[node] != "nav" and document.T[node] > _CONTAINED:
            return True
        parent = document.parents[node]
        unfolds = document.P[node] >= 1 and parent > 0 and document.P[parent] > document.P[node]
        return bool(unfolds and node in document.hidden)

    def _teasers(self) -> Flags:
        document, blocks, nodes = self.document, self.document.blocks, self.view.nodes
        flags = np.zeros(len(blocks), np.bool_)
        teasers: list[tuple[int, int]] = []
        for index in map(int, np.flatnonzero(self.prose)):
            if _MORE.search(blocks.texts[index][-12:]):
                flags[index] = True
                continue
            for before in range(index - 1, max(-1, index - 4), -1):
                if self.prose[before]:
                    break
                if self.linked[before] and blocks.link_chars[before] >= 6:
                    # Both must share a small container, else the link is a breadcrumb above the text.
                    holder = document.parents[nodes[index]] if nodes[index] > nodes[before] else nodes[index]
                    holder = max(holder, 0)
                    if holder <= nodes[before] < document.ends[holder] and document.TG[holder] <= _TEASER_TAGS:
                        teasers.append((index, holder))
                    break
        # A list holds each pair of headline and summary in a container of its own, or all of them in one; a text with
        # an advert in it holds one such pair among other paragraphs.
        pairs = Counter(holder for _, holder in teasers)
        prose = {holder: int(self.prose[self.view.inside(holder)].sum()) for holder in pairs}
        single = Counter(document.parents[holder] for holder in pairs if prose[holder] == 1)
        for index, holder in teasers:
            is_single = prose[holder] == 1 and single[document.parents[holder]] >= _TEASERS
            flags[index] |= is_single or (pairs[holder] >= _TEASERS and pairs[holder] * 2 > prose[holder])
        return flags

    def best(self) -> int:
        document = self.document
        worth = self.view.sums(self.values)
        score = np.where(worth > 0, scores(document), 0)
        node = best = int(np.argmax(score))
        if score[node] <= 0:
            return -1
        while node > 0:
            node = document.parents[node]
            if worth[node] > worth[best]:
                best = node
        richest = int(np.argmax(worth))
        return best if worth[best] >= _RICHEST * worth[richest] else richest

    def body(self) -> list[int]:
        texts = self.document.blocks.texts
        root = self.best()
        if root < 0:
            return []
        within = np.flatnonzero(self.view.inside(root) & ~self.noise).tolist()
        prose = [index for index in within if self.prose[index] and not is_tail(texts[index])]
        if not prose:
            return []
        first = self._head(within, prose)

        def stays(index: int) -> bool:
            if is_tail(texts[index]) and (index > prose[0] or not self.prose[index]):
                return False
            if self.linked[index]:
                return self._reads_as_sentence(index)
            after = index > prose[-1] and not self.prose[index]
            return not (after and (is_info(texts[index]) or len(texts[index]) > 60))

        return [index for index in within if index >= first and stays(index)]

    def _reads_as_sentence(self, index: int) -> bool:
        blocks = self.document.blocks
        return bool(blocks.marks[index] >= 2 and blocks.chars[index] - blocks.link_chars[index] >= 6)

    def _head(self, within: list[int], prose: list[int]) -> int:
        blocks = self.document.blocks
        title = squeeze(self.document.title)
        first = within[0]
        for index in within[:60]:
            line = blocks.texts[index]
            heading = squeeze(line)
            if (len(heading) >= 5 and heading in title) or (
                blocks.chars[index] < 70 and line[-1] not in "。！？.!?”" and _DATE.search(line) and is_info(line)
            ):
                first = index + 1
            elif self.prose[index]:
                break
            elif index < prose[-1] and is_info(line):
                first = index + 1
        return first
