"""Queries of URLs in the character set of the page that names them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote_from_bytes

from ..urls import trim
from .charset import find_codec, write

_NAMED = re.compile(r"""(?:charset|encoding)\s{0,8}=\s{0,8}["']?\s{0,8}([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_BEYOND_ASCII = re.compile(r"[^\0-\x7f]+")
_HEAD_CHARS: Final = 100_000
_SAFE: Final = "".join(map(chr, range(0x21, 0x7F))).translate(dict.fromkeys(map(ord, "%&#;")))
"""Second bytes of characters that browsers leave as they are; `&#9731;` is not one."""


def find_query_codec(text: str, encoding: str, content_type: str = "") -> str:
    """Return the codec in which browsers write the queries of a page's links.

    It is the page's own; UTF-8 for UTF-16 and for sets that browsers refuse; for a page in ASCII the declared one.
    """
    if encoding == "gb18030" or (encoding == "utf-8" and text.isascii()):
        named = _NAMED.search(content_type) or _NAMED.search(text, 0, _HEAD_CHARS)
        name = named[1].lower() if named else ""
        encoding = find_codec(name) or "utf-8" if encoding == "utf-8" else encoding
        return "gbk" if encoding == "gb18030" and "18030" not in name else encoding
    return "utf-8" if encoding in {"utf-16", "iso2022_kr"} else encoding


def escape_query(url: str, codec: str) -> str:
    """Escape all but ASCII in the query of a URL, in the character set of its page.

    Path and host are always written in UTF-8, as is a URL from outside of any page.

    Source: WHATWG URL Standard, section 4.4, query state.
    Differs: of ISO-2022-JP `%`, `&` and `;` within a character are escaped, too.

    >>> escape_query("/港口?tag=港口&x=☃#港", "gbk")
    '/港口?tag=%B8%DB%BF%DA&x=%26%239731%3B'
    """
    start, mark, query = trim(url).partition("#")[0].partition("?")
    if codec == "utf-8" or query.isascii():
        return url
    return (
        start + mark + _BEYOND_ASCII.sub(lambda characters: quote_from_bytes(write(characters[0], codec), _SAFE), query)
    )
