"""Judge pages: harmful or not, of what kind, and why; Chinese alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..words import STOP_WORDS, fold, han_runs
from .features import BITS, MAX_CHARS, Hashes, OwnedSigns, features, features_of_all, located, read
from .model import KIND_BITS, LONG, HarmModel, HarmReading, logistic, shipped
from .records import CLEAN, HarmKind, HarmPart, HarmReason, HarmVerdict

_THRESHOLD: Final = 0.5
_DOUBT: Final = 0.49
"""Highest score of what has no word that tells so."""
_TITLE_CHARS: Final = 400
_MOST_PARTS: Final = 12
_MOST_LINES: Final = 300
_SEPARATOR: Final = re.compile(r"\s[-–—|]+\s|[_|｜]+")
_BLANK: Final = re.compile(r"\s")
_CLAUSE_GAP: Final = re.compile(r"(?<=[\u3400-\u9fff])\s++|(?<!\s)\s++(?=[\u3400-\u9fff])")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+")
_OTHER_WORD: Final = re.compile(
    r"[^\W\d_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3][^\s\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]*+"
)
"""A word of another language; a URL is one."""
_URL: Final = re.compile(r"(?:https?://|www\.)[!-~]*+", re.IGNORECASE)
_HOST: Final = re.compile(r"(?<![a-z\d.-])(?=[a-z-]*\d)(?=\d*[a-z])[a-z\d-]{4,30}\.[a-z]{2,6}(?![a-z\d])")
"""A host of letters and digits, as are made by the hundred; a site names itself by letters."""
_SYLLABLE: Final = re.compile(r"[\u3040-\u30fb\u30fd-\u30ff\uac00-\ud7a3]+")
_LEAST_HAN: Final = 2
"""Chinese characters of a part of a page that may be foreign to it."""
_SYLLABLES: Final = 0.1
"""Share of them from which a text is no Chinese one."""
_MOST_LINKS: Final = 200
_LINK_CHARS: Final = 100
_FEW_LINKS: Final = 3
_SURE: Final = 0.9
"""Score from which a line of a text decides, and a link is a further reason."""
_MOST_WORDS: Final = 5
_LAST_COMMON: Final = 0xD7
"""Row of GB 2312 of the last of its common characters."""
_WORD_CHARS: Final = 8


def judge(title: str, text: str, anchors: Sequence[str] = (), model: HarmModel | None = None) -> HarmVerdict:
    """Judge a page by its title, its extracted text and the texts of its links.

    What the text is about does not decide: a report of a crime has its words, but is written as news is. Each piece of
    the title and each line of the text is held against the rest, too: of an honest page they say what the rest says.
    Links never decide: the menu of an honest site reads like a post. Without a word that tells so, or not in Chinese,
    it is no harm. 400 characters of the title (several are joined by " | "), `MAX_CHARS` of the text and 200 anchors
    count.

    Cost: O(characters), 0.8 ms for 1,000 Chinese ones; the first call reads the model and builds tables (0.1 s).
    Source: of the task: 龙珑, 邓伟, 绿色网络网页正文内容提取算法 (S26); `blocks.score` is its way.
    Differs: runs of characters instead of words, titles and links besides the text.

    >>> judge("", "").is_harmful
    False
    """
    model = model or shipped()
    title, text = title.strip()[:_TITLE_CHARS], text.strip()[:MAX_CHARS]
    main, part = (text, HarmPart.TEXT) if text else (joined(title), HarmPart.TITLE)
    parts: list[tuple[float, bool, HarmPart, str]] = []
    if is_chinese(main):
        parts.append((model.score(features(main), len(main)), True, part, main))
    if text and not _is_syllabic(text):
        for odds, place, piece, signs in foreign_parts(title, text, model.short, model.foreign):
            score, is_own = logistic(odds), place is HarmPart.TEXT and 2 * len(piece) > len(text)
            if place is HarmPart.TEXT:
                # Many honest lines are foreign, as what an author offers below each article; and reports quote posts.
                score = min(score, model.score(signs, len(piece)))
                score = score if score >= _SURE else min(score, _DOUBT)
            parts.append((score, is_own, place, piece))
    harmful = [
        (score, model.kind(features(main)) if is_own else HarmKind.HIJACKED, HarmReason(part, words))
        for score, is_own, part, piece in parts
        if score >= _THRESHOLD and (words := telling(piece, model))
    ]
    if not harmful:
        highest = max([score for score, *_ in parts], default=0.0)
        return HarmVerdict(min(highest, _DOUBT)) if parts else CLEAN
    reasons = [reason for *_, reason in sorted(harmful, key=lambda each: -each[0])]
    if words := _harmful_links(anchors, model):
        reasons.append(HarmReason(HarmPart.LINKS, words))
    kinds = [kind for _, kind, _ in harmful if kind is not HarmKind.HIJACKED]
    return HarmVerdict(max([score for score, *_ in harmful]), (*kinds, HarmKind.HIJACKED)[0], tuple(reasons))


def foreign_parts(
    title: str, text: str, reading: HarmReading, weights: Sequence[float]
) -> list[tuple[float, HarmPart, str, Hashes]]:
    """Return the most foreign piece of title and line: log-odds, place, words, signs.

    It reads like a post, and its pairs of letters are nowhere else on the page, which says less of short parts: the
    name of a site stands in no text. A part that is not Chinese is none.
    """
    if not (_HAN.search(title) or _HAN.search(text)):
        return []
    pieces = pieces_of(title)
    lines = [line for each in text.split("\n") if (line := each.strip())][:_MOST_LINES]
    parts = [_URL.sub("", part) if "." in part or ":" in part else part for part in map(joined, (*pieces, *lines))]
    chosen = np.array([number for number, part in enumerate(parts) if is_chinese(part, _LEAST_HAN)], np.int64)
    if not len(chosen):
        return []
    signs, pairs = features_of_all(parts)
    margins = reading.margins(signs, len(parts))
    is_post = np.zeros(len(parts), np.bool_)
    is_post[chosen] = margins[chosen] > 0
    of_margin, of_absence, of_titles, of_lines = weights
    odds = np.full(len(parts), -np.inf)
    odds[chosen] = (of_margin * margins + of_absence * _absences(pairs, len(pieces), is_post) ** 2)[chosen]
    foreign = []
    for place, bias, first, last in (
        (HarmPart.TITLE, of_titles, 0, len(pieces)),
        (HarmPart.TEXT, of_lines, len(pieces), len(parts)),
    ):
        best = max(range(first, last), key=odds.__getitem__, default=0)
        if first < last and odds[best] > -np.inf:
            foreign.append((float(odds[best]) + bias, place, parts[best], signs.signs[signs.of == best]))
    return foreign


def _absences(pairs: OwnedSigns, pieces: int, is_post: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the share of the pairs of letters of each part that are nowhere else.

    The first `pieces` are of the title and count as one; parts that read like posts (`is_post`) speak for no other.
    """
    of = pairs.of
    # with the index numpy sorts by merging, which is faster
    different, _, found = np.unique(pairs.signs >> (BITS - KIND_BITS), return_index=True, return_inverse=True)
    owner = np.maximum(of - pieces + 1, 0)
    first, last = whose = np.full((2, len(different)), -1)
    honest = ~is_post[of]
    first[found[honest][::-1]] = owner[honest][::-1]
    last[found[honest]] = owner[honest]
    elsewhere = ((whose[:, found] >= 0) & (whose[:, found] != owner)).any(axis=0)
    return np.bincount(of[~elsewhere], minlength=len(is_post)) / (np.bincount(of, minlength=len(is_post)) + 1)


def pieces_of(title: str) -> list[str]:
    """Return the pieces of a title, each once.

    >>> pieces_of("大桥通车 | 大桥通车_河口在线")
    ['大桥通车', '河口在线']
    """
    return list(dict.fromkeys(piece for each in _SEPARATOR.split(title) if (piece := each.strip())))[:_MOST_PARTS]


def joined(headline: str) -> str:
    """Return a headline without the blanks between its Chinese clauses.

    Some sites set headlines with them; otherwise blanks are a sign of posts.

    >>> joined("电影院卖起站票 看的是老片")
    '电影院卖起站票看的是老片'
    """
    return _CLAUSE_GAP.sub("", headline) if _BLANK.search(headline) else headline


def telling(text: str, model: HarmModel) -> tuple[str, ...]:
    """Return the words of a harmful text that tell most of it, folded.

    Chinese ones that weigh for harm, then throw-away hosts; if there is neither, the Chinese words that weigh most.
    """
    codes = read(text)
    if not len(codes):
        return ()
    reading = model.short if len(text) < LONG else model.long
    weights = np.zeros(len(codes))
    for hashes, length in located(codes):
        if length:
            votes = reading.weights(hashes)
            for place in range(length):
                weights[place : place + len(votes)] += votes / length
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    letters = codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    hosts = _HOST.findall(fold(text[:MAX_CHARS]))
    for least in (0.0, -np.inf):
        spans = list(_phrases(letters, sums, least))
        ranked = [
            letters[start:end] for start, end in sorted(spans, key=lambda span: float(sums[span[0]] - sums[span[1]]))
        ]
        if words := list(dict.fromkeys([*filter(is_common, ranked), *hosts]))[:_MOST_WORDS]:
            return tuple(words)
    return ()


def is_common(word: str) -> bool:
    """Tell whether a word is of common characters alone, the 3,755 of GB 2312.

    >>> is_common("注册"), is_common("櫗欴")
    (True, False)
    """
    code = word.encode("gb2312", "replace")
    return len(code) == 2 * len(word) and max(code[::2]) <= _LAST_COMMON


def _phrases(letters: str, sums: NDArray[np.float64], least: float) -> Iterator[tuple[int, int]]:
    for at, words in han_runs(letters):
        start = end = at
        for word in [*words, ""]:
            last = end + len(word)
            tells = word not in STOP_WORDS and sums[last] - sums[end] > least
            if not tells or last - start > _WORD_CHARS:
                if end - start > 1:
                    yield start, end
                start = end if tells else last
            end = last


def _harmful_links(anchors: Sequence[str], model: HarmModel) -> tuple[str, ...]:
    texts = [joined(anchor.strip()[:_LINK_CHARS]) for anchor in anchors[:_MOST_LINKS]]
    texts = [text for text in dict.fromkeys(texts) if is_chinese(text, _LEAST_HAN)]
    if len(texts) < _FEW_LINKS:
        return ()
    scored = [(model.score(features(text), len(text)), text) for text in texts]
    harmful = [text for score, text in sorted(scored, reverse=True) if score >= _SURE]
    return telling("\n".join(harmful), model) if len(harmful) >= _FEW_LINKS else ()


def is_chinese(text: str, least: int = 2) -> bool:
    """Tell whether a text has Chinese characters, and no more words of other kinds.

    >>> is_chinese("加微信QQ群"), is_chinese("Hekou 河口 Daily Herald"), is_chinese("ワクチン接種会場")
    (True, False, False)
    """
    text = text[:MAX_CHARS]
    count = _chars(_HAN, text)
    return count >= least and count >= len(_OTHER_WORD.findall(text)) and not _is_syllabic(text)


def _is_syllabic(text: str) -> bool:
    syllables = _chars(_SYLLABLE, text)
    return syllables > 0 and syllables > _SYLLABLES * _chars(_HAN, text)


def _chars(runs: re.Pattern[str], text: str) -> int:
    return sum(map(len, runs.findall(text)))
