"""Fields of objects in data: prose, titles, and parts outside of the text."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from ..decode.text import shorten
from ..document.ruby import drop_readings

_TITLE_CHARS: Final = (6, 400)
TITLES: Final = (
    "title",
    "headline",
    "headlines",
    "subject",
    "newstitle",
    "articletitle",
    "maintitle",
    "posttitle",
    "name",
)
_TEASER = re.compile(
    r"abstract|descri|summary|excerpt|teaser|digest|intro|dek$|standfirst|seo|meta|snippet|copyright|disclaim|"
    r"slogan|caption|comment|related|recommend|footer|legal|cookie|privacy|newsletter|promo|hot$|replies|"
    r"author|byline|contributor|tags?$|keyword|categor|image|photo|picture|gallery|thumb|media$|video|advert|"
    r"^ads?$|nav$|navigation|menu|breadcrumb|translation|i18n|locale"
)
_LEADS = re.compile(r"(?:slug|url|link|path|href|permalink)$")
_CODE = re.compile(
    r"function\s?\(|=>|\{\s*[\w.#-]+\s*[:{]|\}\s*[.#@]|^(?:https?:|data:|/[\w/.-]+$)|;base64,|^\s*(?:\{|\[\s*[\"'{\[\d-])"
)
_DEEPEST: Final = 4
TAG = re.compile(r"<[^<>]{0,2000}>")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"[.!?…。！？；:：][\s\"'”’)」』]*(?:\s|$)|[。！？；]")
_LEAST_SENTENCE: Final = 40
_LEAST_LINE: Final = 160
"""Least letters of prose without the end of a sentence."""


def prose_of(text: str) -> int:
    """Return the letters of a string if it is prose (see `letters_of`), else 0."""
    if len(text) < 15:
        return 0
    if "<" in text:
        text = TAG.sub("", text)
    elif "&lt;" in text:
        text = TAG.sub("", unescape(text))
    if is_code(text):
        return 0
    han = len(_HAN.findall(text))
    if not han and text.count(" ") * 20 < len(text):
        return 0
    letters = len(text.strip()) + 3 * han // 2
    return letters if letters >= (_LEAST_SENTENCE if _SENTENCE.search(text) else _LEAST_LINE) else 0


def is_code(text: str) -> bool:
    return _CODE.search(text[:300]) is not None


def is_card(item: object) -> bool:
    """Tell whether an object announces another page: a title and where it leads."""
    return (
        isinstance(item, dict)
        and letters_of(first_stated(item, TITLES)) >= _TITLE_CHARS[0]
        and any(value and _LEADS.search(plain_name(key)) for key, value in item.items())
    )


def is_part(key: object) -> bool:
    return not _TEASER.search(plain_name(key))


def plain_name(key: object) -> str:
    return str(key).replace("_", "").replace("-", "").lower()


def _text_of(value: object, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return ""
    if isinstance(value, dict):
        value = next(
            (value[key] for key in ("rendered", "basic", "name", "title", "text", "url", "src") if value.get(key)), ""
        )
    if isinstance(value, list):
        return "、".join(filter(None, (_text_of(one, depth + 1) for one in value[:8] if not isinstance(one, list))))
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    text = shorten(str(value), 1000)
    return unescape(TAG.sub("", drop_readings(text))).strip() if "<" in text or "&" in text else text.strip()


def first_stated(item: dict[str, object], names: tuple[str, ...]) -> str:
    plain = {plain_name(key): value for key, value in item.items() if isinstance(key, str) and len(key) < 40}
    for name in names:
        text = _text_of(plain.get(name)) if name in plain else ""
        if text and text != "0":
            return text
    return ""


def title_of(item: dict[str, object]) -> tuple[str, bool]:
    """Return the title of an object, and whether it is a field of its own.

    Of several lines it is the first: a short message stands whole where others have a title.
    """
    title = _line_of(item, TITLES)
    if _TITLE_CHARS[0] <= letters_of(title) and len(title) <= _TITLE_CHARS[1]:
        return title, True
    for value in item.values():
        if isinstance(value, dict):
            title = _line_of(value, TITLES[:-1])
            if _TITLE_CHARS[0] <= letters_of(title) and len(title) <= _TITLE_CHARS[1]:
                return title, False
    return "", False


def _line_of(item: dict[str, object], names: tuple[str, ...]) -> str:
    return first_stated(item, names).strip().partition("\n")[0]


def letters_of(text: str) -> int:
    """Return the letters of a text; a Chinese character counts for two and a half."""
    return len(text) + 3 * len(_HAN.findall(text)) // 2
