"""Selectors that a seed gives for the pages of its host, in CSS or XPath."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from lxml import etree
from parsel import Selector, css2xpath

from ..decode.text import clean
from .document import Document, is_inline
from .view import Flags

MOST_MATCHES: Final = 500
"""Elements that a selector may choose on a page; more are left out."""
_MOST_TEXT: Final = 5_000
_SAMPLE: Final = etree.fromstring(
    "<html><head><meta content='a'/></head><body><main><article id='a' class='a'><h1 class='a'>a</h1><div class='a'>"
    "<p class='a'><a href='a'>a</a><span class='a'>a</span><time datetime='a'>a</time></p></div></article></main>"
    "</body></html>"
)
"""A page on which selectors are tried: some mistakes show only where there are elements."""
_TEXT_OR_ATTRIBUTE = re.compile(r"(?:/text\(\)|@[\w:*-]+)\s*$")
_UNREAD: Final = frozenset({"script", "style", "noscript", "template", "textarea"})
_STATED: Final = ("datetime", "content")
"""Attributes in which an element states for machines what it shows."""


class Selectors(NamedTuple):
    """Selectors for the body, title, time and author of a host's articles.

    Each is `css:...` or `xpath:...`; empty for none.
    """

    body: str = ""
    title: str = ""
    published: str = ""
    author: str = ""

    @property
    def given(self) -> tuple[str, ...]:
        """Names of those that there are."""
        return tuple(name for name, value in zip(self._fields, self, strict=True) if value)


NO_SELECTORS: Final = Selectors()


def check(name: str, selector: str) -> None:
    """Check a selector of `Selectors`, called by its name.

    Raises:
        ValueError: it cannot be used; one sentence with the reason.
    """
    query = to_xpath(selector)
    try:
        found = Selector(root=_SAMPLE, type="html").xpath(query)
    except ValueError as error:
        raise ValueError(_reason(error)) from None
    if any(isinstance(one.root, bool | float) for one in found):
        raise ValueError("it gives a number, not elements or text")
    if name == "body" and (_TEXT_OR_ATTRIBUTE.search(query) or any(isinstance(one.root, str) for one in found)):
        raise ValueError("it gives text or an attribute; the body is an element")


@lru_cache(maxsize=1024)
def to_xpath(selector: str) -> str:
    """Return the XPath of a selector.

    Raises:
        ValueError: it is neither CSS nor XPath; one sentence with the reason.

    >>> to_xpath("css:time::attr(datetime)")
    'descendant-or-self::time/@datetime'
    """
    kind, mark, query = selector.partition(":")
    query = query.strip()
    if not mark or kind not in {"css", "xpath"} or not query:
        raise ValueError("it takes css:... or xpath:..., for example css:div.article or xpath://h1")
    if kind == "xpath":
        return query
    try:
        return css2xpath(query)
    except (SyntaxError, RuntimeError) as error:  # those of cssselect
        raise ValueError(_reason(error)) from None


def _reason(error: Exception) -> str:
    text = clean(str(error).removeprefix("XPath error: "))
    return text[:1].lower() + text[1:]


def select(document: Document, selector: str) -> list[etree._Element | str]:
    """Return the elements or texts that a selector chooses, in the page's order.

    At most `MOST_MATCHES`; none where the page makes it fail.
    Cost: O(nodes), of an XPath with loops in it more.
    """
    if not document.elements:
        return []
    try:
        found = Selector(root=document.elements[0], type="html").xpath(to_xpath(selector))
    except ValueError:
        return []
    roots = (one.root for one in found[:MOST_MATCHES])
    return [root for root in roots if isinstance(root, str | etree._Element)]


def nodes_of(document: Document, selector: str) -> list[int]:
    """Return the numbers of the elements that a selector chooses."""
    found = [one for one in select(document, selector) if not isinstance(one, str)]
    if not found:
        return []
    numbers = {element: number for number, element in enumerate(document.elements)}
    return [numbers[element] for element in found if element in numbers]


def blocks_in(document: Document, nodes: Sequence[int]) -> Flags:
    """Return for each block whether its text begins in one of these elements."""
    covered = np.zeros(len(document.tags), np.bool_)
    for node in nodes:
        covered[node : document.ends[node]] = True
    flags: Flags = covered[np.asarray(document.blocks.starts, np.int64)]
    return flags


def texts_of(document: Document, selector: str) -> list[str]:
    """Return the text of each thing that a selector chooses, on one line, if any."""
    found = (one if isinstance(one, str) else _text(one) for one in select(document, selector))
    return [text for text in (clean(one[:_MOST_TEXT]) for one in found) if text]


def stamps_of(document: Document, selector: str) -> list[str]:
    """Return the times that these things state for machines or show, the former first."""
    stamps: list[str] = []
    for one in select(document, selector):
        if not isinstance(one, str):
            stamps += [value for name in _STATED if (value := one.get(name))]
        stamps.append(one if isinstance(one, str) else _text(one))
    return [text for text in (clean(stamp[:_MOST_TEXT]) for stamp in stamps) if text]


def _text(element: etree._Element) -> str:
    parts: list[str] = []
    for event, one in (walk := etree.iterwalk(element, events=("start", "end"))):
        is_block = not is_inline(one.tag)
        if event == "start":
            parts += [" "] if is_block else []
            if one.tag in _UNREAD:
                walk.skip_subtree()
            else:
                parts.append(one.text or "")
        else:
            parts += [" "] if is_block else []
            parts.append(one.tail or "" if one is not element else "")
    return "".join(parts)
