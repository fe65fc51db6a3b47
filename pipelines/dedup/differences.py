"""Differences between two texts, for people and for telling reprints from others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from rapidfuzz.distance import LCSseq
from rapidfuzz.process import extractOne

from .normalize import normalize

_END = re.compile(r"(?<=[。！？!?；;…])[”’」』\"')）]*|(?<=[.])\s+(?=[^\s0-9])|\n+")


class SentenceDiff(NamedTuple):
    added: Sequence[str]
    removed: Sequence[str]


def compare_sentences(before: str, after: str) -> SentenceDiff:
    old, new = _sentences(before), _sentences(after)
    return SentenceDiff(
        [text for key, text in new.items() if key not in old], [text for key, text in old.items() if key not in new]
    )


Sign = Literal["=", "+", "-"]
_UNIT = re.compile(r"[^\W\u2e80-\ud7ff\uf900-\ufaff]+|\s+|.", re.DOTALL)
"""A word, white space, or one character; a Chinese character is a word."""
_ALIKE = 0.5
"""Share of units in common from which two sentences are shown as one that was changed; chosen by hand."""
_MOST_UNITS = 2_000


class Change(NamedTuple):
    """A piece that stands in both texts (=), in the later (+) or the earlier (-)."""

    sign: Sign
    text: str


def mark_changes(before: str, after: str) -> list[Change]:
    """Return the later text with all that was added or removed marked.

    Sentences are compared verbatim, in order; a sentence that replaces a similar one is compared word by word.

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
    text = "".join(pieces)
    if not text:
        return
    if changes and changes[-1].sign == sign:
        changes[-1] = Change(sign, changes[-1].text + text)
    else:
        changes.append(Change(sign, text))


def _split(text: str) -> list[str]:
    ends = [match.end() for match in _END.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)]) if start < end]


def _sentences(text: str) -> dict[str, str]:
    by_form: dict[str, str] = {}
    for sentence in map(str.strip, _split(text)):
        key = normalize(sentence)
        if key:
            by_form.setdefault(key, sentence)
    return by_form


# Constants from here on were chosen by hand; `python -m tests.benchmarks.templates` measures what they reach.
_SAME_SENTENCE: Final = 0.87
"""Characters in common, as a share of the longer of two sentences, from which one was made from the other."""
_MOST_SENTENCES: Final = 200
_BOUNDARY: Final = "\ua66e"  # a letter of one manuscript, which normalisation leaves as it is


def share_sentences(one: str, other: str, least: float) -> bool:
    """Tell whether two texts have sentences in common, with few changes.

    They must be `least` of the shorter text's characters; true also when one of the texts is a single sentence, which
    proves nothing. Cost: O(sentences^2), of a few hundred at most, one microsecond each.

    >>> share_sentences("Rain fell. All roads were closed.", "All roads were closed! Nobody came to help.", 0.5)
    True
    """
    first, second = _normal_sentences(one), _normal_sentences(other)
    if min(len(first), len(second)) < 2:
        return True
    enough = least * min(sum(map(len, first)), sum(map(len, second)))
    both = (first, second), (second, first)
    return any(_count_among(of, others, holds) >= enough for holds in (_hold, _hold_changed) for of, others in both)


_Holds = Callable[[str, str, Sequence[str]], bool]


def _normal_sentences(text: str) -> list[str]:
    marked = _BOUNDARY.join(map(str.strip, _split(text.replace(_BOUNDARY, " "))[:_MOST_SENTENCES]))
    return [sentence for sentence in normalize(marked).split(_BOUNDARY) if sentence]


def _count_among(sentences: Sequence[str], others: Sequence[str], holds: _Holds) -> int:
    whole = " ".join(others)
    return sum(len(one) for one in sentences if holds(one, whole, others))


def _hold(one: str, whole: str, _: Sequence[str]) -> bool:
    return one in whole


def _hold_changed(one: str, whole: str, others: Sequence[str]) -> bool:
    return one in whole or bool(
        extractOne(one, others, scorer=LCSseq.normalized_similarity, score_cutoff=_SAME_SENTENCE)
    )


_UNSPACED: Final = "\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"[0-9]+(?: [0-9]+)*|[\u30a1-\u30ff]+|[^\s0-9{_UNSPACED}]+|[^\s0-9]")
"""In a normal form: a number, a word, or a character of a script without spaces."""
_VALUES: Final = frozenset("零一二三四五六七八九十百千月火水木金土日东南西北晴阴雨雪涨跌升降胜负")
"""Characters that alone are numbers, weekdays, wind directions, weather, or ups and downs."""
_ALIKE_NAMES, _SLIP = 0.6, 0.7
"""Characters in common from which two words are not different names, and from which one is a slip of the other."""
_LETTERS: Final = re.compile(r"[^\W\d_]+")
_IN_SENTENCE: Final = re.compile(r"(?<=[\w,;:] )[^\W\d_]+|(?<![^\W\d_])[^\W\d_]+(?=,)")  # not where one begins
_MOST_SLIPS: Final = 4
_MOST_WORDS: Final = 6
"""Replaced words beyond which a passage counts as rewritten."""
_LEAST_WORD: Final = 2
_LEAST_LENGTH: Final = 0.2
_HAN: Final = "\u2e80"


class Wording:
    def __init__(self, title: str, raw: str, text: str) -> None:
        self._title = title
        self._raw = raw
        self.text = text

    @cached_property
    def title(self) -> str:
        return normalize(self._title)

    @cached_property
    def names(self) -> Set[str]:
        """Words that are always capitalised within sentences."""
        small = {word for word in _LETTERS.findall(self._raw) if not word[0].isupper()}
        return {word.lower() for word in _IN_SENTENCE.findall(self._raw)} - small


class Replaced:
    """Facts that differ in equal surroundings of two texts.

    Stories made from one template differ in every slot: names, numbers, places, some in the headline (`linked`: each
    word occurs only in its own text). An editor's correction changes one fact, and a copyist's slips change letters.
    """

    def __init__(self, before: Wording, after: Wording, fact_chars: int) -> None:
        self._before, self._after = before, after
        self._fact_chars = fact_chars
        self._seen: set[str] = set()
        self.numbers = self.names = self.words = self.linked = self.slips = 0
        if before.title != after.title:
            self._compare_titles()

    def _compare_titles(self) -> None:
        for old, new in _groups(_TOKEN.findall(self._before.title), _TOKEN.findall(self._after.title)):
            if old and new and old != new:
                before = self.names + self.words
                if _is_own(old, self._before, self._after) and _is_own(new, self._after, self._before):
                    self._add(old, new)
                    self.linked += self.names + self.words - before
        self.slips = 0

    def add(self, before: str, after: str) -> bool:
        if before != after:
            old, new = _TOKEN.findall(before), _TOKEN.findall(after)
            pairs = [(old, new)] if len(old) <= 1 or len(new) <= 1 else _groups(old, new)
            for gone, come in pairs:
                if gone != come:
                    self._add(gone, come)
        facts = self.numbers + self.names + self.words
        return self.slips <= (2 * facts + _MOST_SLIPS if self.linked else facts // 2 + _MOST_SLIPS // 2)

    def _add(self, old: Sequence[str], new: Sequence[str]) -> None:
        if not old or not new or max(_count(old), _count(new)) > _MOST_WORDS:
            self.slips += 1
            return
        gone, come = ([token for token in side if token[0] > "9"] for side in (old, new))
        if len(gone) < len(old) and len(come) < len(new):
            numbers = ["".join(token for token in side if token[0] <= "9").replace(" ", "") for side in (old, new)]
            if numbers[0] != numbers[1] and self._is_new(numbers):
                if max(map(len, numbers)) > 2 and _common(*numbers) >= _SLIP:
                    self.slips += 1
                else:
                    self.numbers += 1
        if len(gone) == len(come) and _is_spaced(gone):
            for pair in zip(gone, come, strict=True):
                self._add_words(*pair)
        elif gone and come:
            self._add_words(*("".join(side) for side in (gone, come)))

    def _add_words(self, old: str, new: str) -> None:
        if old == new:
            return
        if old in _VALUES and new in _VALUES:
            self.numbers += self._is_new((old, new))
            return
        common, shortest = _common(old, new), min(len(old), len(new))
        if shortest < _LEAST_LENGTH * max(len(old), len(new)):
            self.slips += 1
        elif common >= _SLIP or shortest < _LEAST_WORD:
            self.slips += common >= _SLIP or old[0] >= _HAN
        elif common > _ALIKE_NAMES:
            return
        elif self._is_new((old, new)):
            if self._are_names(old, new):
                self.names += 1
            else:
                self.words += 1

    def _are_names(self, old: str, new: str) -> bool:
        return old in self._before.names and new in self._after.names

    def _is_new(self, pair: Sequence[str]) -> bool:
        is_new = self._seen.isdisjoint(pair)
        self._seen.update(pair)
        return is_new

    def are_of_two_stories(self) -> bool:
        facts = self.numbers + self.names + self.words
        if self.linked and (self.numbers or self.names):
            return facts >= 2 and self.slips <= 2 * facts
        if not self.numbers or facts < 3 or 2 * self.slips > facts:
            return False
        return (self.names >= 1 or self.words >= 2) and facts * self._fact_chars >= len(self._before.text)


def _common(one: str, other: str) -> float:
    return LCSseq.similarity(one, other) / max(len(one), len(other))


def _is_spaced(words: Sequence[str]) -> bool:
    return bool(words) and words[0][0] < _HAN


def _count(tokens: Sequence[str]) -> float:
    return sum(0.5 if len(token) == 1 and token >= _HAN else 1 for token in tokens)


def _is_own(tokens: Sequence[str], of: Wording, other: Wording) -> bool:
    piece = (" " if _is_spaced(tokens) or tokens[0][0] <= "9" else "").join(tokens)
    return piece in of.text and piece not in other.text
