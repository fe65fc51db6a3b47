"""Columns of numbers as bytes, and in a file of which single rows are read.

NumPy alone: columns of one part differ in length, which Arrow has only as one row of lists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Columns: TypeAlias = Mapping[str, Array]

_HEAD = 8
_ALIGNED = 16


def pack(columns: Columns) -> bytes:
    head: dict[str, tuple[str, tuple[int, ...]]] = {
        name: (column.dtype.str, column.shape) for name, column in columns.items()
    }
    header = json.dumps(head).encode()
    header += b" " * (-(_HEAD + len(header)) % _ALIGNED)
    parts = [len(header).to_bytes(_HEAD, "little"), header]
    for column in columns.values():
        data = np.ascontiguousarray(column).tobytes()
        parts += [data, bytes(-len(data) % _ALIGNED)]
    return b"".join(parts)


def unpack(data: bytes | Array) -> Columns:
    """Return the columns in some bytes, without a copy."""
    buffer = np.frombuffer(data, np.uint8)
    at = _HEAD + int.from_bytes(bytes(buffer[:_HEAD]), "little")
    columns = {}
    for name, (dtype, shape) in json.loads(bytes(buffer[_HEAD:at])).items():
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        columns[name] = buffer[at : at + size].view(dtype).reshape(shape)
        at += size + -size % _ALIGNED
    return columns


def mapped(path: Path) -> Columns:
    """Return the columns of a file; only what is used is read."""
    return unpack(np.memmap(path, np.uint8, "r"))


def ends_of(sizes: Sequence[int] | Array) -> Array:
    """Return where pieces of these sizes begin, and where the last ends."""
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def piece(values: Array, ends: Array, number: int) -> Array:
    return values[int(ends[number]) : int(ends[number + 1])]


def pieces(values: Array, ends: Array, numbers: Array) -> tuple[Array, Array]:
    """Concatenate some pieces; return them with their own ends."""
    sizes = ends[numbers + 1] - ends[numbers]
    new_ends = ends_of(sizes)
    at = np.arange(new_ends[-1]) + np.repeat(ends[numbers] - new_ends[:-1], sizes)
    return values[at], new_ends


def dealt(columns: Columns, to: Array, count: int) -> Columns:
    """Sort columns by the partition each row goes to; `dealt` tells where each begins."""
    order = np.argsort(to, kind="stable")
    ends = ends_of(np.bincount(to, minlength=count))
    return {**{name: column[order] for name, column in columns.items()}, "dealt": ends}


def collected(dealers: Sequence[Columns], number: int, *names: str) -> list[Array]:
    return [np.concatenate([piece(one[name], one["dealt"], number) for one in dealers]) for name in names]
