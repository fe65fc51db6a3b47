"""RSS and Atom feeds: URLs, titles and dates of their entries."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from datetime import UTC, datetime
from html import escape, unescape
from html.entities import html5
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import urlsplit

from lxml import etree

from ..dates.parse import MONTHS, read_stamp
from ..dates.timezones import Habits, find_habits
from ..decode.charset import detect_utf_16
from ..decode.encoding import decode
from ..decode.query import escape_query, find_query_codec
from ..decode.text import clean, shorten
from ..document.ruby import drop_readings
from ..records import BlockKind, Links
from ..urls import canonicalize, host_key, trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


MAX_ENTRIES = 5000
MAX_FEED_BYTES = 4 << 20
MAX_ANCHOR_CHARS = 200

_HEAD_BYTES = 8192
_MAX_TITLE_CHARS = 2000
_MAX_DATE_CHARS = 80
_FAR = datetime(2100, 1, 1, tzinfo=UTC)
"""Times from here on are none."""
_NO_HABITS = Habits()
_DECLARATION = re.compile(rb"\A\s{0,999}<\?xml[^>]{0,400}\?>")
# References to halves of characters: the parser lets them through, and then no text can be made of it.
_HALF = re.compile(
    rb"&#(?:[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2}|0*5(?:529[6-9]|5[3-9]\d\d|6\d{3}|7[0-2]\d\d|73[0-3]\d|734[0-3]));?"
)
_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,20}|#x[0-9a-fA-F]{1,20});)")
# What holds ampersands as they are, or a reference; one that has no name and no end is no reference.
_REFERENCE = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|"
    rb"&(?:(#[0-9]{1,20}|#x[0-9a-fA-F]{1,20}|[A-Za-z_][\w.:-]{0,63});)?",
    re.DOTALL,
)
_ENTITY = re.compile(rb"<!ENTITY\s{1,99}([\w.:-]{1,64})\s")
_MOST_ENTITIES = 1000
_MOST_REFERENCES = 1_000_000
"""As many as 50,000 entries of twenty parameters have; the rest is parsed unescaped."""
_OF_XML = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_TAG = re.compile(r"<[^<>]*>")
_NOT_SPACE = re.compile(r"\S")
_NAME_END = re.compile(r"[\s/>]")
_RFC_2822 = re.compile(r"[A-Z][a-z]{2}, (\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d:\d\d:\d\d) (GMT|[+-]\d{4})", re.ASCII)
_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?")
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
"""Meaning of references like `&#146;` to browsers; XML takes them for control characters."""
_ALTERNATE = frozenset({"", "alternate"})
# The date of publication before that of a change: a feed repeats an entry when it changes.
_DATE_NAMES = ("pubdate", "published", "date", "issued", "created", "updated", "modified")
_CHANGE_NAMES = ("updated", "modified")
_HAN = re.compile("[\u4e00-\u9fff]")
_KANA = re.compile("[\u3040-\u30ff\uac00-\ud7a3]")
_MOST_TITLES = 50
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"


def looks_like_feed(body: bytes) -> bool:
    """Tell by its first element whether a body is an RSS or Atom feed.

    Cost: constant, the first 8 KB are looked at.
    """
    head = decode_head(body)
    name = find_first_element(head)
    return name in ("rss", "feed") or (name == "rdf" and ("purl.org/rss" in head or "netscape.com/rdf" in head))


def parse_feed(body: bytes, url: str) -> Links:
    """Read the entries of a feed: RSS 0.9 to 2.0, RSS 1.0 (RDF) or Atom.

    Wrong encodings, bare ampersands and missing ends are repaired. Nothing is ever loaded or expanded. One link per
    entry, each URL once, at most `MAX_ENTRIES`, dated by publication, else by change; none when the body is no feed.

    Cost: linear; about 1.5 ms for 50 entries of 1.4 KB, half of it their dates.
    """
    body, codec = to_utf8(body[:MAX_FEED_BYTES])
    root = _parse(open_xml(body).read(-1))
    if root is None:
        return Links()
    rows: list[Entry] = []
    base, habits = _base(root, url), find_habits(urlsplit(url).hostname or "", *_language(root))
    for element in root.iter("{*}item", "{*}entry"):
        entry = _read_entry(element, base, codec, habits)
        if entry.url:
            rows.append(entry)
            if len(rows) >= MAX_ENTRIES:
                break
    return make_links(rows, BlockKind.FEED)


class Entry(NamedTuple):
    """An entry of a feed or sitemap; times are 0.0 where none is stated."""

    url: str
    anchor: str = ""
    date: float = 0.0
    changed: float = 0.0


_NO_ENTRY = Entry("")


def make_links(rows: Iterable[Entry], kind: BlockKind) -> Links:
    """Turn entries into columns, the first entry of each URL."""
    first: dict[str, Entry] = {}
    for entry in rows:
        first.setdefault(entry.url, entry)
    return Links(
        urls=tuple(first),
        anchors=tuple(entry.anchor for entry in first.values()),
        blocks=bytes([kind]) * len(first),
        nofollow=bytes(len(first)),
        dates=tuple(entry.date for entry in first.values()),
        changed=tuple(entry.changed for entry in first.values()),
    )


def parse_time(text: str, habits: Habits = _NO_HABITS) -> float:
    """Read a time as feeds and sitemaps write it; also only a year or month.

    A clock without zone is in the zone of `habits`; a day begins in UTC. The answer is Unix time; 0.0 when there is
    none, or none between 1970 and 2100.

    >>> parse_time("1970-01-02")
    86400.0
    """
    text = text.strip()
    if not text or len(text) > _MAX_DATE_CHARS:
        return 0.0
    if common := _RFC_2822.fullmatch(text):
        zone = common[5].replace("GMT", "+0000")
        text = f"{common[3]}-{MONTHS.get(common[2].lower(), 0):02}-{common[1]:0>2}T{common[4]}{zone}"
    elif archive := _MONTH.fullmatch(text):
        text = f"{archive[1]}-{archive[2] or '01'}-01"
    try:
        time = datetime.fromisoformat(text)  # most are written in one of two ways: this takes a tenth of the time
    except ValueError:
        moment = read_stamp(text, _FAR, habits)
        if moment is None:
            return 0.0
        text, time = moment.iso, datetime.fromisoformat(moment.iso)
    if time.tzinfo is None:
        time = time.replace(tzinfo=habits.zone if ":" in text else UTC)
    # Zones could push the first and last years out of range.
    return max(0.0, time.timestamp()) if 1970 <= time.year < _FAR.year else 0.0


def clean_title(text: str | None) -> str:
    """Return a title, maybe of escaped HTML, as at most 200 characters of plain text."""
    if not text:
        return ""
    text = shorten(text, _MAX_TITLE_CHARS)
    if "&" in text:
        text = unescape(text)
    if "<" in text:
        text = unescape(_TAG.sub("", drop_readings(text)))
    return clean(text.translate(_WINDOWS), MAX_ANCHOR_CHARS)


def to_utf8(body: bytes) -> tuple[bytes, str]:
    """Recode an XML or text body in UTF-8, without byte order mark and declaration.

    Bytes that fit no encoding are replaced. The second value is the codec of the queries in its URLs.
    """
    text, encoding = decode(body)
    body = _DECLARATION.sub(b"", text.encode("utf-8", "replace"), count=1)
    return _HALF.sub(b"", body) if b"&#" in body else body, find_query_codec(text, encoding)


def resolve(written: str, base: str, codec: str) -> str | None:
    """Return the canonical URL of an address in a feed or sitemap.

    `www.example.com/a` without `http://` is absolute all the same. For `codec` see `to_utf8`.
    """
    written = trim(written)
    if not written:
        return None
    if not written.startswith(("http://", "https://")):
        host = written.partition("/")[0].lower()
        if host.count(".") > 1 and (host.startswith("www.") or host == host_key(base)):
            written = f"//{written}"
    return canonicalize(written if written.isascii() else escape_query(written, codec), base)


def strip_prolog(body: bytes) -> bytes:
    """Return an XML body in UTF-8 from its first element on; empty when it has none.

    Without the document type there are no entities and nothing to load.
    Cost: O(bytes of the prolog), and of the body when one of its declarations never ends.
    """
    text = body.decode("latin-1")
    position = 0
    while True:
        start = _NOT_SPACE.search(text, position)
        if start is None or text[start.start()] != "<":
            return b""
        position = start.start()
        past = _skip_declaration(text, position)
        if past <= position:
            return body[position:] if past == position else b""
        position = past


class XmlFile(Protocol):
    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes, all that are left if negative."""


def open_xml(body: bytes) -> XmlFile:
    """Open an XML body in UTF-8 from its first element on, bare ampersands escaped.

    Many sites write `?cat=2&id=41` unescaped: a parser drops `&id` and so names another page. References of HTML
    become their characters; those that the document type declares are never expanded.

    Cost: O(bytes). A body without a bare ampersand is not copied, others no further than they are read.

    >>> open_xml(b"<loc>/show?cat=2&id=41&copy=2&amp;r=AT&T&eacute;</loc>").read(-1).decode()
    '<loc>/show?cat=2&amp;id=41&amp;copy=2&amp;r=AT&amp;Té</loc>'
    """
    rest = strip_prolog(body).lstrip()
    if not _BARE.search(rest):
        return BytesIO(rest)
    prolog = islice(_ENTITY.finditer(body, 0, len(body) - len(rest)), _MOST_ENTITIES)
    return _Pieces(_escape(rest, frozenset(entity[1] for entity in prolog)))


class _Pieces:
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._ready = bytearray()

    def read(self, size: int, /) -> bytes:
        while (size < 0 or len(self._ready) < size) and (piece := next(self._pieces, b"")):
            self._ready += piece
        end = len(self._ready) if size < 0 else size
        read = bytes(self._ready[:end])
        del self._ready[:end]
        return read


def _escape(body: bytes, declared: frozenset[bytes]) -> Iterator[bytes]:
    end = 0
    for reference in islice(_REFERENCE.finditer(body), _MOST_REFERENCES):
        name = reference[1]
        if reference[0][:1] == b"<" or (name and (name[:1] == b"#" or name in _OF_XML or name in declared)):
            continue
        if end < reference.start():
            yield body[end : reference.start()]
        meaning = html5.get(f"{name.decode()};") if name else None
        yield escape(meaning, quote=False).encode() if meaning else b"&amp;" + reference[0][1:]
        end = reference.end()
    if end < len(body):
        yield body[end:]


def decode_head(body: bytes) -> str:
    head = body[:_HEAD_BYTES]
    wide = detect_utf_16(head)
    return (
        head.decode(wide, "replace").removeprefix("\ufeff") if wide else head.removeprefix(BOM_UTF8).decode("latin-1")
    )


def find_first_element(text: str) -> str:
    """Return the first element's local name in lower case; empty if there is none."""
    position, end = 0, len(text)
    while True:
        while position < end and text[position].isspace():
            position += 1
        if not text.startswith("<", position):
            return ""
        past = _skip_declaration(text, position)
        if past < 0:
            return ""
        if past == position:
            stop = _NAME_END.search(text, position)
            name = text[position + 1 : stop.start()] if stop else ""
            return name.rpartition(":")[2].lower()
        position = past


def _skip_declaration(text: str, position: int) -> int:
    """Return the end of a declaration at `position`; itself for none, -1 if endless."""
    for opening, closing in (("<!--", "-->"), ("<?", "?>"), ("<!", ">")):
        if text.startswith(opening, position):
            end = text.find(closing, position)
            if opening == "<!" and end >= 0 and (subset := text.find("[", position, end)) >= 0:
                # An internal subset, <!DOCTYPE x [...]>, has closing brackets of its own.
                end = text.find("]>", subset)
                return end + 2 if end >= 0 else -1
            return end + len(closing) if end >= 0 else -1
    return position


def _parse(body: bytes) -> etree._Element | None:
    if not body.startswith(b"<"):
        return None
    parser = etree.XMLParser(
        encoding="utf-8", recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True
    )
    try:
        return etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _local(element: etree._Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2].lower() if isinstance(tag, str) else ""


def _base(element: etree._Element, base: str) -> str:
    stated = element.get(_XML_BASE)
    return canonicalize(stated, base) or base if stated else base


def _language(root: etree._Element) -> tuple[str, str]:
    element = next(root.iter("{*}language"), None)
    stated = (((element.text or "") if element is not None else root.get(_XML_LANG)) or "").strip()
    if not stated:
        titles = "".join(str(title.text or "") for title in islice(root.iter("{*}title"), _MOST_TITLES))
        stated = "zh" if _HAN.search(titles) and not _KANA.search(titles) else ""
    return stated[:2].lower(), stated


def _read_entry(element: etree._Element, base: str, codec: str, habits: Habits) -> Entry:
    link = other = guid = title = ""
    dates: dict[str, str] = {}
    for child in element:
        name = _local(child)
        if name == "link":
            href = child.get("href") or (child.text or "").strip() or (child.tail or "").strip()
            if child.get("rel", "") in _ALTERNATE:
                link = link or href
            elif child.get("rel") != "enclosure":
                other = other or href
        elif name == "origlink":
            link = (child.text or "").strip() or link
        elif name in ("guid", "id"):
            guid = (child.text or "").strip() if child.get("isPermaLink", "true").lower() != "false" else ""
        elif name == "title" and not title:
            title = clean_title("".join(map(str, child.itertext())))
        elif name in _DATE_NAMES and child.text:
            dates.setdefault(name, child.text)
    about = element.get("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about", "")
    permanent = guid if guid.startswith(("http://", "https://")) else about
    base = _base(element, base)
    for candidate in (link, permanent, other):
        target = resolve(candidate, base, codec)
        if target:
            date = next((time for name in _DATE_NAMES if (time := parse_time(dates.get(name, ""), habits))), 0.0)
            changed = next((time for name in _CHANGE_NAMES if (time := parse_time(dates.get(name, ""), habits))), 0.0)
            return Entry(target, title, date, changed)
    return _NO_ENTRY
