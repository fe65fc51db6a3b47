"""What the commands that learn share: reading a folder of pages whose texts are known."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from pipelines.extract.training import Example, example

GOLD = "gold.jsonl"


class CorpusError(ValueError):
    """A folder is no corpus; the text says which file or row is wrong, and how."""


def examples(folder: Path) -> Iterator[Example]:
    """Read a corpus page by page: `gold.jsonl` and the pages that its rows name, gzipped or not.

    A row is an object with `id` and `text`; its page is `file`, by default `<id>.html.gz`. The other keys are those of
    `pipelines.extract.training.example`. Pages that do not hold their text are passed over.

    Raises:
        CorpusError: the folder, a row or a page is missing or broken; or no page can be used.
    """
    gold = folder / GOLD
    count = 0
    try:
        with gold.open(encoding="utf-8") as rows:
            for number, line in enumerate(rows, 1):
                if not line.strip():
                    continue
                try:
                    made = _example(folder, line)
                except (ValueError, OSError, EOFError, zlib.error) as error:
                    raise CorpusError(f"{gold}, line {number}: {error}") from None
                if made is not None:
                    count += 1
                    yield made
    except UnicodeDecodeError as error:
        raise CorpusError(f"{gold} is not UTF-8: {error}") from None
    except OSError as error:
        raise CorpusError(f"{gold} cannot be read: {error.strerror or error}") from None
    if not count:
        raise CorpusError(f"{gold} names no page that holds its text")


def _example(folder: Path, line: str) -> Example | None:
    """The example of one row."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a row must be an object with id and text")
    path = folder / str(row.get("file") or f"{row.get('id')}.html.gz")
    data = path.read_bytes()
    return example(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data, row)
