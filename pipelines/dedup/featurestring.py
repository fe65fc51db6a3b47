"""Near-duplicates by the characters around a page's keywords (S30)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from itertools import islice

from rapidfuzz.distance import LCSseq

from ..models import files
from ..text.analysis import analyse
from ..text.frequencies import shipped
from ..text.keywords import bayes
from ..text.words import words
from .normalize import UNSPACED, VERSION, build_tables
from .shape import IndexParams, Method
from .words import keyword_method, make_readable

NAME = "feature-string"


class By(StrEnum):
    """Choice of keywords: by naive Bayes (S22), or the most frequent words."""

    BAYES = "bayes"
    FREQUENCY = "frequency"


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of `feature-string`; the last ones are those of `IndexParams`.

    Attributes:
        by: "bayes", words and phrases by their probability to be keywords, or "frequency", the most frequent words.
        least_count, most_share: occurrences in the page below which, and share of its words above which, a word is no
            keyword.
        around, word_around: characters on either side of each occurrence of a keyword, without and with spaces.
        share: longest common subsequence over the longer length from which pages are near-duplicates.
        length_ratio: shorter over longer length of the texts from which a near-duplicate is "edited", not a part.
    """

    by: By = By.BAYES
    keywords: int = 10
    least_count: int = 2
    most_share: float = 0.2
    around: int = 2
    word_around: int = 8
    most_chars: int = 4_000
    share: float = 0.6
    length_ratio: float = 0.7
    most_stories: int = 1_000
    least_shared: int = 2
    candidates: int = 8


def method(params: Params = Params()) -> Method:
    """Build the method with some parameters.

    Two pages are compared by the longest common subsequence of the surroundings of their keywords: strings that are
    much shorter than the text and say how it is worded where it matters.

    Cost:    a signature takes 2 ms per 1,000 Chinese characters with rjieba, 0.7 by frequency; with jieba 2.3 more.
             A comparison O(length^2 / 64), 0.02 ms.
    Source:  S30, extraction of keywords and feature strings for the removal of duplicate pages: the keywords of S22
             (`keywords.bayes`) without those of extreme counts, the characters beside each occurrence, the longest
             common subsequence.
    Differs: the paper's subsequence is contiguous, in O(mn); here it has gaps, as one changed character would halve a
             contiguous one. Candidates come from an index of the keywords instead of comparing all pages. Words of
             one meaning are not merged: a signature must not depend on a user's file. By frequency instead of naive
             Bayes it finds more for less, see docs/duplicates.md; counts, sizes and threshold are ours, the paper
             prints none.
    """

    def describe(_: str, text: str) -> tuple[tuple[str, ...], str]:
        body = make_readable(text)
        ranked = _by_bayes(text, body, params) if params.by is By.BAYES else _by_frequency(body, params)
        keywords = tuple(islice(ranked, params.keywords))
        return keywords, _features(body, keywords, params)

    def measure(new: str, stored: str) -> float:
        return LCSseq.normalized_similarity(new, stored) if new else 0.0

    index = IndexParams(params.most_stories, params.least_shared, 0.0, params.keywords, params.candidates)
    by = "" if params.by is By.FREQUENCY else f" {params.by} {_models()}"
    form = f"feature-string{by} {params.keywords} {params.least_count} {params.most_share}, {VERSION}"
    return keyword_method(
        NAME, form, index, describe=describe, measure=measure, pivot=params.share, length_ratio=params.length_ratio
    )


def _by_frequency(body: str, params: Params) -> Iterator[str]:
    counts = Counter(words(body))
    most = max(params.least_count, params.most_share * counts.total())
    ranked = ((-count, word) for word, count in counts.items() if params.least_count <= count <= most)
    yield from (word for _, word in sorted(ranked))


def _by_bayes(text: str, body: str, params: Params) -> Iterator[str]:
    analysed = analyse("", text)
    most = max(params.least_count, params.most_share * analysed.counts.total())
    for term, _ in bayes.extract(analysed, shipped()):
        word = make_readable(term).strip()
        if word and params.least_count <= body.count(word) <= most:
            yield word


@cache
def _models() -> str:
    """Return the version of the models that choose keywords: others choose other ones."""
    contents = b"".join(files.path(name).read_bytes() for name in ("keywords_bayes", "frequencies"))
    return blake2b(contents, digest_size=4).hexdigest()


def _features(text: str, keywords: tuple[str, ...], params: Params) -> str:
    if not keywords:
        return ""
    pattern = re.compile("|".join(map(re.escape, sorted(keywords, key=lambda word: (-len(word), word)))))
    unspaced = build_tables().kind[ord(keywords[0][0])] == UNSPACED
    around = params.around if unspaced else params.word_around
    codes = (
        text[max(0, match.start() - around) : match.start()] + text[match.end() : match.end() + around]
        for match in pattern.finditer(text)
    )
    return "".join(codes)[: params.most_chars]
