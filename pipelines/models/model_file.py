"""Files of learned models of texts: JSON whose "model" names its kind and version."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

VERSION: Final = 1
"""A model of another one is refused."""
KINDS: Final = ("classes", "keywords", "harmful", "lexicon")
"""Kinds of models: `scrapy train` makes each under its name."""


class ModelError(ValueError):
    """A model cannot be used, or not be learned; the text says what to do."""


def loads(text: str | bytes, name: str, *kinds: str) -> Mapping[str, Any]:
    """Return the model in a file's text.

    Args:
        text: JSON with a model as its "model".
        name: of the file, for messages.
        kinds: those that are wanted; by default any.

    Raises:
        ModelError: it is none of these, or of another version.
    """
    kinds = kinds or KINDS
    problem = f"{name} is no model of {' or '.join(kinds)}"
    makes = f"scrapy train {'|'.join(kinds)} makes one"
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"{problem}: it is not JSON; {makes}") from None
    found = read.get("model") if isinstance(read, dict) else None
    if not isinstance(found, dict) or found.get("kind") not in kinds:
        raise ModelError(f"{problem}; {makes}")
    if found.get("version") != VERSION:
        raise ModelError(f"{name} has the version {found.get('version')!r} instead of {VERSION}; train it again")
    return found


def load(path: Path, *kinds: str) -> Mapping[str, Any]:
    """Read the model of a file.

    Raises:
        ModelError: it cannot be read; or as `loads`.
    """
    try:
        return loads(path.read_bytes(), str(path), *kinds)
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from None


@contextmanager
def refused_if_broken(name: str) -> Iterator[None]:
    """Turn what goes wrong while a model is read into one sentence.

    Raises:
        ModelError: saying it.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, zlib.error) as error:
        why = f"{type(error).__name__}: {error}"
        raise ModelError(f"{name} is broken ({why[:200]}); train it again") from None
