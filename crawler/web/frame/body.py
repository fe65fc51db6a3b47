"""Render the body of an article as inert markup.

The stored HTML was sanitised when the page was read. It is rebuilt here all the same, element by element, because a
custom extractor may have produced it, or another program may have written to the database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from lxml import html
from lxml.etree import ParserError
from lxml.html import HtmlElement
from markupsafe import Markup, escape

from pipelines.decode.text import words
from pipelines.search.records import Span

from .shown import harmless, paragraphs, web_url

_KEPT = words(
    "p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre table thead tbody tr th td caption figure figcaption br em "
    "strong b i sub sup code hr"
)
_LOWERED = {"h1": "h2", "h2": "h2", "h3": "h3", "h4": "h3", "h5": "h3", "h6": "h3"}
"""The page has its own heading above them."""
_EMPTY = frozenset({"br", "hr"})
_GONE = words("script style template noscript iframe object embed svg math form input button select head")
Mark = Callable[[str], Sequence[Span]]
"""Cuts a text into pieces, those that a search has found among them."""

_MOST_CHARS = 1_000_000
_MOST_DEPTH = 60


def body(clean_html: str, text: str, image_label: str, mark: Mark | None = None) -> Markup:
    """Return an article's HTML, or its text in paragraphs when there is none.

    Images become links, so nothing is loaded from other servers; `image_label` names one without alternative text.
    `mark` finds the words of a search.

    Cost: O(characters).
    """
    if clean_html and len(clean_html) <= _MOST_CHARS:
        try:
            root = html.fragment_fromstring(clean_html, create_parent="div")
        except (ParserError, ValueError):  # nothing in it, or characters that XML has not
            root = None
        if root is not None:
            markup = Markup("").join(_Body(image_label, mark).inside(root, 0))
            if markup.strip():
                return markup
    return Markup("\n").join(Markup("<p>{}</p>").format(_text(line, mark)) for line in paragraphs(text))


class _Body:
    """Rebuilds the elements of an article."""

    def __init__(self, image_label: str, mark: Mark | None) -> None:
        self._image_label = image_label
        self._text = partial(_text, mark=mark)

    def inside(self, node: HtmlElement, depth: int) -> Iterator[Markup]:
        if node.text:
            yield self._text(node.text)
        for child in node:
            if isinstance(child.tag, str) and child.tag not in _GONE and depth < _MOST_DEPTH:
                yield from self._element(child, depth + 1)
            if child.tail:
                yield self._text(child.tail)

    def _element(self, node: HtmlElement, depth: int) -> Iterator[Markup]:
        tag = _LOWERED.get(node.tag, node.tag)
        if tag == "a":
            yield from _link(node.get("href"), self.inside(node, depth))
        elif tag == "img":
            label = node.get("alt") or self._image_label
            yield Markup('<span class="picture">')
            yield from _link(node.get("src"), iter([self._text(label)]))
            yield Markup("</span>")
        elif tag in _EMPTY:
            yield Markup(f"<{tag}>")
        elif tag in _KEPT:
            if tag == "table":
                yield Markup('<div class="scroll" tabindex="0" role="group">')
            yield Markup(f"<{tag}>")
            yield from self.inside(node, depth)
            yield Markup(f"</{tag}>")
            if tag == "table":
                yield Markup("</div>")
        else:
            yield from self.inside(node, depth)


def _link(url: str | None, content: Iterator[Markup]) -> Iterator[Markup]:
    """Yield a link, or only its content if the target is no web URL."""
    target = web_url(url)
    if target:
        yield Markup('<a href="{}" rel="noreferrer nofollow noopener" target="_blank">').format(target)
    yield from content
    if target:
        yield Markup("</a>")


def _text(text: str, mark: Mark | None) -> Markup:
    if mark is None:
        return escape(harmless(text))
    pieces = (Markup("<mark>{}</mark>" if is_match else "{}").format(harmless(piece)) for piece, is_match in mark(text))
    return Markup("").join(pieces)
