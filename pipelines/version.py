"""Version of what pages are read by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
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
    "page_kind",
    "parse_page.py",
    "render",
    "site_memory",
    "text",
)
"""Modules and models that text, metadata and description depend on."""


def extraction_version(extractor: str, params: Mapping[str, object]) -> str:
    """Return the program's version and a digest of all that reads pages.

    Nobody has to raise a number when a method or a model is improved.

    Args:
        extractor: its name, or `module:name` of one from elsewhere, whose file counts too.
        params: its parameters.

    Cost: some milliseconds once in a process.
    """
    digest = hashlib.blake2b(_code(), digest_size=4)
    module, _, name = extractor.rpartition(":")
    origin = find_spec(module) if module else None
    if origin is not None and origin.origin is not None:
        digest.update(name.encode() + b"\0" + Path(origin.origin).read_bytes())
    digest.update(json.dumps(dict(params), sort_keys=True, default=str).encode())
    return f"{version('newscrawler')}+{digest.hexdigest()}"


@cache
def _code() -> bytes:
    """Return a digest of the files."""
    digest = hashlib.blake2b()
    for name in _READING:
        found = [_HERE / name] if name.endswith(".py") else (_HERE / name).rglob("*.*")
        for path in sorted(one for one in found if one.suffix in {".py", ".json"}):
            digest.update(path.relative_to(_HERE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()
