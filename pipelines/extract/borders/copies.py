"""Copies: a text that stands on its page twice is kept once.

A copy (for printing, for narrow screens) stands in a container of its own that holds hardly anything else; equal
entries of a list stand in similar siblings and stay.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...decode.characters import Counts
from ...document.document import Document, sum_sub_trees
from ...document.view import Flags, Values, measure

# Set by hand on folds 0 and 1 of the corpora (tests.benchmarks.extraction), looked at on 2 and 3.
_PARAGRAPH: Final = 60
"""Least mass of a text whose repetition is a copy."""
_LINE: Final = 40
"""Lines of less mass go with the copy that they stand in."""
_REPEATED: Final = 0.8
"""Least share of repeated text in the container of a copy."""
_ENTRIES: Final = frozenset({"blockquote", "q", "pre", "table", "td", "th", "li"})
_LEAVES: Final = frozenset({"p", "li", "dd", "dt", "figcaption", "h1", "h2", "h3", "h4", "h5", "h6"})


def drop_copies(document: Document, kept: list[int], mass: Values) -> list[int]:
    """Return the blocks of `kept` (ascending) without copies of others.

    Of two copies the visible one stays, else the first. Quotations, lists, tables and code stay as they are.
    Cost: O(blocks kept) where nothing is repeated, else O(nodes + blocks kept x depth).
    """
    texts = document.blocks.texts
    places: dict[str, list[int]] = {}
    for index in kept:
        places.setdefault(texts[index], []).append(index)
    view, tags = measure(document), document.tags
    nodes = view.nodes
    repeated = [
        same_text
        for same_text in places.values()
        if len(same_text) > 1 and mass[same_text[0]] >= _PARAGRAPH and tags[nodes[same_text[0]]] != "li"
    ]
    if not repeated:
        return kept
    hidden = view.in_any(document.hidden)
    homes = {
        texts[same_text[0]]: next((index for index in same_text if not hidden[index]), same_text[0])
        for same_text in places.values()
        if len(same_text) > 1
    }
    nodes = nodes[kept]
    holds = _shares(document, nodes, mass[kept], [texts[index] in homes for index in kept])
    order = np.argsort(nodes, kind="stable")
    gone: set[int] = set()
    for same_text in repeated:
        home = homes[texts[same_text[0]]]
        for index in same_text:
            if index == home or index in gone or home in gone:
                continue
            box = _container(document, index, home, holds)
            first, last = np.searchsorted(nodes[order], (box, document.ends[box])) if box >= 0 else (0, 0)
            inside = {kept[at] for at in order[first:last].tolist()}
            for other in inside:
                original = homes.get(texts[other], -1)
                if mass[other] < _LINE if original < 0 else original not in gone and original not in inside:
                    gone.add(other)
    return [index for index in kept if index not in gone] if gone else kept


def _shares(document: Document, nodes: Counts, mass: Values, repeated: list[bool]) -> Flags:
    ends = measure(document).ends
    whole = sum_sub_trees(np.bincount(nodes, mass, len(ends)), ends)
    shares: Flags = sum_sub_trees(np.bincount(nodes, mass * repeated, len(ends)), ends) >= _REPEATED * whole
    return shares


def _container(document: Document, index: int, home: int, holds: Flags) -> int:
    """The largest container of a copy that holds little else; -1 for none."""
    tags, names, parents, ends = document.tags, document.names, document.parents, document.ends
    node, other = document.blocks.nodes[index], document.blocks.nodes[home]
    branch = best = -1
    if tags[node] in _LEAVES:
        node = parents[node]
    while node > 0 and not node <= other < ends[node]:
        if tags[node] in _ENTRIES or "quote" in names[node]:
            return -1
        if holds[node]:
            best = node
        branch, node = node, parents[node]
    while other > 0 and parents[other] != node:
        other = parents[other]
    is_entry = branch >= 0 and (tags[branch], names[branch]) == (tags[other], names[other])
    return -1 if is_entry else best
