"""Tables and lists inside a text: it holds all of one or nothing.

Cells and items are too short to be judged one by one. What stands between two paragraphs of the text is part of it;
elsewhere the chances of all cells together tell.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import compress, islice
from typing import Final

import numpy as np

from ...document.document import Document
from ...document.noise import is_noisy_name
from ...document.structured_data import find_types
from ...document.view import HEADINGS, Flags, Values, measure
from ...text_form.structure import is_data_table

_LEAST: Final = 0.4
"""Least mean chance of the text of a table that is kept; found on folds 0 and 1, checked on 2 and 3."""
_PARAGRAPH: Final = 30
"""Least mass of a line with a punctuation mark that is a paragraph."""
_LEAST_GAP: Final = 0.3
"""Least chance of a paragraph between two kept ones; of .02, .1 and .3 the last lost least on the four folds."""
_LEAST_HEADING: Final = 0.05
"""The same of a heading, whose text is kept."""
_NUMBER: Final = re.compile(r"\d+")
_ANY: Final = -1
"""In place of the number of a group: siblings of whatever kind."""
_ENTRIES: Final = frozenset({"div", "article", "section", "li"})
_LEAST_ENTRIES: Final = 3
_SERIES: Final = 0.5
"""Least share of a text that stands in entries."""
_INNER: Final = frozenset({"table", "dl", "ul", "ol"})
_MOST_INNER: Final = 200
"""Tables and lists that are looked at."""
_COLONS: Final = (":", "：")


def whole_blocks(document: Document, kept: list[int], chances: Values, mass: Values) -> list[int]:
    """Return the blocks of `kept` with each data table and list completed or left out.

    Lists of links are completed if the line before them ends in a colon, others if half of them is kept. All are
    ascending; `kept` itself when nothing else would be left. `chances` are in [0, 1].
    Cost: O(nodes), and O(blocks + nodes inside) for each of the first 200 tables and lists.
    """
    tags, nodes = document.tags, document.blocks.nodes
    if not kept or _INNER.isdisjoint(tags):
        return kept
    view, flags = measure(document), np.zeros(len(document.blocks), np.bool_)
    flags[kept] = True
    paragraphs = flags & (view.mass >= _PARAGRAPH) & (document.blocks.marks > 0)
    begin, end = min(nodes[index] for index in kept), max(nodes[index] for index in kept)
    inner = (node for node in range(begin, min(end + 1, len(tags))) if tags[node] in _INNER and document.T[node])
    changed = False
    for node in islice(inner, _MOST_INNER):
        inside = view.inside(node)
        is_table = tags[node] == "table"
        if is_table:
            if not is_data_table(document, node):
                continue
        elif tags[node] == "dl":
            if not {"dt", "dd"} <= set(tags[node + 1 : document.ends[node]]):
                continue
        elif _is_half_kept(flags, inside, mass):
            inside &= ~view.linked
        elif not _is_announced(document, flags, inside):
            continue
        if _is_between(document, node, paragraphs):
            flags[inside] = changed = True
        elif is_table and (flags & inside).any():
            flags[inside] = float(np.average(chances[inside], weights=mass[inside])) >= _LEAST
            changed = True
    return (np.flatnonzero(flags).tolist() or kept) if changed else kept


def _is_half_kept(flags: Flags, inside: Flags, mass: Values) -> bool:
    total = float(mass[inside].sum())
    return total / 2 <= float(mass[inside & flags].sum()) < total


def _is_announced(document: Document, flags: Flags, inside: Flags) -> bool:
    """The kept line before a list ends in a colon."""
    first = int(np.argmax(inside))
    return first > 0 and bool(flags[first - 1]) and document.blocks.texts[first - 1].endswith(_COLONS)


def _is_between(document: Document, node: int, paragraphs: Flags) -> bool:
    """Paragraphs of the text stand before and behind an element, all in one container."""
    parents, ends, nodes = document.parents, document.ends, measure(document).nodes
    outer = node
    while outer > 0:
        if is_noisy_name(document.names[outer]):
            return False
        parent = parents[outer]
        if document.T[parent] > document.T[node]:
            break
        outer = parent  # it holds nothing but the element
    if outer <= 0:
        return False
    before = paragraphs & (nodes >= parent) & (nodes < outer)
    behind = paragraphs & (nodes >= ends[outer]) & (nodes < ends[parent])
    return bool(before.any() and behind.any())


def fill_gaps(document: Document, kept: list[int], chances: Values) -> list[int]:
    """Return the blocks of `kept` with likely ones between kept siblings.

    Those are paragraphs of the same kind, and headings. All are ascending.
    Cost: O(blocks).
    """
    view = measure(document)
    parents, groups = view.parents[view.nodes].tolist(), view.groups.tolist()
    flags = np.zeros(len(parents), np.bool_)
    flags[kept] = True
    firsts: dict[tuple[int, int], int] = {}
    lasts: dict[tuple[int, int], int] = {}
    for index in kept:
        for key in ((groups[index], parents[index]), (_ANY, parents[index])):
            firsts.setdefault(key, index)
            lasts[key] = index
    is_prose = (view.mass >= _PARAGRAPH) & (document.blocks.marks > 0) & (chances >= _LEAST_GAP)
    for index in (~flags & ~view.linked & (chances >= _LEAST_HEADING)).nonzero()[0].tolist():
        is_heading = view.tags[index] in HEADINGS and index + 1 < len(flags) and flags[index + 1]
        if is_heading or is_prose[index]:
            key = (_ANY if is_heading else groups[index]), parents[index]
            flags[index] = firsts.get(key, index) < index < lasts.get(key, index)
    indexes: list[int] = flags.nonzero()[0].tolist()
    return indexes


def whole_series(document: Document, kept: list[int], mass: Values) -> list[int]:
    """Return the blocks of `kept` (ascending) with all entries of a live blog.

    Entries are siblings alike by tag and name, each with prose. If most of the text stands in them and most of them
    are kept, all are: what is kept of one is kept of the others. On a page that calls itself a live blog some suffice.
    Cost: O(nodes + blocks x levels).
    """
    tags, parents = document.tags, document.parents
    view, blocks = measure(document), document.blocks
    nodes = blocks.nodes
    total = float(mass[kept].sum())
    series: dict[tuple[int, str, str], dict[int, float]] = {}
    is_prose = (view.mass >= _PARAGRAPH) & (blocks.marks > 0) & ~view.linked
    for index in compress(kept, is_prose[kept].tolist()):
        node, size = nodes[index], float(mass[index])
        while node > 0:
            if tags[node] in _ENTRIES and (name := _nameless(document.names[node])):
                entries = series.setdefault((parents[node], tags[node], name), {})
                entries[node] = entries.get(node, 0.0) + size
            node = parents[node]
    best = max(series, key=lambda key: (len(series[key]), sum(series[key].values())), default=None)
    if best is None or len(series[best]) < _LEAST_ENTRIES or sum(series[best].values()) < _SERIES * total:
        return kept
    parent, tag, name = best
    kept_entries = series[best]
    prose_inside = view.sums(is_prose)
    lacking = {
        node
        for node in view.children(parent)
        if node not in kept_entries
        and tags[node] == tag
        and prose_inside[node]
        and _nameless(document.names[node]) == name
    }
    if not lacking or (len(lacking) >= len(kept_entries) and "liveblogposting" not in find_types(document)):
        return kept

    def entry_of(node: int) -> int:
        while node > 0 and parents[node] != parent:
            node = parents[node]
        return node

    def kind_of(index: int) -> tuple[str, str, str]:
        node = nodes[index]
        return tags[node], _nameless(document.names[node]), _nameless(document.names[parents[node]])

    kinds = {kind_of(index) for index in kept if entry_of(nodes[index]) in kept_entries}
    more = [index for index in range(len(nodes)) if entry_of(nodes[index]) in lacking and kind_of(index) in kinds]
    return sorted({*kept, *more})


@lru_cache(maxsize=8192)
def _nameless(name: str) -> str:
    """The name of an element without the numbers that tell entries apart."""
    return _NUMBER.sub("", name)
