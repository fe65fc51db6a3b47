"""Changes of an article between two visits.

Counters, "5 minutes ago", today's date, white space and headlines under the text are taken out before two texts are
compared.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from unicodedata import normalize

Text = tuple[str, str]
"""Title and text; paragraphs are separated by line feeds."""
Line = tuple[str, bool]
"""A line as it is compared, and whether it is a sentence."""

# Chosen by hand.
_MOST_CHARS = 1_000_000
_SHORT = 80
"""Longer lines are sentences; shorter ones may be labels."""
_LEFT_OVER = 2
"""Most characters left of a line that says only how often and when."""
_LEAST_CUT = 10
_MOST_TITLE = 1_000
_LEAST_GONE = 200
_WALL = 120
"""Letters of a wall's own text."""
_NOTICE = 240
"""Letters of a page that says only why there is nothing to read."""
_MOST_LINES = 400
"""Lines between the first and the last difference that are compared."""
_SHOWN_LINES = 40
_SHOWN_CHARS = 160
_BESIDE = 24

_COUNTED = (
    "阅读量?|浏览量?|点击量?|播放量?|评论数?|点赞数?|获赞|转发量?|收藏|分享|参与|人气|热度|访问量?|围观|在看|"
    "閱讀|瀏覽|點擊|評論|點讚|轉發|"
    "views?|reads?|comments?|shares?|likes?|clicks?|hits|plays?|retweets?|replies|votes?"
)
_NUMBER = r"\d[\d,.]{0,15} ?(?:万|萬|亿|k|m)?\+?"
_COUNTERS = re.compile(
    rf"(?:{_COUNTED})(?:次数|数|量)?[ :：(（]{{0,3}}{_NUMBER} ?(?:次|人|条|個|个)?[)）]?"
    rf"|{_NUMBER} ?(?:次|人|条|個|个)?(?:{_COUNTED})(?![a-z])",
    re.IGNORECASE,
)
_READERS = re.compile(rf"(?:阅读|浏览|点击|播放|閱讀|瀏覽|點擊)(?:次数|数|量)?[ :：]{{0,3}}{_NUMBER}", re.IGNORECASE)
"""Counters that stand in sentences, too."""
_AGO = re.compile(
    r"\d{1,4} ?(?:秒|分钟|分鐘|小时|小時|天|周|个月|年)(?:之)?前|刚刚|剛剛"
    r"|\b(?:\d{1,4}|an?) ?(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?) ago\b|\bjust now\b",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\d{4} ?[-/.年] ?\d{1,2} ?[-/.月] ?\d{1,2} ?日?|\d{1,2} ?月 ?\d{1,2} ?[日号]"
    r"|\d{1,2}[:：时]\d{2}(?:[:：分]\d{2}秒?)?(?:\.\d{1,6})?"
    r"|(?:星期|周|礼拜)[一二三四五六日天]|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|[上下]午|\b[ap]\.?m\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\b\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d{4}"
    r"|\b(?:gmt|utc|cst|bst|est)\b|农历\w{2,8}",
    re.IGNORECASE,
)
_LABELS = re.compile(
    r"今天是?|现在是?|现在时间|当前时间|当前|北京时间|页面|生成|访问|刷新|最后|最近|更新于?|修改|发布于?|时间|日期|服务器|共|已有|本文|次数|人数|数|次|人|条"
    r"|\b(?:today|now|is|current|local|server|time|date|last|updated?|modified|generated|page|on|at|the|it|as|of)\b",
    re.IGNORECASE,
)
_NO_WORD = re.compile(r"[^\w%‰]+|_+")
_POINT, _BELOW_ZERO = "\ua78f", "\u30fc"
"""Letters that stand for these marks."""
_DIGIT = re.compile(r"\d")
_THOUSANDS = re.compile(r"(?<=\d)[,，](?=\d{3}(?!\d))")
_WITHIN_NUMBER = re.compile(r"(?<=\d)\s?[^\w\s%‰]\s?(?=\d)")
"""A decimal point, a dash between two years: "3.5" is not "35", but which dash it is makes no difference."""
_MINUS = re.compile(r"(?<=[为至到于约达是由从降低\s(（,，、：:])[-−－](?=\d)")
_PIECES = re.compile(r"[-_|｜—–·]+")
_SHORTENED = ("…", "...")
_SENTENCE = re.compile(r"(?<=[。！？!?])(?![”’」』）)\"])")
_OTHERS = re.compile(r"\s*[【\[]?(?:推荐|相关|延伸|更多|热门|猜你)(?:阅读|新闻|链接|报道|文章|推荐|内容|喜欢)")
_ENDS = re.compile(r"[。！？!?；;…]|\.(?:\s|$)")


def differs(old: Text, new: Text) -> bool:
    r"""Tell whether an article says something else than before.

    A text cut short, as by a wall, says nothing else, nor does a notice in the place of a long text.
    Cost: O(characters).

    >>> differs(("题", "正文一段。\n阅读 100"), ("题", "正文一段。\n阅读 207"))
    False
    >>> differs(("题", "死亡人数升至3人。"), ("题", "死亡人数升至5人。"))
    True
    """
    titles = {_words(old[0]), _words(new[0])}
    before, after = _said(old[1], titles), _said(new[1], titles)
    if _is_beginning(before, after) or _is_notice(before, after):
        return False
    if not _same_title(old[0], new[0]):
        return True
    if "".join(key for key, _ in before) == "".join(key for key, _ in after):  # at most other paragraphs
        return False
    common = Counter(key for key, _ in before) & Counter(key for key, _ in after)
    return any(_says_more(lines, common) for lines in (before, after)) or _order(before, common) != _order(
        after, common
    )


def _same_title(old: str, new: str) -> bool:
    short, long = sorted((old.strip(), new.strip()), key=len)
    key = _words(short)
    if not key or key == _words(long):
        return True
    if short.endswith(_SHORTENED) and _words(long).startswith(key):
        return True
    pieces = [_words(piece) for piece in _PIECES.split(long[:_MOST_TITLE])]
    return any(key in {"".join(pieces[:place]), "".join(pieces[place:])} for place in range(1, len(pieces)))


def _is_beginning(before: Sequence[Line], after: Sequence[Line]) -> bool:
    common = next((n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old[0] != new[0]), len(after))
    size = sum(len(key) for key, _ in after[:common])
    rest = [key for key, _ in after[common:]]
    if rest and common < len(before) and len(rest[0]) >= _LEAST_CUT and before[common][0].startswith(rest[0]):
        size += len(rest.pop(0))
    whole = sum(len(key) for key, _ in before)
    return 0 < size <= whole / 2 and whole - size >= _LEAST_GONE and sum(map(len, rest)) <= min(size, _WALL)


def _is_notice(before: Sequence[Line], after: Sequence[Line]) -> bool:
    size, whole = (sum(len(key) for key, _ in lines) for lines in (after, before))
    if size > min(_NOTICE, whole / 3) or whole - size < _LEAST_GONE:
        return False
    return {key for key, _ in before}.isdisjoint(key for key, _ in after)


def _order(lines: Sequence[Line], common: Counter[str]) -> list[str]:
    return [key for key, is_sentence in lines if is_sentence and key in common]


def _says_more(lines: Sequence[Line], common: Counter[str]) -> bool:
    sentences = [place for place, (_, is_sentence) in enumerate(lines) if is_sentence]
    first, last = (sentences[0], sentences[-1]) if sentences else (0, len(lines))
    rest = Counter(common)
    for place, (key, _) in enumerate(lines):
        if rest[key] > 0:
            rest[key] -= 1
        elif first <= place <= last:
            return True
    return False


def _said(text: str, titles: Collection[str]) -> list[Line]:
    plain = normalize("NFKC", text[:_MOST_CHARS])
    lines = (key_line for line in plain.split("\n") for key_line in _line(line))
    return [(key, is_sentence) for key, is_sentence in lines if key not in titles]


def _line(line: str) -> Iterator[Line]:
    """No words if the line says only how often or when."""
    if (len(line) > _SHORT or _ENDS.search(line)) and not _OTHERS.match(line):
        yield _words(_AGO.sub("", _READERS.sub("", line))), True
        return
    plain = _AGO.sub("", _COUNTERS.sub("", line))
    if len(_words(_LABELS.sub("", _MOMENT.sub("", plain)))) > _LEFT_OVER:
        yield _words(plain), False


def _words(text: str) -> str:
    """Letters and digits, and the characters by which numbers differ."""
    if _DIGIT.search(text):
        text = _MINUS.sub(_BELOW_ZERO, _WITHIN_NUMBER.sub(_POINT, _THOUSANDS.sub("", text)))
    return _NO_WORD.sub("", text).casefold()


def describe_difference(old: Text, new: Text) -> list[str]:
    r"""Return changed lines for people: "- " before old ones, "+ " before new ones.

    Of long lines only the changed part is shown, of many lines the first dozens, then how many more there are.

    >>> describe_difference(("题", "一。\n二。"), ("题", "一。\n三。"))
    ['- 二。', '+ 三。']
    """
    titles = {_words(old[0]), _words(new[0])}
    before, after = (
        [title, *(line for line in text.split("\n") if _words(line) not in titles)] for title, text in (old, new)
    )
    if _same_title(old[0], new[0]):
        before[0] = after[0]
    before, after = _between(before, after)
    shown = [line for gone, come in _changed(before, after) for line in _shown(gone, come)]
    if len(shown) > _SHOWN_LINES:
        return [*shown[:_SHOWN_LINES], f"... and {len(shown) - _SHOWN_LINES} more lines"]
    return shown


def _changed(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    matcher = SequenceMatcher(None, [_words(one) for one in before], [_words(one) for one in after], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield before[a:b], after[c:d]


def _shown(gone: Sequence[str], come: Sequence[str]) -> Iterator[str]:
    if gone and come:
        before, after = ([part for line in lines for part in _SENTENCE.split(line) if part] for lines in (gone, come))
        for old, new in _changed(before[:_MOST_LINES], after[:_MOST_LINES]):
            paired = min(len(old), len(new))
            for one, other in zip(old[:paired], new[:paired], strict=True):
                yield from _beside(one, other)
            yield from (f"- {_cut(part)}" for part in old[paired:])
            yield from (f"+ {_cut(part)}" for part in new[paired:])
    else:
        yield from (f"- {_cut(line)}" for line in gone)
        yield from (f"+ {_cut(line)}" for line in come)


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    most = min(len(old), len(new))
    start = next((i for i in range(most) if old[i] != new[i]), most)
    return start, next((i for i in range(most - start) if old[-1 - i] != new[-1 - i]), most - start)


def _between(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    start, end = _common_ends(old, new)
    return old[start : len(old) - end][:_MOST_LINES], new[start : len(new) - end][:_MOST_LINES]


def _beside(old: str, new: str) -> list[str]:
    start, end = _common_ends(old, new)
    first = max(0, start - _BESIDE)
    rest = max(0, end - _BESIDE)
    head, tail = "…" if first else "", "…" if rest else ""
    return [f"{mark} {head}{_cut(line[first : len(line) - rest])}{tail}" for mark, line in (("-", old), ("+", new))]


def _cut(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"
