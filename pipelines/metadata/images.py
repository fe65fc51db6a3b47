"""Images of an article with their captions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..decode.text import clean, squeeze
from ..document.document import Document
from ..document.noise import is_info
from ..document.structured_data import Structured
from ..records import Image
from ..word_lists import WordLists

MAX_IMAGES: Final = 50
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
    r"share\w{0,8}|qr-?code|erweima|blank|spacer|pixel|loading|placeholder|arrow|"
    r"btn|button|"
    r"transparent|grey|weixin|wechat|1x1)(?:[/_.\d-]|$)",
    re.IGNORECASE,
)


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
            images.setdefault(url, Image(url, "", lead=not images))
    if kept and document.images:
        low = document.blocks.nodes[kept[0]] - _BEFORE_TEXT
        high = document.ends[document.blocks.nodes[kept[-1]]] + _BEHIND_TEXT
        captions: set[str] = set()
        for at in range(bisect_left(document.images, low, key=lambda image: image[0]), len(document.images)):
            node, value, alternative = document.images[at]
            if node >= high or len(images) >= MAX_IMAGES:
                break
            if value.startswith("data:") or _NO_PICTURE.search(value[-120:]) or _is_small(document, node):
                continue
            url = document.resolve(value)
            if url:
                before = images.get(url)
                caption = _caption(document, node) or clean(alternative, _MAX_CAPTION_CHARS)
                # What stands at every picture, or on a button, says nothing of this one.
                if caption in captions or _NO_CAPTION.match(caption) or squeeze(caption) == squeeze(title):
                    caption = ""
                captions.add(caption)
                images[url] = Image(
                    url, caption or (before.caption if before else ""), lead=before.lead if before else not images
                )
    return tuple(images.values())


def _is_small(document: Document, node: int) -> bool:
    element = document.elements[node] if node < len(document.elements) else None
    for name in ("width", "height"):
        digits = (element.get(name) or "").removesuffix("px") if element is not None else ""
        if digits.isdecimal() and int(digits[:6]) < _LEAST_PIXELS:
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
