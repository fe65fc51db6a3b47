"""Patterns of URLs that are blocked as traps, and the disallow reason of a URL.

A URL has three patterns (`pipelines.url_rules.forms`), each wider than the one before, so that neither a trap with many
names nor one with many numbers escapes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from .forms import patterns, split

EXACT, FOLDER, SHAPE, HOST, ANSWER = range(5)
"""Levels of patterns, the narrowest first; then the whole host, and (no URL pattern) the content of pages."""
Key = tuple[int, str]
"""Level and pattern."""

ENDLESS_PATH = "endless path"

_TIMES_REPEATED = 3
_LONGEST_LOOP = 4
_LETTER = re.compile(r"[A-Za-z]")


def keys_of(url: str) -> list[Key]:
    """Return the patterns of a URL that may be blocked, the narrowest first."""
    return [*enumerate(patterns(url)), (HOST, "")]


def disallow_reason(url: str, blocked: Mapping[Key, str]) -> str:
    """Return the kind of trap that a canonical URL belongs to, empty for none.

    An empty kind in `blocked` keeps a pattern open within wider blocked ones.
    Cost: some microseconds.
    """
    if is_circular(url):
        return ENDLESS_PATH
    kinds = map(blocked.get, keys_of(url)) if blocked else ()
    return next((kind for kind in kinds if kind is not None), "")


def is_circular(url: str) -> bool:
    """Tell whether a path repeats some of its words three times in a row.

    Relative links of pages that answer at any depth make such URLs; real pages never have them.
    Cost: a microsecond for most; O(segments).

    >>> is_circular("http://a.example/a/b/a/b/a/b/"), is_circular("http://a.example/2024/5/5/5/news/")
    (True, False)
    """
    segments, _ = split(url)
    if len(segments) - len(set(segments)) < _TIMES_REPEATED - 1:
        return False
    for length in range(1, _LONGEST_LOOP + 1):
        same = 0
        for i in range(length, len(segments)):
            same = same + 1 if segments[i] and segments[i] == segments[i - length] else 0
            if same >= length * (_TIMES_REPEATED - 1):
                loop = segments[i - length + 1 : i + 1]
                if any(_LETTER.search(text) for text in loop):
                    return True
    return False
