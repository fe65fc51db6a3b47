"""Texts as vectors: words and runs of characters, every language in one space.

A term is kept as a number of 32 bits: its view (words, runs of two characters, ...) and the hash of its characters.
Runs of characters are hashed by numpy, many times faster than strings are cut and looked up.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..analysis import AnalysedText
from ..words import MAX_CHARS, code_points, cut_han, english_stem, find_han, fold, other_word_list, without_han

Numbers = NDArray[np.float64]
Columns = NDArray[np.intp]
Ids = NDArray[np.uint32]

TAG_WEIGHTS: Final[Mapping[str, float]] = {
    "title": 4.0, "h1": 3.0, "h2": 2.0, "h3": 1.5, "strong": 1.0, "b": 1.0, "em": 0.5, "i": 0.5,
}  # fmt: skip
"""Further occurrences that a word in such an element counts for."""
_TITLE_CHARS: Final = 1000
_SPACE = re.compile(r"\s+")
_DIGIT = re.compile(r"\d")
_HAN_STRETCH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff][^a-z]*")
"""Chinese with its punctuation, up to the next Latin letter."""
_GRAMS: Final = 3
_END_CHARS: Final = 40
"""Characters at either end of a text whose runs count as terms of their own, too."""
_WORD, _WRITTEN, _CHAR, _PAIR, _BEGIN, _END, _FORM = range(7)
"""Views of a text: words, words as they are written between blanks, Chinese characters, pairs of them, runs at the
beginning and the end, runs of the form."""
_SHARES: Final = np.array([1.5, 0.5, 1.0, 1.0, 1.0, 1.0, 0.5])
"""Share of each view in the vector of a text that has all."""
_HASH_BITS: Final = np.uint32(29)
"""The bits above are the view."""
_HAN: Final = ord("汉")
_FIRST: Final = np.uint32(0x9E3779B1)
_NEXT: Final = np.uint32(0x85EBCA6B)


class Text(NamedTuple):
    """A text that has a class, or shall get one.

    Attributes:
        marked: (tag, text) of what the page puts forward, its tag a key of `TAG_WEIGHTS`.
        edges: how often the page's tree has an edge, named "parent>child"; empty when there is no page.
        depths: a word of the page -> its weight by depth and order, from `structure.place`.
        analysed: the same title and text; without it the Chinese words are cut anew.
    """

    title: str
    text: str
    marked: tuple[tuple[str, str], ...] = ()
    edges: Mapping[str, int] = {}
    depths: Mapping[str, float] = {}
    language: str = ""
    analysed: AnalysedText | None = None


class Terms(NamedTuple):
    """Different terms of a text, in ascending order, and how often each occurs."""

    ids: Ids
    counts: Numbers


class Vector(NamedTuple):
    """A text in a space: ascending columns, their counts, parts of the unit vector."""

    columns: Columns
    counts: Numbers
    values: Numbers


def count_words(text: Text) -> dict[str, float]:
    """Count the words of a text, those of its title and headings several times.

    English words as stems, numbers too; simplified characters. Cost: O(characters), 0.3 ms for 1,000 Chinese ones.

    >>> sorted(count_words(Text("", "Bridges of Hekou, bridges")))
    ['bridg', 'hekou', 'of']
    """
    return _count(Counter(words_of(fold(text.text[:MAX_CHARS]))), text)


def count_terms(text: Text) -> Terms:
    return as_terms(count_words(text))


def as_terms(counts: Mapping[str, float]) -> Terms:
    return _merge(_hashes(counts), np.array(list(counts.values()), np.float64))


def count_features(text: Text) -> Terms:
    """Count words, characters and pairs, runs at both ends, and runs of the form.

    All but words are of Chinese. Punctuation stands in the runs, each digit as 0: the parts of a newspaper differ by
    them, too. The form is the text with each Chinese character, Latin letter or digit as one sign.

    Cost: O(characters), 0.5 ms for 1,000 Chinese ones.
    """
    words, written_words, stretch = _pieces(text)
    listed = as_terms(_count(words, text))
    written = _hashes(written_words) | np.uint32(_WRITTEN << int(_HASH_BITS))
    ids = np.sort(np.concatenate([written, *(ids for ids, _, _ in _runs(stretch, text))]))
    first = _starts(ids)
    counts = np.diff(first, append=len(ids)).astype(np.float64)
    return Terms(np.concatenate((listed.ids, ids[first])), np.concatenate((listed.counts, counts)))


def spell(text: Text) -> dict[int, str]:
    words, written_words, stretch = _pieces(text)
    spelt = {_hash(word): word for word in (*words, *(word for word, _ in _marked_words(text)))}
    spelt |= {name: word for word in written_words for name in (_hash(english_stem(word)), _hash_written(word))}
    for ids, chars, size in _runs(stretch, text):
        written = chars.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        spelt |= {number: written[start : start + size] for start, number in enumerate(ids.tolist())}
    return spelt


def is_word(ids: Ids) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = ids >> _HASH_BITS == _WORD
    return mask


def words_of(folded: str) -> list[str]:
    return [*cut_han(find_han(folded)), *map(english_stem, other_word_list(folded))]


def _pieces(text: Text) -> tuple[Counter[str], list[str], str]:
    title = text.title[:MAX_CHARS]
    # title and text each for itself, as the index has them folded and cut
    parts = [fold(title), fold(text.text[: max(0, MAX_CHARS - len(title) - 1)])]
    written = [word for part in parts for word in other_word_list(without_han(part))]
    folded = "\n".join(parts)
    runs = find_han(folded)
    stretch = "\n".join(_HAN_STRETCH.findall(_DIGIT.sub("0", _SPACE.sub(" ", folded)))) if runs else ""
    analysed = text.analysed
    if analysed is not None and analysed.runs == tuple(runs):
        words = Counter(analysed.han_counts())
    else:
        words = Counter(cut_han(runs))
    words.update(map(english_stem, written))
    return words, written, stretch


def _marked_words(text: Text) -> Iterator[tuple[str, float]]:
    for tag, marked in (("title", text.title), *text.marked):
        for word in words_of(fold(marked[:_TITLE_CHARS])):
            yield word, TAG_WEIGHTS[tag]


def _count(words: Mapping[str, int], text: Text) -> dict[str, float]:
    counts: dict[str, float] = dict(words)
    for word, weight in _marked_words(text):
        counts[word] = counts.get(word, 0.0) + weight
    return counts


def hash_words(words: Sequence[str]) -> list[int]:
    """Return the numbers of words, which are folded; English ones by their stems."""
    return [_hash(english_stem(fold(word))) for word in words]


def _hash_written(word: str) -> int:
    return _hash(word) | _WRITTEN << int(_HASH_BITS)


def _hash(word: str) -> int:
    return int(_hashes((word,))[0])


def _hashes(words: Collection[str]) -> Ids:
    try:
        hashes = np.fromiter(map(zlib.crc32, map(str.encode, words)), np.uint32, len(words))
    except UnicodeEncodeError:  # half a character, which UTF-8 has not
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        hashes = np.fromiter(map(zlib.crc32, encoded), np.uint32, len(words))
    return hashes & np.uint32((1 << int(_HASH_BITS)) - 1)


@cache
def _forms() -> Ids:
    table = np.arange(0xA000, dtype=np.uint32)
    table[0x3400:] = _HAN
    for first, last in ("09", "az", "AZ"):
        table[ord(first) : ord(last) + 1] = ord(first.lower())
    return table


def _form(text: Text) -> Ids:
    """Return a text as written, in signs 汉, 0, a and all other characters."""
    return code_points(f"{text.title}\n{text.text}"[:MAX_CHARS].lstrip(), _forms())


def _runs(stretch: str, text: Text) -> Iterator[tuple[Ids, Ids, int]]:
    if not stretch:
        return
    codes, form = code_points(stretch), _form(text)
    *grams, last = _hash_grams(np.concatenate((codes, form)))
    forms = last[len(codes) :]
    grams = [hashes[: max(0, len(codes) - size)] for size, hashes in enumerate((*grams, last))]
    yield _seen(grams[0], _CHAR), codes, 1
    yield _seen(grams[1], _PAIR), codes, 2
    yield _seen(forms, _FORM), form, _GRAMS
    for size, ids in enumerate(grams, 1):
        yield _seen(ids[:_END_CHARS], _BEGIN), codes, size
        yield _seen(ids[-_END_CHARS:], _END), codes[max(0, len(ids) - _END_CHARS) :], size


def _seen(hashes: Ids, view: int) -> Ids:
    return (hashes >> np.uint32(32 - _HASH_BITS)) | np.uint32(view << int(_HASH_BITS))


def _hash_grams(codes: Ids) -> list[Ids]:
    hashes = [_mix(codes * _FIRST)]
    for size in range(1, _GRAMS):
        hashes.append(_mix((hashes[-1][:-1] * _NEXT) ^ (codes[size:] * _FIRST)))
    return hashes


def _mix(values: Ids) -> Ids:
    mixed = values ^ (values >> np.uint32(15))
    mixed = mixed * _NEXT
    ids: Ids = mixed ^ (mixed >> np.uint32(13))
    return ids


def _merge(ids: Ids, counts: Numbers) -> Terms:
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    first = _starts(ids)
    return Terms(ids[first], np.add.reduceat(counts[order], first) if len(first) else np.zeros(0))


def _starts(ids: Ids) -> Columns:
    return np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1]))) if len(ids) else np.zeros(0, np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """Dimensions of vectors: a term per column, ascending, and its weight."""

    ids: Ids
    weights: Numbers

    def vector(self, terms: Terms) -> Vector:
        """Return the vector of a text, of length 1: (1 + log count) x weight, by views.

        Each view has its share; terms that the space does not have are left out, and it may be empty.

        >>> space = Space(np.array([5, 7], np.uint32), np.array([3.0, 4.0]))
        >>> space.vector(Terms(np.array([5, 6, 7], np.uint32), np.array([1.0, 9.0, 1.0]))).values.round(3).tolist()
        [0.6, 0.8]
        """
        places = np.searchsorted(self.ids, terms.ids)
        has_column = self.ids[np.minimum(places, len(self.ids) - 1)] == terms.ids
        columns, counts = places[has_column], terms.counts[has_column]
        values = (1 + np.log(np.maximum(counts, 1))) * self.weights[columns]
        views = terms.ids[has_column] >> _HASH_BITS
        squares = np.bincount(views, values * values, len(_SHARES))
        shares = np.where(squares > 0, _SHARES, 0.0)
        factors = np.sqrt(shares / np.maximum(squares * shares.sum(), 1e-300))
        return Vector(columns, counts, values * factors[views])


def rarity(documents_with: Numbers, documents: int) -> Numbers:
    """Return the inverse document frequency of terms: rare ones weigh more.

    >>> rarity(np.array([1.0, 3.0]), 3).round(2).tolist()
    [1.69, 1.0]
    """
    weights: Numbers = np.log((1 + documents) / (1 + documents_with)) + 1
    return weights
