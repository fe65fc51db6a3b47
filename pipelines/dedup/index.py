"""Index of sampled features (shingles, keywords) that finds candidates.

The index holds one posting (feature, text) for each feature (a 32-bit hash) of each *story*: texts that repeat one
another. So a story with thousands of copies costs no more than one with two, and the postings of a feature count its
stories: the more, the less it says (a set phrase, boilerplate); one that occurs in `most_stories` is skipped.

New postings go to a dictionary, which becomes a sorted array when full; arrays of similar size are merged (P. O'Neil et
al., The log-structured merge-tree, 1996). Beyond the memory limit they become one file (`postings`), and files are
merged in the same way. Adding costs about 20 microseconds and a look-up 100 at a million texts.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import IO, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from .postings import LOW, SHIFT, FileRun, Folder, Numbers, Postings, Run, pack
from .shape import IndexParams
from .shingles import sample_size

Features = npt.NDArray[np.uint32]

_PARAMS = IndexParams()
_YOUNG = 256  # texts whose postings are in the dictionary
_RATIO, _FILE_RATIO = 8, 2  # arrays (files) of less than so many times the size are merged
_NOTHING = 1e-9
# Chosen by hand; `python -m tests.benchmarks.duplicates_scale zh` measures what they reach.
_RARE = 2  # stories up to which a feature counts in full
_USUAL = 8_000  # texts up to which that holds; among more, an equally rare feature stands in more stories
_GROWTH = 0.1  # exponent of the number of candidates beyond that: 1.6 times as many among a million texts


def read_features(packed: bytes) -> Features:
    return np.frombuffer(packed, "<u4")


class IndexHit(NamedTuple):
    """A stored text that the new one may repeat, and the first text of its story.

    `shared` counts the features that the new text has in common with the story, `own` those posted for this very text.
    """

    text: int
    story: int
    shared: int
    own: int


class _Columns:
    _TYPES: Final = {"keys": np.int64, "rows": np.int64, "stories": np.uint32, "lengths": np.uint32, "days": np.int32}

    def __init__(self) -> None:
        self.size = 0
        self.files: dict[str, tuple[str, int]] = {}
        self.keys = self.rows = np.zeros(0, np.int64)
        self.stories = self.lengths = np.zeros(0, np.uint32)
        self.days = np.zeros(0, np.int32)
        self._allocate(1024)

    @property
    def nbytes(self) -> int:
        return sum(getattr(self, name).nbytes for name in self._TYPES)

    def reserve(self, more: int) -> None:
        wanted = self.size + more
        if wanted > self.keys.size:
            self._allocate(max(wanted, self.keys.size * 3 // 2))

    def move(self, folder: Folder) -> None:
        """Move the columns to files; if the disk is full (`OSError`), they stay in memory."""
        try:
            self.files = {name: self._held(*folder.create(name)) for name in self._TYPES}
            self._allocate(self.keys.size)
        except OSError:
            self.files = {}
            raise

    def open(self, folder: Folder, names: Mapping[str, str], size: int) -> None:
        self.files = {name: self._held(names[name], folder.open(names[name])) for name in self._TYPES}
        self._allocate(max(size, 1024))
        self.size = size

    def flush(self) -> None:
        """Write the files to disk, including what is mapped on Linux."""
        for _, file in self.files.values():
            os.fsync(file)

    def _held(self, name: str, file: IO[bytes]) -> tuple[str, int]:
        with file:
            held = os.dup(file.fileno())
        weakref.finalize(self, os.close, held)
        return name, held

    def _allocate(self, room: int) -> None:
        grown = {name: self._column(name, room) for name in self._TYPES}
        for name, column in grown.items():
            column[: self.size] = getattr(self, name)[: self.size]
            setattr(self, name, column)

    def _column(self, name: str, room: int) -> npt.NDArray[np.generic]:
        kind = np.dtype(self._TYPES[name])
        if name not in self.files:
            return np.zeros(room, kind)
        file = self.files[name][1]
        os.truncate(file, room * kind.itemsize)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file, 0, room * kind.itemsize)  # a full disk is an error here, and a dead process later
        return np.frombuffer(mmap.mmap(file, 0), kind)


class FeatureIndex:
    """Texts by their features, numbered from 0 in the order they were added.

    Beyond `memory` bytes (None: no limit) data moves to files in `folder` (None: unnamed temporary ones).

    Memory: 7 bytes a posting and 28 to 42 bytes a text; in files 8 bytes a posting.
    """

    def __init__(self, params: IndexParams = _PARAMS, memory: int | None = None, folder: Path | None = None) -> None:
        self._params = params
        self._memory = memory
        self._folder = Folder(folder)
        self._columns = _Columns()
        self._young: dict[int, int | list[int]] = {}
        """Text numbers by feature. Most have one, stored without a list to spare the garbage collector."""
        self._young_texts = 0
        self._loose: list[Postings] = []
        """Postings not yet sorted."""
        self._runs: list[Run] = []
        self._files: list[FileRun] = []
        self._filed = 0
        self._saved = 0
        self._gone = False
        self._last: tuple[bytes, int, Numbers, Numbers] | None = None

    def __len__(self) -> int:
        return self._columns.size

    @property
    def nbytes(self) -> int:
        self._settle()
        columns = 0 if self._columns.files else self._columns.nbytes
        return columns + sum(run.nbytes for run in self._runs) + 100 * len(self._young)

    @property
    def file_bytes(self) -> int:
        return sum(run.nbytes for run in self._files) + (self._columns.nbytes if self._columns.files else 0)

    def key(self, text: int) -> int:
        return int(self._columns.keys[text])

    def length(self, text: int) -> int:
        return int(self._columns.lengths[text])

    def story(self, text: int) -> int:
        return int(self._columns.stories[text])

    def row(self, text: int) -> int:
        return int(self._columns.rows[text]) if len(self) else 0

    def place(self, row: int) -> int | None:
        rows = self._columns.rows[: len(self)]
        place = int(np.searchsorted(rows, row))
        return place if place < rows.size and rows[place] == row else None

    def add(  # noqa: PLR0917 - the columns of `extend`
        self, key: int, packed: bytes, length: int, story: int | None = None, day: int = 0, row: int = 0
    ) -> int:
        """Add a text, with the features that its story lacks; return its number.

        `story` is its first text, None to start one; `day` is for the limit of `candidates`; `row`, an ascending number
        of the caller, for `place`. Cost: 10 microseconds, and 10 for its share of the merging.
        """
        columns = self._columns
        columns.reserve(1)
        number = columns.size
        columns.keys[number] = key
        columns.stories[number] = number if story is None else story
        columns.lengths[number] = length
        columns.days[number] = day
        columns.rows[number] = row
        columns.size += 1
        self._post(number, read_features(packed))
        return number

    def extend(  # noqa: PLR0917 - columns
        self,
        keys: Sequence[int],
        packed: Sequence[bytes],
        lengths: Sequence[int],
        stories: Sequence[int],
        days: Sequence[int],
        rows: Sequence[int] = (),
    ) -> None:
        """Add many texts at once, with the arguments of `add` as columns: 8 µs each."""
        columns, many = self._columns, len(keys)
        self._age()
        columns.reserve(many)
        first, last = columns.size, columns.size + many
        columns.keys[first:last] = keys
        columns.stories[first:last] = stories
        columns.lengths[first:last] = lengths
        columns.days[first:last] = days
        columns.rows[first:last] = rows or 0
        columns.size = last
        numbers = np.repeat(np.arange(first, last, dtype=np.uint64), [len(one) // 4 for one in packed])
        self._loose.append(read_features(b"".join(packed)).astype(np.uint64) << SHIFT | numbers)
        if self._memory is not None:
            self._settle()

    def save(self, note: str) -> None:
        """Record which files hold the index, if any, for `restore`."""
        if self._saved == self._filed:
            return
        self._columns.flush()
        columns = {name: of[0] for name, of in self._columns.files.items()}
        runs = [run.name for run in self._files]
        self._folder.keep(
            {*columns.values(), *runs}, {"note": note, "texts": self._filed, "columns": columns, "runs": runs}
        )
        self._saved = self._filed

    def finish(self, size: int, note: str) -> None:
        """Truncate to `size` texts and save them if some are in files; ends all use."""
        self.truncate(size)
        if self._files:
            self._spill()
            self.save(note)

    def restore(self, note: str) -> bool:
        """Fill an empty index from saved files; false if there are none."""
        try:
            contents = self._folder.contents()
            if contents["note"] != note:
                return False
            runs = [FileRun.open(self._folder, name) for name in contents["runs"]]
            self._columns.open(self._folder, contents["columns"], contents["texts"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        self._files = runs
        self._filed = self._saved = len(self)
        self._gone = not self._columns.lengths[: len(self)].all()
        return True

    def forget(self) -> None:
        self._folder.keep((), {})

    def rekey(self, rows: Sequence[int], keys: Sequence[int]) -> list[int] | None:
        """Set the current keys of all texts, 0 for those that no longer exist.

        Returns keys of the remaining texts of stories that lost one; None if the rows differ.
        """
        columns, size = self._columns, len(self)
        if not np.array_equal(columns.rows[:size], rows):
            return None
        columns.keys[:size] = keys
        gone = columns.keys[:size] == 0
        columns.lengths[:size][gone] = 0
        self._gone = bool(gone.any())
        touched = np.isin(columns.stories[:size], columns.stories[:size][gone]) & ~gone
        return [int(key) for key in columns.keys[:size][touched]]

    def post(self, text: int, packed: bytes) -> None:
        where, texts = self._hits(packed)
        features = read_features(packed)
        missing = np.ones(features.size, np.bool_)
        missing[where[texts == text]] = False
        self._post(text, features[missing])

    def move(self, text: int, story: int, packed: bytes) -> None:
        """Move a text to another story, and post the features it was added without."""
        self._columns.stories[text] = story
        self.post(text, packed)
        self._last = None

    def truncate(self, size: int) -> None:
        """Remove all but the first `size` texts; O(texts), for rare use."""
        self._age()
        self._settle()
        self._columns.size = size
        self._runs = [left for run in self._runs if (left := run.below(size)).size]
        if size < self._filed:
            most, self._filed = self._params.most_stories, size
            self._files = [FileRun.write(self._folder, [run.below(size)], most) for run in self._files]
        self._last = None

    def candidates(self, packed: bytes, length: int, since: int | None = None) -> list[IndexHit]:
        """Find the texts to compare with a new one, of the day `since` or later.

        The most promising story comes first; of each first the text with the most features of its own, and the story's
        first text too; somewhat more than `params.candidates` in very large indexes. Cost: 0.1 ms at a million texts.
        """
        params = self._params
        where, texts = self._hits(packed)
        have = len(packed) // 4
        many = max(1.0, len(self) / _USUAL)
        standing = np.minimum(np.bincount(where, minlength=have), params.most_stories)
        widespread = (params.least_stories <= standing) & (standing < params.most_stories)
        use = widespread.take(where)
        if since is not None:
            use &= self._columns.days.take(texts) >= since
        if not use.any():
            return []
        where, texts = where.compress(use), texts.compress(use)
        ordered = self._columns.stories.take(texts).astype(np.uint64) << SHIFT
        ordered |= np.arange(texts.size, dtype=np.uint64)
        ordered.sort()  # by story, and in each as they come
        order, stories = (ordered & LOW).view(np.int64), ordered >> SHIFT
        bounds = np.concatenate(([0], (stories[1:] != stories[:-1]).nonzero()[0] + 1, [stories.size]))
        shared = bounds[1:] - bounds[:-1]
        promising = shared >= min(params.least_shared, have)
        if not promising.any():
            return []
        order = order.compress(promising.repeat(shared))
        where, texts, shared = where.take(order), texts.take(order), shared.compress(promising)
        starts = shared.cumsum() - shared
        # as a share of what the text would share if it were a part or had one: that of a long text is hard to reach
        expected = self._expected(length, self._columns.lengths.take(texts), have)
        rarity = np.minimum(1.0, _RARE / np.maximum(standing, 1))
        # a copy's features come to stand in more stories as these become more; what is new in it never does
        fullness = np.minimum(1.0, _RARE * sqrt(many) / np.maximum(standing, 1))
        enough = np.add.reduceat(fullness.take(where) / expected, starts) >= params.share * float(fullness.mean())
        weights = np.add.reduceat(rarity.take(where) / expected, starts) * enough
        best = (-weights).argsort(kind="stable")[: round(params.stories * many**_GROWTH)]
        hits: list[IndexHit] = []
        for place in best[weights[best] >= max(params.beside_best * weights[best[0]], _NOTHING)].tolist():
            first = starts[place]
            members = Counter(texts[first : first + shared[place]].tolist())
            story = int(self._columns.stories[texts[first]])
            pairs = sorted(members.items(), key=lambda pair: (-pair[1], pair[0]))
            if story not in members:
                pairs.insert(1, (story, 0))
            hits += [IndexHit(text, story, int(shared[place]), own_features) for text, own_features in pairs]
        return hits[: round(params.candidates * many**_GROWTH)]

    def fresh(self, packed: bytes, story: int | None) -> bytes:
        """Return the features to post for a story: not those it has, nor skipped ones."""
        if story is None:
            return packed
        where, texts = self._hits(packed)
        wanted = read_features(packed)
        posted = np.bincount(where, minlength=wanted.size) >= self._params.most_stories
        posted[where[self._columns.stories.take(texts) == story]] = True
        return wanted[~posted].tobytes()

    def _expected(self, length: int, others: npt.NDArray[np.uint32], have: int) -> npt.NDArray[np.float64]:
        short, long = np.minimum(length, others), np.maximum(1, np.maximum(length, others))
        shared = sample_size(long, self._params.sample, self._params.sample_of_long) * (short / long)
        return np.minimum(np.maximum(shared, 1.0), min(have, length))

    def _hits(self, packed: bytes) -> tuple[Numbers, Numbers]:
        if self._last is not None and self._last[0] == packed and self._last[1] == len(self):
            return self._last[2:]
        self._settle()
        wanted = read_features(packed)
        first = wanted.astype(np.uint64) << SHIFT
        young, young_where, young_texts = self._young, list[int](), list[int]()
        for place, posted in enumerate(map(young.get, wanted.tolist())):
            if posted is None:
                continue
            if isinstance(posted, int):
                young_where.append(place)
                young_texts.append(posted)
            else:
                young_where += [place] * len(posted)
                young_texts += posted
        where, texts = [np.array(young_where, np.int64)], [np.array(young_texts, np.int64)]
        if wanted.size:
            for run in (*self._files, *self._runs):
                places, numbers = run.hits(first)
                where.append(places)
                texts.append(numbers)
        places, numbers = np.concatenate(where), np.concatenate(texts)
        if self._gone:
            there = self._columns.lengths.take(numbers) > 0
            places, numbers = places[there], numbers[there]
        self._last = packed, len(self), places, numbers
        return places, numbers

    def _settle(self) -> None:
        if self._loose:
            postings = np.concatenate(self._loose)
            self._loose = []
            postings.sort()
            self._keep(postings)

    def _post(self, number: int, features: Features) -> None:
        most, young = self._params.most_stories, self._young
        for feature in features.tolist():
            posted = young.setdefault(feature, number)
            if posted == number:
                continue
            if isinstance(posted, int):
                young[feature] = [posted, number]
            elif len(posted) < most:
                posted.append(number)
        self._last = None
        self._young_texts += 1
        if self._young_texts >= _YOUNG:
            self._age()

    def _age(self) -> None:
        if self._young:
            once = {feature: posted for feature, posted in self._young.items() if isinstance(posted, int)}
            shared = [
                feature << 32 | number
                for feature, posted in self._young.items()
                if not isinstance(posted, int)
                for number in posted
            ]
            features, numbers = (np.fromiter(part, np.uint64, len(once)) for part in (once, once.values()))
            self._young = {}
            self._keep(np.sort(np.concatenate((features << SHIFT | numbers, np.array(shared, np.uint64)))))
        self._young_texts = 0

    def _keep(self, postings: Postings) -> None:
        if not postings.size:
            return
        parts = [Run(postings)]
        while self._runs and self._runs[-1].size < _RATIO * sum(run.size for run in parts):
            parts.append(self._runs.pop())
        self._runs.append(pack(parts[::-1], self._params.most_stories))
        if self._memory is not None and 2 * self.nbytes > self._memory:  # merging takes as much again
            self._spill()

    def _spill(self) -> None:
        """Move all arrays to a file and merge; while the disk is full they stay in memory."""
        files, parts = list(self._files), list(self._runs)
        while files and files[-1].size < _FILE_RATIO * sum(run.size for run in parts):
            parts.insert(0, files.pop())
        try:
            if not self._columns.files:
                self._columns.move(self._folder)
            if parts:
                files.append(FileRun.write(self._folder, parts, self._params.most_stories))
        except OSError:
            self._memory = 2 * self.nbytes
        else:
            self._files, self._runs, self._filed = files, [], len(self)
