"""Endless news made of real articles: other stories in the same words, their reprints, and daily bulletins.

A story is put together from runs of sentences of a few real articles; then some of its words become other words of
like frequency and length, each everywhere in the story, and its numbers other numbers. So stories share phrases,
boilerplate and statistics with one another and with the articles, but none is a near-duplicate of another. All of it
follows from the seed and the number of the story; nothing is kept.
"""

from __future__ import annotations

import random
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]

_TOKEN = re.compile(r"([\u3400-\u4dbf\u4e00-\u9fff]+)|\d+|[^\W\d_]+|\s+|.", re.DOTALL)
_COMMON = 200
"""The most frequent words, which no story replaces: they carry no matter."""
_SPREAD = 3.0
"""A word becomes one of at most so many times its rank among words of its length."""
_REPLACED = {"zh": (0.3, 0.8), "en": (0.5, 0.9)}
"""Least and most share of the words that a story replaces; the most frequent ones not counted. English news of the
corpus are short and full of formulas: with less, two stories would be the same indeed."""
_STOCK = {"zh": 0.7, "en": 0.2}
"""Share of the parts of a story that are a real sentence word for word, which others use too, few of them very often.
So much that, among some thousands, stories share about as many sampled shingles with one another (zh 8 %, en 17 %) as
real articles do (10 %, 19 %)."""
_STOCK_WORDS = 40
"""Longest of these sentences,"""
_MOST_STOCK = 0.25
"""and their share of a story, at most: else two stories would be the same indeed."""
_BULLETINS = 200
_RECENT = 20_000
"""Most reprints are of a story among so many last ones."""
_FURNITURE = {
    "zh": (
        "【字体：大 中 小】 【打印】 【关闭】\n分享到：微信 微博 QQ空间\n",
        "首页 > 新闻 > 国内新闻 > 正文\n",
        "\n责任编辑：王晓\n声明：本文系转载，版权归原作者所有，不代表本网观点。",
        "\n（来源：综合新闻网）\n上一篇：要闻速览\n下一篇：今日财经",
    ),
    "en": (
        "Home > News > World\nShare this: Facebook Twitter Email Print\n",
        "By Staff Reporter | Published 3 hours ago\n",
        "\nSign up to our newsletter for the latest news. All rights reserved.",
        "\nRead more: Top stories of the day. This material may not be published without permission.",
    ),
}
EDITS = ("exact", "furniture", "lead", "cut", "signs", "order", "words", "mixed")


class Document(NamedTuple):
    """One document of the stream.

    Attributes:
        story: number of the story it tells.
        kind: "new", "bulletin" or one of `EDITS`, for a reprint.
    """

    title: str
    text: str
    story: int
    kind: str


class VariedNews:
    """A stream of documents made of real articles.

    Args:
        articles: titles and texts.
        language: "zh" or "en".
        seed: another one makes another stream.
    """

    def __init__(self, articles: Sequence[tuple[str, str]], language: str, seed: int) -> None:
        self._seed = seed
        self._furniture = _FURNITURE[language]
        counts: Counter[str] = Counter()
        cut = [(list(_tokens(title)), list(_tokens(text))) for title, text in articles]
        for title, text in cut:
            counts.update(title)
            counts.update(text)
        self._words, ids = self._vocabulary(counts)
        self._titles = [np.array([ids[token] for token in title], np.int64) for title, _ in cut]
        self._texts = [np.array([ids[token] for token in text], np.int64) for _, text in cut]
        self._sentences = [_sentences(text) for _, text in cut]
        self._replaced, self._stock_share = _REPLACED[language], _STOCK[language]
        self._stock = [
            text[first:last]
            for text, starts in zip(self._texts, self._sentences, strict=True)
            for first, last in pairwise(starts)
            if last - first <= _STOCK_WORDS
        ]
        random.Random(seed).shuffle(self._stock)
        digits = [sum(token.isdigit() for token in text) / (len(text) + 50) for _, text in cut]
        self._bulletins = sorted(range(len(cut)), key=lambda number: -digits[number])[:_BULLETINS]

    def _vocabulary(self, counts: Counter[str]) -> tuple[list[str], dict[str, int]]:
        """Words by class and frequency, and for each the ranks between which its replacement lies."""
        numbers = [str(number) for number in range(1000)] + [str(number) for number in range(1000, 10_000, 7)]
        counts.update(number for number in numbers if number not in counts)
        common = {word for word, _ in counts.most_common(_COMMON) if not word.isdigit()}
        classes: dict[tuple[int, int], list[str]] = {}
        for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            if word.isdigit():
                kind = (1, len(word))
            elif word in common or not word.isalpha():
                kind = (0, 0)
            else:
                kind = (2 + ("\u3400" <= word[0] <= "\u9fff") + 2 * word[0].isupper(), min(len(word), 8))
            classes.setdefault(kind, []).append(word)
        words: list[str] = []
        low: list[int] = []
        high: list[int] = []
        for (sort, _), members in sorted(classes.items()):
            first, size = len(words), len(members)
            words += members
            for rank in range(size):
                if sort == 0:
                    low.append(first + rank)
                    high.append(first + rank + 1)
                elif sort == 1:
                    low.append(first)
                    high.append(first + size)
                else:
                    low.append(first + int(rank / _SPREAD))
                    high.append(first + min(size, int((rank + 5) * _SPREAD) + 1))
            if sort == 1:
                self._numbers_end = len(words)
            if sort == 0:
                self._numbers_start = len(words)
        self._low = np.array(low, np.int64)
        self._span = np.array(high, np.int64) - self._low
        return words, {word: number for number, word in enumerate(words)}

    def _varied(self, ids: Ids, seed: int, replaced: float) -> Ids:
        """Some words of a story for others, each everywhere alike; all numbers."""
        mixed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(seed)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        chosen = (mixed & np.uint64(1023)) < int(1024 * replaced)
        chosen |= (ids >= self._numbers_start) & (ids < self._numbers_end)
        other = self._low[ids] + ((mixed >> np.uint64(20)) % self._span[ids].astype(np.uint64)).astype(np.int64)
        return np.where(chosen, other, ids)

    def _ids(self, story: int) -> tuple[Ids, Ids, str]:
        """Title and text of a story as words by number, and its kind."""
        draw = random.Random(self._seed * 1_000_003 + story)
        salt = draw.getrandbits(63)
        if draw.random() < 0.01:
            base = self._bulletins[draw.randrange(len(self._bulletins))]
            return self._varied(self._titles[base], salt, 0.0), self._varied(self._texts[base], salt, 0.0), "bulletin"
        base = draw.randrange(len(self._texts))
        wanted = max(60, self._texts[base].size)
        sources = [base, *(draw.randrange(len(self._texts)) for _ in range(3))]
        replaced = draw.uniform(*self._replaced)
        parts: list[Ids] = []
        have = quoted = 0
        while have < wanted:
            if draw.random() < self._stock_share:
                part = self._stock[int(len(self._stock) * draw.random() ** 4)]
                if quoted + part.size > _MOST_STOCK * wanted:
                    continue
                quoted += part.size
            else:
                source = sources[draw.randrange(len(sources))]
                starts = self._sentences[source]
                first = draw.randrange(len(starts) - 1)
                last = min(first + draw.randint(2, 6), len(starts) - 1)
                part = self._varied(self._texts[source][starts[first] : starts[last]], salt, replaced)
            parts.append(part)
            have += max(10, part.size)
        return self._varied(self._titles[base], salt, replaced), np.concatenate(parts), "new"

    def _text(self, ids: Ids) -> str:
        words = self._words
        return "".join([words[number] for number in ids.tolist()])

    def story(self, number: int) -> Document:
        """A story in its first form."""
        title, text, kind = self._ids(number)
        return Document(self._text(title), self._text(text), number, kind)

    def reprint(self, number: int, edit: str, draw: random.Random) -> Document:
        """A reprint of a story."""
        title, text, _ = self._ids(number)
        size = text.size
        if edit == "lead":
            size = draw.randint(5, 25)
            lead = self._varied(self._texts[draw.randrange(len(self._texts))][:size], draw.getrandbits(63), 0.5)
            text = np.concatenate((lead, text[size // 2 :]))
        elif edit in {"cut", "mixed"}:
            text = text[: int(size * draw.uniform(0.55, 0.95))]
        elif edit == "order":
            at = draw.randint(size // 4, size // 2)
            text = np.concatenate((text[at:], text[:at]))
        elif edit == "words":
            other = self._varied(text, draw.getrandbits(63), 1.0)
            text = np.where(np.arange(size) % draw.randint(12, 25) == 3, other, text)
        told = self._text(text)
        if edit in {"furniture", "mixed"}:
            told = f"{draw.choice(self._furniture[:2])}{told}{draw.choice(self._furniture[2:])}"
        if edit in {"signs", "mixed"}:
            characters = list(told)
            for _ in range(len(told) // 50):
                at = draw.randrange(len(told))
                characters[at] = characters[draw.randrange(len(told))]
            told = "".join(characters)
        return Document(self._text(title), told, number, edit)

    def stream(self, reprints: float = 0.2) -> Iterator[Document]:
        """Documents without end, some of them reprints of earlier stories."""
        draw = random.Random(self._seed)
        told = array("Q")  # stories that may be reprinted
        number = 0
        while True:
            if told and draw.random() < reprints:
                first = max(0, len(told) - _RECENT) if draw.random() < 0.9 else 0
                yield self.reprint(told[draw.randrange(first, len(told))], draw.choice(EDITS), draw)
                continue
            document = self.story(number)
            if document.kind == "new":
                told.append(number)
            yield document
            number += 1


def _tokens(text: str) -> Iterator[str]:
    """Words, numbers and everything between them; nothing is lost."""
    for found in _TOKEN.finditer(text):
        if found[1]:
            yield from _cut(found[1])
        else:
            yield found[0]


def _cut(run: str) -> Sequence[str]:
    """Chinese words."""
    try:
        import rjieba

        return rjieba.cut(run)
    except ImportError:
        import jieba

        jieba.setLogLevel(60)
        return jieba.lcut(run)


def _sentences(tokens: Sequence[str]) -> list[int]:
    """Where sentences begin, and the end."""
    ends = [at + 1 for at, token in enumerate(tokens) if token in "。！？!?" or "\n" in token or token == "."]
    return sorted({0, *ends, len(tokens)})
