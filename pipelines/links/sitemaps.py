"""Sitemaps: lists of pages or of more sitemaps, as XML or text, often packed."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lxml import etree

from ..dates.timezones import Habits, find_habits
from ..document.limits import DEFAULT, PageLimits
from ..records import BlockKind, Links
from .feeds import (
    Entry,
    clean_title,
    decode_head,
    find_first_element,
    looks_like_feed,
    make_links,
    open_xml,
    parse_feed,
    parse_time,
    resolve,
    to_utf8,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


MAX_RATIO = 250
"""Real sitemaps shrink to a tenth or a fiftieth; bombs to a thousandth."""

MAX_ELEMENTS = 2_000_000
MAX_ENTRY_ELEMENTS = 20_000
"""An entry may hold a thousand images with their captions and licences."""

_GZIP = b"\x1f\x8b"
_FREE_BYTES = 1 << 20
_ROOTS = ("urlset", "sitemapindex")
_PEEK_BYTES = 16384
_NO_LINKS = Links()


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Entries of a sitemap: pages, and canonical URLs of the sitemaps of an index.

    `is_cut`: it named more, or was too large to be unpacked.
    """

    sitemaps: tuple[str, ...] = ()
    links: Links = _NO_LINKS
    is_cut: bool = False


def looks_like_sitemap(body: bytes) -> bool:
    """Tell whether a body is a sitemap: XML, a list of URLs, or one of them gzipped.

    Feeds are not, although `parse_sitemap` reads them.
    Cost: constant, the first 8 KB are looked at.
    """
    if body.startswith(_GZIP):
        try:
            body = zlib.decompressobj(31).decompress(body[:_PEEK_BYTES], _PEEK_BYTES)
        except zlib.error:
            return False
    head = decode_head(body)
    return find_first_element(head) in _ROOTS or _is_url(head.lstrip().partition("\n")[0].strip())


def parse_sitemap(body: bytes, url: str, bounds: PageLimits = DEFAULT) -> Sitemap:
    """Parse a sitemap; its document type, and so every entity, is ignored.

    Gzip is recognised by its first bytes, whatever the URL or the headers say. Each URL comes once. Empty for anything
    else, such as an HTML page, and for a packed body that grows beyond `bounds` or `MAX_RATIO`.

    Cost: linear; memory is bounded by the unpacked size, as elements are dropped once read.
    Source: the sitemaps.org protocol 0.9, with the news extension.
    Differs: relative URLs and broken XML are accepted.
    """
    unpacked = _unpack(body, bounds.file_bytes)
    if unpacked is None:
        return Sitemap(is_cut=True)
    body = unpacked
    head = decode_head(body)
    root = find_first_element(head)
    if root in _ROOTS:
        return _parse_xml(body, url, bounds.file_entries)
    if looks_like_feed(body):
        return Sitemap(links=parse_feed(body, url))
    if root or "<" in head[:1000]:
        return Sitemap()
    rows = list(islice(_read_lines(body, url), bounds.file_entries + 1))
    links = make_links(rows[: bounds.file_entries], BlockKind.SITEMAP)
    return Sitemap(links=links, is_cut=len(rows) > bounds.file_entries)


def _unpack(body: bytes, most_bytes: int) -> bytes | None:
    """Unpack gzip, twice if need be; empty when broken, None when too large."""
    limit = min(most_bytes, max(_FREE_BYTES, MAX_RATIO * len(body)))
    for _ in range(2):
        if not body.startswith(_GZIP):
            break
        try:
            # One byte over the limit tells a body that is too large from one that just fits.
            body = zlib.decompressobj(31).decompress(body, limit + 1)
        except zlib.error:
            return b""
    return body if len(body) <= limit else None


def _parse_xml(body: bytes, url: str, most: int) -> Sitemap:
    body, codec = to_utf8(body)
    habits = find_habits(urlsplit(url).hostname or "", "")
    rows: list[Entry] = []
    children: dict[str, None] = {}
    events = etree.iterparse(
        open_xml(body),
        events=("end",),
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
    )
    entries, elements, last = 0, 0, 0
    is_cut = False
    try:
        for _, element in events:
            elements += 1
            name = _local(element)
            if name in ("url", "sitemap"):
                named = _read_entries(element, url, codec, habits)
                if name == "sitemap":
                    children.update(dict.fromkeys(entry.url for entry in named))
                else:
                    rows += named
                _drop(element)
                entries, last = entries + 1, elements
            # What is neither is kept in memory until the next entry.
            if entries > most or elements >= MAX_ELEMENTS or elements - last >= MAX_ENTRY_ELEMENTS:
                is_cut = True
                break
    except etree.XMLSyntaxError:
        # Broken beyond repair from here on: what came before counts.
        pass
    return Sitemap(tuple(islice(children, most)), make_links(rows[:most], BlockKind.SITEMAP), is_cut)


def _read_entries(element: etree._Element, url: str, codec: str, habits: Habits) -> list[Entry]:
    targets: list[str] = []
    title, changed, published = "", "", ""
    for child in element:
        name = _local(child)
        if name == "loc":
            if target := resolve(child.text or "", url, codec):
                targets.append(target)
        elif name == "lastmod":
            changed = child.text or ""
        elif name == "news":
            title = clean_title(child.findtext("{*}title"))
            published = child.findtext("{*}publication_date") or ""
    last = parse_time(changed, habits)
    date = parse_time(published, habits) or last
    return [Entry(target, title, date, last) for target in targets]


def _local(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _drop(element: etree._Element) -> None:
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]


def _read_lines(body: bytes, url: str) -> Iterator[Entry]:
    body, codec = to_utf8(body)
    for line in BytesIO(body):
        text = line.strip().decode("utf-8", "replace")
        target = resolve(text, url, codec) if _is_url(text) else None
        if target:
            yield Entry(target)


def _is_url(text: str) -> bool:
    return text[:8].lower().startswith(("http://", "https://", "www.")) and not any(mark in text for mark in " <>\t")
