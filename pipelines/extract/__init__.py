"""Extractors of the main text of a page, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from db.records.reasons import PageReason

from ..document.document import Document
from ..params import fill_params, is_import_path, plug_in
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
    rules,
    simpletree,
    titlematch,
    weighted,
)

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
    "rules": (rules.extract, rules.Params),
    "simpletree": (simpletree.extract, simpletree.Params),
    "titlematch": (titlematch.extract, titlematch.Params),
    "weighted": (weighted.extract, weighted.Params),
}
"""Name -> function, class of its parameters."""

DEFAULT: Final = "combined"
COMPARES_PAGES: Final = frozenset({"entropy"})
"""Methods that read the terms of a page's site (`Document.site_terms`)."""


def extractor(name: str, params: Mapping[str, object] | None = None) -> Extractor:
    """Return the extractor `name` with `params` filled in.

    `name` is a key of `EXTRACTORS`, or `module:name` of one from outside the project (see `plug_in`).

    Raises:
        ValueError: unknown name or parameter; the message lists the right ones.
    """
    if is_import_path(name):
        find = plug_in(name, params, "extractor", takes="a document")
    elif name in EXTRACTORS:
        function, kind = EXTRACTORS[name]
        chosen = fill_params(kind, params, f"extractor {name!r}")

        def find(document: Document) -> Extraction:
            return function(document, chosen)
    else:
        names = ", ".join(sorted(EXTRACTORS))
        raise ValueError(f"unknown extractor {name!r}; known: {names}, or module:name of your own")

    def run(document: Document) -> Extraction:
        if not len(document.blocks):
            return Extraction(reason=PageReason.NO_TEXT)
        extraction = find(document)
        if not isinstance(extraction, Extraction):
            raise TypeError(f"extractor {name!r} returned {type(extraction).__name__}, not an Extraction")
        return extraction

    return run
