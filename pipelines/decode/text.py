"""Clean text: no control or invisible characters, white space collapsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Controls, zero-width characters, direction marks, bidi embeddings, invisible operators, surrogates, annotations, blank
# letters, tags and what Unicode will never assign. Joiners stay inside words of scripts that are written with them and
# inside pictures made of several characters; one selector stays behind one that has variants, since runs of them carry
# hidden text.
_JOINED = "\u0600-\u109f\u1780-\u17ff"
_PICTURES = "\u20e3\u2190-\u2bff\U0001f000-\U0001faff"
_VARIED = f"#*0-9©®\u1000-\u109f\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\ua840-\ua877{_PICTURES}"
_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
_PLAIN_HARMFUL = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
)
_HARMFUL = (
    f"{_PLAIN_HARMFUL}"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
)
_INVISIBLE = re.compile(f"[{_HARMFUL}\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_DOUBTED = re.compile(f"[{_PLAIN_HARMFUL}\u200c\u200d\ufe00-\ufe0f\U0001bca0-\U0001d17a\U0001fffe-\U0010ffff]")
"""A fast test for texts without such characters: beyond the basic plane each range is tried for each character."""
_REMOVED = re.compile(
    f"[{_HARMFUL}]|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])|"
    f"(?<![{_JOINED}{_PICTURES}])(?<![{_PICTURES}]\ufe0f)\u200d|\u200d(?![{_JOINED}{_PICTURES}])|"
    f"(?<![{_VARIED}{_IDEOGRAPHS}])[\ufe00-\ufe0f]|(?<![{_IDEOGRAPHS}])[\U000e0100-\U000e01ef]"
)

_SQUEEZE = re.compile(r"[\W_]+")


def clean(text: str, limit_chars: int | None = None) -> str:
    r"""Return `text` on one line without control and invisible characters, trimmed.

    `limit_chars` cuts the result.
    Cost: O(characters).

    >>> clean("a\x00 \u202eb\n c")
    'a b c'
    """
    if _DOUBTED.search(text):
        text = _REMOVED.sub("", text)
    text = " ".join(text.split())
    if limit_chars is not None and len(text) > limit_chars:
        text = text[:limit_chars].rstrip()
    return text


def shorten(text: str, limit_chars: int) -> str:
    """Return `text` as it is, or the beginning of what `clean` leaves of a longer one.

    >>> shorten(f"{'  ' * 9}headline of a page", 8)
    'headline'
    """
    return text if len(text) <= limit_chars else clean(text, limit_chars)


def strip_invisible(text: str) -> str:
    return _REMOVED.sub("", text) if _DOUBTED.search(text) else text


def squeeze(text: str) -> str:
    """Return letters and digits of a line in lower case, for comparing headlines."""
    return _SQUEEZE.sub("", text).lower()


def find_invisible(text: str) -> list[str]:
    """Return the characters of `text` that `clean` removes somewhere, with repeats."""
    return _INVISIBLE.findall(text)


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def unique(values: Iterable[str], limit: int) -> tuple[str, ...]:
    distinct: dict[str, None] = {}
    for value in values:
        if value:
            distinct[value] = None
            if len(distinct) >= limit:
                break
    return tuple(distinct)
