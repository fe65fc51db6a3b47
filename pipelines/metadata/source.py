"""Publisher that a page credits for its article (来源)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..decode.scripts import simplify
from ..decode.text import clean
from ..document.document import Document
from ..document.structured_data import find_meta
from .lines import split_fields

MAX_SOURCE_CHARS: Final = 60
_META: Final = ("contentsource", "source", "article:source", "weibo: article:source", "og:article:source")
_LABELLED = re.compile(
    r"(?<![图圖片像照資资数數据據料])(?:文章来源|文章來源|新闻来源|信息来源|稿件来源|稿源|来源|來源|来自|出处|轉載自|"
    r"转载自|转自|源自)\s{0,3}(?:于|"
    r"於)?\s{0,3}[:：]\s{0,4}[(（]?\s?([^\s|｜()（）\[\]【】<>]{2,40}(?: [A-Za-z][^\s|｜]{0,20}){0,3})"
)
_CUT = re.compile(
    r"(?:作者|记者|記者|编辑|責任|责任|发布|發布|时间|日期|浏览|点击|阅读|字号|字体|20\d\d[-年/.]|分享|评论|转载|"
    r"我要|打印|【|，|。|\d{1,2}:\d\d).*$"
)
_DATE = re.compile(r"(?:19|20)\d\d\s?[-/.年]\s?\d{1,2}|\d{1,2}:\d\d|\d月\d{1,2}日")
# The words in which the names of publishers and offices end, simplified; 央视新闻 is one, 国内新闻 is a channel.
_PUBLISHER = re.compile(
    r"^(?:\d\d)?[^\W\d_][^\W\d_·－-]{0,12}(?:[网报社台站]|在线|通讯|广播|周刊|杂志|客户端|发布|传媒|电视|之声|政府|"
    r"公安|法院|"
    r"检察院|[宣组网]信?办|委员会|商会|新闻)$"
)
_CHANNEL = re.compile(
    r"^(?:国内|国际|社会|生活|财经|娱乐|体育|科技|时政|政治|地方|军事|国防|教育|综合|行业|公司|企业|相关|关联|热点|"
    r"热门|最新|最热|"
    r"图片|影音|影视|视频|滚动|今日|每日|本地|本类|焦点|头条|要闻|重要|重点|精选|精彩|独家|突发|即时|实时|其他|其它|"
    r"更多|全部|所有|"
    r"推荐|大陆|内地|港澳|台湾|两岸|港台|海外|环球|全球|世界|亚洲|国外|晚间|早间|午间|产业|市场|民生|健康|医疗|医药|"
    r"汽车|房产|旅游|"
    r"文化|艺术|金融|股市|股票|证券|楼市|消费|司法|法治|环保|能源|农业|食品|天气|专题|网络|互联网|游戏|明星|人物|"
    r"品牌|经济|商业|"
    r"[省市县区州]|城市|都市|综艺|运动|意外|话题|中心|大|小|热|新)+(?:新闻|在线|传媒|发布|广播|电视)$"
)
"""Headings of sections, in simplified characters: no sources."""
_NO_PUBLISHER = re.compile(
    r"^(?:发布|首页|新闻|返回|全部|更多|手机|本网|本报|本台|本站|分享|字|打印|收藏|评论|来源|本文|资料|图片(?!社)|"
    r"摄图|取扱|文章来源)|"
    r"(?:报道|通报|公告|简报|举报|平台|上网|预报|日报道|海报|情报|车站|网站地图|综合报|医师)$"
)
_NO_SOURCE = re.compile(
    r"^(?:courtesy(?: of)?|photo(?: by| credit)?s?|image|picture|source|sources|via|from|źródło|źródła|quelle|fuente|"
    r"fonte|"
    r"источник|news|wordpress|admin|www|com|original|staff|special to)?\W{0,3}$",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?:source|via|from|źródło|quelle|fuente|fonte|источник)\s?:\s?", re.IGNORECASE)
_PICTURED = re.compile(
    r"^(?:courtesy|photos?|image|picture|credit|коллаж|foto|фото|cc/)\b|getty|shutterstock|flickr", re.IGNORECASE
)
_NAME = re.compile(r"(?:^|[\s_-])(?:src|source|laiyuan|ly|media-?name|js_name|origin)(?:$|[\s_-])")
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
            if len(found) >= 2 and not _NO_PUBLISHER.search(simplify(found)):
                return found
    stated = _plain(clean(find_meta(document, *_META), MAX_SOURCE_CHARS))
    if stated:
        return stated
    return _beside_date(document, near[:24]) or _dateline(document, near[:12], kept)


def _beside_date(document: Document, near: Sequence[int]) -> str:
    """Find a publisher's name in the line of the date or the one next to it."""
    texts = document.blocks.texts
    for index in near:
        if len(texts[index]) > _MAX_LINE_CHARS or not _DATE.search(texts[index]):
            continue
        for at in (index, index + 1, index - 1):
            # A heading beside the date, or a link to a section, says where the page stands, not where it is from.
            if at != index and (not 0 <= at < len(texts) or _is_heading(document, at)):
                continue
            if len(texts[at]) <= (_MAX_LINE_CHARS if at == index else _MAX_NAME_CHARS):
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
            found = _plain(clean(text, _MAX_NAME_CHARS))
            if found and not any(map(str.isdigit, found)) and not _NO_PUBLISHER.search(simplify(found)):
                return found
    return ""


def _plain(name: str) -> str:
    """Return a stated name without its label; empty for what names no publisher."""
    found = _LABEL.sub("", name).strip(_EDGES)
    is_none = len(found) < 2 or "://" in found or _NO_SOURCE.match(found) or _PICTURED.search(found)
    return "" if is_none else found


def _is_heading(document: Document, index: int) -> bool:
    """Tell whether a line heads a section or mostly links elsewhere."""
    blocks = document.blocks
    return document.tags[blocks.nodes[index]] in _HEADINGS or blocks.link_chars[index] * 2 > blocks.chars[index]


def _is_publisher(word: str) -> bool:
    """Tell whether a word can only be the name of a publisher or an office."""
    if not 2 <= len(word) <= _MAX_NAME_CHARS:
        return False
    name = simplify(word)
    return bool(_PUBLISHER.match(name)) and not _NO_PUBLISHER.search(name) and not _CHANNEL.match(name)


def _dateline(document: Document, near: Sequence[int], kept: Sequence[int]) -> str:
    """Find the agency that the first paragraph, or the byline above, opens with."""
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
