"""One fetched page, parsed once: the tree and, from a single walk over it, every number and text that a method needs.

Nodes are numbered in document order and described by columns, so that a sub-tree is the half-open range
`[node, ends[node])` and a sum over it is the difference of two cumulative sums. Text is cut into blocks (paragraphs,
headings, cells, lines between `<br>`); a block keeps the node it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from .clean import clean
from .encoding import decode

MAX_NODES: Final = 120_000
"""Elements looked at; the rest of a larger page is ignored."""
MAX_TEXT_CHARS: Final = 2_000_000
"""Characters of text looked at."""
MAX_DEPTH: Final = 512
"""Deeper trees are flattened before they are read."""
MAX_SCRIPT_CHARS: Final = 300_000
"""Longest inline script or JSON-LD block that is kept."""
_PARSER_DEPTH: Final = 2000
_SHORT_CHARS: Final = 240

Counts = NDArray[np.int64]

_INLINE: Final = frozenset(
    ["a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "del", "dfn", "em", "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"]
)
_SKIP: Final = frozenset(
    ["script", "style", "noscript", "template", "svg", "math", "select", "option", "button", "textarea", "object", "embed", "applet", "audio", "video", "canvas", "map", "head", "title", "datalist", "iframe", "frame", "noframes", "input"]
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
        parts: (node, text) of each piece of a short block that is made of several elements, else empty: what readers see as
            separate fields of an info line is one block here.
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
    document = Document(url, encoding)
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

    def __init__(self, document: Document) -> None:
        self.document = document
        self.own: list[int] = []
        self.own_link: list[int] = []
        self.own_marks: list[int] = []
        # Columns of the stack of open elements: element, node (-1 in skipped content), nearest block node, open link.
        self.elements: list[etree._Element] = []
        self.nodes: list[int] = []
        self.block_nodes: list[int] = []
        self.open_links: list[int] = []
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
        elements, document = self.elements, self.document
        for element in root.iter("*"):
            parent = element.getparent()
            while elements and elements[-1] is not parent:
                self.close()
            self.open(element)
            if len(document.tags) >= MAX_NODES or self.total >= MAX_TEXT_CHARS:
                break
        while elements:
            self.close()
        self.flush()
        document.links = [
            (node, href, rel, clean("".join(pieces[:40]), 200), block)
            for (node, href, rel, block), pieces in zip(self.found, self.anchors, strict=True)
        ]
        self.sum_up()

    def open(self, element: etree._Element) -> None:
        """Describe an element and what precedes its first child."""
        document = self.document
        tag = element.tag
        special = _SPECIAL.get(tag)
        attributes: dict[str, str] = dict(element.items())  # type: ignore[arg-type]
        if special is not None:
            special(document, element, attributes)
        nodes = self.nodes
        if tag in _SKIP or (nodes and nodes[-1] < 0 and tag != "body"):
            if tag in {"iframe", "frame"} and attributes.get("src"):
                self.link(len(document.tags) - 1, attributes["src"], "")
            self.elements.append(element)
            nodes.append(-1)
            self.block_nodes.append(self.block_nodes[-1] if self.block_nodes else 0)
            self.open_links.append(-1)
            return
        node = len(document.tags)
        block_node = node
        if tag in _INLINE:
            block_node = self.block_nodes[-1] if nodes else node
        elif self.pieces:
            self.flush()
        open_link = self.open_links[-1] if nodes else -1
        name = ""
        if attributes:
            name = self.describe(node, tag, attributes)
            if tag in {"a", "area"}:
                href = attributes.get("href")
                if href:
                    open_link = self.link(node, href, attributes.get("rel", ""))
                    if attributes.get("title"):
                        document.link_titles[open_link] = attributes["title"]
        document.tags.append(tag)
        document.names.append(name)
        document.parents.append(nodes[-1] if nodes else -1)
        document.ends.append(node + 1)
        document.depths.append(len(nodes))
        self.own.append(0)
        self.own_link.append(0)
        self.own_marks.append(0)
        self.elements.append(element)
        nodes.append(node)
        self.block_nodes.append(block_node)
        self.open_links.append(open_link)
        text = element.text
        if text:
            self.take(text)

    def close(self) -> None:
        """Leave the innermost open element and read the text behind it."""
        element = self.elements.pop()
        node = self.nodes.pop()
        block_node = self.block_nodes.pop()
        self.open_links.pop()
        if node >= 0:
            self.document.ends[node] = len(self.document.tags)
            if block_node == node and self.pieces:
                self.flush()
        tail = element.tail
        if tail and self.nodes and self.nodes[-1] >= 0:
            self.take(tail)

    def take(self, raw: str) -> None:
        """Count a piece of text and append it to the block being collected."""
        if raw.isspace():
            if self.pieces:
                self.pieces.append(" ")
            return
        node = self.nodes[-1]
        chars = len("".join(raw.split()))
        marks = len(_MARKS.findall(raw))
        self.total += chars
        self.own[node] += chars
        self.own_marks[node] += marks
        if not self.pieces:
            self.place = (self.block_nodes[-1], node)
        self.pieces.append(raw)
        self.parts.append((node, raw))
        counts = self.counts
        counts[0] += chars
        counts[2] += marks
        link = self.open_links[-1]
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
            blocks.parts.append(tuple((node, clean(raw)) for node, raw in self.parts) if several else ())
            blocks.chars.append(self.counts[0])
            blocks.link_chars.append(self.counts[1])
            blocks.marks.append(self.counts[2])
        self.parts.clear()
        self.counts = [0, 0, 0]

    def link(self, node: int, href: str, rel: str) -> int:
        """Note a link and return its number."""
        self.found.append((node, href, rel, len(self.document.blocks.texts)))
        self.anchors.append([])
        return len(self.found) - 1

    def describe(self, node: int, tag: str, attributes: dict[str, str]) -> str:
        """Class, id and microdata name of a node; notes what is hidden, dated or an image."""
        document = self.document
        style = attributes.get("style")
        if "hidden" in attributes or (style and "display" in style and _HIDDEN.search(style)):
            document.hidden.add(node)
        if tag == "img":
            source = next((attributes[key] for key in _IMAGE_KEYS if attributes.get(key)), "")
            if source:
                document.images.append((node, source, attributes.get("alt", "")))
                if self.open_links and self.open_links[-1] >= 0 and not self.anchors[self.open_links[-1]]:
                    document.link_titles.setdefault(self.open_links[-1], attributes.get("alt", ""))
        moment = attributes.get("datetime")
        if moment is None and attributes.get("itemprop") in {"datePublished", "dateCreated"}:
            moment = attributes.get("content")
        if moment:
            document.times.append((node, moment))
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

    def sum_up(self) -> None:
        """Turn what nodes hold themselves into sums over their sub-trees."""
        document = self.document
        count = len(document.tags)
        if not count:
            return
        starts = np.arange(count)
        ends = np.asarray(document.ends)

        def sub_trees(own: list[int] | list[bool]) -> Counts:
            total = np.zeros(count + 1, np.int64)
            np.cumsum(np.asarray(own, np.int64), out=total[1:])
            sums: Counts = total[ends] - total[starts]
            return sums

        document.T, document.LT, document.Sb = sub_trees(self.own), sub_trees(self.own_link), sub_trees(self.own_marks)
        links = {node for node, *_ in self.found}
        document.LTG = sub_trees([node in links for node in range(count)])
        document.P = sub_trees([tag == "p" for tag in document.tags])
        document.TG = ends - starts


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
_NAME_KEYS: Final = ("id", "itemprop", "rel", "role")
_SPECIAL: Final[dict[object, Callable[[Document, etree._Element, dict[str, str]], None]]] = {
    "meta": _meta,
    "link": _relation,
    "script": _script,
    "title": _title,
    "base": _base,
    "html": _html,
}
