"""Differences between two texts, for people who look at reprints and versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from rapidfuzz.distance import LCSseq

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


Sign = Literal["=", "+", "-"]
_UNIT = re.compile(r"[^\W\u2e80-\ud7ff\uf900-\ufaff]+|\s+|.", re.DOTALL)
"""A word, blanks, or one sign; a Chinese character is a word."""
_ALIKE = 0.5
"""Part of the units that two sentences share to be shown as one that was changed."""
_MOST_UNITS = 2_000


class Change(NamedTuple):
    """A piece that stands in both texts (=), in the later (+) or the earlier (-)."""

    sign: Sign
    text: str


def mark_changes(before: str, after: str) -> list[Change]:
    """Return the later text with all that was put in or taken out of the earlier one.

    Sentences are compared as they are, in their order; those that took the place of others which are like them are
    compared word by word.

    Cost: O(sentences^2 / 64 + words^2 / 64 of changed sentences).

    >>> [sign + text for sign, text in mark_changes("Rain fell. Roads closed.", "Rain fell. All roads closed.")]
    ['=Rain fell. ', '-Roads', '+All roads', '= closed.']
    """
    changes: list[Change] = []
    for removed, added in _groups(_split(before), _split(after)):
        if removed == added:
            _add(changes, "=", added)
            continue
        old, new = _UNIT.findall("".join(removed)), _UNIT.findall("".join(added))
        most = max(len(old), len(new))
        if most > _MOST_UNITS or LCSseq.similarity(old, new) < _ALIKE * most:
            _add(changes, "-", removed)
            _add(changes, "+", added)
            continue
        for gone, come in _groups(old, new):
            if gone == come:
                _add(changes, "=", come)
            else:
                _add(changes, "-", gone)
                _add(changes, "+", come)
    return changes


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield pieces of two sequences: equal ones, and those that took others' place."""
    removed: list[str] = []
    added: list[str] = []
    for code in LCSseq.opcodes(old, new):
        before, after = old[code.src_start : code.src_end], new[code.dest_start : code.dest_end]
        if code.tag == "equal":
            if removed or added:
                yield removed, added
                removed, added = [], []
            yield before, after
        else:
            removed += before
            added += after
    if removed or added:
        yield removed, added


def _add(changes: list[Change], sign: Sign, pieces: Sequence[str]) -> None:
    """Add pieces to the last change if they have its sign, else as one of their own."""
    text = "".join(pieces)
    if not text:
        return
    if changes and changes[-1].sign == sign:
        changes[-1] = Change(sign, changes[-1].text + text)
    else:
        changes.append(Change(sign, text))


def _split(text: str) -> list[str]:
    """Cut a text behind each sentence; the pieces make the whole of it."""
    ends = [match.end() for match in _END.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)]) if start < end]


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
