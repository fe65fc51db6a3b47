"""What a page says: text, metadata, links and what kind of page it is, from one parse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Final

from ..records import Extraction
from . import density, entropy, simpletree
from .document import Document

Extractor = Callable[[Document], Extraction]

EXTRACTORS: Final[dict[str, tuple[Callable[[Document, Any], Extraction], type]]] = {
    "density": (density.extract, density.Params),
    "entropy": (entropy.extract, entropy.Params),
    "simpletree": (simpletree.extract, simpletree.Params),
}
"""Extractors by name: the function and the class of its parameters."""


def extractor(name: str, params: Mapping[str, object] | None = None) -> Extractor:
    """Return the extractor `name` with `params` filled in.

    Args:
        name: a key of `EXTRACTORS`.
        params: values for fields of its parameter class; the others keep their defaults.

    Returns:
        A function from document to extraction.

    Raises:
        ValueError: unknown name or parameter; the message lists the right ones.
    """
    if name not in EXTRACTORS:
        raise ValueError(f"unknown extractor {name!r}; known: {', '.join(sorted(EXTRACTORS))}")
    function, kind = EXTRACTORS[name]
    known = {item.name: item.default for item in fields(kind)}
    for key, value in (params or {}).items():
        if key not in known:
            raise ValueError(f"extractor {name!r} has no parameter {key!r}; known: {', '.join(known)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError(f"parameter {key!r} of extractor {name!r} is {value!r}; it takes a number, {known[key]}")
    chosen = kind(**(params or {}))

    def run(document: Document) -> Extraction:
        return function(document, chosen)

    return run
