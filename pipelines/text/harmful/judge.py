"""Judge pages: harmful or not, of what kind, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np

from .features import BITS, MAX_CHARS, Hashes, features, features_of_all, located, pairs, read
from .model import LONG, HarmModel, logistic, shipped
from .records import CLEAN, HarmKind, HarmPart, HarmReason, HarmVerdict

_THRESHOLD: Final = 0.5
_TITLE_CHARS: Final = 300
_MOST_PARTS: Final = 8
_SEPARATOR: Final = re.compile(r"\s[-–—|]+\s|[_|｜]+")
_CLAUSE_GAP: Final = re.compile(r"(?<=[\u3400-\u9fff])\s++|(?<!\s)\s++(?=[\u3400-\u9fff])")
_MOST_LINKS: Final = 200
_LINK_CHARS: Final = 100
_FEW_LINKS: Final = 3
_FEW_CHARS: Final = 3
"""Links with no more are not judged."""
_MOST_KNOWN: Final = 10_000
"""Links whose scores are kept."""
_MOST_WORDS: Final = 5
_WORD_CHARS: Final = 8
_PLAIN: Final = 0.8
"""Share of the characters of a harmful text that are not shown."""


def judge(title: str, text: str, anchors: Sequence[str] = (), model: HarmModel | None = None) -> HarmVerdict:
    """Judge a page by its title, its extracted text and the texts of its links.

    What the text is about does not decide: a report of a crime has its words, but is written as news is. Signs are runs
    of characters, which hidden spellings change less than words. A title is judged piece by piece, and held against the
    text: of an honest page it says what the text says.

    Args:
        title: may be empty; 300 characters count.
        text: extracted; may be empty; `MAX_CHARS` characters count.
        anchors: texts of the page's links; the first 200 count.
        model: the shipped one by default.

    Returns:
        The verdict. No letter and no digit is no harm.

    Cost: O(characters), 0.5 ms for 1,000 Chinese ones; the first call reads the model and builds tables (0.1 s).
    Source: of the task: 龙珑, 邓伟, 绿色网络网页正文内容提取算法 (S26); `blocks.score` is its way.
    Differs: runs of characters instead of words, titles and links besides the text.

    >>> judge("", "").is_harmful
    False
    """
    model = model or shipped()
    title, text = _legible(title)[:_TITLE_CHARS], _legible(text)
    found: list[tuple[float, HarmKind, HarmPart, str]] = []
    highest = 0.0
    own, under = (text, title) if text else (joined(title), "")
    if own:
        signs = features(own)
        highest = model.score(signs, len(own))
        if highest >= _THRESHOLD:
            found.append((highest, model.kind(signs), HarmPart.TEXT if text else HarmPart.TITLE, own))
    if under:
        odds, part = worst_part(under, signs, model)
        score = logistic(odds)
        highest = max(highest, score)
        if score >= _THRESHOLD:
            kind = HarmKind.HIJACKED if not found else found[0][1]
            found.append((score, kind, HarmPart.TITLE, part))
    if anchors:
        score, part = _judge_links(anchors, model)
        highest = max(highest, score)
        if score >= _THRESHOLD:
            found.append((score, found[0][1] if found else HarmKind.HIJACKED, HarmPart.LINKS, part))
    if not found:
        return HarmVerdict(highest) if own or anchors else CLEAN
    reasons = tuple(
        HarmReason(part, telling(piece, model)) for _, _, part, piece in sorted(found, key=lambda each: -each[0])
    )
    return HarmVerdict(highest, found[0][1], reasons)


def worst_part(title: str, signs: Hashes, model: HarmModel) -> tuple[float, str]:
    """Return the log-odds and the text of the most foreign part of a title.

    It reads like a post, and its pairs of letters are not in the text. A short part says less by that: the name of a
    site or a column stands in no text.

    Args:
        title: not empty: a headline, alone or with more beside it.
        signs: of the text under it.
        model: the model.
    """
    of_margin, of_absence, bias = model.foreign
    in_text = np.zeros(1 << BITS, np.bool_)
    in_text[signs] = True
    pieces = [piece.strip() for piece in _SEPARATOR.split(title)[:_MOST_PARTS]]
    found = []
    for part in dict.fromkeys([piece for piece in pieces if piece] or [title]):
        own = pairs(part)
        # A page's own title has some pairs of its text at least, and a short part of it might.
        absence = (float((~in_text[own]).sum()) / (len(own) + 1)) ** 2
        found.append((of_margin * model.short.margin(features(joined(part))) + of_absence * absence + bias, part))
    return max(found)


def joined(headline: str) -> str:
    """Return a headline without the blanks between its Chinese clauses.

    Some sites set headlines with them; otherwise blanks are a sign of posts.

    >>> joined("电影院卖起站票 看的是老片")
    '电影院卖起站票看的是老片'
    """
    return _CLAUSE_GAP.sub("", headline)


def telling(text: str, model: HarmModel) -> tuple[str, ...]:
    """Return the pieces of a harmful text that tell most of it, folded."""
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
    letters = codes.astype(np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
    threshold = max(float(np.quantile(weights, _PLAIN)), 0.0)
    marked = "".join("+" if weight > threshold else " " for weight in weights.tolist())
    spans = [match.span() for match in re.finditer(r"\++", marked)]
    ranked = sorted(spans, key=lambda span: -float(weights[slice(*span)].max()))
    found = [letters[start:end].strip()[:_WORD_CHARS] for start, end in ranked]
    return tuple(dict.fromkeys([word for word in found if len(word) > 1]))[:_MOST_WORDS]


def _judge_links(anchors: Sequence[str], model: HarmModel) -> tuple[float, str]:
    """Return the share of links that are harmful, from three on, and the worst one."""
    texts = {text for anchor in anchors[:_MOST_LINKS] if len(text := anchor.strip()[:_LINK_CHARS]) > _FEW_CHARS}
    known = _known_links(model)
    if unknown := [text for text in texts if text not in known]:
        if len(known) > _MOST_KNOWN:
            known.clear()
            unknown = list(texts)
        whole = list(map(joined, unknown))
        found = zip(whole, features_of_all(whole), strict=True)
        known.update(zip(unknown, [model.score(signs, len(text)) for text, signs in found], strict=True))
    scores = [(known[text], text) for text in texts]
    harmful = sum(score >= _THRESHOLD for score, _ in scores)
    if harmful < _FEW_LINKS:
        return 0.0, ""
    return min(1.0, _THRESHOLD + harmful / len(scores) / 2), max(scores)[1]


@cache
def _known_links(model: HarmModel) -> dict[str, float]:
    """Return scores by the texts of links; pages of a site share most of them."""
    return {}


def _legible(text: str) -> str:
    """Return a text without blanks around; empty if it has no letter or digit."""
    text = text.strip()
    return text if any(map(str.isalnum, text[:MAX_CHARS])) else ""
