"""The character set of a page, found from several sources.

No single source is trusted: servers declare UTF-8 over GBK bytes, statistical detectors err on short pages, and
fragments in another set are pasted into pages. Bytes that decode strictly as UTF-8 are UTF-8, whoever says otherwise.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from .charset import choose, detect_utf_16, find_codec, read

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# On lower-case bytes. The declaration of a page may stand behind long scripts, so all of it is searched.
_META = re.compile(rb"""<meta\b[^>]{0,300}?charset\s{0,8}=\s{0,8}["']?\s{0,8}([a-z0-9_.:-]{2,40})""")
_XML = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s{0,8}=\s{0,8}["']([a-z0-9_.:-]{2,40})""")
_HEADER = re.compile(r"""charset\s{0,8}=\s{0,8}["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_HIGH: Final = bytes(range(0x80, 0x100))
# `<`, `>` and line feed are no part of a character in any set: they separate what may be in different ones.
_LINES: Final = bytes.maketrans(b"<>", b"\n\n")
# Many characters in UTF-8 on end, nothing else beside them outside ASCII. A search skips to the set that stands first.
_ISLAND = re.compile(
    b"[\xc3-\xf3](?<![\x80-\xff]{2})"
    b"(?:(?<=[\xc3-\xdf])[\x80-\xbf]|(?<=[\xe0-\xef])[\x80-\xbf]{2}|(?<=[\xf0-\xf3])[\x80-\xbf]{3})"
    b"(?:[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf3][\x80-\xbf]{3}){3,}(?![\x80-\xff])"
)
_PAIR = re.compile(b"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_SAMPLE_BYTES: Final = 6000
# A long line is cut at its blanks, which are no part of a character either.
_PARTS = re.compile(rb"[^\n]{1,60}[^\n ]*")
_HEAD_BYTES: Final = 4096

_MAGIC = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"RIFF",
    b"%PDF",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
    b"Rar!",
    b"OggS",
)
_CONTROLS = bytes(set(range(0x20)) - set(b"\t\n\r\f\x1b"))


def is_binary(body: bytes) -> bool:
    """Tell whether bytes are a picture, a document or an archive.

    Known first bytes decide, or more control characters than any text has (UTF-16 aside).
    """
    if body.startswith(_MAGIC):
        return True
    head = body[:_HEAD_BYTES]
    few = len(head) - len(head.translate(None, _CONTROLS)) <= 0.05 * len(head)
    return not few and not body.startswith(tuple(mark for mark, _ in _BOMS)) and not detect_utf_16(head)


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text of `body` and the name of its codec.

    Order: byte order mark; UTF-16 by its zeros; sets in seven bits by their escapes; UTF-8 when the bytes are valid
    UTF-8, or mostly so: then the rest is read by itself, in its own set, as is a piece in UTF-8 of a page in another
    set. Otherwise the reading most like a language, see `charset.choose`. Undecodable bytes become U+FFFD.

    Cost: O(bytes); a page in UTF-8 costs its decoding.
    """
    for bom, name in _BOMS:
        if body.startswith(bom):
            body = body[len(bom) :]
            # the mark of UTF-16 before bytes without a zero is a lie: no markup is without ASCII
            if name != "utf-8" and b"\0" in body[:_HEAD_BYTES]:
                return body.decode(detect_utf_16(body[:_HEAD_BYTES]) or name, "replace"), "utf-16"
            break
    wide = detect_utf_16(body[:_HEAD_BYTES], content_type)
    if wide:
        return body.decode(wide, "replace"), "utf-16"
    try:
        return _unescaped(body, body.decode("utf-8"))
    except UnicodeDecodeError:
        if _PAIR.search(body):  # a character beyond the basic plane, written as two halves
            body = _PAIR.sub(_joined, body)
    declared = _declared(body, content_type)
    sample = _sample(body)
    whole, broken = _as_utf8(sample)
    if 2 * whole > broken or (broken <= 2 and "utf-8" in declared):
        return _pieced(body, declared, _of_utf8)[0], "utf-8"
    if _ISLAND.search(body):
        return _pieced(body, declared, _island)
    best = choose(sample, declared)
    return read(body, best), best


def _unescaped(body: bytes, text: str) -> tuple[str, str]:
    if b"\x1b" not in body:  # a search for one byte costs a hundredth of those for two
        return text, "utf-8"
    if b"\x1b$)C" in body:
        return body.decode("iso2022_kr", "replace"), "iso2022_kr"
    if b"\x1b$" in body or b"\x1b(J" in body:
        return read(body, "iso2022_jp_2"), "iso2022_jp"
    return text, "utf-8"


def _joined(pair: re.Match[bytes]) -> bytes:
    """Join the two halves of a character, each written as if it were one."""
    return pair[0].decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16").encode()


def _declared(body: bytes, content_type: str) -> tuple[str, ...]:
    small = body.lower()
    named = [match[1] for match in islice(_META.finditer(small), 3)]
    named += [match[1] for match in islice(_XML.finditer(small[:1000]), 1)]
    names = [name.decode("ascii") for name in named] + _HEADER.findall(content_type[:300])[:1]
    return tuple(dict.fromkeys(filter(None, map(find_codec, names))))


def _sample(body: bytes) -> bytes:
    parts = [part for part in _PARTS.findall(body.translate(_LINES)) if not part.isascii()]
    return b"\n".join(parts[:: 1 + sum(map(len, parts)) // _SAMPLE_BYTES])[:_SAMPLE_BYTES]


def _as_utf8(data: bytes) -> tuple[int, int]:
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    return len(text) - len(data.translate(None, _HIGH)) - broken, broken


def _of_utf8(piece: bytes) -> str | None:
    """Decode a piece of a UTF-8 page, cut or not; None if it is in another set."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError as error:
        whole, broken = _as_utf8(piece)
        cut = whole and error.reason == "unexpected end of data"
        return piece.decode("utf-8", "replace") if cut or whole >= 2 * broken else None


def _island(piece: bytes) -> str | None:
    if not piece.isascii() and not _ISLAND.search(piece):
        return None
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _pieced(body: bytes, declared: tuple[str, ...], as_utf8: Callable[[bytes], str | None]) -> tuple[str, str]:
    pieces = re.split(rb"(?=[<>\n])", body)
    texts = list(map(as_utf8, pieces))
    foreign = b"".join(piece for piece, text in zip(pieces, texts, strict=True) if text is None)
    best = choose(_sample(foreign), declared) if foreign else ""
    whole = "".join(read(piece, best) if text is None else text for piece, text in zip(pieces, texts, strict=True))
    return whole, best or "utf-8"
