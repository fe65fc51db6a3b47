"""Learning of words that tell text from adverts, imprints and login lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from ..extract.fusion import Params, WordModel, leaves, word_set
from .examples import Example
from .trained import Trained

MIN_TEXTS: Final = 3
"""Words of fewer texts are not looked at: they say something of a site, not of the class."""


def labelled_leaves(examples: Iterable[Example], params: Params) -> Iterator[tuple[str, bool]]:
    """Yield text and label of each leaf that step 4 will be asked about, of articles."""
    for example in examples:
        if example.article:
            for index in np.flatnonzero(leaves(example.document, params) & (example.weights > 0)):
                yield example.document.blocks.texts[index], bool(example.content[index])


def learn(texts: Iterable[tuple[str, bool]], count: int = 2000) -> WordModel:
    """Return the model of labelled texts, over the `count` words that tell most.

    Raises:
        ValueError: `count` below 1, or no texts of one of the classes.

    Source: Bernoulli naive Bayes with words chosen by information gain, stop words out (S12, step 4).
    """
    if count < 1:
        raise ValueError(f"count is {count}; 1 or more words can be kept")
    texts_with: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    sizes = [0, 0]
    for text, worthy in texts:
        sizes[worthy] += 1
        texts_with[worthy].update(word_set(text))
    if not all(sizes):
        raise ValueError(f"{sizes[1]} worthy and {sizes[0]} worthless texts; both are needed")
    common = [
        word
        for word in texts_with[0].keys() | texts_with[1].keys()
        if texts_with[0][word] + texts_with[1][word] >= MIN_TEXTS
    ]
    gains = {word: _gain((texts_with[0][word], texts_with[1][word]), (sizes[0], sizes[1])) for word in common}
    # Ties are broken by the word itself, so that the same texts give the same model.
    chosen = sorted(sorted(common, key=lambda word: (-gains[word], word))[:count])
    shares = [
        {word: (having[word] + 1) / (size + 2) for word in chosen}
        for having, size in zip(texts_with, sizes, strict=True)
    ]
    return WordModel(
        math.log(sizes[1] / sizes[0]),
        {word: math.log(shares[1][word] / shares[0][word]) for word in chosen},
        {word: math.log((1 - shares[1][word]) / (1 - shares[0][word])) for word in chosen},
    )


def _gain(having: tuple[int, int], sizes: tuple[int, int]) -> float:
    """Return the information gain, in nats, of a word in `having` of `sizes` texts."""
    total = sum(sizes)
    lacking = (sizes[0] - having[0], sizes[1] - having[1])
    return _entropy(sizes) - sum(sum(part) / total * _entropy(part) for part in (having, lacking))


def _entropy(counts: tuple[int, int]) -> float:
    total = sum(counts)
    return -sum(count / total * math.log(count / total) for count in counts if count)


def learn_model(pages: Iterable[Example], *, words: int) -> Trained:
    model = learn(labelled_leaves(pages, Params()), words)
    return Trained(model.model())
