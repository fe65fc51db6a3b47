"""Publisher that a page credits for its article (来源)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..decode.scripts import simplify
from ..decode.text import clean
from ..document.document import Document
from ..document.structured_data import find_meta
from ..word_lists import WordLists
from .lines import split_fields

MAX_SOURCE_CHARS: Final = 60
_META: Final = ("contentsource", "source", "article:source", "weibo: article:source", "og:article:source")
_LISTS: Final = WordLists(Path(__file__).with_name("words") / "sources.txt")
_any = _LISTS.pattern
_LABELLED = re.compile(
    rf"(?<!{_any('not before labels')}){_any('labels')}\s{{0,3}}[于於]?"
    r"\s{0,3}(?:[:：｜丨]|\s\|\s|(?<=[摘编編]自)(?=[《“「]))\s{0,4}"
    r"[(（]?\s?([^\s|｜()（）\[\]【】<>]{2,40}(?: [A-Za-z][^\s|｜]{0,20}){0,3})"
)
_CUT = re.compile(rf"(?:{_any('cut')}|20\d\d[-年/.]|【|，|。|\d{{1,2}}:\d\d).*$")
_DATE = re.compile(r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}|\d{1,2}:\d\d|\d月\d{1,2}日")
# Of names in simplified characters; 央视新闻 is a publisher, 国内新闻 a channel.
_PUBLISHER = re.compile(rf"^(?:\d\d)?[^\W\d_][^\W\d_·－-]{{0,12}}{_any('publisher endings')}$")
_CHANNEL = re.compile(rf"^{_any('channels')}+{_any('channel endings')}$")
_NO_PUBLISHER = re.compile(rf"^(?:{_any('no publisher beginnings')}|图片(?!社))|{_any('no publisher endings')}$")
_NO_SOURCE = re.compile(rf"^{_any('no sources')}?\W{{0,3}}$", re.IGNORECASE)
_LABEL = re.compile(rf"^{_any('stated labels')}\s?:\s?", re.IGNORECASE)
_PICTURED = re.compile(rf"^{_any('pictured')}\b|{_any('picture agencies')}", re.IGNORECASE)
_NAME = re.compile(r"(?:^|[\s_-])(?:src|source|laiyuan|ly|media-?name|js_name|origin)(?:$|[\s_-])")
_ACCOUNT_LABEL = re.compile(rf"^{_any('accounts')}\s?[:：|｜]?\s?")
_QUOTED = re.compile(r"[《“「『\"]([^《》“”「」『』\"]{2,30})[》”」』\"]")
_NO_PAPER = re.compile(_any("no papers"))
_LONGEST_REPORT: Final = 4
_ACCOUNT = re.compile(r"(?:^|\s)(?:js_name|rich_media_meta_nickname|profile_nickname|wx_follow_nickname)(?:$|\s)")
_ACCOUNT_LINES: Final = 16
_BREAK = re.compile(r"[\s|｜　]+")
_EDGES: Final = " ()（）[]【】:：·,，-–—"
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_LINE_CHARS: Final = 120
_MAX_NAME_CHARS: Final = 30
# 新华社北京3月12日电, （中央社記者王小明台北12日電）, 中新网3月12日电, 香港文匯報訊, （星島日報報道）
_DATELINE = re.compile(
    r"^[\s　（(【\[]{0,4}(?:据)?([\u4e00-\u9fff]{1,8}[社网網报報])"
    r"(?:[^，。,；;]{0,30}?\d{1,2}日?(?:电|電|讯|訊)|[讯訊](?:[\s（(]|$)|(?:报道|報道|報導)[）)】])"
)
# 欣傳媒╱記者丁彥伶／台北報導, 石佳/中国青年报
_SLASHED = re.compile(
    r"^[（(【]?(?:([\u4e00-\u9fff]{2,8})\s?[╱/／]\s?(?:记者|記者)|"
    r"[\u4e00-\u9fff]{2,4}\s?[/／]\s?([\u4e00-\u9fff]{2,10}[报報网網社]))"
)


def find_source(document: Document, near: Sequence[int], kept: Sequence[int]) -> str:
    """Return the publisher that the page credits, empty for none.

    A labelled name (来源：…) counts wherever it stands near the text, then the metadata, then a publisher's name
    beside the date, then the agency in the dateline of the text.

    Cost: O(characters of `near`).
    """
    for index in near:
        text = document.blocks.texts[index]
        if len(text) > 300 or ("源" not in text and "自" not in text and "出处" not in text):
            continue
        match = _LABELLED.search(" ".join(split_fields(document, index)))
        if match:
            name = _titled(clean(match[1], MAX_SOURCE_CHARS))
            if len(name) >= 2 and (_is_paper(name) or not _NO_PUBLISHER.search(simplify(name))):
                return name
    stated = _plain(clean(find_meta(document, *_META), MAX_SOURCE_CHARS)) or _account(document, near)
    if stated:
        return stated
    return _beside_date(document, near[:24]) or _dateline(document, near[:12], kept)


def _titled(text: str) -> str:
    """Return the name in a labelled field: 《山海日报》2024年第3期, 公众号“山海评论”."""
    text = _ACCOUNT_LABEL.sub("", text)
    quoted = _QUOTED.match(text)
    return quoted[1] if quoted else _CUT.sub("", text).strip(" :：-_/")


def _is_paper(name: str) -> bool:
    """Tell whether a name that ends as that of a report is a paper's: 21世纪经济报道."""
    folded = simplify(name)
    return folded.endswith("报道") and len(folded) > _LONGEST_REPORT and not _NO_PAPER.search(folded)


def _beside_date(document: Document, near: Sequence[int]) -> str:
    texts = document.blocks.texts
    for index in near:
        if len(texts[index]) > _MAX_LINE_CHARS or not _DATE.search(texts[index]):
            continue
        for at in (index, index + 1, index - 1):
            # A heading beside the date, or a link to a section, says where the page stands, not where it is from.
            if at != index and (not 0 <= at < len(texts) or _is_heading(document, at)):
                continue
            if len(texts[at]) <= (_MAX_LINE_CHARS if at == index else _MAX_NAME_CHARS):
                publisher = _named(document, at) or next(filter(_is_publisher, _words(document, at)), "")
                if publisher:
                    return publisher
    return ""


def _account(document: Document, near: Sequence[int]) -> str:
    """Return the account of a platform that a page is from."""
    blocks, names = document.blocks, document.names
    for index in near[:_ACCOUNT_LINES]:
        for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
            if _ACCOUNT.search(f"{names[node]} {names[max(document.parents[node], 0)]}"):
                return clean(text, MAX_SOURCE_CHARS)
    return ""


def _words(document: Document, index: int) -> Iterator[str]:
    for field in split_fields(document, index):
        yield from (word.strip(_EDGES) for word in _BREAK.split(field))


def _named(document: Document, index: int) -> str:
    blocks = document.blocks
    for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
        name = document.names[node]
        if name and _NAME.search(name):
            publisher = _plain(clean(text, _MAX_NAME_CHARS))
            if publisher and not any(map(str.isdigit, publisher)) and not _NO_PUBLISHER.search(simplify(publisher)):
                return publisher
    return ""


def _plain(name: str) -> str:
    plain = _LABEL.sub("", name).strip(_EDGES)
    is_none = len(plain) < 2 or "://" in plain or _NO_SOURCE.match(plain) or _PICTURED.search(plain)
    return "" if is_none else plain


def _is_heading(document: Document, index: int) -> bool:
    blocks = document.blocks
    return document.tags[blocks.nodes[index]] in _HEADINGS or blocks.link_chars[index] * 2 > blocks.chars[index]


def _is_publisher(word: str) -> bool:
    if not 2 <= len(word) <= _MAX_NAME_CHARS:
        return False
    name = simplify(word)
    return bool(_PUBLISHER.match(name)) and not _NO_PUBLISHER.search(name) and not _CHANNEL.match(name)


def _dateline(document: Document, near: Sequence[int], kept: Sequence[int]) -> str:
    texts = document.blocks.texts
    for index in near:
        match = _SLASHED.match(texts[index]) if len(texts[index]) <= 60 else None
        if match:
            return match[1] or match[2]
    for index in kept[:2]:
        match = _DATELINE.match(texts[index][:80])
        if match and not _NO_PUBLISHER.search(simplify(match[1])):
            return match[1]
    return ""
