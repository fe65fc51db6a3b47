"""The score that orders the frontier."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.rank.priority import PRESETS, SIGNALS, Priority, Sighting
from pipelines.records import BlockKind

DAY = 20_000
SIGHTINGS = st.builds(
    Sighting,
    depth=st.integers(0, 100_000),
    found_in=st.sampled_from(BlockKind).map(int),
    dated=st.none() | st.floats(-1e12, 1e12),
    day=st.integers(0, 40_000),
)


def sighting(depth: int = 1, found_in: int = BlockKind.LIST, dated: float | None = None) -> Sighting:
    return Sighting(depth, found_in, dated, DAY)


def test_breadth_first_is_the_preset() -> None:
    priority = Priority("breadth", {})
    assert [priority.score(sighting(depth))[0] for depth in range(4)] == [1.0, 0.5, 0.333333, 0.25]
    assert json.loads(priority.score(sighting(1))[1]) == {"depth": 0.5}
    assert priority.score(sighting(1, BlockKind.FOOTER)) == priority.score(sighting(1, BlockKind.BODY))


def test_weights_reorder() -> None:
    priority = Priority("breadth", {"block": 2, "freshness": 0.5})
    today, parts = priority.score(sighting(1, BlockKind.NAVIGATION, DAY * 86_400.0))
    assert json.loads(parts) == {"depth": 0.5, "block": 0.5, "freshness": 1.0}
    assert today == pytest.approx(0.5 + 2 * 0.5 + 0.5)
    assert today > priority.score(sighting(1, BlockKind.FOOTER, DAY * 86_400.0))[0]


def test_a_weight_of_zero_takes_a_signal_out() -> None:
    assert Priority("breadth", {"depth": 0, "block": 1}).weights == {"block": 1.0}
    assert Priority("breadth", {"depth": 0}).score(sighting()) == (0, "{}")


def test_negative_weights_turn_the_order() -> None:
    priority = Priority("breadth", {"depth": -1.0})
    assert priority.score(sighting(9))[0] > priority.score(sighting(1))[0]


def test_freshness_halves_in_three_days_and_ignores_the_future() -> None:
    freshness = SIGNALS["freshness"]
    assert freshness(sighting(dated=None)) == freshness(sighting(dated=0.0)) == 0.0
    assert freshness(sighting(dated=(DAY - 3) * 86_400.0)) == pytest.approx(0.5)
    assert freshness(sighting(dated=(DAY + 900) * 86_400.0)) == 1.0


def test_every_kind_of_block_has_a_value_of_its_own_choice() -> None:
    values = {kind: SIGNALS["block"](sighting(found_in=kind)) for kind in BlockKind}
    assert (
        values[BlockKind.BODY] > values[BlockKind.RELATED] > values[BlockKind.NAVIGATION] > values[BlockKind.FOOTER] > 0
    )


@settings(deadline=None, max_examples=150)
@given(SIGHTINGS, st.sampled_from(sorted(SIGNALS)))
def test_signals_lie_between_zero_and_one(seen: Sighting, name: str) -> None:
    assert 0.0 <= SIGNALS[name](seen) <= 1.0


@settings(deadline=None, max_examples=150)
@given(SIGHTINGS, st.dictionaries(st.sampled_from(sorted(SIGNALS)), st.floats(-100, 100)))
def test_the_score_is_the_weighted_sum_of_its_parts(seen: Sighting, weights: dict[str, float]) -> None:
    priority = Priority("breadth", weights)
    score, parts = priority.score(seen)
    values = json.loads(parts)
    assert set(values) == set(priority.weights)
    assert math.isclose(score, sum(priority.weights[name] * value for name, value in values.items()), abs_tol=1e-9)
    assert (score, parts) == Priority("breadth", weights).score(seen)


def test_presets_name_signals_only() -> None:
    assert all(set(weights) <= set(SIGNALS) for weights in PRESETS.values())


@pytest.mark.parametrize(
    "weight", [math.nan, math.inf, -math.inf, "1", None, True, [1], pytest.param(10**400, id="huge")]
)
def test_a_weight_is_a_finite_number(weight: Any) -> None:
    with pytest.raises(ValueError, match=r"CRAWL_PRIORITY\['depth'\]"):
        Priority("breadth", {"depth": weight})


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="CRAWL_PRESET 'deep' is unknown; use one of: breadth"):
        Priority("deep", {})
    with pytest.raises(ValueError, match="unknown signal 'dept'; the signals are: block, depth, freshness"):
        Priority("breadth", {"dept": 1.0})
