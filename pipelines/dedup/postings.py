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
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
import numpy.typing as npt

Postings = npt.NDArray[np.uint64]
"""Ascending."""
Numbers = npt.NDArray[np.int64]

LOW = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)
_LARGE = 1 << 20  # postings from which a table says half of a feature
_STRETCH, _FILE_STRETCH = 8, 32  # postings of one prefix, about; a page of a file has 512
_HALF = 16  # bits of a feature that the table says at least
_PIECE = 1 << 20  # postings that are merged at a time, at most about
_WORD = 8
_HEADER = 2 * _WORD
_CONTENTS = "contents.json"


class Folder:
    """Files that are made once, then read or added to; unnamed ones without a path."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        names = [one.stem for one in path.glob("*.*")] if path else []
        self._made = max((int(name) for name in names if name.isdecimal()), default=0)

    def create(self, kind: str) -> tuple[str, IO[bytes]]:
        if self.path is None:
            return "", tempfile.TemporaryFile(prefix="duplicates-")
        self.path.mkdir(exist_ok=True)
        self._made += 1
        name = f"{self._made}.{kind}"
        return name, (self.path / name).open("x+b")

    def open(self, name: str) -> IO[bytes]:
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
        """Read what was written down; `OSError` or `ValueError` if nothing legible was."""
        if self.path is None:
            raise FileNotFoundError
        return dict(json.loads((self.path / _CONTENTS).read_text("utf-8")))


class Run:
    def __init__(self, postings: Postings, name: str = "") -> None:
        self._postings = postings
        self.name = name

    @property
    def size(self) -> int:
        return self._postings.size

    @property
    def nbytes(self) -> int:
        return self._postings.nbytes

    def hits(self, first: Postings) -> tuple[Numbers, Numbers]:
        """Return (place of the feature, number of the text); `first` is feature << 32."""
        starts = self._postings.searchsorted(first)
        matching = ((self._postings.take(starts, mode="clip") ^ first) <= LOW).nonzero()[0]  # few of them
        starts = starts.take(matching)
        where, steps = _steps(starts, self._postings.searchsorted(first.take(matching) | LOW, side="right") - starts)
        return matching.take(where), (self._postings.take(steps) & LOW).view(np.int64)

    def cut(self, level: int) -> Iterator[Postings]:
        """Yield the postings in `2 ** level` pieces of equal range."""
        cuts = np.append(np.searchsorted(self._postings, _prefixes(level)), self.size).tolist()
        for start, end in pairwise(cuts):
            yield self._postings[start:end]

    def below(self, size: int) -> Run:
        pieces = [piece[piece & LOW < size] for piece in self.cut(_level(self.size))]
        return self if sum(piece.size for piece in pieces) == self.size else pack([Run(np.concatenate(pieces))], 0)


class PackedRun(Run):
    """Many sorted postings in memory, 6.5 bytes each; at most `total`."""

    name = ""

    def __init__(self, total: int) -> None:
        self.bits = max(_HALF, (total // _STRETCH).bit_length())
        self._lows = np.empty(total, np.uint16)
        self._numbers = np.empty(total, np.uint32)
        self._table = np.zeros((1 << self.bits) + 1, np.uint32)
        self._count = 0

    def add(self, piece: Postings, number: int, level: int) -> None:
        start, end = self._count, self._count + piece.size
        self._lows[start:end] = (piece >> SHIFT).astype(np.uint16)  # the low half
        self._numbers[start:end] = piece.astype(np.uint32)
        each = 1 << (self.bits - level)
        self._table[number * each : (number + 1) * each] = _starts(piece, self.bits, number, level) + start
        self._table[-1] = self._count = end

    def end(self) -> PackedRun:
        self._lows.resize(self._count, refcheck=False)
        self._numbers.resize(self._count, refcheck=False)
        return self

    @property
    def size(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        return self._lows.nbytes + self._numbers.nbytes + self._table.nbytes

    def hits(self, first: Postings) -> tuple[Numbers, Numbers]:
        where, steps = _stretches(self._table, self.bits, first)
        matching = (self._lows.take(steps) == (first >> SHIFT).astype(np.uint16).take(where)).nonzero()[0]
        return where.take(matching), self._numbers.take(steps.take(matching)).astype(np.int64)

    def cut(self, level: int) -> Iterator[Postings]:
        for number in range(1 << level):
            prefixes = _prefixes(self.bits, number, level)
            each = prefixes.size
            starts = self._table[number * each : (number + 1) * each + 1]
            start, end = int(starts[0]), int(starts[-1])
            features = np.repeat(prefixes, np.diff(starts)) | self._lows[start:end].astype(np.uint64) << SHIFT
            yield features | self._numbers[start:end]


class FileRun(Run):
    def __init__(self, name: str, file: IO[bytes]) -> None:
        """Map a file of `write`; `OSError` or `ValueError` if it is not whole."""
        whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # ValueError when it is empty
        words = np.frombuffer(whole, np.uint64, len(whole) // _WORD)
        bits, count = words[:2].tolist() if words.size >= 2 else (0, 0)
        if bits > 60 or words.size != 3 + (1 << bits) + count:
            raise ValueError(f"{name} is not whole")
        if hasattr(mmap, "MADV_RANDOM"):
            whole.madvise(mmap.MADV_RANDOM)  # a look-up wants one page, not its neighbours
        super().__init__(words[3 + (1 << bits) :], name)
        self._bits, self._table = bits, words[2 : 3 + (1 << bits)].view(np.int64)

    @classmethod
    def write(cls, folder: Folder, runs: Sequence[Run], most: int) -> Self:
        """Merge runs into a file, piece by piece: 20 ns a posting, memory for one piece."""
        total = sum(run.size for run in runs)
        level, bits = _level(total), (total // _FILE_STRETCH).bit_length()
        end = _HEADER + _WORD * (1 << bits)  # of the table, but for its last entry
        count = 0
        name, file = folder.create("run")
        with file:
            for number, piece in enumerate(_merged(runs, most)):
                starts = _starts(piece, bits, number, level) + count
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
            return cls(name, file)

    @classmethod
    def open(cls, folder: Folder, name: str) -> Self:
        """Map a file of `write`; `OSError` or `ValueError` if it is missing or not whole."""
        with folder.open(name) as file:
            return cls(name, file)

    @property
    def nbytes(self) -> int:
        return super().nbytes + self._table.nbytes

    def hits(self, first: Postings) -> tuple[Numbers, Numbers]:
        where, steps = _stretches(self._table, self._bits, first)
        stretches = self._postings.take(steps)
        matching = ((stretches ^ first.take(where)) <= LOW).nonzero()[0]
        return where.take(matching), (stretches.take(matching) & LOW).view(np.int64)


def pack(runs: Sequence[Run], most: int) -> Run:
    """Merge runs in memory; of a feature `most` postings are kept, with 0 all."""
    total = sum(run.size for run in runs)
    if total < _LARGE:
        return Run(np.concatenate(list(_merged(runs, most))))
    packed, level = PackedRun(total), _level(total)
    for number, piece in enumerate(_merged(runs, most)):
        packed.add(piece, number, level)
    return packed.end()


def _merged(runs: Sequence[Run], most: int) -> Iterator[Postings]:
    level = _level(sum(run.size for run in runs))
    for parts in zip(*(run.cut(level) for run in runs), strict=True):
        whole = np.concatenate(parts)
        if len(parts) > 1:
            whole.sort(kind="stable")  # merges sorted runs
        if whole.size > most > 0:
            of_feature = whole >> SHIFT
            beyond = of_feature[most:] == of_feature[:-most]
            if beyond.any():
                whole = np.append(whole[:most], whole[most:][~beyond])
        yield whole


def _stretches(table: npt.NDArray[np.integer], bits: int, first: Postings) -> tuple[Numbers, Numbers]:
    """Find postings with the prefixes of features: place of feature, of posting."""
    prefixes = (first >> np.uint64(64 - bits)).view(np.int64)
    starts = table.take(prefixes).astype(np.int64)
    return _steps(starts, table.take(prefixes + 1) - starts)


def _steps(starts: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    where = np.arange(counts.size).repeat(counts)
    return where, np.arange(where.size) + (starts - counts.cumsum() + counts).repeat(counts)


def _starts(piece: Postings, bits: int, number: int, level: int) -> Numbers:
    return np.searchsorted(piece, _prefixes(bits, number, level))


def _level(total: int) -> int:
    return (total // _PIECE).bit_length()


def _prefixes(bits: int, piece: int = 0, level: int = 0) -> Postings:
    first, last = piece << (bits - level), (piece + 1) << (bits - level)
    return np.arange(first, last, dtype=np.uint64) << np.uint64(64 - bits)
