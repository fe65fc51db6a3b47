"""The kept blocks of a page as plain text and as clean HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..records import Extraction
from .document import Document


def extraction(
    document: Document, kept: Sequence[int], confidence: float, scores: Iterable[float] = (), evidence: str = ""
) -> Extraction:
    """Return the result that every extractor gives for the blocks it keeps.

    Args:
        document: a parsed page.
        kept: numbers of blocks, ascending; not empty.
        confidence: in [0, 1].
        scores: one number per block of the document, or nothing.
        evidence: what decided.

    Cost: O(blocks kept).
    """
    return Extraction(
        text(document, kept),
        html(document, kept),
        round(min(max(confidence, 0.0), 1.0), 3),
        evidence=evidence,
        blocks=tuple(kept),
        scores=tuple(map(float, scores)),
    )


def answer(document: Document, kept: Sequence[int], scores: Sequence[float], min_chars: int) -> Extraction:
    """Return `extraction`, or why there is no text when the blocks kept are none or too short.

    Args:
        document: a parsed page.
        kept: numbers of blocks, ascending; may be empty.
        scores: one number per block of the document, above 0 for what looks like content. The confidence is the part of
            these points that was kept.
        min_chars: shortest text that is given out, in characters without white space.

    Cost: O(blocks).
    """
    if not len(document.blocks):
        return Extraction(reason="no text")
    if not kept:
        return Extraction(reason="no prose")
    if sum(document.blocks.chars[index] for index in kept) < min_chars:
        return Extraction(reason="text too short")
    total = sum(score for score in scores if score > 0)
    held = sum(max(scores[index], 0) for index in kept)
    return extraction(document, kept, held / total if total else 0.0, scores)


def text(document: Document, kept: Sequence[int]) -> str:
    """Return the kept blocks as plain text, a line each."""
    texts = document.blocks.texts
    return "\n".join(texts[index] for index in kept)


def html(document: Document, kept: Sequence[int]) -> str:
    """Return the kept blocks as clean HTML."""
    out: list[str] = []
    listed = False
    for index in kept:
        node = document.blocks.nodes[index]
        tag = document.tags[node]
        text = escape(document.blocks.texts[index], quote=False)
        if (tag == "li") != listed:
            out.append("</ul>" if listed else "<ul>")
            listed = not listed
        if tag in {"h1", "h2"}:
            tag = "h2"
        elif tag not in {"h3", "h4", "h5", "h6", "li", "blockquote"}:
            tag = "p"
        out.append(f"<{tag}>{text}</{tag}>")
    if listed:
        out.append("</ul>")
    return "\n".join(out)
