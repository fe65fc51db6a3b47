"""Numbers for identifiers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crawler.rank.numbering import Column, Numbering
from tests.table import each_row

IDS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), max_size=60)


@given(st.lists(IDS, max_size=6))
def test_like_a_dictionary(batches: list[list[int]]) -> None:
    numbering, known = Numbering(), dict[int, int]()
    for batch in batches:
        ids = np.array(batch, np.int64)
        assert numbering.find(ids).tolist() == [known.get(key, -1) for key in batch]
        expected = [known.setdefault(key, len(known)) for key in batch]
        assert numbering.add(ids).tolist() == expected
        assert numbering.ids.tolist() == list(known)
        assert len(numbering) == len(known)


def test_many_of_all_shapes() -> None:
    rng = np.random.default_rng(2)
    drawn = rng.integers(-(2**63), 2**63 - 1, 200_000)
    for ids in (drawn, np.arange(300_000), np.arange(200_000) << 40, np.arange(200_000) * -(2**32)):
        numbering = Numbering()
        numbers = numbering.add(ids.astype(np.int64))
        assert (numbers == np.arange(len(ids))).all()
        assert (numbering.find(ids[::-1].astype(np.int64)) == numbers[::-1]).all()
        assert numbering.find(np.array([-1, 2**62 + 1])).tolist() == [-1, -1]


def test_column_grows() -> None:
    column = Column(np.int32, [7])
    for size in (0, 1, 15, 16, 1000, 3):
        column.extend(np.arange(size))
    assert len(column) == 1036
    assert column.values[:3].tolist() == [7, 0, 0]
    assert column.values[-3:].tolist() == [0, 1, 2]
    assert column.values.dtype == np.int32


@each_row("first", [[], [3, 1, 3]])
def test_numbering_may_start_with_some(first: list[int]) -> None:
    assert Numbering(first).ids.tolist() == list(dict.fromkeys(first))
