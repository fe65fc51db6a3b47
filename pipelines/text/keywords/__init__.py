"""Keywords of an article, by one of several methods.

Each is one entry of `METHODS`. A method gets the analysed text and how rare terms are, and returns (term, weight), the
heaviest first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ...models.files import ModelFile
from ...params import fill_params, is_import_path, plug_in
from ..analysis import AnalysedText
from ..frequencies import Frequencies
from . import bayes, combined, network, tfidf
from .candidates import find

Method = Callable[[AnalysedText, Frequencies], list[tuple[str, float]]]

METHODS: Final[dict[str, tuple[Callable[..., list[tuple[str, float]]], type]]] = {
    combined.NAME: (combined.extract, combined.Params),
    bayes.NAME: (bayes.extract, bayes.Params),
    network.NAME: (network.extract, network.Params),
    tfidf.NAME: (tfidf.extract, tfidf.Params),
}

LEARNED: Final = {combined.NAME: combined, bayes.NAME: bayes}
DEFAULT: Final = combined.NAME
FILES: Final = frozenset({"synonyms", "glosses"})
"""Parameters that are paths of files."""


def method(name: str = DEFAULT, params: Mapping[str, object] | None = None) -> Method:
    """Return a method with `params` filled in; `ValueError` lists the right names.

    `module:name` is a function from outside the project, which gets the text alone.
    """
    if is_import_path(name):
        plugged_in = plug_in(name, params, "keyword method", takes="a text")
        return lambda text, _: plugged_in(text)
    if name not in METHODS:
        raise ValueError(f"unknown keyword method {name!r}; known: {', '.join(sorted(METHODS))}, or module:name")
    extract, kind = METHODS[name]
    return partial(extract, params=fill_params(kind, params, f"keyword method {name!r}"))


def read(file: ModelFile) -> Method:
    """Return the method that a model describes; `ModelError` if it is broken."""

    def make(model: Mapping[str, Any]) -> Method:
        by = LEARNED[model["method"]]
        return partial(_extract, by.rank, by.read(model))

    return file.build(make)


def _extract(
    rank: Callable[..., list[tuple[str, float]]], models: object, text: AnalysedText, frequencies: Frequencies
) -> list[tuple[str, float]]:
    return rank(find(text, frequencies), models)
