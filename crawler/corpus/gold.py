"""Read corpora: folders of saved pages with their known texts."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..run.command import sentence

GOLD: Final = "gold.jsonl"


class CorpusError(ValueError):
    """A folder is no corpus; the text says which file or row is wrong, and how."""


def read_corpus(folder: Path, make: Callable[[bytes, Mapping[str, Any]], Any]) -> Iterator[Any]:
    """Read a corpus page by page: `gold.jsonl` and the pages that its rows name.

    A row is an object with `id` and `text`; its page is `file`, by default `<id>.html.gz`. The other keys are those of
    `pipelines.training.examples.example`. Pages of which `make` returns None are passed over.
    """
    gold = folder / GOLD
    count = 0
    try:
        with gold.open(encoding="utf-8") as rows:
            for number, line in enumerate(rows, 1):
                if not line.strip():
                    continue
                try:
                    example = make(*_page(folder, line))
                except (ValueError, OSError, EOFError, zlib.error) as error:
                    why = sentence(error) if isinstance(error, OSError) else error
                    raise CorpusError(f"{gold}, line {number}: {why}") from None
                if example is not None:
                    count += 1
                    yield example
    except UnicodeDecodeError as error:
        raise CorpusError(f"{gold} is not UTF-8: {error}") from None
    except OSError as error:
        raise CorpusError(f"{gold} cannot be read: {error.strerror or error}") from None
    if not count:
        raise CorpusError(f"{gold} names no page that holds its text")


def _page(folder: Path, line: str) -> tuple[bytes, Mapping[str, Any]]:
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a row must be an object with id and text")
    path = folder / str(row.get("file") or f"{row.get('id')}.html.gz")
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path} lies outside the folder")
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data, row
