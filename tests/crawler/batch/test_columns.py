"""Columns as bytes and in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawler.batch.columns import collected, dealt, ends_of, mapped, pack, piece, pieces, unpack

COLUMNS = {
    "numbers": np.arange(5, dtype=np.int64),
    "signs": np.frombuffer("港口".encode(), np.uint8),
    "none": np.zeros(0, np.float64),
    "pairs": np.arange(6, dtype=np.uint32).reshape(3, 2),
}


def test_columns_come_back(tmp_path: Path) -> None:
    (tmp_path / "columns").write_bytes(pack(COLUMNS))
    for found in (unpack(pack(COLUMNS)), mapped(tmp_path / "columns")):
        assert list(found) == list(COLUMNS)
        for name, column in COLUMNS.items():
            assert found[name].dtype == column.dtype
            assert found[name].tolist() == column.tolist()
    assert pack(unpack(pack(COLUMNS))) == pack(COLUMNS)


def test_pieces_are_told_apart_by_their_ends() -> None:
    words = ["a", "", "bcd", "ef"]
    values, ends = np.frombuffer("".join(words).encode(), np.uint8), ends_of([len(word) for word in words])
    assert [piece(values, ends, number).tobytes().decode() for number in range(4)] == words
    some, own = pieces(values, ends, np.array([2, 1, 0]))
    assert (some.tobytes(), own.tolist()) == (b"bcda", [0, 3, 3, 4])


def test_rows_reach_the_partition_they_are_dealt_to() -> None:
    rows = np.arange(10)
    dealers = [
        dealt({"row": rows, "square": rows**2}, rows % 4, 5),
        dealt({"row": rows, "square": rows**2}, rows % 3, 5),
    ]
    row, square = collected(dealers, 1, "row", "square")
    assert row.tolist() == [1, 5, 9, 1, 4, 7]
    assert (square == row**2).all()
    assert [len(collected(dealers, number, "row")[0]) for number in range(5)] == [7, 6, 5, 2, 0]
