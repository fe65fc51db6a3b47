"""The character set of a page, found from several witnesses.

No single source is trusted: servers declare UTF-8 over GBK bytes, pages declare gb2312 and hold gb18030, and
statistical detectors err on short pages. Bytes that decode strictly as UTF-8 are UTF-8, whoever says otherwise.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

import cchardet

_HEAD_BYTES: Final = 4096
_SAMPLE_BYTES: Final = 65536
_DECLARED = re.compile(rb"""charset\s{0,8}=\s{0,8}["']?\s{0,8}([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^>]{0,200}encoding\s{0,8}=\s{0,8}["']([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_HEADER = re.compile(r"""charset\s{0,8}=\s{0,8}["']?([A-Za-z0-9_.:-]{2,40})""", re.IGNORECASE)
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# A declared name stands for its widest superset, as in browsers.
_SUPERSET: Final = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "hz": "gb18030",
    "cp936": "gb18030",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "cp950": "big5hkscs",
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
_REFUSED: Final = {"utf-7", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"}


def _codec(name: str) -> str:
    """Python codec for a declared name, typos of the GB and UTF-8 families read as meant; empty when unknown."""
    name = name.strip().lower().strip("\"';")
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        squeezed = re.sub(r"[^a-z0-9]", "", name)
        if squeezed.startswith("gb"):
            return "gb18030"
        if squeezed.startswith("big5"):
            return "big5hkscs"
        return "utf-8" if squeezed.startswith("utf") else ""
    try:
        b"".decode(found)
    except (LookupError, TypeError):
        return ""  # rot13, base64 and their like are no character sets
    return "" if found in _REFUSED else _SUPERSET.get(found, found)


def _errors(body: bytes, codec: str) -> int:
    """Replacement characters, control characters and private-use signs that reading `body` as `codec` gives."""
    text = body.decode(codec, "replace")
    return text.count("\ufffd") * 4 + sum(
        1 for sign in set(text) if "\x80" <= sign < "\xa0" or "\ue000" <= sign < "\uf8ff"
    )


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
    """Whether bytes are a picture, a document or an archive, whatever they are called.

    Known first bytes, or more control characters than any text has (UTF-16 with its mark aside).
    """
    if body.startswith(_MAGIC):
        return True
    head = body[:4096]
    marked = body.startswith(tuple(mark for mark, _ in _BOMS))
    return not marked and len(head) - len(head.translate(None, _CONTROLS)) > 0.05 * len(head)


def decode(body: bytes, content_type: str = "") -> tuple[str, str]:
    """Return the text of `body` and the name of the character set it was read in.

    Order: byte order mark; UTF-8 when the bytes are valid UTF-8 (a few broken bytes forgiven when UTF-8 is declared);
    then the declared and the detected sets compete, and the one whose reading breaks least wins, declared ones first.

    Args:
        body: the bytes as fetched.
        content_type: the value of the HTTP header, may be empty.

    Returns:
        Text (never raises; undecodable bytes become U+FFFD) and a codec name.

    Cost: O(bytes); candidates are compared on the first 64 KiB.
    """
    for bom, name in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(name, "replace"), name.replace("-le", "").replace("-be", "")
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    head = body[:_HEAD_BYTES]
    named = [match.decode("ascii") for match in _DECLARED.findall(head)[:3]]
    named += [match.decode("ascii") for match in _XML.findall(head)[:1]]
    named += _HEADER.findall(content_type[:300])[:1]
    sample = body[:_SAMPLE_BYTES]
    detected = cchardet.detect(sample).get("encoding") or ""
    candidates = dict.fromkeys(codec for codec in map(_codec, [*named, detected]) if codec)
    if "utf-8" not in candidates and len(body) > _SAMPLE_BYTES:
        candidates["utf-8"] = None
    if not any(codec in candidates for codec in ("gb18030", "big5hkscs")):
        candidates["gb18030"] = None
        candidates["cp1252"] = None
    counts = {codec: _errors(sample, codec) for codec in candidates}
    # Cutting the sample may split one character; equal counts fall to the earlier, that is the declared, candidate.
    best = min(candidates, key=lambda codec: counts[codec] // 8)
    return body.decode(best, "replace"), best
