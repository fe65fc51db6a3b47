"""Find saved pages: files, folders of them, and manifests that name them."""

from __future__ import annotations

import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from pipelines.decode.content_type import PAGE_SUFFIXES

STDIN = "-"
NOWHERE = "page.invalid"
"""Host of pages whose URL is unknown (RFC 2606)."""
_GZIP = b"\x1f\x8b"
_OWN = re.compile(
    rb"""<link\s[^<>]{0,200}?rel\s{0,3}=\s{0,3}["']?canonical["'\s][^<>]{0,200}?href\s{0,3}=\s{0,3}["']?"""
    rb"""(https?://[^"'\s<>]{1,1000})""",
    re.IGNORECASE,
)
_HEAD_BYTES = 200_000
_MOST_MANIFEST = 256 << 20
TIME_FORMS: Final = "a time as 2024-03-12T08:30+08:00 (UTC if it names no zone) or seconds since 1970"
_LAST_TIME: Final = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


class InputError(ValueError):
    """Raised when input cannot be read; the text is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class SavedPage:
    """A page to be read again, the same record from every source.

    Attributes:
        file: as the user named it; empty for a page that is no file.
        url: empty if unknown.
        path: of its file; None if the body is here.
        fetched_at: Unix time; 0 means now.
        problem: the reason why it cannot be read.
        dom: the document that a browser made of it, if one did.
    """

    id: str
    file: str = ""
    url: str = ""
    path: Path | None = None
    body: bytes = b""
    content_type: str = ""
    fetched_at: float = 0.0
    problem: str = ""
    dom: bytes = b""


def read_time(value: object) -> float:
    """Return the Unix time of a number of seconds or an ISO 8601 text.

    A text without a zone is in UTC.

    Raises:
        ValueError: it is neither, or before 1970.

    >>> read_time("2024-03-12T08:30+08:00"), read_time("2024-03-12 00:30"), read_time(1710203400)
    (1710203400.0, 1710203400.0, 1710203400.0)
    """
    if isinstance(value, str):
        text = value
        try:
            value = float(text)
        except ValueError:
            moment = datetime.fromisoformat(text)
            value = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LAST_TIME:
        raise ValueError(f"{value!r} is no time")
    return float(value)


def files(path: Path) -> list[SavedPage]:
    """Return a file, standard input ("-"), or all pages in a folder, sorted by path.

    Raises:
        InputError: nothing has that name, or the folder has no page.
    """
    if str(path) == STDIN:
        return [SavedPage(STDIN, STDIN, path=path)]
    if path.is_dir():
        paths = sorted(one for one in path.rglob("*") if one.name.lower().endswith(PAGE_SUFFIXES) and one.is_file())
        if not paths:
            raise InputError(f"{path} holds no page ({', '.join(PAGE_SUFFIXES[:4])} or .gz of them)")
        return [SavedPage(str(one), str(one), path=one) for one in paths]
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    return [SavedPage(str(path), str(path), path=path)]


def manifest(path: Path) -> list[SavedPage]:
    """Return the pages of a manifest: JSON lines with `id`, `file` and maybe `url`.

    `fetched_at` may say when a page was fetched, in a form of `read_time`.

    The manifest may come from somebody else: a relative name reaches no file outside its folder, with links followed,
    and an absolute one reaches only files that are pages by their name.

    Raises:
        InputError: it cannot be read, or a line is no such row.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_MOST_MANIFEST + 1)
        if len(text) > _MOST_MANIFEST:
            raise InputError(f"{path} is longer than {_MOST_MANIFEST >> 20} MB; split it")
        lines = text.split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _row(path: Path, number: int, line: str) -> SavedPage:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{path}, line {number}: no JSON object") from None
    if not isinstance(row, dict) or not isinstance(row.get("file"), str) or row.get("id") in (None, ""):
        raise InputError(f"{path}, line {number}: a row needs id and file, e.g. {{'id': 'a', 'file': 'a.html'}}")
    url = row.get("url") or ""
    if not isinstance(url, str):
        raise InputError(f"{path}, line {number}: url is {url!r}; it takes a text")
    try:
        fetched_at = 0.0 if row.get("fetched_at") in (None, "") else read_time(row["fetched_at"])
    except ValueError:
        raise InputError(f"{path}, line {number}: fetched_at is {row['fetched_at']!r}; it takes {TIME_FORMS}") from None
    file = path.parent / row["file"]
    try:
        whole = file.resolve()
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, or links in a circle
        raise InputError(f"{path}, line {number}: {row['file']!r} is no name of a file") from None
    is_page = Path(row["file"]).is_absolute() and whole.name.lower().endswith(PAGE_SUFFIXES)
    if not is_page and not whole.is_relative_to(path.parent.resolve()):
        raise InputError(
            f"{path}, line {number}: {row['file']} lies outside the folder of the manifest and is no page by its name "
            f"({', '.join(PAGE_SUFFIXES[:2])} ...); put it below {path.parent}"
        )
    return SavedPage(str(row["id"]), row["file"], url, file, fetched_at=fetched_at)


def read(page: SavedPage, most_bytes: int) -> bytes:
    """Return the bytes of a page's file, unpacked if they are gzipped.

    Raises:
        InputError: it is missing, damaged or too long; the text is the reason without its name.
    """
    assert page.path is not None
    try:
        with nullcontext(sys.stdin.buffer) if page.file == STDIN else page.path.open("rb") as packed:
            body = packed.read(most_bytes + 1)
        if body.startswith(_GZIP) and len(body) <= most_bytes:
            with gzip.GzipFile(fileobj=BytesIO(body)) as unpacked:
                body = unpacked.read(most_bytes + 1)
    except FileNotFoundError:
        raise InputError("no such file") from None
    except (OSError, EOFError, zlib.error, ValueError) as error:  # ValueError: a name that no file can have
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if len(body) > most_bytes:
        raise InputError(f"longer than {most_bytes} bytes")
    return body


def page_url(url: str, body: bytes) -> str:
    """Return the absolute URL, with a path, to read a saved page under.

    The kind of a page depends on its URL. If only the host is known, as some archives have it, the file is not the
    host's home page: then the URL that the page gives itself counts, else a URL without meaning.

    >>> page_url("http://news.example.com/", b""), page_url("", b"")
    ('http://news.example.com/document.html', 'http://page.invalid/document.html')
    """
    from pipelines.urls import canonicalize  # noqa: PLC0415 - Scrapy imports all commands, and they this

    known_url = canonicalize(url if "://" in url else f"http://{url}") if url else None
    own_urls = (canonicalize(match[1].decode("latin-1")) or "" for match in _OWN.finditer(body[:_HEAD_BYTES]))
    for one in (known_url or "", *own_urls):
        if _says_something(one):
            return one
    return f"http://{urlsplit(known_url).netloc if known_url else NOWHERE}/document.html"


def _says_something(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.path.strip("/") or parts.query)


def everything(paths: Sequence[str]) -> Iterator[SavedPage]:
    """Yield the pages of all these files and folders, in their order; see `files`."""
    for path in paths:
        yield from files(Path(path))
