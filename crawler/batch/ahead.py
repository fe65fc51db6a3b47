"""Make signatures and comparisons of many documents ahead, on workers.

    texts signed -> lines that come back, by band -> signed without them -> shared features, by band -> pairs compared

Each step is a task for every partition, or for every band of the hashes. The results are what the documents will
probably ask for when they are taken in their order, see `pipelines.dedup.ahead`.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np

from pipelines.dedup import Comparison, Method, Signature, method
from pipelines.dedup.ahead.recorded import text_key
from pipelines.dedup.ahead.speculation import NEVER, KnownLines, Pairs, known_lines, likely, sharing, summed
from pipelines.dedup.boilerplate import BoilerplateLines, TextLines, leave_out
from pipelines.dedup.spool import TextPacker

from ..corpus.documents import WANTED
from .columns import Array, Columns, collected, dealt, ends_of, pack, piece, pieces, unpack
from .frame import BatchTotals, Done, Lazily, Parts, run_step

if TYPE_CHECKING:
    from distributed import Client

    from ..options.config import Config

_PREPARED: Final = 4_096
_RECENT: Final = 512
"""Documents, about, for which a text stays as it was compared last."""
_KINDS: Final = ("same", "edited", "part-of", "contains", "quotes", "template", "different")
DOCUMENTS: Final = "documents"
SITE: Final = "site"


class Documents(Protocol):
    """A part of a source that holds documents; it can be sent to a worker.

    `lines_left_out` tells whether texts are signed without the lines that come back, as `Finder` does.
    """

    lines_left_out: ClassVar[bool]

    def rows(self, notes: list[str], wanted: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield keys, and rows with `title`, `text` and maybe `site`, above 0."""


@dataclass(frozen=True, slots=True)
class MethodName:
    """A method by its name and parameters, to be sent to workers."""

    name: str
    params: str

    @staticmethod
    def of(config: Config) -> MethodName:
        options = config.parse_options
        return MethodName(options.duplicates, json.dumps(options.duplicate_params, sort_keys=True))

    def mark(self) -> Mapping[str, str]:
        """Return values that differ for other methods and other versions of this one."""
        return {"method": self.made().form, "params": self.params}

    def made(self) -> Method:
        return _made(self)


@lru_cache(1)
def _made(named: MethodName) -> Method:
    return method(named.name, json.loads(named.params))


# ---------------------------------------------------------------- on workers


def sign_texts(name: MethodName, bands: int, partition: Documents) -> Done:
    """Task: read the documents of a partition, and sign their texts as they are."""
    notes: list[str] = []
    method, packer, counts = name.made(), TextPacker(), BoilerplateLines()
    ids, sites, keys, texts, lines, signatures = [], [], [], [], [], []
    for key, row in partition.rows(notes, WANTED):
        title, text, site = row["title"], row["text"], row.get(SITE, 0)
        ids.append(key)
        sites.append(site)
        keys.append(text_key(title, text))
        texts.append(packer.pack(title, text))
        lines.append(counts.lines_of(text, _name(site)))
        signatures.append(method.sign(title, text))
    slots = np.array([slot for each in lines for slot in each.slots], np.uint64)
    line_ends = ends_of([len(each.slots) for each in lines])
    of_line = np.repeat(np.arange(len(ids)), np.diff(line_ends))
    nonzero = np.flatnonzero(slots)
    stories = np.array([int.from_bytes(one.features[:4], "little") for one in signatures], np.uint32)
    by_band: Columns = {"slot": slots[nonzero], "document": of_line[nonzero], "story": stories[of_line[nonzero]]}
    columns: Columns = {
        "ids": np.frombuffer(json.dumps(ids).encode(), np.uint8),
        "sites": np.array(sites, np.int64),
        "keys": np.array(keys, np.uint64),
        "texts": np.frombuffer(b"".join(texts), np.uint8),
        "text_ends": ends_of([len(one) for one in texts]),
        "slots": slots,
        "chars": np.array([chars for each in lines for chars in each.lengths], np.int32),
        "line_ends": line_ends,
        **_columns_of(signatures),
        **dealt(by_band, (slots[nonzero] % bands).astype(np.int64), bands),
    }
    return Done(pack(columns), {DOCUMENTS: len(ids)}, notes)


class _LineBand(NamedTuple):
    slots: Array
    stories: Array
    documents: Array


def find_lines(band: _LineBand) -> Done:
    """Task: find the lines of a band that come back in different stories."""
    lines = known_lines(band.slots, band.documents, band.stories)
    return Done(pack({"slots": lines.slots, "since": lines.since}))


class _SignedPart(NamedTuple):
    """A signed partition, its first document's number, and the lines that come back."""

    columns: bytes
    first: int
    known: KnownLines


def sign_again(name: MethodName, bands: int, part: _SignedPart) -> Done:
    """Task: sign the texts of a partition without the lines that come back."""
    columns, method, packer = unpack(part.columns), name.made(), TextPacker()
    signatures = [signature_at(columns, place) for place in range(len(columns["exact"]))]
    left = np.zeros(len(signatures), np.uint64)
    since, ends = part.known.of(columns["slots"]), columns["line_ends"]
    for place in np.unique(np.searchsorted(ends, np.flatnonzero(since != NEVER), side="right") - 1).tolist():
        places = part.known.left_out(lines_at(columns, place), part.first + place)
        if places:
            title, text = packer.unpack(piece(columns["texts"], columns["text_ends"], place).tobytes())
            signatures[place] = method.sign(title, leave_out(text, places))
            left[place] = left_key(places)
    signed = _columns_of(signatures)
    of_feature = np.repeat(np.arange(len(signatures)), np.diff(signed["feature_ends"]))
    by_band = {
        "feature": signed["features"],
        "document": of_feature + part.first,
        "text": signed["exact"][of_feature],
    }
    return Done(pack({**signed, "left": left, **dealt(by_band, signed["features"] % bands, bands)}))


class _FeatureBand(NamedTuple):
    """A band of the features of all documents, and where partitions begin."""

    features: Array
    documents: Array
    exact: Array
    starts: Array


def find_pairs(band: _FeatureBand) -> Done:
    """Task: find the pairs that share features of a band, dealt by the later document."""
    pairs = sharing(band.features, band.documents, band.exact)
    to = np.searchsorted(band.starts, pairs.later, side="right") - 1
    return Done(pack(dealt(pairs._asdict(), to, len(band.starts))))


class _PairsToCompare(NamedTuple):
    """Pairs whose later documents are in one partition, with the texts of all of them.

    Attributes:
        later, earlier: places in `numbers`.
        sites: of each, or 0.
        texts, text_ends: packed, of each.
        known: lines that come back.
    """

    later: Array
    earlier: Array
    numbers: Array
    sites: Array
    texts: Array
    text_ends: Array
    known: KnownLines


def compare_pairs(name: MethodName, pairs: _PairsToCompare) -> Done:
    """Task: compare documents as they will be compared when the later one comes."""
    method, packer, counts = name.made(), TextPacker(), BoilerplateLines()
    numbers, repeated = pairs.numbers.tolist(), pairs.known

    @lru_cache(_PREPARED)
    def text_of(place: int) -> tuple[str, str]:
        return packer.unpack(piece(pairs.texts, pairs.text_ends, place).tobytes())

    @lru_cache(_PREPARED)
    def prepared(place: int, left_out: tuple[int, ...]) -> tuple[Any, int]:
        title, text = text_of(place)
        text = leave_out(text, left_out)
        return method.prepare(title, text), text_key(title, text)

    def left_out(place: int, number: int) -> tuple[int, ...]:
        return repeated.left_out(counts.lines_of(text_of(place)[1], _name(int(pairs.sites[place]))), number)

    rows = []
    for later, earlier in zip(pairs.later.tolist(), pairs.earlier.tolist(), strict=True):
        now, before = numbers[later], numbers[earlier]
        of_later = left_out(later, now)
        of_earlier = left_out(earlier, before if now - before < _RECENT else now)
        (new, new_key), (stored, stored_key) = prepared(later, of_later), prepared(earlier, of_earlier)
        comparison = method.compare(new, stored)
        keys = now, before, left_key(of_later), left_key(of_earlier), new_key, stored_key
        rows.append(
            (*keys, comparison.similarity, _KINDS.index(comparison.kind), comparison.resemblance, comparison.fresh)
        )
    return Done(pack({key: np.array([row[n] for row in rows], kind) for n, (key, kind) in enumerate(_COMPARED)}))


_COMPARED: Final = (
    ("later", np.int64),
    ("earlier", np.int64),
    ("later_left", np.uint64),
    ("earlier_left", np.uint64),
    ("later_key", np.uint64),
    ("earlier_key", np.uint64),
    ("similarity", np.float64),
    ("kind", np.uint8),
    ("resemblance", np.float64),
    ("fresh", np.int64),
)


# ---------------------------------------------------------------- in the process that was started


class Made(NamedTuple):
    """All that was made ahead, by partition.

    Attributes:
        texts: documents as they are, signed.
        signed: signatures without the lines that come back.
        compared: comparisons, by the partition of the later document.
    """

    texts: StoredTexts
    signed: Sequence[Columns]
    compared: Sequence[Columns]
    totals: BatchTotals

    def comparisons(self, part: int, *keys: str) -> dict[tuple[int, ...], Comparison]:
        """Return the comparisons of a partition by some of their columns."""
        columns = self.compared[part]
        values = zip(*(columns[name].tolist() for name in ("similarity", "kind", "resemblance", "fresh")), strict=True)
        return {
            key: Comparison(similarity, _KINDS[kind], resemblance, fresh)
            for key, (similarity, kind, resemblance, fresh) in zip(
                zip(*(columns[name].tolist() for name in keys), strict=True), values, strict=True
            )
        }


def prepare(client: Client, parts: Callable[[str], Parts], name: MethodName, partitions: Sequence[Documents]) -> Made:
    """Make everything ahead that does not depend on the order of the documents.

    Each step goes on where it was. Texts of a database are signed as they are, those of a file without the lines that
    come back. `parts` returns the folder of a step's results; the partitions are in order of arrival.

    Memory: 16 bytes a document, and a band of the features; results are read from their files.
    """
    count, method = len(partitions), name.made()

    def step(stage: str, task: Callable[[Any], Done], inputs: Sequence[Any]) -> list[Columns]:
        return run_step(client, parts(stage), task, inputs, totals)

    totals = BatchTotals()
    raw = step("signed", partial(sign_texts, name, count), partitions)
    starts = ends_of([len(one["exact"]) for one in raw])

    def lines(number: int) -> _LineBand:
        documents = [piece(one["document"], one["dealt"], number) + starts[n] for n, one in enumerate(raw)]
        slots, stories = collected(raw, number, "slot", "story")
        return _LineBand(slots, stories, np.concatenate(documents))

    repeated = KnownLines(*_together(step("lines", find_lines, Lazily(count, lines)), "slots", "since")).sorted()

    none = KnownLines(repeated.slots[:0], repeated.since[:0])

    def signed_part(number: int) -> _SignedPart:
        left_out = repeated if partitions[number].lines_left_out else none
        return _SignedPart(pack(raw[number]), int(starts[number]), left_out)

    signed = step("signed-again", partial(sign_again, name, count), Lazily(count, signed_part))

    def features(number: int) -> _FeatureBand:
        of_band = collected(signed, number, "feature", "document", "text")
        return _FeatureBand(of_band[0], of_band[1], of_band[2], starts[:-1])

    pairs = step("pairs", find_pairs, Lazily(count, features))
    lengths, have = _together(signed, "length", "have")
    (sites,) = _together(raw, "sites")
    texts = StoredTexts(raw, starts)

    def to_compare(number: int) -> _PairsToCompare:
        bands = [Pairs(*collected([one], number, *Pairs._fields)) for one in pairs]
        chosen = likely(summed(bands), lengths, have, method.index)
        numbers, places = np.unique(np.concatenate((chosen.later, chosen.earlier)), return_inverse=True)
        later, earlier = np.split(places, 2)
        packed, ends = texts.packed(numbers)
        return _PairsToCompare(later, earlier, numbers, sites[numbers], packed, ends, repeated)

    compared = step("compared", partial(compare_pairs, name), Lazily(count, to_compare))
    return Made(texts, signed, compared, totals)


def _together(parts: Sequence[Columns], *names: str) -> list[Array]:
    return [np.concatenate([part[name] for part in parts]) for name in names]


class StoredTexts:
    """Documents by number; `starts` has the first number of each file, and the total."""

    def __init__(self, raw: Sequence[Columns], starts: Array) -> None:
        self.raw = raw
        self.starts = starts.tolist()
        self._unpack = TextPacker().unpack

    def place(self, number: int) -> tuple[int, int]:
        part = bisect_right(self.starts, number) - 1
        return part, number - self.starts[part]

    def of(self, number: int) -> tuple[str, str]:
        return self._unpack(self.packed(np.array([number]))[0].tobytes())

    def packed(self, numbers: Array) -> tuple[Array, Array]:
        """Return packed texts of some documents, ascending, and where each begins."""
        parts = np.searchsorted(self.starts, numbers, side="right") - 1
        chunks = [(np.zeros(0, np.uint8), np.zeros(1, np.int64))]
        for part in np.unique(parts).tolist():
            columns, places = self.raw[part], numbers[parts == part] - self.starts[part]
            chunks.append(pieces(columns["texts"], columns["text_ends"], places))
        texts, ends = zip(*chunks, strict=True)
        return np.concatenate(texts), ends_of(np.concatenate([np.diff(each) for each in ends]))


def _name(site: int) -> str:
    return str(site) if site else ""


def left_key(left_out: tuple[int, ...]) -> int:
    """Return a number for the lines that are left out; 0 for none."""
    if not left_out:
        return 0
    return int.from_bytes(blake2b(repr(left_out).encode(), digest_size=8).digest(), "little")


def _columns_of(signatures: Sequence[Signature]) -> Columns:
    return {
        "exact": np.array([one.exact for one in signatures], np.int64),
        "length": np.array([one.length for one in signatures], np.int64),
        "have": np.array([len(one.features) // 4 for one in signatures], np.int64),
        "features": np.frombuffer(b"".join(one.features for one in signatures), "<u4"),
        "feature_ends": ends_of([len(one.features) // 4 for one in signatures]),
    }


def signature_at(columns: Columns, place: int) -> Signature:
    features = piece(columns["features"], columns["feature_ends"], place).tobytes()
    return Signature(int(columns["exact"][place]), features, int(columns["length"][place]))


def lines_at(columns: Columns, place: int) -> TextLines:
    ends = columns["line_ends"]
    return TextLines(piece(columns["slots"], ends, place).tolist(), piece(columns["chars"], ends, place).tolist())
