"""The story of a page: the object with most prose that has its title or id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape, unescape
from typing import Final
from urllib.parse import unquote, urlsplit

from ..decode.text import squeeze, words
from ..document.document import Document
from .values import Carried, decode

_MOST_OBJECTS: Final = 20_000
_MOST_DEPTH: Final = 60
LEAST_PROSE: Final = 120
"""Letters of the shortest text that is taken for an article's; a Chinese character counts for two and a half."""
_LEAST_UNNAMED: Final = 300
"""The same for an object that nothing but its prose ties to the page."""
_GENERIC: Final = 30
"""So many letters of a page's title may be the name of its site."""
_LEAST_QUOTED: Final = 400
"""A string of so many characters may hold an article as JSON."""
_DOMINANT: Final = 3
"""An object without the page's name has so many times the prose of the next one."""
_TITLE_CHARS: Final = (6, 400)
_LEAST_TITLE: Final = 6
_TITLES: Final = ("title", "headline", "subject", "newstitle", "articletitle", "maintitle", "posttitle", "name")
_TIMES: Final = (
    "datepublished", "publishedat", "publishtime", "publishdate", "publisheddate", "published", "pubdate", "pubtime",
    "firstpublishedat", "firstpublished", "publishedtime", "ptime", "displaydate", "releasedate", "newstime",
    "posttime", "showtime", "date", "time", "createdat", "createtime", "created", "ctime", "dategmt",
)  # fmt: skip
_AUTHORS: Final = ("author", "authors", "byline", "reporter", "authorname", "writer", "creator", "editor")
_SOURCES: Final = ("source", "sourcename", "origin", "from", "media", "medianame", "copyfrom", "publisher")
_IMAGES: Final = ("image", "cover", "coverimage", "leadimage", "thumbnail", "thumb", "pic", "poster")
_TEASER = re.compile(
    r"abstract|descri|summary|excerpt|teaser|digest|intro|dek$|standfirst|seo|meta|snippet|copyright|disclaim|"
    r"slogan|caption|comment|related|recommend|footer|legal|cookie|privacy|newsletter|promo|hot$|comments|replies"
)
_IDENTITY = re.compile(r"(?:id|slug|url|link|path|href|permalink|canonical|uri|key|code|no)$")
_CODE = re.compile(r"function\s?\(|=>|\{\s*[\w.#-]+\s*[:{]|\}\s*[.#@]|^(?:https?:|data:|/[\w/.-]+$)|;base64,")
_MARKUP = re.compile(
    r"<(?:p|br|div|span|h\d|ul|ol|li|a|img|figure|section|strong|em|b|i|blockquote|table)\b[^<>]{0,2000}>", re.I
)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_INLINE: Final = words(
    "text link a bold strong em italic span hyperlink mention inline b i u mark code textnode autolink"
)
_TEXTUAL: Final = ("text", "value", "html", "rendered", "content", "children", "body", "data", "paragraphs", "items",
                   "nodes", "blocks", "elements", "model", "attrs", "props")  # fmt: skip
_HEADING = re.compile(r"head|title|h[2-6]$")


@dataclass(frozen=True, slots=True)
class Story:
    """An article as the data of its page have it.

    Attributes:
        title, published, author, source, image: as stated, empty where they are not; the time in any form.
        html: its text as markup.
    """

    title: str
    html: str
    published: str = ""
    author: str = ""
    source: str = ""
    image: str = ""


@dataclass(slots=True)
class _Candidate:
    """An object that may be the story."""

    title: str
    body: object
    prose: int
    own: dict[str, object]
    is_own_title: bool
    is_listed: bool
    match: int = 0


def find_story(document: Document, carried: Carried) -> Story | None:
    """Find the story of a page in what it carries for its scripts.

    It is the object with the most prose of those that have the page's title or an identifier in its URL; never one of
    several alike that only announce, nor a summary. A page that says no more than the name of its site has the story
    of the one object that has a title and nearly all prose.

    Args:
        document: the parsed page.
        carried: see `values.read_values`.

    Returns:
        The story, None when there is none or it is in doubt.

    Cost: O(values), of which at most 20,000 objects are looked at.
    """
    titles, generic = _page_titles(document)
    tokens, path = _page_tokens(document.url)
    candidates: list[_Candidate] = []
    heads: list[dict[str, object]] = []
    walk = _Walk()
    for value in carried.values:
        for item, is_listed in walk.objects(value):
            title, is_own = _title_of(item)
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
        best = max(named, key=lambda one: (one.match > 0, one.is_own_title, one.prose, one.match))
        return _story(best.title, best.body, best.own)
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
    dated = [one for one in heads if _first(one, _TIMES)]
    if len(texts) == 1 and len(dated) == 1 and not candidates:
        return _story(_title_of(dated[0])[0], texts[0], dated[0])
    return None


class _Walk:
    """One walk over values: their objects, and how much prose each field has."""

    def __init__(self) -> None:
        self._left = _MOST_OBJECTS
        self._prose: dict[int, int] = {}
        self._kept: list[object] = []

    def objects(self, value: object) -> Iterator[tuple[dict[str, object], bool]]:
        """Yield the objects of a value, and whether each is one of several alike."""
        waiting: list[tuple[object, bool, int]] = [(value, False, 0)]
        while waiting and self._left > 0:
            item, is_listed, depth = waiting.pop()
            if depth > _MOST_DEPTH:
                continue
            self._left -= 1
            if isinstance(item, dict):
                yield item, is_listed
                for key, inner in item.items():
                    held = inner
                    if isinstance(inner, str) and len(inner) > _LEAST_QUOTED and inner[:1] in {"{", "["}:
                        held = item[key] = decode(inner) or inner
                    if isinstance(held, (dict, list)) and held:
                        waiting.append((held, False, depth + 1))
            elif isinstance(item, list):
                alike = sum(isinstance(one, dict) and bool(_title_of(one)[0]) for one in item[:20]) > 1
                waiting += [(one, alike, depth + 1) for one in item[:2000] if isinstance(one, (dict, list))]

    def body(self, item: dict[str, object]) -> tuple[str, int]:
        """Return the field with the most prose, and that."""
        best, most = "", 0
        for key, value in item.items():
            name = _plain(key)
            if name in _TITLES or _TEASER.search(name):
                continue
            prose = self.prose(value)
            if prose > most:
                best, most = key, prose
        return best, most

    def prose(self, value: object, depth: int = 0) -> int:
        """Return how many letters of prose a value has, other stories not counted."""
        if isinstance(value, str):
            return prose_of(value)
        if depth > _MOST_DEPTH or not isinstance(value, (dict, list)):
            return 0
        known = self._prose.get(id(value))
        if known is not None:
            return known
        total = 0
        if isinstance(value, dict):
            for key, one in value.items():
                if not _TEASER.search(_plain(key)):
                    total += self.prose(one, depth + 1)
        elif sum(isinstance(one, dict) and bool(_title_of(one)[0]) for one in value[:20]) <= 1:
            for one in value:
                total += self.prose(one, depth + 1)
        self._prose[id(value)] = total
        self._kept.append(value)
        return total


def prose_of(text: str) -> int:
    """Return the letters of a string if it is prose, else 0.

    A Chinese character counts for two and a half.
    """
    if len(text) < 15 or _CODE.search(text[:300]):
        return 0
    if "<" in text:
        text = _TAG.sub("", text)
    elif "&lt;" in text:
        text = _TAG.sub("", unescape(text))
    han = len(_HAN.findall(text))
    if not han and text.count(" ") * 20 < len(text):
        return 0
    return len(text.strip()) + 3 * han // 2


def _plain(key: object) -> str:
    """Return a key in lower case without what parts its words."""
    return str(key).replace("_", "").replace("-", "").lower()


def _text_of(value: object) -> str:
    """Return a stated value as text; of an object or list the names."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("rendered", "name", "title", "text", "url", "src") if value.get(key)), "")
    if isinstance(value, list):
        return "、".join(filter(None, (_text_of(one) for one in value[:8] if not isinstance(one, list))))
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = str(value)[:1000]
    return unescape(_TAG.sub("", text)).strip() if "<" in text or "&" in text else text.strip()


def _first(item: dict[str, object], names: tuple[str, ...]) -> str:
    """Return the first of some fields that says something."""
    plain = {_plain(key): value for key, value in item.items() if isinstance(key, str) and len(key) < 40}
    for name in names:
        found = _text_of(plain.get(name)) if name in plain else ""
        if found and found != "0":
            return found
    return ""


def _title_of(item: dict[str, object]) -> tuple[str, bool]:
    """Return the title of an object, and whether it is a field of its own."""
    found = _first(item, _TITLES)
    if _TITLE_CHARS[0] <= _weight(found) and len(found) <= _TITLE_CHARS[1]:
        return found, True
    for value in item.values():
        if isinstance(value, dict):
            found = _first(value, _TITLES[:-1])
            if _TITLE_CHARS[0] <= _weight(found) and len(found) <= _TITLE_CHARS[1]:
                return found, False
    return "", False


def _weight(text: str) -> int:
    """Return the letters of a text; a Chinese character counts for two and a half."""
    return len(text) + 3 * len(_HAN.findall(text)) // 2


def _page_titles(document: Document) -> tuple[list[str], bool]:
    """Return the titles of a page, squeezed, and if they may be its site's name."""
    stated = [document.title, *(one[0] for name in ("og:title", "twitter:title") if (one := document.metas.get(name)))]
    stated += [
        text
        for node, text in zip(document.blocks.nodes, document.blocks.texts, strict=True)
        if document.tags[node] == "h1"
    ]
    return [squeeze(one) for one in stated if one], all(_weight(one) <= _GENERIC for one in stated)


def _has_title(title: str, titles: list[str]) -> bool:
    """Tell whether a title is the page's."""
    own = squeeze(title)
    if _weight(own) < 2 * _LEAST_TITLE:
        return own in titles
    return any(own in one or (_weight(one) > _GENERIC and one in own) for one in titles)


def _page_tokens(url: str) -> tuple[set[str], str]:
    """Return what may be the identifier of a page in its URL, and its path."""
    parts = urlsplit(url)
    path = unquote(parts.path).rstrip("/")
    last = path.rpartition("/")[2].rpartition(".")[0] or path.rpartition("/")[2]
    tokens = {one for one in re.findall(r"\d{4,}", f"{path} {parts.query}") if not re.fullmatch(r"(?:19|20)\d\d", one)}
    tokens |= set(re.findall(r"[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f-]{27}", path.lower()))
    if len(last) > _LEAST_TITLE:
        tokens.add(last.lower())
    return tokens, path


def _has_identity(item: dict[str, object], tokens: set[str], path: str) -> bool:
    """Tell whether an object has an identifier that stands in the page's URL."""
    for key, value in item.items():
        if isinstance(value, bool) or not isinstance(value, (str, int)) or not _IDENTITY.search(_plain(key)):
            continue
        text = str(value)[:500].lower()
        if text in tokens or (
            len(path) > _LEAST_TITLE and "/" in text and urlsplit(text).path.rstrip("/") == path.lower()
        ):
            return True
    return False


def _is_cut(body: object) -> bool:
    """Tell whether a text ends like a teaser."""
    return isinstance(body, str) and _TAG.sub("", body).rstrip().endswith(("…", "...", "[&hellip;]", "&hellip;", "[…]"))


def _story(title: str, body: object, item: dict[str, object]) -> Story:
    """Make the story of an object."""
    image = _first(item, _IMAGES)
    return Story(
        title=title,
        html=render(body),
        published=_first(item, _TIMES)[:60],
        author=_first(item, _AUTHORS)[:200],
        source=_first(item, _SOURCES)[:100],
        image=image if image[:4] == "http" or image[:1] == "/" else "",
    )


def render(value: object, depth: int = 0) -> str:  # noqa: PLR0911 - one shape after the other
    """Return a text as markup: lines as paragraphs, rich text block by block."""
    if depth > _MOST_DEPTH:
        return ""
    if isinstance(value, str):
        if "&lt;p" in value or "&lt;br" in value or "&lt;div" in value:
            value = unescape(value)
        if _MARKUP.search(value):
            return value
        value = unescape(value) if "&" in value else value
        return "".join(f"<p>{escape(line, quote=False)}</p>" for line in value.splitlines() if line.strip())
    if isinstance(value, list):
        if value and all(isinstance(one, dict) and _is_inline(one) for one in value):
            line = "".join(map(_inline, value))
            return f"<p>{line}</p>" if line.strip() else ""
        return "".join(render(one, depth + 1) for one in value)
    if isinstance(value, dict):
        kind = str(value.get("type") or value.get("_type") or value.get("tag") or value.get("nodeType") or "").lower()
        for key in _TEXTUAL:
            inner = value.get(key)
            if isinstance(inner, (str, list, dict)) and inner:
                found = render(inner, depth + 1)
                if found:
                    is_line = found.startswith("<p>") and found.count("<p>") == 1
                    return f"<h2>{found[3:-4]}</h2>" if is_line and _HEADING.search(kind) else found
        return "".join(
            render(one, depth + 1)
            for key, one in value.items()
            if isinstance(one, (dict, list))
            or (isinstance(one, str) and prose_of(one) and not _TEASER.search(_plain(key)))
        )
    return ""


def _is_inline(item: dict[str, object]) -> bool:
    """Tell whether a node of rich text is a part of a line."""
    kind = item.get("type") or item.get("_type") or item.get("nodeType") or ""
    return str(kind).lower() in _INLINE or (not kind and isinstance(item.get("text"), str) and len(item) <= 4)


def _inline(item: dict[str, object], depth: int = 0) -> str:
    """Return the text of a part of a line."""
    for key in _TEXTUAL:
        inner = item.get(key)
        if isinstance(inner, str):
            return inner if "<" in inner else escape(inner, quote=False)
        if isinstance(inner, list) and depth < 9:
            return "".join(_inline(one, depth + 1) for one in inner if isinstance(one, dict))
    return ""
