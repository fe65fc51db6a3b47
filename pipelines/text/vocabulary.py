"""Words of one crawl: new ones, and how rare each is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..models.files import ModelError, loads
from .frequencies import Frequencies, LearnedFrequencies, shipped
from .lexicon import Lexicon, read_lexicon


class Vocabulary(NamedTuple):
    lexicon: Lexicon
    frequencies: Frequencies


def load(path: str) -> Vocabulary:
    """Read a user's dictionary or a learned vocabulary; by default the start alone.

    `ValueError` says why it cannot be used.
    """
    if not path:
        return Vocabulary(Lexicon(), shipped())
    try:
        text = Path(path).read_text(encoding="utf-8")
        if text.startswith("{"):
            return loads(text, path, "lexicon").build(read)
        return Vocabulary(read_lexicon(text), shipped())
    except OSError as error:
        raise ValueError(f"the dictionary {path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"the dictionary {path} is not UTF-8; save it as that") from None
    except ModelError:
        raise
    except ValueError as error:
        raise ValueError(f"the dictionary {path}: {error}") from None


def read(model: Mapping[str, Any]) -> Vocabulary:
    counts = {str(term): int(count) for each in ("terms", "new") for term, count in model[each].items()}
    return Vocabulary(Lexicon(model["new"]), LearnedFrequencies(counts, int(model["documents"])))
