"""Parameters that a user gives by name: checked against the class that holds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any


def fill_params(kind: type, params: Mapping[str, object] | None, owner: str) -> Any:
    """Build a parameter object.

    Args:
        kind: a dataclass with a default for every field.
        params: values for some fields; the others keep their defaults.
        owner: whose parameters these are, for the message.

    Raises:
        ValueError: unknown name or impossible value; the message says what is allowed.
    """
    known = {item.name: item.default for item in fields(kind)}
    for key in params or {}:
        if key not in known:
            raise ValueError(f"{owner} has no parameter {key!r}; known: {', '.join(known)}")
    return kind(**{key: _value(owner, key, value, known[key]) for key, value in (params or {}).items()})


def _value(owner: str, key: str, value: object, default: object) -> object:
    """Check a parameter's value by its default: an enum's name, or a number."""
    where = f"parameter {key!r} of {owner} is {value!r}; it takes"
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
