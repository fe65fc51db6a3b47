"""Versions of the code and models that pages are read and described by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

_HERE = Path(__file__).parent
_READING = (
    "dates",
    "decode",
    "document",
    "extract",
    "metadata",
    "models",
    "page_kind",
    "parse_page.py",
    "text_form",
    "site_memory",
)
"""Modules and models that text and metadata depend on."""
_DESCRIBING = ("describe.py", "metadata/language.py", "models", "text")
"""The same for descriptions."""


def extraction_version(extractor: str, params: Mapping[str, object]) -> str:
    """Return the program's version and a digest of code and models that read pages.

    Of an extractor `module:name` from elsewhere the file counts, too. Cost: some milliseconds once in a process.
    """
    return _version(_READING, extractor, dict(params))


def description_version(keywords: str, values: Sequence[object], files: Sequence[str]) -> str:
    """Return the same of all code and models that describe articles.

    Contents of `files` count; names that are no files count themselves.

    Raises:
        OSError: a file cannot be read.
    """
    paths = [Path(name) for name in files]
    contents = [hashlib.blake2b(path.read_bytes()).hexdigest() if path.is_file() else path.name for path in paths]
    return _version(_DESCRIBING, keywords, [*values, *contents])


def _version(code: tuple[str, ...], method: str, values: object) -> str:
    digest = hashlib.blake2b(_code(code), digest_size=4)
    module, _, name = method.rpartition(":")
    origin = find_spec(module) if module else None
    if origin is not None and origin.origin is not None:
        digest.update(name.encode() + b"\0" + Path(origin.origin).read_bytes())
    digest.update(json.dumps(values, sort_keys=True, default=str).encode())
    return f"{version('newscrawler')}+{digest.hexdigest()}"


@cache
def _code(names: tuple[str, ...]) -> bytes:
    digest = hashlib.blake2b()
    for name in names:
        paths = [_HERE / name] if name.endswith(".py") else (_HERE / name).rglob("*.*")
        for path in sorted(one for one in paths if one.suffix in {".py", ".json", ".txt"}):
            digest.update(path.relative_to(_HERE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()
