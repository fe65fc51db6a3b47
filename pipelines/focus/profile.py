"""A user's profile from the structure of pages that were liked (S07)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ..document.document import Document
from ..models.files import ModelError, read
from ..records import Extraction
from .terms import list_texts, weigh

TERMS: Final = 30
"""Terms of a profile (S07)."""


def weigh_page(document: Document, extraction: Extraction) -> Mapping[str, float]:
    """Return the weight of each word of a page.

    Args:
        extraction: its article; empty for none, then all of the page counts.

    Returns:
        Word -> weight, positive.
    """
    return weigh(list_texts(document, extraction))


def learn(pages: Iterable[Mapping[str, float]], terms: int = TERMS) -> dict[str, float]:
    """Learn the profile of pages that were liked.

    Each page counts the same, however long it is.

    Args:
        pages: of each page, word -> weight; see `weigh_page`.
        terms: how many of the heaviest are kept.

    Returns:
        Word -> weight, the heaviest first, the largest 1.

    Raises:
        ValueError: no page has a word, or `terms` is less than 1.

    Cost: O(words of all pages).
    Source: 利用网页结构特征建立用户模型 (S07).
    Differs: the paper states the weight of the title alone; the graded rest, and the bonus of a text's beginning, are
        ours. Pages are brought to one length first.

    >>> learn([{"bridge": 4.0, "river": 3.0}, {"bridge": 1.0}], terms=1)
    {'bridge': 1.0}
    """
    if terms < 1:
        raise ValueError(f"terms is {terms}; it takes 1 or more")
    sums: Counter[str] = Counter()
    for page in pages:
        length = sum(weight * weight for weight in page.values()) ** 0.5
        for word, weight in page.items():
            sums[word] += weight / length
    if not sums:
        raise ValueError("the pages have no words to learn from")
    heaviest = sums.most_common(terms)
    most = heaviest[0][1]
    return {word: round(weight / most, 4) for word, weight in heaviest}


def load(path: Path) -> dict[str, float]:
    """Load a profile that `scrapy train profile` or a person wrote.

    Raises:
        ValueError: the file is missing or no such profile; the message names the command that makes one.
    """
    try:
        return read(path, "profile").build(_weights)
    except ModelError as error:
        raise ModelError(f"the profile {path} cannot be used ({error})") from None


def _weights(model: Mapping[str, Any]) -> dict[str, float]:
    profile = {str(word): float(weight) for word, weight in model.items()}
    if not profile or not all(0 < weight < 1e6 for weight in profile.values()):
        raise ValueError("its weights are no positive numbers")
    return profile
