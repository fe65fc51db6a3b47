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
from ..document.noise import is_caption_name, is_info
from ..document.structured_data import Structured
from ..records import Image
from ..urls import host_key, site_key
from ..word_lists import WordLists
from .title import Headline

MAX_IMAGES: Final = 50
_MOST_LEVELS: Final = 4
_BESIDE = re.compile(
    r"(?:^|[\s_-])(?:avatars?|author(?:s|-?(?:info|box|bio|image|photo|name|avatar|card))?|byline|share(?:s|-?(?:box|bar|buttons?))?|"
    r"social(?:-?(?:share|links|media|icons))?|related(?:-?\w{4,8})?|newsletter|gravatar|profile-?(?:image|photo|pic)?|"
    r"comments?(?:-?list)?|qr-?code|sponsors?|advert(?:isement)?s?|promo|"
    r"recommend\w{0,6}|read-?(?:more|also|next)|more-?(?:stories|news)|affiliates?|product-?(?:box|card)s?)"
    r"(?:$|[\s_-])|(?:^|[\s-])(?:teaser|recirc)|(?:^|\s)video"
)
_MAX_CAPTION_CHARS: Final = 300
_MAX_FIGURE_CHARS: Final = 600
_MAX_LINE_CHARS: Final = 150
_MAX_BARE_CHARS: Final = 24
_LEAST_PIXELS: Final = 60
_LEAST_TITLE_BYTES: Final = 20
_LEAST_NAME_CHARS: Final = 12
_BEGINNING: Final = 5
_SERIAL = re.compile(r"\d{5,40}")
_PART = re.compile(r"\d{1,40}|[^\W\d_]{3,40}")
_NAMING = re.compile(r"\d{5,40}|[^\W\d_]{3,40}")
_ENCLOSING: Final = frozenset({"article", "main", "body"})
_WRAPPERS: Final = frozenset({"a", "noscript", "picture", "source", "span"})
_ENDS: Final = "。！？；：.!?;:…"
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BEFORE_TEXT, _BEHIND_TEXT = 6, 3
_WITH_WIDTHS = re.compile(r"(\S{1,2000})\s{1,9}\d{1,5}[wx](?:,|$)")
"""Several URLs with their widths, as `srcset` has them."""
_LISTS: Final = WordLists(Path(__file__).with_name("words") / "titles.txt")
_any = _LISTS.pattern
_CAPTION_LINE = re.compile(
    rf"^[▲△↑▼↓◆■\s（(【]{{0,3}}(?:{_any('captions')}|[图圖][:：]|图[一二三四五六七八九十\d]{{1,3}}\b)|^[▲△↑▼]|"
    rf"{_any('behind captions')}[）)】。]{{0,2}}$",
    re.IGNORECASE,
)
_NO_CAPTION = re.compile(
    rf"[\w. ()-]{{0,80}}\.(?:jpe?g|png|gif|webp|bmp)$|[a-z\d]+(?:[-_][a-z\d]+){{2,12}}$|{_any('no captions')}"
    rf"(?:$|[\s:]+(?:{_any('small words behind buttons')} |{_any('behind buttons')}).{{0,30}}$)|[\d\W_]+$",
    re.IGNORECASE,
)
_NO_PICTURE = re.compile(
    r"(?:^|[/_.-])(?:logos?\d{0,3}|icons?|favicons?|avatars?|enlarge|ensmall|88x31|"
    r"share\w{0,8}(?=[^/]*$)|qr-?code|erweima|blank|spacer|placeholder|loading|arrows?|"
    r"btn|button|1x1|gravatar|headshots?|badges?|sprite|emoji|smil(?:ey|ies)|author-?(?:image|photo)s?|"
    r"profile-?(?:image|photo|pic)s?|userpic|jiathis\d?|default-?(?:image|og|social|share)|"
    # these tell what a picture shows where many words do, and it is a photo
    r"(?:facebook|twitter|e?mail|envelope|print|rss|bullet|pixel|transparent|clear|grey|weixin|wechat)"
    r"(?![^?#]*/(?:[^/?#_.-]{1,40}[_.-]){3,20}(?:jpe?g|webp)(?:[?#]|$))"
    r"(?![^/?#]*(?:[_.-][^/?#_.-]{1,40}){2,20}\.(?:jpe?g|webp)(?:[?#]|$)))"
    r"(?:[/_.\d-]|$)|/banners?/",
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


def find_images(
    document: Document, structured: Structured, kept: Sequence[int], title: Headline, authors: Sequence[str] = ()
) -> tuple[Image, ...]:
    """Return the lead image that the metadata name, then those inside the text.

    At most `MAX_IMAGES`; a captioned figure between headline and text counts as inside. The caption is the figure's,
    else the line under the picture if it reads like one, else the alternative text; never the title. Pictures of other
    stories and of `authors` are left out.

    Cost: O(images + links of the page).
    """
    images = _stated(document, structured)
    if not kept or not document.images:
        return tuple(images.values())
    blocks = document.blocks
    low = blocks.nodes[kept[0]] - _BEFORE_TEXT
    high = document.ends[blocks.nodes[kept[-1]]] + _BEHIND_TEXT
    headline = blocks.nodes[title.block] if 0 <= title.block < kept[0] else low
    teasers = _Teasers(document)
    lead = next(iter(images), "")
    beginnings = {_name(key)[:_BEGINNING] for key in images}
    is_first = True
    captions: set[str] = set()
    portraits = {squeeze(name) for name in authors}
    for node, value, alternative in document.images:
        if node >= high or len(images) >= MAX_IMAGES:
            break
        if value.startswith("data:"):
            continue
        # most pictures of menus need not be looked at
        if node < low and node < headline and not any(map(value.lower().__contains__, beginnings)):
            continue
        widths = _WITH_WIDTHS.match(value)
        url = document.resolve(widths[1] if widths else value)
        if not url:
            continue
        key = picture_key(url)
        if key not in images and (
            (node < low and not (node > headline and _caption_of_figure(document, _figure(document, node))))
            or _NO_PICTURE.search(f"/{value[-120:]}")
            or _is_small(document, node)
            or _is_beside(document, node)
            or (squeeze(alternative) in portraits and alternative)
            or teasers.have(node)
        ):
            continue
        if key not in images and lead and is_first and _is_crop(key, lead):
            key = lead
        is_first = False
        before = images.get(key)
        if before and before.caption:
            continue
        caption = _caption(document, node, is_above=node < low) or clean(alternative, _MAX_CAPTION_CHARS)
        # What stands at every picture, or on a button, says nothing of this one.
        if caption in captions or _NO_CAPTION.match(caption) or squeeze(caption) == squeeze(title.text):
            caption = ""
        captions.add(caption)
        images[key] = replace(before, caption=caption) if before else Image(url, caption, lead=not images)
    return tuple(images.values())


def _stated(document: Document, structured: Structured) -> dict[str, Image]:
    images: dict[str, Image] = {}
    for value in (*document.metas.get("og:image", ())[:1], *structured.images[:1]):
        url = document.resolve(value)
        if url and not _NO_PICTURE.search(f"/{value[-120:]}"):
            key = picture_key(url)
            if not any(_is_crop(key, other) for other in images):
                images.setdefault(key, Image(url, "", lead=not images))
    return images


def _name(key: str) -> str:
    return key.split("/")[-2] if "/" in key else key


def _is_crop(key: str, other: str) -> bool:
    """Tell whether two pictures have the same name but for what tells their sizes.

    A long number, or many words, make a name; all long numbers and words of the one have to stand in the other.
    """
    one, two = _name(key), _name(other)
    if one == two:
        return _SERIAL.search(one) is not None
    less, more = (set(_PART.findall(name)) for name in (one, two))
    if any(map(_NAMING.fullmatch, less - more)):
        less, more = more, less
    common = less & more
    if any(map(_NAMING.fullmatch, less - more)):
        return False
    if not any(map(_SERIAL.fullmatch, common)) and (
        any(map(_NAMING.fullmatch, more - less)) or sum(map(len, common)) < _LEAST_NAME_CHARS
    ):
        return False
    # the second and the third of a series
    rests = less - more, more - less
    return not all(rest and sum(map(len, rest)) < len("1000") for rest in rests)


class _Teasers:
    """Links to other stories of the site, with their headlines."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._titled: set[str] | None = None

    def have(self, node: int) -> bool:
        """Tell whether the link around a picture is another story's."""
        document = self._document
        for _ in range(_MOST_LEVELS):
            node = document.parents[node]
            if node < 0 or document.tags[node] == "figure":
                return False
            if document.tags[node] == "a":
                break
        else:
            return False
        href = document.elements[node].get("href") or "" if node < len(document.elements) else ""
        if self._titled is None:
            self._titled = {
                href for _, href, _, anchor, _ in document.links if len(anchor.encode()) >= _LEAST_TITLE_BYTES
            }
        if href not in self._titled or _TYPE.search(href):
            return False
        url = document.resolve(href)
        return url is not None and url != document.url and site_key(host_key(url)) == site_key(host_key(document.url))


def _figure(document: Document, node: int) -> int:
    """Return the figure or captioned box around a picture; -1 for none."""
    levels = 0
    while levels < _MOST_LEVELS:
        node = document.parents[node]
        if node < 0 or document.tags[node] in _ENCLOSING:
            return -1
        if document.tags[node] == "figure" or (document.names[node] and is_caption_name(document.names[node])):
            return node
        levels += document.tags[node] not in _WRAPPERS
    return -1


def _is_beside(document: Document, node: int) -> bool:
    """Tell whether a picture stands in a box about the author, to share and so on."""
    levels = 0
    while levels < _MOST_LEVELS:
        node = document.parents[node]
        if node < 0 or document.tags[node] in _ENCLOSING:
            return False
        if document.names[node] and _names_box(document.names[node]):
            return True
        levels += document.tags[node] not in _WRAPPERS
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


def _caption(document: Document, node: int, *, is_above: bool) -> str:
    blocks, tags, names = document.blocks, document.tags, document.names
    figure = _figure(document, node)
    following = bisect_right(blocks.starts, node)
    end = document.ends[figure] if figure >= 0 and tags[figure] in {"figure", "div"} else -1
    whole = _caption_of_figure(document, figure)
    if 0 < len(whole) <= _MAX_FIGURE_CHARS:
        return whole
    for index in range(following, min(following + 3, len(blocks))):
        text = blocks.texts[index]
        at, start = blocks.nodes[index], blocks.starts[index]
        if len(text) > _MAX_CAPTION_CHARS or tags[at] in _HEADINGS:
            break
        named = tags[at] == "figcaption" or is_caption_name(f"{names[at]} {names[start]}")
        if named or (start < end and tags[figure] == "figure"):
            return text
        if not is_above and index <= following + 1 and len(text) <= _MAX_LINE_CHARS:
            if _CAPTION_LINE.search(text) or _is_centred(document, at):
                return text
            if (
                index == following
                and len(text) <= _MAX_BARE_CHARS
                and text[-1] not in _ENDS
                and not blocks.link_chars[index]
                and not is_info(text)
            ):
                return text
    return ""


def _caption_of_figure(document: Document, figure: int) -> str:
    """Return the text of a figure's caption, else of the figure."""
    blocks, tags = document.blocks, document.tags
    if figure < 0 or tags[figure] != "figure":
        return ""
    end = document.ends[figure]
    inner = next((node for node in range(figure + 1, end) if tags[node] == "figcaption"), -1)
    low, high = (inner, document.ends[inner]) if inner >= 0 else (figure, end)
    inside = range(bisect_left(blocks.starts, low), bisect_left(blocks.starts, high))
    texts = (
        blocks.texts[index]
        for index in inside
        if inner >= 0 or (tags[blocks.nodes[index]] not in _HEADINGS and blocks.link_chars[index] < blocks.chars[index])
    )
    return " ".join(dict.fromkeys(texts))


def _is_centred(document: Document, node: int) -> bool:
    element = document.elements[node] if node < len(document.elements) else None
    if element is None:
        return False
    return (element.get("align") or "").lower() in {"center", "middle"} or "center" in (
        element.get("style") or ""
    ).lower()
