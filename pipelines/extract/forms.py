"""A page as people look at it: its text as Markdown, or the page itself with what was kept and dropped in colours."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from html import escape
from typing import Final

from lxml import etree

from ..records import Extraction, ParsedPage
from . import render
from .clean import clean, words
from .document import Document

_REMOVED: Final = words(
    "script style link meta base iframe frame frameset object embed applet audio video source track noscript template "
    "svg math canvas param portal map area head title"
)
_FLATTENED: Final = words("i form button input select textarea option optgroup dialog details summary a")
_STYLE: Final = (
    "body{font:15px/1.6 sans-serif;margin:0 1em 3em}table{border-collapse:collapse}td,th{border:1px dotted #bbb;"
    "vertical-align:top;padding:2px 4px}.kept{background:#c9f2c9}.dropped{background:#f6d5d5;color:#555}"
    ".at{font:10px monospace;color:#06c;vertical-align:super;margin:0 2px}.seen{position:sticky;top:0;background:#fff;"
    "border-bottom:2px solid #999;padding:.5em 0;margin-bottom:1em}i{color:#777;font-size:smaller}"
)


def markdown(document: Document, page: ParsedPage, extraction: Extraction) -> str:
    """Return the article as Markdown, empty when the page is none.

    Args:
        document: a parsed page.
        page: what it was judged to be.
        extraction: what the extractor kept of it.

    Cost: see `render.markdown`.
    """
    return render.markdown(document, extraction.blocks) if page.extraction.text else ""


def explained(document: Document, page: ParsedPage, extraction: Extraction) -> str:
    """Return a copy of the page to look at in a browser: kept blocks green, dropped ones red, with their scores.

    The copy needs and runs nothing: scripts, styles, addresses and forms are taken out, and it says so to the browser.

    Args:
        document: a parsed page.
        page: what it was judged to be.
        extraction: what the extractor kept of it.

    Returns:
        One HTML page.

    Cost: O(nodes + characters), several times that of parsing.
    """
    kept = frozenset(extraction.blocks)
    blocks = document.blocks
    verdict = page.kind.name.lower() + (f" ({page.reason})" if page.reason else "")
    seen = (
        f"<b>{escape(page.metadata.title or document.title)}</b><br>{escape(verdict)}; "
        f'<span class="kept">{len(kept)} blocks kept</span>, '
        f'<span class="dropped">{len(blocks) - len(kept)} dropped</span>; confidence {extraction.confidence:g}'
        + (f"; {escape(extraction.evidence)}" if extraction.evidence else "")
    )
    return (
        '<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>{escape(document.title)}</title>"
        f'<style>{_STYLE}</style></head><body><div class="seen">{seen}</div>{_coloured(document, extraction, kept)}'
        "</body></html>"
    )


def _coloured(document: Document, extraction: Extraction, kept: frozenset[int]) -> str:
    """The body of the page with every piece of text marked."""
    if not document.elements:
        return ""
    root = deepcopy(document.elements[0])
    for element in list(root.iter("*")):
        _defuse(element)
    placed = _Pieces(document)
    marked: list[tuple[etree._Element, str, bool, int, bool]] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        behind = event == "end"
        text = element.tail if behind else element.text
        if text and (behind or element.tag != "i"):  # what we put in for images is no text of the page
            block, first = placed.next(text)
            if block >= 0:
                marked.append((element, text, behind, block, first))
    for element, text, behind, block, first in marked:
        _mark(element, text, _label(document, extraction, block, kept), behind=behind, first=first)
    body = root if root.tag != "html" else next(root.iter("body"), root)
    body.tag, body.tail = "div", None
    return etree.tostring(body, encoding="unicode", method="html")


class _Pieces:
    """Finds the block that each piece of text belongs to, going through both in document order."""

    def __init__(self, document: Document) -> None:
        self.texts = document.blocks.texts
        self.block = 0
        self.at = 0
        self.given = -1

    def next(self, raw: str) -> tuple[int, bool]:
        """Block of a piece, -1 for none, and whether it is the block's first piece."""
        text = clean(raw)
        if not text:
            return -1, False
        for block in (self.block, self.block + 1):
            if block < len(self.texts):
                found = self.texts[block].find(text, self.at if block == self.block else 0)
                if found >= 0:
                    self.block, self.at = block, found + len(text)
                    first, self.given = block != self.given, block
                    return block, first
        return -1, False


def _label(document: Document, extraction: Extraction, block: int, kept: frozenset[int]) -> tuple[str, str, str]:
    """Class, short label and long label of a block."""
    node = document.blocks.nodes[block]
    name = document.tags[node] + (f".{document.names[node]}" if document.names[node] else "")
    state = "kept" if block in kept else "dropped"
    score = f" {extraction.scores[block]:.2f}" if block < len(extraction.scores) else ""
    return state, f"{block}{score}", f"block {block}, {state}, score{score or ' unknown'}, {clean(name, 100)}"


def _mark(element: etree._Element, text: str, label: tuple[str, str, str], *, behind: bool, first: bool) -> None:
    """Put a piece of text into a span of its own."""
    state, short, full = label
    span = etree.Element("span", {"class": state, "title": full})
    if first:
        number = etree.SubElement(span, "span", {"class": "at"})
        number.text, number.tail = short, text
    else:
        span.text = text
    parent = element.getparent() if behind else element
    assert parent is not None  # text behind the root does not exist
    if behind:
        element.tail = None
        parent.insert(parent.index(element) + 1, span)
    else:
        element.text = None
        element.insert(0, span)


def _defuse(element: etree._Element) -> None:
    """Take out what runs, loads or sends something; an image becomes its text."""
    tag = str(element.tag)
    for key in set(element.attrib) - {"colspan", "rowspan", "alt"}:
        del element.attrib[key]
    if tag in _REMOVED and element.getparent() is not None:
        for child in list(element):
            element.remove(child)
        element.text, element.tag = None, "i"
    elif tag == "img":
        element.text, element.tag = f"[image {clean(str(element.attrib.pop('alt', '')), 80)}]".replace(" ]", "]"), "i"
    elif tag in _FLATTENED:
        element.tag = "span"
    element.attrib.pop("alt", "")


FORMS: Final[dict[str, Callable[[Document, ParsedPage, Extraction], str]]] = {
    "markdown": markdown,
    "explained": explained,
}
"""Forms that need the parsed page, by name."""
