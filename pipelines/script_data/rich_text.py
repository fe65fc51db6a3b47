"""Rich text of data as markup: paragraphs, blocks of editors, trees of nodes."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Final

from ..decode.text import words
from .fields import TAG, is_card, is_code, is_part, prose_of

_MOST_DEPTH: Final = 60
_INLINE: Final = words(
    "text link a bold strong em italic span hyperlink mention inline b i u mark code textnode autolink"
)
_TEXTUAL: Final = ("text", "value", "html", "rendered", "content", "children", "body", "data", "paragraphs", "items",
                   "nodes", "blocks", "elements", "model", "attrs", "props")  # fmt: skip
_KINDS: Final = ("type", "_type", "tag", "nodeType", "__typename")
_HEADING = re.compile(r"head|title|h[2-6]$")
_MARKUP = re.compile(
    r"<(?:p|br|div|span|h\d|ul|ol|li|a|img|figure|section|strong|em|b|i|blockquote|table)\b[^<>]{0,2000}>", re.I
)
_LAYOUT = re.compile(r"<(?!p>|a\b|br\b)[a-z]", re.I)
_ESCAPED = re.compile(r"&lt;(?:p|br|div|span|a|section|strong|blockquote)\b.{0,2000}?&gt;", re.I | re.S)
_BLOCK = re.compile(r"<(?:p|br|div|h\d|ul|ol|li|section|blockquote|table|figure|tr)\b", re.I)
_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,300})\]\(https?://[^()\s]{1,1000}\)")


def to_markup(value: object) -> str:
    """Return a text as markup: lines as paragraphs, rich text block by block.

    Each object is written once.
    Cost: O(values).

    >>> to_markup([{"type": "h2", "text": "Ends"}, {"type": "p", "children": [{"text": "It "}, {"text": "ends."}]}])
    '<h2>Ends</h2><p>It ends.</p>'
    """
    return _render(value, set(), 0)


def is_laid_out(text: str) -> bool:
    """Tell whether markup has more than paragraphs, links and breaks.

    >>> is_laid_out('<p>Ends <a href="/">here</a></p>'), is_laid_out("<h2>Ends here</h2>")
    (False, True)
    """
    return _LAYOUT.search(text) is not None


def _render(value: object, written: set[int], depth: int) -> str:
    if isinstance(value, str):
        return _render_text(value)
    if depth > _MOST_DEPTH or id(value) in written or not isinstance(value, (dict, list)):
        return ""
    written.add(id(value))
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and _is_inline(one) for one in value):
            line = "".join(map(_inline, value))
            return f"<p>{line}</p>" if line.strip() else ""
        lines = [one for one in value if isinstance(one, str)]
        are_prose = 2 * sum(prose_of(one) > 0 for one in lines) >= len(lines)
        children = (one for one in value if not is_card(one) and (are_prose or not isinstance(one, str)))
        return "".join(_render(one, written, depth + 1) for one in children)
    kind = _kind(value)
    for key in _TEXTUAL:
        markup = _render(value.get(key), written, depth + 1)
        if markup:
            is_line = markup.startswith("<p>") and markup.count("<p>") == 1
            return f"<h2>{markup[3:-4]}</h2>" if is_line and _HEADING.search(kind) else markup
    return "".join(
        _render(one, written, depth + 1)
        for key, one in value.items()
        if is_part(key) and (not isinstance(one, str) or prose_of(one))
    )


def _render_text(text: str) -> str:
    if is_code(TAG.sub("", text[:3000])):
        return ""
    if not _MARKUP.search(text) and _ESCAPED.search(text):
        text = unescape(text)
    if _MARKUP.search(text):
        if _BLOCK.search(text) or "\n" not in text:
            return text
        return "".join(f"<p>{line}</p>" for line in text.splitlines() if line.strip())
    lines = _LINK.sub(r"\1", unescape(text) if "&" in text else text).splitlines()
    return "".join(f"<p>{escape(line, quote=False)}</p>" for line in lines if line.strip())


def _kind(item: dict[str, object]) -> str:
    return next((str(item[name]).lower() for name in _KINDS if item.get(name)), "")


def _is_inline(item: dict[str, object]) -> bool:
    kind = _kind(item)
    return kind in _INLINE or (not kind and isinstance(item.get("text"), str) and len(item) <= 4)


def _inline(item: dict[str, object], depth: int = 0) -> str:
    for key in _TEXTUAL:
        inner = item.get(key)
        if isinstance(inner, str):
            return inner if "<" in inner else escape(inner, quote=False)
        if isinstance(inner, list) and depth < 9:
            return "".join(_inline(one, depth + 1) for one in inner if isinstance(one, dict))
    return ""
