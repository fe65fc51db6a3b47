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

from . import bounds as limits
from .bounds import Bounds
from .characters import Counts
from .encoding import decode
from .walk import walk

_PARSER_DEPTH: Final = 2000
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
        bounds: how much of the page was read.
        bitten: of what there was more.
        is_cut: whether markup or text behind the last block was not read.
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
    bounds: Bounds = limits.DEFAULT
    bitten: set[str] = field(default_factory=set)
    is_cut: bool = False


def parse(body: bytes, url: str, content_type: str = "", bounds: Bounds = limits.DEFAULT) -> Document:
    """Decode and parse `body` once and measure it in one walk.

    Args:
        body: bytes as fetched, of any length and content.
        url: address of the page after redirects.
        content_type: value of the HTTP header.
        bounds: how much of it is read.

    Returns:
        The document; without nodes when the body holds no element and no text.

    Cost: O(bytes) time and memory.
    """
    text, encoding = decode(body, content_type)
    document = Document(url, encoding, text, bounds=bounds)
    root = _tree(text.encode("utf-8", "replace"), document)
    if root is not None and _too_deep(root, bounds.depth):
        document.bitten.add(limits.DEPTH)
        root = _tree(_FLATTEN.sub("<br>", text).encode("utf-8", "replace"), document)
    if root is not None:
        walk(root, document)
    return document


class _Parser(etree.HTMLParser):
    """The parser without comments, so that text behind one is not taken apart."""

    def __init__(self, **options: Any) -> None:
        super().__init__(remove_comments=True, remove_pis=True, **options)


def _tree(markup: bytes, document: Document) -> etree._Element | None:
    """Root of the parsed markup, None when there is nothing to parse; notes in the document what was too much."""
    if not markup.strip():
        return None
    # The parser drops what follows the end of body or page, and many pages end early.
    end = _CLOSERS.search(markup)
    if end:
        markup = markup[: end.start()] + _CLOSERS.sub(b"", markup[end.start() :])
    markup, is_cut = limits.cut_tags(markup, document.bounds.tags)
    if is_cut:
        document.bitten.add(limits.TAGS)
        document.is_cut = True
    markup, is_less = limits.without_huge_tags(markup)
    if is_less:
        document.bitten.add(limits.ATTRIBUTES)
    try:
        return create_root_node("", _Parser, body=markup)
    except etree.XMLSyntaxError:
        return None


def _too_deep(root: etree._Element, most: int) -> bool:
    """Whether the last element stands so deep that the parser gave up there, and read nothing after it."""
    last = root
    for depth in range(_PARSER_DEPTH):
        if not len(last):
            return depth > most
        last = last[-1]
    return True
