"""New scores of waiting URLs, in bulk."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Connection,
    Float,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    or_,
    select,
    update,
)

from ..engine.statements import array_of, in_state, is_postgres, run_many
from ..records.url import Kind, State
from ..tables.urls import UrlRow

url = UrlRow.table()


_SCORES_AT_ONCE = 1000
"""Rows of a transaction, few enough that nobody waits long for it."""


class PackedTexts(Sequence[str]):
    """Similar texts without NUL, compressed until they are read.

    Cost: 3 microseconds a text to pack, 1 to read.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._packed = zlib.compress("\0".join(texts).encode(), 1)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        return iter(self._unpacked())

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        return self._unpacked()[place]

    def _unpacked(self) -> list[str]:
        return zlib.decompress(self._packed).decode().split("\0") if self._size else []


@dataclass(frozen=True, slots=True)
class ScoreBatch:
    """New scores of URLs as parallel columns, each URL once; `parts` are JSON.

    Writing is fastest in the order of hosts, and for each host in the order in which URLs were found: rows and index
    entries that change then lie side by side. URLs whose `found_in` is `keep` go before all others: they keep their
    score.
    """

    ids: NDArray[np.int64]
    scores: NDArray[np.float64]
    parts: Sequence[str]
    keep: int

    def batches(self) -> Iterator[ScoreBatch]:
        for first in range(0, len(self.ids), _SCORES_AT_ONCE):
            part = slice(first, first + _SCORES_AT_ONCE)
            yield ScoreBatch(self.ids[part], self.scores[part], PackedTexts(self.parts[part]), self.keep)


def set_scores(connection: Connection, batches: Sequence[ScoreBatch]) -> list[int]:
    """Give URLs new scores in bulk; returns how many rows each batch changed.

    Only pages, feeds and sitemaps that wait or are leased change: a leased one that is released waits with its new
    score. On Postgres rows that another process is writing keep their score: waiting for them while holding others
    could become a circle.

    Raises:
        ValueError: the columns differ in length, or a score is not finite.

    Cost: 10 to 20 microseconds a URL.
    """
    changed = []
    for batch in batches:
        if not len(batch.ids) == len(batch.scores) == len(batch.parts):
            lengths = (len(batch.ids), len(batch.scores), len(batch.parts))
            raise ValueError(f"ids, scores and parts have {lengths} entries; there must be as many of each")
        if not np.isfinite(batch.scores).all():
            raise ValueError(f"a score is {batch.scores[~np.isfinite(batch.scores)][0]}; scores are finite")
        changed.append(_set_scores(connection, batch) if len(batch.ids) else 0)
    return changed


def _set_scores(connection: Connection, batch: ScoreBatch) -> int:
    ids, scores = batch.ids.tolist(), batch.scores.tolist()
    if is_postgres(connection):
        columns = {"ids": array_of(ids), "scores": scores, "parts": list(batch.parts), "keep": batch.keep}
        return connection.execute(_SET_SCORES, columns).rowcount
    rows = zip(ids, scores, batch.parts, strict=True)
    return run_many(
        connection,
        _SET_SCORE,
        [{"key": key, "new_score": score, "new_parts": parts, "keep": batch.keep} for key, score, parts in rows],
    )


_SCORED = (
    or_(in_state(State.PENDING), in_state(State.LEASED)),
    url.c.kind != literal_column(f"'{Kind.ROBOTS}'"),
    url.c.found_in != bindparam("keep"),
)
_SET_SCORE = (
    update(url)
    .where(url.c.id == bindparam("key"), *_SCORED)
    .values(score=bindparam("new_score"), score_parts=bindparam("new_parts"))
)
_UNNESTED = func.unnest(
    cast(bindparam("ids"), ARRAY(BigInteger)),
    cast(bindparam("scores"), ARRAY(Float)),
    cast(bindparam("parts"), ARRAY(Text)),
)
_GIVEN = _UNNESTED.table_valued(
    column("id", BigInteger), column("score", Float), column("parts", Text), name="given"
).render_derived()
_LOCKED = (
    select(url.c.id, _GIVEN.c.score, _GIVEN.c.parts)
    .join(_GIVEN, _GIVEN.c.id == url.c.id)
    .where(*_SCORED)
    .order_by(url.c.id)
    .with_for_update(of=url, skip_locked=True)
    .subquery("locked")
)
_SET_SCORES = update(url).where(url.c.id == _LOCKED.c.id).values(score=_LOCKED.c.score, score_parts=_LOCKED.c.parts)
