"""Text and symbol density: the body is dense in characters and thin in links."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..decode.characters import Counts
from ..document.document import Document
from ..document.view import Values, measure
from ..records import Extraction
from ..text_form import render


@dataclass(frozen=True, slots=True)
class Params:
    min_chars: int = 40


def scores(document: Document) -> Values:
    """Score every node; unlike those of `extract`, these scores tell leaves apart."""
    return _scores(document, document.TG, document.LTG, document.P) if document.tags else np.zeros(0)


def extract(document: Document, params: Params) -> Extraction:
    """Return the text of the node with the highest density score.

    A wrapper holds more tags and links for its text than the body does; a single paragraph holds no paragraphs.

    Cost: O(nodes + characters).
    Source: 洪鸿辉 et al., 基于文本及符号密度的网页正文提取方法, 2019 (S11).
    Differs: the tags counted are those below a node, and one without any has no density; denominators are at least 1,
        ln(SD) at least 0.1 and ln(SbD) at least 0; what is mostly link inside the best node is left out.
    """
    names, view = np.array(document.tags), measure(document)
    tags, link_tags = document.TG - 1, document.LTG - (names == "a")
    score = np.where(tags > link_tags, _scores(document, tags, link_tags, document.P - (names == "p")), 0)
    blocks = np.flatnonzero(view.inside(int(np.argmax(score))) & ~view.linked)
    return render.answer(document, blocks.tolist(), view.prose.tolist(), params.min_chars)


def _scores(document: Document, tags: Counts, link_tags: Counts, paragraphs: Counts) -> Values:
    """Return ln(SD) x TD x log10(P+2) x ln(SbD) of every node.

    With T characters, LT link characters and Sb punctuation marks of a sub-tree: TD = (T-LT)/(TG-LTG), SbD =
    (T-LT)/(Sb+1), and SD is the standard deviation of the page's TD.
    """
    plain = (document.T - document.LT).astype(np.float64)
    density = plain / np.maximum(tags - link_tags, 1)
    symbols = plain / (document.Sb + 1)
    away = density - np.add.reduce(density) / len(density)
    deviation = max(math.log(max(math.sqrt(np.add.reduce(away * away) / len(away)), 1.0)), 0.1)
    return np.asarray(deviation * density * np.log10(paragraphs + 2) * np.log(np.maximum(symbols, 1.0)), np.float64)
