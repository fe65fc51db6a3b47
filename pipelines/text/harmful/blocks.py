"""Harmful pages by weighted blocks: each counts as surely as it is content."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from ...decode.characters import count
from .features import MAX_CHARS, features
from .judge import is_chinese, telling
from .model import HarmModel, shipped
from .records import CLEAN, HarmPart, HarmReason, HarmVerdict

_LENGTH: Final = ((10, 14), (0.060, 0.546, 0.795), 1.4571)
_MARKS: Final = ((1,), (0.274, 0.944), 2.6976)
"""Edges of the bins, supports P(S|t) and weight d of the two features that an extracted text still has."""
_THRESHOLD: Final = 0.2922
_MOST_BLOCKS: Final = 500
_HARMFUL: Final = 0.5


def judge(title: str, text: str, anchors: Sequence[str] = (), model: HarmModel | None = None) -> HarmVerdict:
    """Judge a page by the weighted blocks of its extracted text.

    Cost: that of `score`.
    Source: S26: what was extracted is classified, `title` and `anchors` say nothing.
    Differs: other texts than Chinese ones are clean, as the model of blocks knows no others; the kind of harm and the
        words that tell it come from the model, too.
    """
    model = model or shipped()
    if not is_chinese(text):
        return CLEAN
    points = score(text, model)
    if points < _HARMFUL:
        return HarmVerdict(points)
    return HarmVerdict(points, model.kind(features(text)), (HarmReason(HarmPart.TEXT, telling(text, model)),))


def score(text: str, model: HarmModel | None = None) -> float:
    """Score a text in [0, 1] by the weighted mean of its blocks' scores.

    A menu or a date line says little of a page; a long sentence says much. A block is a line; `MAX_CHARS` characters
    and 500 blocks count. A text without content scores 0.

    Cost: O(characters), 1 ms for 1,000 of them in ten lines.
    Source: 龙珑, 邓伟, 绿色网络网页正文内容提取算法 (S26), with the weights of 吴麒 et al. 2011 (S10).
    Differs: an extracted text has no no-break spaces, bold text and breaks, so two of the five features are left; how
        a block is classified the paper leaves open: here as a text of its own.

    >>> score("")
    0.0
    """
    model = model or shipped()
    blocks = [line.strip() for line in text[:MAX_CHARS].split("\n") if line.strip()][:_MOST_BLOCKS]
    marks = count(blocks).marks.tolist() if blocks else []
    total = harm = 0.0
    for block, marked in zip(blocks, marks, strict=True):
        weight = weigh(len(block), marked)
        if weight > _THRESHOLD:
            total += weight
            harm += weight * model.score(features(block), len(block))
    return harm / total if total else 0.0


def weigh(chars: int, marks: int) -> float:
    """Return how surely a block of this size is content, in [0, 1].

    >>> round(weigh(14, 1), 3)
    0.892
    """
    points = sum(
        weight * support[bisect_right(edges, value)]
        for (edges, support, weight), value in ((_LENGTH, chars), (_MARKS, marks))
    )
    return points / (_LENGTH[2] + _MARKS[2])
