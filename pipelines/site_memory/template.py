"""Page samples of a site, and correction of extractions by the site model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from db.records.keys import fingerprint

from ..decode.text import words
from ..document.document import Document
from ..document.noise import is_extra
from ..document.view import Flags, Values, inside, linked
from ..extract.simpletree import node_at, path_of, simple_tree
from ..records import Extraction, PageSample
from ..text_form import render
from .knowledge import SiteModel, template_of

MAX_TEXTS_OF_PAGE: Final = 192
"""Blocks of a page that are compared with those of others: half of them from its beginning, half from its end."""
_NEARLY_ALL: Final = 0.97
_SHORT_CHARS: Final = 40
_DATE_DIGITS: Final = 8
_DIGITS: Final = re.compile(r"\d{1,40}")
_PARAGRAPHS: Final = words("p li h1 h2 h3 h4 h5 h6 blockquote dd dt td tr pre")


@dataclass(frozen=True, slots=True)
class Hints:
    """Evidence of the site model for one page, per block.

    Attributes:
        repeated: share of the site's articles that carry the block, in [0, 1); 0 when it is not known.
        on_path: how well the known place of the body that holds the block is supported, in [0, 1); 0 outside of it.
    """

    repeated: Values
    on_path: Values


NO_HINTS: Final = Hints(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds from which the site model is believed.

    Attributes:
        repeated: a block on this share of the site's articles is no part of any.
        certain: the same, when hardly anything else would be left.
        support: a place that held the body on this share of the template's pages is believed against the extractor.
        hardly: a text that has less than this share of its characters in that place has missed it.
        mostly: from a text that has at least this share of its characters there, the rest is taken away.
        min_chars: shortest text that the model leaves or brings.
    """

    repeated: float = 0.4
    certain: float = 0.7
    support: float = 0.7
    hardly: float = 0.1
    mostly: float = 0.7
    min_chars: int = 40


DEFAULTS = Params()


@dataclass(frozen=True, slots=True)
class Look:
    """Parts of a page that can be compared with other pages of its site.

    Attributes:
        texts: block number -> key of its text and place, in document order.
        tree: the simple tree.
    """

    texts: Mapping[int, int]
    tree: tuple[int, ...]


def look(document: Document) -> Look:
    """Return the parts of a page that can be compared with other pages.

    A text's key is a stable hash of the text and of the element it stands in: the summary of an article in another
    one's sidebar is not the same as its first paragraph. In short lines numbers look alike ("阅读 17"). Blocks that are
    links are left out.

    Args:
        document: a parsed page.

    Returns:
        At most `MAX_TEXTS_OF_PAGE` texts.

    Cost: O(blocks), about 2 microseconds a text.
    """
    blocks = document.blocks
    chosen = np.flatnonzero(~linked(document)).tolist()
    if len(chosen) > MAX_TEXTS_OF_PAGE:
        chosen = chosen[: MAX_TEXTS_OF_PAGE // 2] + chosen[-MAX_TEXTS_OF_PAGE // 2 :]
    tags, names, parents, nodes, texts = document.tags, document.names, document.parents, blocks.nodes, blocks.texts
    found = {}
    for block in chosen:
        node = nodes[block]
        holder = max(parents[node], 0)
        place = f"{tags[node]} {names[node]}\n{tags[holder]} {names[holder]}"
        found[block] = fingerprint(f"{place}\n{_masked(texts[block])}")
    return Look(found, simple_tree(document))


def find_hints(document: Document, seen: Look, model: SiteModel) -> Hints:
    """Return the evidence of the site model for a page.

    Args:
        document: a parsed page.
        seen: its look.
        model: of its site.

    Returns:
        Two numbers per block; `NO_HINTS` when nothing is known.

    Cost: O(blocks + siblings on the known ways).
    """
    count = len(document.blocks)
    if not model.pages or not count:
        return NO_HINTS
    repeated, on_path = np.zeros(count), np.zeros(count)
    for block, key in seen.texts.items():
        repeated[block] = model.texts.get(key, 0.0) / (model.pages + 1.0)
    template = template_of(model.templates, seen.tree)
    if template is not None:
        for path, pages in template.paths.items():
            node = node_at(document, path)
            if node >= 0:
                support = pages / (template.pages + 1.0)
                on_path = np.maximum(on_path, np.where(inside(document, node), support, 0.0))
    return Hints(repeated, on_path)


def sample_page(document: Document, seen: Look, extraction: Extraction, article: int) -> PageSample:
    """Build the sample of an article page.

    Args:
        document: a parsed page.
        seen: its look.
        extraction: what the extractor itself made of it. Were it corrected already, the model would confirm itself.
        article: hash of headline and text.

    Cost: O(blocks kept).
    """
    place = _place(document, extraction.blocks)
    return PageSample(article, tuple(seen.texts.values()), seen.tree, path_of(document, place) if place > 0 else ())


def correct(document: Document, extraction: Extraction, known: Hints, params: Params = DEFAULTS) -> Extraction:
    """Correct an extraction by the evidence of the site model.

    A text that reaches beyond the place where the template keeps the body is cut to it, one that has missed the place
    is replaced by what stands there, and blocks that the site repeats are taken out. All of it only when a text is
    left: an article is never lost through the model.

    Args:
        document: a parsed page.
        extraction: what any extractor made of it.
        known: what the model says of the page.
        params: how much it has to know.

    Returns:
        The same object when there is nothing to correct.

    Cost: O(blocks).
    """
    if not len(known.repeated) or not extraction.blocks:
        return extraction
    chars = np.asarray(document.blocks.chars)
    kept = np.zeros(len(chars), np.bool_)
    kept[list(extraction.blocks)] = True
    evidence = [extraction.evidence] if extraction.evidence else []
    place = known.on_path >= params.support
    share = chars[kept & place].sum() / max(chars[kept].sum(), 1)
    there = kept
    if params.mostly <= share < 1.0:
        there = kept & place
    elif place.any() and share < params.hardly:
        there = _text_in(document, place & (known.repeated < params.repeated))
    if there is not kept and chars[there].sum() >= params.min_chars:
        kept = there
        evidence.append("place")
    for bound, left in ((params.repeated, 0.5), (params.certain, 0.0)):
        rest = kept & (known.repeated < bound)
        if (rest != kept).any() and chars[rest].sum() >= max(params.min_chars, left * chars[kept].sum()):
            kept = rest
            evidence.append("repeated")
            break
    if len(evidence) == bool(extraction.evidence):
        return extraction
    blocks = [int(block) for block in np.flatnonzero(kept)]
    corrected = render.extraction(document, blocks, extraction.confidence, extraction.scores, ",".join(evidence))
    return replace(corrected, calibrated=extraction.calibrated)


def _masked(line: str) -> str:
    """Mask dates and counters in a short line."""
    line = line.lower()
    if len(line) > _SHORT_CHARS:
        return line
    masked = _DIGITS.sub("0", line)
    return masked if any(map(str.isalpha, line)) or sum(map(str.isdigit, line)) >= _DATE_DIGITS else line


def _place(document: Document, kept: Sequence[int]) -> int:
    """Return the lowest element that holds nearly all of the kept text, -1 for none."""
    if not kept:
        return -1
    blocks = document.blocks
    nodes, chars = np.asarray(blocks.nodes)[list(kept)], np.asarray(blocks.chars)[list(kept)]
    node = int(nodes[int(np.argmax(chars))])
    if document.tags[node] in _PARAGRAPHS:
        node = document.parents[node]
    enough = _NEARLY_ALL * chars.sum()
    while node > 0 and chars[(nodes >= node) & (nodes < document.ends[node])].sum() < enough:
        node = document.parents[node]
    return node


def _text_in(document: Document, place: Flags) -> Flags:
    """Select the blocks that are text rather than links, tails and imprints."""
    text = place & ~linked(document)
    for block in np.flatnonzero(text):
        text[block] = not is_extra(document.blocks.texts[block])
    return text
