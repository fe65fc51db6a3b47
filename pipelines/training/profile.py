"""Learning of a user's profile from pages that were liked (S07)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..focus import profile
from ..focus.profile import TERMS
from .trained import Trained


def learn(pages: Iterable[Mapping[str, float]], terms: int = TERMS) -> dict[str, float]:
    """Learn the profile of pages that were liked, from the words' weights in each.

    Each page counts the same, however long it is; the heaviest word comes first, with weight 1. `ValueError`: no page
    has a word, or `terms` is less than 1.

    Source: 利用网页结构特征建立用户模型 (S07).
    Differs: the paper states the weight of the title alone; the graded rest, and the bonus of a text's beginning, are
        ours. Pages are brought to one length first.

    >>> learn([{"bridge": 4.0, "river": 3.0}, {"bridge": 1.0}], terms=1)
    {'bridge': 1.0}
    """
    if terms < 1:
        raise ValueError(f"terms is {terms}; it takes 1 or more")
    learned = profile.learn(((page, 1.0) for page in pages), terms)
    if not learned:
        raise ValueError("the pages have no words to learn from")
    return learned


def learn_model(pages: Iterable[Mapping[str, float]], *, terms: int) -> Trained:
    return Trained(learn(pages, terms))
