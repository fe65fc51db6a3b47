"""Tables of data: the text holds all of one or nothing.

Cells are too short to be judged one by one; their chances together tell whether the table is part of the text.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ...document.document import Document
from ...document.view import Values, measure
from ...text_form.structure import is_data_table

_LEAST: Final = 0.4
"""Least mean chance of the text of a table that is kept; found on folds 0 and 1, checked on 2 and 3."""


def whole_tables(document: Document, kept: list[int], chances: Values, mass: Values) -> list[int]:
    """Return the blocks of `kept` with each table of data completed or left out.

    All are ascending; `kept` itself when nothing else would be left. `chances` are in [0, 1].
    Cost: O(blocks kept x levels + nodes of the tables).
    """
    tags, parents = document.tags, document.parents
    if "table" not in tags:
        return kept
    of: dict[int, int] = {}
    for index in kept:
        start = node = document.blocks.nodes[index]
        if start not in of:
            while node > 0 and tags[node] != "table":
                node = parents[node]
            of[start] = node
    tables = [node for node in sorted({node for node in of.values() if node > 0}) if is_data_table(document, node)]
    if not tables:
        return kept
    view, flags = measure(document), np.zeros(len(document.blocks), np.bool_)
    flags[kept] = True
    for table in tables:
        inside = view.inside(table)
        flags[inside] = float(np.average(chances[inside], weights=mass[inside])) >= _LEAST
    return np.flatnonzero(flags).tolist() or kept
