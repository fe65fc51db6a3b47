"""Type of a page: an article, a list of links, or neither."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from db.records.reasons import PageReason

from ..decode.text import squeeze
from ..document.document import Document
from ..document.shell import is_shell
from ..document.structured_data import read as read_structured
from ..document.subtrees import linked as is_linked
from ..records import BlockKind, Extraction, Links, Metadata, PageKind

# The score of a page: the sum of what speaks for an article and against it; from 0 on it is one. All numbers were set
# by hand with the pages of tests.benchmarks.extraction in view (articles accepted, lists rejected).
_CONFIDENCE: Final = 10.0
_DOUBT: Final = 0.68
"""Weight of the text's confidence against all other evidence, and the confidence that counts for nothing."""
_LOW: Final = 0.25
_LIKELY: Final = 0.85
_UNLIKELY: Final = 0.7
"""Stand-ins for the confidence of a method that does not calibrate it, from `_LOW` on and below."""
_SURE: Final = 0.9
_SURE_BONUS: Final = 2.0
"""Confidence from which even a text of one sentence is an article, and its weight."""
_PROSE_CHARS: Final = 500
_MOST_PROSE: Final = 1500
"""So many characters of prose, up to the most, weigh 1."""
_TYPED: Final = 2.0
"""Weight of structured data or a type that says article."""
_STATED: Final = 1.0
_DATED: Final = 0.4
"""Weight of a publish time stated for machines, and of one that readers see."""
_SIGNED: Final = 0.5
"""Weight of an author or a source."""
_ARTICLE_URL: Final = 0.5
_LIST_URL: Final = 5.0
_HEADED_LIST_URL: Final = 3.0
"""Weight of a path like an article's; against it, like a list's, less when a headline stands over the text."""
_HEADED: Final = 1.0
"""Weight of a headline shortly before the text."""
_STANDING: Final = 6.0
"""Against it: a page about the site itself."""
_LINKED_HEADLINES: Final = 30
_MOST_HEADLINES: Final = 60
"""Against it: so many linked headlines, up to the most, weigh 1."""
_LINK_TEXT: Final = 10
_MOST_LINK_TEXT: Final = 1.5
"""Against it: so many times as much link text as text weighs 1, up to the most."""
_ROOT: Final = 2.5
"""Against it: a home page, however long the summary of its first story is."""
_SHORT_LINES: Final = 1.0
"""Against it: a text of which less than half stands in long lines."""
_SUMMARIES: Final = 8.0
"""Against it: a text made of summaries under linked headlines."""
_HEADLINE: Final = 20
"""A linked headline is longer than a user's name; a Chinese character counts for two and a half letters."""
_LISTED: Final = {int(BlockKind.LIST), int(BlockKind.RELATED)}

_UNREAD: Final = frozenset(
    {
        PageReason.LIST,
        PageReason.NO_TEXT,
        PageReason.NO_PROSE,
        PageReason.TOO_LITTLE_PROSE,
        PageReason.TEXT_TOO_SHORT,
    }
)
_ERROR = re.compile(
    r"(?<!\d)404(?!\d)|not found|page not found|页面不存在|頁面不存在|页面未找到|页面没有找到|"
    r"找不到(?:页面|網頁|网页|頁面)|您访问的页面|您要访问的页面|内容不存在|已被删除|已删除|文章不存在|"
    r"error \d{3}|access denied|403 forbidden|forbidden|服务器错误|出错了|something went wrong|just a moment|"
    r"验证码|安全验证|人机验证",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"请(?:先)?登录|請(?:先)?登入|用户登录|会员登录|登录后(?:可|才|查看)|log ?in to|sign in to|please (?:log|sign) "
    r"?in|subscribe to (?:read|continue)",
    re.IGNORECASE,
)
_LIST_PATH = re.compile(
    r"(?:^|/)(?:index|default|home|main|list|channel|category|categories|tag|tags|topics?|search|node|archives?|"
    r"author|page|section|forum|node_\d{1,7}|list[-_]?\d{0,5}|index_\d{1,5})"
    r"(?:\.\w{2,5})?/?$|/(?:tag|tags|category|search|channel|page|list|author|section)/",
    re.IGNORECASE,
)
_PAGE_QUERY = re.compile(r"(?:^|&)(?:page|pageno|p|pn)=\d", re.IGNORECASE)
_STANDING_PATH = re.compile(
    r"/(?:about|aboutus|contact|contactus|copyright|privacy|sitemap|help|terms|guanyu|lianxi)(?:[-_]?us)?(?:\.\w{2,5})?/?$",
    re.IGNORECASE,
)
_ARTICLE_PATH = re.compile(
    r"\d{4}[-/]?\d{2}[-/]?\d{0,2}|\d{5,}|/(?:article|articles|news|post|detail|content|story|a|p)/[^/]{3,}|\.s?html?$",
    re.IGNORECASE,
)


def classify(
    document: Document, extraction: Extraction, metadata: Metadata, links: Links
) -> tuple[PageKind, PageReason | None]:
    """Classify a page; for all but articles, give the reason.

    What `judge` says, but for pages whose text is made by script: nothing else can be said of them.

    Args:
        document: a parsed page.
        extraction: its text.
        metadata: its metadata.
        links: its links.

    Returns:
        Kind and reason, None for an article.

    Cost: O(lines of the text + links).
    """
    kind, reason = judge(document, extraction, metadata, links)
    if kind is not PageKind.ARTICLE and reason in _UNREAD and is_shell(document):
        return PageKind.OTHER, PageReason.NEEDS_BROWSER
    return kind, reason


def judge(
    document: Document, extraction: Extraction, metadata: Metadata, links: Links
) -> tuple[PageKind, PageReason | None]:
    """Judge a page by what it shows.

    An article has prose that stands together; a list has headlines that are links. The two masses are compared, and
    what the page says of itself (type, date, path) moves the bar.

    Args:
        document: a parsed page.
        extraction: its text.
        metadata: its metadata.
        links: its links.

    Returns:
        Kind and reason, None for an article.

    Cost: O(lines of the text + links).
    """
    title = metadata.title or document.title
    refused = _refused(extraction, title, metadata)
    if refused:
        return PageKind.OTHER, refused
    body = extraction.text
    chars = len(body)
    headlines = sum(
        kind in _LISTED and len(anchor) >= 8 for kind, anchor in zip(links.blocks, links.anchors, strict=True)
    )
    if not body:
        listed = _is_list(document, headlines)
        return (PageKind.LIST, PageReason.LIST) if listed else (PageKind.OTHER, extraction.reason or PageReason.NO_TEXT)
    # Cells of a table are counted one by one: a row of numbers is no prose.
    lines = body.replace("\t", "\n").split("\n")
    prose = sum(len(line) for line in lines if len(line) >= 25)
    url = urlsplit(document.url)
    root = url.path in {"", "/"} and not url.query
    path = 1 if _LIST_PATH.search(url.path) or _PAGE_QUERY.search(url.query) else 0
    structured = read_structured(document).found
    typed = structured or any(value.lower() in {"article", "news"} for value in document.metas.get("og:type", ()))
    stated = metadata.published_from in {"json-ld", "meta", "script"}
    dated = stated or metadata.published_from == "visible"
    linked = int(document.LT[0]) if document.tags else 0
    confidence = extraction.confidence
    if not extraction.calibrated:
        confidence = _LIKELY if confidence >= _LOW else _UNLIKELY
    sure = confidence >= _SURE and chars >= 30
    score = _CONFIDENCE * (confidence - _DOUBT) + (_SURE_BONUS if sure else 0.0)
    score += min(prose, _MOST_PROSE) / _PROSE_CHARS
    score += _TYPED if typed else 0.0
    score += _STATED if stated else _DATED if dated else 0.0
    score += _SIGNED if metadata.authors or metadata.source else 0.0
    score += _ARTICLE_URL if _ARTICLE_PATH.search(url.path) and not root else 0.0
    headed = _headed(document, extraction, title)
    score += _HEADED if headed else 0.0
    score -= (_HEADED_LIST_URL if headed else _LIST_URL) * path
    score -= _STANDING if _STANDING_PATH.search(url.path) and not typed and not stated else 0.0
    score -= min(headlines, _MOST_HEADLINES) / _LINKED_HEADLINES
    score -= min(_MOST_LINK_TEXT, linked / max(chars, 1) / _LINK_TEXT)
    score -= _ROOT if root and not typed else 0.0
    score -= _SHORT_LINES if prose < 0.5 * chars else 0.0
    summaries = _summaries(document, extraction, 1 if path else 3)
    score -= _SUMMARIES if summaries else 0.0
    if score >= 0.0 and (chars >= 60 or typed or dated or sure):
        return PageKind.ARTICLE, None
    if summaries or headlines >= 5 or path or root or (not sure and _is_list(document, headlines)):
        return PageKind.LIST, PageReason.LIST
    return PageKind.OTHER, PageReason.TOO_LITTLE_PROSE


def _refused(extraction: Extraction, title: str, metadata: Metadata) -> PageReason | None:
    """Return the reason if a page is an error page, a login wall or no prose."""
    body = extraction.text
    if body and sum(map(str.isalnum, body[:2000])) < 20:
        return PageReason.NO_PROSE
    if metadata.published_from not in {"", "url"}:
        return None  # error pages carry no date of publication; news about a 404 or a captcha does
    if len(body) < 600 and len(title) <= 60 and _ERROR.search(title):
        return PageReason.SOFT_404
    if len(body) < 300 and _ERROR.search(body[:200]):
        return PageReason.SOFT_404
    return PageReason.LOGIN_WALL if 0 < len(body) < 300 and _LOGIN.search(body) else None


def _headed(document: Document, extraction: Extraction, title: str) -> bool:
    """Tell whether the headline stands, not as a link, shortly before the text."""
    kept = extraction.blocks
    wanted = squeeze(title)
    if not kept or len(wanted) < 5:
        return False
    blocks = document.blocks
    passed = 0
    for index in range(min(kept[0] + 1, len(blocks) - 1), max(-1, kept[0] - 40), -1):
        if blocks.link_chars[index] * 2 > blocks.chars[index]:
            passed += 1
            if passed > 12:
                return False
        elif squeeze(blocks.texts[index]) == wanted:
            return True
    return False


def _summaries(document: Document, extraction: Extraction, least: int) -> bool:
    """Tell whether most sentences stand right under linked headlines of their own."""
    blocks = document.blocks
    linked = is_linked(document)
    headline = linked & (blocks.link_chars + 1.5 * blocks.han >= _HEADLINE)
    prose = [index for index in extraction.blocks if blocks.chars[index] >= 20 and not linked[index]]
    under = 0
    previous = -1
    for index in prose:
        near = range(max(previous + 1, index - 3), index)
        under += any(headline[before] for before in near)
        previous = index
    return under >= least and under * 3 >= len(prose) * 2


def _is_list(document: Document, headlines: int) -> bool:
    """Tell whether a page without text is a list, by headlines and link text."""
    if headlines or not document.tags:
        return headlines > 0
    count = int(document.LTG[0])
    url = urlsplit(document.url)
    # The root of a site without a text of its own leads to the site's pages, however few they are.
    root = url.path in {"", "/"} and not url.query
    return count >= 5 or (count >= 1 and (root or bool(document.LT[0] * 3 >= document.T[0])))
