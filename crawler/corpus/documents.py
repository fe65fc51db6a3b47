"""Read and describe files of documents: JSON lines with an id, a title and a text."""

from __future__ import annotations

import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any, Final

from .saved_pages import NOWHERE, InputError

if TYPE_CHECKING:
    from pipelines.describe import Describer
    from pipelines.document.document import Document

_MOST_LINE: Final = 64 << 20
_BREAKS_LINES: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
WANTED: Final = 'a JSON object like {"id": 1, "title": "...", "text": "..."} is expected'


@contextmanager
def opened(name: str) -> Iterator[Iterator[bytes]]:
    """Open the lines of a file; .gz is unpacked, "-" is standard input."""
    if name == "-":
        yield _lines(sys.stdin.buffer, name)
        return
    with open(name, "rb") as file, gzip.GzipFile(fileobj=file) if name.endswith(".gz") else nullcontext(file) as lines:
        yield _lines(lines, name)


def _lines(file: IO[bytes] | gzip.GzipFile, name: str) -> Iterator[bytes]:
    while line := file.readline(_MOST_LINE + 1):
        if len(line) > _MOST_LINE:
            raise InputError(f"{name} has a line of more than {_MOST_LINE >> 20} MB")
        yield line


def documents_of(lines: Iterable[bytes], name: str) -> Iterator[tuple[str, str, str]]:
    """Yield id, title (may be empty) and text of each line; raises `InputError`."""
    for key, row in rows_of(lines, name, WANTED):
        yield key, row["title"], row["text"]


def rows_of(lines: Iterable[bytes], name: str, wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the row of each line of JSON, its title and text always texts.

    Errors name the file, and what is `wanted` in a line. Raises `InputError` for a line that is no document.
    """
    try:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                raise InputError(f"{name}, line {number}: no JSON; {wanted}") from None
            if not isinstance(row, dict) or "id" not in row or not isinstance(row.get("text"), str):
                raise InputError(f"{name}, line {number}: id or text is missing; {wanted}")
            key = str(row["id"])
            if _BREAKS_LINES.search(key) or _readable(key) != key:
                raise InputError(f"{name}, line {number}: the id has a tab, a line feed or another such sign in it")
            title = row.get("title")
            row["title"], row["text"] = (_readable(title) if isinstance(title, str) else ""), _readable(row["text"])
            yield key, row
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name} is damaged: {error}") from None


def language_of(row: dict[str, Any], usual: str = "") -> str:
    """Return the language a row names, else the usual one, else that of its text."""
    from pipelines.metadata.language import detect  # noqa: PLC0415 - Scrapy imports all commands, and they this

    named = row.get("language")
    return (named if isinstance(named, str) else "") or usual or detect(row["text"])


def page_of(html: str) -> Document:
    from pipelines.document.document import parse  # noqa: PLC0415

    return parse(html.encode("utf-8", "replace"), f"http://{NOWHERE}/", "text/html; charset=utf-8")


def described(row: dict[str, Any], describer: Describer, language: str) -> dict[str, object]:
    html = row.get("html")
    page = page_of(html) if isinstance(html, str) else None
    description = describer.describe(row["title"], row["text"], language_of(row, language), page)
    return {
        "id": row["id"],
        "keywords": description.keywords,
        "summary": description.summary,
        "classes": description.classes,
        "memberships": dict(description.memberships),
        "class": next(iter(description.classes), None),
        "harmful": description.harm,
        "verdict": bool(description.harm_kind),
        "kind": description.harm_kind or None,
        "reasons": description.harm_reasons,
    }


def field_text(value: object) -> str:
    """Return a field of a row that is a text, else an empty one."""
    return _readable(value) if isinstance(value, str) else ""


def _readable(text: str) -> str:
    """Replace lone surrogates, which JSON can hold but UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode()
