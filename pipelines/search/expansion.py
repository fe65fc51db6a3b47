"""Expansion of a query by synonyms, and by words that go with its own (S35)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ..text.synonyms import load, read_synonyms
from ..text.words import fold, search_words, words

SynonymsOf = Mapping[str, Sequence[tuple[str, float]]]
"""Folded word -> its synonyms with their closeness, in (0, 1]."""

_SENTENCE_END: Final = re.compile(r"[。！？；!?;\n]|\.(?=\s)")
_READ_CHARS: Final = 6_000


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of expansion.

    Attributes:
        words: most words that are added, beside as many synonyms.
        least: least similarity of an added word, in [0, 1].
        sentences, texts: fewest sentences that it shares with words of the query, and texts that have it.
        weight: of an added word in the query, beside that of one that was written, times its similarity.
    """

    words: int = 3
    least: float = 0.35
    sentences: int = 3
    texts: int = 2
    weight: float = 0.3


def load_synonyms(path: str) -> SynonymsOf:
    """Read a user's file of synonyms, see `read_synonyms`; none for an empty path.

    Raises:
        ValueError: the file cannot be read, or a line is wrong.
    """
    return synonyms_of_words(load(path, "synonyms", read_synonyms)) if path else {}


def synonyms_of_words(pairs: Mapping[tuple[str, str], float]) -> SynonymsOf:
    """Arrange pairs of synonyms by each of their words.

    >>> synonyms_of_words({("酒店", "賓館"): 0.9})
    {'酒店': [('宾馆', 0.9)], '宾馆': [('酒店', 0.9)]}
    """
    found: dict[str, list[tuple[str, float]]] = {}
    for (first, second), closeness in pairs.items():
        one, other = fold(first), fold(second)
        if one != other:
            found.setdefault(one, []).append((other, closeness))
            found.setdefault(other, []).append((one, closeness))
    return found


def synonyms(asked: Iterable[str], known: SynonymsOf, params: Params = Params()) -> list[tuple[str, float]]:
    """Return the synonyms of a query's words, the closest first.

    Source: S35, 查询扩展 by 同义词.

    >>> synonyms(["Hotels"], {"hotel": [("inn", 0.9)]})
    [('inn', 0.9)]
    """
    forms = {form for word in asked for form in (fold(word), *search_words(word))}
    best: dict[str, float] = {}
    for form in forms if known else ():
        for word, closeness in known.get(form, ()):
            if word not in forms:
                best[word] = max(closeness, best.get(word, 0.0))
    return sorted(best.items(), key=lambda one: (-one[1], one[0]))[: params.words]


def related_words(asked: Iterable[str], texts: Sequence[str], params: Params = Params()) -> list[tuple[str, float]]:
    """Return words that go with those of a query, the most similar first.

    Words are vectors over the sentences of the texts, 1 where they stand; the similarity is the cosine of a word and
    all words of the query together: sentences with both over the root of the product of those with either. Cost: 1 ms a
    text of 1,000 characters.

    Source: S35, 查询扩展 by 词向量模型; Xu and Croft, *Query expansion using local and global document analysis*, 1996.
    Differs: S35 names vectors of words, and no model: ours are over sentences of the best articles found, so they are
        of the crawl's own words in the sense of the query, and nothing is stored.

    >>> related_words(["port"], ["ships in port; a port with ships", "Ships at port. Cars."])
    [('ship', 1.0)]
    """
    query = set(chain.from_iterable(map(search_words, asked)))
    alone: Counter[str] = Counter()
    shared: Counter[str] = Counter()
    held: Counter[str] = Counter()
    with_query = 0
    for text in texts:
        in_text: set[str] = set()
        for sentence in _SENTENCE_END.split(text[:_READ_CHARS]):
            there = set(words(sentence))
            alone.update(there)
            in_text |= there
            if query & there:
                with_query += 1
                shared.update(there)
        held.update(in_text)
    found = [
        (word, times / (alone[word] * with_query) ** 0.5)
        for word, times in shared.items()
        if word not in query and times >= params.sentences and held[word] >= params.texts
    ]
    return sorted((one for one in found if one[1] >= params.least), key=lambda one: (-one[1], one[0]))[: params.words]
