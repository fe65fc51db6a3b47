"""Words and phrases of a text that may be its keywords."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..analysis import LATIN, NUMBER, PAIR, AnalysedText
from ..frequencies import Frequencies

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST: Final = 120
"""Candidates of a text at most: the best by frequency, rarity and place."""
MOST_WORDS: Final = 5
_MOST_LATIN_WORDS: Final = 4
_MOST_HAN_CHARS: Final = 12
_LONG_WORDS: Final = 300
"""Words of a text from which a phrase that stands there once, and not at the beginning, is no candidate."""
_TOP: Final = 10
"""Words with the most TF x IDF, by which coherence is judged."""
_BARRED: Final = frozenset("rpcuyoe")
"""First letters of jieba's tags that stand in no phrase: pronouns, prepositions, conjunctions, particles."""
_BARRED_TAGS: Final = frozenset({NUMBER, PAIR, "zg"})
_CLASSES: Final = {letter: number for number, letter in enumerate("nvabjlixdfsztqkhg", 1)}
_NAMES: Final = {"nr": 20, "ns": 21, "nt": 21, "nz": 22, "vn": 23, "ng": 17}
_OTHER_CLASS: Final = 25
_NO_WORD: Final = -1
_LATIN: Final = 30
_ENDINGS: Final = (
    ("ly", 1), ("ing", 2), ("ed", 3), ("tion", 4), ("sion", 4), ("ment", 4), ("ness", 4), ("ity", 4), ("ics", 4),
    ("ism", 4), ("ance", 4), ("ence", 4), ("ive", 5), ("al", 5), ("ic", 5), ("ous", 5), ("ble", 5), ("ful", 5),
    ("ary", 5), ("s", 6),
)  # fmt: skip
_WITH_DIGIT: Final = 7
_ADVERBIAL: Final = np.zeros(_LATIN + 10, bool)
"""Classes that end no phrase."""
_ADVERBIAL[[_CLASSES["d"], _CLASSES["f"]]] = True
_QUOTE: Final = re.compile('[“《"‘「『【]')

COLUMNS: Final = (
    "tf", "tf_share", "tfidf", "tfidf_rank", "idf_mean", "idf_min", "idf_max", "idf_last", "first", "first_sentence",
    "last", "in_title", "title_words", "lead", "opens", "words", "chars", "spread", "inside_longer", "most_word",
    "cohesion", "covers", "left", "right", "middle", "capital", "acronym", "quoted", "behind_stop", "before_stop",
    "degree_max", "degree_mean", "coherence", "han", "text_words", "text_sentences", "text_idf", "text_capital",
    "text_phrases", "opening",
)  # fmt: skip


_HAN: Final = COLUMNS.index("han")


@dataclass(frozen=True, slots=True, eq=False)
class KeywordCandidates:
    """Candidates of one text, a row each, the likeliest by TF x IDF first."""

    terms: tuple[str, ...]
    table: Floats

    @property
    def script(self) -> str:
        """Script of most candidates: "han" or "other"."""
        return "han" if self.table[:, _HAN].mean() > 0.5 else "other"

    def column(self, name: str) -> Floats:
        column: Floats = self.table[:, COLUMNS.index(name)]
        return column

    def rank(self, weights: Floats) -> list[tuple[str, float]]:
        """Return (term, weight), the heaviest first, of equal ones by TF x IDF."""
        order = np.argsort(-weights, kind="stable")
        best: dict[str, float] = {}
        for number, weight in zip(order.tolist(), weights[order].tolist(), strict=True):
            best.setdefault(self.terms[number], weight)
        return list(best.items())


def find(text: AnalysedText, frequencies: Frequencies) -> KeywordCandidates:
    """Find the candidates of a text, at most `MOST`.

    Chinese phrases have up to `MOST_WORDS` words without pronouns, particles and the like, those of other languages no
    stop word, number or punctuation inside. Cost: O(words); 0.9 ms for 1,000 Chinese characters.
    """
    none = KeywordCandidates((), np.zeros((0, len(COLUMNS))))
    if not len(text):
        return none
    rarity, opening = map(np.array, zip(*frequencies.look_up(text.vocabulary), strict=True))
    words = _Words(text, rarity[text.ids], opening[text.ids])
    if not words.inside.any():
        return none
    grams = _count_grams(words)
    chosen = _choose(grams, words)
    if not len(chosen):
        return none
    return KeywordCandidates(_spell(text, words, grams, chosen), _describe(text, words, grams, chosen))


class _Words:
    def __init__(self, text: AnalysedText, idf: Floats, opening: Floats) -> None:
        self.count, self.different = len(text), len(text.vocabulary)
        self.ids, self.idf, self.opening = text.ids, idf, opening
        self.telling, self.joined = text.is_telling, np.frombuffer(bytes(text.joined), np.bool_)
        self.starts, self.ends = (np.fromiter(places, np.int64, self.count) for places in (text.starts, text.ends))
        classes = {tag: _class_of_tag(tag) for tag in set(text.tags)}
        self.classes = np.fromiter(map(classes.__getitem__, text.tags), np.int64, self.count)
        self.latin = self.classes == _LATIN
        latin = list(compress(text.words, self.latin))
        endings = {word: _class_of_latin(word) for word in set(latin)}
        self.classes[self.latin] = list(map(endings.__getitem__, latin))
        self.capital = np.zeros(self.count, bool)
        self.capital[self.latin] = [text.text[at].isupper() for at in compress(text.starts, self.latin)]
        self.sentence = np.repeat(
            np.arange(len(text.sentences)), [sentence.last - sentence.first for sentence in text.sentences]
        )
        self.inside = self.telling & (self.classes != _NO_WORD)
        self.ending = self.inside & ~_ADVERBIAL[self.classes]
        self.tf = np.bincount(self.ids, minlength=self.different)
        quotes = [match.end() for match in _QUOTE.finditer(text.text)]
        self.quoted = np.isin(self.starts, quotes) if quotes else np.zeros(self.count, bool)
        self.title = text.title_words


@lru_cache(maxsize=1000)
def _class_of_tag(tag: str) -> int:
    if tag == LATIN:
        return _LATIN
    if tag in _BARRED_TAGS or tag[0] in _BARRED:
        return _NO_WORD
    return _NAMES.get(tag[:2]) or _CLASSES.get(tag[0], _OTHER_CLASS)


@lru_cache(maxsize=100_000)
def _class_of_latin(word: str) -> int:
    for ending, number in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return _LATIN + number
    return _LATIN + (_WITH_DIGIT if any(map(str.isdigit, word)) else 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Grams:
    """Different phrases of all lengths, and their occurrences, each in a row."""

    words: Ints
    first: Ints
    tf: Ints
    longer: Ints
    of: Ints
    at: Ints


def _count_grams(words: _Words) -> _Grams:
    end = np.minimum(np.arange(words.count)[:, None] + np.arange(MOST_WORDS), words.count - 1)
    goes_on = words.joined & words.inside
    fits = goes_on[end]
    fits[:, 0] = words.inside
    for length in range(1, MOST_WORDS):
        fits[words.count - length :, length] = False
    wide = words.ends[end] - words.starts[:, None] <= _MOST_HAN_CHARS
    wide[words.latin] = np.arange(MOST_WORDS) < _MOST_LATIN_WORDS
    wide[:, 0] = True
    fits = np.logical_and.accumulate(fits & wide, axis=1)
    keys = words.ids + 1
    columns = [keys]
    for length in range(1, MOST_WORDS):
        keys = keys * (words.different + 1) + words.ids[end[:, length]] + 1
        columns.append(keys)
    at, more = np.nonzero(fits)
    _, place, of, tf = np.unique(
        np.column_stack(columns)[fits], return_index=True, return_inverse=True, return_counts=True
    )
    numbers = np.zeros(fits.shape, np.int64)
    numbers[fits] = of
    longer = np.zeros(len(tf), np.int64)
    phrase = more > 0
    start, shorter = at[phrase], more[phrase] - 1
    np.maximum.at(longer, numbers[start, shorter], tf[of[phrase]])
    np.maximum.at(longer, numbers[start + 1, shorter], tf[of[phrase]])
    return _Grams(more[place] + 1, at[place], tf, longer, of, at)


def _choose(grams: _Grams, words: _Words) -> Ints:
    end = grams.first + grams.words - 1
    fits = words.ending[end] & ((grams.words > 1) | (words.ends[end] - words.starts[end] > 1))
    if words.count > _LONG_WORDS:
        lead = words.sentence[min(words.title, words.count - 1)] + 1
        fits &= (grams.words == 1) | (grams.tf > 1) | (words.sentence[grams.first] <= lead)
    usable = np.flatnonzero(fits)
    idf = _sums(words.idf, grams.first[usable], grams.words[usable]) / grams.words[usable]
    first = grams.first[usable]
    score = grams.tf[usable] * idf * np.where(grams.words[usable] > 1, 1.3, 1) * np.where(first < words.title, 2, 1)
    return usable[np.argsort(-score - 3 * np.exp(-first / 50), kind="stable")[:MOST]]


def _sums(values: Floats | Ints | NDArray[np.bool_], first: Ints, lengths: Ints) -> Floats:
    total = np.concatenate(([0.0], np.cumsum(values)))
    sums: Floats = total[first + lengths] - total[first]
    return sums


def _spell(text: AnalysedText, words: _Words, grams: _Grams, chosen: Ints) -> tuple[str, ...]:
    place = np.full(len(grams.words), words.count)
    behind = grams.at >= words.title
    np.minimum.at(place, grams.of[behind], grams.at[behind])
    place = np.where(place == words.count, grams.first, place)[chosen]
    ends = text.ends
    return tuple(
        " ".join(text.text[text.starts[at] : ends[at + length - 1]].split())
        for at, length in zip(place.tolist(), grams.words[chosen].tolist(), strict=True)
    )


def _describe(text: AnalysedText, words: _Words, grams: _Grams, chosen: Ints) -> Floats:
    first, size, tf = grams.first[chosen], grams.words[chosen], grams.tf[chosen]
    last = first + size - 1
    number = np.full(len(grams.words), -1)
    number[chosen] = np.arange(len(chosen))
    of = number[grams.of]
    at, of = grams.at[of >= 0], of[of >= 0]
    end = at + size[of]
    sentences = len(text.sentences)

    def mean(values: NDArray[Any]) -> Floats:
        means: Floats = np.bincount(of, values, len(chosen)) / tf
        return means

    window = np.minimum(first[:, None] + np.arange(MOST_WORDS), last[:, None])
    ids = words.ids[window]
    idfs, word_tf, degrees = words.idf[window], words.tf[ids], _degrees(words)[words.ids]
    idf = _sums(words.idf, first, size) / size
    tfidf = tf * idf
    rank = np.empty(len(chosen))
    rank[np.argsort(-tfidf, kind="stable")] = np.arange(len(chosen))
    in_sentence = np.zeros((len(chosen), sentences), bool)
    in_sentence[of, words.sentence[at]] = True
    latest = np.zeros(len(chosen))
    np.maximum.at(latest, of, at)
    in_title = np.zeros(words.different, bool)
    in_title[words.ids[: words.title]] = True
    apart = np.append(~words.joined, True)
    telling = np.append(words.telling, False)
    rare = np.zeros(words.different)
    rare[words.ids[words.telling]] = words.idf[words.telling]
    top = np.full(words.different, _TOP)
    top[np.argsort(-words.tf * rare, kind="stable")[:_TOP]] = np.arange(min(_TOP, words.different))
    tops = np.zeros((sentences, _TOP + 1), bool)
    tops[words.sentence[words.telling], top[words.ids[words.telling]]] = True
    sentence = words.sentence[first] - text.title_sentences
    acronym = np.zeros(len(chosen), bool)
    latin = np.flatnonzero(_sums(words.latin, first, size))
    acronym[latin] = [
        text.text[a:b].isupper()
        for a, b in zip(words.starts[first[latin]].tolist(), words.ends[last[latin]].tolist(), strict=True)
    ]
    table = np.empty((len(COLUMNS), len(chosen)))
    columns: tuple[Any, ...] = (
        np.log1p(tf),
        tf / tf.max(),
        tfidf / tfidf.max(),
        rank / len(chosen),
        idf,
        idfs.min(1),
        idfs.max(1),
        words.idf[last],
        first / words.count,
        sentence,
        latest / words.count,
        first < words.title,
        _sums(in_title[words.ids], first, size) / size,
        sentence <= 0,
        first == 0,
        size,
        words.ends[last] - words.starts[first],
        in_sentence.sum(1) / sentences,
        grams.longer[chosen] / tf,
        word_tf.max(1) / tf,
        tf / word_tf.min(1),
        tf * size / words.count,
        words.classes[first],
        words.classes[last],
        np.where(size > 2, words.classes[window[:, 1]], _NO_WORD),
        mean(words.capital[at]),
        acronym,
        mean(words.quoted[at]),
        mean(apart[at] | ~telling[at - 1]),
        mean(apart[end] | ~telling[end]),
        degrees[window].max(1),
        _sums(degrees, first, size) / size,
        mean(tops[:, :_TOP].sum(1)[words.sentence[at]]),
        ~words.latin[last],
        np.log(words.count),
        sentences,
        idf.mean(),
        words.capital.mean(),
        np.mean(size > 1),
        _sums(words.opening, first, size) / size,
    )
    for row, column in zip(table, columns, strict=True):
        row[:] = column
    return table.T


def _degrees(words: _Words) -> Floats:
    at = np.flatnonzero(words.telling)
    left, right = at[:-1], at[1:]
    near = (words.sentence[left] == words.sentence[right]) & (words.ids[left] != words.ids[right])
    one, other = words.ids[left[near]], words.ids[right[near]]
    edges = np.sort(np.minimum(one, other) * words.different + np.maximum(one, other), kind="stable")
    edges = edges[np.diff(edges, prepend=-1) > 0]
    ends = np.concatenate((edges // words.different, edges % words.different))
    degrees = np.bincount(ends, minlength=words.different).astype(np.float64)
    shares: Floats = degrees / max(1.0, degrees.max())
    return shares
