"""Text and symbol density: the body is the node whose text is dense in characters and thin in links."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from db.records.reasons import PageReason

from ..decode.characters import Counts
from ..decode.text import squeeze
from ..document.document import Document
from ..document.noise import NOISE_TAGS, is_copyright, is_info, is_label, is_noisy_name, is_reply, is_tail
from ..document.subtrees import section
from ..records import Extraction
from ..render import render

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the density extractor.

    Attributes:
        sentence_chars: a block of at least so many characters outside links, with a punctuation mark, is prose.
        line_chars: a block of at least so many characters outside links is prose without one.
        link_share: share of link text from which a block is a link.
        min_chars: shortest text that is given out.
    """

    sentence_chars: int = 14
    line_chars: int = 40
    link_share: float = 0.5
    min_chars: int = 40


DEFAULTS = Params()


def scores(document: Document) -> Values:
    """Density score of every node.

    With T characters, LT link characters, TG tags, LTG link tags, P paragraphs and Sb punctuation marks of a sub-tree:
    TD = (T-LT)/(TG-LTG), SbD = (T-LT)/(Sb+1), Score = ln(SD) x TD x log10(P+2) x ln(SbD), where SD is the standard
    deviation of the page's TD.

    Args:
        document: a parsed page.

    Returns:
        One score per node, 0 for nodes without text; empty for a page without nodes.

    Cost: O(nodes).
    Source: 洪鸿辉 et al., 基于文本及符号密度的网页正文提取方法, 2019 (S11).
    Differs: denominators are at least 1, ln(SD) at least 0.1 and ln(SbD) at least 0.
    """
    if not document.tags:
        return np.zeros(0)
    plain = (document.T - document.LT).astype(np.float64)
    density = plain / np.maximum(document.TG - document.LTG, 1)
    symbols = plain / (document.Sb + 1)
    deviation = max(math.log(max(float(density.std()), 1.0)), 0.1)
    return np.asarray(deviation * density * np.log10(document.P + 2) * np.log(np.maximum(symbols, 1.0)), np.float64)


def extract(document: Document, params: Params = DEFAULTS) -> Extraction:
    """Return the main text of a page by text and symbol density.

    The densest node is often a part of the body only, or the body and its surroundings. So the walk goes from it up to
    the ancestor with most prose and fewest links, and lines that belong to the template are then taken out.

    Args:
        document: a parsed page.
        params: thresholds.

    Returns:
        Text and clean HTML, or an empty text with the reason.

    Cost: O(nodes + characters).
    Source: S11, see `scores`.
    Differs: the choice among the best node's ancestors and the removal of lines are ours.
    """
    blocks = document.blocks
    if not len(blocks):
        return Extraction(reason=PageReason.NO_TEXT)
    view = _View(document, params)
    kept = view.body()
    chars = sum(blocks.chars[index] for index in kept)
    if chars < params.min_chars:
        return Extraction(reason=PageReason.NO_PROSE if not kept else PageReason.TEXT_TOO_SHORT)
    total = float(np.maximum(view.values, 0).sum())
    confidence = min(1.0, sum(max(float(view.values[index]), 0.0) for index in kept) / total) if total else 0.0
    return render.extraction(document, kept, confidence, view.values)


class _View:
    """One page as this method sees it: which blocks are prose and what they are worth."""

    def __init__(self, document: Document, params: Params) -> None:
        self.document = document
        self.params = params
        blocks = document.blocks
        self.nodes: Counts = np.asarray(blocks.nodes, np.int64)
        chars, links = np.asarray(blocks.chars), np.asarray(blocks.link_chars)
        plain = chars - links
        marks = np.asarray(blocks.marks)
        self.linked: Flags = links > chars * params.link_share
        # Long text without punctuation is a heap of keywords.
        self.prose: Flags = (
            ~self.linked
            & (((marks >= 1) & (plain >= params.sentence_chars)) | (plain >= params.line_chars))
            & ((plain < 2000) | (marks * 500 > plain))
        )
        self.title = self._title()
        self.noise = self._noise(plain)
        values = np.where(self.prose, np.minimum(plain, 800), np.where(self.linked, -6.0 - 0.4 * links, -3.0))
        values[self.noise] = np.where(self.linked[self.noise], -4.0, -2.0)
        if self.title >= 0 and values[self.title :].max(initial=0) > 0:
            # The text follows its headline; links in between say that other things have begun.
            passed = np.cumsum(self.linked) - np.cumsum(self.linked)[self.title]
            nearness = np.where(
                np.arange(len(values)) < self.title, 0.2, np.maximum(0.94 ** np.maximum(passed, 0), 0.05)
            )
            values = np.where(values > 0, values * nearness, values)
        self.values: Values = values

    def _title(self) -> int:
        """The block that is the page's headline as `<title>` repeats it, a heading if there is one; -1 for none."""
        title = squeeze(self.document.title)
        best, found = 6, -1
        for index, line in enumerate(self.document.blocks.texts):
            if best <= len(line) <= 160 and line[1:3] in self.document.title and not self.linked[index]:
                heading = squeeze(line)
                size = len(heading) + (4 if self.document.tags[self.nodes[index]] in _HEADINGS else 0)
                if size > best and heading in title:
                    best, found = size, index
        return found

    def _noise(self, plain: Counts) -> Flags:
        """Blocks inside containers that are named like side sections, under their headings, or imprints."""
        document = self.document
        flags = np.zeros(len(document.tags), np.bool_)
        limit = max(int(plain.sum()), 1) * 0.45
        text, link, ends = document.T, document.LT, document.ends
        headline = self.nodes[self.title] if self.title >= 0 else -1
        for node, name in enumerate(document.names):
            if (name and is_noisy_name(name)) or document.tags[node] in NOISE_TAGS or self._folded_away(node):
                # What holds the headline, or most of the page, is no side section whatever its name.
                if node <= headline < ends[node] and document.tags[node] != "nav" and text[node] > 400:
                    continue
                if text[node] - link[node] < limit:
                    flags[node : ends[node]] = True
        noise: Flags = flags[self.nodes]
        noise |= self._teasers()
        prose = np.where(self.prose & ~noise, plain, 0)
        total = max(int(prose.sum()), 1)
        after = prose.sum() - np.cumsum(prose)
        replies = False
        for index, line in enumerate(document.blocks.texts):
            if noise[index]:
                continue
            if is_copyright(line) and (prose[index] < 0.3 * total or len(line) < 200):
                noise[index] = True
            elif len(line) <= 90 and is_label(line):
                first, last = section(self.document, self.nodes, index)
                inside = after[index] - (after[last - 1] if last > index else 0)
                if inside < 0.35 * total:
                    noise[first:last] = True
            elif not replies and len(line) <= 60 and is_reply(line) and after[index] < total:
                replies = True
                noise[index:] = True
        return noise

    def _folded_away(self, node: int) -> bool:
        """Whether a node is hidden and is not merely the rest of a text that a click unfolds."""
        document = self.document
        if node not in document.hidden:
            return False
        parent = document.parents[node]
        return not (document.P[node] >= 1 and parent > 0 and document.P[parent] > document.P[node])

    def _teasers(self) -> Flags:
        """Prose right under a linked headline, three times and more in one list: summaries of other articles."""
        blocks, nodes = self.document.blocks, self.nodes
        count = len(blocks)
        flags = np.zeros(count, np.bool_)
        ends, parents = self.document.ends, self.document.parents
        found: list[tuple[int, int]] = []
        for index in map(int, np.flatnonzero(self.prose)):
            if _MORE.search(blocks.texts[index][-12:]):
                flags[index] = True
                continue
            for before in range(index - 1, max(-1, index - 4), -1):
                if self.prose[before]:
                    break
                if self.linked[before] and blocks.link_chars[before] >= 6:
                    # Both must share a small container, else the link is a breadcrumb above the text.
                    holder = parents[nodes[index]] if nodes[index] > nodes[before] else nodes[index]
                    holder = max(holder, 0)
                    inside = (nodes[before] >= holder) and nodes[before] < ends[holder]
                    if inside and self.document.TG[holder] <= 25:
                        found.append((index, holder))
                    break
        # A list holds each pair of headline and summary in a container of its own, or all of them in one; a text with
        # an advert in it holds one such pair among other paragraphs.
        pairs = Counter(holder for _, holder in found)
        prose = {holder: int(self.prose[(nodes >= holder) & (nodes < ends[holder])].sum()) for holder in pairs}
        single = Counter(parents[holder] for holder in pairs if prose[holder] == 1)
        for index, holder in found:
            own = prose[holder] == 1 and single[parents[holder]] >= 3
            flags[index] |= own or (pairs[holder] >= 3 and pairs[holder] * 2 > prose[holder])
        return flags

    def best(self) -> int:
        """The node that holds the body."""
        document = self.document
        count = len(document.tags)
        own = np.bincount(self.nodes, weights=self.values, minlength=count)
        sums = np.zeros(count + 1)
        np.cumsum(own, out=sums[1:])
        worth = sums[np.asarray(document.ends)] - sums[:-1]
        score = scores(document)
        score[worth <= 0] = 0
        node = int(np.argmax(score))
        if score[node] <= 0:
            return -1
        found = node
        while node > 0:
            node = document.parents[node]
            if worth[node] > worth[found]:
                found = node
        richest = int(np.argmax(worth))
        return found if worth[found] >= 0.5 * worth[richest] else richest

    def body(self) -> list[int]:
        """Numbers of the blocks that make the text."""
        document, texts = self.document, self.document.blocks.texts
        root = self.best()
        if root < 0:
            return []
        inside = [
            int(index)
            for index in np.flatnonzero((self.nodes >= root) & (self.nodes < document.ends[root]) & ~self.noise)
        ]
        prose = [index for index in inside if self.prose[index] and not is_tail(texts[index])]
        if not prose:
            return []
        first = self._head(inside, prose)
        kept = []
        last_prose = prose[-1]
        for index in inside:
            if index < first:
                continue
            line = texts[index]
            if is_tail(line) and (index > prose[0] or not self.prose[index]):
                continue
            if self.linked[index] and not self._linked_prose(index):
                continue
            if index > last_prose and not self.prose[index] and (is_info(line) or len(line) > 60):
                continue
            kept.append(index)
        return kept

    def _linked_prose(self, index: int) -> bool:
        """Whether a block full of links still reads as a sentence."""
        blocks = self.document.blocks
        return bool(blocks.marks[index] >= 2 and blocks.chars[index] - blocks.link_chars[index] >= 6)

    def _head(self, inside: list[int], prose: list[int]) -> int:
        """The block where the text starts: behind headline, breadcrumb and date line."""
        blocks = self.document.blocks
        title = squeeze(self.document.title)
        first = inside[0]
        for index in inside[:60]:
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


_DATE = re.compile(r"\d{4}\s?[-/.年]\s?\d{1,2}\s?[-/.月]\s?\d{1,2}")
_MORE = re.compile(r"(?:详细|详情|全文|更多|more|阅读)\s?[\]】）)>»…]{0,3}$", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2", "h3"})
