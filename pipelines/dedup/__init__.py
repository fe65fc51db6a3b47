"""Detection of near-duplicates across sites and formatting.

A text is reduced to a signature (`Method.sign`), looked up among the stored ones (`index`) and compared with the
candidates (`Method.compare`). It is a duplicate when the comparison says so and the similarity reaches the threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ..params import fill_params, is_import_path, plug_in
from ..records import Signature
from . import combined, featurestring, keywords
from .shape import CALIBRATED, Comparison, IndexParams, Method

METHODS: Final[dict[str, tuple[Callable[[Any], Method], type]]] = {
    combined.NAME: (combined.method, combined.Params),
    featurestring.NAME: (featurestring.method, featurestring.Params),
    keywords.NAME: (keywords.method, keywords.Params),
}
"""Methods by name: their factories, and the classes of their parameters."""

DEFAULT: Final = combined.NAME

THRESHOLD = CALIBRATED
"""Default similarity from which a text is a duplicate."""


def method(name: str = DEFAULT, params: Mapping[str, object] | None = None) -> Method:
    """Build a method of `METHODS` or `module:name`; `ValueError` lists valid names."""
    if is_import_path(name):
        returned = plug_in(name, params, "duplicate method")()
        if not isinstance(returned, Method):
            raise ValueError(f"duplicate method {name!r} returned {type(returned).__name__}, not a Method")
        return returned
    if name not in METHODS:
        raise ValueError(f"unknown duplicate method {name!r}; known: {', '.join(sorted(METHODS))}, or module:name")
    make, kind = METHODS[name]
    return make(fill_params(kind, params, f"duplicate method {name!r}"))


__all__ = ["DEFAULT", "METHODS", "THRESHOLD", "Comparison", "IndexParams", "Method", "Signature", "method"]
