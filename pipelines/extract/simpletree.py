"""Simple trees and common paths: pages made from one template look alike near the root and hold their body in one place.

From the body element the walk follows the weightiest child until none stands out; the way it went serves every page of
the template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..records import Extraction
from . import render
from .document import Document
from .noise import NOISE_TAGS, is_copyright, is_label, is_tail, noisy_name

SAME_TEMPLATE: Final = 0.8
"""Similarity of simple trees from which pages are of one template (S15)."""
MAX_CHILDREN: Final = 32
MAX_STEPS: Final = 48
_WRAPPERS: Final = 12
_ORDINAL: Final = 0x9E3779B1
_WORD: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Params:
    """Thresholds of the simple-tree extractor.

    Attributes:
        variance: the walk ends at a node whose children are of nearly equal importance: when the variance of their
            importance, as a share of its largest possible value, is below this.
        link_share: share of link text from which a block is a link.
        min_chars: shortest text that is given out.
    """

    variance: float = 0.2
    link_share: float = 0.5
    min_chars: int = 40


DEFAULTS = Params()


def simple_tree(document: Document) -> tuple[int, ...]:
    """Return the simple tree of a page: its body's children that hold text, as stable hashes of tag and names.

    Args:
        document: a parsed page.

    Returns:
        Ascending unsigned 32-bit numbers without repeats, at most `MAX_CHILDREN`; empty for a page without text.

    Cost: O(children looked at), some microseconds.
    Source: 基于树先剪枝的网页正文抽取方法研究 (S15).
    Differs: elements that merely wrap everything are passed through, because many pages have one child under their body
    only; children without text are left out, and so are names with digits, which number pages rather than describe them.
    """
    node = body_of(document)
    for _ in range(_WRAPPERS):
        inner = [child for child in children(document, node) if document.T[child]]
        if len(inner) != 1:
            return tuple(sorted({step(document.tags[child], document.names[child]) for child in inner})[:MAX_CHILDREN])
        node = inner[0]
    return (step(document.tags[node], document.names[node]),)


def similarity(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Return the likeness of two simple trees in [0, 1]: equal children over the mean number of children.

    Source: S15, simple-tree matching.
    Differs: equal children count once, because lists and paragraphs repeat at will.

    >>> similarity((1, 2, 3), (1, 2, 4))
    0.6666666666666666
    """
    first, second = set(one), set(other)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0


def path_of(document: Document, node: int) -> tuple[int, ...]:
    """Return the way from the page's body to `node`, one unsigned 32-bit number a step; empty when it is too long.

    A step tells tag, names and which of its equal siblings it takes.

    Cost: O(siblings on the way).
    """
    top = body_of(document)
    steps: list[int] = []
    while node > top and len(steps) <= MAX_STEPS:
        parent = document.parents[node]
        steps.append(next(key for child, key in _steps(document, parent) if child == node))
        node = parent
    return tuple(reversed(steps)) if node == top and len(steps) <= MAX_STEPS else ()


def node_at(document: Document, path: tuple[int, ...]) -> int:
    """Return the node that a path leads to, -1 when the page has no such way.

    Cost: O(siblings on the way).
    """
    node = body_of(document)
    if not path or node < 0:
        return -1
    for wanted in path:
        node = next((child for child, key in _steps(document, node) if key == wanted), -1)
        if node < 0:
            return -1
    return node


def body_of(document: Document) -> int:
    """Return the number of the body element, of the root when there is none, -1 for a page without nodes."""
    tags = document.tags
    return tags.index("body") if "body" in tags else len(tags[:1]) - 1


def children(document: Document, node: int) -> Iterator[int]:
    """Yield the numbers of a node's children in order."""
    if node >= 0:
        ends = document.ends
        child, end = node + 1, ends[node]
        while child < end:
            yield child
            child = ends[child]


def _steps(document: Document, node: int) -> Iterator[tuple[int, int]]:
    """Each child and the step that leads to it."""
    seen: Counter[int] = Counter()
    for child in children(document, node):
        key = step(document.tags[child], document.names[child])
        yield child, (key + seen[key] * _ORDINAL) & _WORD
        seen[key] += 1


@lru_cache(maxsize=16_384)
def step(tag: str, name: str) -> int:
    """Return an unsigned 32-bit number for an element's tag and names, those with digits left out.

    >>> step("div", "post post-1234") == step("div", "post post-99")
    True
    """
    words = [word for word in name.split() if not any(map(str.isdigit, word))]
    return int.from_bytes(blake2b(" ".join((tag, *words)).encode("utf-8", "replace"), digest_size=4).digest(), "big")
