"""Find the duplicates that `stream.Finder` finds, by partitions.

`ahead` makes signatures and comparisons on workers. Here the documents are taken in their order, and nearly every
answer is among those. So the pairs are those of `scrapy duplicates`, whatever the partitions.
"""

from __future__ import annotations

import json
import shutil
from array import array
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from db.records.evidence import REPEATING
from pipelines.dedup import Comparison, Method, Signature
from pipelines.dedup.ahead.recorded import Recorded, RecordedLines, Reference
from pipelines.dedup.boilerplate import TextLines
from pipelines.dedup.stream import Finder, write_pairs

from ..corpus.sources import LineSource, find
from .ahead import Made, MethodName, left_key, lines_at, prepare, signature_at
from .clusters import group

if TYPE_CHECKING:
    from .frame import BatchTotals
    from .request import Request


def batch(request: Request) -> BatchTotals:
    """Write pairs as `scrapy duplicates` does, or group articles as the crawl does.

    Raises:
        ValueError: the source is neither, or the parts kept belong to another batch.
        BatchStopped: the batch cannot go on.
    """
    if request.output is None:
        return group(request)
    source = find(request.source)
    if not isinstance(source, LineSource):
        raise ValueError(f"{request.source} is no file of documents (.jsonl, .jsonl.gz)")
    name = MethodName.of(request.config)
    parts = partial(request.parts, {**source.mark(), **name.mark()})
    folder = parts("signed").folder.parent
    with request.connected() as client:
        made_ahead = prepare(client, parts, name, source.cut(request.partitions, folder))
    record = DocumentRecord(name.made(), made_ahead)
    finder = record.finder(request.config.duplicates.threshold, request.config.duplicate_memory_bytes)
    written = folder / "whole"
    with written.open("w", encoding="utf-8") as out:
        counts = write_pairs(finder, record.documents(), out, REPEATING)
    written.replace(request.output)
    shutil.rmtree(folder)
    made_ahead.totals.counts.update(duplicates=counts.duplicates, pairs=counts.pairs)
    return made_ahead.totals


class DocumentRecord:
    """Documents in their order, by number, and everything made ahead of them.

    `answers` counts those given to the finder, and those that had to be made.
    """

    def __init__(self, method: Method, made: Made) -> None:
        self.answers = Recorded(method, made.texts.of, self._signature, self._comparison)
        self._made = made
        self._comparisons: dict[tuple[int, ...], Comparison] = {}

    def finder(self, threshold: float, memory: int | None = None) -> Finder:
        lines = RecordedLines(lru_cache(1)(self._lines))  # looked at, then learned
        return Finder(self.answers.by_reference(), threshold, References(), memory, lines)

    def documents(self) -> Iterator[tuple[str, str, Reference]]:
        """Yield documents in order, holding the comparisons of one partition at a time."""
        texts = self._made.texts
        for part, columns in enumerate(texts.raw):
            self._comparisons = self._made.comparisons(part, "later", "earlier", "later_left", "earlier_left")
            for number, key in enumerate(json.loads(columns["ids"].tobytes()), texts.starts[part]):
                yield key, "", Reference(number)

    def _signature(self, of: Reference) -> Signature | None:
        part, place = self._made.texts.place(of.number)
        if self._made.signed[part]["left"][place] == left_key(of.left_out):
            return signature_at(self._made.signed[part], place)
        return None if of.left_out else signature_at(self._made.texts.raw[part], place)

    def _comparison(self, new: Reference, stored: Reference) -> Comparison | None:
        return self._comparisons.get((new.number, stored.number, left_key(new.left_out), left_key(stored.left_out)))

    def _lines(self, number: int) -> TextLines:
        part, place = self._made.texts.place(number)
        return lines_at(self._made.texts.raw[part], place)


class References:
    """Texts of the index by reference: 8 bytes each."""

    def __init__(self) -> None:
        self._numbers = array("q")

    def append(self, text: tuple[str, Reference]) -> None:
        self._numbers.append(text[1].number)

    def __getitem__(self, number: int, /) -> tuple[str, Reference]:
        return "", Reference(self._numbers[number])
