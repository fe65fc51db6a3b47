"""Distribution of line blocks: text is a hump in the curve of line lengths."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..decode.characters import Counts
from ..document.document import Document
from ..document.markup import cut_pieces, find_places
from ..document.view import Values, measure
from ..records import Extraction
from ..text_form import render


@dataclass(frozen=True, slots=True)
class Params:
    """The shape of a hump, in characters and lines.

    Attributes:
        width: K, lines of a block.
        surge, dive: characters of a line block at which text begins, and to which it falls when text has ended.
        gap: lines without text, as of pictures and adverts, up to which two humps are one.
    """

    width: int = 5
    surge: int = 86
    dive: int = 15
    gap: int = 36
    min_chars: int = 40

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width is {self.width}; a line block has 1 line or more")


def curve(lengths: Values, width: int) -> Values:
    """Count the characters of each line block: lines k to k + width - 1.

    The last blocks are shorter. Cost: O(lines).

    >>> curve(np.array([0.0, 5.0, 7.0, 0.0]), 2).tolist()
    [5.0, 12.0, 7.0, 0.0]
    """
    total = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.arange(len(lengths))
    return np.asarray(total[np.minimum(at + width, len(lengths))] - total[at], np.float64)


def humps(values: Values, surge: float, dive: float) -> list[tuple[int, int]]:
    """Return half-open ranges of lines: above `surge` inside, at most `dive` behind.

    Cost: O(lines).

    >>> humps(np.array([0.0, 20.0, 90.0, 50.0, 0.0, 30.0]), 86, 10)
    [(2, 4)]
    """
    alive = np.concatenate([[0], values > dive, [0]])
    edges = np.flatnonzero(np.diff(alive)).tolist()
    ranges = []
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        high = np.flatnonzero(values[start:end] > surge)
        if len(high):
            ranges.append((start + int(high[0]), end))
    return ranges


def lines(document: Document) -> Counts:
    """Return the number of the line on which each block begins, ascending.

    Blocks of one source line stand on lines of their own. Cost: O(characters).
    """
    count = len(document.blocks)
    pieces = cut_pieces(document.source)
    if not len(pieces.texts):
        return np.arange(count)
    line = pieces.lines[find_places(document, pieces)]
    return np.asarray(line + np.cumsum(np.diff(line, prepend=-1) == 0), np.int64)


def extract(document: Document, params: Params) -> Extraction:
    """Return the text of the greatest hump.

    Text is dense in lines; navigation gives short lines, scripts and wrappers empty ones.

    Cost: O(characters).
    Source: 陈鑫, 基于行块分布函数的通用网页正文抽取 (S18).
    Differs: link text has no length; markup on one line is cut at paragraphs; K is 5 for 3 and the dive is to 15
        characters for 0; humps close to the greatest one are part of the text.
    """
    view, line = measure(document), lines(document)
    chars = view.prose
    lengths = np.bincount(line, weights=chars).astype(np.float64)
    ranges = humps(curve(lengths, params.width), params.surge, params.dive)
    if not ranges:
        return render.answer(document, [], (), params.min_chars)
    first = last = max(range(len(ranges)), key=lambda hump: float(lengths[slice(*ranges[hump])].sum()))
    while first > 0 and ranges[first][0] - ranges[first - 1][1] <= params.gap:
        first -= 1
    while last + 1 < len(ranges) and ranges[last + 1][0] - ranges[last][1] <= params.gap:
        last += 1
    blocks = np.flatnonzero((line >= ranges[first][0]) & (line < ranges[last][1]) & ~view.linked)
    return render.answer(document, blocks.tolist(), chars.tolist(), params.min_chars)
