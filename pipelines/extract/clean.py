"""Text as it may leave this package: no control characters, nothing invisible, white space collapsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Controls, zero-width signs, direction marks, bidi embeddings, invisible operators, surrogates, annotations.
_INVISIBLE = re.compile(
    "[\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f"
    "\\ud800-\\udfff\\ufeff\\ufff9-\\ufffc\\ufffe\\uffff]"
)

_SQUEEZE = re.compile(r"[\W_]+")


def clean(text: str, limit_chars: int | None = None) -> str:
    r"""Return `text` on one line, without control, bidi, zero-width and surrogate characters.

    Args:
        text: any string, hostile ones too.
        limit_chars: longest result, None for no limit.

    Returns:
        The text with every run of white space as one space and no space at either end.

    Cost: O(characters).

    >>> clean("a\x00 \u202eb\n c")
    'a b c'
    """
    if _INVISIBLE.search(text):
        text = _INVISIBLE.sub("", text)
    text = " ".join(text.split())
    if limit_chars is not None and len(text) > limit_chars:
        text = text[:limit_chars].rstrip()
    return text


def visible(text: str) -> str:
    """Return `text` without control, bidi, zero-width and surrogate characters."""
    return _INVISIBLE.sub("", text)


def squeeze(text: str) -> str:
    """Letters and digits of a line in lower case, for comparing headlines."""
    return _SQUEEZE.sub("", text).lower()


def invisible(text: str) -> list[str]:
    """Return the signs of `text` that `clean` takes out, each as often as it stands there."""
    return _INVISIBLE.findall(text)


def words(text: str) -> frozenset[str]:
    """Return the set of the blank-separated words of `text`; keeps word tables readable."""
    return frozenset(text.split())


def unique(values: Iterable[str], limit: int) -> tuple[str, ...]:
    """Return the first `limit` distinct non-empty values in their order."""
    found: dict[str, None] = {}
    for value in values:
        if value:
            found[value] = None
            if len(found) >= limit:
                break
    return tuple(found)
