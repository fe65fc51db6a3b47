"""Related stories of an article: the links of lists that its page calls related."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from ..document.document import Document
from ..document.noise import is_aside, is_label
from ..document.view import measure
from ..records import BlockKind, Links
from ..urls import host_key, site_key
from ..word_lists import WordLists
from .links import PageUrls

MAX_STORIES: Final = 20
_LISTS: Final = WordLists(Path(__file__).with_name("words.txt"))
_RELATED = re.compile(_LISTS.choices("related"))
_UNRELATED = re.compile(_LISTS.choices("not stories"))
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LABEL_CHARS: Final = 40
_PROSE_CHARS: Final = 30
_HEADLINE_HAN: Final = 8
_HEADLINE_CHARS: Final = 20
_HEADLINE_BLANKS: Final = 3
"""Least length of a headline, shorter than which links are topics and places. These five were chosen by hand."""


class StoryLink(NamedTuple):
    """A related story: its URL, and its title as the link has it."""

    url: str
    title: str


def find(
    document: Document, links: Links, urls: PageUrls, kept: Collection[int], topic_links: Collection[int] | None = None
) -> list[StoryLink]:
    """Return the related stories of an article, in document order.

    They are the headlines, at most `MAX_STORIES`, that link to the same site out of lists beside the text over which a
    label ("相关新闻") says so. Rankings, recommendations and the latest news are left out.

    Args:
        document: the page of an article.
        links: of the page.
        urls: of the page.
        kept: numbers of the blocks of its text.
        topic_links: the blocks to take instead of those lists, where the extractor has found such.

    Cost: O(blocks + links), some 70 microseconds.
    """
    blocks = set(_stated(document) if topic_links is None else topic_links) - set(kept)
    if not blocks:
        return []
    known = set(links.urls)
    site = site_key(host_key(urls.own)) if urls.own else ""
    stories: dict[str, str] = {}
    for _, href, _, anchor, block in document.links:
        url = urls.urls[href] if block in blocks and _is_headline(anchor) else None
        if url is not None and url in known and site_key(host_key(url)) == site and len(stories) < MAX_STORIES:
            stories.setdefault(url, anchor)
    return [StoryLink(url, title) for url, title in stories.items()]


def mark(links: Links, stories: Iterable[StoryLink]) -> Links:
    """Return links with the stories as `BlockKind.RELATED`, except in the text."""
    stated = {story.url for story in stories}
    kinds = bytes(
        BlockKind.RELATED if url in stated and kind != BlockKind.BODY else kind
        for url, kind in zip(links.urls, links.blocks, strict=True)
    )
    return links if kinds == links.blocks else replace(links, blocks=kinds)


def _stated(document: Document) -> Iterator[int]:
    linked = measure(document).linked.tolist()
    for number, text in enumerate(document.blocks.texts):
        if len(text) <= _LABEL_CHARS and not linked[number] and _states(text):
            yield from _under(document, number, linked)


def _under(document: Document, label: int, linked: list[bool]) -> Iterator[int]:
    """Yield the blocks of the list that a label stands over.

    It ends with its container, at the next label and at prose. Where the container holds a single line, its siblings
    of the same tag and name belong to it.
    """
    nodes, texts, parents, ends = document.blocks.nodes, document.blocks.texts, document.parents, document.ends
    first = label + 1
    if first >= len(nodes) or not linked[first]:
        return
    node, head = nodes[first], nodes[label]
    while parents[node] > 0 and not parents[node] <= head < ends[parents[node]]:
        node = parents[node]
    if node <= head < ends[node]:  # label and list are lines of one element
        last = ends[node]
    else:
        last = ends[node]
        while last < len(parents) and parents[last] == parents[node] and _look_alike(document, last, node):
            last = ends[last]
    for number in range(first, len(nodes)):
        if nodes[number] >= last:
            return
        if linked[number]:
            yield number
        elif len(texts[number]) >= _PROSE_CHARS or _is_label(texts[number]):
            return


def _look_alike(document: Document, one: int, other: int) -> bool:
    return document.tags[one] == document.tags[other] and document.names[one] == document.names[other]


@lru_cache(maxsize=4096)
def _states(label: str) -> bool:
    line = label.lower()
    return bool(_RELATED.search(line)) and not _UNRELATED.search(line) and _is_label(label)


def _is_label(text: str) -> bool:
    return is_label(text) or is_aside(text)


def _is_headline(anchor: str) -> bool:
    if anchor.count(" ") >= _HEADLINE_BLANKS and len(anchor) >= _HEADLINE_CHARS:
        return not _is_label(anchor)
    return len(_HAN.findall(anchor)) >= _HEADLINE_HAN and not _is_label(anchor)
