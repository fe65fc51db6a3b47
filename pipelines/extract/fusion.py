"""Leaves of the simplified tree that hold text, few links, and worthy words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..document.document import Document
from ..document.tokens import terms
from ..document.view import Flags, measure
from ..models.files import load
from ..records import Extraction
from ..text_form import render

PRUNED: Final = frozenset({"form", "fieldset", "button"})
"""Elements removed before anything is measured, beside hidden ones."""
MOST_PRUNED: Final = 0.3
"""Share of the page's text above which nothing is removed: sites wrap whole pages in forms and fold texts away."""


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the fusion extractor.

    Attributes:
        text_density: D1, least share of the page's text that a leaf holds.
        link_density: D2, greatest share of link text in a leaf.
        top, bottom: the leaf's middle lies between these shares of the page's text.
        log_odds: ln of the odds of being worthy below which a leaf is dropped.
    """

    text_density: float = 0.005
    link_density: float = 0.2
    top: float = 0.0
    bottom: float = 0.95
    log_odds: float = -4.0
    min_chars: int = 40


@dataclass(frozen=True, slots=True)
class WordModel:
    """Prior and words: ln P(worthy) / P(worthless), and the same of P(word | ...)."""

    prior: float
    words: Mapping[str, float]

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> WordModel:
        return cls(float(model["prior"]), {str(word): float(odds) for word, odds in model["words"].items()})


def log_odds(text: str, model: WordModel) -> float:
    """Return ln of the odds that `text` is worthy; the prior if it has no known words.

    Cost: O(characters).

    >>> log_odds("版权所有", WordModel(0.5, {"版权": -2.0}))
    -1.5
    """
    return model.prior + sum(model.words.get(term, 0.0) for term in set(terms(text)))


def leaves(document: Document, params: Params) -> Flags:
    """Flag the leaves that pass pruning, density and place (steps 1 to 3).

    Blocks are the leaves of the simple tree: inline elements are fused with their siblings, blocks never.
    Cost: O(nodes + blocks).
    """
    blocks = document.blocks
    cut = np.zeros(len(document.tags), np.bool_)
    most = MOST_PRUNED * document.T[0]
    for node, tag in enumerate(document.tags):
        if (tag in PRUNED or node in document.hidden) and document.T[node] < most:
            cut[node : document.ends[node]] = True
    left = ~cut[measure(document).nodes]
    chars = np.asarray(blocks.chars, np.float64)
    r1 = chars / max(chars[left].sum(), 1)
    r2 = np.asarray(blocks.link_chars) / np.maximum(chars, 1)
    middle = (np.cumsum(chars) - chars / 2) / max(chars.sum(), 1)
    flags: Flags = (
        left
        & (r1 >= params.text_density)
        & (r2 <= params.link_density)
        & (middle >= params.top)
        & (middle <= params.bottom)
    )
    return flags


def extract(document: Document, params: Params) -> Extraction:
    """Return the leaves that pass the densities and are not worthless by their words.

    The densities take out navigation, the words take out imprints, calls to log in and adverts.

    Raises:
        ValueError: the learned words are missing or broken.

    Cost: O(nodes + characters).
    Source: 王海艳, 曹攀, 基于节点属性与正文内容的海量Web信息抽取方法, 2016 (S12).
    Differs: of the visual quadruple only top and height are looked at, in characters of text; pruning spares what holds
        much of the page; a page is worthless when all of its leaves are, not when the first one is.
    """
    flags = leaves(document, params)
    words = load("words", WordModel.of)
    for index in np.flatnonzero(flags):
        flags[index] = log_odds(document.blocks.texts[index], words) >= params.log_odds
    return render.answer(document, np.flatnonzero(flags).tolist(), measure(document).prose.tolist(), params.min_chars)
