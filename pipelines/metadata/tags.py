"""Keywords and channel of an article."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from ..decode.scripts import simplify
from ..decode.text import clean, squeeze
from ..document.document import Document
from ..document.noise import is_label
from ..document.structured_data import Structured, find_meta
from ..records import Extraction
from ..word_lists import WordLists

MAX_KEYWORDS: Final = 30
_MAX_KEYWORD_CHARS: Final = 60
_BEFORE, _BEHIND = 8, 30
_ITEMS: Final = frozenset({"li", "span", "p", "strong", "b", "h6"})
_SPLIT = re.compile(r"[,，;；、|]|\s{2,}")
_TAG_PATH = re.compile(r"/(?:tags?|keywords?|topics?|hashtag|biaoqian)[/_=-]|[?&](?:tag|keyword)=", re.IGNORECASE)
_TAG_NAME = re.compile(
    r"(?:^|[\s_-])(?:tags?|tag-?(?:list|links?|box)|keywords?|article-?tags?|post-?tags?)(?:$|[\s_-])"
)
_LISTS: Final = WordLists(Path(__file__).with_name("words") / "tags.txt")
_any = _LISTS.pattern
_LABEL = re.compile(rf"^[\W_]{{0,3}}{_any('keyword labels')}\s{{0,2}}[:：]\s{{0,3}}(.{{2,200}})", re.IGNORECASE)
_CRUMB_NAME = re.compile(r"crumb|position|location|(?:^|[\s_-])(?:path|lujing|place|weizhi|where|dqwz)(?:$|[\s_-])")
_CRUMB_LABEL = re.compile(rf"^[\W_]{{0,3}}{_any('breadcrumb labels')}\s{{0,2}}(?:是)?[:：]?\s{{0,3}}", re.IGNORECASE)
_STEP = re.compile(r"\s{0,3}(?:>{1,2}|›|»|→|/|＞|::|-&gt;|·|\|)\s{0,3}")
_FIRST_CRUMBS: Final = tuple(_LISTS["first breadcrumbs"])
_NO_SECTION: Final = _LISTS.words("no sections")
_SECTION_END = re.compile(rf"[\s·|-]{{0,3}}(?:{_any('behind sections')}|大\s?中\s?小|(?:19|20)\d\d年\d).*$")
_ODD = re.compile(r"^[\d\W]+$|://|(?:19|20)\d\d\s?$|\d{1,2} of \d|\b(?:19|20)\d\d\b.{0,12}\d")
_STEP_CHARS: Final = 20
_SECTION_PATH = re.compile(r"\s?[/>›»]\s?")
_NO_KEYWORD: Final = _LISTS.words("no keywords")
_NEWS_OF_ALL = re.compile(
    rf"(?:{_any('news of all')}[\s-]){{0,3}}{_any('news')}(?:\s(?:{_any('behind news')}|in \w{{2,12}})){{0,3}}$|"
    r"breaking\b|top news\b"
)
_BUTTON = re.compile(
    rf"{_any('buttons')}\s|.{{0,12}}\b(?:{_any('comments')}|{_any('polish comments')}\w*)\b|{_any('chinese buttons')}"
)
_IDENTIFIER = re.compile(
    r"^[a-z]{22,}$|[_=\\{}<>@]|://|^\w+:\w|^[A-Z]{2,6}\d{1,3}$|^[\d\W]+$|^[0-9a-f-]{16,}$|\.(?:com|net|org|cn|"
    r"html?)$|utf-?8"
)
_SPACED = re.compile(r"[\u3400-\u9fff]\S{0,20}\s{1,9}\S{0,20}[\u3400-\u9fff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_PART = re.compile(r"[\s-]+")
_CODE_CHARS: Final = 8
_MOST_WORDS: Final = 6
_FEW: Final = 3
"""So few words of one place are believed even if the text has none of them."""
_STATED_SHARE: Final = 0.25
_SHOWN_SHARE: Final = 0.5
"""Least share of the words of one place that the text must have; with fewer they are the site's."""


def find_keywords(
    document: Document, structured: Structured, extraction: Extraction, title: str, sites: Sequence[str]
) -> tuple[str, ...]:
    """Return the keywords of the metadata, then the tags shown at the text.

    The words of one place (an element of the metadata, a box of tags) are judged together: when the text has few of
    them they belong to the site, and only those that the text has count. At most `MAX_KEYWORDS`, distinct but for case.

    Cost: O(links at the text + keywords * characters of the text).
    """
    metas = document.metas
    text = f"{title} {extraction.text}"
    lower_text = text.lower()
    no_keyword = {squeeze(title), *map(squeeze, sites)}
    groups = [
        (metas.get("article:tag", ()), _STATED_SHARE),
        (metas.get("keywords", ())[:1], _STATED_SHARE),
        (metas.get("news_keywords", ())[:1], _STATED_SHARE),
        (structured.keywords, _STATED_SHARE),
        *((anchors, _SHOWN_SHARE) for anchors in _shown(document, extraction.blocks)),
    ]
    keywords: dict[str, str] = {}
    for values, share in groups:
        stated = [word for word in _split(values) if _is_keyword(word, no_keyword)]
        named = [word for word in stated if _tells(text, lower_text, word)]
        for word in (
            named if len(stated) > _FEW * (share < _SHOWN_SHARE) and len(named) < share * len(stated) else stated
        ):
            keywords.setdefault(word.lower(), word)
    return tuple(keywords.values())[:MAX_KEYWORDS]


def _split(values: Iterable[str]) -> Iterator[str]:
    """Yield the words of keyword lists; Chinese ones may be parted by blanks alone."""
    for value in islice(values, 60):
        text = value[:2000]
        parts = _SPLIT.split(text)
        if len(parts) == 1 and _SPACED.search(text):
            parts = text.split()
        for part in parts:
            if len(part) <= 2 * _MAX_KEYWORD_CHARS:
                yield clean(part).strip("#＃\"'“”.·… ")


def _is_keyword(word: str, no_keyword: Collection[str]) -> bool:
    if not 1 < len(word) <= _MAX_KEYWORD_CHARS or word.count(" ") >= _MOST_WORDS or _IDENTIFIER.search(word):
        return False
    lowered = word.lower()
    folded = simplify(squeeze(word))
    return not (
        folded in _NO_KEYWORD
        or squeeze(word) in no_keyword
        or _NEWS_OF_ALL.match(lowered)
        or _BUTTON.match(lowered)
        or is_label(word)
    )


def _tells(text: str, lower_text: str, word: str) -> bool:
    """Tell whether `told`, a text in small letters, has a word or all stems of it.

    The stems of a Chinese word are its pairs of characters.
    """
    if word.isupper() and len(word) <= _CODE_CHARS:  # US, NATO: letter by letter, lest it is found in any word
        return _begins(text, word)
    lowered = word.lower()
    if not word.isascii() and _HAN.search(word):
        return lowered in lower_text or all(lowered[at : at + 2] in lower_text for at in range(0, len(lowered) - 1, 2))
    stems = (part[: max(4, len(part) - 2)] for part in _PART.split(lowered))
    return all(_begins(lower_text, stem) for stem in stems)


def _begins(text: str, stem: str) -> bool:
    at = text.find(stem)
    while at > 0 and text[at - 1].isalnum():
        at = text.find(stem, at + 1)
    return at >= 0


def _shown(document: Document, kept: Sequence[int]) -> Iterator[list[str]]:
    if not kept:
        return
    links, parents = document.links, document.parents
    low, high = kept[0] - _BEFORE, kept[-1] + _BEHIND
    boxes: dict[int, list[str]] = {}
    for at in range(bisect_left(links, low, key=lambda link: link[4]), len(links)):
        node, href, rel, anchor, block = links[at]
        if block > high:
            break
        if 1 < len(anchor) <= 30 and (rel == "tag" or "tag" in rel.split() or _is_tag(document, node, href)):
            box = parents[node]
            boxes.setdefault(parents[box] if box >= 0 and document.tags[box] in _ITEMS else box, []).append(anchor)
    yield from boxes.values()
    texts = document.blocks.texts
    for index in range(kept[-1], min(kept[-1] + 10, len(texts))):
        match = _LABEL.match(texts[index]) if len(texts[index]) <= 200 else None
        if match and not document.blocks.link_chars[index]:
            yield [part for part in re.split(r"[,，;；、|\s]+", match[1]) if len(part) > 1]


def _is_tag(document: Document, node: int, href: str) -> bool:
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
    return bool(name) and bool(_CRUMB_NAME.search(name))


def find_section(
    document: Document, structured: Structured, first_body_block: int, title: str, sites: Sequence[str]
) -> str:
    """Return the channel that the metadata state, else the last breadcrumb.

    Breadcrumbs stand before `first_body_block` (-1: no text); the title ends many of them, the site begins most.
    Cost: O(blocks before the text).
    """
    no_channel = {squeeze(site) for site in sites} | {squeeze(title)}
    stated = find_meta(document, "article:section", "section", "channel") or structured.section
    channel = _channel(stated.split(",") if "/" not in stated else reversed(_SECTION_PATH.split(stated)), no_channel)
    if channel or first_body_block < 0:
        return channel
    texts, names, nodes, parents = document.blocks.texts, document.names, document.blocks.nodes, document.parents
    for index in range(first_body_block - 1, max(-1, first_body_block - 40), -1):
        text = texts[index]
        if not 3 < len(text) <= 150:
            continue
        label = _CRUMB_LABEL.match(text)
        node = nodes[index]
        named = _is_crumb(names[node]) or (parents[node] >= 0 and _is_crumb(names[parents[node]]))
        if label or named or text.startswith(_FIRST_CRUMBS):
            steps = _STEP.split(text[label.end() :] if label else text)
            channel = _channel((step for step in reversed(steps) if len(step.strip()) <= _STEP_CHARS), no_channel)
            if len(steps) >= 2 and channel:
                return channel
    return ""


def _channel(steps: Iterable[str], no_channel: Collection[str]) -> str:
    for step in steps:
        name = clean(_SECTION_END.sub("", clean(step)), 100).strip("[]【】<>:：»›·|/–—- ")
        folded = squeeze(name)
        if len(name) > 1 and folded not in no_channel and simplify(folded) not in _NO_SECTION and not _is_odd(name):
            return name
    return ""


def _is_odd(name: str) -> bool:
    return bool(_ODD.search(name))
