"""Methods that know a text by its keywords: their common part."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from cachetools import LRUCache, cached

from db.records.evidence import CONTAINS, DIFFERENT, EDITED, PART_OF, SAME

from ..records import Signature
from ..text.words import MAX_CHARS
from .normalize import build_tables, encode, exact_hash, normalize
from .shape import Comparison, IndexParams, Method, calibrate

P = TypeVar("P")

_LAST_CODE: Final = 0x10FFFF  # entries of the table above it are no characters
_REMEMBERED: Final = 16_384
_LEAST: Final = 0.5
"""Similarity below which two texts are "different", whatever the caller's threshold; chosen by hand."""


class _KeywordPage(NamedTuple):
    exact: int
    length: int
    keywords: Collection[str]
    content: Any


def keyword_method(
    name: str,
    form: str,
    index: IndexParams,
    *,
    describe: Callable[[str, str], tuple[Collection[str], Any]],
    measure: Callable[[Any, Any], float],
    pivot: float,
    length_ratio: float,
) -> Method:
    """Build a method that finds texts by keywords.

    `measure` is the share in [0, 1] that two contents have in common; `pivot` becomes `CALIBRATED`; from `length_ratio`
    (shorter over longer) near-duplicates are "edited", not part and whole.
    """

    @cache_pages
    def page(title: str, text: str) -> _KeywordPage:
        normalized = normalize(text)
        return _KeywordPage(exact_hash(normalized), len(normalized), *describe(title, text))

    def sign(title: str, text: str) -> Signature:
        one = page(title, text)
        return Signature(one.exact, hash_words(one.keywords), one.length) if one.exact else Signature()

    def compare(new: _KeywordPage, stored: _KeywordPage) -> Comparison:
        if not new.exact or not stored.exact:
            return Comparison(0.0, DIFFERENT)
        if new.exact == stored.exact:
            return Comparison(1.0, SAME)
        similarity = calibrate(measure(new.content, stored.content), pivot)
        if similarity < _LEAST:
            return Comparison(similarity, DIFFERENT)
        if min(new.length, stored.length) >= length_ratio * max(new.length, stored.length):
            return Comparison(similarity, EDITED)
        return Comparison(similarity, PART_OF if new.length < stored.length else CONTAINS)

    return Method(name, form, sign, page, compare, index)


def make_readable(text: str) -> str:
    """Return the text in lower case and simplified characters, its separators kept."""
    codes = encode(text[:MAX_CHARS])
    mapped = build_tables().target.take(codes, mode="clip")
    mapped = np.where(mapped > _LAST_CODE, codes, mapped)
    packed: bytes = mapped[(mapped != 0) & ((mapped < 0xD800) | (mapped > 0xDFFF))].tobytes()
    return packed.decode("utf-32-le")


def hash_words(terms: Iterable[str]) -> bytes:
    digests = b"".join(hashlib.blake2b(term.encode(), digest_size=4).digest() for term in terms)
    return np.unique(np.frombuffer(digests, "<u4")).tobytes()


def cache_pages(make: Callable[[str, str], P]) -> Callable[[str, str], P]:
    """Cache the last 16,384 pages, without texts: cutting words is dear, pages recur."""
    made: LRUCache[bytes, P] = LRUCache(_REMEMBERED)
    return cached(made, key=_digest)(make)


def _digest(title: str, text: str) -> bytes:
    digest = hashlib.blake2b(title.encode("utf-8", "surrogatepass"), digest_size=16)
    digest.update(b"\xff" + text.encode("utf-8", "surrogatepass"))
    return digest.digest()
