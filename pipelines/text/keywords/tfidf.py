"""Keywords by frequency in the text and rarity elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from ..analysis import AnalysedText
from ..frequencies import Frequencies
from .candidates import find

NAME = "tfidf"


@dataclass(frozen=True, slots=True)
class Params:
    """Further weight of a term of the title, and of a phrase."""

    title: float = 1.0
    phrase: float = 0.0


DEFAULTS = Params()


def extract(text: AnalysedText, frequencies: Frequencies, params: Params = DEFAULTS) -> list[tuple[str, float]]:
    """Return (term, weight) of candidates by TF x IDF, the heaviest first.

    The weight is in [0, 1 + title + phrase]; the rarity of a phrase is the mean of its words'.

    Cost:    O(words); 1 ms for 1,000 Chinese characters.
    Source:  G. Salton, C. Buckley, Term-weighting approaches in automatic text retrieval, 1988.
    Differs: of `candidates`, phrases too.
    """
    candidates = find(text, frequencies)
    boost = 1 + params.title * candidates.column("in_title") + params.phrase * (candidates.column("words") > 1)
    return candidates.rank(candidates.column("tfidf") * boost)
