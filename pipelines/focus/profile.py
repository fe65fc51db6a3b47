"""A user's profile from pages that were liked (S07) or read for long (S38)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..document.document import Document
from ..models.files import ModelError, read
from ..records import Extraction
from .terms import TITLE, list_texts, weigh

READERS: Final = "readers"
"""PROFILE whose words are those of articles that readers stay with."""
TERMS: Final = 30
"""Terms of a profile (S07)."""
_NAMED: Final = 3
_SAID: Final = 5
"""Articles named as reasons, and words of each."""


class LikedArticle(NamedTuple):
    """Article that was opened; `liking` is above 0 if it was read longer than usual."""

    title: str
    text: str
    liking: float


class ProfileSource(NamedTuple):
    title: str
    words: Sequence[str]


def learn(pages: Iterable[tuple[Mapping[str, float], float]], terms: int = TERMS) -> dict[str, float]:
    """Learn a profile from the weights of words in pages, and what each page counts.

    Pages are brought to one length first; the heaviest word comes first, with weight 1. Empty if no page has a word.

    >>> learn([({"bridge": 4.0, "river": 3.0}, 0.5), ({"bridge": 1.0}, 0.2)])
    {'bridge': 1.0, 'river': 0.5}
    """
    sums: Counter[str] = Counter()
    for page, share in pages:
        length = sum(weight * weight for weight in page.values()) ** 0.5
        for word, weight in page.items():
            sums[word] += share * weight / length
    heaviest = sums.most_common(terms)
    return {word: round(weight / heaviest[0][1], 4) for word, weight in heaviest}


def of_readers(articles: Iterable[LikedArticle]) -> dict[str, float]:
    """Learn a profile from articles that readers stayed with; empty if there are none.

    An article counts by its relevance above that of one read for the usual time. Cost: 1 ms an article.

    Source: S38, 基于用户访问行为 of the survey; profile after S07, relevance from dwell times after S36.
    Differs: the survey names the family of methods and gives no formula.
    """
    return learn((_weights_of(one), one.liking) for one in articles if one.liking > 0)


def reasons(articles: Sequence[LikedArticle], text: str) -> list[ProfileSource]:
    """Return the articles that brought a text's words into the profile of readers.

    Those that brought most come first.
    """
    profile = of_readers(articles)
    shared = profile.keys() & weigh([(text, 1.0)]).keys()
    brought = []
    for one in articles:
        weights = _weights_of(one) if one.liking > 0 else {}
        length = sum(weight * weight for weight in weights.values()) ** 0.5
        words = {word: weights[word] * profile[word] for word in shared & weights.keys()}
        if words:
            said = sorted(words, key=lambda word: (-words[word], word))[:_SAID]
            brought.append((one.liking * sum(words.values()) / length, ProfileSource(one.title, said)))
    return [reason for _, reason in sorted(brought, key=lambda each: -each[0])[:_NAMED]]


def _weights_of(article: LikedArticle) -> Mapping[str, float]:
    return weigh([(article.title, 1.0 + TITLE), (article.text, 1.0)])


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
