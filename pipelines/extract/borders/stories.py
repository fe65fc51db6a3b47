"""Other stories: text under a headline, date and byline of its own.

The page's own story is recognised by its headline, which the page's titles repeat. Another one repeats the pattern in a
container that holds neither the page's headline nor its first paragraph. Entries of a live blog and slides stand below
the headline they share.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

import numpy as np

from ...decode.text import squeeze
from ...document.document import Document
from ...document.noise import DATE, is_info
from ...document.view import Flags, measure

# Set by hand with folds 0 and 1 of the corpora in view (tests.benchmarks.extraction), looked at on 2 and 3.
_HEADLINES: Final = frozenset({"h1", "h2", "h3"})
_NO_PROSE: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "figcaption", "li"})
_PROSE: Final = 60
"""Least letters of a paragraph; a Chinese character counts for two and a half."""
_STORY: Final = 200
"""Least letters outside links of another story."""
_ABOVE: Final = 150
"""Most letters above the headline in the container of a story."""
_REACH: Final = 16
"""Most blocks from a headline to its first paragraph,"""
_LINKS: Final = 6
"""and links among them."""
_INFO_CHARS: Final = 100
_LEAST_HEADLINE, _LEAST_TITLE = 16, 8
"""Letters and digits of a headline; of one in an h1."""


def other_stories(document: Document, titles: str) -> Flags | None:
    """Flag the blocks of other stories than the page's own; None when there are none.

    `titles` are those of the page, squeezed, a line each.
    Cost: O(blocks), and O(levels) for each headline.
    """
    heads = [index for index, tag in enumerate(measure(document).tags) if tag in _HEADLINES]
    if len(heads) <= 1:
        return None
    page = _Headlines(document, titles, heads)
    ranges = list(page.others()) if page.core >= 0 else []
    if not ranges:
        return None
    nodes = measure(document).nodes
    flags: Flags = np.any([(nodes >= first) & (nodes < last) for first, last in ranges], axis=0)
    return flags


class _Headlines:
    """Headlines of a page, and the one that begins its own story."""

    def __init__(self, document: Document, titles: str, heads: list[int]) -> None:
        blocks, view = document.blocks, measure(document)
        self.document, self.titles, self.heads = document, titles, heads
        self.nodes, self.tags = blocks.nodes, document.tags
        self.times = [node for node, _ in document.times]
        self.letters: list[float] = view.letters.tolist()
        self.links = np.cumsum(view.linked).tolist()
        is_prose = (view.letters - view.links >= _PROSE) & ~view.linked & (blocks.marks > 0)
        self.prose = [at for at in np.flatnonzero(is_prose).tolist() if self.tags[self.nodes[at]] not in _NO_PROSE]
        self.firsts = [index for index in heads if self.tags[self.nodes[index]] == "h1"]
        seconds = (index for index in heads if self.tags[self.nodes[index]] == "h2")
        self.own = next((index for at in (self.firsts, seconds) for index in at if self._is_title(index)), -1)
        self.core = self._prose_below(self.own) if self.own >= 0 else -1
        """First paragraph of the page's own story; -1 when the page does not show where it begins."""
        if self.core >= 0:
            level = self.tags[self.nodes[self.own]]
            between = any(self.own < index < self.core and self.tags[self.nodes[index]] == level for index in heads)
            if between or not self._is_signed(self.own, max(self.own - 2, 0), self.core):
                self.core = -1

    def _is_title(self, index: int) -> bool:
        line = squeeze(self.document.blocks.texts[index])
        return len(line) >= _LEAST_TITLE and line in self.titles

    def others(self) -> Iterable[tuple[int, int]]:
        document, nodes, tags, parents = self.document, self.nodes, self.tags, self.document.parents
        headline, body = nodes[self.own], parents[nodes[self.core]]
        article = nodes[self.core]
        while article > 0 and tags[article] != "article":
            article = parents[article]
        last = 0
        is_row = self._is_row()
        for index in self.heads:
            node = nodes[index]
            is_level = tags[node] == tags[headline] == "h1"
            is_beside = is_row and is_level and parents[node] == parents[headline] and index > self.core
            if node < last or (body <= node < document.ends[body] and not is_beside):
                continue
            prose = self._prose_below(index)
            if prose < 0:
                continue
            box, first = self._container(index, prose)
            if box == node and not is_beside:
                continue
            is_outside = article <= 0 or not article <= node < document.ends[article]
            is_below = index > self.core and (is_level or (tags[node] == "h2" and is_outside and self._is_link(index)))
            if not is_below and (box == node or not self._is_alike(box)):
                continue
            if self._is_headline(index, is_level=is_level) and self._is_signed(index, first, prose):
                last = document.ends[parents[node] if box == node else box]
                yield box, last

    def _is_row(self) -> bool:
        """Headlines beside the page's own head stories of their own.

        Most of them are signed then, as sub-headings of one story are not.
        """
        nodes, parents = self.nodes, self.document.parents
        holder = parents[nodes[self.own]]
        beside = [index for index in self.firsts if index > self.core and parents[nodes[index]] == holder]
        signed = [
            index
            for index in beside
            if (prose := self._prose_below(index)) >= 0 and self._is_signed(index, index, prose)
        ]
        return 2 * len(signed) > len(beside)

    def _is_headline(self, index: int, *, is_level: bool) -> bool:
        texts = self.document.blocks.texts
        line = squeeze(texts[index])
        size = len(line) * (2.5 if self.document.blocks.han[index] else 1)
        if size < (_LEAST_TITLE if is_level else _LEAST_HEADLINE) or line in self.titles:
            return False
        return squeeze(texts[self.own]) not in line and not DATE.search(texts[index])

    def _prose_below(self, index: int) -> int:
        """First paragraph below a heading; -1 if too much stands between them."""
        at = bisect_left(self.prose, index + 1)
        paragraph = self.prose[at] if at < len(self.prose) else index + _REACH + 1
        after = bisect_left(self.firsts, index + 1)
        is_parted = after < len(self.firsts) and self.firsts[after] < paragraph
        if is_parted or paragraph > index + _REACH or self.links[paragraph] - self.links[index] > _LINKS:
            return -1
        return paragraph

    def _is_signed(self, index: int, first: int, prose: int) -> bool:
        """A line of date or names, or a time, stands around the headline."""
        texts, head = self.document.blocks.texts, self.nodes[index]
        if any(at != index and len(texts[at]) <= _INFO_CHARS and is_info(texts[at]) for at in range(first, prose)):
            return True
        at = bisect_left(self.times, min(head, self.nodes[first]))
        return at < len(self.times) and self.times[at] < self.nodes[prose]

    def _is_link(self, index: int) -> bool:
        blocks = self.document.blocks
        return bool(blocks.link_chars[index] * 5 >= blocks.chars[index] * 4)

    def _container(self, index: int, prose: int) -> tuple[int, int]:
        document, nodes, ends = self.document, self.nodes, self.document.ends
        headline, core = nodes[self.own], nodes[self.core]
        breadth = measure(document).breadth[prose]
        node, first, above = nodes[index], index, 0.0
        box = document.parents[node]
        while box > 0 and not (box <= headline < ends[box] or box <= core < ends[box]):
            while first > 0 and box <= nodes[first - 1] < ends[box] and above <= _ABOVE:
                first -= 1
                above += self.letters[first]
            if above > _ABOVE:
                break
            if breadth * (document.T[box] - document.LT[box]) >= _STORY and box <= nodes[prose] < ends[box]:
                return box, first
            box = document.parents[box]
        return node, index

    def _is_alike(self, box: int) -> bool:
        parents, tags, names = self.document.parents, self.tags, self.document.names
        ancestor = self.nodes[self.own]
        while ancestor > 0 and parents[ancestor] != parents[box]:
            ancestor = parents[ancestor]
        if ancestor <= 0 or tags[ancestor] != tags[box]:
            return False
        return tags[box] == "article" or bool(names[box] and names[ancestor] == names[box])
