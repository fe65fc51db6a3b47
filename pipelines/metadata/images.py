"""Images of an article with their captions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ..decode.text import clean, squeeze
from ..document.document import Document
from ..document.noise import is_info
from ..document.structured_data import Structured
from ..records import Image
from ..word_lists import WordLists

MAX_IMAGES: Final = 50
_MOST_LEVELS: Final = 4
_BESIDE = re.compile(
    r"(?:^|[\s_-])(?:avatars?|author(?:s|-?(?:info|box|bio|image|photo|name|avatar|card))?|byline|share(?:s|-?(?:box|bar|buttons?))?|"
    r"social(?:-?(?:share|links|media|icons))?|related(?:-?\w{4,8})?|newsletter|gravatar|profile-?(?:image|photo|pic)?|"
    r"comments?(?:-?list)?|qr-?code|sponsors?|advert(?:isement)?s?|promo)(?:$|[\s_-])"
)
_MAX_CAPTION_CHARS: Final = 300
_MAX_LINE_CHARS: Final = 150
_MAX_BARE_CHARS: Final = 24
_LEAST_PIXELS: Final = 60
_ENDS: Final = "。！？；：.!?;:…"
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BEFORE_TEXT, _BEHIND_TEXT = 6, 3
_CAPTION_NAME = re.compile(
    r"caption|(?:^|[\s_-])(?:pic|img|image|photo|tu)-?(?:text|desc|title|info|note|intro|credit|zhu)"
)
_LISTS: Final = WordLists(Path(__file__).with_name("words") / "titles.txt")
_any = _LISTS.pattern
_CAPTION_LINE = re.compile(
    rf"^[▲△↑▼↓◆■\s（(【]{{0,3}}(?:{_any('captions')}|[图圖][:：]|图[一二三四五六七八九十\d]{{1,3}}\b)|^[▲△↑▼]|"
    rf"{_any('behind captions')}[）)】。]{{0,2}}$",
    re.IGNORECASE,
)
_NO_CAPTION = re.compile(
    rf"[\w. ()-]{{0,80}}\.(?:jpe?g|png|gif|webp|bmp)$|{_any('no captions')}"
    rf"(?:$|[\s:]+(?:{_any('small words behind buttons')} |{_any('behind buttons')}).{{0,30}}$)|[\d\W_]+$",
    re.IGNORECASE,
)
_NO_PICTURE = re.compile(
    r"(?:^|[/_.-])(?:logo|icons?|avatars?|facebook|twitter|e?mail|print|rss|enlarge|ensmall|bullet|88x31|"
    r"share\w{0,8}(?=[^/]*$)|qr-?code|erweima|blank|spacer|pixel|loading|placeholder|arrows?|"
    r"btn|button|"
    r"transparent|grey|weixin|wechat|1x1|gravatar|headshots?|badges?|sprite|emoji|smil(?:ey|ies)|author-?(?:image|photo)s?|"
    r"profile-?(?:image|photo|pic)s?|userpic|jiathis\d?|default-?(?:image|og|social|share))(?:[/_.\d-]|$)",
    re.IGNORECASE,
)


_OPTIONS = re.compile(
    r"\d{2,4}x\d{0,4}|\d{0,4}x\d{2,4}|(?:[a-z]{1,2}[_=:][\w.:%=-]{1,30},?){1,12}|[whq]\d{2,4}|\d{2,4}-\d{2,4}-c|"
    r"thumbs?|thumbnails?|small|medium|large|full|original|smart|resize|crop|styles|public|\d{1,5}x\d{1,5}:\d{1,5}x\d{1,5}|"
    r"[\w-]{27}=",
    re.IGNORECASE,
)
"""A folder that says how a picture is served."""
_SIZE = re.compile(
    r"[-_@~](?:\d{2,4}x\d{0,4}|\d{0,4}x\d{2,4}|[wh]\d{2,4}|scaled|\dx|thumb(?:nail)?)(?=[-_@~.!]|$)|![\w.,@-]+$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,4}")
_SIZE_KEY = re.compile(
    r"(?:im|max|min|o)?-?(?:w|h|width|height|size|quality|q|fit|crop|resize|auto|format|fm|dpr|ssl|strip|s|v|ver|tp|t|ts|sig|"
    r"optimize|enable|disable|upscale|frame|webp|scale|zoom|rect|cs|blur|wx_\w+|x-oss-process|imageview2?\S*|imagemogr2\S*|"
    r"policy|\d\S*)",
    re.IGNORECASE,
)
_TYPE = re.compile(r"(?:\.(?:jpe?g|png|gif|webp|avif|bmp|tiff?))+$", re.IGNORECASE)
_LONG_NAME: Final = 16
"""Characters from which on a name is that of one picture, in whatever folder."""


def picture_key(url: str) -> str:
    """Return what the URLs of one picture in several sizes have in common.

    >>> picture_key("https://cdn.example.com/a/ferry-1024x768.jpg?w=300") == picture_key("http://example.com/a/ferry.jpg")
    True
    >>> picture_key("http://example.com/files/styles/wide_960/public/a.jpg") == picture_key("http://example.com/files/a.jpg")
    True
    >>> picture_key("http://example.com/a?u=http://%5Bx/a.jpg")
    'http://example.com/a?u=http://[x/a.jpg'
    >>> picture_key("http://example.com/image?id=1") == picture_key("http://example.com/image?id=2")
    False
    """
    url = unquote(url)
    inner = max(url.rfind("http://", 8), url.rfind("https://", 8))
    try:
        address = urlsplit(url[max(inner, 0) :].partition("#")[0])
    except ValueError:  # brackets in the place of a host
        return url
    *folders, name = [part for part in address.path.split("/") if part] or [""]
    if _NUMBER.fullmatch(name) and folders:
        name = folders.pop()
    if "styles" in folders and "public" in folders:  # Drupal: the style's name stands between them
        del folders[folders.index("styles") : folders.index("public")]
    folders = [part for part in folders if not _OPTIONS.fullmatch(part)]
    is_typed = _TYPE.search(name) is not None
    name = _SIZE.sub("", _TYPE.sub("", name.partition("!")[0])).lower()
    if len(name) >= _LONG_NAME:
        return name
    asked = (part for part in address.query.split("&") if not _SIZE_KEY.fullmatch(part.partition("=")[0]))
    query = "" if is_typed else "&".join(sorted(asked))
    return "/".join((*folders, name, query))


def find_images(document: Document, structured: Structured, kept: Sequence[int], title: str) -> tuple[Image, ...]:
    """Return the lead image that the metadata name, then those inside the text.

    At most `MAX_IMAGES`. The caption is the figure's, else the line under the picture if it reads like one, else the
    alternative text; never `title`.

    Cost: O(images of the page).
    """
    images: dict[str, Image] = {}
    for value in (*document.metas.get("og:image", ())[:1], *structured.images[:1]):
        url = document.resolve(value)
        if url and not _NO_PICTURE.search(value[-120:]):
            images.setdefault(picture_key(url), Image(url, "", lead=not images))
    if kept and document.images:
        low = document.blocks.nodes[kept[0]] - _BEFORE_TEXT
        high = document.ends[document.blocks.nodes[kept[-1]]] + _BEHIND_TEXT
        captions: set[str] = set()
        for at in range(bisect_left(document.images, low, key=lambda image: image[0]), len(document.images)):
            node, value, alternative = document.images[at]
            if node >= high or len(images) >= MAX_IMAGES:
                break
            if (
                value.startswith("data:")
                or _NO_PICTURE.search(value[-120:])
                or _is_small(document, node)
                or _is_beside(document, node)
            ):
                continue
            url = document.resolve(value)
            if url:
                key = picture_key(url)
                before = images.get(key)
                caption = _caption(document, node) or clean(alternative, _MAX_CAPTION_CHARS)
                # What stands at every picture, or on a button, says nothing of this one.
                if caption in captions or _NO_CAPTION.match(caption) or squeeze(caption) == squeeze(title):
                    caption = ""
                captions.add(caption)
                if before is None:
                    images[key] = Image(url, caption, lead=not images)
                elif caption and not before.caption:
                    images[key] = replace(before, caption=caption)
    return tuple(images.values())


def _is_beside(document: Document, node: int) -> bool:
    """Tell whether a picture stands in a box about the author, to share and so on."""
    for _ in range(_MOST_LEVELS):
        node = document.parents[node]
        if node < 0 or document.tags[node] in {"article", "main", "body"}:
            return False
        if document.names[node] and _names_box(document.names[node]):
            return True
    return False


@lru_cache(maxsize=4096)
def _names_box(name: str) -> bool:
    return _BESIDE.search(name) is not None


def _is_small(document: Document, node: int) -> bool:
    element = document.elements[node] if node < len(document.elements) else None
    for name in ("width", "height"):
        digits = (element.get(name) or "").removesuffix("px") if element is not None else ""
        if digits.isdecimal() and 0 < int(digits[:6]) < _LEAST_PIXELS:  # 0 where a script sets it
            return True
    return False


def _caption(document: Document, node: int) -> str:
    blocks, tags, names = document.blocks, document.tags, document.names
    figure = node
    for _ in range(4):
        figure = document.parents[figure]
        if figure < 0 or tags[figure] == "figure" or (names[figure] and _CAPTION_NAME.search(names[figure])):
            break
    following = bisect_right(blocks.starts, node)
    end = document.ends[figure] if figure >= 0 and tags[figure] in {"figure", "div"} else -1
    for index in range(following, min(following + 3, len(blocks))):
        text = blocks.texts[index]
        at, start = blocks.nodes[index], blocks.starts[index]
        if len(text) > _MAX_CAPTION_CHARS or tags[at] in _HEADINGS:
            break
        named = tags[at] == "figcaption" or _CAPTION_NAME.search(f"{names[at]} {names[start]}")
        if named or (start < end and tags[figure] == "figure"):
            return text
        if index <= following + 1 and len(text) <= _MAX_LINE_CHARS:
            if _CAPTION_LINE.search(text) or _is_centred(document, at):
                return text
            if index == following and len(text) <= _MAX_BARE_CHARS and text[-1] not in _ENDS and not is_info(text):
                return text
    return ""


def _is_centred(document: Document, node: int) -> bool:
    element = document.elements[node] if node < len(document.elements) else None
    if element is None:
        return False
    return (element.get("align") or "").lower() in {"center", "middle"} or "center" in (
        element.get("style") or ""
    ).lower()
