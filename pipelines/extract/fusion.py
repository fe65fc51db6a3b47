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
from ..text.words import STOP_WORDS
from ..text_form import render

PRUNED: Final = frozenset({"form", "fieldset", "button"})
"""Elements removed before anything is measured, beside hidden ones and those of no standard."""
MOST_PRUNED: Final = 0.3
"""Share of the page's text above which nothing is removed: sites wrap whole pages in forms and fold texts away."""


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the fusion extractor.

    Attributes:
        text_density: D1, least share of the page's text outside links that a leaf holds.
        link_density: D2, most links for each character outside links of a leaf.
        top, bottom: the leaf's middle lies between these shares of the page's text.
        log_odds: ln of the odds of being worthy below which a leaf is dropped; the paper's is 0.
        judge_first: whether a page is worthless if its first leaf is, as in the paper.
    """

    text_density: float = 0.005
    link_density: float = 0.02
    top: float = 0.0
    bottom: float = 0.95
    log_odds: float = -5.5
    judge_first: bool = False
    min_chars: int = 40


@dataclass(frozen=True, slots=True)
class WordModel:
    """Prior and words, all of them ln P(... | worthy) / P(... | worthless).

    Attributes:
        words: of a text that has the word.
        absent: of a text that lacks it.
    """

    prior: float
    words: Mapping[str, float]
    absent: Mapping[str, float]

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> WordModel:
        words = {str(word): (float(odds), float(without)) for word, (odds, without) in model["words"].items()}
        return cls(
            float(model["prior"]),
            {word: odds for word, (odds, _) in words.items()},
            {word: without for word, (_, without) in words.items()},
        )

    def model(self) -> dict[str, object]:
        return {
            "prior": round(self.prior, 4),
            "words": {word: [round(odds, 3), round(self.absent[word], 4)] for word, odds in self.words.items()},
        }


def word_set(text: str) -> set[str]:
    """Return the terms of a text, each once and without stop words (停用词表)."""
    return {term for term in terms(text) if term not in STOP_WORDS}


def log_odds(text: str, model: WordModel) -> float:
    """Return ln of the odds that `text` is worthy by the words it has and lacks.

    Cost: O(characters + words of the model).
    Source: S12, formula (7): x_i = 1 where the feature stands in d, else 0 (Bernoulli).

    >>> log_odds("版权所有", WordModel(0.5, {"版权": -2.0, "大桥": 1.0}, {"版权": 0.25, "大桥": -0.5}))
    -2.0
    """
    return model.prior + sum(model.absent.values()) + _told(text, model)


def _told(text: str, model: WordModel) -> float:
    """Sum by how much the words that are there change the odds of a text without any."""
    return sum(model.words[term] - model.absent[term] for term in word_set(text) if term in model.words)


def pruned(document: Document) -> Flags:
    """Flag what step 1 takes out: forms, hidden nodes, elements of no standard.

    Head, scripts, comments and empty elements hold no text in a document.
    """
    cut = np.zeros(len(document.tags), np.bool_)
    most = MOST_PRUNED * document.T[0]
    for node, tag in enumerate(document.tags):
        is_noise = tag in PRUNED or node in document.hidden or "-" in tag or ":" in tag
        if is_noise and document.T[node] < most:
            cut[node : document.ends[node]] = True
    return cut


def fusion_rate(document: Document) -> float:
    """Return the share of elements that pruning and fusing take out, in [0, 1].

    融合率. What is left is the simple tree: block elements with text inside. Cost: O(nodes).
    """
    cut, parents = pruned(document), document.parents
    left: set[int] = set()
    for start in document.blocks.nodes:
        node = start
        while node >= 0 and node not in left and not cut[start]:
            left.add(node)
            node = parents[node]
    return 1 - len(left) / len(document.tags) if document.tags else 0.0


def leaves(document: Document, params: Params) -> Flags:
    """Flag the leaves that pass pruning, density and place (steps 1 to 3).

    Blocks are the leaves of the simple tree: inline elements are fused with their siblings, blocks never. Text density
    r1 is the share of the page's text outside links, link density r2 the number of links for each such character.
    Cost: O(nodes + blocks).
    """
    view = measure(document)
    left = ~pruned(document)[view.nodes]
    plain = view.plain.astype(np.float64)
    count = len(document.blocks)
    of_block = np.array([block for *_, block in document.links if block < count], np.int64)
    links = np.bincount(of_block, minlength=count)
    r1 = plain / max(plain[left].sum(), 1)
    r2 = links / np.maximum(plain, 1)
    chars = np.asarray(document.blocks.chars, np.float64)
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

    The densities take out navigation, the words take out imprints, calls to log in, adverts, and replies of low worth
    (灌水). The first leaf is the topic of a thread and stays, unless `judge_first` has it judge the page.

    Raises:
        ValueError: the learned words are missing or broken.

    Cost: O(nodes + characters).
    Source: 王海艳, 曹攀, 基于节点属性与正文内容的海量Web信息抽取方法, 2016 (S12).
    Differs: of the visual quadruple only top and height are looked at, in characters of text; pruning spares what holds
        much of the page; the thresholds are calibrated, that of the odds below the paper's 0; a page is judged by its
        first leaf only if that is asked for, as the first leaf of pages of today is often a date line.
    """
    return extract_by(document, params, load("words", WordModel.of))


def extract_by(document: Document, params: Params, words: WordModel | None) -> Extraction:
    """Return the leaves that pass, by other words or by none."""
    flags = leaves(document, params)
    if words is None:
        return _answer(document, flags, params)
    lowest = params.log_odds - words.prior - sum(words.absent.values())
    passing = np.flatnonzero(flags).tolist()
    for place, index in enumerate(passing):
        is_worthy = _told(document.blocks.texts[index], words) >= lowest
        if place == 0 and params.judge_first and not is_worthy:
            return render.answer(document, [], (), params.min_chars)
        flags[index] = is_worthy or place == 0
    return _answer(document, flags, params)


def _answer(document: Document, flags: Flags, params: Params) -> Extraction:
    return render.answer(document, np.flatnonzero(flags).tolist(), measure(document).prose.tolist(), params.min_chars)
