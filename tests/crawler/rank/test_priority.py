"""The score that orders the frontier."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rank.finds import DAY, Finds
from crawler.rank.priority import FOCUS_SIGNALS, GRAPH_SIGNALS, PRESETS, SIGNALS, Priority
from pipelines.records import BlockKind
from tests.table import each_row

TODAY = 20_000.0


def find(depth: int = 1, block: int = BlockKind.LIST, dated: float = 0.0) -> Finds:
    return Finds(
        np.array([depth], np.int32), np.array([block], np.uint8), np.array([dated]), np.array([1], np.uint8), TODAY
    )


def score(priority: Priority, urls: Finds, **legacy: float) -> float:
    return float(priority.score(priority.first(urls, legacy))[0])


def test_breadth_first_goes_by_depth_alone() -> None:
    priority = Priority("breadth", {})
    assert [score(priority, find(depth)) for depth in range(4)] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert priority.texts(priority.first(find(1), {})) == ['{"depth": 0.5}']
    assert not priority.learns(GRAPH_SIGNALS + FOCUS_SIGNALS)


def test_weights_reorder() -> None:
    priority = Priority("breadth", {"block": 2, "freshness": 0.5})
    today = find(1, BlockKind.NAVIGATION, TODAY * DAY)
    assert json.loads(priority.texts(priority.first(today, {}))[0]) == {"depth": 0.5, "block": 0.5, "freshness": 1.0}
    assert score(priority, today) == pytest.approx(0.5 + 2 * 0.5 + 0.5)
    assert score(priority, today) > score(priority, find(1, BlockKind.FOOTER, TODAY * DAY))


def test_weight_of_zero_takes_a_signal_out() -> None:
    assert Priority("breadth", {"depth": 0, "block": 1}).weights == {"block": 1.0}


def test_negative_weights_turn_the_order() -> None:
    priority = Priority("breadth", {"depth": -1.0})
    assert score(priority, find(9)) > score(priority, find(1))


def test_signals_that_are_not_known_yet_are_nought() -> None:
    priority = Priority("pagerank", {"host": 1.0})
    values = priority.first(find(), {"host": 0.25})
    assert (values["pagerank"][0], values["host"][0]) == (0, 0.25)


def test_page_hands_on_what_its_place_in_the_graph_is_worth() -> None:
    priority = Priority("news", {})
    parts = {"pagerank": 0.5, "siterank": 0.4, "host": 0.3, "depth": 0.9}
    few = priority.inherited(parts, 10, 5)
    many = priority.inherited(parts, 100, 50)
    assert few["siterank"] == 0.4
    assert few["host"] == 0.3
    assert "depth" not in few
    assert 0 < many["pagerank"] < few["pagerank"] < 0.5
    fresh_ground = priority.inherited(parts, 10, 0)
    assert fresh_ground["pagerank"] > few["pagerank"]
    assert priority.inherited({}, 0, 0) == {}


@each_row("name", sorted(PRESETS))
def test_presets_weigh_known_signals(name: str) -> None:
    assert set(Priority(name, {}).weights) <= set(SIGNALS)


WEIGHTS = st.dictionaries(st.sampled_from(sorted(SIGNALS)), st.floats(-100, 100))


@given(st.integers(0, 1000), st.sampled_from(BlockKind).map(int), st.floats(0, 1e10), WEIGHTS, st.floats(0, 1))
def test_score_is_the_weighted_sum_of_its_parts(
    depth: int, block: int, dated: float, weights: dict[str, float], legacy: float
) -> None:
    priority = Priority(
        "breadth", {"depth": 1.0} | {name: weight for name, weight in weights.items() if name != "depth"}
    )
    values = priority.first(find(depth, block, dated), dict.fromkeys(GRAPH_SIGNALS, legacy))
    assert set(values) >= set(priority.weights)
    parts = json.loads(priority.texts(values)[0])
    assert set(parts) == set(priority.weights)
    total = sum(priority.weights[name] * value for name, value in parts.items())
    assert math.isclose(float(priority.score(values)[0]), total, rel_tol=1e-4, abs_tol=0.01)


@each_row(
    ("preset", "weights", "message"),
    [
        ("best", {}, "CRAWL_PRESET 'best' is unknown; use one of: breadth, focused, news, pagerank"),
        ("breadth", {"deepness": 1}, "CRAWL_PRIORITY names the unknown signal 'deepness'; the signals are: address,"),
        ("breadth", {"depth": 0}, "CRAWL_PRIORITY leaves every signal the weight 0; at least one must count"),
        ("breadth", {"depth": math.nan}, r"CRAWL_PRIORITY\['depth'\] is nan; a weight is a finite number"),
        ("breadth", {"depth": math.inf}, "a weight is a finite number up to 10000"),
        ("breadth", {"depth": "much"}, "is 'much'; a weight is a finite number"),
        ("breadth", {"depth": True}, "is True; a weight is a finite number"),
    ],
)
def test_wrong_settings_are_named(preset: str, weights: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Priority(preset, weights)
