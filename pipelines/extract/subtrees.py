"""Sub-trees of a page and the blocks in them: the geometry that single-page methods share.

A sub-tree is the range `[node, ends[node])` of node numbers, so a sum over it is a difference of two cumulative sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .document import Counts, Document

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

LINK_SHARE: Final = 0.5
"""Share of link text from which a block is a link rather than prose with links in it."""


def sums(document: Document, values: ArrayLike) -> Values:
    """Sum of `values` (one per block) over each sub-tree.

    Args:
        document: a parsed page.
        values: one number per block.

    Returns:
        One sum per node.

    Cost: O(nodes + blocks).
    """
    count = len(document.tags)
    total = np.zeros(count + 1)
    own = np.bincount(np.asarray(document.blocks.nodes, np.int64), weights=values, minlength=count)
    np.cumsum(own, out=total[1:])
    return np.asarray(total[np.asarray(document.ends, np.int64)] - total[:-1], np.float64)


def plain(document: Document) -> Counts:
    """Characters outside links of each block."""
    return np.asarray(document.blocks.chars, np.int64) - np.asarray(document.blocks.link_chars, np.int64)


def linked(document: Document, share: float = LINK_SHARE) -> Flags:
    """Whether each block is link text for more than `share` of its characters."""
    flags: Flags = np.asarray(document.blocks.link_chars) > np.asarray(document.blocks.chars) * share
    return flags


def inside(document: Document, node: int) -> Flags:
    """Whether each block stands in the sub-tree of `node`."""
    nodes = np.asarray(document.blocks.nodes, np.int64)
    flags: Flags = (nodes >= node) & (nodes < document.ends[node])
    return flags


def children(document: Document, node: int) -> Iterator[int]:
    """Children of a node, in document order."""
    child = node + 1
    while child < document.ends[node]:
        yield child
        child = document.ends[child]
