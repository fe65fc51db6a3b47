"""Words of a text without stop words; Chinese is cut by jieba's dictionary."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol

import Stemmer

from ..decode.scripts import simplified
from ..document.tokens import terms as pairs

MAX_CHARS: Final = 20_000
"""Characters of a text that are read."""
_MAX_WORD_CHARS: Final = 40
# Chinese is cut in pieces, because the time jieba takes for unknown words grows with the square of their length.
_RUN = re.compile(
    r"([\u3400-\u4dbf\u4e00-\u9fff]{1,400})|([\u0e00-\u0eff\u3040-\u30ff\uac00-\ud7af]+)|"
    r"[^\W\d_\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2,}"
)
_HAN_RUN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{1,400}")
# What is left: scripts without blanks; numbers, which keep their point and lose commas; words.
_OTHER_RUN = re.compile(
    r"([\u0e00-\u0eff\u3040-\u30ff\uac00-\ud7af]+)|"
    r"(\d{1,3}(?:,\d{3})++(?:\.\d+)?)|\d++(?:\.\d+)*+(?![a-z])|[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)
_APART: Final = "，"
_STEMMERS: Final = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Snowball's algorithm for each language but English."""
_ENGLISH: Final = (
    "about above after again against all almost also although always am among an and another any anyone anything are "
    "around as at be became because become been before being below between both but by can cannot click could did do "
    "does doing done down during each either else ever every few first for from further get had has have having he her "
    "here hers herself him himself his home how however if in into is it its itself just last least less like made "
    "many may me might more most much must my myself near neither never new next no none nor not nothing now of off "
    "often on once one only onto or other others our ours ourselves out over own page per perhaps please rather "
    "same see several she should since site so some someone something sometimes still such than that the their "
    "theirs them themselves then there therefore these they this those though three through thus to together too "
    "toward towards two under until up upon us used using very via was we were what when where whether which while "
    "who whole whom whose why will with within without would yet you your yours yourself "
    "http https www htm html xhtml shtml php asp aspx jsp index"
)
_CHINESE: Final = (
    "的 了 和 是 在 就 都 而 及 与 或 也 还 又 不 没 没有 我 你 他 她 它 我们 你们 他们 她们 它们 这 那 这个 "
    "那个 这些 那些 这里 那里 这样 那样 什么 怎么 如何 为什么 哪 哪些 哪里 谁 一个 一些 一种 一样 一直 一般 "
    "一次 一下 有 有的 有些 对 对于 关于 从 向 往 由 被 把 将 让 使 给 为 为了 因 因为 因此 所以 所 以 以及 "
    "以后 以前 之 之后 之前 之间 其 其中 其他 其它 则 若 如 如果 如此 但 但是 不过 然而 虽然 尽管 即 即使 并 "
    "并且 而且 且 只 只是 只有 只要 才 很 更 更加 最 太 非常 十分 比 比较 跟 同 同时 到 至 于 上 下 中 里 内 "
    "外 前 后 时 时候 会 能 能够 可 可以 可能 应 应该 需要 要 必须 得 地 着 过 吧 吗 呢 啊 呀 嘛 说 表示 来 "
    "去 等 等等 各 各种 每 每个 另 另外 某 该 此 这种 那种 已 已经 曾 正 正在 再 多 少 个 位 种 次 年 月 日 "
    "今 今天 昨天 明天 目前 现在 当 当时 通过 根据 按照 进行 作为 成为 由于 首页 更多 点击 本 本报 本网 编辑 "
    "责任编辑 记者"
)
STOP_WORDS: Final = frozenset(_ENGLISH.split()) | frozenset(_CHINESE.split())
"""Words that say nothing of a topic."""
_ACRONYMS: Final = frozenset({"IT", "US", "WHO"})
"""Stop words but for their capitals; they keep them."""


def words(text: str) -> list[str]:
    """Return the telling words of a text in their order, with repeats.

    Args:
        text: any string; the first `MAX_CHARS` characters count.

    Returns:
        Lower-case words of two letters or more, English plurals in the singular; Chinese words as jieba cuts them,
        traditional ones in simplified characters; for Thai, Japanese kana and Korean each pair of neighbouring
        characters. Numbers and `STOP_WORDS` are left out.

    Cost: O(characters); for 1,000 of them 0.1 ms, in Chinese 2.5 ms with jieba and 0.1 ms with rjieba. The first
    Chinese text costs 1.5 s more, for the dictionary.

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


def fold(text: str) -> str:
    """Fold a text for a search: NFKC, without case, in simplified characters.

    Cost: O(characters), 0.06 ms for 1,000 Chinese ones; the first call builds the table (0.2 s).

    >>> fold("ＨＥＫＯＵ 大橋")
    'hekou 大桥'
    """
    text = text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)
    return text.casefold() if text.isascii() else text.translate(_folding())


@cache
def _folding() -> Mapping[int, str]:
    """Map the code points that `fold` changes."""
    han = simplified()
    table = {}
    for code in range(0x323B0):
        character = chr(code)
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", character).casefold()).translate(han)
        if folded != character:
            table[code] = folded
    return table


def index_words(folded: str, language: str) -> list[str]:
    """Return the words of a folded text as a full-text index has them, with repeats.

    Args:
        folded: from `fold`; all of it is read.
        language: of the text; empty if unknown.

    Returns:
        Numbers; words, stop words and single letters too, with their English stem, in other languages that Snowball
        knows also with `tagged` ones; of Chinese, Thai, Japanese kana and Korean each pair of neighbouring characters,
        of Chinese also the words of jieba's search mode (long ones and their parts) that have one character, or three
        and more: those of two are pairs.

    Cost: O(characters); for 1,000 Chinese ones 0.4 ms with rjieba.

    >>> index_words("the bridges of hekou cost 2.5", "en")
    ['the', 'bridg', 'of', 'hekou', 'cost', '2.5']
    """
    found: list[str] = []
    rest = folded
    if runs := _HAN_RUN.findall(folded):
        rest = "\n".join(_HAN_RUN.split(folded))
        for run in runs:
            found += map(str.__add__, run, run[1:])
        cut = _cutter().cut_for_search(_APART.join(runs))
        found += [word for word in cut if len(word) != 2 and word != _APART]
    others = [word for word, _, _ in other_words(rest)]
    found += map(english_stem, others)
    if tag := tagger(language):
        found += map(tag, others)
    return found


def han_runs(folded: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (start, words in their order) of each run of Chinese characters.

    >>> next(han_runs("看河口大桥"))
    (0, ['看', '河口', '大桥'])
    """
    for run in _HAN_RUN.finditer(folded):
        yield run.start(), list(_cutter().cut(run[0]))


def han_words(folded: str) -> list[str]:
    """Return the Chinese words of a folded text, all cut at once.

    >>> han_words("看河口, 大桥")
    ['看', '河口', '大桥']
    """
    runs = _HAN_RUN.findall(folded)
    return [word for word in _cutter().cut(_APART.join(runs)) if word != _APART] if runs else []


def other_words(folded: str) -> Iterator[tuple[str, int, int]]:
    """Yield (word, start, end) of what is not Chinese, of Thai and others pairs."""
    for match in _OTHER_RUN.finditer(folded):
        start, end = match.span()
        if match[1]:
            yield from ((pair, start + n, start + n + len(pair)) for n, pair in enumerate(pairs(match[1])))
        elif match[2]:
            yield match[2].replace(",", ""), start, end
        else:
            yield match[0][:_MAX_WORD_CHARS], start, end


@lru_cache(maxsize=100_000)
def english_stem(word: str) -> str:
    """Return a folded word without its English endings.

    >>> english_stem("bridges")
    'bridg'
    """
    stem: str = _snowball("english").stemWord(word)
    return stem


@cache
def tagger(language: str) -> Callable[[str], str] | None:
    """Return the function that stems a word and adds its language; None for English.

    None also where no stems are known. With their language stems of different languages stay apart: French makes "new"
    of "news".

    >>> tagger("de")("häuser")
    'haus.de'
    """
    code = language.partition("-")[0]
    name = _STEMMERS.get(code)
    if name is None:
        return None
    stem = _snowball(name).stemWord
    return lru_cache(maxsize=50_000)(lambda word: f"{stem(word)}.{code}")


@cache
def _snowball(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name, 0)


def _words(text: str, cut: Callable[[str], Iterable[str]]) -> list[str]:
    """Return the words of a text, those of Chinese runs as `cut` gives them."""
    found: list[str] = []
    for run in _RUN.finditer(text[:MAX_CHARS]):
        if run[1]:
            found += [word for word in cut(run[1].translate(simplified())) if word not in STOP_WORDS]
        elif run[2]:
            found += pairs(run[2])
        elif run[0] in _ACRONYMS:
            found.append(run[0])
        elif (word := run[0].lower()) not in STOP_WORDS:
            found.append(_singular(word[:_MAX_WORD_CHARS]))
    return found


def _singular(word: str) -> str:
    """Return an English plural in the singular."""
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > 4 else word[:-1]


class _Cutter(Protocol):
    """Interface of jieba's tokenizer and of the module rjieba."""

    def cut(self, sentence: str, /) -> Iterable[str]: ...

    def cut_for_search(self, sentence: str, /) -> Iterable[str]: ...


@cache
def _cutter() -> _Cutter:
    """Load rjieba where it is installed, else jieba; both find the same words.

    jieba's own set-up would print, and write a cache file; the dictionary is read here instead.
    """
    if find_spec("rjieba") is not None:
        fast: _Cutter = import_module("rjieba")
        return fast
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its source has invalid escapes, which Python tells of when it compiles them
        jieba = import_module("jieba")
    tokenizer = jieba.Tokenizer()
    with tokenizer.get_dict_file() as file:
        tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(file)
    tokenizer.initialized = True
    found: _Cutter = tokenizer
    return found
