"""Kind of a page: rules for certain cases first, then the learned model."""

from __future__ import annotations

import re
from math import log1p
from typing import Final, NamedTuple

from db.records.reasons import PageReason

from ..document.document import Document
from ..document.shell import is_shell, is_thin
from ..document.view import measure
from ..records import REASON_OF_KIND, BlockKind, Extraction, Links, Metadata, PageKind
from ..urls import is_home
from .features import describe_url, features
from .model import shipped
from .words import words

# The numbers below were chosen by hand; `uv run python -m tests.benchmarks.page_kinds` prints what they reach.
_SURE: Final = 0.5
"""Share among the other kinds from which a page without a text is a form, whatever it links to."""
_LINES: Final = 200
"""Letters of a text below which `_LIKELIEST` is asked for: little is lost with it."""
_CAPTION_CHARS: Final = 400
"""Longest text beside media alone."""
_LINK_CHARS: Final = 8
_HEADLINE: Final = 20
"""Letters of a linked headline, more than of a user's name."""
_LISTED: Final = 0.7
"""Probability of an article up to which a URL like a list's makes a page a list."""
_LIKELIEST: Final = 0.5
"""Least probability of an article of a line or two."""
_DOUBTED: Final = 1 / 3
"""Probability of an article up to which summaries under headlines make a page a list."""
_HEADLINES: Final = 3
"""Linked headlines that make a page without prose a list."""
_LEAST_LINKS: Final = 2
"""Links of the shortest list."""
_LISTED_BLOCKS: Final = {int(BlockKind.LIST), int(BlockKind.RELATED)}
_UNREAD: Final = frozenset(
    {
        *REASON_OF_KIND.values(),
        PageReason.TOO_LITTLE_PROSE,
        PageReason.NO_TEXT,
        PageReason.NO_PROSE,
        PageReason.TEXT_TOO_SHORT,
    }
)
"""Reasons that a page made by script has until its scripts ran."""
_LIST: Final = (PageKind.LIST, PageReason.LIST)
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


class PageJudgement(NamedTuple):
    """Kind of a page, with the `reason` why it is no article.

    The `probability` is 1 where a rule says so.
    """

    kind: PageKind
    reason: PageReason | None
    probability: float = 1.0


def classify(document: Document, extraction: Extraction, metadata: Metadata, links: Links) -> PageJudgement:
    """Judge a page, unless it needs a browser. Cost: O(nodes + blocks + links)."""
    judged = judge(document, extraction, metadata, links)
    is_claimed = judged.kind is PageKind.ARTICLE and is_thin(document, extraction.text)
    if is_claimed or (judged.reason in _UNREAD and is_shell(document)):
        return PageJudgement(PageKind.OTHER, PageReason.NEEDS_BROWSER)
    return judged


def judge(  # noqa: PLR0911 - one question after the other
    document: Document, extraction: Extraction, metadata: Metadata, links: Links
) -> PageJudgement:
    """Judge a page by what it shows.

    Cost: O(nodes + blocks + links), about a millisecond.
    """
    refused = refuse(document, extraction, metadata)
    # What looks like an error in the name of a site, or in one of its headlines, makes none of its home page.
    is_named = is_home(document.url) and refused in {PageReason.SOFT_404, PageReason.LOGIN_WALL}
    if (refused is PageReason.NO_PROSE or is_named) and _count_headlines(links) >= _HEADLINES:
        return PageJudgement(*_LIST)
    if refused:
        asks = refused is PageReason.LOGIN_WALL and "form" in document.tags
        kind = PageKind.NOTICE if refused is PageReason.SOFT_404 else PageKind.FORM if asks else PageKind.OTHER
        return PageJudgement(kind, refused)
    if not len(document.blocks):
        listed = _is_list(document, links)
        return PageJudgement(*(_LIST if listed else (PageKind.OTHER, extraction.reason or PageReason.NO_TEXT)))
    model = shipped()
    values, address = features(document, extraction, metadata, links), describe_url(document.url)
    chances = model.predict(values, words(document, extraction), address)
    if len(links) < _LEAST_LINKS:
        chances[model.kinds.index(PageKind.LIST)] = 0.0
        chances /= chances.sum()
    best = 1 + int(chances[1:].argmax())
    kind, share = model.kinds[best], float(chances[best] / max(chances[1:].sum(), 1e-9))
    if not extraction.text and kind is PageKind.FORM and share >= _SURE and values["forms"]:
        return PageJudgement(kind, PageReason.FORM, share)
    if not extraction.text:
        listed = kind is PageKind.LIST or _is_list(document, links)
        return PageJudgement(*(_LIST if listed else (PageKind.OTHER, extraction.reason or PageReason.NO_TEXT)), share)
    # No article lives at the root of its host; a list's address and summaries under headlines together leave no doubt,
    # and such summaries tell of a page in doubt.
    if address["list"] > 0:
        listed = bool(chances[0] < _LISTED) or _summaries(document, extraction)
    else:
        listed = bool(chances[0] < _DOUBTED) and _summaries(document, extraction)
    if address["is root"] or listed:
        return PageJudgement(*_LIST, float(1 - chances[0]))
    if model.is_article(chances) and (values["text"] >= log1p(_LINES) or chances[0] >= _LIKELIEST):
        return PageJudgement(PageKind.ARTICLE, None, float(chances[0]))
    if kind not in {PageKind.LIST, PageKind.FORM, PageKind.THREAD} and _is_media(document, extraction):
        kind = PageKind.MEDIA
    return PageJudgement(kind, REASON_OF_KIND.get(kind, PageReason.TOO_LITTLE_PROSE), float(chances[best]))


def refuse(document: Document, extraction: Extraction, metadata: Metadata) -> PageReason | None:
    """Return the reason if a page is an error page, a login wall or no prose."""
    # A notice of one line is no text to an extractor.
    is_short = document.blocks.chars.sum() < _CAPTION_CHARS
    body = extraction.text or (" ".join(document.blocks.texts) if is_short else "")
    if metadata.published_from in {"", "url"}:  # error pages carry no date; news about a 404 or a captcha does
        titles = (metadata.title, document.title)
        if len(body) < 600 and any(len(title) <= 60 and _ERROR.search(title) for title in titles):
            return PageReason.SOFT_404
        if len(body) < 300 and _says(_ERROR, body[:200], document):
            return PageReason.SOFT_404
        if 0 < len(extraction.text) < 300 and _says(_LOGIN, body, document):
            return PageReason.LOGIN_WALL
    # The first line tells of nearly all texts that they have more.
    is_poor = extraction.text and all(sum(map(str.isalnum, body[:size])) < 20 for size in (100, 2000))
    return PageReason.NO_PROSE if is_poor else None


def _says(sign: re.Pattern[str], text: str, document: Document) -> bool:
    if not sign.search(text):
        return False
    flags, texts = measure(document).linked, document.blocks.texts
    return any(sign.search(block) for block, linked in zip(texts, flags, strict=True) if not linked)


def _summaries(document: Document, extraction: Extraction) -> bool:
    blocks, linked = document.blocks, measure(document).linked
    headline = (linked & (blocks.link_chars + 1.5 * blocks.han >= _HEADLINE)).tolist()
    is_prose = ((blocks.chars >= 20) & ~linked).tolist()
    prose = [index for index in extraction.blocks if is_prose[index]]
    under = 0
    previous = -1
    for index in prose:
        near = range(max(previous + 1, index - 3), index)
        under += any(headline[before] for before in near)
        previous = index
    return under > 0 and under * 3 >= len(prose) * 2


def _is_media(document: Document, extraction: Extraction) -> bool:
    kinds = document.metas.get("og:type", ())
    stated = any(kind.lower().startswith(("video", "music")) for kind in kinds)
    return len(extraction.text) <= _CAPTION_CHARS and (stated or not {"video", "audio"}.isdisjoint(document.tags))


def _count_headlines(links: Links) -> int:
    return sum(
        kind in _LISTED_BLOCKS and len(anchor) >= _LINK_CHARS
        for kind, anchor in zip(links.blocks, links.anchors, strict=True)
    )


def _is_list(document: Document, links: Links) -> bool:
    headlines = _count_headlines(links)
    if headlines or not document.tags:
        return headlines > 0
    count = int(document.LTG[0])
    # The root of a site without a text of its own leads to the site's pages, however few they are.
    is_near = is_home(document.url) or bool(document.LT[0] * 3 >= document.T[0])
    return count >= 5 or (count >= 1 and is_near)
