"""The story of a page: the object with most prose that has its title or id.

The thresholds were chosen by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote, urlsplit

from ..decode.text import squeeze
from ..document.document import Document
from .fields import TAG, TITLES, first_stated, is_card, is_part, letters_of, plain_name, prose_of, title_of
from .rich_text import is_laid_out, to_markup
from .values import Carried, decode

_MOST_OBJECTS: Final = 20_000
_MOST_DEPTH: Final = 60
LEAST_PROSE: Final = 120
"""Letters of the shortest article; a Chinese character counts for two and a half."""
_LEAST_UNNAMED: Final = 300
"""The same for an object that only its prose ties to the page."""
_TINY: Final = 0.05
"""A shorter text with little of all prose is only a lead, unless a title stands beside it."""
_GENERIC: Final = 30
"""A page title of so few letters may be the name of the site."""
_LEAST_QUOTED: Final = 400
"""A string of this length may hold an article as JSON."""
_OWN: Final = 3
"""An object with a title field of its own wins against this many times its prose."""
_DOMINANT: Final = 3
"""An object without the page's name needs this many times the prose of the next one."""
_LEAST_TITLE: Final = 6
_TIMES: Final = (
    "datepublished", "publishedat", "publishtime", "publishdate", "publisheddate", "published", "pubdate", "pubtime",
    "firstpublishedat", "firstpublished", "publishedtime", "ptime", "displaydate", "releasedate", "newstime",
    "posttime", "showtime", "date", "time", "createdat", "createtime", "created", "ctime", "dategmt",
)  # fmt: skip
_AUTHORS: Final = ("author", "authors", "byline", "reporter", "authorname", "writer", "creator", "editor")
_SOURCES: Final = ("source", "sourcename", "origin", "from", "media", "medianame", "copyfrom", "publisher")
_IMAGES: Final = ("image", "cover", "coverimage", "leadimage", "thumbnail", "thumb", "pic", "poster")
_LONG_TEASER: Final = 2_000
"""Letters of prose from which a "description" is the text itself, as in live blogs."""
_IDENTITY = re.compile(r"(?:id|slug|url|link|path|href|permalink|canonical|uri|key|code|no)$")
_BODIES: Final = re.compile(r"body|content|text|paragraph|story|article|detail")
"""Names of fields that hold a text; they win among fields with as much prose."""
_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Story:
    """An article in the data of a page: fields as stated, empty for none.

    `is_plain`: the body came as bare lines, all of them by who wrote it.
    """

    title: str
    html: str
    published: str = ""
    author: str = ""
    source: str = ""
    image: str = ""
    is_plain: bool = False


@dataclass(slots=True)
class _Candidate:
    title: str
    body: object
    prose: int
    own: dict[str, object]
    is_own_title: bool
    is_listed: bool
    match: int = 0


def find_story(document: Document, carried: Carried) -> Story | None:
    """Find the story of a page in its data for scripts; None if in doubt.

    It is the object with the most prose of those that have the page's title or an identifier in its URL; never one of
    several similar teasers, nor a summary. If the page only has the name of its site as title, it is the one object
    with a title and nearly all prose.

    Cost: O(values), of which at most 20,000 objects are looked at.
    """
    titles, generic = _page_titles(document)
    tokens, path = _page_tokens(document.url)
    candidates: list[_Candidate] = []
    heads: list[dict[str, object]] = []
    walk = _Walk()
    for value in carried.values:
        for item, is_listed in walk.objects(value):
            title, is_own = title_of(item)
            if not title:
                continue
            key, prose = walk.body(item)
            if prose < LEAST_PROSE:
                if is_own and not is_listed:
                    heads.append(item)
                continue
            one = _Candidate(title, item[key], prose, item, is_own, is_listed)
            one.match = 2 * _has_title(title, titles) + 2 * _has_identity(item, tokens, path)
            candidates.append(one)
    named = [one for one in candidates if one.match and not (one.is_listed and _is_cut(one.body))]
    if named:
        best = max(named, key=lambda one: (one.prose * (_OWN if one.is_own_title else 1), one.match))
        is_lead = best.prose < _LEAST_UNNAMED and best.prose < _TINY * max(map(walk.prose, carried.values), default=0)
        return None if is_lead else _story(best.title, best.body, best.own)
    if not generic or path in {"", "/"}:
        return None
    alone = sorted((one for one in candidates if one.is_own_title and not one.is_listed), key=lambda one: -one.prose)
    if (
        alone
        and alone[0].prose >= _LEAST_UNNAMED
        and all(
            one.prose * _DOMINANT <= alone[0].prose
            for one in candidates
            if one is not alone[0] and one.own is not alone[0].own and one.is_own_title
        )
    ):
        return _story(alone[0].title, alone[0].body, alone[0].own)
    texts = [text for text in carried.texts if prose_of(text) >= _LEAST_UNNAMED]
    dated = [one for one in heads if first_stated(one, _TIMES)]
    if len(texts) == 1 and len(dated) == 1 and not candidates:
        return _story(title_of(dated[0])[0], texts[0], dated[0])
    return None


class _Walk:
    def __init__(self) -> None:
        self._left = _MOST_OBJECTS
        self._seen: set[int] = set()
        self._prose: dict[int, int] = {}
        self._kept: list[object] = []

    def objects(self, value: object) -> Iterator[tuple[dict[str, object], bool]]:
        waiting: list[tuple[object, bool, int]] = [(value, False, 0)]
        while waiting and self._left > 0:
            item, is_listed, depth = waiting.pop()
            if depth > _MOST_DEPTH or id(item) in self._seen:
                continue
            self._seen.add(id(item))
            self._left -= 1
            if isinstance(item, dict):
                for key, inner in item.items():
                    if isinstance(inner, str) and len(inner) > _LEAST_QUOTED and inner[:1] in {"{", "["}:
                        item[key] = decode(inner) or inner
                yield item, is_listed
                waiting += [
                    (inner, False, depth + 1) for inner in item.values() if isinstance(inner, (dict, list)) and inner
                ]
            elif isinstance(item, list):
                alike = sum(map(is_card, item[:20])) > 1
                waiting += [(one, alike, depth + 1) for one in item[:2000] if isinstance(one, (dict, list))]

    def body(self, item: dict[str, object]) -> tuple[str, int]:
        best, most = "", 0
        for key, value in item.items():
            name = plain_name(key)
            if name in TITLES:
                continue
            prose = self.prose(value)
            prose *= _NAMED if _BODIES.search(name) else 1
            if prose > most and (prose >= _LONG_TEASER or is_part(name)):
                best, most = key, prose
        return best, self.prose(item[best]) if best else 0

    def prose(self, value: object, depth: int = 0) -> int:
        if isinstance(value, str):
            return prose_of(value)
        if depth > _MOST_DEPTH or not isinstance(value, (dict, list)):
            return 0
        counted = self._prose.get(id(value))
        if counted is not None:
            return counted
        total = self._prose[id(value)] = 0  # an object may hold itself
        if isinstance(value, dict):
            for key, one in value.items():
                if is_part(key) and plain_name(key) not in TITLES:
                    total += self.prose(one, depth + 1)
        else:
            total = sum(self.prose(one, depth + 1) for one in value if not is_card(one))
        self._prose[id(value)] = total
        self._kept.append(value)
        return total


def _page_titles(document: Document) -> tuple[list[str], bool]:
    stated = [document.title, *(one[0] for name in ("og:title", "twitter:title") if (one := document.metas.get(name)))]
    headings = [
        text
        for node, text in zip(document.blocks.nodes, document.blocks.texts, strict=True)
        if document.tags[node] == "h1"
    ]
    if len(headings) == 1:  # several are those of other stories as well
        stated += headings
    return [squeeze(one) for one in stated if one], all(letters_of(one) <= _GENERIC for one in stated)


def _has_title(title: str, titles: list[str]) -> bool:
    squeezed = squeeze(title)
    if letters_of(squeezed) < 2 * _LEAST_TITLE:
        return squeezed in titles
    return any(squeezed in one or (letters_of(one) > _GENERIC and one in squeezed) for one in titles)


def _page_tokens(url: str) -> tuple[set[str], str]:
    parts = urlsplit(url)
    path = unquote(parts.path).rstrip("/")
    last = path.rpartition("/")[2].rpartition(".")[0] or path.rpartition("/")[2]
    tokens = {one for one in re.findall(r"\d{4,}", f"{path} {parts.query}") if not re.fullmatch(r"(?:19|20)\d\d", one)}
    tokens |= set(re.findall(r"[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f-]{27}", path.lower()))
    if len(last) > _LEAST_TITLE:
        tokens.add(last.lower())
    return tokens, path


def _has_identity(item: dict[str, object], tokens: set[str], path: str) -> bool:
    for key, value in item.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)) or not _IDENTITY.search(plain_name(key)):
            continue
        text = str(value)[:500].lower()
        if text in tokens or (
            len(path) > _LEAST_TITLE and "/" in text and urlsplit(text).path.rstrip("/") == path.lower()
        ):
            return True
    return False


def _is_cut(body: object) -> bool:
    return isinstance(body, str) and TAG.sub("", body).rstrip().endswith(("…", "...", "[&hellip;]", "&hellip;", "[…]"))


def _story(title: str, body: object, item: dict[str, object]) -> Story:
    image, html = first_stated(item, _IMAGES), to_markup(body)
    return Story(
        title=title,
        html=html,
        published=first_stated(item, _TIMES)[:60],
        author=first_stated(item, _AUTHORS)[:200],
        source=first_stated(item, _SOURCES)[:100],
        image=image if image[:4] == "http" or image[:1] == "/" else "",
        is_plain=not is_laid_out(html),
    )
