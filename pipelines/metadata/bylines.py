"""Authors of an article: structured data, bylines and marked elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from ..decode.text import clean, unique
from ..document import boxes
from ..document.document import Document
from ..document.structured_data import Structured
from . import person_names
from .lines import split_fields
from .person_names import LISTS, NameTest

_META: Final = (
    "author", "article:author", "dc.creator", "byl", "parsely-author", "sailthru.author", "article:author_name",
    "dcterms.creator", "cxenseparse:author", "mediaid", "citation_author", "og:article:author",
    "twitter:creator_name",
)  # fmt: skip
_any = LISTS.pattern
_CARD_LABEL = re.compile(rf"^{_any('twitter card labels')}$", re.IGNORECASE)
_NAME = re.compile(
    r"(?:^|[\s_-])(?:\w{0,20}author(?:s|info|name|box|by)?|byline\w*|writer|reporter|journalist|author-?name|authorlink|autor|auteur|"
    r"autore|verfasser|\w{0,10}nick_?-?name|\w{0,6}user-?name|userlink|poster|xw1|js_name)(?:$|[\s_-])"
)
_SHOWN = re.compile(r"author|writer|byline|nick|user|meta_text|reporter|(?:^|[\s_-])name(?:$|\s)")
_SOURCE = re.compile(r"media-?_?name|source|(?:^|[\s_-])(?:src|from)")
_NO_AUTHOR = re.compile(r"login|comment|reply|respond|share|(?<!no)follow|related|avatar")
_PAGE = re.compile(rf"/{_any('author folders')}[/?]|space-uid|mod=space(?:&|$)|/author-", re.IGNORECASE)
_LABEL = re.compile(rf"^(?:{_any('before field labels')}\s)?{_any('field labels')}\s?[:：]?$", re.IGNORECASE)
_FUNCTION = re.compile(rf"(?:[/?&=._-]|^){_any('account pages')}(?:$|[/?&=._#-])", re.IGNORECASE)
_LABEL_START = re.compile(r"(?:written |posted )?by\b", re.IGNORECASE)
_EDITED = re.compile(rf"{_any('editors')}\s?[:：]")
_TITLE_PARTS = re.compile(r"\s?[_|｜–—»«·]\s?|\s-\s|(?<=[\u4e00-\u9fff])-(?=[\u4e00-\u9fffA-Z])")
_DATED = re.compile(r"(?:19|20)\d\d|\d月|\d{1,2}[.:h]\d\d|\d{1,2}\.?\s[^\W\d_]{3,10}|[^\W\d_]{3,10}\s\d{1,2}\b")
_CJK_DATE = re.compile(r"(?:19|20)\d\d|\d月|\d:\d\d")
_CONTROLS: Final = frozenset({"form", "label", "button"})
_MARKED_LINES: Final = 48
_BARE_LINES: Final = 8
_LONGEST_BARE: Final = 40
_LONGEST_DATE: Final = 80
_MOST_FIELDS: Final = 18
"""A line with more is a menu."""
_LONGEST_HAN: Final = 12
_LONGEST_VALUE: Final = 20
_LEAST_ACCOUNT: Final = 6
"""Letters of an account name that says who its owner is."""
_ENDING: Final = (4, 60)
"""Last paragraphs that may hold a byline; in Chinese texts captions and notes of the editors follow it."""
_FIRST_BLOCKS: Final = 5
_CJK_SHARE: Final = 0.3


def find_authors(
    document: Document, structured: Structured, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]
) -> tuple[str, ...]:
    """Return the distinct names of those who wrote the article, in page order.

    `near` are lines, nearest first; `sites` are names of the site and its source, which are no people. Where nobody is
    named, the metadata may name the site; not on Chinese, Japanese and Korean pages, whose templates always do.

    Cost: O(characters of `near` and of the heads and ends of paragraphs).
    """
    metas = [document.metas[name][:10] for name in _META if name in document.metas]
    metas.append(_card(document))
    values = [structured.authors, *([value for value in values if "://" not in value] for values in metas)]
    base_test = NameTest(
        tuple(_functions(document)), tuple(sites), frozenset(_handles(document)), boxes.is_thread(document)
    )
    test = replace(base_test, sites=(*base_test.sites, *sites), houses=())
    if _is_cjk(document, near, kept):
        return _weigh_cjk(document, values, near, kept, test)
    house = [*sites, *_TITLE_PARTS.split(document.title)[1:]]
    stated = next(filter(None, map(replace(test, sites=(*base_test.sites, *house)).tidy, values)), ())
    if stated and (_is_full(stated) or _is_shown(document, near, stated[0])):
        return stated
    shown = _byline(document, near, kept, test, is_cjk=False)
    if not shown or (stated and not _is_full(shown)):
        shown = _marked(document, near, kept, test)
    if shown and (not stated or _is_full(shown)):
        return shown
    return (
        stated
        or _bare(document, near, kept, test)
        or _house(values, house)
        or _byline(document, near, kept, base_test, is_cjk=False)
        or _accounts(values, test)
    )


def tidy_names(document: Document, texts: Sequence[str], sites: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct names in texts that are known to name the authors.

    `sites` are names of the site and its source, which are no people.
    Cost: O(characters + links).
    """
    handles = frozenset([*_handles(document), *(text for text in texts if person_names.is_handle(text))])
    test = NameTest(tuple(_functions(document)), tuple(sites), handles, boxes.is_thread(document))
    parsed = (person_names.parse_line(text) or [text] for text in texts)
    return test.tidy([name for names in parsed for name in names])


def _functions(document: Document) -> Iterator[str]:
    """Yield the anchors of links to login and other forms."""
    for _, href, _, anchor, _ in document.links:
        if (
            1 < len(anchor) <= _LONGEST_VALUE
            and anchor[0] != "@"
            and _FUNCTION.search(href[:300])
            and not _PAGE.search(href[:300])
        ):
            yield anchor


def _handles(document: Document) -> Iterator[str]:
    """Yield the handles that a page links to the pages of their authors."""
    for _, href, rel, anchor, _ in document.links:
        is_short = 1 < len(anchor) <= _LONGEST_VALUE
        if is_short and person_names.is_handle(anchor) and ("author" in rel or _PAGE.search(href[:300])):
            yield anchor


def _accounts(values: Sequence[Sequence[str]], test: NameTest) -> tuple[str, ...]:
    stated = frozenset(name for one in values for name in one if name.isalpha() and len(name) >= _LEAST_ACCOUNT)
    return next(filter(None, map(replace(test, handles=stated).tidy, values)), ())


def _weigh_cjk(
    document: Document, values: Sequence[Sequence[str]], near: Sequence[int], kept: Sequence[int], test: NameTest
) -> tuple[str, ...]:
    believed = [_vetted(document, near, [value for value in one if _is_brief(value)], test) for one in values]
    if believed[0]:
        return believed[0]
    byline = _byline(document, near, kept, test, is_cjk=True)
    stated = next(filter(None, believed), ())
    if stated and (not byline or stated[0] in byline):
        return stated
    return byline or _marked(document, near, kept, test) or _beside_date(document, near, kept, test)


def _card(document: Document) -> list[str]:
    metas = document.metas
    for number in "12":
        label = metas.get(f"twitter:label{number}", ("",))[0]
        if _CARD_LABEL.match(label.strip()):
            return metas.get(f"twitter:data{number}", [])[:1]
    return []


def _is_cjk(document: Document, near: Sequence[int], kept: Sequence[int]) -> bool:
    han = chars = 0
    for index in [*near[:1], *kept[:_FIRST_BLOCKS]]:
        han += int(document.blocks.han[index])
        chars += int(document.blocks.chars[index])
    return han > _CJK_SHARE * chars


def _is_full(names: Sequence[str]) -> bool:
    """Tell whether the first name can be a whole one: Jane Doe, Reuters; not jdoe2."""
    name = names[0]
    return " " in name or not name.isascii() or (name.isalpha() and name[0].isupper())


def _vetted(document: Document, near: Sequence[int], values: Sequence[str], test: NameTest) -> tuple[str, ...]:
    """Drop stated names that are no people, unless readers see them beside the text.

    Templates of Chinese sites state the name of the site, the software or the editor as author.
    """
    names = test.tidy(values)
    if not names:
        return ()
    tails = [part.lower() for part in _TITLE_PARTS.split(document.title)[1:]]
    believed = []
    for name in names:
        if _is_long(name):
            return ()
        folded = name.lower()
        of_site = any(folded in tail or (len(tail) > 1 and tail in folded) for tail in tails)
        if not of_site and (person_names.is_name(name) or _is_shown(document, near, name)):
            believed.append(name)
    if not believed:
        return ()
    lines = [*document.metas.get("editor", ()), *(text for text in document.blocks.texts if _EDITED.search(text[:80]))]
    return tuple(name for name in believed if not any(name in line[:80] for line in lines))


def _is_long(name: str) -> bool:
    return len(name) > _LONGEST_HAN and "\u3040" <= name[_LONGEST_HAN] <= "\u9fff"


def _is_brief(value: str) -> bool:
    """Tell whether a value is no sentence, unless of people's names."""
    return len(value) <= _LONGEST_VALUE or value.isascii() or all(map(person_names.is_person, re.split(r"\W+", value)))


def _is_shown(document: Document, near: Sequence[int], name: str) -> bool:
    blocks, names, parents = document.blocks, document.names, document.parents
    for index in near[:_MARKED_LINES]:
        if name in blocks.texts[index]:
            for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
                named = f"{names[node]} {names[max(parents[node], 0)]}"
                if text.strip() == name and _SHOWN.search(named) and not _SOURCE.search(named):
                    return True
    return any(anchor == name and _PAGE.search(href[:300]) for _, href, _, anchor, _ in document.links)


def _house(values: Sequence[Sequence[str]], sites: Sequence[str]) -> tuple[str, ...]:
    stated = (unique((clean(name) for name in one if person_names.same(name, sites)), 1) for one in values)
    return next((names for names in stated if names and person_names.names_house(names[0])), ())


def _byline(
    document: Document, near: Sequence[int], kept: Sequence[int], test: NameTest, *, is_cjk: bool
) -> tuple[str, ...]:
    texts = document.blocks.texts
    inside = set(kept)
    for index in near:
        text = texts[index]
        if len(text) > (60 if index in inside and not _LABEL_START.match(text) else 200):
            continue
        if not person_names.may_name(text) and not _LABEL.match(text):
            continue
        line = "\t".join(split_fields(document, index))
        if _LABEL.match(line) and index + 1 < len(texts) and len(texts[index + 1]) <= 60:
            line = f"{line.rstrip(':： ')}:\t{texts[index + 1]}"
        is_near = 0 < index - near[0] <= _BARE_LINES
        authors = test.tidy(person_names.parse_line(line, dated=is_near))
        if authors:
            return authors
    for index in [*kept[:2], *kept[-1 : -_ENDING[is_cjk] : -1]]:
        authors = test.tidy(person_names.parse_prose(texts[index]))
        if authors:
            return authors
    return ()


def _marked(document: Document, near: Sequence[int], kept: Sequence[int], test: NameTest) -> tuple[str, ...]:
    blocks = document.blocks
    inside = set(kept)
    places = [
        index
        for index in near[:_MARKED_LINES]
        if (index not in inside or len(blocks.texts[index]) <= 60) and len(blocks.parts[index]) <= _MOST_FIELDS
    ]
    authors = _linked(document, set(places), test)
    if authors:
        return authors
    for index in places:
        for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
            if len(text) <= 60 and _is_marked(document, node, text):
                authors = test.tidy([text])
                if authors and not _is_long(authors[0]) and not _is_common(document, authors[0]):
                    return authors
    return ()


def _linked(document: Document, places: set[int], test: NameTest) -> tuple[str, ...]:
    authors: tuple[str, ...] = ()
    linked: list[str] = []
    last = -1
    for node, href, rel, anchor, block in document.links:
        if block in places and 2 <= len(anchor) <= 40 and ("author" in rel or _PAGE.search(href[:300])):
            if block != last:
                if authors:
                    break
                linked, last = [], block
            if not _NO_AUTHOR.search(document.names[node]):
                linked.append(anchor)
                authors = test.tidy(linked)
    return authors


def _is_marked(document: Document, node: int, text: str) -> bool:
    names, tags = document.names, document.tags
    for _ in range(3):
        if node < 0 or tags[node] in _CONTROLS:
            return False
        if names[node]:
            named = _names_author(names[node])
            if named is not None:
                return named
        if tags[node] == "address" and person_names.is_name(text):
            return True
        node = document.parents[node]
    return False


@lru_cache(maxsize=4096)
def _names_author(name: str) -> bool | None:
    """Tell whether a class or id means authors (True), comments (False) or neither."""
    if _NO_AUTHOR.search(name):
        return False
    return True if _NAME.search(name) else None


def _bare(document: Document, near: Sequence[int], kept: Sequence[int], test: NameTest) -> tuple[str, ...]:
    texts = document.blocks.texts
    first = kept[0] if kept else -1
    head = near[0] if near else 0
    for index in range(head + 1, min(head + _BARE_LINES, first + 2, len(texts))):
        text = texts[index]
        if len(text) > _LONGEST_BARE or not person_names.is_name(text):
            continue
        # In a box about the author, too; what heads a part of the text is a table of contents.
        is_repeated = index <= head + 2 and texts.count(text) > 1 and not _is_heading(document, kept, text)
        beside = (texts[at] for at in (index - 1, index + 1, index + 2) if head < at < len(texts))
        is_dated = any(len(line) <= _LONGEST_DATE and _DATED.search(line) for line in beside)
        if (is_dated or is_repeated) and not _is_common(document, text):
            authors = test.tidy([text])
            if authors == (text,):
                return authors
    return ()


def _is_heading(document: Document, kept: Sequence[int], text: str) -> bool:
    blocks = document.blocks
    return any(blocks.texts[at] == text and document.tags[blocks.nodes[at]][0] == "h" for at in kept)


def _is_common(document: Document, name: str) -> bool:
    """Tell whether the page has most words of a name in small letters: Share Post."""
    words = name.split()
    if len(words) == 1:
        return False
    page = " ".join(document.blocks.texts)
    return sum(f" {word.lower()} " in page for word in words if word != word.lower()) * 2 > len(words)


def _beside_date(document: Document, near: Sequence[int], kept: Sequence[int], test: NameTest) -> tuple[str, ...]:
    parts, texts = document.blocks.parts, document.blocks.texts
    inside = set(kept)
    for index in near[:8]:
        is_line = len(parts[index]) > 1 or len(texts[index]) <= _LONGEST_BARE
        if is_line and index not in inside and _CJK_DATE.search(texts[index]):
            words = (word for field in split_fields(document, index) for word in field.split())
            authors = test.tidy(filter(person_names.is_person, words))
            if authors:
                return authors
    return ()
