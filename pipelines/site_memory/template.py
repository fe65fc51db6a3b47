"""Page samples of a site, and correction of extractions by the site model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from db.records.keys import fingerprint

from ..decode.text import words
from ..document.document import Document
from ..document.view import Values, measure
from ..extract.selected import text_in
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


_REPEATED: Final = 0.4
"""A block on this share of the site's articles is no part of any;"""
_CERTAIN: Final = 0.7
"""on this share also when hardly anything else would be left."""
_SUPPORT: Final = 0.7
"""A place that held the body on this share of the template's pages is believed against the extractor."""
_HARDLY: Final = 0.1
"""A text with less than this share of its characters in that place has missed it;"""
_MOSTLY: Final = 0.7
"""from a text with at least this share there, the rest is removed."""
_MIN_CHARS: Final = 40
"""Length of the shortest text that the model leaves or brings. These six were chosen by hand;
`uv run python -m tests.benchmarks.site_memory` prints what they gain."""
_FEW_PAGES: Final = 5
_MOST_NOTICES: Final = 3
_PARAGRAPH: Final = 60
"""If more paragraphs than `_MOST_NOTICES`, of so many letters, are repeated on a site of a few pages, these are
versions of one story rather than notices."""


def text_keys(document: Document) -> dict[int, int]:
    """Return block number -> key of its text and place, to compare with other pages.

    A key is a stable hash of the text and of its element; numbers in short lines look alike ("阅读 17"). Links are left
    out; there are at most `MAX_TEXTS_OF_PAGE` keys, in document order.
    Cost: O(blocks), about 2 microseconds a text.
    """
    blocks = document.blocks
    chosen = np.flatnonzero(~measure(document).linked).tolist()
    if len(chosen) > MAX_TEXTS_OF_PAGE:
        chosen = chosen[: MAX_TEXTS_OF_PAGE // 2] + chosen[-MAX_TEXTS_OF_PAGE // 2 :]
    tags, names, parents, nodes, texts = document.tags, document.names, document.parents, blocks.nodes, blocks.texts
    keys = {}
    for block in chosen:
        node = nodes[block]
        holder = max(parents[node], 0)
        place = f"{tags[node]} {names[node]}\n{tags[holder]} {names[holder]}"
        keys[block] = fingerprint(f"{place}\n{_masked(texts[block])}")
    return keys


def find_hints(document: Document, keys: Mapping[int, int], model: SiteModel) -> tuple[Values, Values, float]:
    """Return the evidence of the site model for a page whose `text_keys` are given.

    That is two numbers per block in [0, 1), or none at all for an empty model: the share of the site's articles that
    carry the block, and how well the place of the body that holds the block is supported; 0 when unknown. The third is
    how many pages the model knows.
    Cost: O(blocks + siblings on the paths of the template).
    """
    count = len(document.blocks)
    if not model.pages or not count:
        return np.zeros(0), np.zeros(0), 0.0
    repeated, on_path = np.zeros(count), np.zeros(count)
    for block, key in keys.items():
        repeated[block] = model.texts.get(key, 0.0) / (model.pages + 1.0)
    template = template_of(model.templates, simple_tree(document))
    if template is not None:
        for path, pages in template.paths.items():
            node = node_at(document, path)
            if node >= 0:
                support = pages / (template.pages + 1.0)
                on_path = np.maximum(on_path, np.where(measure(document).inside(node), support, 0.0))
    return repeated, on_path, model.pages


def story_key(url: str) -> int:
    return fingerprint(f"story\n{url}")


def is_repeated(model: SiteModel, url: str) -> bool:
    """Tell whether many articles of the site name a story, so it is related to none."""
    return model.stories.get(story_key(url), 0.0) > max(1.5, _REPEATED * model.pages)


def sample_page(
    document: Document,
    keys: Mapping[int, int],
    extraction: Extraction,
    article: int,
    *,
    stories: Iterable[str] = (),
    terms: Mapping[int, int] | None = None,
) -> PageSample:
    """Build the sample of an article page from the extractor's own extraction.

    Were it corrected already, the model would confirm itself. `article` is a hash of headline and text; `stories` are
    URLs of related stories, those that many articles name too.
    Cost: O(blocks kept).
    """
    place = find_place(document, extraction.blocks)
    path = path_of(document, place) if place > 0 else ()
    named = tuple(map(story_key, stories))
    kept = tuple(keys[block] for block in extraction.blocks if block in keys)
    return PageSample(article, tuple(keys.values()), simple_tree(document), path, named, terms, kept)


def may_correct(model: SiteModel, sample: PageSample) -> bool:
    """Tell whether a model may correct the extraction that a sample is of.

    Cost: O(blocks kept + templates).
    """
    if any(model.texts.get(key, 0.0) >= _REPEATED * (model.pages + 1.0) for key in sample.kept):
        return True
    template = template_of(model.templates, sample.tree)
    if template is None:
        return False
    return any(
        pages >= _SUPPORT * (template.pages + 1.0) and path != sample.path for path, pages in template.paths.items()
    )


def correct(document: Document, extraction: Extraction, repeated: Values, on_path: Values, pages: float) -> Extraction:
    """Correct an extraction by the evidence of the site model (see `find_hints`).

    A text that reaches beyond the place of the body is cut to it, one that has missed the place is replaced, and blocks
    that the site repeats are removed, but only when a text is left: an article is never lost through the model. Returns
    the same object when there is nothing to correct.
    Cost: O(blocks).
    """
    if not len(repeated) or not extraction.blocks:
        return extraction
    chars = np.asarray(document.blocks.chars)
    text_mask = np.zeros(len(chars), np.bool_)
    text_mask[list(extraction.blocks)] = True
    evidence = [extraction.evidence] if extraction.evidence else []
    place = on_path >= _SUPPORT
    share = chars[text_mask & place].sum() / max(chars[text_mask].sum(), 1)
    there = text_mask
    if _MOSTLY <= share < 1.0:
        there = text_mask & place
    elif place.any() and share < _HARDLY:
        there = text_in(document, place & (repeated < _REPEATED))
    if there is not text_mask and chars[there].sum() >= _MIN_CHARS:
        text_mask = there
        evidence.append("place")
    for bound, left in ((_REPEATED, 0.5), (_CERTAIN, 0.0)):
        rest = text_mask & (repeated < bound)
        shared = text_mask & ~rest & (measure(document).letters >= _PARAGRAPH)
        if pages < _FEW_PAGES and shared.sum() > _MOST_NOTICES:
            break
        if (rest != text_mask).any() and chars[rest].sum() >= max(_MIN_CHARS, left * chars[text_mask].sum()):
            text_mask = rest
            evidence.append("repeated")
            break
    if len(evidence) == bool(extraction.evidence):
        return extraction
    blocks = [int(block) for block in np.flatnonzero(text_mask)]
    corrected = render.extraction(document, blocks, extraction.confidence, extraction.scores, ",".join(evidence))
    return replace(corrected, calibrated=extraction.calibrated)


def _masked(line: str) -> str:
    line = line.lower()
    if len(line) > _SHORT_CHARS:
        return line
    masked = _DIGITS.sub("0", line)
    return masked if any(map(str.isalpha, line)) or sum(map(str.isdigit, line)) >= _DATE_DIGITS else line


def find_place(document: Document, kept: Sequence[int]) -> int:
    """Return the innermost element, no paragraph, that holds nearly all blocks kept.

    -1 when none are kept.
    """
    if not kept:
        return -1
    blocks = document.blocks
    nodes, chars = measure(document).nodes[list(kept)], np.asarray(blocks.chars)[list(kept)]
    node = int(nodes[int(np.argmax(chars))])
    if document.tags[node] in _PARAGRAPHS:
        node = document.parents[node]
    enough = _NEARLY_ALL * chars.sum()
    while node > 0 and chars[(nodes >= node) & (nodes < document.ends[node])].sum() < enough:
        node = document.parents[node]
    return node
