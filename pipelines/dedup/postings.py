"""Sorted postings, in memory or in files that the operating system maps.

A posting is a feature and the number of a text in one integer, `feature << 32 | number`. Features are hashes, evenly
spread: a table says where each prefix of them starts, and a look-up reads one short stretch, of a file mostly one page.
"""

from __future__ import annotations

import json
import mmap
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

Postings = npt.NDArray[np.uint64]
"""Ascending."""
Numbers = npt.NDArray[np.int64]

LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
_LARGE = 1 << 20  # postings from which searching them in memory is slower than a table
_STRETCH, _FILE_STRETCH = 8, 32  # postings of one prefix, about; a page of a file has 512
_LONGEST = 512  # stretches longer than this are searched, not read
_PIECE = 1 << 20  # postings that are merged at a time, at most about
_WORD = 8
_HEADER = 2 * _WORD
_CONTENTS = "contents.json"


class Folder:
    """Files that are made once and then only read, or only added to.

    Args:
        path: where they are; None: they have no names, and go with the process.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        names = [one.stem for one in path.glob("*.*")] if path else []
        self._made = max((int(name) for name in names if name.isdecimal()), default=0)

    def create(self, kind: str) -> tuple[str, IO[bytes]]:
        """Make an empty file to write and read; returns its name, too."""
        if self.path is None:
            return "", tempfile.TemporaryFile(prefix="duplicates-")
        self.path.mkdir(exist_ok=True)
        self._made += 1
        name = f"{self._made}.{kind}"
        return name, (self.path / name).open("x+b")

    def open(self, name: str) -> IO[bytes]:
        """Open a file again."""
        assert self.path is not None
        return (self.path / name).open("r+b")

    def keep(self, names: Collection[str], contents: Mapping[str, Any]) -> None:
        """Write down what these files hold; the others are removed."""
        if self.path is None or not self.path.is_dir():
            return
        with (self.path / f"{_CONTENTS}.new").open("w", encoding="utf-8") as file:
            json.dump(contents, file)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(self.path / _CONTENTS)
        for one in self.path.glob("*.*"):
            if one.name not in names and one.name != _CONTENTS:
                with suppress(OSError):  # Windows: still mapped; the next time
                    one.unlink()

    def contents(self) -> Mapping[str, Any]:
        """Read what was written down.

        Raises:
            OSError, ValueError: nothing, or nothing legible.
        """
        if self.path is None:
            raise FileNotFoundError
        return dict(json.loads((self.path / _CONTENTS).read_text("utf-8")))


class Run:
    """Sorted postings; when there are many, with a table of prefix starts.

    Attributes:
        postings: the array, of a file when it is mapped.
        name: of its file; empty in memory.
    """

    def __init__(self, postings: Postings, table: npt.NDArray[np.integer] | None = None, name: str = "") -> None:
        """Hold an array; in memory a large one gets its table."""
        self.postings = postings
        self.name = name
        if table is None and postings.size >= _LARGE:
            starts = np.searchsorted(postings, _prefixes((postings.size // _STRETCH).bit_length()))
            table = np.append(starts, postings.size).astype(np.uint32)
        self._table = table
        if table is not None:
            self._shift = np.uint64(64 - (table.size - 1).bit_length() + 1)

    @classmethod
    def merge(cls, runs: Sequence[Run], most: int) -> Self:
        """Merge runs in memory, without the postings of a feature beyond `most`."""
        return cls(np.concatenate(list(_merged([run.postings for run in runs], most))))

    @classmethod
    def write(cls, folder: Folder, runs: Sequence[Run], most: int) -> Self:
        """Merge runs into a file, piece by piece.

        Cost: 20 ns a posting; memory for one piece.
        """
        arrays = [run.postings for run in runs]
        total = sum(array.size for array in arrays)
        level, bits = _level(total), (total // _FILE_STRETCH).bit_length()
        end = _HEADER + _WORD * (1 << bits)  # of the table, but for its last entry
        count = 0
        name, file = folder.create("run")
        with file:
            for number, piece in enumerate(_merged(arrays, most)):
                starts = np.searchsorted(piece, _prefixes(bits, number, level)) + count
                file.seek(_HEADER + number * starts.nbytes)
                file.write(starts.astype(np.int64).data)
                file.seek(end + _WORD * (1 + count))
                file.write(piece.data)
                count += piece.size
            file.seek(end)
            file.write(count.to_bytes(_WORD, "little"))
            file.seek(0)
            file.write(np.array([bits, count], np.uint64).data)
            file.flush()
            os.fsync(file.fileno())
            return cls._map(name, file)

    @classmethod
    def open(cls, folder: Folder, name: str) -> Self:
        """Map a file that `write` made.

        Raises:
            OSError, ValueError: it is not there, or not whole.
        """
        with folder.open(name) as file:
            return cls._map(name, file)

    @classmethod
    def _map(cls, name: str, file: IO[bytes]) -> Self:
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # ValueError when it is empty
        words = np.frombuffer(whole, np.uint64, len(whole) // _WORD)
        bits, count = words[:2].tolist() if words.size >= 2 else (0, 0)
        if bits > 60 or words.size != 3 + (1 << bits) + count:
            raise ValueError(f"{name} is not whole")
        if hasattr(mmap, "MADV_RANDOM"):
            whole.madvise(mmap.MADV_RANDOM)  # a look-up wants one page, not its neighbours
        return cls(words[3 + (1 << bits) :], words[2 : 3 + (1 << bits)].view(np.int64), name)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.postings.nbytes + (0 if self._table is None else self._table.nbytes)

    def hits(self, first: Postings) -> tuple[Numbers, Numbers]:
        """Find the postings of features; `first` is feature << 32.

        Returns: place of the feature, number of the text.
        """
        if self._table is not None:
            prefixes = (first >> self._shift).view(np.int64)
            starts = self._table.take(prefixes).astype(np.int64)
            counts = self._table.take(prefixes + 1) - starts
            width = int(counts.max(initial=0))
            if width <= _LONGEST:
                columns = np.arange(width)
                stretches = self.postings.take(starts[:, None] + columns, mode="clip")
                there = ((stretches ^ first[:, None]) <= LOW) & (columns < counts[:, None])
                found = there.ravel().nonzero()[0]
                return found // width, (stretches.ravel().take(found) & LOW).view(np.int64)
        starts = np.searchsorted(self.postings, first)
        counts = np.searchsorted(self.postings, first | LOW, side="right") - starts
        where = np.repeat(np.arange(first.size), counts)
        steps = np.arange(where.size) + (starts - np.cumsum(counts) + counts).take(where)
        return where, (self.postings.take(steps) & LOW).view(np.int64)

    def below(self, size: int) -> Run:
        """Return the postings of the first texts alone."""
        wanted = self.postings & LOW < size
        return self if wanted.all() else Run(self.postings[wanted])


def _merged(arrays: Sequence[Postings], most: int) -> Iterator[Postings]:
    """Merge sorted arrays; yield `2 ** _level` pieces of equal range, trimmed."""
    level = _level(sum(array.size for array in arrays))
    cuts = [np.append(np.searchsorted(array, _prefixes(level)), array.size).tolist() for array in arrays]
    for at in range(1 << level):
        whole = np.concatenate([array[cut[at] : cut[at + 1]] for array, cut in zip(arrays, cuts, strict=True)])
        if len(arrays) > 1:
            whole.sort(kind="stable")  # merges sorted runs
        if whole.size > most:
            of_feature = whole >> SHIFT
            beyond = of_feature[most:] == of_feature[:-most]
            if beyond.any():
                whole = np.append(whole[:most], whole[most:][~beyond])
        yield whole


def _level(total: int) -> int:
    """Return the bits of the number of pieces in which so many postings are merged."""
    return (total // _PIECE).bit_length()


def _prefixes(bits: int, piece: int = 0, level: int = 0) -> Postings:
    """Return the first posting of each prefix of one of `2 ** level` pieces."""
    first, last = piece << (bits - level), (piece + 1) << (bits - level)
    return np.arange(first, last, dtype=np.uint64) << np.uint64(64 - bits)
