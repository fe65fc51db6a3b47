"""Index of sampled features (shingles, keywords), by which candidates are found.

A feature is a 32-bit hash. The index holds one posting (feature, text) for each feature of each *story*: texts that
repeat one another are one story, and a feature that the story has already is not posted again. So

- a story with thousands of copies costs no more than one with two, and its features stay rare;
- the postings of a feature count the stories it stands in. The more, the less it says (a set phrase, a quotation,
  boilerplate), and one that stands in `most_stories` is passed over.

New postings go to a dictionary; full, it becomes a sorted array; arrays are merged when they are of like size (a
log-structured merge tree: P. O'Neil et al., The log-structured merge-tree, 1996). Features are hashes, evenly spread:
in a large array a table says where each prefix starts, and a look-up reads one short stretch. So adding costs about 20
microseconds and looking up 100 at a million texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nlargest
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .shape import IndexParams

Features = npt.NDArray[np.uint32]
Postings = npt.NDArray[np.uint64]
"""Feature and number of the text in one integer (feature << 32 | number), ascending."""
Numbers = npt.NDArray[np.int64]

_PARAMS = IndexParams()
_YOUNG = 256  # texts whose postings are in the dictionary
_RATIO = 8  # arrays of less than so many times the size are merged
_STRETCH = 8  # postings of one prefix, about
_RARE = 2  # stories up to which a feature counts in full
_USUAL = 8_000  # texts up to which that holds; of more, a feature that is as rare stands in more stories
_LARGE = 1 << 20  # postings from which searching them is slower than a table
_LONGEST = 512  # stretches longer than this are searched, not read
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


def read_features(packed: bytes) -> Features:
    """Read the features of a signature."""
    return np.frombuffer(packed, "<u4")


class IndexHit(NamedTuple):
    """A stored text that may repeat the new one.

    Attributes:
        text: its number in the index.
        story: number of the first text of its story.
        shared: features that the new text shares with the story.
        own: features among them that were posted for this very text.
    """

    text: int
    story: int
    shared: int
    own: int


class _Columns:
    """Growing columns, one entry for each text."""

    def __init__(self) -> None:
        self.size = 0
        self.keys = np.zeros(1024, np.int64)
        self.stories = np.zeros(1024, np.uint32)
        self.lengths = np.zeros(1024, np.uint32)
        self.days = np.zeros(1024, np.int32)

    def reserve(self, more: int) -> None:
        """Make room."""
        wanted = self.size + more
        if wanted <= self.keys.size:
            return
        room = max(wanted, self.keys.size * 3 // 2)
        for name in ("keys", "stories", "lengths", "days"):
            column = getattr(self, name)
            grown = np.zeros(room, column.dtype)
            grown[: self.size] = column[: self.size]
            setattr(self, name, grown)


class _Run:
    """Sorted postings; when there are many, with a table of prefix starts."""

    def __init__(self, postings: Postings) -> None:
        self.postings = postings
        self._table: npt.NDArray[np.uint32] | None = None
        if postings.size >= _LARGE:
            bits = (postings.size // _STRETCH).bit_length()
            self._shift = np.uint64(64 - bits)
            prefixes = np.arange(1 << bits, dtype=np.uint64) << self._shift
            self._table = np.append(np.searchsorted(postings, prefixes), postings.size).astype(np.uint32)

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return self.postings.nbytes + (0 if self._table is None else self._table.nbytes)

    def hits(self, first: Postings) -> tuple[Numbers, Numbers]:
        """Find the postings of features; `first` is feature << 32."""
        if self._table is not None:
            prefixes = (first >> self._shift).view(np.int64)
            starts = self._table.take(prefixes).astype(np.int64)
            counts = self._table.take(prefixes + 1) - starts
            width = int(counts.max(initial=0))
            if width <= _LONGEST:
                columns = np.arange(width)
                stretches = self.postings.take(starts[:, None] + columns, mode="clip")
                there = ((stretches ^ first[:, None]) <= _LOW) & (columns < counts[:, None])
                found = there.ravel().nonzero()[0]
                return found // width, (stretches.ravel().take(found) & _LOW).view(np.int64)
        starts = np.searchsorted(self.postings, first)
        counts = np.searchsorted(self.postings, first | _LOW, side="right") - starts
        where = np.repeat(np.arange(first.size), counts)
        steps = np.arange(where.size) + (starts - np.cumsum(counts) + counts).take(where)
        return where, (self.postings.take(steps) & _LOW).view(np.int64)


class FeatureIndex:
    """Texts by their features, numbered from 0 in the order of adding.

    Args:
        params: how candidates are chosen.

    Memory: 9 bytes a posting and 20 to 30 bytes a text.
    """

    def __init__(self, params: IndexParams = _PARAMS) -> None:
        """Start empty."""
        self._params = params
        self._columns = _Columns()
        self._young: dict[int, int | list[int]] = {}
        """Numbers by feature; one alone, as most are, is no list: nothing for the garbage collector to visit."""
        self._young_texts = 0
        self._loose: list[Postings] = []
        """Postings that are not sorted yet."""
        self._runs: list[_Run] = []
        self._last: tuple[bytes, int, Numbers, Numbers] | None = None

    def __len__(self) -> int:
        """Return the number of texts."""
        return self._columns.size

    @property
    def nbytes(self) -> int:
        """Bytes of arrays, and an estimate for the dictionary."""
        self._settle()
        columns = self._columns
        held = columns.keys.nbytes + columns.stories.nbytes + columns.lengths.nbytes + columns.days.nbytes
        return held + sum(run.nbytes for run in self._runs) + 100 * len(self._young)

    def key(self, text: int) -> int:
        """Return the key that a text was added with."""
        return int(self._columns.keys[text])

    def length(self, text: int) -> int:
        """Return the length that a text was added with."""
        return int(self._columns.lengths[text])

    def add(self, key: int, packed: bytes, length: int, story: int | None = None, day: int = 0) -> int:
        """Add a text.

        Args:
            key: whatever identifies it to the caller.
            packed: its features; those that its story has already should be left out, see `fresh`.
            length: characters when normalised.
            story: number of the first text of its story; None when it begins one.
            day: when it appeared, for `candidates`.
        Returns: its number.
        Cost:    10 microseconds, and 10 for its share of the merging.
        """
        columns = self._columns
        columns.reserve(1)
        number = columns.size
        columns.keys[number] = key
        columns.stories[number] = number if story is None else story
        columns.lengths[number] = length
        columns.days[number] = day
        columns.size += 1
        most, young = self._params.most_stories, self._young
        for feature in read_features(packed).tolist():
            posted = young.get(feature)
            if posted is None:
                young[feature] = number
            elif isinstance(posted, int):
                young[feature] = [posted, number]
            elif len(posted) < most:
                posted.append(number)
        self._young_texts += 1
        if self._young_texts >= _YOUNG:
            self._age()
        return number

    def extend(
        self,
        keys: Sequence[int],
        packed: Sequence[bytes],
        lengths: Sequence[int],
        stories: Sequence[int],
        days: Sequence[int],
    ) -> None:
        """Add many texts at once, with the arguments of `add` as columns.

        Their postings are sorted when they are first asked for, those of several calls together. Cost: 8 microseconds a
        text.
        """
        columns, many = self._columns, len(keys)
        self._age()
        columns.reserve(many)
        first, last = columns.size, columns.size + many
        columns.keys[first:last] = keys
        columns.stories[first:last] = stories
        columns.lengths[first:last] = lengths
        columns.days[first:last] = days
        columns.size = last
        numbers = np.repeat(np.arange(first, last, dtype=np.uint64), [len(one) // 4 for one in packed])
        self._loose.append(read_features(b"".join(packed)).astype(np.uint64) << _SHIFT | numbers)

    def truncate(self, size: int) -> None:
        """Forget the texts added after the first `size`; O(texts), for rare use."""
        self._age()
        self._settle()
        self._columns.size = size
        self._runs = [_Run(run.postings[run.postings & _LOW < size]) for run in self._runs]
        self._last = None

    def candidates(self, packed: bytes, length: int, since: int | None = None) -> list[IndexHit]:
        """Find the texts to compare with a new one.

        Args:
            packed: its features.
            length: its characters when normalised.
            since: only texts of this day or later.
        Returns: the most promising story first; of each story the text with most features of its own first, and its
            first text among them. At most `candidates`.
        Cost:    0.1 ms at a million texts, and 0.2 microseconds for each posting found.
        """
        params = self._params
        where, texts = self._hits(packed)
        have = len(packed) // 4
        standing = np.bincount(where, minlength=have)
        rarity = np.minimum(1.0, _RARE / np.maximum(standing, 1))
        # a copy's features come to stand in more stories as these become more; what is new in it never does
        fullness = np.minimum(1.0, _RARE * max(1.0, sqrt(len(self) / _USUAL)) / np.maximum(standing, 1))
        use = standing.take(where) < params.most_stories
        if since is not None:
            use &= self._columns.days.take(texts) >= since
        texts = texts[use]
        stories = self._columns.stories.take(texts).tolist()
        shared = Counter(stories)
        least = min(params.least_shared, have)
        weights = {story: 0.0 for story, count in shared.items() if count >= least}
        if not weights:
            return []
        fulls = dict(weights)
        places = where[use]
        for story, weight, full in zip(stories, rarity[places].tolist(), fullness[places].tolist(), strict=True):
            if story in weights:
                weights[story] += weight
                fulls[story] += full
        best = nlargest(params.candidates, weights, key=lambda story: (weights[story], -story))
        members: dict[int, Counter[int]] = {story: Counter() for story in best}
        for story, text in zip(stories, texts.tolist(), strict=True):
            if story in members:
                members[story][text] += 1
        wanted = params.share * float(fullness.mean())
        found: list[IndexHit] = []
        for story in best:
            pairs = sorted(members[story].items(), key=lambda pair: (-pair[1], pair[0]))
            if story not in members[story]:
                pairs.insert(1, (story, 0))
            for text, own in pairs:
                expected = min(have, self._expected(length, self.length(text)))
                if fulls[story] >= wanted * expected:
                    found.append(IndexHit(text, story, shared[story], own))
        return found[: params.candidates]

    def fresh(self, packed: bytes, story: int | None) -> bytes:
        """Return the features that a story has not posted yet; all for a new story."""
        if story is None:
            return packed
        where, texts = self._hits(packed)
        wanted = read_features(packed)
        known = np.zeros(wanted.size, np.bool_)
        known[where[self._columns.stories.take(texts) == story]] = True
        return wanted[~known].tobytes()

    def _expected(self, length: int, other: int) -> float:
        """Estimate the features that a text shares with one that contains it."""
        short, long = sorted((length, other))
        return min(self._params.sample * short / max(1, long), short)

    def _hits(self, packed: bytes) -> tuple[Numbers, Numbers]:
        """Find all postings of features: place of the feature, number of the text."""
        if self._last is not None and self._last[0] == packed and self._last[1] == len(self):
            return self._last[2:]
        self._settle()
        wanted = read_features(packed)
        first = wanted.astype(np.uint64) << _SHIFT
        young, young_where, young_texts = self._young, list[int](), list[int]()
        for place, feature in enumerate(wanted.tolist()):
            posted = young.get(feature)
            if isinstance(posted, int):
                young_where.append(place)
                young_texts.append(posted)
            elif posted is not None:
                young_where += [place] * len(posted)
                young_texts += posted
        where, texts = [np.array(young_where, np.int64)], [np.array(young_texts, np.int64)]
        if wanted.size:
            for run in self._runs:
                places, numbers = run.hits(first)
                where.append(places)
                texts.append(numbers)
        self._last = packed, len(self), np.concatenate(where), np.concatenate(texts)
        return self._last[2:]

    def _settle(self) -> None:
        """Sort what has been added in bulk."""
        if self._loose:
            postings = np.concatenate(self._loose)
            self._loose = []
            postings.sort()
            self._keep(postings)

    def _age(self) -> None:
        """Turn the dictionary into an array."""
        if self._young:
            pairs = [
                feature << 32 | number
                for feature, posted in self._young.items()
                for number in ((posted,) if isinstance(posted, int) else posted)
            ]
            self._young = {}
            self._keep(np.array(pairs, np.uint64))
        self._young_texts = 0

    def _keep(self, postings: Postings) -> None:
        """Add an array, and merge those of like size."""
        if not postings.size:
            return
        parts = [postings]
        size = postings.size
        while self._runs and self._runs[-1].postings.size < _RATIO * size:
            parts.append(self._runs.pop().postings)
            size += parts[-1].size
        merged = np.concatenate(parts[::-1])
        merged.sort(kind="stable")  # merges sorted runs
        self._runs.append(_Run(self._trimmed(merged)))

    def _trimmed(self, postings: Postings) -> Postings:
        """Drop the postings of a feature beyond `most_stories`."""
        most = self._params.most_stories
        if postings.size <= most:
            return postings
        of_feature = postings >> _SHIFT
        beyond = np.zeros(postings.size, np.bool_)
        beyond[most:] = of_feature[most:] == of_feature[:-most]
        return postings[~beyond] if beyond.any() else postings
