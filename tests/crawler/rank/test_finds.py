"""Signals of what is known of a URL before it is fetched."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rank.finds import DAY, SIGNALS, Finds, segments, signal, try_out
from pipelines.records import BlockKind
from tests.table import each_row

TODAY = 20_000.0


def finds(
    depths: list[int], blocks: list[int] | None = None, dated: list[float] | None = None, parts: list[int] | None = None
) -> Finds:
    size = len(depths)
    return Finds(
        np.array(depths, np.int32),
        np.array(blocks or [BlockKind.LIST] * size, np.uint8),
        np.array(dated or [0.0] * size),
        np.array(parts or [0] * size, np.uint8),
        TODAY,
    )


def test_depth_falls_from_one() -> None:
    assert SIGNALS["depth"](finds([0, 1, 2, 3])).tolist() == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])


def test_freshness_halves_in_three_days_and_ignores_the_future() -> None:
    dated = [0.0, (TODAY - 3) * DAY, (TODAY + 900) * DAY, TODAY * DAY]
    assert SIGNALS["freshness"](finds([1] * 4, dated=dated)).tolist() == pytest.approx([0, 0.5, 1, 1])


def test_every_kind_of_block_has_a_value() -> None:
    values = dict(zip(BlockKind, SIGNALS["block"](finds([1] * len(BlockKind), list(BlockKind))), strict=True))
    assert (
        values[BlockKind.BODY] > values[BlockKind.RELATED] > values[BlockKind.NAVIGATION] > values[BlockKind.FOOTER] > 0
    )


@each_row(
    ("url", "parts"),
    [
        ("http://h.cn", 0),
        ("http://h.cn/", 0),
        ("http://h.cn/?a=1", 1),
        ("http://h.cn/news", 1),
        ("http://h.cn/news/", 1),
        ("http://h.cn/a/b/c.html?p=2", 4),
        ("http://h.cn/" + "a/" * 600, 255),
    ],
)
def test_segments(url: str, parts: int) -> None:
    assert segments(url) == parts


def test_short_addresses_promise_more() -> None:
    assert SIGNALS["address"](finds([1] * 4, parts=[0, 1, 8, 255])).tolist() == [1, 0.875, 0, 0]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 100_000), st.sampled_from(BlockKind).map(int), st.floats(-1e12, 1e12), st.integers(0, 255)
        ),
        max_size=9,
    ),
    st.sampled_from(sorted(SIGNALS)),
)
def test_signals_lie_between_zero_and_one(rows: list[tuple[int, int, float, int]], name: str) -> None:
    depths, blocks, dated, parts = ([row[i] for row in rows] for i in range(4))
    urls = Finds(
        np.array(depths, np.int32), np.array(blocks, np.uint8), np.array(dated), np.array(parts, np.uint8), TODAY
    )
    values = SIGNALS[name](urls)
    assert values.shape == (len(rows),)
    assert ((values >= 0) & (values <= 1)).all()


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module with signals from outside the project."""
    module = ModuleType("plugged_signals")
    monkeypatch.setitem(sys.modules, "plugged_signals", module)
    yield module
    signal.cache_clear()


def test_signal_by_import_path_is_brought_into_bounds(plugged: Any) -> None:
    plugged.wild = lambda found: [-1, 0.25, np.nan, np.inf][: len(found)]
    try_out("plugged_signals:wild")
    assert signal("plugged_signals:wild")(finds([1] * 4)).tolist() == [0.0, 0.25, 0.0, 1.0]
    assert signal("depth") is SIGNALS["depth"]


def test_signal_that_fails_is_zero_and_told_once(plugged: Any, caplog: pytest.LogCaptureFixture) -> None:
    plugged.deep = lambda found: 1 / (2 - found.depths)
    found = signal("plugged_signals:deep")
    with caplog.at_level(logging.ERROR), np.errstate(divide="raise"):
        assert [found(finds([2, n])).tolist() for n in (1, 3)] == [[0.0, 0.0]] * 2
        assert found(finds([1, 1])).tolist() == [1.0, 1.0]
    (record,) = caplog.records
    assert record.exc_info is not None
    assert (
        record.getMessage() == "signal plugged_signals:deep failed; it is 0 wherever it does, which is said only once"
    )


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda: None, "cannot be called with what is found: too many positional arguments"),
        (lambda found: 0.5, "failed when tried out on two URLs .ValueError: it returned values of the shape"),
        (lambda found: ["deep"] * len(found), "failed when tried out on two URLs .ValueError: could not convert"),
        (lambda found: found.nothing, "failed when tried out on two URLs .AttributeError"),
    ],
)
def test_wrong_signal_is_told_when_it_is_tried_out(plugged: Any, function: object, told: str) -> None:
    plugged.wrong = function
    with pytest.raises(ValueError, match=told):
        try_out("plugged_signals:wrong")
