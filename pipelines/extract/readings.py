"""How bytes of a character set become text: as browsers read them, where Python's codecs know less of a set."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Final

_REPLACED: Final = "\ufffd"
_MOST_ERRORS: Final = 5_000
"""A text with more errors is left as it is: each costs a call."""
_HANDLER: Final = "readings"
# Big5 as in Taiwan, where Python knows only that of Hong Kong: marks that stand between the parts of foreign names.
_TAIWAN: Final = {"•": "‧", "∼": "～", "､": "﹑", "‾": "¯"}
_VENDORS: Final = frozenset({0x2D, *range(0x79, 0x7D)})
"""Rows of the Japanese table that vendors have filled: circled numbers, units, rare signs in names."""


def read(data: bytes, codec: str) -> str:
    r"""Return the text that bytes are in a character set.

    Args:
        data: any bytes.
        codec: a Python codec.

    Returns:
        The text; what the set does not hold is U+FFFD.

    Cost: O(bytes).

    >>> read(b"\x80 5", "gb18030"), read(b"\xad\xa1", "euc_jp")
    ('€ 5', '①')
    """
    text = data.decode(codec, "replace")
    if codec == "big5hkscs":
        for hong_kong, taiwan in _TAIWAN.items():
            text = text.replace(hong_kong, taiwan)
    elif codec == "cp1258":  # tones are letters of their own there
        text = unicodedata.normalize("NFC", text)
    if codec in _EXTENDED and 0 < text.count(_REPLACED) < _MOST_ERRORS:
        text = data.decode(codec, _HANDLER)
    return text


def _extended(error: UnicodeError) -> tuple[str, int]:
    """What browsers read where a codec knows nothing."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if error.encoding == "gb18030":
        return ("€", error.start + 1) if pair[:1] == b"\x80" else (_REPLACED, error.end)
    row, cell = (byte & 0x7F for byte in pair) if len(pair) == 2 else (0, 0)
    if row in _VENDORS and 0x21 <= cell <= 0x7E:
        return _shifted(row, cell).decode("cp932", "replace"), error.start + 2
    return _REPLACED, error.end


def _shifted(row: int, cell: int) -> bytes:
    """A place of the Japanese table as Shift_JIS writes it."""
    first = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    return bytes((first, cell + 0x7E if row % 2 == 0 else cell + 0x1F + (cell >= 0x60)))


_EXTENDED: Final = frozenset({"gb18030", "euc_jp", "iso2022_jp_2"})
codecs.register_error(_HANDLER, _extended)
