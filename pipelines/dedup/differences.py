"""Differences between two texts by sentences, for people who look at reprints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from .normalize import normalize

_END = re.compile(r"(?<=[。！？!?；;…])[”’」』\"')）]*|(?<=[.])\s+(?=[^\s0-9])|\n+")


class SentenceDiff(NamedTuple):
    """Sentences that stand in only one of two texts, in order."""

    added: Sequence[str]
    removed: Sequence[str]


def compare_sentences(before: str, after: str) -> SentenceDiff:
    """Compare two texts by sentences; order and formatting make no difference.

    Cost: O(length).
    """
    old, new = _sentences(before), _sentences(after)
    return SentenceDiff(
        [text for key, text in new.items() if key not in old], [text for key, text in old.items() if key not in new]
    )


def _sentences(text: str) -> dict[str, str]:
    """Split a text into sentences by their normal form, which is not empty."""
    found: dict[str, str] = {}
    start = 0
    for end in [*(match.end() for match in _END.finditer(text)), len(text)]:
        sentence = text[start:end].strip()
        start = end
        key = normalize(sentence)
        if key:
            found.setdefault(key, sentence)
    return found
