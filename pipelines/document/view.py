"""Measures of a page that all methods share, taken once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..decode.characters import Counts
from ..decode.text import squeeze
from .document import Document
from .noise import NOISE_TAGS, is_noisy_name

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
MOST_SIDE: Final = 0.45
"""Share of the page's text outside links that no side section holds, whatever its name."""
_LEVELS: Final = 7
"""Rows of `PageView.around`."""
_LEAST_HEADLINE: Final = 4
_MOST_HEADLINE: Final = 200
"""Characters of the block that `<title>` repeats."""
_HEADING_BONUS: Final = 4
_LINK_MALUS: Final = 8
"""Characters that count for a candidate in h1 to h3, and against one that is a link. All four were chosen by hand."""


class PageView:
    """Columns of a page's nodes and blocks, in characters unless said otherwise.

    It holds no reference to its document: a circle would keep the tree in memory until the next collection.
    """

    def __init__(self, document: Document) -> None:
        blocks = document.blocks
        self._blocks, self._tags, self._names = blocks, document.tags, document.names
        self._parents, self._ends = document.parents, document.ends
        self._hidden, self._title = document.hidden, document.title
        self._outside_links = document.T - document.LT
        self.ends: Counts = np.asarray(document.ends, np.int64)
        self.parents: Counts = np.maximum(np.asarray(document.parents, np.int64), 0)
        """Of each node; the root is its own."""
        self.nodes: Counts = np.asarray(blocks.nodes, np.int64)
        """In which each block stands."""
        self.chars: Values = np.maximum(np.asarray(blocks.chars, np.float64), 1)
        """Of each block, at least 1."""
        self.links: Values = np.asarray(blocks.link_chars, np.float64)
        """In links, of each block."""
        self.plain: Counts = np.asarray(blocks.chars, np.int64) - np.asarray(blocks.link_chars, np.int64)
        """Outside links, of each block."""
        self.linked: Flags = self.links * 2 > self.chars
        """Blocks that are links rather than prose with links in it."""
        self.letters: Values = blocks.chars + 1.5 * blocks.han
        """Of each block: a Chinese character says as much as two and a half letters."""
        self.breadth: Values = 1 + 1.5 * blocks.han / self.chars
        """Mean letters that a character of each block counts for, from 1 to 2.5."""
        self.mass: Values = self.plain * self.breadth
        """Letters outside links, of each block."""

    @cached_property
    def prose(self) -> Counts:
        return np.where(self.linked, 0, self.plain)

    @cached_property
    def headline(self) -> int:
        """The block that is the headline as `<title>` repeats it; -1 for none."""
        if not self._title:
            return -1
        title, whole = squeeze(self._title), self._title
        longest, headline = _LEAST_HEADLINE, -1
        for index, line in enumerate(self._blocks.texts):
            if line[1:3] in whole and longest <= len(line) <= _MOST_HEADLINE:
                heading = squeeze(line)
                bonus = _HEADING_BONUS if self.tags[index] in {"h1", "h2", "h3"} else 0
                size = len(heading) + bonus
                if size > longest and heading in title:
                    if self.linked[index]:
                        size -= _LINK_MALUS
                    if size > longest:
                        longest, headline = size, index
        return headline

    @cached_property
    def labels(self) -> tuple[list[tuple[str, str]], Counts]:
        """The different (tag, name) of nodes, and the place of each node's in that list.

        What depends on tag and name alone is asked once for each: they are a quarter of the nodes.
        """
        numbers: defaultdict[tuple[str, str], int] = defaultdict()
        numbers.default_factory = numbers.__len__  # a new label gets the count of those before it
        found = map(numbers.__getitem__, zip(self._tags, self._names, strict=True))
        of = np.fromiter(found, np.int64, len(self._tags))
        return list(numbers), of

    def by_label(self, test: Callable[[str, str], bool]) -> Flags:
        """Flag the nodes whose tag and name pass a test."""
        labels, of = self.labels
        flags: Flags = np.fromiter((test(tag, name) for tag, name in labels), np.bool_, len(labels))[of]
        return flags

    @cached_property
    def groups(self) -> Counts:
        """Number of each block's group: those alike by tags and names of node and parent."""
        labels, of = self.labels
        keys = of[self.nodes] * len(labels) + of[self.parents[self.nodes]]
        return number_keys(keys)

    @cached_property
    def tags(self) -> list[str]:
        """That of the node each block stands in."""
        return [self._tags[node] for node in self._blocks.nodes]

    @cached_property
    def lowered(self) -> str:
        """The texts of all blocks in lower case, a line each."""
        return "\n".join(self._blocks.texts).lower()

    @cached_property
    def around(self) -> Counts:
        """The blocks' nodes, the containers of these, and so on: seven rows."""
        around = [self.nodes]
        while len(around) < _LEVELS:
            around.append(self.parents[around[-1]])
        return np.array(around)

    @cached_property
    def side_sections(self) -> list[int]:
        """Nodes, ascending, that are hidden, or tagged or named like side sections.

        None of them holds `MOST_SIDE` of the page's text outside links.
        """
        aside = self.by_label(lambda tag, name: tag in NOISE_TAGS or (name != "" and is_noisy_name(name)))
        aside[list(self._hidden)] = True
        aside &= self._outside_links < MOST_SIDE * float(self._outside_links[0])
        return np.flatnonzero(aside).tolist()

    @cached_property
    def holders(self) -> Counts:
        """The node that holds each block and its siblings.

        Lines between `<br>` are siblings by standing in one node, paragraphs by standing in nodes of one parent.
        """
        nodes = self.nodes
        if not len(nodes):
            return nodes
        several = np.bincount(nodes, minlength=len(self.ends))[nodes] > 1
        return np.where(several, nodes, self.parents[nodes])

    def sums(self, values: ArrayLike) -> Values:
        """Sum those of the blocks in each sub-tree."""
        sums: Values = sum_blocks(self.nodes, self.ends, values)[0]
        return sums

    def inside(self, node: int) -> Flags:
        flags: Flags = (self.nodes >= node) & (self.nodes < self._ends[node])
        return flags

    def in_any(self, nodes: Iterable[int]) -> Flags:
        covered = np.zeros(len(self.ends), np.bool_)
        for node in nodes:
            covered[node : self._ends[node]] = True
        flags: Flags = covered[self.nodes]
        return flags

    def children(self, node: int) -> Iterator[int]:
        child = node + 1
        while child < self._ends[node]:
            yield child
            child = self._ends[child]

    def section(self, index: int) -> tuple[int, int]:
        """Half-open range of blocks under heading `index`. Cost: O(levels + blocks)."""
        nodes, parents, ends = self.nodes, self._parents, self._ends
        node = int(nodes[index])
        # Up while the heading is the first text: then the container holds this section alone.
        while parents[node] > 0 and (index == 0 or nodes[index - 1] < parents[node]):
            node = parents[node]
            if self._tags[node] in {"body", "td"}:
                break
        if int(nodes[index]) == node and parents[node] > 0:
            node = parents[node]
        last = int(np.searchsorted(nodes, ends[node])) if bool(np.all(np.diff(nodes) >= 0)) else index + 1
        if last <= index:
            last = index + 1
            while last < len(nodes) and node <= nodes[last] < ends[node]:
                last += 1
        return index, last


def sum_blocks(nodes: Counts, ends: Counts, *columns: ArrayLike) -> Values:
    """Sum columns of blocks, which stand in `nodes`, over sub-trees: a row each."""
    before = sums_before(np.array([np.bincount(nodes, values, len(ends)) for values in columns]))
    sums: Values = before.take(ends, axis=1) - before[:, :-1]
    return sums


def sums_before(values: Values) -> Values:
    """Return the sum of what stands before each place of a row, and of all of it."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    np.add.accumulate(values, axis=-1, out=sums[..., 1:])
    return sums


def number_keys(keys: Counts) -> Counts:
    """Number equal keys alike, from 0 on, in ascending order.

    Cost: O(keys x log keys), a third of that of `np.unique` for a hundred keys.

    >>> number_keys(np.array([7, 2, 7])).tolist()
    [1, 0, 1]
    """
    order = keys.argsort(kind="stable")
    ordered, steps, numbers = keys[order], np.zeros(len(keys), np.int64), np.empty(len(keys), np.int64)
    steps[1:] = ordered[1:] != ordered[:-1]
    numbers[order] = np.add.accumulate(steps)
    return numbers


def measure(document: Document) -> PageView:
    """Return the view of a page, which is made when it is first asked for.

    Cost: O(nodes + blocks) once, some tens of microseconds.
    """
    view: PageView | None = document.view
    if view is None:
        view = document.view = PageView(document)
    return view
