"""Refuse outputs that would destroy what a command reads.

Every command says here, before it opens any, which files it will write and which it reads. The database of the
settings counts as read by all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from db.engine.database import is_database, parse_url
from db.engine.errors import WrongDatabase
from db.shards.databases import Shards
from pipelines.decode.content_type import PAGE_SUFFIXES

from ..options.values import ConfigError

STDOUT: Final = "-"
UNFINISHED: Final = ".part"
"""Ending of a file while it is written."""
_BESIDE_DATABASE: Final = ("-wal", "-shm", "-journal", ".lock")

_READ_IN_FOLDERS: Final = (*PAGE_SUFFIXES, ".warc", ".warc.gz", "gold.jsonl")
"""Ends of the names of files that are read where a folder is named."""

_Identity = tuple[int, int] | str


def refuse_destroying(
    outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = (), database_url: str = ""
) -> None:
    """Refuse an output that is an input, the database or another output.

    Links are followed, hard ones too. A file inside a folder that is read is one of the inputs. Devices and pipes are
    nobody's input. Nothing is made. None and "-" (standard output) are no files.

    Raises:
        ConfigError: naming the output and what it is.
    """
    written: dict[_Identity, str] = {}
    for output in outputs:
        for identity in _files(output):
            if identity in written:
                raise ConfigError(f"{output} is named for two outputs; name another file for one of them")
            written[identity] = str(output)
    if not written:
        return
    for name in filter(None, _databases(database_url)):
        _refuse(written, _with_company(name), "the database")
    for name in filter(None, map(_path, inputs)):
        _refuse(written, _with_company(name) if is_database(str(name)) else [name], "the input")
        if os.path.isdir(name):  # of names that no file can have, too
            _refuse_inside(name, written.values())


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears when it is whole; a device or pipe is written as it is."""
    if _is_device(path):
        with path.open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))  # a link stays one
    unfinished = target.with_name(f"{target.name}{UNFINISHED}")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _refuse(written: Mapping[_Identity, str], paths: Iterable[Path], what: str) -> None:
    for path in paths:
        if output := written.get(_identity(path)):
            raise ConfigError(f"{output} is {what} itself; name another file")


def _with_company(database: Path) -> list[Path]:
    return [database, *(Path(f"{database}{ending}") for ending in _BESIDE_DATABASE)]


def _refuse_inside(folder: Path, outputs: Iterable[str]) -> None:
    for output in outputs:
        path = Path(output)
        is_read = path.is_file() and path.name.lower().endswith(_READ_IN_FOLDERS)
        if is_read and path.resolve().is_relative_to(folder.resolve()):
            raise ConfigError(f"{output} is one of the files in {folder}, which is read; name another file")


def _files(output: str | Path | None) -> Iterator[_Identity]:
    """Yield the file of an output, and the one that it is until it is whole."""
    if output and str(output) != STDOUT and not _is_device(Path(output)):
        yield _identity(Path(output))
        yield _identity(Path(f"{os.path.realpath(output)}{UNFINISHED}"))


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _identity(path: Path) -> _Identity:
    """Return the number of a file, or where it would come to lie."""
    try:
        file_stat = path.stat()
    except (OSError, ValueError):  # ValueError: a name that no file can have
        return os.path.realpath(path) if "\0" not in str(path) else str(path)
    return file_stat.st_dev, file_stat.st_ino


def _databases(database_url: str) -> list[Path | None]:
    try:
        return [_path(url) for url in Shards.read(database_url).urls] if database_url else []
    except WrongDatabase:
        return []


def _path(name: str | Path | None) -> Path | None:
    if not name or str(name) == STDOUT:
        return None
    if "://" not in str(name):
        return Path(name)
    try:
        url = parse_url(str(name))
    except WrongDatabase:
        return None
    return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
