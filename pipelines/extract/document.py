"""One fetched page, parsed once: the tree and, from a single walk over it, every number and text that a method needs.

Nodes are numbered in document order and described by columns, so that a sub-tree is the half-open range
`[node, ends[node])` and a sum over it is the difference of two cumulative sums. Text is cut into blocks (paragraphs,
headings, cells, lines between `<br>`); a block keeps the node it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from .clean import clean, words
from .encoding import decode

MAX_NODES: Final = 120_000
"""Elements looked at; the rest of a larger page is ignored."""
MAX_TEXT_CHARS: Final = 1_000_000
"""Characters of text looked at."""
MAX_DEPTH: Final = 512
"""Deeper trees are flattened before they are read."""
MAX_SCRIPT_CHARS: Final = 300_000
"""Longest inline script or JSON-LD block that is kept."""
_PARSER_DEPTH: Final = 2000
_SHORT_CHARS: Final = 240

Counts = NDArray[np.int64]

_INLINE: Final = words(
    "a abbr acronym b bdi bdo big cite code del dfn em font i img ins kbd label mark nobr q rb rp rt ruby "
    "s samp small span strike strong sub sup time tt u var wbr"
)
_SKIP: Final = words(
    "script style noscript template svg math select option button textarea object embed applet audio "
    "video canvas map head title datalist iframe frame noframes input"
)
_MARKS = re.compile('[，。！？；：、,.!?;:…“”‘’"《》「」『』（）()।؟،۔]')
_CLOSERS = re.compile(r"</(?:body|html)\s{0,20}>", re.IGNORECASE)
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
        chars, link_chars, marks: characters without white space, those inside links, punctuation marks.
    """

    texts: list[str] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    parts: list[tuple[tuple[int, str], ...]] = field(default_factory=list)
    chars: list[int] = field(default_factory=list)
    link_chars: list[int] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

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

    Cost: O(bytes) time and memory; at most `MAX_NODES` nodes and `MAX_TEXT_CHARS` characters are described.
    """
    text, encoding = decode(body, content_type)
    # The parser drops what follows </body> or </html>; many pages close them early.
    text = _CLOSERS.sub("", text.replace("\x00", ""))
    root = _tree(text)
    if root is not None and _too_deep(root):
        root = _tree(_FLATTEN.sub("<br>", text))
    document = Document(url, encoding, text)
    if root is not None:
        _Walk(document).run(root)
    return document


def _tree(text: str) -> etree._Element | None:
    """Root of the parsed text, None when there is nothing to parse."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, recover=True, remove_comments=True, remove_pis=True)
    data = text.encode("utf-8", "replace")
    if not data.strip():
        return None
    try:
        return etree.fromstring(data, parser)
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


class _Walk:
    """The one walk: fills the columns of a new document."""

    __slots__ = (
        "anchors", "block_nodes", "counts", "document", "found", "links", "name_cache", "own", "own_link", "own_marks",
        "parts", "pieces", "place", "total",
    )  # fmt: skip

    def __init__(self, document: Document) -> None:
        self.document = document
        self.own: list[int] = []
        self.own_link: list[int] = []
        self.own_marks: list[int] = []
        # Per node: nearest block-level node, and number of the link around it or -1.
        self.block_nodes: list[int] = []
        self.links: list[int] = []
        # The block being collected.
        self.pieces: list[str] = []
        self.parts: list[tuple[int, str]] = []
        self.counts = [0, 0, 0]
        self.place = (0, 0)
        self.anchors: list[list[str]] = []
        self.found: list[tuple[int, str, str, int]] = []
        self.name_cache: dict[str, str] = {}
        self.total = 0

    def run(self, root: etree._Element) -> None:
        """Visit every element once, in document order."""
        document = self.document
        elements = document.elements = list(islice(root.iter("*"), MAX_NODES))
        count = len(elements)
        # Whole columns at once: the cheapest way to take texts out of the C tree.
        tags = document.tags = [str(element.tag) for element in elements]
        texts = [element.text for element in elements]
        tails = [element.tail for element in elements]
        numbers: dict[etree._Element | None, int] = {element: node for node, element in enumerate(elements)}
        numbers_get = numbers.get
        parents = document.parents = [numbers_get(element.getparent(), -1) for element in elements]
        names = document.names = [""] * count
        depths = document.depths = [0] * count
        document.ends = list(range(1, count + 1))
        self.own, self.own_link, self.own_marks = [0] * count, [0] * count, [0] * count
        block_nodes = self.block_nodes = list(range(count))
        links = self.links = [-1] * count
        skipped = [tag in _SKIP for tag in tags]
        opened: list[int] = []
        for node, tag in enumerate(tags):
            parent = parents[node]
            while opened and opened[-1] != parent:
                self.close(opened.pop(), node, tails, skipped)
            opened.append(node)
            if parent >= 0:
                depths[node] = depths[parent] + 1
                links[node] = links[parent]
                if skipped[parent] and tag != "body":
                    skipped[node] = True
            if tag in _SPECIAL or tag in _FRAMES:
                self.special(node, elements[node])
            if skipped[node]:
                block_nodes[node] = block_nodes[max(parent, 0)]
                continue
            if tag in _INLINE:
                if parent >= 0:
                    block_nodes[node] = block_nodes[parent]
            elif self.pieces:
                self.flush()
            attributes = elements[node].items()
            if attributes:
                names[node] = self.describe(node, tag, {str(key): str(value) for key, value in attributes})
            text = texts[node]
            if text and self.total < MAX_TEXT_CHARS:
                self.take(text, node)
        while opened:
            self.close(opened.pop(), count, tails, skipped)
        self.flush()
        document.links = [
            (node, href, rel, clean("".join(pieces[:40]), 200) if pieces else "", block)
            for (node, href, rel, block), pieces in zip(self.found, self.anchors, strict=True)
        ]
        self.sum_up(skipped)

    def close(self, node: int, end: int, tails: list[str | None], skipped: list[bool]) -> None:
        """Leave an element and read the text behind it."""
        document = self.document
        document.ends[node] = end
        if self.pieces and self.block_nodes[node] == node:
            self.flush()
        tail = tails[node]
        if tail and self.total < MAX_TEXT_CHARS:
            parent = document.parents[node]
            if parent >= 0 and not skipped[parent]:
                self.take(tail, parent)

    def take(self, raw: str, node: int) -> None:
        """Count a piece of text and append it to the block being collected."""
        if raw.isspace():
            if self.pieces:
                self.pieces.append(" ")
            return
        raw = raw[: MAX_TEXT_CHARS - self.total]
        chars = len("".join(raw.split()))
        self.total += chars
        self.own[node] += chars
        if not self.pieces:
            self.place = (self.block_nodes[node], node)
        self.pieces.append(raw)
        self.parts.append((node, raw))
        counts = self.counts
        counts[0] += chars
        if chars > 1:
            marks = len(_MARKS.findall(raw))
            self.own_marks[node] += marks
            counts[2] += marks
        link = self.links[node]
        if link >= 0:
            self.own_link[node] += chars
            counts[1] += chars
            self.anchors[link].append(raw)

    def flush(self) -> None:
        """End the block being collected."""
        text = clean("".join(self.pieces))
        self.pieces.clear()
        if text:
            blocks = self.document.blocks
            blocks.texts.append(text)
            blocks.nodes.append(self.place[0])
            blocks.starts.append(self.place[1])
            several = len(self.parts) > 1 and len(text) <= _SHORT_CHARS
            blocks.parts.append(tuple(self.parts) if several else ())
            chars, link_chars, marks = self.counts
            blocks.chars.append(chars)
            blocks.link_chars.append(link_chars)
            blocks.marks.append(marks)
        self.parts.clear()
        self.counts = [0, 0, 0]

    def special(self, node: int, element: etree._Element) -> None:
        """Read an element of the head, a script or a frame."""
        attributes = {str(key): str(value) for key, value in element.items()}
        handler = _SPECIAL.get(str(element.tag))
        if handler is not None:
            handler(self.document, element, attributes)
        elif attributes.get("src"):
            self.link(node, attributes["src"], "")

    def link(self, node: int, href: str, rel: str) -> int:
        """Note a link and return its number."""
        self.found.append((node, href, rel, len(self.document.blocks.texts)))
        self.anchors.append([])
        return len(self.found) - 1

    def describe(self, node: int, tag: str, attributes: dict[str, str]) -> str:
        """Class, id and microdata name of a node; notes links and what is hidden, dated or an image."""
        if tag in {"a", "area"}:
            href = attributes.get("href")
            if href:
                number = self.links[node] = self.link(node, href, attributes.get("rel", ""))
                if "title" in attributes:
                    self.document.link_titles[number] = attributes["title"]
        elif tag == "img":
            self.image(node, attributes)
        if not _TELLING.isdisjoint(attributes):
            self.notice(node, attributes)
        name = attributes.get("class", "")
        for key in _NAME_KEYS:
            if key in attributes:
                name = f"{name} {attributes[key]}"
        if not name:
            return ""
        known = self.name_cache.get(name)
        if known is None:
            known = self.name_cache[name] = name[:200].lower()
        return known

    def notice(self, node: int, attributes: dict[str, str]) -> None:
        """Note that a node is hidden or dated."""
        style = attributes.get("style", "")
        if "hidden" in attributes or ("display" in style and _HIDDEN.search(style)):
            self.document.hidden.add(node)
        moment = attributes.get("datetime")
        if moment is None and attributes.get("itemprop") in {"datePublished", "dateCreated"}:
            moment = attributes.get("content")
        if moment:
            self.document.times.append((node, moment))

    def image(self, node: int, attributes: dict[str, str]) -> None:
        """Note an image, and its alternative text as the title of the link around it."""
        source = next((attributes[key] for key in _IMAGE_KEYS if attributes.get(key)), "")
        if source:
            self.document.images.append((node, source, attributes.get("alt", "")))
            link = self.links[node]
            if link >= 0 and not self.anchors[link]:
                self.document.link_titles.setdefault(link, attributes.get("alt", ""))

    def sum_up(self, skipped: list[bool]) -> None:
        """Turn what nodes hold themselves into sums over their sub-trees."""
        document = self.document
        count = len(document.tags)
        if not count:
            return
        starts = np.arange(count)
        ends = np.asarray(document.ends)

        def sub_trees(own: Sequence[int] | Sequence[bool]) -> Counts:
            total = np.zeros(count + 1, np.int64)
            np.cumsum(np.asarray(own, np.int64), out=total[1:])
            sums: Counts = total[ends] - total[starts]
            return sums

        document.T, document.LT = sub_trees(self.own), sub_trees(self.own_link)
        document.Sb = sub_trees(self.own_marks)
        linked = [False] * count
        for node, *_ in self.found:
            linked[node] = True
        document.LTG = sub_trees(linked)
        document.P = sub_trees([tag == "p" for tag in document.tags])
        document.TG = sub_trees([not skip for skip in skipped])


def _meta(document: Document, _: etree._Element, attributes: dict[str, str]) -> None:
    """Note a meta element under its name, property or microdata name."""
    content = attributes.get("content")
    name = attributes.get("property") or attributes.get("name") or attributes.get("itemprop")
    if content and name and len(document.metas) < 500:
        document.metas.setdefault(name.strip().lower()[:80], []).append(content[:5000])


def _relation(document: Document, _: etree._Element, attributes: dict[str, str]) -> None:
    """Note a link element."""
    if attributes.get("href") and len(document.relations) < 500:
        kind, title = attributes.get("type", "").lower(), attributes.get("title", "")
        document.relations.append((attributes.get("rel", "").lower(), attributes["href"], kind, title))


def _script(document: Document, element: etree._Element, attributes: dict[str, str]) -> None:
    """Keep an inline script of bearable length."""
    text = element.text
    if text and len(text) <= MAX_SCRIPT_CHARS:
        kept = document.json_ld if "ld+json" in attributes.get("type", "").lower() else document.scripts
        if len(kept) < 60:
            kept.append(text)


def _title(document: Document, element: etree._Element, _: dict[str, str]) -> None:
    """Keep the first title that says something."""
    if not document.title:
        document.title = clean("".join(map(str, element.itertext()))[:3000], 1000)


def _base(document: Document, _: etree._Element, attributes: dict[str, str]) -> None:
    """Keep the first base address."""
    document.base = document.base or attributes.get("href", "").strip()


def _html(document: Document, _: etree._Element, attributes: dict[str, str]) -> None:
    """Keep the declared language."""
    document.language = (attributes.get("lang") or attributes.get("xml:lang") or "").strip()[:35]


_HIDDEN = re.compile(r"display\s{0,9}:\s{0,9}none", re.IGNORECASE)
_IMAGE_KEYS: Final = ("data-src", "data-original", "data-lazy-src", "data-echo", "src")
_FRAMES: Final = frozenset({"iframe", "frame"})
_TELLING: Final = frozenset({"style", "hidden", "datetime", "itemprop"})
_NAME_KEYS: Final = ("id", "itemprop", "rel", "role")
_SPECIAL: Final[dict[str, Callable[[Document, etree._Element, dict[str, str]], None]]] = {
    "meta": _meta,
    "link": _relation,
    "script": _script,
    "title": _title,
    "base": _base,
    "html": _html,
}
