"""Words of a text without stop words; Chinese is cut by jieba's dictionary."""

from __future__ import annotations

import json
import math
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Final, Protocol
from unicodedata import category

import numpy as np
import Stemmer
from numpy.typing import NDArray

from ..decode.scripts import HAN, simplified
from ..document.tokens import character_pairs
from ..document.tokens import terms as pairs
from .spellings import JOINERS, asked_spellings, plain, spellings

MAX_CHARS: Final = 20_000
_MAX_WORD_CHARS: Final = 40
# Chinese is cut in pieces, because the time jieba takes for unknown words grows with the square of their length.
_RUN = re.compile(
    r"([\u3400-\u4dbf\u4e00-\u9fff]{1,400})|([\u0e00-\u0eff\u3040-\u30ff\uac00-\ud7af]+)|"
    r"[^\W\d_\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}"
)
UNCUT: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
"""Characters of runs that are to be cut into words or pairs."""
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_ASCII_LETTERS = re.compile(r"[A-Za-z]{2,}")
_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{1,400}")
# What is left: scripts without blanks; numbers, which keep their point and lose commas; words.
_PAIRED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\uac00-\ud7af]+")
_NUMBER = r"\d{1,3}(?:[,٬]\d{3})++(?:[.٫]\d+)?"
# Letters of the same word stand on both sides of marks and signs without a form, in Hebrew of quotation marks (צה"ל),
# in Catalan of a point (l·l). Apostrophes end words, whatever they are written with.
LETTER: Final = (
    r"[^\W_\u02bb\u02bc\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
)
_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if category(chr(code)) in {"Mn", "Mc", "Me"})
INSIDE_WORDS: Final = f"[{_MARKS}{JOINERS}]"
"""Vowel signs and other marks, which belong to the word whose letters they follow."""
_DIGIT = re.compile(r"\d")
_INSIDE = INSIDE_WORDS + r"|(?<=[\u05d0-\u05ea])[\"״'׳](?=[\u05d0-\u05ea])|(?<=l)·(?=l)"
_PLAIN = rf"\d++(?:[.٫]\d+)*+(?![a-z])|{LETTER}++(?:(?:{_INSIDE})++{LETTER}*+)*+"
ASCII_WORD: Final = r"[A-Za-z]++(?![\w\x80-\U0010ffff])"
"""A word beside which stand ASCII signs alone: found sooner than by what knows all letters."""
_OTHER_WORD = re.compile(rf"(?=[^\u3400-\u9fff ])(?:{ASCII_WORD}|{_NUMBER}|{_PLAIN})")
_OTHER_RUN = re.compile(f"({_PAIRED.pattern})|{_NUMBER}|{_PLAIN}")
_INNER_SIGNS: Final = str.maketrans("", "", ",\"'")
HALF_WIDTH_PAIR: Final = re.compile("[\uff66-\uff9d][\uff9e\uff9f]")
"""A kana of half width and its mark, which are one character of full width."""
_APART: Final = "，"
_ASSIGNED: Final = 0x323B0
"""Code points from here on are their own form."""
_LONGER: Final = np.uint32(sys.maxunicode + 1)
_MOST_TAGS: Final = 30_000
"""Words whose tags are remembered: some 5 MB."""
_NEVER: Final = -3.14e100
"""Logarithm of what has no likelihood in jieba's model."""
_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Snowball's algorithm for each language but English."""
_STOP_WORDS: Final = Path(__file__).with_name("stop_words.json")


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that say nothing of a topic, if it is known.

    >>> "the" in stop_words("en"), len(stop_words("tlh"))
    (True, 0)
    """
    listed: dict[str, str] = json.loads(_STOP_WORDS.read_text(encoding="utf-8"))
    return frozenset(listed.get(language.partition("-")[0], "").split())


STOP_WORDS: Final = stop_words("en") | stop_words("zh")
_ACRONYMS: Final = frozenset({"IT", "US", "WHO"})
"""Stop words but for their capitals; they keep them."""


def words(text: str) -> list[str]:
    """Return the telling words of a text in their order, with repeats.

    Lower-case words of two letters or more, English plurals in the singular; Chinese words as jieba cuts them, in
    simplified characters; for Thai, Japanese kana and Korean each pair of neighbouring characters. Numbers and
    `STOP_WORDS` are left out; `MAX_CHARS` characters count. Cost: O(characters); for 1,000 of them 0.1 ms, in Chinese
    2.5 ms with jieba and 0.1 ms with rjieba; the first Chinese text costs 1.5 s more, for the dictionary.

    >>> words("The rivers of Hekou, 2024")
    ['river', 'hekou']
    """
    return _words(text, lambda run: _cutter().cut(run))


def search_words(text: str) -> list[str]:
    """Return the words to look for: `words`, and the parts of long Chinese ones.

    >>> search_words("bridges")
    ['bridge']
    """
    return _words(text, lambda run: _cutter().cut_for_search(run))


@lru_cache(maxsize=8)
def fold(text: str) -> str:
    """Fold a text for a search: NFKC, without case, in simplified characters.

    Cost: O(characters), 0.02 ms for 1,000 Chinese ones; the first call builds the table (0.15 s).

    >>> fold("ＨＥＫＯＵ 大橋")
    'hekou 大桥'
    """
    text = text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
    if text.isascii():
        return text.casefold()
    text = HALF_WIDTH_PAIR.sub(lambda pair: unicodedata.normalize("NFKC", pair[0]), text)
    table, longer = _folding()
    forms = code_points(text, table)
    if forms.max() == _LONGER:
        for code in longer.keys() & set(map(ord, text)):
            text = text.replace(chr(code), longer[code])
        return fold(text)
    return forms.tobytes().decode("utf-32-le", "surrogatepass")


def code_points(text: str, table: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
    """Return the code points of a text, or their forms in a table.

    Code points beyond the end of the table are their own form.

    >>> code_points("河口").tolist()
    [27827, 21475]
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    if table is None or not len(codes):
        return codes
    forms = table.take(codes, mode="clip")
    return forms if codes.max() < len(table) else np.where(codes < len(table), forms, codes)


@cache
def _folding() -> tuple[NDArray[np.uint32], Mapping[int, str]]:
    han = simplified()
    table = np.arange(_ASSIGNED, dtype=np.uint32)
    table[list(han)] = list(han.values())
    plain = np.zeros(_ASSIGNED, np.bool_)  # letters that have no other form: most of all
    for first, last in (*HAN, (0xAC00, 0xD7A3)):
        plain[first : last + 1] = True
    longer = {}
    for code in np.flatnonzero(~plain).tolist():
        character = chr(code)
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold()).translate(han)
        if len(folded) == 1:
            table[code] = ord(folded)
        else:
            table[code] = _LONGER
            longer[code] = folded
    return table, longer


def index_words(folded: str, language: str) -> list[str]:
    """Return the words of a folded text as a full-text index has them, with repeats.

    Numbers; words, stop words and single letters too, with their English stem, in all their `spellings`, in other
    languages that Snowball knows also with `tagged` ones; of Chinese, Thai, Burmese, Khmer, Japanese kana and Korean
    each pair of neighbouring characters, of Chinese also the words of jieba's search mode (long ones and their parts)
    that have one character, or three and more: those of two are pairs.

    Cost: O(characters); for 1,000 Chinese ones 0.4 ms with rjieba.

    >>> index_words("the bridges of hekou cost 2.5", "en"), index_words("müller", "")
    (['the', 'bridg', 'of', 'hekou', 'cost', '2.5'], ['muller', 'mueller'])
    """
    tokens: list[str] = []
    rest = without_han(folded)
    if runs := _HAN_RUN.findall(folded):
        for run in runs:
            tokens += character_pairs(run)
        for word in _cut(_APART.join(runs)):
            if len(word) > 3:
                tokens += _parts(word)
            if len(word) != 2 and word != _APART:
                tokens.append(word)
    others = other_word_list(rest)
    tokens += map(english_stem, others) if rest.isascii() else chain.from_iterable(map(word_tokens, others))
    if tag := tagger(language):
        tokens += map(tag, others)
    return tokens


def han_runs(folded: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (start, words in their order) of each run of Chinese characters.

    >>> next(han_runs("看河口大桥"))
    (0, ['看', '河口', '大桥'])
    """
    for run in _HAN_RUN.finditer(folded):
        yield run.start(), list(_cutter().cut(run[0]))


def tagged_runs(runs: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield (words, their parts of speech) of each run of Chinese characters.

    Runs are simplified, at most 400 characters each. Words are those of `han_runs`, tags those of jieba's dictionary; a
    word that it lacks has the tag that its characters make likely, or "x". Cost: O(characters); 0.3 ms for 1,000.

    >>> next(tagged_runs(["看河口大桥"]))
    (('看', '河口', '大桥'), ('v', 'ns', 'ns'))
    """
    if not runs:
        return
    words = _cut(_APART.join(runs))
    tags = _tags(words)
    first = 0
    for _ in runs[1:]:
        last = words.index(_APART, first)
        yield words[first:last], tags[first:last]
        first = last + 1
    yield words[first:], tags[first:]


def find_han(folded: str) -> list[str]:
    """Return the runs of Chinese characters of a folded text, at most 400 each.

    >>> find_han("看河口, 大桥")
    ['看河口', '大桥']
    """
    return _HAN_RUN.findall(folded)


def without_han(folded: str) -> str:
    """Return a folded text with line breaks in place of runs of Chinese characters."""
    return "\n".join(_HAN_RUN.split(folded))


def cut_han(runs: Sequence[str]) -> list[str]:
    """Return the words of runs of Chinese characters, all cut at once.

    >>> cut_han(["看河口", "大桥"])
    ['看', '河口', '大桥']
    """
    return [word for word in _cut(_APART.join(runs)) if word != _APART] if runs else []


@lru_cache(maxsize=8)
def _cut(runs: str) -> tuple[str, ...]:
    """Return the words of joined runs, which the index and keywords both ask for."""
    return tuple(_cutter().cut(runs))


@lru_cache(maxsize=10_000)
def _parts(word: str) -> list[str]:
    """Return the words of three characters inside a longer one."""
    return list(filter(_cutter().has_word, (word[at : at + 3] for at in range(len(word) - 2))))


def _tags(words: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of speech of words; they are the same in every text."""
    known, tag = _known_tags(), _cutter().tag
    with suppress(KeyError):
        return tuple(map(known.__getitem__, words))
    new = set(words).difference(known)
    if len(known) + len(new) > _MOST_TAGS:
        known.clear()
        new = set(words)
    for word in new:
        tagged = list(tag(word))
        if len(tagged) == 1:
            known[word] = sys.intern(tagged[0][1])
    if not new <= known.keys():  # some words are cut in two where they stand alone
        known.update(tag("".join(words)))
    return tuple(map(known.__getitem__, words))


@cache
def _known_tags() -> dict[str, str]:
    return {}


@lru_cache(maxsize=8)
def other_word_list(folded: str) -> tuple[str, ...]:
    """Return the words that `other_words` yields.

    >>> other_word_list("the 2,500 bridges")
    ('the', '2500', 'bridges')
    """
    if not folded.isascii() and _PAIRED.search(folded):
        return tuple(word for word, _, _ in other_words(folded))
    # one call finds all, where there is nothing to be done with most
    words = _OTHER_WORD.findall(folded)
    return tuple([word[:_MAX_WORD_CHARS] if word.isalnum() else _bare(word) for word in words])


def _bare(word: str) -> str:
    return word.translate(_INNER_SIGNS)[:_MAX_WORD_CHARS]


def other_words(folded: str) -> Iterator[tuple[str, int, int]]:
    """Yield (word, start, end) of what is not Chinese, of Thai and others pairs."""
    for match in _OTHER_RUN.finditer(folded):
        start, end = match.span()
        if match[1]:
            yield from ((pair, start + n, start + n + len(pair)) for n, pair in enumerate(pairs(match[1])))
        else:
            yield _bare(match[0]), start, end


@lru_cache(maxsize=100_000)
def english_stem(word: str) -> str:
    """Return a folded word without its English endings.

    >>> english_stem("bridges")
    'bridg'
    """
    stem: str = _snowball("english").stemWord(word)
    return stem


@lru_cache(maxsize=100_000)
def word_tokens(word: str) -> tuple[str, ...]:
    """Return the tokens by which the index has a folded word, whatever its language.

    >>> word_tokens("bridges"), word_tokens("écoles")
    (('bridg',), ('ecol',))
    """
    return tuple(dict.fromkeys(map(english_stem, spellings(word))))


def asked_tokens(word: str, taggers: Iterable[Callable[[str], str]]) -> tuple[str, ...]:
    """Return the tokens by which a folded word of a query is looked for.

    >>> asked_tokens("häuser", [tagger("de")])
    ('hauser', 'haeuser', 'haus.de')
    """
    tokens = list(map(english_stem, asked_spellings(word)))
    if not _DIGIT.search(word):
        tokens += [tag(word) for tag in taggers]
    return tuple(dict.fromkeys(tokens))


@cache
def tagger(language: str) -> Callable[[str], str] | None:
    """Return the function that stems a word and adds its language; None for English.

    None also where no stems are known. The language keeps stems of different ones apart: French makes "new" of "news".

    >>> tagger("de")("häuser")
    'haus.de'
    """
    code = language.partition("-")[0]
    name = _STEMMERS.get(code)
    if name is None:
        return None
    stem = _snowball(name).stemWord
    return lru_cache(maxsize=50_000)(lambda word: f"{plain(stem(word))}.{code}")


@cache
def _snowball(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name, 0)


def _words(text: str, cut: Callable[[str], Iterable[str]]) -> list[str]:
    text = text[:MAX_CHARS]
    if text.isascii():
        return list(filter(None, map(_word, _ASCII_LETTERS.findall(text))))
    if not UNCUT.search(text):
        return list(filter(None, map(_word, _LETTERS.findall(text))))
    words: list[str] = []
    for run in _RUN.finditer(text):
        if run[1]:
            words += [word for word in cut(run[1].translate(simplified())) if word not in STOP_WORDS]
        elif run[2]:
            words += pairs(run[2])
        elif word := _word(run[0]):
            words.append(word)
    return words


@lru_cache(maxsize=100_000)
def _word(run: str) -> str:
    if run in _ACRONYMS:
        return run
    word = run.lower()
    return "" if word in STOP_WORDS else _singular(word[:_MAX_WORD_CHARS])


def _singular(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else word[:-1]


class _Cutter(Protocol):
    def cut(self, sentence: str, /) -> Iterable[str]: ...

    def cut_for_search(self, sentence: str, /) -> Iterable[str]: ...

    def tag(self, sentence: str, /) -> Iterable[tuple[str, str]]: ...

    def has_word(self, word: str, /) -> bool: ...


class _SlowCutter:
    def __init__(self) -> None:
        tokenizer = _import_quietly("jieba").Tokenizer()
        # jieba's own set-up would print, and write a cache file
        with tokenizer.get_dict_file() as file:
            tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(file)
        tokenizer.initialized = True
        self._dictionary = tokenizer.get_dict_file
        self.cut: Callable[[str], Iterable[str]] = tokenizer.cut
        self.cut_for_search: Callable[[str], Iterable[str]] = tokenizer.cut_for_search
        self._frequencies: dict[str, int] = tokenizer.FREQ

    def has_word(self, word: str) -> bool:
        return self._frequencies.get(word, 0) > 0

    def tag(self, sentence: str) -> Iterator[tuple[str, str]]:
        tags = self._tags
        for word in self.cut(sentence):
            yield word, tags.get(word) or _likely_tag(word)

    @cached_property
    def _tags(self) -> dict[str, str]:
        with self._dictionary() as file:
            lines = [line.split() for line in file.read().decode("utf-8").splitlines()]
        return {line[0]: sys.intern(line[2]) for line in lines}


def _import_quietly(name: str) -> Any:
    """Import a module of jieba, whose source has invalid escapes that Python warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(name)


@lru_cache(maxsize=50_000)
def _likely_tag(word: str) -> str:
    """Return the tag of a word that the dictionary lacks, by jieba's model (Viterbi)."""
    model = _import_quietly("jieba.posseg")
    ways: dict[tuple[str, str], tuple[float, tuple[tuple[str, str], ...]]] = {}
    for character in word:
        states = model.char_state_tab_P.get(character)
        if states is None:
            return "x"
        following = {state for before in ways for state in model.trans_P[before]}
        extended = {}
        for state in set(states) & following or following or states:
            odds, path = max(
                ((odds + model.trans_P[path[-1]].get(state, -math.inf), path) for odds, path in ways.values()),
                default=(model.start_P[state], ()),
            )
            extended[state] = odds + model.emit_P[state].get(character, _NEVER), (*path, state)
        ways = extended
    odds, path = max((way for way in ways.values() if way[1][-1][0] in "ES"), default=(_NEVER, ()))
    if odds <= _NEVER:
        return "x"
    tag, longest, length = "", 0, 0
    for place, part in path:
        length += 1
        if place in "ES":
            if length >= longest:
                tag, longest = part, length
            length = 0
    return tag


@cache
def _cutter() -> _Cutter:
    """Load rjieba where it is installed, else jieba; both find the same words."""
    if find_spec("rjieba") is not None:
        fast: _Cutter = import_module("rjieba")
        return fast
    return _SlowCutter()
