"""New words of a crawl: neighbours that hold together and stand freely."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final

from ..text.analysis import LATIN, NUMBER, PAIR, AnalysedText
from ..text.lexicon import MOST_CHARS

MOST_PAIRS: Final = 200_000
"""Pairs and triples of words that are held; beyond it the rarest are forgotten."""
_MOST_NEIGHBOURS: Final = 32
"""Different neighbours on either side that are told apart; more make a word no freer."""
_NO_ENDS: Final = frozenset("rpcuydmqfet")
"""First letters of the tags that begin and end no new word: pronouns, particles, adverbs, numbers, measures."""
_EDGE: Final = ""
"""Stands for punctuation and the ends of sentences: a neighbour as free as any."""


@dataclass(frozen=True, slots=True)
class Params:
    """Lower bounds of new words; see `NewWord`."""

    count: int = 8
    cohesion: float = 4.0
    freedom: float = 1.2


DEFAULTS = Params()


@dataclass(frozen=True, slots=True)
class NewWord:
    """A word, in simplified characters, that the dictionary does not have.

    `count` is at least how often it was seen; `cohesion` the mutual information of its parts, `freedom` the entropy of
    its neighbours on the less free side, in nats.
    """

    word: str
    count: int
    cohesion: float
    freedom: float


class _Seen:
    __slots__ = ("count", "left", "right")

    def __init__(self) -> None:
        self.count = 0
        self.left: Counter[str] = Counter()
        self.right: Counter[str] = Counter()


class NewWords:
    """Counts of neighbouring words, from which new ones are found.

    A word is new when its parts stand together far more often than chance would have it (cohesion), and many different
    words stand before and behind it (freedom): 五分 is held together by 五分钟, but not free to its right.

    Cost:   0.3 ms an article; `MOST_PAIRS` pairs at most, some 100 MB. What is forgotten has to be seen anew.
    Source: 顾森 (Matrix67), 互联网时代的社会语言学：基于SNS的文本数据挖掘, 2012; K. Church, P. Hanks, Word association
            norms, 1990.
    """

    def __init__(self) -> None:
        self._words: Counter[str] = Counter()
        self._seen: dict[tuple[str, ...], _Seen] = {}
        self._least = 1
        self._total = 0

    def __len__(self) -> int:
        return len(self._seen)

    def learn(self, text: AnalysedText) -> None:
        words, tags, joined = text.words, text.tags, text.joined
        last = len(words)
        for at, word in enumerate(words):
            if tags[at] in (LATIN, NUMBER, PAIR):
                continue
            self._words[word] += 1
            self._total += 1
            for end in (at + 2, at + 3):
                if end > last or not joined[end - 1] or tags[end - 1] in (LATIN, NUMBER, PAIR):
                    break
                if tags[at][0] in _NO_ENDS or tags[end - 1][0] in _NO_ENDS:
                    continue
                seen = self._seen.get(words[at:end])
                if seen is None:
                    seen = self._seen[words[at:end]] = _Seen()
                seen.count += 1
                _note(seen.left, words[at - 1] if joined[at] else _EDGE)
                _note(seen.right, words[end] if end < last and joined[end] else _EDGE)
        self._forget()

    def find(self, params: Params = DEFAULTS) -> list[NewWord]:
        words = []
        for parts, seen in self._seen.items():
            word = "".join(parts)
            if seen.count < params.count or len(word) > MOST_CHARS:
                continue
            cohesion = min(self._cohesion(seen.count, parts[:cut], parts[cut:]) for cut in range(1, len(parts)))
            freedom = min(_entropy(seen.left), _entropy(seen.right))
            if cohesion >= params.cohesion and freedom >= params.freedom:
                words.append(NewWord(word, seen.count, cohesion, freedom))
        return sorted(words, key=lambda each: (-each.count, each.word))

    def _cohesion(self, count: int, first: tuple[str, ...], second: tuple[str, ...]) -> float:
        """Return the mutual information of two parts; forgotten ones count as the whole."""
        sizes = [
            self._words[part[0]] if len(part) == 1 else seen.count if (seen := self._seen.get(part)) else count
            for part in (first, second)
        ]
        return math.log(count * self._total / (max(sizes[0], count) * max(sizes[1], count)))

    def _forget(self) -> None:
        while len(self._seen) > MOST_PAIRS:
            self._seen = {parts: seen for parts, seen in self._seen.items() if seen.count > self._least}
            self._least += 1
        if len(self._seen) < MOST_PAIRS // 2:
            self._least = 1
        if len(self._words) > MOST_PAIRS:
            self._words = Counter({word: count for word, count in self._words.items() if count > 1})


def _note(neighbours: Counter[str], word: str) -> None:
    """Count a neighbour, if there is room; punctuation is another one each time."""
    if word == _EDGE:
        word = str(len(neighbours) % _MOST_NEIGHBOURS)
    if word in neighbours or len(neighbours) < _MOST_NEIGHBOURS:
        neighbours[word] += 1


def _entropy(counts: Counter[str]) -> float:
    total = sum(counts.values())
    return -sum(count / total * math.log(count / total) for count in counts.values()) if total else 0.0
