"""Summary of an article by its key sentences (S27)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .analysis import AnalysedText
from .frequencies import Frequencies

_CUES: Final = re.compile(
    r"综上|总之|总而言之|由此可见|可见|因此|结果(?:表明|显示)|(?:研究|调查|数据|报告)(?:表明|显示|发现)|指出|强调|宣布|"
    r"关键|重要的是|最终|綜上|總之|由此可見|結果(?:表明|顯示)|(?:研究|調查|數據|報告)(?:表明|顯示|發現)|強調|宣布|"
    r"\b(?:in (?:short|summary|conclusion|total)|to sum up|overall|as a result|therefore|announced|found that|"
    r"(?:results|figures|data) show|according to|most important)\b",
    re.IGNORECASE,
)
_TURNS: Final = re.compile(
    r"(?:然而|但是|不过|不過)(?=.{4})|(?:^|[，,；;])\W*但(?=.{4})|^\W*(?:however|but|yet)\b(?=.{8})", re.IGNORECASE
)
"""Turns: what follows them is what a text is about."""
_LEANS: Final = re.compile(r"^\W*(?:却|而且|另外|此外|also|moreover|and|meanwhile)(?![a-z])", re.IGNORECASE)
"""Openings of sentences that lean on the one before."""
_CLAUSE_ENDS: Final = re.compile(r"[，、；,;:：]|\s(?=\S)")
_ASKS: Final = re.compile(r"[?？]\W*$")
_DIGITS: Final = re.compile(r"\d|[一二三四五六七八九十百千万亿]{2}")

_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters of the summary, most of them weights of features in [0, 1].

    Attributes:
        chars: at most so many, twice as many in languages with blanks between words; a longer sentence is cut.
        cues: weight of phrases like "综上所述".
        turns: weight of "然而", "但是", "不过" and the like, which what follows gains.
        borders: weight of the first and the last sentence of a paragraph.
        leans: what a sentence loses that begins with "Moreover" and the like, or asks.
        likeness: share of words in common with those chosen from which a sentence repeats them.
        least: telling words of a sentence, at least.
    """

    sentences: int = 3
    chars: int = 200
    lead: float = 2.0
    tail: float = 0.2
    title: float = 1.0
    words: float = 1.0
    cues: float = 0.3
    numbers: float = 0.2
    turns: float = 0.1
    borders: float = 0.1
    leans: float = 0.4
    likeness: float = 0.5
    least: int = 4


DEFAULTS = Params()


def summarise(text: AnalysedText, frequencies: Frequencies, params: Params = DEFAULTS) -> str:
    """Return the sentences that tell most of an article, in their order.

    They stand as they are, with a blank between where the language has blanks; a text without a sentence of `least`
    telling words has no summary, unless it has only one.

    Cost:    O(words); 0.3 ms for 1,000 characters.
    Source:  S27: lead and tail, overlap with the title, cue phrases and turns (转折词后面的内容), first and last
             sentence of each paragraph, numbers.
    Differs: frequent rare words count too, questions and sentences that lean on others lose, and a sentence that
             repeats a chosen one is passed over.
    """
    spans = text.sentences[text.title_sentences :]
    size, behind = len(text.vocabulary), text.title_words
    of = np.repeat(np.arange(len(spans)), [span.last - span.first for span in spans])
    keys = np.sort((of * size + text.ids[behind:])[text.is_telling[behind:]])
    of, terms = np.divmod(keys[np.diff(keys, prepend=-1) > 0], max(1, size))
    sizes = np.bincount(of, minlength=len(spans))
    usable = np.flatnonzero(sizes >= params.least)
    if not len(usable) and len(spans) == 1 and sizes[0]:
        usable = np.zeros(1, np.int64)
    if not len(usable):
        return ""
    counts = np.bincount(text.ids[text.is_telling], minlength=size)
    weights = counts * np.array([idf for idf, _ in frequencies.look_up(text.vocabulary)])
    heavy = np.bincount(of, weights[terms], len(spans))[usable] / np.sqrt(sizes[usable])
    in_title = np.zeros(size, np.bool_)
    in_title[text.ids[:behind][text.is_telling[:behind]]] = True
    titled = np.bincount(of, in_title[terms], len(spans))[usable]
    least = params.lead / (1 + np.arange(len(usable))) + params.words * heavy / (heavy.max() or 1.0)
    least[-1] += params.tail * (len(usable) > 1)
    least += params.title * titled / max(1, in_title.sum())
    lasts, borders = np.cumsum(sizes).tolist(), _borders(text)
    sentences = [
        _Sentence(
            text.text[spans[number].start : spans[number].end],
            terms[lasts[number] - sizes[number] : lasts[number]],
            score,
            number in borders,
        )
        for number, score in zip(usable.tolist(), least.tolist(), strict=True)
    ]
    return _join([sentences[place].shown(params.chars) for place in _choose(sentences, in_title, params)])


class _Sentence(NamedTuple):
    """A sentence with its different terms, and its score by them and by its place."""

    text: str
    terms: NDArray[np.int64]
    least: float
    is_border: bool

    def shown(self, chars: int) -> str:
        return _shorten(self.text, chars)

    def score(self, params: Params) -> float:
        shown = self.shown(params.chars)
        score = self.least
        score += params.cues * bool(_CUES.search(shown)) + params.numbers * bool(_DIGITS.search(shown))
        score += params.turns * bool(_TURNS.search(shown)) + params.borders * self.is_border
        return score - params.leans * bool(_LEANS.search(shown) or _ASKS.search(shown))


def _borders(text: AnalysedText) -> set[int]:
    """Return numbers of sentences that begin or end a paragraph of several."""
    spans = text.sentences[text.title_sentences :]
    breaks = [
        number
        for number in range(1, len(spans))
        if "\n" in text.text[spans[number - 1].end - 1 : spans[number].start + 1]
    ]
    paragraphs = pairwise((0, *breaks, len(spans)))
    return {number for first, end in paragraphs if end - first > 1 for number in (first, end - 1)}


def _choose(sentences: Sequence[_Sentence], in_title: NDArray[np.bool_], params: Params) -> list[int]:
    """Return the places of the best sentences that repeat nothing and find room.

    What else tells in a sentence is sought where no other can be better, and not in one that is out already.
    """
    chosen: dict[int, set[int]] = {}
    room = params.chars
    signs = (params.cues, params.numbers, params.turns, params.borders, -params.leans)
    extra = sum(max(0.0, weight) for weight in signs) + _ROUNDING
    queue = [(-sentence.least - extra, False, place) for place, sentence in enumerate(sentences)]
    heapify(queue)
    while queue and len(chosen) < params.sentences:
        _, is_scored, place = heappop(queue)
        sentence = sentences[place]
        size, bag = _size(sentence.shown(params.chars)), set(sentence.terms.tolist())
        repeats = any(len(bag & other) > params.likeness * min(len(bag), len(other)) for other in chosen.values())
        if repeats or (chosen and size > room) or (len(sentences) > 1 and in_title[sentence.terms].all()):
            continue
        if is_scored:
            chosen[place] = bag
            room -= size
        else:
            heappush(queue, (-sentence.score(params), True, place))
    return sorted(chosen)


def _join(sentences: Sequence[str]) -> str:
    joined = ""
    for sentence in sentences:
        is_apart = joined and (ord(joined[-1]) < 0x2E80 or joined[-1].isalnum())
        joined += f" {sentence}" if is_apart else sentence
    return joined


def _size(sentence: str) -> int:
    """Return the characters of a sentence, half of them where words have blanks."""
    return len(sentence) // (2 if sentence.count(" ") * 12 > len(sentence) else 1)


@lru_cache(maxsize=128)
def _shorten(sentence: str, most: int) -> str:
    sentence = " ".join(sentence.split())
    if _size(sentence) <= most:
        return sentence
    head = sentence[: most * len(sentence) // _size(sentence)]
    ends = [match.end() for match in _CLAUSE_ENDS.finditer(head) if 2 * match.end() > len(head)]
    return (head[: ends[-1]] if ends else head).rstrip(" ,，、;；:：") + "…"
