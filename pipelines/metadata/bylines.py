"""Authors of an article: structured data, bylines and marked elements."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..document.document import Document
from ..document.structured_data import Structured
from . import person_names
from .lines import split_fields

_META: Final = (
    "author", "article:author", "dc.creator", "byl", "parsely-author", "sailthru.author", "article:author_name",
    "dcterms.creator", "cxenseparse:author", "mediaid", "citation_author", "og:article:author", "twitter:creator_name",
)  # fmt: skip
_NAME = re.compile(
    r"(?:^|[\s_-])(?:\w{0,20}authors?|byline\w*|writer|reporter|journalist|author-?name|authorlink|autor|auteur|"
    r"autore|verfasser)(?:$|[\s_-])"
)
_PAGE = re.compile(
    r"/(?:authors?|writers?|reporters?|journalists?|columnists?|people|profile|staff|by|autor|autoren|auteurs?|autori|"
    r"redaktion|contributors?)/|space-uid|/author-",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^(?:written\s|posted\s|story\s|words\s)?(?:by|von|par|por|di|作者|记者|記者|文)\s?[:：]?$", re.IGNORECASE
)
_LABEL_START = re.compile(r"(?:written |posted )?by\b", re.IGNORECASE)
_EDITED = re.compile(r"(?:编辑|編輯|责编|責編)\s?[:：]")
_MARKED_LINES: Final = 24


def find_authors(
    document: Document, structured: Structured, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the people who wrote the article.

    Args:
        document: a parsed page.
        structured: its JSON-LD, which is believed first.
        near: lines around headline and text, nearest first.
        kept: blocks of the text, whose first and last paragraphs may hold a byline.
        sites: what the site and its source call themselves; never an author.

    Returns:
        Distinct names in the page's order; empty when no one is named.

    Cost: O(characters of `near` and of the heads and ends of paragraphs).
    """
    found = person_names.tidy(structured.authors, sites)
    if found:
        return found
    byline = _byline(document, near, kept, sites)
    metas = (document.metas[name][:10] for name in _META if name in document.metas)
    named = (person_names.tidy([value for value in values if "://" not in value], sites) for values in metas)
    stated = next(filter(None, named), ())
    if stated and _is_han(stated[0]):
        stated = _without_editors(document, stated)
    # On Chinese pages the author element often names the web editor; the byline does not.
    if byline and (not stated or _is_han(byline[0])):
        return byline
    return stated or _marked(document, near, sites) or _beside_date(document, near, kept, sites)


def _is_han(name: str) -> bool:
    """Tell whether a name begins with a Chinese character."""
    return "\u4e00" <= name[0] <= "\u9fff"


def _without_editors(document: Document, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names but for those that the page calls its editors."""
    lines = [*document.metas.get("editor", ()), *(text for text in document.blocks.texts if _EDITED.search(text[:80]))]
    return tuple(name for name in names if not any(name in line[:80] for line in lines))


def _byline(document: Document, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]) -> tuple[str, ...]:
    """Return the names in bylines around headline and text or in its paragraphs."""
    texts = document.blocks.texts
    inside = set(kept)
    for index in near:
        text = texts[index]
        if len(text) > (60 if index in inside and not _LABEL_START.match(text) else 200):
            continue
        line = "\t".join(split_fields(document, index))
        if _LABEL.match(line) and index + 1 < len(texts) and len(texts[index + 1]) <= 60:
            line = f"{line.rstrip(':： ')} {texts[index + 1]}"
        found = person_names.tidy(person_names.parse_line(line), sites)
        if found:
            return found
    for index in [*kept[:2], *kept[-1:-60:-1]]:
        found = person_names.tidy(person_names.parse_prose(texts[index]), sites)
        if found:
            return found
    return ()


def _marked(document: Document, near: Sequence[int], sites: Sequence[str]) -> tuple[str, ...]:
    """Return the names in elements named after authors and in links to author pages."""
    blocks, names, parents, tags = document.blocks, document.names, document.parents, document.tags
    places = set(near[:_MARKED_LINES])
    for _, href, rel, anchor, block in document.links:
        if block in places and 2 <= len(anchor) <= 40 and ("author" in rel or _PAGE.search(href[:300])):
            found = person_names.tidy([anchor], sites)
            if found:
                return found
    for index in near[:_MARKED_LINES]:
        for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
            at = node
            for _ in range(3):
                if at < 0:
                    break
                named = (names[at] and _NAME.search(names[at])) or (
                    tags[at] == "address" and person_names.is_name(text)
                )
                if named and len(text) <= 60 and "comment" not in names[at]:
                    found = person_names.tidy([text], sites)
                    if found:
                        return found
                at = parents[at]
    return ()


def _beside_date(document: Document, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]) -> tuple[str, ...]:
    """Return bare Chinese names among the fields of the line with the date."""
    parts = document.blocks.parts
    inside = set(kept)
    for index in near[:8]:
        if parts[index] and index not in inside and any(map(str.isdigit, document.blocks.texts[index])):
            words = (word for field in split_fields(document, index) for word in field.split())
            found = person_names.tidy(filter(person_names.is_person, words), sites)
            if found:
                return found
    return ()
