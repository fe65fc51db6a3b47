"""The headers of an answer that anything depends on, as text. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import quote_from_bytes

KEPT = ("content-type", "location", "retry-after", "etag", "last-modified", "x-robots-tag")
_MOST_CHARS = 8_000
"""Above what any of them may be: an address that is too long must not be taken for a shorter one."""
_ASCII = "".join(chr(code) for code in range(33, 127))


def text(values: Iterable[bytes]) -> str:
    """Join the values of a header.

    Args:
        values: as received.

    Returns:
        Text without NUL, at most 8,000 characters.
    """
    return b", ".join(values).decode("utf-8", "replace").replace("\0", "")[:_MOST_CHARS]


def location(values: Sequence[bytes]) -> str:
    """Read where a redirect leads.

    Args:
        values: of the Location headers; the first counts.

    Returns:
        The address. Bytes that are no UTF-8 are those of the site's own character set: they are escaped as they are,
        which is what such a site understands.
    """
    value = values[0][: 2 * _MOST_CHARS]
    try:
        return value.decode("utf-8").replace("\0", "")[:_MOST_CHARS]
    except UnicodeDecodeError:
        return quote_from_bytes(value, safe=_ASCII)[:_MOST_CHARS]


def lines(values: Iterable[bytes]) -> str:
    """Join the values of a header of which each is to be read for itself, one a line.

    Args:
        values: as received.

    Returns:
        Text as of `text`.
    """
    return "\n".join(text([value.replace(b"\n", b" ")]) for value in values)[:_MOST_CHARS]


READERS: Mapping[str, Callable[[Sequence[bytes]], str]] = {"location": location, "x-robots-tag": lines}
"""Headers that are not read by `text`."""
