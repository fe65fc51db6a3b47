"""Publisher that a page credits for its article (来源)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..decode.text import clean
from ..document.document import Document
from ..document.structured_data import find_meta
from .lines import split_fields

MAX_SOURCE_CHARS: Final = 60
_META: Final = ("contentsource", "source", "article:source", "weibo: article:source", "og:article:source")
_LABELLED = re.compile(
    r"(?:文章来源|文章來源|新闻来源|信息来源|稿件来源|稿源|来源|來源|来自|出处|轉載自|转载自|转自|源自)\s{0,3}(?:于|"
    r"於)?\s{0,3}[:：]\s{0,4}[(（]?\s?([^\s|｜()（）\[\]【】<>]{2,40}(?: [A-Za-z][^\s|｜]{0,20}){0,3})"
)
_CUT = re.compile(
    r"(?:作者|记者|記者|编辑|責任|责任|发布|發布|时间|日期|浏览|点击|阅读|字号|字体|20\d\d[-年/.]|分享|评论|转载|"
    r"我要|打印|【|，|。|\d{1,2}:\d\d).*$"
)
_DATE = re.compile(r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}|\d{1,2}:\d\d|\d月\d{1,2}日")
# The words in which the names of publishers and offices end; 央视新闻 is one, 国内新闻 is a channel.
_PUBLISHER = re.compile(
    r"^(?:\d\d)?[^\W\d_][^\W\d_·－-]{0,12}(?:[网網报報社台臺站]|在线|在線|通讯|通訊|广播|廣播|周刊|週刊|杂志|雜誌|客户端|"
    r"发布|传媒|傳媒|电视|之声|政府|公安|法院|检察院|[宣组网]信?办|委员会|商会|"
    r"(?<!国内|国际|社会|生活|财经|娱乐|体育|科技|时政|地方|军事|教育|综合|行业|公司|企业|相关|相關|热点|最新|图片|滚动|今日|"
    r"本地|焦点|头条|大陆|港澳|台湾|晚間|晚间|早间|产业|市场|民生|健康|汽车|房产|旅游|文化|金融|股市|楼市|更多|全部|推荐)新[闻聞])$"
)
_NO_PUBLISHER = re.compile(
    r"^(?:发布|發布|首页|首頁|新闻|新聞|返回|全部|更多|手机|本网|本报|本台|本站|分享|字|打印|收藏|评论|来源|來源)|"
    r"(?:报道|報道|通报|公告|简报|举报|平台|上[网網]|预报|預報|日报道|海报|情报|车站|网站地图)$"
)
_NAME = re.compile(r"(?:^|[\s_-])(?:src|source|laiyuan|ly|media-?name|js_name|origin)(?:$|[\s_-])")
_BREAK = re.compile(r"[\s|｜　]+")
_EDGES: Final = " ()（）[]【】:：·,，-–—"
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
    """Return the publisher that the page credits.

    A labelled name (来源：…) counts wherever it stands near the text, then what the metadata state, then a publisher's
    name beside the date, then the agency in the dateline of the text.

    Args:
        document: a parsed page.
        near: lines around headline and text, nearest first.
        kept: blocks of the text.

    Returns:
        A name of at most `MAX_SOURCE_CHARS` characters; empty when no one is credited.

    Cost: O(characters of `near`).
    """
    for index in near:
        text = document.blocks.texts[index]
        if len(text) > 300 or ("源" not in text and "自" not in text and "出处" not in text):
            continue
        match = _LABELLED.search(" ".join(split_fields(document, index)))
        if match:
            found = clean(_CUT.sub("", match[1]), MAX_SOURCE_CHARS).strip(" :：-_/")
            if len(found) >= 2:
                return found
    stated = clean(find_meta(document, *_META), MAX_SOURCE_CHARS)
    if stated and "://" not in stated:
        return stated
    return _beside_date(document, near[:24]) or _dateline(document, near[:12], kept)


def _beside_date(document: Document, near: Sequence[int]) -> str:
    """Find a publisher's name in the line of the date or the one next to it."""
    texts = document.blocks.texts
    for index in near:
        if len(texts[index]) > _MAX_LINE_CHARS or not _DATE.search(texts[index]):
            continue
        for at in (index, index + 1, index - 1):
            if 0 <= at < len(texts) and len(texts[at]) <= (_MAX_LINE_CHARS if at == index else _MAX_NAME_CHARS):
                found = _named(document, at) or next(filter(_is_publisher, _words(document, at)), "")
                if found:
                    return found
    return ""


def _words(document: Document, index: int) -> Iterator[str]:
    """Yield the words of a line's fields."""
    for field in split_fields(document, index):
        yield from (word.strip(_EDGES) for word in _BREAK.split(field))


def _named(document: Document, index: int) -> str:
    """Find a field of a line whose element is named after the source."""
    blocks = document.blocks
    for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
        name = document.names[node]
        if name and _NAME.search(name):
            found = clean(text, _MAX_NAME_CHARS).strip(_EDGES)
            if len(found) >= 2 and not any(map(str.isdigit, found)) and not _NO_PUBLISHER.search(found):
                return found
    return ""


def _is_publisher(word: str) -> bool:
    """Tell whether a word can only be the name of a publisher or an office."""
    return 2 <= len(word) <= _MAX_NAME_CHARS and bool(_PUBLISHER.match(word)) and not _NO_PUBLISHER.search(word)


def _dateline(document: Document, near: Sequence[int], kept: Sequence[int]) -> str:
    """Find the agency that the first paragraph, or the byline above, opens with."""
    texts = document.blocks.texts
    for index in near:
        match = _SLASHED.match(texts[index]) if len(texts[index]) <= 60 else None
        if match:
            return match[1] or match[2]
    for index in kept[:2]:
        match = _DATELINE.match(texts[index][:80])
        if match and not _NO_PUBLISHER.search(match[1]):
            return match[1]
    return ""
