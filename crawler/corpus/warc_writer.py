"""Write WARC files: one at a time per process, never with half a record.

A file is called `.open` and locked while it is written. The next process that opens the folder cuts what a killed one
left after its last whole record.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import mmap
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, TypeVar

from db.records.outcome import ArchivePlace

from .. import clock
from . import warc_records
from .warc import OPEN, whole_until
from .warc_records import Bodies, Fetch, Original

R = TypeVar("R")
logger = logging.getLogger(__name__)

_MOST_BYTES: Final = 1 << 30
"""Of a file: the standard's guidelines and most archives use 1 GB."""
_YOUNG_SECONDS: Final = 60.0
"""An empty file younger than this may be one that its process is about to lock."""
_ODD: Final = re.compile(r"[^A-Za-z0-9.]+")


class ArchiveError(Exception):
    """Raised when the archive cannot be written; the text is a sentence for the user."""


class Archive:
    """Writes the WARC files of a crawl in a thread of its own; raises `ArchiveError`."""

    def __init__(self, folder: Path, about: Mapping[str, str], most_bytes: int = _MOST_BYTES) -> None:
        """Begin a file in a folder; `about` are fields of each file's first record."""
        self._files = _Files(folder, about, most_bytes)
        self._known: Bodies[Original] = Bodies()
        self._thread = ThreadPoolExecutor(1, "archive")

    async def keep(self, fetch: Fetch) -> ArchivePlace:
        """Write a request and its answer; they are in the file when this returns.

        Raises:
            ArchiveError: they could not be written; the file ends with the record before.
        """
        return await self._in_thread(lambda: self._keep(fetch))

    def _keep(self, fetch: Fetch) -> ArchivePlace:
        place = self._files.place()
        records, of_body = warc_records.fetched(fetch, self._known, place)
        self._files.write(records)
        return of_body or place

    async def conversion(self, url: str, html: bytes, at: float, fetched_at: float | None = None) -> ArchivePlace:
        """Write a page as a browser shows it; `fetched_at` is its answer's; see `keep`."""
        of = "" if fetched_at is None else warc_records.date_of(fetched_at)
        return await self._in_thread(lambda: self._files.write([warc_records.converted(url, at, html, of)]))

    async def close(self) -> None:
        with suppress(ArchiveError):  # whoever wrote last has been told
            await self._in_thread(self._files.close)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, work: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


class _Files:
    def __init__(self, folder: Path, about: Mapping[str, str], most_bytes: int) -> None:
        self._folder = folder
        self._about = about
        self._most_bytes = most_bytes
        self._file: IO[bytes] | None = None
        self._name = ""
        self._size = self._first = self._number = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in sorted(folder.glob(f"*.warc.gz{OPEN}")):
                mend(path)
            self._begin()
        except OSError as error:
            raise _problem(folder, error) from None

    def place(self) -> ArchivePlace:
        """Return the place of the next record, in a new file if this one is full."""
        if self._file is None or self._size >= self._most_bytes:
            self.close()
            try:
                self._begin()
            except OSError as error:
                raise _problem(self._folder, error) from None
        return ArchivePlace(self._name, self._size)

    def write(self, records: Sequence[bytes]) -> ArchivePlace:
        place = self.place()
        try:
            self._append(b"".join(records))
        except OSError as error:
            raise _problem(self._folder, error) from None
        return place

    def close(self) -> None:
        """Give the file its final name; remove one without a fetch."""
        if self._file is None:
            return
        path = self._folder / f"{self._name}{OPEN}"
        try:
            if self._size > self._first:
                path.rename(self._folder / self._name)
            else:
                path.unlink()
            self._file.close()
        except OSError as error:
            raise _problem(self._folder, error) from None
        finally:
            self._file = None

    def _begin(self) -> None:
        self._number += 1
        machine = _ODD.sub("-", platform.node()) or "localhost"
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime())
        self._name = f"news-{stamp}-{self._number:05}-{os.getpid()}~{machine}.warc.gz"
        # without a buffer: what is written is the operating system's, whatever becomes of this process
        self._file = (self._folder / f"{self._name}{OPEN}").open("xb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._size = self._first = 0
        try:
            self._append(warc_records.described(clock.now(), self._name, self._about))
        except OSError:
            self.close()
            raise
        self._first = self._size

    def _append(self, data: bytes) -> None:
        """Append the bytes, or leave the file as it was."""
        assert self._file is not None
        try:
            left = memoryview(data)
            while left:
                left = left[self._file.write(left) or 0 :]
        except OSError:
            with suppress(OSError):
                self._file.truncate(self._size)
                self._file.seek(self._size)
            raise
        self._size += len(data)


def mend(path: Path) -> None:
    """Cut off a killed process's unfinished record, and give the file its final name."""
    with path.open("r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # its process is at work
        size = path.stat().st_size
        end = 0
        if size:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                end = whole_until(data)
        if end < size:
            file.truncate(end)
            logger.warning("%s: %d bytes of a record that was not finished were cut off", path, size - end)
        if end:
            path.rename(path.with_name(path.name.removesuffix(OPEN)))
        elif time.time() - path.stat().st_mtime > _YOUNG_SECONDS:
            path.unlink()


def _problem(folder: Path, error: OSError) -> ArchiveError:
    return ArchiveError(
        f"the archive in {folder} cannot be written ({error.strerror or error}); nothing is lost, free some space or "
        "name another folder in STORE_WARC and run the same command again"
    )
