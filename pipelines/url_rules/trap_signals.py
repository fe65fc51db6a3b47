"""Signals of traps in a page: a sketch to compare it by, an outline, walls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from db.records.keys import fingerprint
from db.records.reasons import PageReason

from ..document.document import Document
from ..records import Metadata, PageKind, ParseResult, Signs
from .trap_patterns import Key

_MOST_CHARS = 4_000
_MOST_TEXT = 50_000
_FEWEST_CHARS = 8
_SHORT_ARTICLE_CHARS = 400
_LEAST_NAME = 4
_POSITIVE = (1 << 63) - 1
_GRAM = 3
_BITS = 64
SHORT = 800
"""Most characters of a page that only says "not here"."""
_NEAR = 3
_DIGITS = re.compile(r"[0-9]+")
_WALLS = re.compile(
    r"验证码|安全验证|人机验证|访问(?:过于)?频繁|访问受限|禁止访问|拒绝访问|滑块|请求(?:过于)?频繁|系统维护|正在维护|"
    r"请(?:先)?登录|請(?:先)?登入|登录后(?:可|才|查看)|captcha|are you (?:a )?(?:human|robot)|unusual traffic|"
    r"access denied|just a moment|checking your browser|too many requests|rate limit|temporarily unavailable|"
    r"under maintenance|please (?:log|sign) ?in|log ?in to|sign in to|enable javascript|forbidden",
    re.IGNORECASE,
)
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


@dataclass(frozen=True, slots=True)
class KnownTraps:
    """Traps of a page's host: patterns of URLs with their kinds, and soft-404 pages.

    `missing` has the outlines of those pages; None when the host is not suspected of any.
    """

    blocked: Mapping[Key, str] = field(default_factory=dict)
    missing: tuple[int, ...] | None = None


def needs_look(parsed: ParseResult, known: KnownTraps) -> bool:
    """Tell whether a page has to be looked at: most articles have not."""
    return not parsed.is_leaf or known.missing is not None or len(parsed.extraction.text) < _SHORT_ARTICLE_CHARS


def look(document: Document, parsed: ParseResult) -> Signs:
    """Return the signals of a page; none if its text is yet to be made by script.

    Cost: about 0.2 ms.
    """
    if parsed.reason is PageReason.NEEDS_BROWSER:
        return Signs()
    text = _text(document)
    if parsed.is_leaf:
        return Signs(sketch(f"{parsed.metadata.title}\n{parsed.extraction.text}"), outline(text, document.url))
    is_wall = len(text) <= SHORT and _WALLS.search(text) is not None
    return Signs(sketch(text), outline(text, document.url), is_wall)


def without_page(parsed: ParseResult) -> ParseResult:
    """Strip a soft-404 page: nothing to store or follow."""
    metadata = Metadata(title=parsed.metadata.title, language=parsed.metadata.language)
    return ParseResult(PageKind.NOTICE, PageReason.SOFT_404, metadata=metadata, encoding=parsed.encoding)


def outline(text: str, url: str) -> int:
    """Return a number, the same for texts that differ in figures and page name only."""
    name = url.partition("?")[0].rpartition("/")[2]
    plain = text.replace(name, "").replace(name.partition(".")[0], "") if len(name) >= _LEAST_NAME else text
    plain = _DIGITS.sub("", plain)
    return fingerprint(plain) & _POSITIVE if len(plain) >= _FEWEST_CHARS else 0


def sketch(text: str) -> int:
    """Return 64 bits of which similar texts share most; 0 for hardly any text.

    Cost: O(characters).
    Source: Charikar, *Similarity estimation techniques from rounding algorithms*, 2002 (SimHash).
    Differs: the features are runs of three characters, each counted once.
    """
    plain = _DIGITS.sub("", text)[:_MOST_CHARS]
    if len(plain) < _FEWEST_CHARS:
        return 0
    codes = np.frombuffer(plain.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    grams = np.zeros(len(codes) - _GRAM + 1, np.uint64)
    for place, factor in enumerate(_MULTIPLIERS):
        grams += codes[place : len(codes) - _GRAM + 1 + place] * np.uint64(factor)
    grams ^= grams >> np.uint64(29)
    grams *= np.uint64(0xBF58476D1CE4E5B9)
    grams ^= grams >> np.uint64(32)
    hashes = np.unique(grams)
    votes = np.unpackbits(hashes.view(np.uint8).reshape(-1, _BITS // 8), axis=1).sum(axis=0)
    packed = np.packbits(votes * 2 > len(hashes))
    bits = int.from_bytes(packed.tobytes(), "big") >> 1  # so that it fits a signed column
    return bits or 1


def alike(one: int, other: int) -> bool:
    return one != 0 and other != 0 and (one ^ other).bit_count() <= _NEAR


def _text(document: Document) -> str:
    return "\n".join([document.title[:200], *document.blocks.texts])[:_MOST_TEXT]
