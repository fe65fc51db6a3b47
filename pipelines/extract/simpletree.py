"""Simple trees and paths: pages of one template look alike near the root."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import numpy as np

from ..document.document import Document
from ..document.noise import is_extra
from ..document.view import Values, measure
from ..records import Extraction
from ..text_form import render

SAME_TEMPLATE: Final = 0.8
"""Similarity of simple trees from which pages are of one template (S15)."""
MAX_CHILDREN: Final = 32
MAX_STEPS: Final = 48
_LINE_CHARS: Final = 40
_WRAPPERS: Final = 12
_ORDINAL: Final = 0x9E3779B1
_WORD: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Params:
    """Least variance of the children's importance, as a share; least length of a text."""

    variance: float = 0.3
    min_chars: int = 40


def extract(document: Document, params: Params) -> Extraction:
    """Return the text at the end of the path of greatest importance.

    Cost: O(nodes + characters).
    Source: 基于树先剪枝的网页正文抽取方法研究 (S15).
    Differs: the path is that of the page itself, not one that the pages of a template have in common.
    """
    view = measure(document)
    within = view.inside(walk(document, params)) & ~view.in_any(view.side_sections) & ~view.linked
    blocks = [int(block) for block in np.flatnonzero(within) if not is_extra(document.blocks.texts[block])]
    share = float(document.blocks.chars[blocks].sum()) / max(int(document.T[0]), 1)
    return render.answer(document, blocks, within.tolist(), params.min_chars, share)


def walk(document: Document, params: Params) -> int:
    """Return the end of the walk from the body along the greatest importance.

    Cost: O(nodes).
    Source: S15. Its bound on the variance is 0.1.
    Differs: the variance of m shares that sum to 1 is at most (m-1)/m², so the bound, calibrated, is a part of that.
    """
    shape = _Shape(document)
    node = body(document)
    while True:
        inner, shares = shape.importance(node)
        if not inner:
            return node
        if len(inner) > 1:
            most = (len(inner) - 1) / len(inner) ** 2
            if float(shares.var()) < params.variance * most:
                return node
        node = inner[int(np.argmax(shares))]


class _Shape:
    def __init__(self, document: Document) -> None:
        self.view = view = measure(document)
        chars = np.where(view.in_any(view.side_sections), 0, view.plain)
        count = len(document.tags)
        self.text = view.sums(chars)
        # a block is as high as it has lines, and a node as wide as its widest block
        self.height = view.sums(np.ceil(chars / _LINE_CHARS))
        self.width = np.zeros(count)
        np.maximum.at(self.width, view.nodes, np.minimum(chars, _LINE_CHARS).astype(np.float64))
        for node in range(count - 1, 0, -1):
            parent = document.parents[node]
            self.width[parent] = max(self.width[parent], self.width[node])

    def importance(self, node: int) -> tuple[list[int], Values]:
        """Return the children that hold text, and each one's share of importance.

        Each of the three measures counts by 1 minus the entropy of the children's shares in it.
        """
        inner = [child for child in self.view.children(node) if self.text[child] > 0]
        if len(inner) < 2:
            return inner, np.ones(len(inner))
        features = np.array([self.height[inner], self.width[inner], self.text[inner]])
        shares = features / features.sum(axis=1, keepdims=True)
        entropy = -(shares * np.log(np.maximum(shares, 1e-12))).sum(axis=1) / np.log(len(inner))
        weights = np.maximum(1.0 - entropy, 1e-9)
        return inner, np.asarray(weights @ shares / weights.sum())


def simple_tree(document: Document) -> tuple[int, ...]:
    """Return the simple tree of a page: hashes of its body's children with text.

    They are at most `MAX_CHILDREN` unsigned 32-bit numbers, ascending, without repeats.

    Cost: O(children visited), some microseconds.
    Source: 基于树先剪枝的网页正文抽取方法研究 (S15).
    Differs: elements that merely wrap everything are passed through; children without text are left out, and so are
        names with digits: they number pages.
    """
    if not document.tags:
        return ()
    node, view = body(document), measure(document)
    for _ in range(_WRAPPERS):
        inner = [child for child in view.children(node) if document.T[child]]
        if len(inner) != 1:
            return tuple(sorted({step(document.tags[child], document.names[child]) for child in inner})[:MAX_CHILDREN])
        node = inner[0]
    return (step(document.tags[node], document.names[node]),)


def similarity(one: tuple[int, ...], other: tuple[int, ...]) -> float:
    """Return the equal children of two simple trees over their mean number.

    Source: S15, simple-tree matching.
    Differs: equal children count once, because lists and paragraphs repeat at will.

    >>> similarity((1, 2, 3), (1, 2, 4))
    0.6666666666666666
    """
    first, second = set(one), set(other)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 1.0


def path_of(document: Document, node: int) -> tuple[int, ...]:
    """Return the path from the page's body to `node`; empty when it is too long.

    A step is an unsigned 32-bit hash of tag, names and the child's place among equal siblings.
    Cost: O(siblings on the way).
    """
    top = body(document)
    steps: list[int] = []
    while node > top and len(steps) <= MAX_STEPS:
        parent = document.parents[node]
        steps.append(next(key for child, key in _steps(document, parent) if child == node))
        node = parent
    return tuple(reversed(steps)) if node == top and len(steps) <= MAX_STEPS else ()


def node_at(document: Document, path: tuple[int, ...]) -> int:
    """Node that a path leads to, -1 for none. Cost: O(siblings on the way)."""
    if not path or not document.tags:
        return -1
    node = body(document)
    for wanted in path:
        node = next((child for child, key in _steps(document, node) if key == wanted), -1)
        if node < 0:
            return -1
    return node


def body(document: Document) -> int:
    return document.tags.index("body") if "body" in document.tags else 0


def _steps(document: Document, node: int) -> Iterator[tuple[int, int]]:
    counts: Counter[int] = Counter()
    for child in measure(document).children(node):
        key = step(document.tags[child], document.names[child])
        yield child, (key + counts[key] * _ORDINAL) & _WORD
        counts[key] += 1


@lru_cache(maxsize=16_384)
def step(tag: str, name: str) -> int:
    """Hash an element's tag and names to 32 bits, leaving out names with digits.

    >>> step("div", "post post-1234") == step("div", "post post-99")
    True
    """
    words = [word for word in name.split() if not any(map(str.isdigit, word))]
    return int.from_bytes(blake2b(" ".join((tag, *words)).encode("utf-8", "replace"), digest_size=4).digest(), "big")
