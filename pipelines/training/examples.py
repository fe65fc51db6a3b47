"""Examples for training: pages with known texts, each block labelled and weighed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import numpy as np

from ..decode.characters import Counts
from ..decode.text import squeeze
from ..document.document import Document, parse
from ..document.view import Flags
from ..urls import host_key, site_key

SHINGLE_CHARS: Final = 8
"""Letters and digits of a shingle: long enough not to be shared by chance, short enough for a Chinese half-sentence."""
SHARE: Final = 0.5
"""A block is content when so much of it stands in the known text."""
REACH: Final = 4
"""A line too short for a shingle is content at most so many blocks away from longer content."""
MIN_COVERAGE: Final = 0.5
"""Known texts of which the page holds less are of no use."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A page to learn from, with or without a text (`article`).

    Attributes:
        content: per block, whether it belongs to the text; all False for a page that is no article.
        weights: per block, its characters; 0 for what neither counts for nor against (headline, captions).
        text: as its corpus has it.
    """

    id: str
    document: Document
    content: Flags
    weights: Counts
    article: bool
    site: str = ""
    text: str = ""


def example(body: bytes, row: Mapping[str, object]) -> Example | None:
    """Return what is to be learnt from a page and what its corpus says about it.

    `row` has `id` and `text`, which is empty for a page that is no article; optional are `url`, `host`, `title`,
    `captions`, `optional` (lists of lines that do not count), `page_type` (`list` and `other` are no articles),
    `coverage` (share of the text that the page holds) and `suspect` (true for a text that is probably wrong, which
    gives None, as does one that the page does not hold).

    Raises:
        ValueError: `id` or `text` is missing or no string.
    """
    name, text = row.get("id"), row.get("text")
    if not isinstance(name, str) or not name:
        raise ValueError(f"id is {name!r}; it takes a string")
    article = row.get("page_type") not in {"list", "other"} and text != ""
    if article and not isinstance(text, str):
        raise ValueError(f"text of {name!r} is {text!r}; it takes a string")
    coverage = row.get("coverage", 1)
    if row.get("suspect") or (isinstance(coverage, int | float) and coverage < MIN_COVERAGE):
        return None
    document = parse(body, str(row.get("url") or ""))
    content = labels(document, str(text) if article else "")
    if article and not content.any():
        return None
    free = [line for key in ("captions", "optional") for line in _lines(row.get(key))]
    mass = weights(document, str(row.get("title") or ""), free)
    return Example(name, document, content, mass, article, _site(row), str(text) if article else "")


def labels(document: Document, gold_text: str) -> Flags:
    """Flag the blocks of `document` that belong to the text `gold_text`.

    Half of their shingles do. Of blocks that repeat each other only as many as the text has are taken, those next to
    other content first. Lines too short for a shingle must be lines of the text and stand near longer content.

    >>> page = parse("<p>首页</p><p>河口大桥昨日完成浇筑，进入收尾。</p>".encode(), "")
    >>> labels(page, "河口大桥昨日完成浇筑，进入收尾。").tolist()
    [False, True]
    """
    texts = [squeeze(text) for text in document.blocks.texts]
    gold = squeeze(gold_text)
    shingles = {gold[at : at + SHINGLE_CHARS] for at in range(len(gold) - SHINGLE_CHARS + 1)}
    lines = Counter(squeeze(line) for line in gold_text.split("\n"))
    flags = np.zeros(len(texts), np.bool_)
    repeated: dict[str, list[int]] = defaultdict(list)
    short: list[int] = []
    for index, text in enumerate(texts):
        if len(text) < SHINGLE_CHARS:
            if text and text in lines:
                short.append(index)
        elif _share(text, shingles) >= SHARE:
            repeated[text].append(index)
    for indices in repeated.values():
        flags[indices] = len(indices) == 1
    anchors = np.flatnonzero(flags)
    for text, indices in repeated.items():
        if len(indices) > 1:
            flags[_nearest(indices, anchors)[: max(gold.count(text), 1)]] = True
    anchors = np.flatnonzero(flags)
    if not len(anchors):
        # A text of short lines only.
        flags[short] = True
        return flags
    for index in short:
        flags[index] = _gap(index, anchors) <= REACH
    return flags


def weights(document: Document, title: str = "", free: Iterable[str] = ()) -> Counts:
    """Return each block's characters; 0 for the headline and `free` lines (captions)."""
    none = {squeeze(line) for line in (title, *free)}
    blocks = document.blocks
    return np.array(
        [0 if squeeze(text) in none else chars for text, chars in zip(blocks.texts, blocks.chars, strict=True)],
        np.int64,
    )


def _site(row: Mapping[str, object]) -> str:
    host = str(row.get("host") or urlsplit(str(row.get("url") or "")).hostname or "")
    return site_key(host_key(f"http://{host}/")) if host else ""


def _lines(value: object) -> list[str]:
    return [line for line in value if isinstance(line, str)] if isinstance(value, list) else []


def _share(text: str, shingles: set[str]) -> float:
    count = len(text) - SHINGLE_CHARS + 1
    return sum(text[at : at + SHINGLE_CHARS] in shingles for at in range(count)) / count


def _gap(index: int, anchors: Counts) -> int:
    return int(np.abs(anchors - index).min()) if len(anchors) else 0


def _nearest(indices: Sequence[int], anchors: Counts) -> list[int]:
    return sorted(indices, key=lambda index: (_gap(index, anchors), index))
