"""Sources of pages: databases, folders, JSON lines and WARC files, in partitions.

The cut depends only on the source and the number of partitions wanted.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeVar

from db.engine.database import is_database, open_for_reading, whole_url
from db.queries.pages import count_pages, pages_between
from db.queries.status import stored_page
from pipelines.decode.zstd import UnpackError, decompress

from . import warc
from .documents import rows_of
from .saved_pages import InputError, SavedPage, files, read_time

PAGES: Final = 250
_BYTES: Final = 8 << 20
"""Pages, and bytes of a file, in a partition when no number of partitions is wanted."""
_KEYS: Final = 1 << 64
_PIECE: Final = 1 << 20
LINES: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
_WANTED: Final = 'a JSON object like {"id": 1, "html": "..."} is expected'


class PagePartition(Protocol):
    """A part of a source that holds pages; it can be sent to a worker."""

    def pages(self, notes: list[str]) -> Iterator[SavedPage]:
        """Yield its pages; `notes` gets a sentence for each damage of the source."""


P_co = TypeVar("P_co", covariant=True)


class PageSource(Protocol[P_co]):
    """A source that can be cut; `name` is what its user calls it."""

    name: str

    def mark(self) -> Mapping[str, Any]:
        """Return values that differ for other sources, and for this one with other pages."""

    def cut(self, partitions: int, folder: Path) -> Sequence[P_co]:
        """Cut it, by its size for 0 partitions; files needed by the batch go to `folder`."""


def find(name: str) -> PageSource[PagePartition]:
    """Return the source of pages that a name means.

    Raises:
        InputError: there is none.
        DatabaseProblem: the database cannot be read.
    """
    if is_database(name):
        return StoredSource(name)
    path = Path(name)
    if path.name.lower().endswith(LINES):
        return LineSource(path)
    archives = warc.files(path)
    return WarcSource(name, archives) if archives else FolderSource(path)


def shares(count: int, partitions: int, usual: int) -> list[tuple[int, int]]:
    """Cut a range into equal parts; 0 partitions: parts of at most `usual`.

    >>> shares(10, 3, 100), shares(10, 0, 5)
    ([(0, 3), (3, 6), (6, 10)], [(0, 5), (5, 10)])
    """
    parts = max(1, min(partitions or -(-count // usual), count))
    return [(count * n // parts, count * (n + 1) // parts) for n in range(parts)]


def key_ranges(parts: int) -> list[tuple[int, int]]:
    """Cut the identifiers, hashes of 64 bits, into equal ranges: first, last.

    >>> key_ranges(2)[0][0] == -(2**63), key_ranges(2)[1]
    (True, (0, 9223372036854775807))
    """
    return [(start - _KEYS // 2, end - _KEYS // 2 - 1) for start, end in shares(_KEYS, parts, 1)]


def _stamp(paths: Sequence[Path]) -> dict[str, Any]:
    digest = hashlib.sha256()
    for path in paths:
        about = path.stat()
        digest.update(f"{path}\0{about.st_size}\0{about.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return {"files": len(paths), "stamp": digest.hexdigest()}


@dataclass(frozen=True, slots=True)
class _FilePages:
    saved: Sequence[SavedPage]

    def pages(self, _notes: list[str]) -> Iterator[SavedPage]:
        for page in self.saved:
            assert page.path is not None
            try:
                modified = page.path.stat().st_mtime
            except OSError:
                modified = 1.0
            yield replace(page, fetched_at=modified)


class FolderSource:
    """A folder of saved pages, or one page; raises `InputError` if it holds none."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._saved = files(path)

    def mark(self) -> Mapping[str, Any]:
        return _stamp([page.path for page in self._saved if page.path])

    def cut(self, partitions: int, folder: Path) -> Sequence[PagePartition]:
        return [_FilePages(self._saved[start:end]) for start, end in shares(len(self._saved), partitions, PAGES)]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a file that begin in a range of its bytes.

    Attributes:
        path: of the unpacked file.
        seen: Unix time of the file.
        damage: the problem with the file behind the range.
    """

    name: str
    lines_left_out: ClassVar[bool] = True
    path: Path
    start: int
    end: int
    seen: float = 0.0
    damage: str = ""

    def rows(self, notes: list[str], wanted: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the id and the row of each line that is a document, and note the others."""
        for at, line in self._lines(notes):
            try:
                yield from rows_of([line], self.name, wanted)
            except InputError as problem:
                notes.append(str(problem).replace("line 1:", f"byte {at:,}:", 1))

    def pages(self, notes: list[str]) -> Iterator[SavedPage]:
        """Yield the pages of lines with `html`, or with the `file` that holds them.

        `fetched_at` of a line counts; without it, the time of the file.
        """
        for at, line in self._lines(notes):
            try:
                row = json.loads(line)
                yield self._page(row)
            except (ValueError, RecursionError, KeyError, TypeError):
                notes.append(f"{self.name}, byte {at:,}: no page; {_WANTED}")

    def _page(self, row: Any) -> SavedPage:
        key, url = str(row["id"]), str(row.get("url") or "")
        seen = read_time(row["fetched_at"]) if row.get("fetched_at") else self.seen
        if isinstance(row.get("html"), str):
            body = row["html"].encode("utf-8", "replace")
            return SavedPage(key, "", url, None, body, "text/html; charset=utf-8", seen)
        return SavedPage(key, row["file"], url, self.path.parent / row["file"], fetched_at=seen)

    def _lines(self, notes: list[str]) -> Iterator[tuple[int, bytes]]:
        with self.path.open("rb") as file:
            at = self.start
            if at:  # a line that begins before belongs to the partition before
                file.seek(at - 1)
                at += len(file.readline()) - 1
            while at < self.end and (line := file.readline()):
                if line.strip():
                    yield at, line
                at += len(line)
        notes += filter(None, [self.damage])


class LineSource:
    """A file of JSON lines, gzipped too; raises `InputError` if there is none."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        self._path = path

    def mark(self) -> Mapping[str, Any]:
        return _stamp([self._path])

    def cut(self, partitions: int, folder: Path) -> Sequence[Lines]:
        """Cut it by its bytes; a gzipped file has no middle, and is unpacked first."""
        path, seen, damage = self._path, self._path.stat().st_mtime, ""
        if path.suffix.lower() == ".gz":
            path, damage = _unpacked(path, folder)
        *ranges, last = shares(path.stat().st_size, partitions, _BYTES)
        path = path.absolute()
        return [
            *(Lines(self.name, path, start, end, seen) for start, end in ranges),
            Lines(self.name, path, *last, seen, damage),
        ]


def _unpacked(path: Path, folder: Path) -> tuple[Path, str]:
    """Unpack a file once; return the result, and the problem with the file."""
    whole, damage_file = folder / "source.jsonl", folder / "source.txt"
    if not whole.exists():
        unfinished, damage = folder / "source.new", ""
        with gzip.open(path, "rb") as packed, unfinished.open("wb") as out:
            try:
                while piece := packed.read1(_PIECE):  # what stands before a damage is kept
                    out.write(piece)
            except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                damage = f"{path} is damaged behind byte {out.tell():,} of what it holds: {error}"
        damage_file.write_text(damage, encoding="utf-8")
        unfinished.replace(whole)
    return whole, damage_file.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class _StoredPages:
    url: str
    first: int
    last: int

    def pages(self, notes: list[str]) -> Iterator[SavedPage]:
        with closing(open_for_reading(self.url)) as database:
            for one in pages_between(database, self.first, self.last):
                body, problem = b"", ""
                try:
                    body = decompress(one.body)
                except UnpackError as error:
                    problem = f"could not be unpacked ({error})"
                yield SavedPage(one.url, "", one.url, None, body, one.content_type, one.fetched_at, problem)


class StoredSource:
    """The raw pages of a database, by its URL or file; raises `DatabaseProblem`."""

    def __init__(self, name: str) -> None:
        with closing(open_for_reading(name)) as database:
            self.name = database.name
            self._pages = database.read(count_pages)
            self._url = whole_url(name)

    def mark(self) -> Mapping[str, Any]:
        return {"database": self.name, "pages": self._pages}

    def cut(self, partitions: int, folder: Path) -> Sequence[PagePartition]:
        """Cut it by its keys, which are hashes: equal ranges hold about as many pages."""
        parts = partitions or -(-self._pages // PAGES) or 1
        return [_StoredPages(self._url, first, last) for first, last in key_ranges(parts)]


def find_stored(urls: Sequence[str], database_url: str, *, archive: str, most_bytes: int) -> dict[str, SavedPage]:
    """Return the pages of those URLs, in normal form, whose bytes a crawl kept.

    Raises:
        DatabaseProblem: the database cannot be read.
        InputError: a page is stored and cannot be unpacked.
    """
    with closing(open_for_reading(database_url)) as database:
        rows = database.read(lambda connection: [stored_page(connection, url) for url in urls])
    pages = {}
    for url, row in zip(urls, rows, strict=True):
        if row is not None:
            fetched_at, stored = row
            pages[url] = SavedPage(
                url,
                url=url,
                body=warc.stored_bytes(stored, archive, most_bytes),
                content_type=stored.content_type,
                fetched_at=fetched_at,
                dom=warc.unpacked(stored.dom, most_bytes) if stored.dom else b"",
            )
    return pages


@dataclass(frozen=True, slots=True)
class _ArchivePages:
    """The pages of a WARC file whose records begin in a range of its bytes."""

    path: Path
    start: int
    end: int

    def pages(self, notes: list[str]) -> Iterator[SavedPage]:
        for one in warc.responses(self.path, self.start, self.end, notes):
            problem = "" if one.status == HTTPStatus.OK else f"http {one.status}"
            yield SavedPage(one.id, str(self.path), one.url, None, one.body, one.content_type, one.fetched_at, problem)


class WarcSource:
    def __init__(self, name: str, paths: Sequence[Path]) -> None:
        self.name = name
        self._paths = paths

    def mark(self) -> Mapping[str, Any]:
        return _stamp(self._paths)

    def cut(self, partitions: int, folder: Path) -> Sequence[PagePartition]:
        """Cut it by the bytes of its files; no partition is in two of them."""
        sizes = [path.stat().st_size for path in self._paths]
        each = -(-sum(sizes) // partitions) if partitions else _BYTES
        return [
            _ArchivePages(path, start, end)
            for path, size in zip(self._paths, sizes, strict=True)
            for start, end in shares(size, 0, max(1, each))
        ]
