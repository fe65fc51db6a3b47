"""One fetched page, parsed once: the tree and, from a single walk over it, every number and text that a method needs.

Nodes are numbered in document order and described by columns, so that a sub-tree is the half-open range
`[node, ends[node])` and a sum over it is the difference of two cumulative sums. Text is cut into blocks (paragraphs,
headings, cells, lines between `<br>`); a block keeps the node it stands in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from lxml import etree
from parsel.selector import create_root_node

from .characters import Counts
from .encoding import decode
from .walk import walk

MAX_DEPTH: Final = 512
"""Deeper trees are flattened before they are read."""
_PARSER_DEPTH: Final = 2000
_MAX_TAG_BYTES: Final = 20_000
_MAX_ATTRIBUTES: Final = 1_000
"""Tags that are longer and have more attributes are left out."""
_CLOSERS = re.compile(rb"</(?:body|html)\s{0,20}>", re.IGNORECASE)
_FLATTEN = re.compile(
    r"</?(?!(?:a|p|h[1-6]|li|td|tr|br|script|style|title|meta|link|img|time|head|body|base)[\s/>])[a-z][^<>]{0,2000}>",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Blocks:
    """Text blocks in document order, as parallel columns.

    Attributes:
        texts: text with white space collapsed.
        nodes: number of the block-level node that each stands in.
        starts: number of the innermost node around the block's first character.
        parts: (node, text) of each piece of a short block that is made of several elements, else empty: what readers
            see as separate fields of an info line is one block here.
        chars, link_chars: characters without white space, those inside links.
        marks, stops, digits, capitals, han: how many of the characters are punctuation marks, ends of sentences,
            digits, capital letters, and Chinese, Japanese or Korean signs.
    """

    texts: list[str] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    parts: list[tuple[tuple[int, str], ...]] = field(default_factory=list)
    chars: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    link_chars: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    marks: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    stops: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    digits: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    capitals: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    han: Counts = field(default_factory=lambda: np.zeros(0, np.int64))

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(slots=True)
class Document:
    """A parsed page. Read only: every method gets the same object.

    Attributes:
        url, encoding: as given, as found.
        source: the decoded markup.
        elements: the tree's element per node, for methods that need what the columns do not tell.
        base: value of `<base href>`, else empty.
        language: value of `<html lang>`.
        tags, names, parents, ends, depths: per node: tag; class and id in lower case; number of the parent (-1 for the
            root); number after the last descendant; levels below the root.
        hidden: numbers of the nodes hidden by `hidden` or `display:none`.
        T, LT, TG, LTG, P, Sb: per sub-tree: characters, characters in links, tags, `a` tags, `p` tags, punctuation.
        blocks: the text.
        links: (node, href, rel, anchor text, number of the block it stands in) of every a, area, iframe and frame.
        link_titles: number of a link -> its title attribute or the alternative text of its image.
        images: (node, address, alternative text).
        times: (node, `datetime` attribute).
        title, metas, relations: of the head: title, meta name -> values, (rel, href, type, title) of link elements.
        json_ld, scripts: texts of JSON-LD blocks and of other inline scripts.
    """

    url: str
    encoding: str = ""
    source: str = ""
    elements: list[etree._Element] = field(default_factory=list)
    base: str = ""
    language: str = ""
    tags: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    hidden: set[int] = field(default_factory=set)
    T: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    LT: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    TG: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    LTG: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    P: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    Sb: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
    blocks: Blocks = field(default_factory=Blocks)
    links: list[tuple[int, str, str, str, int]] = field(default_factory=list)
    link_titles: dict[int, str] = field(default_factory=dict)
    images: list[tuple[int, str, str]] = field(default_factory=list)
    times: list[tuple[int, str]] = field(default_factory=list)
    title: str = ""
    metas: dict[str, list[str]] = field(default_factory=dict)
    relations: list[tuple[str, str, str, str]] = field(default_factory=list)
    json_ld: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


def parse(body: bytes, url: str, content_type: str = "") -> Document:
    """Decode and parse `body` once and measure it in one walk.

    Args:
        body: bytes as fetched, of any length and content.
        url: address of the page after redirects.
        content_type: value of the HTTP header.

    Returns:
        The document; without nodes when the body holds no element and no text.

    Cost: O(bytes) time and memory; for the bounds see `walk`.
    """
    text, encoding = decode(body, content_type)
    root = _tree(text.encode("utf-8", "replace"))
    if root is not None and _too_deep(root):
        root = _tree(_FLATTEN.sub("<br>", text).encode("utf-8", "replace"))
    document = Document(url, encoding, text)
    if root is not None:
        walk(root, document)
    return document


def _without_huge_tags(markup: bytes) -> bytes:
    """The markup without tags of thousands of attributes: the parser compares each attribute with all before it."""
    if len(markup) <= _MAX_TAG_BYTES:
        return markup
    opens = np.flatnonzero(np.frombuffer(markup, np.uint8) == ord("<"))
    lengths = np.diff(opens, append=len(markup))
    for at, length in zip(*(each[lengths > _MAX_TAG_BYTES][::-1].tolist() for each in (opens, lengths)), strict=True):
        end = markup.find(b">", at, at + length)
        end = at + length if end < 0 else end + 1
        if end - at > _MAX_TAG_BYTES and len(markup[at:end].split(None, _MAX_ATTRIBUTES)) > _MAX_ATTRIBUTES:
            markup = markup[:at] + markup[end:]
    return markup


class _Parser(etree.HTMLParser):
    """The parser without comments, so that text behind one is not taken apart."""

    def __init__(self, **options: Any) -> None:
        super().__init__(remove_comments=True, remove_pis=True, **options)


def _tree(markup: bytes) -> etree._Element | None:
    """Root of the parsed markup, None when there is nothing to parse."""
    if not markup.strip():
        return None
    # The parser drops what follows the end of body or page, and many pages end early.
    end = _CLOSERS.search(markup)
    if end:
        markup = markup[: end.start()] + _CLOSERS.sub(b"", markup[end.start() :])
    markup = _without_huge_tags(markup)
    try:
        return create_root_node("", _Parser, body=markup)
    except etree.XMLSyntaxError:
        return None


def _too_deep(root: etree._Element) -> bool:
    """Whether the last element stands so deep that the parser gave up there, and read nothing after it."""
    last = root
    for depth in range(_PARSER_DEPTH):
        if not len(last):
            return depth > MAX_DEPTH
        last = last[-1]
    return True
