"""Result of a training, as `scrapy train` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple


class Trained(NamedTuple):
    """A model as JSON keeps it, figures noted beside it, and a report if there is one."""

    model: Mapping[str, object]
    notes: Mapping[str, object] = {}
    report: object = None


def require(package: str) -> None:
    """Refuse to train (`ValueError`) without a package, before pages are read."""
    try:
        import_module(package)
    except ImportError:
        raise ValueError("training networks needs scikit-learn: uv sync --extra train") from None
