from __future__ import annotations

import pytest

from pipelines.replicate.clicks import _View as View
from pipelines.replicate.clicks import click_model, examination, perplexity


def test_dwell_times_order_better_and_predict_with_clicks_better_than_clicks() -> None:
    rows = {row.name: row.ours for row in click_model(None, 2).rows}
    assert rows["dwell time, likeliest rate"]["NDCG@10"] > rows["click-through rate"]["NDCG@10"] + 0.02
    by_place = rows["click-through rate by place"]["perplexity"]
    assert 1 < rows["dwell time and clicks"]["perplexity"] < by_place < rows["click-through rate"]["perplexity"]
    assert click_model(None, 2) == click_model(None, 2)


def test_perplexity_by_hand() -> None:
    """Likelihoods: opened at the first place 1 x .5, not opened at the second 1 - .5 x .25 = .875.

    2 to the power of (1 + .1926451) / 2.
    """
    views = [View(0, [7, 8], {0: (9.0, True)})]
    attraction = {(0, 7): 0.5, (0, 8): 0.25}
    assert perplexity(views, [1.0, 0.5], attraction) == pytest.approx(1.5118579, abs=1e-6)


def test_attention_and_attraction_are_told_apart() -> None:
    """Two results, each as often first as second; one is opened always where it is first and half the time second."""
    views = [View(0, [1, 2], {0: (9.0, True)}), View(0, [2, 1], {1: (9.0, True)})] * 50
    views += [View(0, [1, 2], {0: (9.0, True)}), View(0, [2, 1], {})] * 50
    attention, attraction = examination(views)
    assert attention[:2] == pytest.approx([1.0, 0.5], abs=0.03)
    assert attraction[0, 1] > 0.95
    assert attraction[0, 2] < 0.05
