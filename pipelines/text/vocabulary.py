"""Words of one crawl: new ones, and how rare each is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..models.files import ModelError, loads
from .analysis import AnalysedText
from .frequencies import Frequencies, LearnedFrequencies, shipped
from .lexicon import Lexicon, read_lexicon
from .new_words import NewWords

_LEAST_DOCUMENTS: Final = 2
"""Documents that have a term, at least; a rarer one is as rare as at the start."""


class Vocabulary(NamedTuple):
    """Words that texts are cut by and weighed by.

    Attributes:
        lexicon: Chinese words beside those of the dictionary.
        frequencies: how rare terms are.
    """

    lexicon: Lexicon
    frequencies: Frequencies


def load(path: str) -> Vocabulary:
    """Read a user's dictionary (`read_lexicon`), or a learned vocabulary (`learn`).

    Without a path it is the start alone.

    Raises:
        ValueError: it cannot be used; the message says why.
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


def learn(texts: Iterable[AnalysedText]) -> dict[str, object]:
    """Learn new words and document frequencies from the texts of a crawl.

    Args:
        texts: analysed without the words that they shall give.

    Returns:
        The model as JSON can keep it, the same for the same texts.

    Raises:
        ModelError: there are no texts.

    Cost: 1 ms for 1,000 Chinese characters, and 100 MB at most.
    """
    words, frequencies = NewWords(), LearnedFrequencies()
    for text in texts:
        words.learn(text)
        frequencies.learn(text.telling_terms())
    if not frequencies.documents:
        raise ModelError("there are no texts to learn from")
    # a new word was not cut yet: at most as many documents as occurrences have it
    new = {found.word: min(found.count, frequencies.documents) for found in words.find()}
    terms = {term: count for term, count in frequencies.counts.items() if count >= _LEAST_DOCUMENTS}
    return {
        "documents": frequencies.documents,
        "new": new,
        "terms": dict(sorted(terms.items(), key=lambda each: (-each[1], each[0]))),
    }


def read(model: Mapping[str, Any]) -> Vocabulary:
    """Return the vocabulary that `learn` described."""
    counts = {str(term): int(count) for each in ("terms", "new") for term, count in model[each].items()}
    return Vocabulary(Lexicon(model["new"]), LearnedFrequencies(counts, int(model["documents"])))
