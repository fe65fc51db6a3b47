"""Page number of a divided article, and its next and previous page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..document.document import Document
from ..urls import canonicalize
from ..word_lists import WordLists

MAX_PAGES: Final = 200
_MAX_ANCHOR_CHARS: Final = 24
_FOLLOWING: Final = 0
_PRECEDING: Final = -1
_LISTS: Final = WordLists(Path(__file__).with_name("words") / "pages.txt")
_ORDER: Final = dict.fromkeys(_LISTS["next"], _FOLLOWING) | dict.fromkeys(_LISTS["previous"], _PRECEDING)
_INITIALS: Final = frozenset("第PpSs")
_MARKS: Final = " \t\u3000[]()（）【】<>《》«»‹›→←|｜·.:：…_-–—"
# Characters with which the anchors in question begin and end: most links are told apart by these alone.
_FIRST: Final = frozenset("".join(word[0] + word[0].upper() for word in _ORDER) + _MARKS + "0123456789第PpSs")
_LAST: Final = frozenset("".join(word[-1] + word[-1].upper() for word in _ORDER) + _MARKS + "0123456789页頁")
_RELATIONS: Final = {"next": _FOLLOWING, "prev": _PRECEDING, "previous": _PRECEDING}
_HAN: Final = {char: number for number, char in enumerate("一二三四五六七八九十", 1)}
_LABEL = re.compile(
    rf"第\s{{0,2}}(\d{{1,3}}|[一二三四五六七八九十])\s{{0,2}}[页頁]|{_LISTS.pattern('page')}\s{{1,2}}(\d{{1,3}})$"
)
_EXTENSION = re.compile(r"\.(?:s?html?|php|aspx?|jsp|xhtml|do|cgi)$", re.IGNORECASE)
_KEYS: Final = "p|pg|pn|page|paged|pageno|page_no|pageid|pagenum|page_num|pagenumber|pageindex|currentpage|part|start"
_QUERY = re.compile(rf"(?:^|&)({_KEYS})=(\d{{1,3}})(?=&|$)", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:[-_/](?:page|p|pn|pg)?[-_/=]?|(?:page|p))(\d{1,3})", re.IGNORECASE)
_MARKED = re.compile(r"(?:[-_/](?:page|pn|pg|p)[-_/=]?|_)\d{1,3}$", re.IGNORECASE)
_NUMBERS = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class Pages:
    """Page number (0 unknown) and canonical URLs of the neighbours, empty for none."""

    number: int = 0
    next: str = ""
    previous: str = ""


@dataclass(frozen=True, slots=True)
class _Step:
    url: str
    own: int
    other: int
    sure: bool


def find_pages(document: Document) -> Pages:
    """Find this page's place among the pages of its article.

    A next link alone proves nothing: archives, channels and "next article" links look the same. It counts when its
    URL is this page's with another page number: `5.html` and `5_2.html`, `?id=7&page=2` and `?id=7&page=3`. Numbered
    links show whether the URLs count from 0 or from 1, and replace a missing next link.

    Cost: O(links); URLs are compared only where an anchor is a number or a word such as 下一页.
    """
    page_url = canonicalize(document.url) or document.url
    steps: list[tuple[int, _Step]] = []
    for label, href in _labelled(document):
        url = document.resolve(href)
        step = _step(page_url, url) if url and url != page_url else None
        if step is not None:
            steps.append((label, step))
    return _placed(steps) if steps else Pages()


def _labelled(document: Document) -> Iterator[tuple[int, str]]:
    for _, href, rel, anchor, _ in document.links:
        label = _RELATIONS.get(rel) if rel else None
        telling = anchor and len(anchor) <= _MAX_ANCHOR_CHARS and anchor[0] in _FIRST
        if telling and (anchor[-1] in _LAST or anchor[0] == "第"):
            label = _label(anchor)
        if label is not None:
            yield label, href
    for rel, href, _, _ in document.relations:
        if rel in _RELATIONS:
            yield _RELATIONS[rel], href


def _label(anchor: str) -> int | None:
    label = anchor.strip(_MARKS)
    if len(label) <= 3 and label.isdecimal():
        return int(label)
    order = _ORDER.get(label.lower())
    if order is not None or label[:1] not in _INITIALS:
        return order
    match = _LABEL.match(label.lower())
    if not match:
        return None
    number = match[1] or match[2]
    return _HAN.get(number) or int(number)


def _placed(steps: list[tuple[int, _Step]]) -> Pages:
    numbered = {label: step for label, step in reversed(steps) if label > 0}
    # What to add to the number in a URL for the number of its page; most links agree.
    offsets = [label - step.other for label, step in numbered.items() if step.other and 0 <= label - step.other <= 1]
    offset = max(set(offsets), key=offsets.count) if offsets else 0
    trusted = bool(offsets) or any(step.own and not step.other for _, step in steps)
    steps = [(label, step) for label, step in steps if step.sure or trusted or not step.own]
    if not steps:
        return Pages()
    page_number = steps[0][1].own
    number = page_number + offset if page_number else 1

    def neighbour(direction: int, by: int) -> str:
        for label, step in steps:
            place = step.other + offset if step.other else 1
            if label == number + by > 0 or (label == direction and place == number + by):
                return step.url
        return ""

    # A first page says by "next" alone: then it cannot be told whether the URLs count from 0 or from 1.
    ahead = (step.url for label, step in steps if label == _FOLLOWING and not page_number and step.other == 1)
    following, preceding = neighbour(_FOLLOWING, 1) or next(ahead, ""), neighbour(_PRECEDING, -1)
    return Pages(number, following, preceding) if following or preceding else Pages()


def _step(page_url: str, url: str) -> _Step | None:
    path, _, query = page_url.partition("?")
    other_path, _, other_query = url.partition("?")
    if path == other_path:
        return _query_step(url, query, other_query)
    if query != other_query:
        return None
    path, other_path = _EXTENSION.sub("", path).rstrip("/"), _EXTENSION.sub("", other_path).rstrip("/")
    if other_path.startswith(path):
        number = _tail(other_path, path)
        return _Step(url, 0, number, sure=True) if number else None
    if path.startswith(other_path):
        number = _tail(path, other_path)
        return _Step(url, number, 0, sure=True) if number else None
    return _numeric_step(url, path, other_path)


def _tail(path: str, stem: str) -> int:
    match = _SUFFIX.fullmatch(path, len(stem))
    return int(match[1]) if match and int(match[1]) <= MAX_PAGES and stem.count("/") > 2 else 0


def _query_step(url: str, query: str, other_query: str) -> _Step | None:
    page_match, other = _QUERY.search(query), _QUERY.search(other_query)
    rest = _QUERY.sub("", query, count=1).strip("&")
    if rest != _QUERY.sub("", other_query, count=1).strip("&") or (page_match and other and page_match[1] != other[1]):
        return None
    numbers = (int(page_match[2]) if page_match else 0, int(other[2]) if other else 0)
    # ?p=12 and ?p=13 are two articles of many a blog.
    sure = not (page_match and other and page_match[1].lower() == "p")
    return _Step(url, *numbers, sure) if numbers[0] != numbers[1] else None


def _numeric_step(url: str, path: str, other_path: str) -> _Step | None:
    numbers, others = _NUMBERS.findall(path), _NUMBERS.findall(other_path)
    if len(numbers) != len(others) or _NUMBERS.sub("#", path) != _NUMBERS.sub("#", other_path):
        return None
    changed = [(one, two) for one, two in zip(numbers, others, strict=True) if one != two]
    if len(changed) != 1 or max(map(len, changed[0])) > 3:
        return None
    page_number, other = map(int, changed[0])
    if not (0 <= page_number <= MAX_PAGES and 0 <= other <= MAX_PAGES):
        return None
    return _Step(url, page_number, other, sure=bool(_MARKED.search(path)) and len(numbers) > 1)
