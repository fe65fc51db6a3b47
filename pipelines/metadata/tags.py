"""Keywords and channel of an article."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from ..decode.text import clean, squeeze, unique, words
from ..document.document import Document
from ..document.structured_data import Structured, find_meta

MAX_KEYWORDS: Final = 30
_MAX_KEYWORD_CHARS: Final = 60
_BEFORE, _BEHIND = 8, 30
_SPLIT = re.compile(r"[,，;；、|]|\s{2,}")
_TAG_PATH = re.compile(r"/(?:tags?|keywords?|topics?|hashtag|biaoqian)[/_=-]|[?&](?:tag|keyword)=", re.IGNORECASE)
_TAG_NAME = re.compile(
    r"(?:^|[\s_-])(?:tags?|tag-?(?:list|links?|box)|keywords?|article-?tags?|post-?tags?)(?:$|[\s_-])"
)
_LABEL = re.compile(
    r"^[\W_]{0,3}(?:关键词|关键字|關鍵字|關鍵詞|标签|標籤|tags?|keywords?)\s{0,2}[:：]\s{0,3}(.{2,200})", re.IGNORECASE
)
_CRUMB_NAME = re.compile(r"crumb|position|location|(?:^|[\s_-])(?:path|lujing|place|weizhi|where|dqwz)(?:$|[\s_-])")
_CRUMB_LABEL = re.compile(
    r"^[\W_]{0,3}(?:您?你?(?:现在|当前|目前|所在|的)?的?位置|當前位置|目前位置|you are here)\s{0,2}(?:是)?[:：]?"
    r"\s{0,3}",
    re.IGNORECASE,
)
_STEP = re.compile(r"\s{0,3}(?:>{1,2}|›|»|→|/|＞|::|-&gt;|·|\|)\s{0,3}")
_NO_SECTION: Final = words(
    "首页 首頁 home 正文 文章 主页 新闻正文 文章正文 内容 查看内容 阅读 详情 新闻详情 内容页 当前页 论坛 startseite "
    "accueil inicio portada 资讯详情 浏览文章 article"
)


def find_keywords(document: Document, structured: Structured, kept: Sequence[int]) -> tuple[str, ...]:
    """Return the keywords of the metadata, then the tags shown at the text.

    Args:
        document: a parsed page.
        structured: its JSON-LD.
        kept: blocks of the text; tags are looked for around it.

    Returns:
        At most `MAX_KEYWORDS` distinct words.

    Cost: O(links at the text).
    """
    metas = document.metas
    raw = [*metas.get("article:tag", ()), *metas.get("keywords", ())[:1], *metas.get("news_keywords", ())[:1]]
    raw += structured.keywords
    stated = (clean(part, _MAX_KEYWORD_CHARS) for value in raw[:60] for part in _SPLIT.split(value[:2000]))
    return unique([*stated, *_shown(document, kept)], MAX_KEYWORDS)


def _shown(document: Document, kept: Sequence[int]) -> Iterator[str]:
    """Yield visible tags: links to tag pages, and lines that begin with 关键词."""
    if not kept:
        return
    links = document.links
    low, high = kept[0] - _BEFORE, kept[-1] + _BEHIND
    for at in range(bisect_left(links, low, key=lambda link: link[4]), len(links)):
        node, href, rel, anchor, block = links[at]
        if block > high:
            break
        if 1 < len(anchor) <= 30 and (rel == "tag" or "tag" in rel.split() or _is_tag(document, node, href)):
            yield clean(anchor.strip("#＃ ,，、"), _MAX_KEYWORD_CHARS)
    texts = document.blocks.texts
    for index in range(kept[-1], min(kept[-1] + 10, len(texts))):
        match = _LABEL.match(texts[index]) if len(texts[index]) <= 200 else None
        if match and not document.blocks.link_chars[index]:
            yield from (
                clean(part, _MAX_KEYWORD_CHARS) for part in re.split(r"[,，;；、|\s]+", match[1]) if len(part) > 1
            )


def _is_tag(document: Document, node: int, href: str) -> bool:
    """Tell whether a link leads to a tag's page or stands in a box of tags."""
    if ("tag" in href or "topic" in href or "keyword" in href) and _TAG_PATH.search(href[:300]):
        return True
    for _ in range(3):
        if node < 0:
            return False
        name = document.names[node]
        if name and "ta" in name and _TAG_NAME.search(name):
            return True
        node = document.parents[node]
    return False


@lru_cache(maxsize=4096)
def _is_crumb(name: str) -> bool:
    """Tell whether class or id `name` is one of breadcrumbs."""
    return bool(name) and bool(_CRUMB_NAME.search(name))


def find_section(
    document: Document, structured: Structured, first_body_block: int, title: str, sites: Sequence[str]
) -> str:
    """Return the channel that the metadata state, else the last breadcrumb.

    Args:
        document: a parsed page.
        structured: its JSON-LD.
        first_body_block: where the text starts, -1 for none; breadcrumbs stand before it.
        title: the headline, which ends many breadcrumbs.
        sites: what the site calls itself, which begins most.

    Returns:
        A name of at most 100 characters; empty when there is none.

    Cost: O(blocks before the text).
    """
    stated = clean(find_meta(document, "article:section", "section", "channel") or structured.section, 100)
    if stated or first_body_block < 0:
        return stated
    texts, names, nodes, parents = document.blocks.texts, document.names, document.blocks.nodes, document.parents
    wanted = squeeze(title)
    no_channel = {squeeze(site) for site in sites} | {wanted}
    for index in range(first_body_block - 1, max(-1, first_body_block - 40), -1):
        text = texts[index]
        if not 3 < len(text) <= 150:
            continue
        label = _CRUMB_LABEL.match(text)
        node = nodes[index]
        named = _is_crumb(names[node]) or (parents[node] >= 0 and _is_crumb(names[parents[node]]))
        if label or named or text.startswith(("首页", "首頁", "Home")):
            steps = [step.strip() for step in _STEP.split(text[label.end() :] if label else text)]
            channels = [
                step
                for step in steps
                if 1 < len(step) <= 20 and step.lower() not in _NO_SECTION and squeeze(step) not in no_channel
            ]
            if len(steps) >= 2 and channels:
                return channels[-1]
    return ""
