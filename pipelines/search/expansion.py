"""Expansion of a query by words that go with its own in what was found (S35)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from ..text.words import search_words, words

_SENTENCE_END: Final = re.compile(r"[。！？；!?;\n]|\.(?=\s)")
_READ_CHARS: Final = 6_000


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of expansion.

    Attributes:
        words: most words that are added.
        least: least similarity of an added word, in [0, 1].
        sentences, texts: fewest sentences that it shares with words of the query, and texts that have it.
        weight: of an added word in the query, beside that of one that was written, times its similarity.
    """

    words: int = 3
    least: float = 0.35
    sentences: int = 3
    texts: int = 2
    weight: float = 0.3


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
