"""A user's profile from the structure of pages that were liked (S07)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..document.document import Document
from ..models.files import ModelError, read
from ..records import Extraction
from .terms import list_texts, weigh


def weigh_page(document: Document, extraction: Extraction) -> Mapping[str, float]:
    """Return the positive weight of each word of a page, or of its article if any."""
    return weigh(list_texts(document, extraction))


def load(path: Path) -> dict[str, float]:
    """Load a profile; `ValueError` names the command that makes one."""
    try:
        return read(path, "profile").build(_weights)
    except ModelError as error:
        raise ModelError(f"the profile {path} cannot be used ({error})") from None


def _weights(model: Mapping[str, Any]) -> dict[str, float]:
    profile = {str(word): float(weight) for word, weight in model.items()}
    if not profile or not all(0 < weight < 1e6 for weight in profile.values()):
        raise ValueError("its weights are no positive numbers")
    return profile
