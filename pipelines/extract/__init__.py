"""What a page says: text, metadata, links and what kind of page it is, from one parse."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any, Final

from ..records import Extraction
from . import (
    bte,
    combined,
    decay,
    density,
    entropy,
    fusion,
    headings,
    leaves,
    lineblocks,
    simpletree,
    titlematch,
    weighted,
)
from .document import Document

Extractor = Callable[[Document], Extraction]

EXTRACTORS: Final[dict[str, tuple[Callable[[Document, Any], Extraction], type]]] = {
    "bte": (bte.extract, bte.Params),
    "combined": (combined.extract, combined.Params),
    "decay": (decay.extract, decay.Params),
    "density": (density.extract, density.Params),
    "entropy": (entropy.extract, entropy.Params),
    "fusion": (fusion.extract, fusion.Params),
    "headings": (headings.extract, headings.Params),
    "leaves": (leaves.extract, leaves.Params),
    "lineblocks": (lineblocks.extract, lineblocks.Params),
    "simpletree": (simpletree.extract, simpletree.Params),
    "titlematch": (titlematch.extract, titlematch.Params),
    "weighted": (weighted.extract, weighted.Params),
}
"""Extractors by name: the function and the class of its parameters."""

DEFAULT: Final = "combined"
"""The extractor that is used when none is named."""


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
    for key in params or {}:
        if key not in known:
            raise ValueError(f"extractor {name!r} has no parameter {key!r}; known: {', '.join(known)}")
    chosen = kind(**{key: _value(name, key, value, known[key]) for key, value in (params or {}).items()})

    def run(document: Document) -> Extraction:
        return function(document, chosen)

    return run


def _value(name: str, key: str, value: object, default: object) -> object:
    """The value of a parameter, checked by its default: one of its names if that is a name, else a number like it."""
    where = f"parameter {key!r} of extractor {name!r} is {value!r}; it takes"
    if isinstance(default, StrEnum):
        names = [str(each) for each in type(default)]
        if value not in names:
            raise ValueError(f"{where} one of {', '.join(names)}")
        return type(default)(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{where} a number, {default}")
    if isinstance(default, int) and value != int(value):
        raise ValueError(f"{where} a whole number, {default}")
    return int(value) if isinstance(default, int) else float(value)
