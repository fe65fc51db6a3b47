"""Structure of kept blocks: paragraphs, headings, lists, quotes, code, tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from ..decode.text import clean, words
from ..document.document import Document

_CONTAINERS: Final = words("li blockquote pre td th tr table h1 h2 h3 h4 h5 h6")
_CELLS: Final = frozenset({"td", "th"})
_HEADINGS: Final = {"h1": "h2"} | {f"h{level}": f"h{level}" for level in range(2, 7)}
# Chosen by hand.
_CELL_CHARS: Final = 200
_MEAN_CELL_CHARS: Final = 60
_BLOCKS_IN_CELL: Final = 3
_MAX_PRE_CHARS: Final = 50_000


Container = tuple[str, int]
"""A tag and a node; two parts stand in the same container when both are equal."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """One piece of the rendered text.

    Attributes:
        kind: "p", "h2" to "h6", "pre", "tr", or "li" for a text that stands right in a list item.
        texts: the lines of a pre, the cells of a row, else one text.
        block: number of the block, of a row's first one.
        path: blockquotes, lists, list items and tables around it, the outermost first.
        header: whether all cells of a row are headings.
    """

    kind: str
    texts: tuple[str, ...]
    block: int
    path: tuple[Container, ...] = ()
    header: bool = False


@dataclass(slots=True)
class _Place:
    kind: str = "p"
    path: tuple[Container, ...] = ()
    pre: int = -1
    row: int = -1
    cell: int = -1


def build_parts(document: Document, kept: Sequence[int]) -> list[TextPart]:
    """Return the kept blocks (ascending) as parts of a text, in their order.

    Tables that only lay out a page count as none, and so do list items or quotations that hold all of the text.
    Cost: O(blocks kept x depth).
    """
    blocks = document.blocks
    nodes = [blocks.nodes[index] for index in kept]
    if not nodes:
        return []
    bounds = (min(nodes), max(nodes))
    tables: dict[int, bool] = {}
    places: dict[int, _Place] = {}
    for node in nodes:
        if node not in places:
            places[node] = _place(document, node, bounds, tables)
    parts: list[TextPart] = []
    for row, group in groupby(zip(kept, nodes, strict=True), lambda pair: places[pair[1]].row):
        if row >= 0:
            members = [(index, places[node]) for index, node in group]
            parts.append(_row(document, row, members))
            continue
        for index, node in group:
            place = places[node]
            lines = _lines(document, index, place.pre) if place.pre >= 0 else ()
            parts.append(TextPart("pre" if lines else place.kind, lines or (blocks.texts[index],), index, place.path))
    return parts


def _place(document: Document, node: int, bounds: tuple[int, int], tables: dict[int, bool]) -> _Place:
    place = _Place()
    tags, parents, ends = document.tags, document.parents, document.ends
    first, last = bounds
    path: list[Container] = []
    cell = row = -1
    while node > 0:
        tag = tags[node]
        if tag not in _CONTAINERS:
            node = parents[node]
            continue
        whole = node <= first and ends[node] > last and first != last
        if tag == "table":
            if node not in tables:
                tables[node] = is_data_table(document, node)
            if tables[node] and cell >= 0:
                # Lists inside cells are not told: a row is one line.
                place.row, place.cell, path = row, cell, [("table", node)]
            cell = row = -1
        elif tag == "tr":
            row = node
        elif tag in _CELLS:
            cell = node
        elif tag == "pre":
            place.pre = node
        elif tag in _HEADINGS:
            place.kind = _HEADINGS[tag]
        elif tag == "blockquote" and not whole:
            path.append((tag, node))
        elif tag == "li" and not whole:
            if not path and place.kind == "p":
                place.kind = "li"
            parent = parents[node]
            path += [(tag, node), ("ol" if tags[parent] == "ol" else "ul", parent)]
        node = parents[node]
    place.path = tuple(reversed(path))
    return place


def is_data_table(document: Document, table: int) -> bool:
    """Tell whether a table holds data: several rows of several short cells."""
    tags, parents, end = document.tags, document.parents, document.ends[table]
    inside = tags[table + 1 : end]
    if "table" in inside or "form" in inside:
        return False
    cells: dict[int, int] = {}
    chars = [0]
    blocks = 0
    for node in range(table + 1, end):
        tag = tags[node]
        if tag in _CELLS and tags[parents[node]] == "tr":
            cells[parents[node]] = cells.get(parents[node], 0) + 1
            chars.append(int(document.T[node]))
        elif tag in {"p", "div", "ul", "h1", "h2", "h3", "h4"}:
            blocks += 1
    rows = sum(count >= 2 for count in cells.values())
    total = sum(chars)
    return (
        rows >= 2
        and rows * 2 > len(cells)
        and 0 < total <= _MEAN_CELL_CHARS * (len(chars) - 1)
        and max(chars) <= _CELL_CHARS
        and blocks <= _BLOCKS_IN_CELL * len(chars)
        and int(document.LT[table]) * 2 <= int(document.T[table])
    )


def _row(document: Document, row: int, members: Sequence[tuple[int, _Place]]) -> TextPart:
    tags, parents = document.tags, document.parents
    cells: dict[int, list[str]] = {
        node: [] for node in range(row + 1, document.ends[row]) if tags[node] in _CELLS and parents[node] == row
    }
    for index, place in members:
        cells.setdefault(place.cell, []).append(document.blocks.texts[index])
    header = all(tags[cell] == "th" for cell in cells)
    index, place = members[0]
    return TextPart("tr", tuple(" ".join(texts) for texts in cells.values()), index, place.path, header)


def _lines(document: Document, index: int, pre: int) -> tuple[str, ...]:
    nodes, end = document.blocks.nodes, document.ends[pre]
    if any(pre <= node < end for node in (*nodes[max(index - 1, 0) : index], *nodes[index + 1 : index + 2])):
        return ()  # several blocks share it: they are its lines
    text = document.blocks.texts[index]
    element = document.elements[pre] if pre < len(document.elements) else None
    if element is None or len(text) > _MAX_PRE_CHARS:
        return ()
    raw = "".join(map(str, element.itertext()))
    if "\n" not in raw.strip() or len(raw) > 4 * _MAX_PRE_CHARS:
        return ()
    lines = [(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4), clean(line)) for line in raw.splitlines()]
    if "".join(line for _, line in lines).replace(" ", "") != text.replace(" ", ""):
        return ()
    pre_lines = [f"{indent}{line}" if line else "" for indent, line in lines]
    while pre_lines and not pre_lines[0]:
        pre_lines.pop(0)
    while pre_lines and not pre_lines[-1]:
        pre_lines.pop()
    return tuple(pre_lines)
