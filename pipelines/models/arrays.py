"""Arrays in JSON: the type, the shape, and the bytes, compressed and in base64."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

TYPES: Final = frozenset({"|i1", "|u1", "<i4", "<u4", "<f4", "<f8"})
MOST_BYTES: Final = 1 << 28
"""Bytes of an array; chosen by hand, a hundred times the largest array of the shipped models."""


def pack(values: NDArray[Any], digits: int = 0) -> dict[str, object]:
    """Write an array of one of `TYPES`, with so many significant digits, or all for 0.

    >>> unpack(pack(np.array([[1.23456, -2.0]]), 3)).tolist()
    [[1.23, -2.0]]
    """
    if digits:
        rounded = [float(f"{value:.{digits}g}") for value in values.ravel().tolist()]
        values = np.array(rounded, values.dtype).reshape(values.shape)
    data = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    packed = base64.b64encode(zlib.compress(data.tobytes(), 9)).decode()
    return {"type": data.dtype.str, "shape": list(values.shape), "data": packed}


def unpack(packed: Mapping[str, Any]) -> NDArray[Any]:
    """Read an array that `pack` wrote.

    Raises:
        ValueError: it is of another type or shape than it says, too large, or has a number that is not finite.
        KeyError, TypeError, zlib.error: it is broken otherwise.
    """
    kind, shape = packed["type"], tuple(packed["shape"])
    if kind not in TYPES:
        raise ValueError(f"an array of type {kind!r}; known: {', '.join(sorted(TYPES))}")
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError(f"an array of shape {shape}")
    dtype = np.dtype(kind)
    size = math.prod(shape) * dtype.itemsize
    if size > MOST_BYTES:
        raise ValueError(f"an array of {size} bytes, more than {MOST_BYTES}")
    # no more is unpacked than the array may have: a small file can hold gigabytes of zeros
    data = zlib.decompressobj().decompress(base64.b64decode(packed["data"], validate=True), size + 1)
    if len(data) != size:
        raise ValueError(f"an array of {len(data)} bytes instead of {size}")
    values = np.frombuffer(data, dtype).reshape(shape)
    if dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("an array with numbers that are not finite")
    return values
