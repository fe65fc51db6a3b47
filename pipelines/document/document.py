"""One fetched page, parsed once, with the texts and counts that methods need.

Nodes are numbered in document order and described by columns: a sub-tree is the half-open range `[node, ends[node])`.
Text is cut into blocks (paragraphs, headings, cells, lines between `<br>`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, Final, cast

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from ..decode.characters import Counts, count
from ..decode.encoding import decode
from ..decode.query import escape_query, find_query_codec
from ..decode.text import clean, shorten, strip_invisible, words
from ..records import SiteTerms
from ..urls import canonicalize
from . import limits
from .limits import NODES, STATED, TEXT, PageLimits
from .ruby import drop_readings

REFRESH: Final = "http-equiv: refresh"
"""Key of http-equiv refresh in `Document.metas`; no meta element of a page can have this name by chance."""
MAX_SCRIPT_CHARS: Final = 300_000
"""Longest inline script or JSON-LD block that is kept."""
_MAX_SCRIPTS: Final = 60
_LONG_HEAD: Final = 20_000
_SHORT_CHARS: Final = 240
_ANCHOR_CHARS: Final = 200
_ANCHOR_PIECES: Final = 40

# What the loop does with an element.
_BLOCK, _INLINE, _SKIP, _LINK, _FRAME, _HEAD = range(6)
_CODES: Final[dict[str, int]] = {
    **dict.fromkeys(
        words(
            "abbr acronym b bdi bdo big cite code del dfn em font i img ins kbd label mark nobr q rb rp rt ruby s samp "
            "small span strike strong sub sup time tt u var wbr "
            # marks that a word processor leaves around dates, places and names
            "o:p st1:address st1:chmetcnv st1:chsdate st1:city st1:country-region st1:date st1:personname st1:place "
            "st1:placename st1:placetype st1:state st1:street st1:time"
        ),
        _INLINE,
    ),
    **dict.fromkeys(
        words(
            "style noscript template svg math select option button textarea object embed applet audio video canvas map "
            "head datalist noframes input"
        ),
        _SKIP,
    ),
    **dict.fromkeys(words("area iframe frame"), _FRAME),
    **dict.fromkeys(words("meta link base script title"), _HEAD),
    "a": _LINK,
}
_OF_HEAD: Final = words("title meta link base basefont bgsound script style noscript noframes template")
_SWALLOWED: Final = ("main", "article", "footer")
"""The parser missed the end of a button that holds one of these: the rest of the page is in it."""
_UNREAD: Final = frozenset({"script", "style"})
_MOST_VISIBLE: Final = 4000
_LEAST_PARAGRAPHS: Final = 2
"""On a page with less visible text than that, a `noscript` with paragraphs and more text is read instead."""
_HIDDEN = re.compile(r"display\s{0,9}:\s{0,9}none", re.IGNORECASE)
_BLANKS = re.compile(r"\s{2,}")
_STAMPED = re.compile(r"20\d\d[-/]\d\d?[-/]\d\d?[T ]\d\d?:\d\d(?::\d\d)?(?:\s?(?:Z|[+-]\d\d:?\d\d))?")
"""A `title` attribute that is a time, where readers see "5 days ago"."""
_LINKING: Final = frozenset({"a", "area", "iframe", "frame"})
_NAMING: Final = frozenset({"class", "id", "itemprop", "role", "rel"})
_READ: Final = _NAMING | {"style", "hidden", "datetime", "title"}
_IMAGE_KEYS: Final = ("data-src", "data-original", "data-lazy-src", "data-echo", "src")


def is_inline(tag: str) -> bool:
    """Tell whether an element stands in a line of text, and is no break in it."""
    return tag == "a" or _CODES.get(tag) == _INLINE


def walk(root: etree._Element, document: Document) -> None:
    """Visit every element under `root` once, in document order; fill `document`.

    Cost: O(nodes + characters), within the document's bounds.
    """
    everything = root.iter("*")
    elements = document.elements = list(islice(everything, document.bounds.nodes))
    if len(elements) == document.bounds.nodes and next(everything, None) is not None:
        document.exceeded.add(NODES)
        document.is_cut = True
    document.tags = cast("list[str]", [element.tag for element in elements])
    numbers: dict[etree._Element | None, int] = dict(zip(elements, range(len(elements)), strict=True))
    numbers[None] = -1
    document.parents = [numbers[parent] for parent in map(etree._Element.getparent, elements)]
    linking = _attributes(document, elements)
    _blocks(document, _Pieces(document, elements), linking)


class _Pieces:
    def __init__(self, document: Document, elements: Sequence[etree._Element]) -> None:
        self.texts: list[str] = []
        self.nodes: list[int] = []
        self.bounds: list[int] = [0]
        """First piece of every block, and the end of the last one."""
        self.links: list[tuple[int, int, int]] = []
        """(node, block it stands in, its first piece) of every link and frame."""
        self.block_nodes: list[int] = []
        self.skipped: list[bool] = []
        codes = [_CODES.get(tag, _BLOCK) for tag in document.tags]
        fallbacks = self._run(document, elements, codes)
        if (
            fallbacks
            and (total := sum(map(len, self.texts)) - self.texts.count(" ")) < _MOST_VISIBLE
            and (opened := _larger(elements, fallbacks, total))
        ):
            for node in opened:
                codes[node] = _BLOCK
            self.texts, self.nodes, self.bounds, self.links = [], [], [0], []
            self._run(document, elements, codes)
        self._cut(document)

    def _run(  # noqa: PLR0912, PLR0915 - one loop
        self, document: Document, elements: Sequence[etree._Element], codes: Sequence[int]
    ) -> list[int]:
        """Return the `noscript` nodes that were left out."""
        tags, parents = document.tags, document.parents
        size = len(tags)
        fallbacks: list[int] = []
        ends = document.ends = [size] * size
        depths = document.depths = [0] * size
        block_nodes = self.block_nodes = list(range(size))
        skipped = self.skipped = [False] * size
        texts, nodes, bounds, links = self.texts, self.nodes, self.bounds, self.links
        is_open = False  # whether the block being collected has a piece
        open_node = -1
        for node, parent in enumerate((*parents, -1)):
            while open_node != parent:
                # Leave an element and read the text behind it.
                ends[open_node] = node
                if is_open and block_nodes[open_node] == open_node and not skipped[open_node]:
                    bounds.append(len(texts))
                    is_open = False
                left = open_node
                open_node = parents[open_node]
                if open_node >= 0 and not skipped[open_node] and (tail := elements[left].tail):
                    if not tail.isspace():
                        texts.append(tail)
                        nodes.append(open_node)
                        is_open = True
                    elif is_open:
                        texts.append(" ")
                        nodes.append(open_node)
            if node == size:
                break
            open_node = node
            code = codes[node]
            if parent >= 0:
                depths[node] = depths[parent] + 1
                if (
                    code == _SKIP
                    and tags[node] == "button"
                    and next(elements[node].iter(*_SWALLOWED), None) is not None
                ):
                    code = _BLOCK
                if code == _SKIP or code >= _FRAME or (skipped[parent] and not _begins_body(tags[parent], tags[node])):
                    if tags[node] == "noscript" and not skipped[parent]:
                        fallbacks.append(node)
                    skipped[node] = True
                    block_nodes[node] = block_nodes[parent]
                    if code == _FRAME:
                        links.append((node, len(bounds) - 1, len(texts)))
                    continue
            if code == _BLOCK:
                if is_open:
                    bounds.append(len(texts))
                    is_open = False
            else:
                if parent >= 0:
                    block_nodes[node] = block_nodes[parent]
                if code == _LINK:
                    links.append((node, len(bounds) - 1, len(texts)))
            head = elements[node].text
            if head:
                if not head.isspace():
                    texts.append(head)
                    nodes.append(node)
                    is_open = True
                elif is_open:
                    texts.append(" ")
                    nodes.append(node)
        if is_open:
            bounds.append(len(texts))
        return fallbacks

    def _cut(self, document: Document) -> None:
        most = document.bounds.chars
        is_long = False
        if sum(map(len, self.texts)) >= most:
            self.purge()  # runs of blanks are no text
            is_long = self._cut_chars(most)
        if is_long or len(self.bounds) > document.bounds.blocks:
            document.exceeded.add(TEXT)
            document.is_cut = True
            texts, nodes, bounds = self.texts, self.nodes, self.bounds
            del bounds[document.bounds.blocks + 1 :], texts[bounds[-1] :], nodes[bounds[-1] :]

    def _cut_chars(self, most: int) -> bool:
        sizes = np.cumsum([0 if text == " " else len(text) for text in self.texts])
        at = int(np.searchsorted(sizes, most))
        if at == len(sizes):
            return False
        texts, bounds = self.texts, self.bounds
        texts[at] = texts[at][: len(texts[at]) - (int(sizes[at]) - most)]
        behind = at if texts[at].isspace() else at + 1
        del texts[behind:], self.nodes[behind:]
        bounds[:] = [*(bound for bound in bounds if bound < behind), behind]
        last = len(bounds) - 1
        self.links = [(node, min(block, last), min(piece, behind)) for node, block, piece in self.links]
        return True

    def purge(self) -> None:
        texts, nodes, bounds = self.texts, self.nodes, self.bounds
        places, numbers = [0] * (len(texts) + 1), [0] * len(bounds)
        self.texts, self.nodes, self.bounds = [], [], [0]
        for block, (first, last) in enumerate(pairwise(bounds)):
            numbers[block] = len(self.bounds) - 1
            for at in range(first, last):
                places[at] = len(self.texts)
                text = _BLANKS.sub(" ", strip_invisible(texts[at]))
                if text and not text.isspace():
                    self.texts.append(text)
                    self.nodes.append(nodes[at])
                elif text and len(self.texts) > self.bounds[-1]:
                    self.texts.append(" ")
                    self.nodes.append(nodes[at])
            if len(self.texts) > self.bounds[-1]:
                self.bounds.append(len(self.texts))
        places[len(texts)], numbers[-1] = len(self.texts), len(self.bounds) - 1
        self.links = [(node, numbers[block], places[piece]) for node, block, piece in self.links]


def _begins_body(parent: str, tag: str) -> bool:
    """The parser does not close the head before elements younger than itself."""
    return tag == "body" or (parent == "head" and tag not in _OF_HEAD)


def _larger(elements: Sequence[etree._Element], nodes: Sequence[int], least: int) -> list[int]:
    nodes_with_text, total = [], 0
    for node in nodes:
        parts = [part for part in elements[node].iter("*") if part.tag not in _UNREAD]
        if sum(part.tag == "p" for part in parts) >= _LEAST_PARAGRAPHS:
            nodes_with_text.append(node)
            total += sum(len((part.text or "").strip()) + len((part.tail or "").strip()) for part in parts)
    return nodes_with_text if total > least else []


def _blocks(document: Document, pieces: _Pieces, linking: Mapping[int, Mapping[str, str]]) -> None:
    size = len(document.tags)
    census = count(pieces.texts)
    if census.invisible:
        pieces.purge()
        census = count(pieces.texts)
    anchors = _links(document, pieces, linking)
    nodes, ends = np.asarray(pieces.nodes, np.int64), np.asarray(document.ends, np.int64)
    depths = np.zeros(size + 1, np.int64)  # how many links each node stands in
    depths[anchors] = 1
    depths -= np.bincount(ends[anchors], minlength=size + 1)
    linked = np.add.accumulate(depths[:size]) > 0
    in_link = census.visible * linked[nodes]
    counts = np.zeros((6, size))
    for row, values in enumerate((census.visible, in_link, census.marks)):
        counts[row] = np.bincount(nodes, values, size)
    counts[3] = ~np.asarray(pieces.skipped, np.bool_)
    counts[4] = np.bincount(np.asarray(anchors, np.int64), minlength=size)
    counts[5] = np.fromiter(map("p".__eq__, document.tags), np.bool_, size)
    sums = sum_sub_trees(counts.astype(np.int64), ends)
    document.T, document.LT, document.Sb, document.TG, document.LTG, document.P = sums
    blocks = document.blocks
    firsts = pieces.bounds[:-1]
    blocks.starts = [pieces.nodes[first] for first in firsts]
    blocks.nodes = [pieces.block_nodes[node] for node in blocks.starts]
    texts, parts = blocks.texts, blocks.parts
    for first, last in pairwise(pieces.bounds):
        if last - first == 1:
            texts.append(" ".join(pieces.texts[first].split()))
            parts.append(())
            continue
        several = pieces.texts[first:last]
        text = " ".join("".join(several).split())
        texts.append(text)
        if len(text) <= _SHORT_CHARS:
            fields = zip(pieces.nodes[first:last], several, strict=True)
            parts.append(tuple([field for field in fields if field[1] != " "]))
        else:
            parts.append(())
    if firsts:
        columns = (census.visible, in_link, census.marks, census.stops, census.digits, census.capitals, census.han)
        sums_of_blocks = np.add.reduceat(np.array(columns), firsts, 1)
        blocks.chars, blocks.link_chars, blocks.marks, blocks.stops = sums_of_blocks[:4]
        blocks.digits, blocks.capitals, blocks.han = sums_of_blocks[4:]


def sum_sub_trees(values: NDArray[Any], ends: Counts) -> NDArray[Any]:
    dtype = np.dtype(np.int64) if values.dtype.kind in "biu" else values.dtype
    total = np.empty((*values.shape[:-1], values.shape[-1] + 1), dtype)
    total[..., 0] = 0
    np.add.accumulate(values, -1, dtype, total[..., 1:])
    sums: NDArray[Any] = total.take(ends, -1)
    sums -= total[..., :-1]
    return sums


def _attributes(  # noqa: PLR0912 - one loop
    document: Document, elements: Sequence[etree._Element]
) -> dict[int, dict[str, str]]:
    linking: dict[int, dict[str, str]] = {}
    names = document.names = [""] * len(elements)
    lowered: dict[str, str] = {}
    is_dated = False  # whether some name so far is that of a date
    tags = document.tags
    attributes = cast("Iterator[list[tuple[str, str]]]", map(etree._Element.items, elements))
    for node, (tag, pairs) in enumerate(zip(tags, attributes, strict=True)):
        if tag in _HEAD_READERS:
            _HEAD_READERS[tag](document, elements[node], dict(pairs))
        elif tag in _LINKING:
            linking[node] = dict(pairs)
        if not pairs:
            continue
        name = ""
        for key, value in pairs:
            if key not in _READ:
                continue
            if key in _NAMING:
                part = lowered.get(value)
                if part is None:
                    part = lowered[value] = value[:200].lower()
                    is_dated = is_dated or "datepublished" in part or "datecreated" in part
                name = f"{name} {part}" if name else part
            elif key == "style":
                if "display" in value and _HIDDEN.search(value):
                    document.hidden.add(node)
            elif key == "hidden":
                document.hidden.add(node)
            elif key == "datetime" or (key == "title" and value[:2] == "20" and _STAMPED.fullmatch(value)):
                document.times.append((node, value))
        names[node] = name
        if tag == "img":
            _image(document, node, dict(pairs))
        elif is_dated and ("datepublished" in name or "datecreated" in name) and (moment := dict(pairs).get("content")):
            document.times.append((node, moment))
    return linking


def _image(document: Document, node: int, attributes: dict[str, str]) -> None:
    source = next((attributes[key] for key in _IMAGE_KEYS if attributes.get(key)), "")
    if source:
        document.images.append((node, source, attributes.get("alt", "")))


def _links(document: Document, pieces: _Pieces, linking: Mapping[int, Mapping[str, str]]) -> list[int]:
    tags, ends, nodes, texts = document.tags, document.ends, pieces.nodes, pieces.texts
    alternatives = {node: text for node, _, text in reversed(document.images)}
    link_nodes: list[int] = []
    for node, block, piece in pieces.links:
        stated = linking[node]
        href = stated.get("href" if tags[node] in {"a", "area"} else "src")
        if not href:
            continue
        number, end = len(link_nodes), ends[node]
        link_nodes.append(node)
        last, most = piece, min(piece + _ANCHOR_PIECES, len(nodes))
        while last < most and node <= nodes[last] < end:
            last += 1
        anchor = " ".join("".join(texts[piece:last]).split())[:_ANCHOR_CHARS].rstrip()
        document.links.append((node, href, stated.get("rel", ""), anchor, block))
        title = stated.get("title")
        if title is None and not anchor and end > node + 1:
            title = next((alternatives[inner] for inner in range(node + 1, end) if inner in alternatives), None)
        if title is not None:
            document.link_titles[number] = title
    return link_nodes


def _meta(document: Document, element: etree._Element, stated: Mapping[str, str]) -> None:
    content = stated.get("content") or stated.get("value")
    name = stated.get("property") or stated.get("name") or stated.get("itemprop")
    if not name and stated.get("http-equiv", "").strip().lower() == "refresh":
        name = REFRESH
    if content and name and len(document.metas) < 500:
        document.metas.setdefault(name.strip().lower()[:80], []).append(shorten(content, 5000))


def _relation(document: Document, element: etree._Element, stated: Mapping[str, str]) -> None:
    href = stated.get("href")
    if href and len(document.relations) < 500:
        rel, kind = stated.get("rel", "").lower(), stated.get("type", "").lower()
        document.relations.append((rel, href, kind, stated.get("title", "")))


def _script(document: Document, element: etree._Element, stated: Mapping[str, str]) -> None:
    text = element.text
    if text:
        is_stated = "ld+json" in stated.get("type", "").lower()
        texts = document.json_ld if is_stated else document.scripts
        if len(text) <= MAX_SCRIPT_CHARS and len(texts) < _MAX_SCRIPTS:
            texts.append(text)
        elif is_stated:
            document.exceeded.add(STATED)
            if len(texts) < _MAX_SCRIPTS:
                texts.append(text[:_LONG_HEAD])  # that of a live blog holds all its entries; what it says first counts


def _title(document: Document, element: etree._Element, stated: Mapping[str, str]) -> None:
    if not document.title:
        document.title = clean("".join(map(str, element.itertext())), 1000)


def _base(document: Document, element: etree._Element, stated: Mapping[str, str]) -> None:
    document.base = document.base or stated.get("href", "").strip()


def _html(document: Document, element: etree._Element, stated: Mapping[str, str]) -> None:
    document.language = (stated.get("lang") or stated.get("xml:lang") or "").strip()[:35]


_HEAD_READERS: Final[dict[str, Callable[[Document, etree._Element, Mapping[str, str]], None]]] = {
    "meta": _meta,
    "link": _relation,
    "script": _script,
    "title": _title,
    "base": _base,
    "html": _html,
}


_PARSER_DEPTH: Final = 2000
_CLOSERS = re.compile(rb"</(?:[bB][oO][dD][yY]|[hH][tT][mM][lL])\s{0,20}>")
"""Letters in both cases instead of a flag: a search for `</` then skips ahead to what may match."""
_FLATTEN = re.compile(
    r"</?(?!(?:a|p|h[1-6]|li|td|tr|br|script|style|title|meta|link|img|time|head|body|base)[\s/>])[a-z][^<>]{0,2000}>",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Blocks:
    """Text blocks in document order, as parallel columns.

    Attributes:
        texts: with white space collapsed.
        nodes: the block-level node that each stands in.
        starts: the innermost node around the block's first character.
        parts: (node, text) of each piece of a short block made of several elements, else empty: readers see the fields
            of an info line apart.
        chars, link_chars: characters without white space, and those of them inside links.
        marks, stops, digits, capitals, han: how many characters are punctuation marks, ends of sentences, digits,
            capital letters, and Chinese, Japanese or Korean ones.
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
        source: the decoded markup, without readings above characters.
        base, language: of `<base href>` and `<html lang>`, else empty.
        names: per node, class and id in lower case.
        parents, ends, depths: per node: parent (-1 for the root), number after the last descendant, levels below the
            root.
        hidden: nodes hidden by `hidden` or `display:none`.
        T, LT, TG, LTG, P, Sb: per sub-tree: characters, characters in links, tags, `a` tags, `p` tags, punctuation.
        links: (node, href, rel, anchor text, block it stands in) of every a, area, iframe and frame.
        link_titles: number of a link -> its title attribute or the alternative text of its image.
        images: (node, URL, alternative text).
        times: (node, `datetime` attribute, or `title` that is a time).
        relations: (rel, href, type, title) of link elements.
        scripts: inline scripts other than JSON-LD.
        exceeded: names of the limits that the page exceeded.
        is_cut: markup or text behind the last block was not read.
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
    bounds: PageLimits = limits.DEFAULT
    exceeded: set[str] = field(default_factory=set)
    is_cut: bool = False
    content_type: str = ""
    view: Any = field(default=None, init=False, repr=False, compare=False)
    """Where `view.measure` keeps its `PageView`."""
    site_terms: SiteTerms | None = field(default=None, compare=False)
    """Terms of other pages of its site, for methods that compare them; None when they are not known."""
    _base_url: str = ""
    _query_codec: str = ""

    @property
    def base_url(self) -> str:
        if not self._base_url:
            self._base_url = (self._in_own_set(self.base, self.url) if self.base else None) or self.url
        return self._base_url

    def resolve(self, href: str) -> str | None:
        """Return the canonical URL of an href; None if it leads to no page."""
        return canonicalize(href, self.base_url) if href.isascii() else self._in_own_set(href, self.base_url)

    def _in_own_set(self, href: str, base: str) -> str | None:
        if not self._query_codec:
            self._query_codec = find_query_codec(self.source, self.encoding, self.content_type)
        return canonicalize(escape_query(href, self._query_codec), base)


def parse(body: bytes, url: str, content_type: str = "", bounds: PageLimits = limits.DEFAULT) -> Document:
    """Decode and parse `body` once and measure it in one walk.

    `url` is that after redirects, `content_type` the HTTP header's. The document has no nodes when the body holds no
    element and no text.
    Cost: O(bytes) time and memory.
    """
    text, encoding = decode(body, content_type)
    text = drop_readings(text)
    document = Document(url, encoding, text, bounds=bounds, content_type=content_type)
    root = _tree(text.encode("utf-8", "replace"), document)
    if root is not None and _too_deep(root, bounds.depth):
        document.exceeded.add(limits.DEPTH)
        root = _tree(_FLATTEN.sub("<br>", text).encode("utf-8", "replace"), document)
    if root is not None:
        walk(root, document)
    return document


def _tree(markup: bytes, document: Document) -> etree._Element | None:
    if not markup or markup.isspace():
        return None
    # The parser drops what follows the end of body or page, and many pages end early.
    end = _CLOSERS.search(markup)
    if end:
        markup = markup[: end.start()] + _CLOSERS.sub(b"", markup[end.start() :])
    markup, is_cut = limits.cut_tags(markup, document.bounds.tags)
    if is_cut:
        document.exceeded.add(limits.TAGS)
        document.is_cut = True
    markup, is_less = limits.drop_huge_tags(markup)
    if is_less:
        document.exceeded.add(limits.ATTRIBUTES)
    # Without comments text behind one is not taken apart, and nobody looks elements up by their id.
    parser = etree.HTMLParser(
        encoding="utf-8", recover=True, huge_tree=True, remove_comments=True, remove_pis=True, collect_ids=False
    )
    try:
        root = etree.fromstring(markup.replace(b"\x00", b"").strip() or b"<html/>", parser)
        return etree.fromstring(b"<html/>", parser) if root is None else root
    except etree.XMLSyntaxError:
        return None


def _too_deep(root: etree._Element, most: int) -> bool:
    last = root
    for depth in range(_PARSER_DEPTH):
        if not len(last):
            return depth > most
        last = last[-1]
    return True
