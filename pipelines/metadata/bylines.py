"""Authors of an article: all places that may name them, of which one is chosen."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..decode.text import clean, unique
from ..document import boxes
from ..document.document import Document
from ..document.structured_data import Structured
from . import person_names
from .author_ranking import AuthorCandidate, PageOfAuthors, choose, describe
from .lines import split_fields
from .person_names import LISTS, MAX_AUTHORS, NameTest

_AUTHOR_META: Final = frozenset({"author", "byl"})
_ARTICLE_META: Final = frozenset({"article:author", "og:article:author", "article:author_name"})
_META = re.compile(r"(?:^|[:._-])(?:article_?)?(?:author|byline|creator|reporter|writer)s?(?:_?name)?\d?$|^mediaid$")
_NO_META = re.compile(r"twitter.?creator|fediverse|smartbanner|medium-com|cms_|publisher")
_LISTED: Final = frozenset({"citation_author", "dc.creator", "dcterms.creator"})
"""Of libraries: an element for each author, family names first."""
_FAMILY_FIRST = re.compile(r"([^\W\d_][\w.'’ -]{1,30}),\s?([^\W\d_][\w.'’ -]{0,30})$")
_any = LISTS.pattern
_CARD_LABEL = re.compile(rf"^{_any('twitter card labels')}$", re.IGNORECASE)
_NAME = re.compile(
    r"(?:^|[\s_-])(?:\w{0,20}author(?:s|info|name|box|by)?|byline\w*|writer|reporter|journalist|author-?name|authorlink|autor|auteur|"
    r"autore|verfasser|\w{0,10}nick_?-?name|\w{0,6}user-?name|userlink|poster|xw1|rich_media_meta_text)(?:$|[\s_-])"
)
_SOURCE = re.compile(r"media-?_?name|source|(?:^|[\s_-])(?:src|from)")
_NO_AUTHOR = re.compile(r"js_name|media_meta_nickname|login|comment|reply|respond|share|(?<!no)follow|related|avatar")
_ANY_NAME = re.compile(
    r"auth?or|byline|auteur|writer|report|journal|verfasser|nick|user|poster|xw1|meta_|login|comment|reply|respond|"
    r"share|follow|related|avatar|js_name"
)
"""One of the words of the two patterns above; most names hold none."""
_PAGE = re.compile(rf"/{_any('author folders')}[/?]|space-uid|mod=space(?:&|$)|/author-")
_LABEL = re.compile(rf"^(?:{_any('before field labels')}\s)?{_any('field labels')}\s?[:：]?$", re.IGNORECASE)
_FUNCTION = re.compile(rf"(?:[/?&=._-]|^){_any('account pages')}(?:$|[/?&=._#-])", re.IGNORECASE)
_LABEL_START = re.compile(r"(?:written |posted )?by\b", re.IGNORECASE)
_HAN_EDITED = re.compile(r"[编編责責校]")
_EDITED = re.compile(rf"{_any('editors')}\s?[:：]")
_TITLE_PARTS = re.compile(r"\s?[_|｜–—»«·]\s?|\s-\s|(?<=[\u4e00-\u9fff])-(?=[\u4e00-\u9fffA-Z])")
_DATED = re.compile(r"(?:19|20)\d\d|\d月|\d{1,2}[.:h]\d\d|\d{1,2}\.?\s[^\W\d_]{3,10}|[^\W\d_]{3,10}\s\d{1,2}\b")
_HAN = re.compile(r"[\u4e00-\u9fff]{3}")
_CJK_DATE = re.compile(r"(?:19|20)\d\d|\d月|\d:\d\d")
_CONTROLS: Final = frozenset({"form", "label", "button"})
_MARKED_LINES: Final = 48
_BARE_LINES: Final = 8
_LONGEST_BARE: Final = 40
_BEHIND: Final = 40
"""Lines behind the text where a box may tell of the author."""
_SIGNED: Final = 4
_BELOW_HEAD: Final = 6
_ABOVE_HEAD: Final = 8
_ABOVE_END: Final = 8
_LEAST_ABOUT: Final = 20
_LONGEST_DATE: Final = 80
_MOST_FIELDS: Final = 18
"""A line with more is a menu."""
_LONGEST_HAN: Final = 12
_LONGEST_VALUE: Final = 20
_LONGEST_LABEL: Final = 20
_PROSE_ENDS: Final = frozenset("。！？；…”.!?;")
_LEAST_ACCOUNT: Final = 6
"""Letters of an account name that says who its owner is."""
_MOST_CANDIDATES: Final = 24
_MOST_NAMED: Final = 100
"""Links and elements that are looked at; more are a list of people."""
_OPENING: Final = 6
_ENDING: Final = (4, 60)
"""Last paragraphs that may hold a byline; in Chinese texts captions and notes of the editors follow it."""
_FIRST_BLOCKS: Final = 5
_CJK_SHARE: Final = 0.3


_NAMED: Final = frozenset({"data", "author", "article:author", "meta", "card"})
_MAY_BE_OFFICE: Final = _NAMED | {"byline", "linked", "marked"}

Named = tuple[str, Sequence[str], int]
"""Source, names as they are written, block."""


def find_authors(
    document: Document, structured: Structured, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]
) -> tuple[str, ...]:
    """Return the distinct names of those who wrote the article, in page order.

    Full names in the JSON-LD are believed, but for Chinese, Japanese and Korean pages, whose templates name the site or
    an editor. Else all places that may name them are read, and a small network (see `author_ranking`) chooses one of
    these, or nobody. `near` are lines, nearest to the headline first; `sites` are names of the site and its source.

    Cost: O(characters of `near` and of the heads and ends of paragraphs + candidates * blocks).
    """
    stated = find_stated(document, structured, near, kept, sites)
    if stated:
        return stated
    candidates, rows = weigh(document, structured, near, kept, sites)
    chosen = choose(rows) if candidates else 0
    return candidates[chosen].names if chosen < len(candidates) else ()


def find_stated(
    document: Document, structured: Structured, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]
) -> tuple[str, ...]:
    """Return the authors of the JSON-LD if their names are full and can be believed."""
    if not structured.authors or _is_cjk(document, near, kept):
        return ()
    page, houses = _page_of(document, near, kept, sites)
    stated = _Candidates(document, page, houses, frozenset())
    stated.add([_data(structured)])
    full = (one.names for one in stated.by_names.values() if one.sources == {"data"})
    return next((names for names in full if all(map(person_names.is_name, names))), ())


def weigh(
    document: Document, structured: Structured, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]
) -> tuple[list[AuthorCandidate], NDArray[np.float64]]:
    """Return all that may be the authors, and their rows with one more for nobody."""
    page, houses = _page_of(document, near, kept, sites)
    candidates = _candidates(document, structured, near, page, houses)
    return candidates, describe(document, candidates, page)


def _page_of(
    document: Document, near: Sequence[int], kept: Sequence[int], sites: Sequence[str]
) -> tuple[PageOfAuthors, tuple[str, ...]]:
    """Return what names are compared with, and the names of the site."""
    tails = _TITLE_PARTS.split(document.title)[1:]
    is_cjk = _is_cjk(document, near, kept)
    editors = (text[:80] for text in document.blocks.texts if _EDITED.search(text[:80])) if is_cjk else ()
    page = PageOfAuthors(
        head=near[0] if near else -1,
        kept=kept,
        sites={person_names.fold(site) for site in sites if site},
        tails=[tail.lower() for tail in tails],
        editors=[*document.metas.get("editor", ()), *editors],
        is_cjk=is_cjk,
        is_thread=boxes.is_thread(document),
    )
    return page, (*sites, *tails)


def _candidates(
    document: Document, structured: Structured, near: Sequence[int], page: PageOfAuthors, houses: Sequence[str]
) -> list[AuthorCandidate]:
    """Return all that may be the authors.

    Once head and lines agree on somebody, single names and boxes behind the text are not looked for.
    """
    values = list(_stated(document, structured))
    kept = page.kept
    near = _lines(document, near, kept)
    places = _places(document, near[:_MARKED_LINES], kept)
    marked = list(islice(_marked(document, places), _MOST_NAMED))
    stated = (name for _, names, _ in values for name in names)
    if page.is_cjk:
        shown = {name for _, names, _ in marked for name in names}
        accounts = frozenset(name for name in stated if name in shown)
    else:
        accounts = frozenset(name for name in stated if name.isalpha() and len(name) >= _LEAST_ACCOUNT)
    found = _Candidates(document, page, houses, accounts)
    behind = list(range(kept[-1] + 1, min(kept[-1] + _BEHIND, len(document.blocks)))) if kept else []
    found.add(
        chain(
            values, _bylines(document, near, kept), islice(_linked(document, {*places, *behind}), _MOST_NAMED), marked
        )
    )
    if page.is_cjk or not found.are_agreed:
        found.add(_prose(document, kept, is_cjk=page.is_cjk))
    if not found.are_agreed:
        found.add(islice(_marked(document, _places(document, behind, kept)), _MOST_NAMED))
        found.add(_bare(document, near, kept))
        found.add(_beside_date(document, near, kept) if page.is_cjk else ())
    candidates = found.by_names.values()
    # The staff of a site counts where nobody else is named.
    return [one for one in candidates if "office" not in one.sources] or list(candidates)


class _Candidates:
    """The names of a page that pass all tests, with their sources.

    `houses` are names of the site, `accounts` names that the head states and that are no names by their form.
    """

    def __init__(
        self, document: Document, page: PageOfAuthors, houses: Sequence[str], accounts: frozenset[str]
    ) -> None:
        self.by_names: dict[tuple[str, ...], AuthorCandidate] = {}
        self._anchors = {anchor: href for _, href, _, anchor, _ in reversed(document.links) if anchor}
        self._page = page
        self._houses = houses
        handles = frozenset(_handles(document))
        # Templates of Chinese sites state the site as author.
        own, others = ((), tuple(houses)) if page.is_cjk else (tuple(houses), ())
        self._test = NameTest(others, own, handles, page.is_thread)
        self._account_test = replace(self._test, handles=handles | accounts)

    @property
    def are_agreed(self) -> bool:
        """Tell whether the head and a line name the same."""
        return any(one.sources & _NAMED and one.block >= 0 for one in self.by_names.values())

    def add(self, named: Iterable[Named]) -> None:
        for source, raw, block in named:
            sources = {source}
            names = self._names(source, raw, sources)
            if not names or _is_long(names[0]) or any(map(self._leads_to_form, names)):
                continue
            if len(self.by_names) >= _MOST_CANDIDATES:
                return
            one = self.by_names.setdefault(tuple(map(person_names.fold, names)), AuthorCandidate(names))
            one.sources |= sources
            if person_names.same(names[0], self._houses):
                one.sources.add("house")
            if one.block < 0:
                one.block = block

    def _names(self, source: str, raw: Sequence[str], sources: set[str]) -> tuple[str, ...]:
        page = self._page
        # An agency that the JSON-LD lists beside people is an author like them.
        listed = [name for one in raw for name in self._test.tidy([one])] if source == "data" and len(raw) > 1 else []
        names = unique(listed, MAX_AUTHORS) if listed else self._test.tidy(raw)
        if source in _NAMED and page.is_cjk and any(page.is_of_site(name) or page.is_editor(name) for name in names):
            return ()
        if not names and source in _NAMED:
            names = self._account_test.tidy(raw) or _small(raw, self._test)
            sources.add("account")
        if len(names) > 1:
            names = tuple(name for name in names if not person_names.same(name, self._houses)) or names
        if not names and source in _MAY_BE_OFFICE:
            names = tuple(clean(name) for name in raw if person_names.is_editorial_office(name))[:1]
            sources.add("office")
        return names

    def _leads_to_form(self, name: str) -> bool:
        return name in self._anchors and _leads_to_form(self._anchors[name], name)


def _lines(document: Document, near: Sequence[int], kept: Sequence[int]) -> list[int]:
    """Return `near` with the lines at the head and the end of the text."""
    if not kept:
        return list(near)
    count, first, last = len(document.blocks), kept[0], kept[-1]
    around = (
        *range(first, min(first + _BELOW_HEAD, last)),
        *range(max(last - _ABOVE_END, first), min(last + 1, count)),
    )
    return list(dict.fromkeys((*near, *around)))


def _is_brief(value: str) -> bool:
    """Tell whether a value is no Chinese sentence, unless of people's names."""
    return (
        len(value) <= _LONGEST_VALUE
        or value.isascii()
        or not _HAN.search(value)
        or all(map(person_names.is_person, re.split(r"\W+", value)))
    )


def _small(names: Sequence[str], test: NameTest) -> tuple[str, ...]:
    """Return full names of people who write theirs in small letters."""
    full = [name for name in names if name.islower() and " " in name and person_names.is_name(name.title())]
    return tuple(full) if test.tidy([name.title() for name in full]) else ()


def _data(structured: Structured) -> Named:
    return "data", list(filter(_is_brief, structured.authors)), -1


def _stated(document: Document, structured: Structured) -> Iterator[Named]:
    yield _data(structured)
    for name, values in document.metas.items():
        if name in _AUTHOR_META or name in _ARTICLE_META or (_META.search(name) and not _NO_META.search(name)):
            source = "author" if name in _AUTHOR_META else "article:author" if name in _ARTICLE_META else "meta"
            names = [value for value in values[:10] if "://" not in value and _is_brief(value)]
            yield source, [_FAMILY_FIRST.sub(r"\2 \1", value) for value in names] if name in _LISTED else names, -1
    yield "card", _card(document), -1


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
    return (anchor for _, href, _, anchor, _ in document.links if _leads_to_form(href, anchor))


def _leads_to_form(href: str, anchor: str) -> bool:
    return (
        1 < len(anchor) <= _LONGEST_VALUE
        and anchor[0] != "@"
        and bool(_FUNCTION.search(href[:300]))
        and not _PAGE.search(href[:300].lower())
    )


def _handles(document: Document) -> Iterator[str]:
    """Yield the handles that a page links to the pages of their authors."""
    for _, href, rel, anchor, _ in document.links:
        is_short = 1 < len(anchor) <= _LONGEST_VALUE and " " not in anchor
        if is_short and person_names.is_handle(anchor) and ("author" in rel or _PAGE.search(href[:300].lower())):
            yield anchor


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


def _is_long(name: str) -> bool:
    return len(name) > _LONGEST_HAN and "\u3040" <= name[_LONGEST_HAN] <= "\u9fff"


def _bylines(document: Document, near: Sequence[int], kept: Sequence[int]) -> Iterator[Named]:
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
        names = person_names.parse_line(line, dated=False)
        if names:
            yield "byline", names, index
        elif 0 < index - near[0] <= _BARE_LINES and (dated := person_names.parse_line(line)):
            yield "dated", dated, index


def _prose(document: Document, kept: Sequence[int], *, is_cjk: bool) -> Iterator[Named]:
    texts = document.blocks.texts
    for index in kept[: _OPENING if is_cjk else 2]:
        yield "head", person_names.parse_prose(texts[index]), index
    for index in kept[-1 : -_ENDING[is_cjk] : -1]:
        yield "end", person_names.parse_prose(texts[index]), index
    if kept:
        for index in range(kept[-1], min(kept[-1] + 3, len(texts))):
            yield "signed", person_names.parse_signature(texts[index]), index


def _places(document: Document, lines: Iterable[int], kept: Sequence[int]) -> list[int]:
    """Return the lines that may hold an element with a name: short ones of the text."""
    blocks, inside = document.blocks, set(kept)
    return [
        index
        for index in lines
        if (index not in inside or len(blocks.texts[index]) <= 60) and len(blocks.parts[index]) <= _MOST_FIELDS
    ]


def _linked(document: Document, places: Container[int]) -> Iterator[Named]:
    """Yield the anchors of links to authors, of each block and of blocks in a row."""
    row: list[str] = []
    last = -1
    for node, href, rel, anchor, block in document.links:
        if (
            block in places
            and 2 <= len(anchor) <= 40
            and ("author" in rel or _PAGE.search(href[:300].lower()))
            and not _NO_AUTHOR.search(document.names[node])
        ):
            if block - last > 2 or len(row) >= MAX_AUTHORS:
                row = []
            row.append(anchor)
            last = block
            yield "linked", tuple(row), block


def _marked(document: Document, places: Iterable[int]) -> Iterator[Named]:
    """Yield elements named after authors, of each block and of blocks in a row."""
    blocks = document.blocks
    whole = " ".join(blocks.texts)
    row: list[str] = []
    last = name = ""
    before = -1
    for index in places:
        for node, text in blocks.parts[index] or ((blocks.starts[index], blocks.texts[index]),):
            if len(text) > 60 or not _is_marked(document, node, text):
                continue
            label, colon, rest = text.partition(":" if ":" in text else "：")
            name = rest.strip() if colon and len(label) <= _LONGEST_LABEL and len(rest) > 2 else text
            if person_names.is_of_pictures(label) and colon:
                continue
            if _is_common(whole, name):
                continue
            names = person_names.parse_line(text, dated=False) or person_names.parse_names(name) or [name]
            yield "marked", names, index
            if 0 <= index - before <= 2 and document.names[node] == last and 0 < len(row) < MAX_AUTHORS:
                row.append(name)
                yield "marked", tuple(row), index
            else:
                row = [name]
            before, last = index, document.names[node]


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
    if not _ANY_NAME.search(name):
        return None
    if _NO_AUTHOR.search(name):
        return False
    return True if _NAME.search(name) else None


def _bare(document: Document, near: Sequence[int], kept: Sequence[int]) -> Iterator[Named]:
    """Yield lines of nothing but names, and those whose next line says who that is."""
    texts = document.blocks.texts
    whole = " ".join(texts)
    first, last = (kept[0], kept[-1]) if kept else (-1, len(texts))
    head = near[0] if near else 0
    below = range(head + 1, min(head + _BARE_LINES, max(first + 4, head + 4), len(texts)))
    for index in dict.fromkeys(
        (
            *below,
            *range(max(first - 3, 0), first),
            *range(max(head - _ABOVE_HEAD, 0), head),
            *range(last, min(last + _BEHIND, len(texts))),
        )
    ):
        text = texts[index]
        if len(text) > 2 * _LONGEST_BARE or not (names := person_names.parse_names(text)):
            continue
        if _is_control(document, index) or any(_is_common(whole, name) for name in names):
            continue
        # In a box about the author, too; what heads a part of the text is a table of contents.
        is_repeated = index <= head + 2 and texts.count(text) > 1 and not _is_heading(document, kept, text)
        beside = (texts[at] for at in (index - 1, index + 1, index + 2) if head < at < len(texts))
        if any(_is_about(line, names[0]) for line in texts[index + 1 : index + 3]):
            yield "about", names[:1], index
        elif index - last < _SIGNED:
            is_dated = index in below and any(len(line) <= _LONGEST_DATE and _DATED.search(line) for line in beside)
            yield "bare" if is_dated else "alone", names, index
        if is_repeated:
            yield "repeated", names, index


def _is_control(document: Document, index: int) -> bool:
    blocks, tags = document.blocks, document.tags
    return tags[blocks.nodes[index]] in _CONTROLS or tags[blocks.starts[index]] in _CONTROLS


def _is_about(line: str, name: str) -> bool:
    """Tell whether a line goes on from a name: Jo Hale is a reporter."""
    return any(
        len(line) > len(part) + _LEAST_ABOUT and line.startswith(f"{part} ") and line[len(part) + 1].islower()
        for part in (name, name.partition(" ")[0])
    )


def _is_heading(document: Document, kept: Sequence[int], text: str) -> bool:
    blocks = document.blocks
    return any(blocks.texts[at] == text and document.tags[blocks.nodes[at]][0] == "h" for at in kept)


def _is_common(page: str, name: str) -> bool:
    """Tell whether the page has most words of a name in small letters: Share Post."""
    words = name.split()
    if len(words) == 1:
        return False
    return sum(f" {word.lower()} " in page for word in words if word != word.lower()) * 2 > len(words)


def _beside_date(document: Document, near: Sequence[int], kept: Sequence[int]) -> Iterator[Named]:
    parts, texts = document.blocks.parts, document.blocks.texts
    inside = set(kept)
    for index in near[:8]:
        is_line = len(parts[index]) > 1 or len(texts[index]) <= _LONGEST_BARE
        if is_line and index not in inside and _CJK_DATE.search(texts[index]):
            fields = split_fields(document, index)
            if person_names.parse_line("\t".join(fields), dated=False):
                continue
            words = (word for field in fields for word in field.split())
            yield "beside date", list(filter(person_names.is_person, words)), index
