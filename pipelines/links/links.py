"""The links of a page, each with the block that it stands in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from ..decode.text import clean
from ..document.document import Document
from ..document.noise import NOISE_TAGS, is_label
from ..records import BlockKind, Extraction, Links
from ..urls import MAX_URL_CHARS, canonicalize
from ..word_lists import WordLists
from .robots_meta import is_nofollow

_LISTS: Final = WordLists(Path(__file__).with_name("words.txt"))
_PAGES = re.compile(
    rf"^[\W_]{{0,3}}(?:\d{{1,4}}|{_LISTS.choices('pages')}|第\s?\d{{1,4}}\s?[页頁]|[«»‹›<>]{{1,3}})[\W_]{{0,3}}$",
    re.IGNORECASE,
)
# Parts of names. They are looked for in a name with a blank before it: a search skips to blanks and hyphens.
_PAGER_NAMES: Final = r"pag(?:e|er|es|ing|ination|inator|ebar|e-?nav\w*|elist|enum\w*)|pg|nextpage|wp-pagenavi"
_NAVIGATION_NAMES: Final = (
    r"nav|navi?gation|navbar|topnav|subnav|mainnav|menus?|menu-?\w*|channel\w*|bread-?crumbs?|crumbs?|header|head|top|"
    r"topbar|path|location|position|lujing|weizhi|logo|mnav|m-nav|nv|pt"
)
_FOOTER_NAMES: Final = r"footers?|foot|ft|copyright\w*|friend-?links?|yqlink|bottom\w*|colophon"
_RELATED_NAMES: Final = (
    r"relat\w*|rel|recommend\w*|xgxw|xgyd|tuijian|rank\w*|hot\w*|sidebar\w*|side|aside|secondary|right|popular|"
    r"most-?\w*|trending|more-?\w*"
)
_OTHER_NAMES: Final = (
    r"comments?\w*|cmts?|share\w*|social\w*|ads?|advert\w*|tags?|tag-?\w*|login\w*|tool\w*|authi|user\w*|reply\w*"
)


def _named_like(*names: str) -> re.Pattern[str]:
    return re.compile(rf"[\s_-](?:{'|'.join(names)})(?:$|[\s_-])")


_TELLING = _named_like(_PAGER_NAMES, _NAVIGATION_NAMES, _FOOTER_NAMES, _RELATED_NAMES, _OTHER_NAMES)
_STATED: Final = (
    (BlockKind.FOOTER, {"footer"}, _named_like(_FOOTER_NAMES)),
    (BlockKind.PAGINATION, (), _named_like(_PAGER_NAMES)),
    (BlockKind.NAVIGATION, {"nav", "header"}, _named_like(_NAVIGATION_NAMES)),
    (BlockKind.OTHER, (), _named_like(_OTHER_NAMES)),
    (BlockKind.RELATED, {"aside"}, _named_like(_RELATED_NAMES)),
)
"""Kinds with the tags and names that state them, the stronger first."""
# When one URL occurs twice, the place that says most about its target wins.
_TELLING_FIRST: Final = (
    BlockKind.LIST,
    BlockKind.BODY,
    BlockKind.RELATED,
    BlockKind.PAGINATION,
    BlockKind.NAVIGATION,
    BlockKind.OTHER,
    BlockKind.FOOTER,
)
_RANK: Final = tuple(_TELLING_FIRST.index(kind) for kind in sorted(_TELLING_FIRST))
"""Place of each kind among these."""
_MAY_PAGE: Final = (None, BlockKind.RELATED, BlockKind.OTHER)
"""Places where a number is one of a page."""
_FINAL: Final = (BlockKind.FOOTER, BlockKind.PAGINATION)
"""Everything inside these is of their kind."""
_HEADLINE_CHARS: Final = 8
_UNFOLLOWED = re.compile(r"\s{0,9}(?:#|javascript:|mailto:|tel:|data:)", re.IGNORECASE)


@lru_cache(maxsize=8192)
def _named(name: str, tag: str) -> BlockKind | None:
    name = f" {name}"
    telling = _TELLING.search(name) is not None
    return next((kind for kind, tags, part in _STATED if tag in tags or (telling and part.search(name))), None)


@dataclass(frozen=True, slots=True)
class PageUrls:
    """Canonical URLs of a page's links by href, None for what is no page.

    `own` is the page's own; `too_long` counts the different hrefs left out for their length.
    """

    urls: Mapping[str, str | None]
    own: str | None
    too_long: int


def resolve_urls(document: Document) -> PageUrls:
    base = document.base_url
    urls: dict[str, str | None] = {}
    too_long = 0
    for _, href, _, _, _ in document.links:
        if href not in urls:
            if _UNFOLLOWED.match(href):
                urls[href] = None
            elif len(href) > MAX_URL_CHARS:
                urls[href] = None
                too_long += 1
            else:
                # as `resolve` does, for a sixth of a microsecond less
                urls[href] = canonicalize(href, base) if href.isascii() else document.resolve(href)
    return PageUrls(urls, canonicalize(document.url), too_long)


def extract(document: Document, extraction: Extraction, known: PageUrls | None = None) -> Links:
    """Return the links of a page with the kind of block that each stands in.

    Links inside the text of an article are `BODY`; long link lists beside it are `RELATED`, while on a page without
    article they are `LIST`. Each canonical URL comes once, in document order, in its most telling place; at most
    `document.bounds.links`; never the page itself.

    Cost: O(nodes + links).
    """
    known = known or resolve_urls(document)
    place = _Places(document, extraction)
    places_of: dict[str, tuple[str, BlockKind, int]] = {}
    most = document.bounds.links
    for number, (node, href, rel, anchor, block) in enumerate(document.links):
        url = known.urls[href]
        if url is None or url == known.own:
            continue
        label = anchor or clean(document.link_titles.get(number, ""), 200)
        kind = place.kind(node, anchor, block)
        closed_link = 1 if rel and is_nofollow(rel) else 0
        before = places_of.get(url)
        if before is not None:
            better = _RANK[kind] < _RANK[before[1]]
            text = label if (better and label) or len(label) > len(before[0]) else before[0]
            places_of[url] = (text, kind if better else before[1], before[2] & closed_link)
        elif len(places_of) < most:
            places_of[url] = (label, kind, closed_link)
    return Links(
        tuple(places_of),
        tuple(label for label, _, _ in places_of.values()),
        bytes(kind for _, kind, _ in places_of.values()),
        bytes(flag for _, _, flag in places_of.values()),
        (0.0,) * len(places_of),
        known.too_long,
    )


class _Places:
    def __init__(self, document: Document, extraction: Extraction) -> None:
        self.document = document
        self.kinds = _kinds(document)
        self.related = _related_blocks(document)
        self.body = set(extraction.text.split("\n")) if extraction.text else set()
        self.lists = BlockKind.RELATED if self.body else BlockKind.LIST

    def kind(self, node: int, anchor: str, block: int) -> BlockKind:
        stated = self.kinds[node]
        if 0 < len(anchor) <= 12 and stated in _MAY_PAGE and _PAGES.match(anchor):
            return BlockKind.PAGINATION
        headline = len(anchor) >= _HEADLINE_CHARS or (len(anchor) >= 5 and anchor.count(" ") >= 2)
        if stated is None:
            return self._unnamed(node, anchor, block, headline=headline)
        if stated is BlockKind.RELATED and not self.body and headline:
            return BlockKind.LIST
        return stated

    def _unnamed(self, node: int, anchor: str, block: int, *, headline: bool) -> BlockKind:
        texts = self.document.blocks.texts
        if block in self.related:
            return BlockKind.RELATED
        if block < len(texts) and texts[block] in self.body:
            return BlockKind.BODY
        if headline:
            return self.lists
        short = len(anchor) <= 6 and self.document.tags[node] not in {"iframe", "frame"}
        return BlockKind.NAVIGATION if short else BlockKind.OTHER


def _kinds(document: Document) -> list[BlockKind | None]:
    """Return the kind of each node that holds links; None for others."""
    tags, names, parents, links = document.tags, document.names, document.parents, document.LTG
    kinds: list[BlockKind | None] = [None] * len(tags)
    if not tags:
        return kinds
    plain = document.T - document.LT
    # A container of most of the page's text or links says nothing by its name.
    is_asked = ((links <= 0.8 * links[0] + 3) & (plain <= plain[0] * 0.5)).tolist()
    for node in np.flatnonzero(links).tolist():
        kind = kinds[parents[node]] if node else None
        if is_asked[node] and (names[node] or tags[node] in NOISE_TAGS) and kind not in _FINAL:
            kind = _named(names[node], tags[node]) or kind
        kinds[node] = kind
    return kinds


def _related_blocks(document: Document) -> set[int]:
    blocks = document.blocks
    related: set[int] = set()
    inside = False
    linked, short = (blocks.link_chars * 2 > blocks.chars).tolist(), (blocks.chars < 30).tolist()
    for index, line in enumerate(blocks.texts):
        if linked[index]:
            if inside:
                related.add(index)
        else:
            inside = (inside and short[index]) or is_label(line)
    return related


def join(first: Links, second: Links) -> Links:
    """Return the links of two readings of a page, each URL once; the first counts."""
    first_urls = set(first.urls)
    new = [number for number, url in enumerate(second.urls) if url not in first_urls]
    return Links(
        first.urls + tuple(second.urls[number] for number in new),
        first.anchors + tuple(second.anchors[number] for number in new),
        first.blocks + bytes(second.blocks[number] for number in new),
        first.nofollow + bytes(second.nofollow[number] for number in new),
        first.dates + tuple(second.dates[number] for number in new),
        first.too_long + second.too_long,
    )


def mark_nofollow(links: Links) -> Links:
    return Links(links.urls, links.anchors, links.blocks, b"\x01" * len(links), links.dates, links.too_long)


def find_feeds(document: Document) -> tuple[str, ...]:
    feeds: dict[str, None] = {}
    for rel, href, kind, _ in document.relations:
        if "alternate" in rel.split() and kind.partition(";")[0].strip() in {
            "application/rss+xml",
            "application/atom+xml",
        }:
            url = document.resolve(href)
            if url:
                feeds[url] = None
    return tuple(feeds)[:20]
