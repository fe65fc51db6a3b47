"""Shipped models: JSON beside this file, each with the command that made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

FORMAT: Final = 1
"""Number of the format; a file with another one is refused."""


def path(name: str) -> Path:
    """Return the path of the model `name`."""
    return Path(__file__).with_name(f"{name}.json")


@cache
def load(name: str) -> Mapping[str, Any]:
    """Return the shipped model `name`, read once per process.

    Args:
        name: of a JSON file in this folder.

    Returns:
        What `dumps` was given as the model.

    Raises:
        ValueError: the file is missing, broken or of another format; the message names the command that makes it.
    """
    try:
        found = json.loads(path(name).read_text(encoding="utf-8"))
        if found["format"] != FORMAT:
            raise ValueError(f"format {found['format']} instead of {FORMAT}")
        model: Mapping[str, Any] = found["model"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"the model {path(name)} cannot be used ({error}); scrapy train {name} makes it") from None
    return model


def describe(name: str) -> str:
    """Describe the model `name`: a digest of its file, the pages it was learned from."""
    data = path(name).read_bytes()
    return f"{blake2b(data, digest_size=6).hexdigest()}, learned from {json.loads(data)['pages']} pages"


def dumps(model: Mapping[str, object], made_by: str, notes: Mapping[str, object]) -> str:
    """Return the text of a model's file.

    Args:
        model: of strings, numbers, lists and mappings.
        made_by: the command.
        notes: figures worth keeping, such as the pages seen and the fitness reached.

    Returns:
        JSON, the same for the same arguments, with a line feed at its end.
    """
    made = {"format": FORMAT, "made_by": made_by, **notes, "model": model}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"
