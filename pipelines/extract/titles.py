"""The headline of a page: what its heading, its `<title>` and its metadata agree on."""

from __future__ import annotations

import re
from typing import Final

from .clean import clean
from .density import squeeze
from .document import Document
from .noise import is_info
from .structured import Structured

MAX_TITLE_CHARS: Final = 500
_SEPARATOR = re.compile(
    r"\s*(?:_{1,3}|[|｜]{1,2}|\s[-–—―:：·•»›<>~/]{1,2}\s|—{1,2}|--|-{1,2}(?=[^\s\d-])|»|›|::|\s{4,})\s*"
)
_SPACED = re.compile(r"\s(?:[|｜]{1,2}|[-–—―·•»›]{1,2}|::)\s|[_|｜]")
_EMPHASIS: Final = frozenset({"h1", "h2", "h3", "strong", "b", "font", "big", "center"})
_TITLE_NAME = re.compile(r"(?:^|[\s_-])(?:\w{0,8}title\w{0,3}|headline|biaoti|bt|tit|subject)(?:$|[\s_-])")
_META: Final = (
    "articletitle",
    "og:title",
    "twitter:title",
    "title",
    "dc.title",
    "headline",
    "parsely-title",
    "sailthru.title",
)


def headings(document: Document) -> list[tuple[int, str, int]]:
    """Return (level, text, first block) of every h1..h3, texts of one heading joined."""
    found: list[tuple[int, str, int]] = []
    tags, parents, blocks = document.tags, document.parents, document.blocks
    last = -1
    for index, node in enumerate(blocks.nodes):
        at = node
        for _ in range(4):
            if at < 0 or (len(tags[at]) == 2 and tags[at] in "h1h2h3"):
                break
            at = parents[at]
        if at < 0 or tags[at] not in {"h1", "h2", "h3"}:
            continue
        if at == last:
            level, text, first = found[-1]
            found[-1] = (level, f"{text} {blocks.texts[index]}", first)
        else:
            found.append((int(tags[at][1]), blocks.texts[index], index))
        last = at
    return found


def headline(document: Document, structured: Structured, first_body_block: int) -> str:
    """Return the headline of a page without the site's name.

    A visible line that is part of `<title>` or of the metadata's title is the best witness: it has neither the site's
    name nor a paraphrase for sharing. Without one the metadata speak, then `<title>` cut at its separators.

    Args:
        document: a parsed page.
        structured: its JSON-LD.
        first_body_block: where the text starts; lines before it and all headings are candidates; -1 for none.

    Returns:
        One line of at most 500 characters, empty when the page names nothing.

    Cost: O(blocks before the text).
    """
    site = {squeeze(name) for name in site_names(document, structured)}
    metas = [clean(value) for name in _META for value in document.metas.get(name, ())[:1]]
    if structured.headline:
        metas.insert(0, clean(structured.headline))
    metas = [value for value in metas if value and squeeze(value) not in site]
    witnesses = [squeeze(text) for text in (document.title, *metas) if text]
    lines = headings(document)
    best = _agreed(document, _candidates(document, lines, first_body_block), witnesses, site, first_body_block)
    if best:
        return clean(best, MAX_TITLE_CHARS)
    if metas:
        return clean(without_site(metas[0], site), MAX_TITLE_CHARS)
    nearest = _above(document, first_body_block, site)
    if nearest and squeeze(nearest)[:4] not in squeeze(document.title):
        return clean(nearest, MAX_TITLE_CHARS)
    first = [text for level, text, _ in lines if level == 1 and 4 <= len(text) <= 200 and squeeze(text) not in site]
    if document.title and len(first) != 1:
        return clean(without_site(document.title, site), MAX_TITLE_CHARS)
    if first:
        return clean(first[0], MAX_TITLE_CHARS)
    return clean(without_site(document.title, site), MAX_TITLE_CHARS)


def _candidates(
    document: Document, lines: list[tuple[int, str, int]], first_body_block: int
) -> list[tuple[int, str, int]]:
    """Headings, and as level 4 the other lines before the text."""
    levels = {index for _, _, index in lines}
    limit = first_body_block + 1 if first_body_block >= 0 else 60
    texts = document.blocks.texts
    others = [
        (4, texts[index], index)
        for index in range(min(limit, len(texts)))
        if index not in levels and 5 <= len(texts[index]) <= 200
    ]
    return lines + others


def _agreed(
    document: Document, lines: list[tuple[int, str, int]], witnesses: list[str], site: set[str], first_body_block: int
) -> str:
    """The line that most witnesses repeat, headings and long lines before others; empty when none is convincing."""
    best, best_rank = "", 2.0
    shortest = max(min(map(len, witnesses), default=1), 1)
    for level, text, index in lines:
        line = squeeze(text)
        if not 4 <= len(line) <= 300 or line in site:
            continue
        votes = sum(
            line in witness or (len(witness) > 8 and witness in line and len(line) < 1.3 * len(witness))
            for witness in witnesses
        )
        if not votes:
            continue
        rank = votes * 0.5 + 3 * min(1.0, len(line) / shortest) + {1: 2.0, 2: 1.0, 3: 0.5}.get(level, 0.4)
        if first_body_block >= 0 and index > first_body_block + 1:
            rank -= 1.0
        if level == 4 and document.blocks.link_chars[index] * 2 > document.blocks.chars[index]:
            rank -= 1.5
        if rank > best_rank:
            best, best_rank = text, rank
    return best


def _above(document: Document, first_body_block: int, site: set[str]) -> str:
    """The heading or emphasised line right above the text, for pages whose `<title>` names the site only."""
    blocks, tags = document.blocks, document.tags
    for index in range(first_body_block - 1, max(-1, first_body_block - 8), -1):
        text = blocks.texts[index]
        size = len(squeeze(text))
        marked = {tags[blocks.nodes[index]], tags[blocks.starts[index]]} & _EMPHASIS or _TITLE_NAME.search(
            f"{document.names[blocks.nodes[index]]} {document.names[blocks.starts[index]]}"
        )
        if (
            marked
            and 6 <= size <= 80
            and squeeze(text) not in site
            and blocks.link_chars[index] * 2 <= blocks.chars[index]
            and not is_info(text)
        ):
            return text
    return ""


def without_site(title: str, site: set[str]) -> str:
    """Cut the site's name and its channels off the end, or the start, of a title."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    if squeeze(parts[0]) in site:
        return without_site(title[len(parts[0]) :].lstrip(" _|｜-–—―:：·•»›"), site)
    first = parts[0]
    spaced = bool(_SPACED.search(title))
    if len(first) >= 6 or spaced:
        longest = max(parts, key=len)
        return first if len(first) * 3 >= len(longest) else longest
    return title


def site_names(document: Document, structured: Structured) -> list[str]:
    """Return what the site calls itself in its metadata."""
    names = [
        clean(value, 100)
        for name in ("og:site_name", "application-name", "sitename", "al:android:app_name")
        for value in document.metas.get(name, ())[:1]
    ]
    if structured.publisher:
        names.append(clean(structured.publisher, 100))
    return names
