"""Rendering of kept blocks as plain text, clean HTML and Markdown.

All three hold the same words (see `structure`). Nothing executable survives: the tags are written here, texts are
escaped, links are canonical http(s) URLs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from html import escape
from typing import Final

from db.records.reasons import PageReason

from ..decode.text import clean
from ..document.document import Document
from ..records import Extraction
from .structure import Container, TextPart, build_parts

MAX_IMAGES: Final = 50
_NEAR_NODES: Final = 6
_FIGURE_LEVELS: Final = 5


def extraction(
    document: Document, kept: Sequence[int], confidence: float, scores: Iterable[float] = (), evidence: str = ""
) -> Extraction:
    """Build the extraction of the kept blocks (ascending, at least one).

    `scores` holds one number per block of the document, or nothing. Cost: O(blocks kept).
    """
    parts = build_parts(document, kept)
    return Extraction(
        _text(parts),
        _html(_Marks(document, parts)),
        round(min(max(confidence, 0.0), 1.0), 3),
        evidence=evidence,
        blocks=tuple(kept),
        scores=tuple(map(float, scores)),
    )


def answer(
    document: Document, kept: Sequence[int], scores: Sequence[float], min_chars: int, confidence: float | None = None
) -> Extraction:
    """Build `extraction`, or an empty one with its reason if there is too little.

    Fewer than `min_chars` characters without white space are too little. Without a `confidence` it is the share of the
    positive scores that was kept.
    Cost: O(blocks).
    """
    if not len(document.blocks):
        return Extraction(reason=PageReason.NO_TEXT)
    if not kept:
        return Extraction(reason=PageReason.NO_PROSE)
    if sum(document.blocks.chars[index] for index in kept) < min_chars:
        return Extraction(reason=PageReason.TEXT_TOO_SHORT)
    if confidence is None:
        total = sum(score for score in scores if score > 0)
        held = sum(max(scores[index], 0) for index in kept)
        confidence = held / total if total else 0.0
    return extraction(document, kept, confidence, scores)


def markdown(document: Document, kept: Sequence[int]) -> str:
    """Render the kept blocks (ascending) as Markdown.

    Cost: O(blocks kept + links and images of the page).
    """
    return _markdown(_Marks(document, build_parts(document, kept)))


@dataclass(frozen=True, slots=True)
class _Picture:
    url: str
    text: str
    caption: str
    before: int


class _Marks:
    def __init__(self, document: Document, made: Sequence[TextPart]) -> None:
        self.parts = made
        part_blocks = {part.block for part in made}
        self.links: dict[int, list[tuple[str, str]]] = {}
        for _, href, _, anchor, block in document.links:
            if block in part_blocks and anchor:
                url = document.resolve(href)
                if url:
                    self.links.setdefault(block, []).append((anchor, url))
        self.pictures = list(self._pictures(document, part_blocks)) if made and document.images else []

    def _pictures(self, document: Document, kept: Set[int]) -> Iterator[_Picture]:
        nodes = document.blocks.nodes
        first, last = nodes[self.parts[0].block], nodes[self.parts[-1].block]
        urls: set[str] = set()
        for node, value, text in document.images:
            if not first - _NEAR_NODES <= node < document.ends[last] or value.startswith("data:"):
                continue
            url = document.resolve(value)
            if url and url not in urls and len(urls) < MAX_IMAGES:
                urls.add(url)
                after = (part.block for part in self.parts if nodes[part.block] > node)
                yield _Picture(url, clean(text, 300), _caption(document, node, kept), next(after, len(nodes)))

    def before(self, block: int | None) -> list[_Picture]:
        pictures = [picture for picture in self.pictures if block is None or picture.before <= block]
        if pictures:
            self.pictures = self.pictures[len(pictures) :]
        return pictures

    def linked(self, part: TextPart, plain: Callable[[str], str], link: Callable[[str, str], str]) -> str:
        content = part.texts[0]
        out: list[str] = []
        at = 0
        for anchor, url in self.links.get(part.block, ()):
            start = content.find(anchor, at)
            if start >= 0:
                out += [plain(content[at:start]), link(plain(anchor), url)]
                at = start + len(anchor)
        out.append(plain(content[at:]))
        return "".join(out)


def _caption(document: Document, node: int, kept: Set[int]) -> str:
    tags, blocks = document.tags, document.blocks
    for _ in range(_FIGURE_LEVELS):
        node = document.parents[node]
        if node < 0:
            break
        if tags[node] == "figure":
            end = document.ends[node]
            start = next((at for at in range(node + 1, end) if tags[at] == "figcaption"), end)
            inside = range(start, min(end, document.ends[start])) if start < end else ()
            return clean(
                " ".join(
                    blocks.texts[at] for at, holder in enumerate(blocks.nodes) if holder in inside and at not in kept
                ),
                300,
            )
    return ""


def _text(made: Sequence[TextPart]) -> str:
    return "\n".join(("\t" if part.kind == "tr" else "\n").join(part.texts) for part in made)


def _html(marks: _Marks) -> str:
    out: list[str] = []
    opened: list[Container] = []
    for part in marks.parts:
        pictures = marks.before(part.block)
        if pictures:
            _close(out, opened, 0)
            out += map(_figure, pictures)
        depth = _shared(opened, part.path)
        _close(out, opened, depth)
        for tag, node in part.path[depth:]:
            out.append(f"<{tag}>")
            opened.append((tag, node))
        out.append(_element(marks, part, first=depth < len(part.path)))
    _close(out, opened, 0)
    out += map(_figure, marks.before(None))
    return "\n".join(out)


def _shared(opened: Sequence[Container], path: Sequence[Container]) -> int:
    return next(
        (at for at, (one, other) in enumerate(zip(opened, path, strict=False)) if one != other),
        min(len(opened), len(path)),
    )


def _close(out: list[str], opened: list[Container], depth: int) -> None:
    while len(opened) > depth:
        out.append(f"</{opened.pop()[0]}>")


def _element(marks: _Marks, part: TextPart, *, first: bool) -> str:
    """Render one part without its containers; `first` in the innermost or not."""
    if part.kind == "tr":
        cell = "th" if part.header else "td"
        return "<tr>" + "".join(f"<{cell}>{_escaped(each)}</{cell}>" for each in part.texts) + "</tr>"
    if part.kind == "pre":
        return "<pre>" + _escaped("\n".join(part.texts)) + "</pre>"
    content = marks.linked(part, _escaped, lambda anchor, url: f'<a href="{escape(url)}">{anchor}</a>')
    if part.kind == "li":
        return content if first else f"<br>{content}"
    return f"<{part.kind}>{content}</{part.kind}>"


def _figure(picture: _Picture) -> str:
    below = f"<figcaption>{_escaped(picture.caption)}</figcaption>" if picture.caption else ""
    return f'<figure><img src="{escape(picture.url)}" alt="{escape(picture.text)}">{below}</figure>'


def _escaped(content: str) -> str:
    return escape(content, quote=False)


def _markdown(marks: _Marks) -> str:
    out: list[str] = []
    opened: tuple[Container, ...] = ()
    prefix = _Prefix()
    columns: dict[Container, int] = {}
    for part in marks.parts:
        if part.kind == "tr":
            columns[part.path[-1]] = max(columns.get(part.path[-1], 0), len(part.texts))
    for part in marks.parts:
        for picture in marks.before(part.block):
            out += [*([""] if out else []), _image(picture)]
            opened = ()
        shared = _shared(opened, part.path)
        first, rest = prefix.of(part.path, shared)
        lines = _lines(marks, part)
        if part.kind == "tr":
            wide = columns[part.path[-1]]
            lines = [f"| {' | '.join([*lines, *[''] * (wide - len(lines))])} |"]
            if shared < len(part.path):
                lines.append("|" + " --- |" * wide)
        close = any(tag in _LISTS or tag == "table" for tag, _ in part.path[:shared]) and part.kind in {"li", "tr"}
        if out and not close:
            out.append(prefix.of(part.path[:shared], shared)[1].rstrip())
        out += [f"{rest if number else first}{line}".rstrip() for number, line in enumerate(lines)]
        opened = part.path
    out += [f"\n{_image(picture)}" for picture in marks.before(None)]
    return "\n".join(out)


class _Prefix:
    def __init__(self) -> None:
        self.numbers: Counter[int] = Counter()
        self.bullets: dict[int, str] = {}

    def of(self, path: Sequence[Container], shared: int) -> tuple[str, str]:
        """Prefixes of a part's lines; containers from `shared` on are new."""
        first = rest = ""
        for at, (tag, node) in enumerate(path):
            if tag == "blockquote":
                first, rest = f"{first}> ", f"{rest}> "
            elif tag == "li":
                kind, parent = path[at - 1]
                if node not in self.bullets:
                    self.numbers[parent] += 1
                    self.bullets[node] = f"{self.numbers[parent]}. " if kind == "ol" else "- "
                bullet = self.bullets[node]
                blank = " " * len(bullet)
                first, rest = first + (bullet if at >= shared else blank), rest + blank
        return first, rest


def _lines(marks: _Marks, part: TextPart) -> list[str]:
    if part.kind == "tr":
        return [literal(each) for each in part.texts]
    if part.kind == "pre":
        longest = max((len(run) for line in part.texts for run in _TICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        return [fence, *part.texts, fence]
    content = marks.linked(part, literal, lambda anchor, url: f"[{anchor}]({_target(url)})")
    content = _AT_START.sub(r"\1\\\2", content, count=1)
    return [f"{'#' * int(part.kind[1])} {content}" if part.kind[0] == "h" else content]


def _image(picture: _Picture) -> str:
    shown = f"![{literal(picture.text)}]({_target(picture.url)})"
    return f"{shown}\n\n*{literal(picture.caption)}*" if picture.caption else shown


def literal(content: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", content)


def _target(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")


_LISTS: Final = frozenset({"ul", "ol"})
_TICKS = re.compile(r"`+")
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~]")
# What would begin a heading, a list or a rule.
_AT_START = re.compile(r"^(\d{0,9})([#+.)=-])")
