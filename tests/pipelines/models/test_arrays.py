"""Arrays in JSON: what was packed comes back, and no more than that."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
import pytest

from pipelines.models.arrays import MOST_BYTES, pack, unpack


@pytest.mark.parametrize("kind", ["i1", "u1", "i4", "u4", "f4", "f8"])
@pytest.mark.parametrize("shape", [(0,), (3,), (2, 0), (2, 3), (2, 3, 4)])
def test_array_comes_back_as_it_was(kind: str, shape: tuple[int, ...]) -> None:
    values = (np.random.default_rng(1).random(shape) * 100).astype(kind)
    again = unpack(json.loads(json.dumps(pack(values))))
    assert (again.dtype, again.shape) == (values.dtype, shape)
    assert again.tobytes() == values.tobytes()
    assert unpack(pack(values.astype(values.dtype.newbyteorder(">")))).tobytes() == values.tobytes()


def test_rounded_array_has_the_digits_that_are_wanted() -> None:
    assert unpack(pack(np.array([[123456.0, 0.000123456], [-1.0, 0.0]]), 3)).tolist() == [[123000, 0.000123], [-1, 0]]


def packed(data: bytes, change: dict[str, Any]) -> dict[str, Any]:
    whole = {"type": "<f8", "shape": [2], "data": base64.b64encode(zlib.compress(data)).decode()}
    return whole | change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, "17 bytes instead of 16"),
        ({"shape": [1 << 18]}, "bytes instead of"),
        ({"type": "O"}, "type 'O'"),
        ({"shape": [-1]}, "shape"),
        ({"shape": [0.5]}, "shape"),
        ({"shape": [1 << 40]}, f"more than {MOST_BYTES}"),
        ({"data": "不"}, None),
        ({"data": "AAAA"}, None),
    ],
)
def test_broken_array_is_refused(change: dict[str, Any], why: str | None) -> None:
    wrong = packed(b"\0" * (1 << 20), change)
    with pytest.raises((ValueError, zlib.error), match=why):
        unpack(wrong)


def test_numbers_that_are_not_finite_are_refused() -> None:
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not finite"):
            unpack(pack(np.array([value])))
