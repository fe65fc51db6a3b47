"""Files of models: JSON with kind, version, the command that made it, the model."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

VERSION: Final = 2
"""Version of the format; a file of another one is refused."""
_BROKEN: Final = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, zlib.error)
Model = TypeVar("Model")


class ModelError(ValueError):
    """A model cannot be used, or not be learned; the text says what to do."""


class ModelFile(NamedTuple):
    name: str
    kind: str
    model: Mapping[str, Any]

    def build(self, make: Callable[[Mapping[str, Any]], Model]) -> Model:
        """Make an object of the model; `ModelError` if the values do not fit."""
        try:
            return make(self.model)
        except _BROKEN as error:
            why = f"{type(error).__name__}: {error}"[:200]
            again = f"train it again with scrapy train {self.kind}"
            raise ModelError(f"{self.name} is broken ({why}); {again}") from None


def path(name: str) -> Path:
    return Path(__file__).with_name(f"{name}.json")


def load(name: str, make: Callable[[Mapping[str, Any]], Model]) -> Model:
    """Return what `make` makes of a shipped model, cached; `ModelError` if damaged."""
    built: Model = _load(name, make)
    return built


@cache
def _load(name: str, make: Callable[[Mapping[str, Any]], Any]) -> Any:
    kind = name.partition("_")[0]  # there are several of one kind, as keywords and keywords_bayes
    try:
        return read(path(name), kind).build(make)
    except ModelError as error:
        raise ModelError(f"the model {name} cannot be used: {error}") from None


def read(place: Path, *kinds: str) -> ModelFile:
    """Read the file of a model of one of some kinds; `ModelError` if it is not one."""
    try:
        text = place.read_bytes()
    except OSError as error:
        raise ModelError(f"{place} cannot be read: {error.strerror or error}; {_makes(kinds)}") from None
    return loads(text, str(place), *kinds)


def loads(text: str | bytes, name: str, *kinds: str) -> ModelFile:
    """Read a model of one of some kinds and this version, else `ModelError`."""
    problem = f"{name} is no model of {' or '.join(kinds)}"
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{problem}: it is not JSON; {_makes(kinds)}") from None
    model = header.get("model") if isinstance(header, dict) else None
    if not isinstance(model, dict):
        raise ModelError(f"{problem}; {_makes(kinds)}")
    kind, version = header.get("kind"), header.get("version")
    if "format" in header:  # a file of version 1, of which most named their kind in the model
        kind, version = model.get("kind", kinds[0]), 1
    if kind not in kinds:
        raise ModelError(f"{problem}; {_makes(kinds)}")
    if version != VERSION:
        again = f"train it again with scrapy train {kind}"
        raise ModelError(f"{name} has the version {version!r} instead of {VERSION}; {again}")
    return ModelFile(name, kind, model)


def dumps(kind: str, model: Mapping[str, object], made_by: str, notes: Mapping[str, object]) -> str:
    """Return the text of a model's file, the same for the same arguments.

    `made_by` is the command, `notes` are figures worth keeping, such as the number of pages.
    """
    header = {"kind": kind, "version": VERSION, "made_by": made_by, **notes, "model": model}
    return json.dumps(header, ensure_ascii=False, indent=1) + "\n"


def describe(name: str) -> str:
    """Describe a shipped model: a digest of its file, its number of pages."""
    data = path(name).read_bytes()
    return f"{blake2b(data, digest_size=6).hexdigest()}, learned from {json.loads(data)['pages']} pages"


def _makes(kinds: tuple[str, ...]) -> str:
    return f"scrapy train {'|'.join(kinds)} makes one"
