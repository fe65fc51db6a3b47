"""What a page shows that may be one of a trap's: a sketch by which it is compared with others, and walls."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from .extract.document import Document

_MOST_CHARS = 4_000
_FEWEST_CHARS = 8
_GRAM = 3
_BITS = 64
_SHORT = 800
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
class Signs:
    """What a page shows.

    Attributes:
        sketch: of all its text without figures, 0 for a page of hardly any; alike texts have sketches of few different
            bits.
        is_wall: whether it tells a visitor to go away, to log in or to come back: it says nothing of what the address
            leads to at other times.
    """

    sketch: int = 0
    is_wall: bool = False


def look(document: Document) -> Signs:
    """Return the signs of a page.

    Cost: about 0.1 ms, for the first 4,000 characters.
    """
    text = _text(document)
    is_wall = len(text) <= _SHORT and _WALLS.search(f"{document.title} {text}") is not None
    return Signs(sketch(text), is_wall)


def sketch(text: str) -> int:
    """Return a sketch of a text: 64 bits, of which alike texts have most in common; 0 for a text of a few characters.

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
    found = int.from_bytes(packed.tobytes(), "big") >> 1  # so that it fits a signed column
    return found or 1


def alike(one: int, other: int) -> bool:
    """Return whether two sketches are of texts that say the same, or nearly."""
    return one != 0 and other != 0 and (one ^ other).bit_count() <= _NEAR


def _text(document: Document) -> str:
    """The title and the text of a page, links included, as far as it is looked at."""
    found, size = [document.title[:200]], 0
    for text in document.blocks.texts:
        found.append(text)
        size += len(text)
        if size > _MOST_CHARS:
            break
    return "\n".join(found)[: 2 * _MOST_CHARS]
