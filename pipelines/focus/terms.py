"""Terms of a page and of its links, from which focused crawling learns."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from operator import itemgetter
from typing import Final
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from ..document.document import Document
from ..records import Extraction, Links
from ..text.words import MAX_CHARS, words

Terms = npt.NDArray[np.uint32]
Weights = npt.NDArray[np.float32]

MAX_TERMS: Final = 128
"""Terms kept of a page: the heaviest."""
_ANCHOR_TERMS: Final = 12
_AROUND_TERMS: Final = 12
_AROUND_CHARS: Final = 60
"""Words on either side of a link are taken from as many characters; in Chinese, of a third, which say as much."""
_FIRST_CJK: Final = "\u2e80"
_LEAD: Final = [3.0 * 2.0 ** (-position / 20.0) for position in range(160)]
"""The first word of a text counts as four, falling off over twenty: the beginning says what a text is about (ours).

What is left after 160 words is 1 % of an occurrence.
"""
TAGS: Final[Mapping[str, float]] = {"h1": 3.0, "h2": 2.0, "h3": 1.0, "strong": 1.0, "b": 1.0, "em": 1.0, "i": 1.0}
"""Extra weight of an occurrence inside an element (S07)."""
TITLE: Final = 4.0
"""The same for the title."""
_PATH: Final = re.compile(r"[^:/?#]*://[^/?#]*([^?#]{,200})")
_FORMAT: Final = 1
_MOST_WEIGHT: Final = 60_000.0
_HEADER: Final = struct.Struct("<BHI")


@dataclass(frozen=True, slots=True, eq=False)
class PageTerms:
    """Terms of one page, and of its links as parallel columns.

    Attributes:
        terms: hashes of the page's words, at most `MAX_TERMS`, the heaviest first.
        weights: how often each occurs, weighted by where; positive.
        anchor_counts, around_counts: number of `anchors`, and of words `around`, of each link in order.
    """

    terms: Terms
    weights: Weights
    anchor_counts: npt.NDArray[np.uint8]
    anchors: Terms
    around_counts: npt.NDArray[np.uint8]
    around: Terms

    def __len__(self) -> int:
        return len(self.anchor_counts)


@lru_cache(maxsize=200_000)
def hash_word(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "replace"), digest_size=4).digest(), "little")


def hash_words(some: Iterable[str], most: int) -> list[int]:
    return list(dict.fromkeys(map(hash_word, some)))[:most]


@lru_cache(maxsize=50_000)
def _short(text: str, most: int) -> list[int]:
    """Return the hashes of a link's words; cached, as a site's pages share links."""
    return hash_words(words(text), most)


@lru_cache(maxsize=50_000)
def _named(anchor: str, url: str) -> list[int]:
    path = _PATH.match(url)
    path_words = unquote(path[1]).replace("_", " ") if path else ""
    return hash_words(words(f"{anchor} {path_words}"), _ANCHOR_TERMS)


def weigh(texts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Weigh each word by its occurrences in (text, weight of an occurrence).

    The first texts are the page's beginning: a bonus falls off with the position.
    """
    weights: dict[str, float] = {}
    position = chars = 0
    for text, weight in texts:
        read = words(text[: MAX_CHARS - chars])
        lead = _LEAD[position : position + len(read)]
        for word, times in Counter(read).items():
            weights[word] = weights.get(word, 0.0) + weight * times
        for word, more in zip(read, lead, strict=False):
            weights[word] += more
        position += len(read)
        chars += len(text)
        if chars >= MAX_CHARS:
            break
    return weights


def build_page_terms(weights: Mapping[str, float], links: Iterable[tuple[str, str, str]]) -> PageTerms:
    """Build the record of a page: the heaviest terms, of equal ones the first."""
    heaviest = sorted(weights.items(), key=itemgetter(1), reverse=True)[:MAX_TERMS]
    anchors, around = [], []
    for anchor, url, beside in links:
        anchors.append(_named(anchor, url))
        around.append(_short(beside, _AROUND_TERMS) if beside else [])
    return PageTerms(
        np.fromiter(map(hash_word, map(itemgetter(0), heaviest)), np.uint32, len(heaviest)),
        np.fromiter(map(itemgetter(1), heaviest), np.float32, len(heaviest)),
        np.array([*map(len, anchors)], np.uint8),
        np.fromiter(chain.from_iterable(anchors), np.uint32),
        np.array([*map(len, around)], np.uint8),
        np.fromiter(chain.from_iterable(around), np.uint32),
    )


def read_text(text: str, links: Sequence[tuple[str, str]] = ()) -> PageTerms:
    """Return the terms of a plain text and of its links (anchor text, URL).

    >>> read_text("rivers and bridges", [("bridges", "http://a.test/stone/bridge")]).anchor_counts.tolist()
    [2]
    """
    return build_page_terms(weigh([(text, 1.0)]), [(anchor, url, _beside(anchor, text)) for anchor, url in links])


def read_document(document: Document, extraction: Extraction, links: Links, headline: str = "") -> PageTerms:
    """Return the terms of a parsed page and of its links, in their order.

    Without an extraction the text of all blocks counts, without a `headline` the page's title in its place.
    """
    texts = document.blocks.texts
    places = {anchor: texts[block] for _, _, _, anchor, block in reversed(document.links) if 0 <= block < len(texts)}
    beside = [
        (anchor, url, _beside(anchor, places.get(anchor, "")))
        for anchor, url in zip(links.anchors, links.urls, strict=True)
    ]
    return build_page_terms(weigh(list_texts(document, extraction, headline)), beside)


def list_texts(document: Document, extraction: Extraction, headline: str = "") -> list[tuple[str, float]]:
    """Return (text, weight of an occurrence) for title, texts and telling elements.

    Beside a headline the page's title counts as any text; elements beside an article do not tell of it.
    """
    texts = document.blocks.texts
    weighted = [(headline, 1.0 + TITLE), (document.title, 1.0)] if headline else [(document.title, 1.0 + TITLE)]
    weighted += [(extraction.text, 1.0)] if extraction.text else [(text, 1.0) for text in texts]
    for node, tag in enumerate(document.tags):
        if tag in TAGS and node not in document.hidden:
            text = "".join(document.elements[node].itertext())[:1000]  # type: ignore[arg-type]
            if not extraction.text or text.strip() in extraction.text or text.strip() == headline:
                weighted.append((text, TAGS[tag]))
    return weighted


def _beside(anchor: str, text: str) -> str:
    at = text.find(anchor) if anchor else -1
    if at < 0:
        return ""
    end = at + len(anchor)
    chars = _AROUND_CHARS if anchor[0] < _FIRST_CJK else _AROUND_CHARS // 3
    return f"{text[max(0, at - chars) : at]} {text[end : end + chars]}"


def pack(page: PageTerms) -> bytes:
    """Pack the record: about 6 bytes a term of the page, 4 one of a link."""
    heads = _HEADER.pack(_FORMAT, len(page.terms), len(page))
    weights = np.minimum(page.weights, _MOST_WEIGHT).astype("<f2")
    columns = (page.terms.astype("<u4"), weights, page.anchor_counts, page.around_counts)
    return heads + b"".join(column.tobytes() for column in columns) + _ends(page)


def _ends(page: PageTerms) -> bytes:
    return page.anchors.astype("<u4").tobytes() + page.around.astype("<u4").tobytes()


def unpack(data: bytes) -> PageTerms:
    """Unpack `pack`, weights in 16 bits; `ValueError` if the bytes are incomplete."""
    if len(data) < _HEADER.size or data[0] != _FORMAT:
        raise ValueError(f"terms of a page start with {data[:1]!r}; they take format {_FORMAT}")
    _, terms, links = _HEADER.unpack_from(data)
    at = _HEADER.size
    columns: list[npt.NDArray[np.generic]] = []
    wanted = [("<u4", terms), ("<f2", terms), ("u1", links), ("u1", links)]
    while wanted:
        kind, count = wanted.pop(0)
        size = np.dtype(kind).itemsize * count
        if at + size > len(data):
            raise ValueError(f"terms of a page have {len(data)} bytes; they take at least {at + size}")
        columns.append(np.frombuffer(data, kind, count, at))
        at += size
        if len(columns) == 4:
            wanted = [("<u4", int(columns[2].sum())), ("<u4", int(columns[3].sum()))]
    page, weights, anchor_counts, around_counts, anchors, around = columns
    return PageTerms(
        page.astype(np.uint32),
        weights.astype(np.float32),
        anchor_counts.astype(np.uint8),
        anchors.astype(np.uint32),
        around_counts.astype(np.uint8),
        around.astype(np.uint32),
    )
