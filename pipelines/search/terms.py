"""Terms of an article: words by which an index finds it, counts to rank it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from db.records.search import IndexTerms

from ..text.words import fold, index_words

MAX_CHARS: Final = 20_000
"""Characters of a text that are read; each gives two tokens at most."""
LEAD_CHARS: Final = 120
"""Characters of a text that are its lead: news says there what it is about."""
FIELD_CHARS: Final = 500
"""Characters that are read of a title, of authors and source, of a description and of tags."""
_FORMAT: Final = 3
"""Counts up with every change of the words of an article, also of `pipelines.text.words.index_words`."""
_READABLE: Final = (1, 2, _FORMAT)
"""Older formats lack words and fields, and are read until the index is made anew."""
_HEADS: Final = 2
"""Numbers before the terms: format and length of the title, length of the text."""
# A term is one number of 32 bits: hash 23 (collisions: one in 10,000 for an article of 800 terms), body 4, and one bit
# of each other field, so that numbers of an article in order are its terms in order.
HASH_SHIFT: Final = 9
BODY_SHIFT: Final = 5
MOST_IN_BODY: Final = 15
_FLAGS: Final = 24
_COUNT: Final = (1 << _FLAGS) - 1
TITLE, NAMES, LEAD, DESCRIPTION, TAGS = (1 << bit for bit in (4, 3, 2, 1, 0))
"""Bits of fields in which the term is: title, authors and source, first characters, description, tags."""


def index_terms(  # noqa: PLR0917 - the fields in their one order, `db.records.search.TERM_FIELDS`
    title: str, text: str, authors: str, source: str, language: str, description: str = "", tags: str = ""
) -> IndexTerms:
    """Return what a full-text index keeps of an article, the same on every machine.

    `description` and `tags` are the page's own, as its metadata and boxes of tags have them. `MAX_CHARS` characters of
    the text are read, 500 of each other field. Cost: 0.5 ms for 1,000 Chinese ones.

    >>> index_terms("Bridges", "A bridge opens.", "", "", "en").words
    'bridg a open'
    """
    folded = fold(text[:MAX_CHARS])
    titles = index_words(fold(title[:FIELD_CHARS]), language)
    bodies = index_words(folded, language)
    # of each token its bits of fields above its count in the body, which is below 1 << _FLAGS
    counts = Counter(dict.fromkeys(titles, TITLE << _FLAGS))
    for bit, field in ((NAMES, f"{authors}\n{source}"), (DESCRIPTION, description), (TAGS, tags)):
        for token in index_words(fold(field[:FIELD_CHARS]), language) if field else ():
            counts[token] |= bit << _FLAGS
    counts.update(bodies)
    # a word that the end of the lead cuts in two is none
    for token in counts.keys() & index_words(folded[:LEAD_CHARS], language):
        counts[token] |= LEAD << _FLAGS
    numbers = np.fromiter(counts.values(), np.uint32, len(counts))
    numbers = np.minimum(numbers & _COUNT, MOST_IN_BODY) << BODY_SHIFT | numbers >> _FLAGS
    joined = " ".join(counts)
    hashes = np.fromiter(map(crc32, joined.encode().split(b" ")), np.uint32, len(counts)) >> HASH_SHIFT << HASH_SHIFT
    numbers = np.sort(hashes | numbers)
    sizes = np.array([_FORMAT << 24 | len(titles), len(bodies)], np.uint32)
    return IndexTerms(joined, np.concatenate([sizes, numbers]).astype("<u4").tobytes())


def hash_token(token: str) -> int:
    """Return the 24-bit hash of a token, the same on every machine."""
    return crc32(token.encode()) >> HASH_SHIFT


def is_current(terms: bytes) -> bool:
    """Tell whether packed terms are of the form that `index_terms` makes now."""
    return terms[3:4] == bytes([_FORMAT])


class Packed(NamedTuple):
    """Packed terms of articles, ascending in each; lengths of fields are in tokens."""

    numbers: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    title_lengths: npt.NDArray[np.int64]
    body_lengths: npt.NDArray[np.int64]


def unpack(articles: Iterable[bytes]) -> Packed:
    """Read `IndexTerms.terms` of many articles at once; `ValueError` on other bytes."""
    packed = list(articles)
    sizes = np.fromiter((len(each) for each in packed), np.int64, len(packed))
    if sizes.size and ((sizes % 4).any() or sizes.min() < 4 * _HEADS):
        raise ValueError("terms of an article are whole numbers of 4 bytes, two at least")
    numbers = np.frombuffer(b"".join(packed), "<u4")
    ends = np.cumsum(sizes // 4)
    starts = ends - sizes // 4
    heads, bodies = numbers[starts], numbers[starts + 1]
    formats = heads >> 24
    if not np.isin(formats, _READABLE).all():
        raise ValueError(f"terms of an article are of another format than {_FORMAT}; make them anew")
    if (formats < _FORMAT).any():
        numbers = np.where(np.repeat(formats < _FORMAT, sizes // 4), _of_older(numbers), numbers)
    return Packed(numbers, starts + _HEADS, ends, (heads & 0xFFFFFF).astype(np.int64), bodies.astype(np.int64))


def _of_older(numbers: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """Read terms of formats 1 and 2: hash 24, body 4, title 2, names 1, lead 1."""
    in_title = (numbers >> 2 & 3 > 0) * np.uint32(TITLE)
    names, lead = (numbers >> 1 & 1) * np.uint32(NAMES), (numbers & 1) * np.uint32(LEAD)
    body = (numbers >> 4 & MOST_IN_BODY) << np.uint32(BODY_SHIFT)
    return np.asarray(numbers >> HASH_SHIFT << HASH_SHIFT | body | in_title | names | lead, np.uint32)
