"""Documents of a file through the search for duplicates: `scrapy duplicates --input`."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import NamedTuple

from db.records.evidence import REPEATING
from pipelines.dedup.shape import Method
from pipelines.dedup.stream import Finder

from ..saved import InputError
from .spool import Spool

_FLUSH = 1_000


class Counts(NamedTuple):
    """What came of a file."""

    documents: int
    pairs: int
    duplicates: int


def find(input_name: str, output_name: str, method: Method, threshold: float, kinds: frozenset[str]) -> Counts:
    """Write the pairs of a file's documents, as they are found.

    Args:
        input_name: JSON lines with id, title (may be missing) and text, in order of arrival; .gz is unpacked, "-" is
            standard input.
        output_name: gets lines of tabs: id of the earlier document, id of the later one, similarity, kind from the view
            of the later one; "-" is standard output.
        method: how texts are compared.
        threshold: similarity from which a text is a duplicate.
        kinds: which pairs are written.

    Raises:
        InputError: a line that is no document. What was found before it is written.
        OSError: a file that cannot be opened.
    """
    documents = pairs = duplicates = 0
    ids: list[str] = []
    _refuse_same(input_name, output_name)
    with ExitStack() as stack:
        lines = stack.enter_context(_opened(input_name))
        out = sys.stdout if output_name == "-" else stack.enter_context(open(output_name, "w", encoding="utf-8"))
        finder = Finder(method, threshold, stack.enter_context(Spool()))
        for key, title, text in _documents(lines, input_name):
            found = finder.add(documents, title, text)
            ids.append(key)
            documents += 1
            duplicates += any(pair.kind in REPEATING for pair in found)
            for pair in found:
                if pair.kind in kinds:
                    pairs += 1
                    out.write(f"{ids[pair.earlier]}\t{key}\t{pair.similarity:.4f}\t{pair.kind}\n")
            if documents % _FLUSH == 0:
                out.flush()
        out.flush()
    return Counts(documents, pairs, duplicates)


def _refuse_same(input_name: str, output_name: str) -> None:
    """The output would be emptied before it is read."""
    if "-" not in {input_name, output_name} and Path(output_name).exists() and Path(output_name).samefile(input_name):
        raise InputError(f"{output_name} is the input itself; name another file for the pairs")


def _opened(name: str) -> AbstractContextManager[Iterable[bytes]]:
    """The lines of a file."""
    if name == "-":
        return sys.stdin.buffer
    if name.endswith(".gz"):
        return gzip.open(name, "rb")
    return open(name, "rb")


def _documents(lines: Iterable[bytes], name: str) -> Iterator[tuple[str, str, str]]:
    """Id, title and text of each line."""
    wanted = 'a JSON object like {"id": 1, "title": "...", "text": "..."} is expected'
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
            title = row.get("title")
            key = str(row["id"])
            if not key.isprintable() or key.encode("utf-8", "replace").decode() != key:
                raise InputError(f"{name}, line {number}: the id has a tab, a line feed or another such sign in it")
            yield key, title if isinstance(title, str) else "", row["text"]
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{name} is damaged: {error}") from None
