"""Views of a page for people: Markdown, and a coloured copy of the page."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Final

from lxml import etree

from ..decode.text import clean, words
from ..document.document import Document
from ..records import Extraction, ParseResult
from . import render

_REMOVED: Final = words(
    "script style link meta base iframe frame frameset object embed applet audio video source track noscript template "
    "svg math canvas param portal map area head title"
)
_SHAPING: Final = words(
    "h1 h2 h3 h4 h5 h6 p div section article main aside header footer nav ul ol li dl dt dd blockquote pre table thead "
    "tbody tfoot tr td th caption figure figcaption br hr b strong em"
)
_EMPTY: Final = frozenset({"br", "hr"})
_STYLE: Final = (
    "body{font:15px/1.6 sans-serif;margin:0 1em 3em}table{border-collapse:collapse}td,th{border:1px dotted #bbb;"
    "vertical-align:top;padding:2px 4px}.kept{background:#c9f2c9}.dropped{background:#f6d5d5;color:#555}"
    ".at{font:10px monospace;color:#06c;vertical-align:super;margin:0 2px}.seen{position:sticky;top:0;background:#fff;"
    "border-bottom:2px solid #999;padding:.5em 0;margin-bottom:1em}i{color:#777;font-size:smaller}"
)


def markdown(document: Document, page: ParseResult, extraction: Extraction) -> str:
    """Article as Markdown, empty when the page is none."""
    return render.markdown(document, extraction.blocks) if page.extraction.text else ""


def explain(document: Document, page: ParseResult, extraction: Extraction) -> str:
    """Render a copy of the page: kept blocks green, dropped ones red, with scores.

    The copy needs and runs nothing: scripts, styles, links and forms are taken out, and a policy forbids the rest.
    Cost: O(nodes + characters), several times that of parsing.
    """
    indices = frozenset(extraction.blocks)
    blocks = document.blocks
    judged = page.kind.name.lower() + (f" ({page.reason})" if page.reason else "")
    seen = (
        f"<b>{escape(page.metadata.title or document.title)}</b><br>{escape(judged)}; "
        f'<span class="kept">{len(indices)} blocks kept</span>, '
        f'<span class="dropped">{len(blocks) - len(indices)} dropped</span>; confidence {extraction.confidence:g}'
        + (f"; {escape(extraction.evidence)}" if extraction.evidence else "")
    )
    return (
        '<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src 'unsafe-inline'\"><title>{escape(clean(document.title))}</title>"
        f'<style>{_STYLE}</style></head><body><div class="seen">{seen}</div>{_coloured(document, extraction, indices)}'
        "</body></html>"
    )


def _coloured(document: Document, extraction: Extraction, kept: frozenset[int]) -> str:
    if not document.elements:
        return ""
    finder = _BlockFinder(document)
    out: list[str] = []

    def write(raw: str | None) -> None:
        if not raw:
            return
        block, first = finder.next(raw)
        text = escape(clean(raw))
        if block < 0:
            out.append(f" {text} " if text else " ")
            return
        state, short, full = _label(document, extraction, block, kept)
        number = f'<span class="at">{short}</span>' if first else ""
        out.append(f' <span class="{state}" title="{escape(full)}">{number}{text}</span> ')

    walk = etree.iterwalk(document.elements[0], events=("start", "end"))
    for event, element in walk:
        tag = str(element.tag)
        shown = tag if tag in _SHAPING else ""
        if event == "end":
            if tag not in _REMOVED and shown and shown not in _EMPTY:
                out.append(f"</{shown}>")
            write(element.tail)
        elif tag in _REMOVED:
            walk.skip_subtree()
        elif tag == "img":
            out.append(f"<i>[image {escape(clean(element.get('alt') or '', 80))}]</i>")
        else:
            out.append(f"<{shown}>" if shown else "")
            write(element.text)
    return "".join(out)


class _BlockFinder:
    def __init__(self, document: Document) -> None:
        self.texts = document.blocks.texts
        self.block = 0
        self.at = 0
        self.given = -1

    def next(self, raw: str) -> tuple[int, bool]:
        """Return the block of a piece (-1 for none), and whether it is its first."""
        text = clean(raw)
        if not text:
            return -1, False
        for block in (self.block, self.block + 1):
            if block < len(self.texts):
                start = self.texts[block].find(text, self.at if block == self.block else 0)
                if start >= 0:
                    self.block, self.at = block, start + len(text)
                    first, self.given = block != self.given, block
                    return block, first
        return -1, False


def _label(document: Document, extraction: Extraction, block: int, kept: frozenset[int]) -> tuple[str, str, str]:
    node = document.blocks.nodes[block]
    name = document.tags[node] + (f".{document.names[node]}" if document.names[node] else "")
    state = "kept" if block in kept else "dropped"
    score = f" {extraction.scores[block]:.2f}" if block < len(extraction.scores) else ""
    return state, f"{block}{score}", f"block {block}, {state}, score{score or ' unknown'}, {clean(name, 100)}"


FORMS: Final[dict[str, Callable[[Document, ParseResult, Extraction], str]]] = {
    "markdown": markdown,
    "explained": explain,
}
