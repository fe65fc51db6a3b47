"""Sub-trees of a page and the blocks in them, as single-page methods use them.

A sub-tree is the range `[node, ends[node])` of node numbers, so a sum over it is a difference of two cumulative sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decode.characters import Counts
from .document import Document, sum_sub_trees
from .noise import NOISE_TAGS, is_noisy_name

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

LINK_SHARE: Final = 0.5
"""Share of link text from which a block is a link rather than prose with links in it."""
MOST_SIDE: Final = 0.45
"""Share of the page's text outside links that no side section holds, whatever its name."""


def plain(document: Document) -> Counts:
    """Count the characters outside links of each block."""
    return np.asarray(document.blocks.chars, np.int64) - np.asarray(document.blocks.link_chars, np.int64)


def linked(document: Document) -> Flags:
    """Flag the blocks with more than `LINK_SHARE` of their characters in links."""
    flags: Flags = np.asarray(document.blocks.link_chars) > np.asarray(document.blocks.chars) * LINK_SHARE
    return flags


def prose(document: Document) -> Counts:
    """Count the characters outside links of each block, 0 for those that are links."""
    return np.where(linked(document), 0, plain(document))


def inside(document: Document, node: int) -> Flags:
    """Flag the blocks that stand in the sub-tree of `node`."""
    nodes = np.asarray(document.blocks.nodes, np.int64)
    flags: Flags = (nodes >= node) & (nodes < document.ends[node])
    return flags


def in_any(document: Document, nodes: Iterable[int]) -> Flags:
    """Flag the blocks in the sub-trees of `nodes`."""
    covered = np.zeros(len(document.tags), np.bool_)
    for node in nodes:
        covered[node : document.ends[node]] = True
    flags: Flags = covered[np.asarray(document.blocks.nodes, np.int64)]
    return flags


def side_sections(document: Document) -> list[int]:
    """Return the nodes that are hidden, or tagged or named like side sections.

    Args:
        document: a parsed page with nodes.

    Returns:
        Node numbers, ascending; none that holds `MOST_SIDE` of the page's text outside links.

    Cost: O(nodes).
    """
    limit = MOST_SIDE * float(document.T[0] - document.LT[0])
    tags, hidden = document.tags, document.hidden
    found = [
        node
        for node, name in enumerate(document.names)
        if tags[node] in NOISE_TAGS or node in hidden or (name and is_noisy_name(name))
    ]
    return [node for node in found if document.T[node] - document.LT[node] < limit]


def sums(document: Document, values: ArrayLike) -> Values:
    """Sum of `values` over each sub-tree.

    Args:
        document: a parsed page.
        values: one number per block.

    Returns:
        One sum per node.

    Cost: O(nodes + blocks).
    """
    count = len(document.tags)
    own = np.bincount(np.asarray(document.blocks.nodes, np.int64), weights=values, minlength=count)
    return sum_sub_trees(own, np.asarray(document.ends, np.int64))


def holders(document: Document) -> Counts:
    """Find the node that holds each block and its siblings.

    Lines between `<br>` are siblings by standing in one node, paragraphs by standing in nodes of one parent.

    Args:
        document: a parsed page.

    Returns:
        One number per block.

    Cost: O(nodes + blocks).
    """
    nodes = np.asarray(document.blocks.nodes, np.int64)
    if not len(nodes):
        return nodes
    several = np.bincount(nodes, minlength=len(document.tags))[nodes] > 1
    parents = np.asarray(document.parents, np.int64)[nodes]
    return np.where(several | (parents < 0), nodes, parents)


def children(document: Document, node: int) -> Iterator[int]:
    """Yield the children of a node, in document order."""
    child = node + 1
    while child < document.ends[node]:
        yield child
        child = document.ends[child]


def section(document: Document, nodes: Counts, index: int) -> tuple[int, int]:
    """Return the range of the blocks that stand under the heading in block `index`.

    Args:
        document: a parsed page.
        nodes: `document.blocks.nodes` as an array.
        index: number of a block.

    Cost: O(levels + blocks).
    """
    node = int(nodes[index])
    parents, ends = document.parents, document.ends
    # Up while the heading is the first text: then the container holds this section alone.
    while parents[node] > 0 and (index == 0 or nodes[index - 1] < parents[node]):
        node = parents[node]
        if document.tags[node] in {"body", "td"}:
            break
    if int(nodes[index]) == node and parents[node] > 0:
        node = parents[node]
    last = int(np.searchsorted(nodes, ends[node])) if bool(np.all(np.diff(nodes) >= 0)) else index + 1
    if last <= index:
        last = index + 1
        while last < len(nodes) and node <= nodes[last] < ends[node]:
            last += 1
    return index, last
