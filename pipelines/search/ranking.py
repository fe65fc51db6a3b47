"""Relevance to a query: BM25F, best passages, likeness to the best."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from ..text.words import fold
from .passages import Occurrence, find_places, is_han, sentence_ends, sentence_of
from .query import QueryTerm
from .terms import BODY_SHIFT, DESCRIPTION, HASH_SHIFT, LEAD, MOST_IN_BODY, NAMES, TAGS, TITLE, Packed, hash_token

Values = npt.NDArray[np.float64]

_PASSAGE_CHARS: Final = 6_000
_COMPARED: Final = 100
"""Best articles that are compared with the very best."""
_NEAR_CHARS: Final = 20
_CLOSE_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters: one set for all languages, found as docs/search.md tells.

    Attributes:
        k1: how soon more occurrences stop to count.
        b: how much long fields are marked down, 0 to 1.
        title: weight of an occurrence in the title, in those of one in the body.
        other, lead: of one in authors or source, and in the first characters of the body, beside that in the body.
        description, tags: of one in the page's own description, and in its tags and keywords; beside that in the body.
        rarity: power of the rarity of a word; below 1 frequent words count more.
        sentence: weight of the best sentence.
        part: share of a Chinese word's weight that a sentence has which holds its characters, but not the word.
        first: by how much the first sentence counts more.
        close, near: weight of neighbours in the query that are neighbours, or near in any order, in the text.
        exact: of a word with accents or in other letters than Latin ones that stands in the text as in the query.
        like, like_terms: most that likeness to the best may add, in scores of the best, and terms that count for it.
    """

    k1: float = 1.2
    b: float = 0.7
    title: float = 1.5
    other: float = 1.0
    lead: float = 1.0
    description: float = 0.25
    tags: float = 1.0
    rarity: float = 0.9
    sentence: float = 0.6
    part: float = 0.7
    first: float = 0.2
    close: float = 0.5
    near: float = 0.25
    exact: float = 0.2
    like: float = 0.3
    like_terms: int = 30


def weigh(
    terms: Sequence[QueryTerm], frequencies: Mapping[str, float], documents: int, params: Params = Params()
) -> Values:
    """Return the weight of each term of a query: its own, and how rare it is."""
    weights = []
    for term in terms:
        df = min(sum(frequencies.get(token, 0.0) for token in term.tokens), documents)
        weights.append(term.weight * math.log(1 + (documents - df + 0.5) / (df + 0.5)) ** params.rarity)
    return np.array(weights, np.float64)


def score(terms: Sequence[QueryTerm], weights: Values, packed: Packed, params: Params = Params()) -> Values:
    """Return how well articles fit a query by BM25F: 0 or more.

    BM25 of one weighted field (Robertson, Zaragoza and Taylor, *Simple BM25 extension to multiple weighted fields*,
    2004): occurrences are added over the fields before they are damped, so a word in title and body counts less than
    two.

    Cost: O(terms of the articles), 5 ms for 1,000 of 1,000 characters.
    Source: S35; Robertson and Zaragoza, *The Probabilistic Relevance Framework*, 2009, section 3.6.
    Differs: S35 has the vector space model with a selection of its dimensions, without a formula; BM25F is ours. The
        first characters of the body count as a field of their own; stored counts stop at 15 in the body and at 1 in
        other fields, of which only title and body are marked down by length.
    """
    articles = len(packed.starts)
    if not terms or not articles:
        return np.zeros(articles)
    pairs = sorted((hash_token(token), n) for n, term in enumerate(terms) for token in term.tokens)
    owners = np.array([n for _, n in pairs], np.int64)
    at, place = _matches(np.array([hashed for hashed, _ in pairs], np.uint32), packed.numbers)
    article = np.searchsorted(packed.ends, at, "right")
    inside = at >= packed.starts[article]
    at, article, term = at[inside], article[inside], owners[place[inside]]
    table = np.zeros((articles, len(terms)))
    np.maximum.at(table, (article, term), _damped(packed.numbers[at], article, packed, params))
    return np.asarray(table @ weights, np.float64)


def likeness(
    terms: Sequence[QueryTerm], scores: Values, best: Sequence[int], packed: Packed, params: Params = Params()
) -> Values:
    """Return how much articles have in common with the best, to add to their scores.

    Terms that the best have often and others seldom tell of the subject, too (pseudo-relevance feedback). Of a question
    with one answer the first article is mostly it: it gets as much as any and stays first, and what follows is
    reordered. All but the first hundred have 0. Cost: O(terms of a hundred articles), 1 ms.

    Source: Robertson, *On term selection for query expansion*, 1990; Abdul-Jaleel et al., *UMass at TREC 2004*, RM3.
    Differs: terms are rare or not among the hundred best articles; they are weighed like those of the query.
    """
    compared = np.union1d(np.argsort(-scores, kind="stable")[:_COMPARED], best)
    sizes = packed.ends[compared] - packed.starts[compared]
    numbers = np.concatenate([packed.numbers[packed.starts[n] : packed.ends[n]] for n in compared.tolist()])
    owner = np.repeat(compared, sizes)
    share = np.zeros(len(scores))
    share[best] = scores[best] / max(1e-9, float(scores[best].sum()))
    asked = [hash_token(token) for term in terms for token in term.tokens]
    hashes = np.setdiff1d(numbers[share[owner] > 0] >> HASH_SHIFT, np.array(asked, np.uint32))
    if not hashes.size:
        return np.zeros(len(scores))
    at, place = _matches(hashes, numbers)
    article = owner[at]
    damped = _damped(numbers[at], article, packed, params)
    held = np.bincount(place)
    values = np.bincount(place, damped * share[article]) * np.log(1 + (len(compared) - held + 0.5) / (held + 0.5))
    values[np.argsort(-values, kind="stable")[params.like_terms :]] = 0
    added = np.asarray(np.bincount(article, damped * values[place], len(scores)), np.float64)
    added *= params.like * float(scores.max()) / max(1e-9, float(added.max()))
    added[best[0]] = added.max()
    return added


def _matches(
    hashes: npt.NDArray[np.uint32], numbers: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the places of packed numbers with these hashes, and which they have."""
    low = np.zeros(1 << 16, np.bool_)
    low[hashes & 0xFFFF] = True
    at = np.flatnonzero(low[numbers >> HASH_SHIFT & 0xFFFF])
    hashed = numbers[at] >> HASH_SHIFT
    place = np.minimum(np.searchsorted(hashes, hashed), len(hashes) - 1)
    matching = hashes[place] == hashed
    return at[matching], place[matching]


def _damped(numbers: npt.NDArray[np.uint32], article: npt.NDArray[np.int64], packed: Packed, params: Params) -> Values:
    in_body = (numbers >> BODY_SHIFT & MOST_IN_BODY) + params.lead * (numbers & LEAD > 0)
    counts = (
        in_body / _norms(packed.body_lengths, params.b)[article]
        + params.title * (numbers & TITLE > 0) / _norms(packed.title_lengths, params.b)[article]
        + params.other * (numbers & NAMES > 0)
        + params.description * (numbers & DESCRIPTION > 0)
        + params.tags * (numbers & TAGS > 0)
    )
    return np.asarray(counts * (params.k1 + 1) / (counts + params.k1), np.float64)


def _norms(lengths: npt.NDArray[np.int64], b: float) -> Values:
    mean = float(lengths.mean()) or 1.0
    norms: Values = np.maximum(1 - b + b * lengths / mean, 0.1)
    return norms


def passage(terms: Sequence[QueryTerm], weights: Values, text: str, language: str, params: Params = Params()) -> float:
    """Return how well the best passage of a text fits a query, to add to `score`.

    The sentence with most of the query counts, and words that are neighbours in query and text. Cost: 0.2 ms for 1,000
    characters, of which 6,000 are read.
    """
    folded = fold(text[:_PASSAGE_CHARS])
    places = find_places(folded, terms, language)
    if not places:
        return 0.0
    best = _best_sentence(folded, places, terms, weights, params) + _neighbours(places, terms, weights, params)
    exact = {place.term for place in places if folded[place.start : place.end] == terms[place.term].written}
    return best + params.exact * float(sum(weights[term] for term in exact))


def _best_sentence(
    folded: str, places: Sequence[Occurrence], terms: Sequence[QueryTerm], weights: Values, params: Params
) -> float:
    ends = sentence_ends(folded)
    borders = [0, *ends, len(folded)]
    words = [(number, term.tokens[0]) for number, term in enumerate(terms) if term.is_word and is_han(term.tokens[0])]
    terms_of: dict[int, set[int]] = {}
    for place in places:
        terms_of.setdefault(sentence_of(ends, place.start), set()).add(place.term)
    best = 0.0
    for number, matched in terms_of.items():
        sentence = folded[borders[number] : borders[number + 1]]
        held = sum(weights[term] for term in matched)
        for term, word in words:
            if term not in matched:
                held += params.part * weights[term] * sum(sign in sentence for sign in word) / len(word)
        best = max(best, float(held) * (1 + params.first * (number == 0)))
    return params.sentence * best


def _neighbours(places: Sequence[Occurrence], terms: Sequence[QueryTerm], weights: Values, params: Params) -> float:
    words = [number for number, term in enumerate(terms) if term.is_word]
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for place in places:
        starts.setdefault(place.term, []).append(place.start)
        ends.setdefault(place.term, []).append(place.end)
    total = 0.0
    for one, other in pairwise(words):
        if one not in starts or other not in starts:
            continue
        followers = starts[other]
        close = sum(_has(followers, end, end + _CLOSE_CHARS) for end in ends[one])
        near = sum(_has(followers, end - _NEAR_CHARS, end + _NEAR_CHARS) for end in ends[one])
        nearness = params.close * close / (close + 1) + params.near * near / (near + 1)
        total += min(weights[one], weights[other]) * nearness
    return total


def _has(ascending: Sequence[int], first: int, last: int) -> bool:
    at = bisect_left(ascending, first)
    return at < len(ascending) and ascending[at] <= last
