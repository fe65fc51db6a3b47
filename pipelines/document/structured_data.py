"""Structured data of a page about its article: JSON-LD and meta elements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Final

from ..decode.text import shorten, words
from .document import Document
from .ruby import drop_readings

_ARTICLE: Final = words(
    "article newsarticle blogposting reportagenewsarticle analysisnewsarticle opinionnewsarticle "
    "liveblogposting report scholarlyarticle techarticle backgroundnewsarticle reviewnewsarticle "
    "askpublicnewsarticle discussionforumposting socialmediaposting advertisercontentarticle "
    "satiricalarticle review recipe"
)
_MAX_OBJECTS: Final = 400
_MAX_NUMBER: Final = 1e18
_MARKUP = re.compile(r"<[^<>]{1,300}>")
_LOOSE = re.compile(r'"(?:[^"\\]|\\.)*+"?|//[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?|,(?=\s{0,100}[}\]])', re.DOTALL)
"""Strings (kept as they are), comments, and trailing commas; no alternative fails late."""
_WRAPPED = re.compile(r"^/\*\s?<!\[CDATA\[\s?\*/|/\*\s?\]\]>\s?\*/$")
_SALVAGED = re.compile(r"""["']datePublished["']\s{0,4}:\s{0,4}["']([^"'<>{}]{4,60})["']""")
"""Found in a block that is no JSON at all."""
_TYPE = re.compile(r'"@type"\s{0,3}:\s{0,3}\[?\s{0,3}"(?:https?://schema\.org/)?(\w{2,40})"')
_MIN_HEADLINE: Final = 5
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass(frozen=True, slots=True)
class Structured:
    """The article object of a page's JSON-LD; empty fields where it says nothing.

    `published` may also come from a broken block; `page_published` is when the page as such came to be.
    """

    found: bool = False
    headline: str = ""
    published: str = ""
    page_published: str = ""
    modified: str = ""
    authors: tuple[str, ...] = ()
    publisher: str = ""
    description: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    body: str = ""


def read(document: Document) -> Structured:
    """Read the article object of the page's JSON-LD: its own, else the first.

    Cost: O(characters of JSON-LD); at most 400 objects are looked at.
    """
    return _first(tuple(document.json_ld), document.url, document.title)


@lru_cache(maxsize=2)
def _first(texts: tuple[str, ...], url: str, title: str) -> Structured:
    articles: list[dict[str, object]] = []
    published = page_published = modified = ""
    for text in texts:
        value = _load(text)
        if value is None:
            salvaged = _SALVAGED.search(text)
            published = published or (salvaged[1] if salvaged else "")
        for item in _objects(value):
            types = _types(item)
            modified = modified or _text(item.get("dateModified"))
            if types & _ARTICLE:
                articles.append(item)
            elif not types:
                page_published = page_published or _text(item.get("pubDate"))  # as a Chinese search engine asks for it
            elif "webpage" in types:
                page_published = page_published or _text(item.get("datePublished"))
    if not articles:
        return Structured(published=published, page_published=page_published, modified=modified)
    item = articles[0]
    if len(articles) > 1:
        item = next((one for one in articles if _is_of(one, url, title)), item)
    stated = _text(item.get("datePublished")) or _text(item.get("dateCreated")) or _text(item.get("pubDate"))
    if "liveblogposting" in _types(item):  # many state when it was last changed as when it was published
        stated = min(filter(None, (_text(item.get("coverageStartTime")), stated)), default="")
    return Structured(
        found=True,
        headline=_text(item.get("headline")) or _text(item.get("name")),
        published=stated or published,
        page_published=page_published,
        modified=_text(item.get("dateModified")) or modified,
        authors=tuple(_names(item.get("author"))),
        publisher=next(iter(_names(item.get("publisher"))), ""),
        description=_text(item.get("description")),
        section=_text(item.get("articleSection")),
        keywords=tuple(_names(item.get("keywords"))),
        images=tuple(_image_urls(item.get("image"))),
        body=_body(item),
    )


def _is_of(item: dict[str, object], url: str, title: str) -> bool:
    page = item.get("mainEntityOfPage")
    named = [page.get("@id") if isinstance(page, dict) else page, item.get("url"), item.get("@id")]
    if any(isinstance(name, str) and name.partition("#")[0] == url for name in named):
        return True
    headline = _text(item.get("headline"))
    return len(headline) > _MIN_HEADLINE and headline in title


def _body(item: dict[str, object]) -> str:
    updates = item.get("liveBlogUpdate")
    entries = [item, *(one for one in updates if isinstance(one, dict))] if isinstance(updates, list) else [item]
    bodies = (one.get("articleBody") or one.get("reviewBody") or one.get("text") for one in entries)
    value = "\n".join(body for body in bodies if isinstance(body, str))
    return _MARKUP.sub(" ", drop_readings(unescape(shorten(value, 200_000)))) if value else ""


def find_types(document: Document) -> set[str]:
    return {name.lower() for text in document.json_ld for name in _TYPE.findall(text)}


def find_declared(document: Document) -> str:
    """Return the language that a page declares, with its region if it has one."""
    return document.language or find_meta(document, "og:locale", "language", "content-language")


def find_meta(document: Document, *names: str) -> str:
    metas = document.metas
    for name in names:
        if name in metas:
            for value in metas[name]:
                if value.strip():
                    return value
    return ""


def _load(text: str) -> object:
    text = text.strip()
    if text.startswith("/*") or text.endswith("*/"):
        text = _WRAPPED.sub("", text)
    text = (
        text.removeprefix("<!--")
        .removesuffix("-->")
        .removeprefix("//<![CDATA[")
        .removesuffix("//]]>")
        .strip()
        .rstrip(";")
    )
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        bare = _LOOSE.sub(_keep_string, _LOOSE.sub(_keep_string, _CONTROLS.sub(" ", text)))
        return json.JSONDecoder(strict=False).raw_decode(bare.lstrip())[0]
    except (ValueError, RecursionError):
        return None


def _keep_string(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else " "


def _objects(value: object) -> Iterator[dict[str, object]]:
    queue: list[object] = [value]
    for _ in range(_MAX_OBJECTS):
        if not queue:
            return
        item = queue.pop(0)
        if isinstance(item, list):
            queue.extend(item[:100])
        elif isinstance(item, dict):
            yield item
            queue.extend(
                item[key]
                for key in ("@graph", "mainEntity", "mainEntityOfPage", "hasPart")
                if isinstance(item.get(key), (dict, list))
            )


def _types(item: dict[str, object]) -> set[str]:
    kind = item.get("@type")
    kinds = kind if isinstance(kind, list) else [kind]
    return {name.rpartition("/")[2].lower() for name in kinds if isinstance(name, str)}


def _text(value: object) -> str:
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = value.get("name") or value.get("@value") or ""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value) if abs(value) < _MAX_NUMBER else ""  # neither NaN nor a thousand digits
    if not isinstance(value, str):
        return ""
    text = shorten(value, 5000)
    return unescape(text) if "&" in text else text


def _names(value: object) -> Iterator[str]:
    for item in value[:50] if isinstance(value, list) else [value]:
        if isinstance(item, dict) and isinstance(item.get("name"), list):
            yield from (name[:300] for name in item["name"][:20] if isinstance(name, str))
        else:
            text = _text(item)
            if text:
                yield text[:1000]


def _image_urls(value: object) -> Iterator[str]:
    for item in value[:20] if isinstance(value, list) else [value]:
        url = item.get("url") or item.get("contentUrl") if isinstance(item, dict) else item
        if isinstance(url, str) and url:
            yield url[:2000]
