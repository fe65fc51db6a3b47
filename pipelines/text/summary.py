"""Summary of an article by its key sentences (S27)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

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
    bags = [set(text.telling_terms(span.first, span.last)) for span in spans]
    usable = [number for number, bag in enumerate(bags) if len(bag) >= params.least]
    if not usable:
        usable = [0] if len(spans) == 1 and bags[0] else []
    if not usable:
        return ""
    weights = {term: count * frequencies.idf(term) for term, count in text.counts.items()}
    title = set(text.telling_terms(0, text.title_words))
    shown = [_shorten(text.text[spans[number].start : spans[number].end], params.chars) for number in usable]
    heavy = [sum(map(weights.__getitem__, bags[number])) / math.sqrt(len(bags[number])) for number in usable]
    most = max(heavy) or 1.0
    borders = _borders(text)
    scores = []
    for place, (number, sentence) in enumerate(zip(usable, shown, strict=True)):
        score = params.lead / (1 + place) + params.words * heavy[place] / most
        score += params.tail * (place == len(usable) - 1 > 0)
        score += params.title * len(title & bags[number]) / max(1, len(title))
        score += params.cues * bool(_CUES.search(sentence)) + params.numbers * bool(_DIGITS.search(sentence))
        score += params.turns * bool(_TURNS.search(sentence)) + params.borders * (number in borders)
        score -= params.leans * bool(_LEANS.search(sentence) or _ASKS.search(sentence))
        scores.append(score)
    return _join(_choose(scores, [bags[number] for number in usable], shown, title, params), shown)


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


def _choose(scores: list[float], bags: list[set[str]], shown: list[str], title: set[str], params: Params) -> list[int]:
    chosen: list[int] = []
    room = params.chars
    for number in sorted(range(len(scores)), key=lambda each: (-scores[each], each)):
        size = _size(shown[number])
        repeats = any(
            len(bags[number] & bags[other]) > params.likeness * min(len(bags[number]), len(bags[other]))
            for other in chosen
        )
        if repeats or (bags[number] <= title and len(scores) > 1) or (chosen and size > room):
            continue
        chosen.append(number)
        room -= size
        if len(chosen) == params.sentences:
            break
    return sorted(chosen)


def _join(chosen: list[int], shown: list[str]) -> str:
    joined = ""
    for number in chosen:
        is_apart = joined and (ord(joined[-1]) < 0x2E80 or joined[-1].isalnum())
        joined += f" {shown[number]}" if is_apart else shown[number]
    return joined


def _size(sentence: str) -> int:
    """Return the characters of a sentence, half of them where words have blanks."""
    return len(sentence) // (2 if sentence.count(" ") * 12 > len(sentence) else 1)


def _shorten(sentence: str, most: int) -> str:
    sentence = " ".join(sentence.split())
    if _size(sentence) <= most:
        return sentence
    head = sentence[: most * len(sentence) // _size(sentence)]
    ends = [match.end() for match in _CLAUSE_ENDS.finditer(head) if 2 * match.end() > len(head)]
    return (head[: ends[-1]] if ends else head).rstrip(" ,，、;；:：") + "…"
